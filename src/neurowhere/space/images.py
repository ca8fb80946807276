"""Images: voxels and affines from files, nibabel or arrays, and the regions of label images.

Errors of images and labels are one line.
"""

import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere._tools.files import bare_suffix
from neurowhere.exceptions import DataWarning, PartitionError

# A path, a nibabel image (nibabel has no type hints), or the pair (array, affine).
ImageLike = str | os.PathLike[str] | tuple[ArrayLike, ArrayLike] | Any

# Names of regions.
Labels = str | os.PathLike[str] | Sequence[str] | Mapping[int, str] | pd.DataFrame

OUTSIDE = -1  # index of a voxel of no region
BACKGROUND = 0  # its value in a label image
PERCENT = 100.0
MIN_RESOLUTION_MM, MAX_RESOLUTION_MM = 0.5, 50.0
TEMPLATE_FILE = "datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"


def nilearn_file(path: str) -> Path:
    """Return the path of a data file of nilearn, without importing it, which takes a second."""
    found = find_spec("nilearn")
    if found is not None and found.origin is not None:
        file = Path(found.origin).parent / path
        if file.exists():
            return file
    raise PartitionError(f"nilearn's file {path} is missing; run pip install 'nilearn>=0.13.1'")


@lru_cache(maxsize=1)
def mni152_template() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Read the brain of the MNI152 template at 1 mm, (197, 233, 189) from 0 to 255; its affine."""
    data, affine = read_volume(nilearn_file(TEMPLATE_FILE), "the MNI152 template")
    data.flags.writeable = False
    return data, affine


def read_volume(image: ImageLike, what: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Read the voxels, (x, y, z) or (x, y, z, n), and the affine of an image.

    `what` names the image in errors.
    """
    with _clear_errors(image, what):
        voxels, affine = _open_image(image)
        data = np.asanyarray(voxels)
    while data.ndim > 3 and data.shape[-1] == 1:
        data = data[..., 0]
    if data.ndim not in (3, 4) or data.size == 0 or data.dtype.kind not in "buif":
        raise PartitionError(
            f"expected {what} to be a 3-D or 4-D image of numbers; "
            f"got shape {data.shape} of {data.dtype}"
        )
    return data, _checked_affine(affine, what)


def read_grid(image: ImageLike, what: str) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Read the affine and the shape of an image; its voxels are not read."""
    with _clear_errors(image, what):
        voxels, affine = _open_image(image)
    if len(voxels.shape) < 3:
        raise PartitionError(f"expected {what} to be a 3-D image; got shape {voxels.shape}")
    return _checked_affine(affine, what), tuple(voxels.shape[:3])


def _open_image(image: ImageLike) -> tuple[Any, NDArray[Any]]:
    """Return the voxels, not yet read where they are in a file, and the affine."""
    if isinstance(image, tuple):
        return np.asarray(image[0]), np.asarray(image[1])
    import nibabel

    logging.getLogger("nibabel.global").setLevel(logging.CRITICAL)  # it tells of every oddity
    loaded: Any = nibabel.load(image) if isinstance(image, (str, os.PathLike)) else image
    return loaded.dataobj, np.asarray(loaded.affine)


@contextmanager
def _clear_errors(image: ImageLike, what: str) -> Iterator[None]:
    """Turn what may go wrong with an image into one clear line."""
    try:
        yield
    except FileNotFoundError as error:
        raise PartitionError(f"no file {image} to read {what} from; check the path") from error
    except AttributeError as error:
        raise PartitionError(
            f"expected {what} as a path, a volume image of nibabel or (array, affine); "
            f"got {type(image).__name__}"
        ) from error
    except Exception as error:  # nibabel's readers raise errors of many kinds
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise PartitionError(
            f"cannot read {what} from {describe_image(image)}: {reason}"
        ) from error


def _checked_affine(affine: NDArray[Any], what: str) -> NDArray[np.float64]:
    """Refuse an affine that maps several voxels to one point."""
    sound = affine.shape == (4, 4) and bool(np.isfinite(affine).all())
    if not (sound and np.linalg.det(affine) and np.linalg.det(affine[:3, :3])):
        raise PartitionError(f"the affine of {what} cannot be inverted; mend the image's header")
    return affine.astype(np.float64)


def describe_image(image: Any) -> str:
    """Name the source of an image in one line."""
    if isinstance(image, (str, os.PathLike)):
        return repr(os.fspath(image))
    if isinstance(image, tuple):
        return f"<array of {' × '.join(map(str, np.shape(image[0])))} voxels>"
    return f"<{type(image).__name__}>"


def check_resolution(resolution_mm: Any) -> float:
    """Return a resolution in mm, or raise an error if no image of a brain has it."""
    try:
        edge = float(resolution_mm)
    except (TypeError, ValueError):
        edge = np.nan
    if not MIN_RESOLUTION_MM <= edge <= MAX_RESOLUTION_MM:
        raise PartitionError(
            f"expected a resolution from {MIN_RESOLUTION_MM:g} to {MAX_RESOLUTION_MM:g} mm; "
            f"got {resolution_mm!r}"
        )
    return edge


class Parcels(NamedTuple):
    """What an atlas image and its labels come down to."""

    regions: NDArray[np.int32]  # (x, y, z): index of the region, −1 outside
    affine: NDArray[np.float64]
    ids: NDArray[np.int64]  # (m,): value of the region in the image
    names: tuple[str, ...]  # m of them


def read_parcels(
    data: NDArray[Any], affine: NDArray[np.float64], labels: Labels | None, threshold: float
) -> Parcels:
    """Find the regions of an atlas image and name them.

    `data` is a label image (x, y, z), or probability maps (x, y, z, n_maps), of which a voxel needs
    at least the `threshold`. What is in the image only, or in the labels only, is counted in a
    `DataWarning`.
    """
    if data.ndim == 4:
        values = _most_probable(data, threshold)
        known = np.arange(1, data.shape[-1] + 1)
    else:
        values = _as_labels(data)
        known = _distinct(values)
    return _match_labels(values, affine, _read_labels(labels, known, maps=data.ndim == 4))


def label_volume(regions: NDArray[np.int32], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the label image of regions: `regions` is the index of each voxel, −1 outside.

    `ids` is the value of each region in the image.
    """
    return np.append(ids, BACKGROUND)[regions]  # index −1 finds the background


