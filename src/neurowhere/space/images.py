"""Images: voxels and affines from files, nibabel or arrays; what is wrong with them in one line."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurowhere.exceptions import PartitionError

# A path, a nibabel image (nibabel has no type hints), or the pair (array, affine).
ImageLike = str | os.PathLike[str] | tuple[ArrayLike, ArrayLike] | Any

MIN_RESOLUTION_MM, MAX_RESOLUTION_MM = 0.5, 50.0
TEMPLATE_FILE = "datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"


def nilearn_file(path: str) -> Path:
    """Return where a data file of nilearn is; nilearn, which takes a second, is not imported.

    Parameters
    ----------
    path : str
        Within the package.

    Returns
    -------
    Path
    """
    found = find_spec("nilearn")
    if found is not None and found.origin is not None:
        file = Path(found.origin).parent / path
        if file.exists():
            return file
    raise PartitionError(f"nilearn's file {path} is missing; run pip install 'nilearn>=0.13.1'")


@lru_cache(maxsize=1)
def mni152_template() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Read the brain of the MNI152 template that nilearn carries, at 1 mm.

    Returns
    -------
    data : (197, 233, 189) array of whole numbers from 0 to 255
    affine : (4, 4)
    """
    data, affine = read_volume(nilearn_file(TEMPLATE_FILE), "the MNI152 template")
    data.flags.writeable = False
    return data, affine


def read_volume(image: ImageLike, what: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Read the voxels and the affine of an image.

    Parameters
    ----------
    image : image, path or (array, affine)
    what : str
        Name of the image in errors.

    Returns
    -------
    data : (x, y, z) or (x, y, z, n)
        Trailing axes of length 1 are dropped.
    affine : (4, 4)
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
    """Read the affine and the shape of an image; its voxels are not read.

    Parameters
    ----------
    image : image, path or (array, affine)
    what : str
        Name of the image in errors.

    Returns
    -------
    affine : (4, 4)
    shape : (3,)
    """
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
    if not (sound and abs(np.linalg.det(affine[:3, :3])) > 0):
        raise PartitionError(f"the affine of {what} cannot be inverted; mend the image's header")
    return affine.astype(np.float64)


def describe_image(image: Any) -> str:
    """Name the source of an image in one line.

    Parameters
    ----------
    image : image, path or (array, affine)

    Returns
    -------
    str
    """
    if isinstance(image, (str, os.PathLike)):
        return repr(os.fspath(image))
    if isinstance(image, tuple):
        return f"<array of {' × '.join(map(str, np.shape(image[0])))} voxels>"
    return f"<{type(image).__name__}>"


def check_resolution(resolution_mm: Any) -> float:
    """Raise an error for a resolution that no image of a brain has.

    Parameters
    ----------
    resolution_mm : float
        Edge of voxels.

    Returns
    -------
    float
        The same.
    """
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