def _read_labels(
    labels: Labels | None, known: NDArray[np.int64], *, maps: bool = False
) -> dict[int, str]:
    """Name each label; `known` are those of the image, or the numbers of its `maps` from 1."""
    if labels is None:
        return {int(value): f"label {value}" for value in known}
    if isinstance(labels, (str, os.PathLike)):
        labels = _read_label_table(Path(labels))
    elif isinstance(labels, Mapping):
        labels = pd.DataFrame({"index": list(labels), "name": list(labels.values())})
    if not isinstance(labels, pd.DataFrame):
        return _sequence_names(labels, known)
    names = _table_names(labels)
    if maps and names.keys() == set(range(len(known))) and not _is_background(names[0]):
        return {number + 1: name for number, name in names.items()}  # counted from 0
    return {value: name for value, name in names.items() if value != BACKGROUND}


def _sequence_names(labels: Sequence[str], known: NDArray[np.int64]) -> dict[int, str]:
    """Name the labels in order, or 1, 2, ... where there are more or fewer names than labels."""
    names = [str(name) for name in labels]
    if names and _is_background(names[0]):
        names = names[1:]
    values = known.tolist() if len(names) == len(known) else range(1, len(names) + 1)
    return dict(zip(values, names, strict=True))


def _is_background(name: str) -> bool:
    """Return whether a name stands for what is outside."""
    return name.lower() == "background"


def _read_label_table(path: Path) -> pd.DataFrame:
    """Read a CSV or TSV file of labels; every cell stays text ("NA" may be a name)."""
    separator = "\t" if bare_suffix(path) == ".tsv" else ","
    try:
        return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise PartitionError(f"cannot read labels from {path}: {reason}") from error


def _table_names(table: pd.DataFrame) -> dict[int, str]:
    """Return names by label from a table with columns `index` and `name`; the first one counts."""
    columns = {str(column).strip().lower(): column for column in table.columns}
    if not {"index", "name"} <= set(columns):
        raise PartitionError(
            f"expected columns index and name in the labels; got {', '.join(columns) or 'none'}"
        )
    index = table[columns["index"]]
    numbers = pd.to_numeric(index, errors="coerce").to_numpy(np.float64)
    values = _as_integers(numbers)
    if not np.array_equal(values, numbers):
        odd = index[values != numbers].iloc[0]
        raise PartitionError(f"expected whole numbers as the index of labels; got {odd!r}")
    names: dict[int, str] = {}
    for value, name in zip(values.tolist(), table[columns["name"]], strict=True):
        names.setdefault(value, str(name).strip())
    if len(names) < len(values):
        warnings.warn(
            f"{len(values) - len(names)} labels repeat the index of another; the first is used",
            DataWarning,
            stacklevel=2,
        )
    return names


def _as_integers(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return integers, which equal the numbers that are whole and not too large, and no others."""
    with np.errstate(invalid="ignore"):  # infinite and very large values are invalid
        return numbers.astype(np.int64)


def _most_probable(maps: NDArray[Any], threshold: float) -> NDArray[np.int64]:
    """Find the most probable map of each voxel: its number + 1, or 0 below the threshold."""
    lowest, highest = float(np.nanmin(maps)), float(np.nanmax(maps))
    if lowest < 0 or highest > PERCENT:
        raise PartitionError(
            "expected a 4-D atlas to hold probabilities in 0-1 or in percent; got values from "
            f"{lowest:g} to {highest:g}: choose one volume if they are labels"
        )
    scale = PERCENT if highest > 1 else 1.0
    best = np.nan_to_num(maps[..., 0])
    winner = np.ones(best.shape, np.int64)
    for number in range(1, maps.shape[-1]):  # map by map, in the type they are stored in
        better = maps[..., number] > best
        best[better] = maps[..., number][better]
        winner[better] = number + 1
    winner[(best < threshold * scale) | (best == 0)] = BACKGROUND
    if not winner.any():
        raise PartitionError(
            f"no voxel of the atlas reaches the threshold {threshold:g}; "
            f"the highest probability is {highest / scale:g}: lower the threshold"
        )
    return winner


def _as_labels(data: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels as whole numbers, whatever type they have; missing values are outside."""
    if data.dtype.kind == "f":
        data = np.where(np.isnan(data), BACKGROUND, data)
    labels = _as_integers(data)
    odd = data[labels != data]
    if odd.size:
        raise PartitionError(
            f"expected whole numbers in a label image; got {odd[0]:g} and {odd.size - 1:,} "
            "more that are not: give probability maps as one 4-D image"
        )
    if not labels.any():
        raise PartitionError("the atlas is empty; expected voxels that are not zero")
    return labels


def _distinct(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values of a label image in increasing order, without the background."""
    values = np.asarray(pd.unique(labels.ravel(order="K")))  # hashing beats sorting all voxels
    return np.sort(values[values != BACKGROUND])


def _match_labels(
    values: NDArray[np.int64], affine: NDArray[np.float64], names: dict[int, str]
) -> Parcels:
    """Join label volume and names; what is in one only is counted."""
    ids = _distinct(values)
    unnamed = [value for value in ids.tolist() if value not in names]
    empty = [name for value, name in names.items() if value not in set(ids.tolist())]
    if names and len(unnamed) == len(ids):
        raise PartitionError(
            f"image and labels of the atlas share nothing: the image has {few(map(str, ids))}, "
            f"the labels {few(map(str, names))}; check that they belong together"
        )
    if empty:
        warnings.warn(
            f"{len(empty)} of {len(names)} labels have no voxel and are left out: {few(empty)}",
            DataWarning,
            stacklevel=2,
        )
    if unnamed:
        warnings.warn(
            f"{len(unnamed)} of {len(ids)} regions have no label and are called by their number: "
            f"{few(map(str, unnamed))}",
            DataWarning,
            stacklevel=2,
        )
    regions = np.full(values.shape, OUTSIDE, np.int32)
    inside = values != BACKGROUND
    regions[inside] = np.searchsorted(ids, values[inside])
    return Parcels(regions, affine, ids, tuple(names.get(v, f"label {v}") for v in ids.tolist()))


def few(names: Iterable[str], limit: int = 5) -> str:
    """Join the first few names and say how many more there are.

    >>> few(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    names = list(names)
    first = ", ".join(names[:limit])
    return first if len(names) <= limit else f"{first} and {len(names) - limit:,} more"


# ---- points


def transform_points(affine: NDArray[np.floating], points: ArrayLike) -> NDArray[np.float64]:
    """Apply a (4, 4) affine to points of shape (n, 3)."""
    xyz = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    moved: NDArray[np.float64] = xyz @ affine[:3, :3].T + affine[:3, 3]
    return moved


def voxel_index(affine: NDArray[np.floating], points_mm: ArrayLike) -> NDArray[np.int64]:
    """Return the index of the voxel whose cell contains each point; it may lie outside the image.

    The affine gives voxel centres, so voxel i spans [i − ½, i + ½) and its index is
    floor(x + ½). Rounding half to even instead would send every tie, two thirds of the
    integer peaks on a 4-mm grid, to an even voxel.

    >>> voxel_index(np.diag([4.0, 4.0, 4.0, 1.0]), [[2, 6, -2], [1.9, 5.9, -2.1]])
    array([[ 1,  2,  0],
           [ 0,  1, -1]])
    """
    voxels = transform_points(np.linalg.inv(affine), points_mm)
    # An inverse affine misplaces exact ties by a few ulp; a nanovoxel puts them back.
    return np.floor(voxels + (0.5 + 1e-9)).astype(np.int64)
