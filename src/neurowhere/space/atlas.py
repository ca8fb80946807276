"""Atlas: the partition of the brain into the named regions of a label or probability image."""

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.exceptions import DataWarning, PartitionError
from neurowhere.space.grid import VoxelGrid
from neurowhere.space.images import ImageLike, describe_image, read_volume
from neurowhere.space.labels import BACKGROUND, Labels, as_integers, read_labels
from neurowhere.space.partition import OUTSIDE, Partition, few

PERCENT = 100.0
FETCHER_PREFIX = "fetch_atlas_"


class Parcels(NamedTuple):
    """What an atlas image and its labels come down to."""

    regions: NDArray[np.int32]  # (x, y, z): index of the region, −1 outside
    affine: NDArray[np.float64]
    ids: NDArray[np.int64]  # (m,): value of the region in the image
    names: tuple[str, ...]  # m of them


class Atlas(Partition):
    """The regions R_k of a brain atlas, at its native resolution.

    Parameters
    ----------
    image : image, path or (array, affine)
        Either one label image: each whole number but 0 is a region, with gaps or not, in any
        type. Or a 4-D stack of probability maps, in 0-1 or in percent: each voxel goes to
        its most probable map (the first one on a tie).
    labels : path, DataFrame, mapping or sequence of str, optional
        Names. A CSV or TSV file or a table with columns `index` and `name`, or a mapping,
        says which label has which name; map i of a probabilistic atlas has index i + 1. A
        sequence names the labels in increasing order; one that is longer or shorter than
        that names labels 1, 2, ... A leading "Background" is not a name. Regions without a
        name are called by their number.
    threshold : float, default=0.25
        A voxel whose highest probability is below this is outside. Only for 4-D images.

    Notes
    -----
    Everything is read at first use. Labels without voxels are dropped and voxels without a
    label are kept, both with a `DataWarning`; an error only where nothing matches.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((4, 4, 4), dtype=np.uint8)
    >>> image[0], image[3] = 2, 201
    >>> atlas = Atlas((image, np.diag([-2.0, 2.0, 2.0, 1.0])), {2: "right", 201: "left"})
    >>> atlas.names
    ('right', 'left')
    >>> atlas.region_of([[0, 0, 0], [-6, 2, 2], [-2, 0, 0]])
    array([ 0,  1, -1])
    """

    def __init__(
        self, image: ImageLike, labels: Labels | None = None, threshold: float = 0.25
    ) -> None:
        self.image = image
        self.labels = labels
        self.threshold = threshold

    @classmethod
    def fetch(cls, name: str, *, threshold: float = 0.25, **options: Any) -> Self:
        """Download an atlas by the name of its nilearn fetcher, or find it where it was.

        Parameters
        ----------
        name : str
            What follows ``fetch_atlas_`` in nilearn, such as ``"schaefer_2018"``.
        threshold : float
            As for any probabilistic atlas.
        **options
            Passed to the fetcher, such as ``n_rois=100`` or ``data_dir="folder"``.
        """
        from nilearn import datasets

        fetchers = {
            key.removeprefix(FETCHER_PREFIX): getattr(datasets, key)
            for key in dir(datasets)
            if key.startswith(FETCHER_PREFIX)
        }
        key = name.removeprefix(FETCHER_PREFIX).replace("-", "_")
        if key not in fetchers:
            raise PartitionError(f"nilearn has no atlas {name!r}; it has {', '.join(fetchers)}")
        try:
            fetched = fetchers[key](**{"verbose": 0, **options})
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise PartitionError(f"cannot fetch the atlas {name!r}: {reason}") from error
        return cls.from_nilearn(fetched, threshold=threshold)

    @classmethod
    def from_nilearn(cls, fetched: Mapping[str, Any], *, threshold: float = 0.25) -> Self:
        """Atlas from what a nilearn fetcher returned (its `maps`, and `lut` or `labels`)."""
        maps = fetched.get("maps")
        if maps is None or isinstance(maps, (list, Mapping)):
            raise PartitionError("expected an atlas with one volume image under 'maps'")
        labels = fetched.get("lut")
        if labels is None:
            labels = fetched.get("labels")
        if isinstance(labels, pd.DataFrame) and not {"index", "name"} <= set(labels.columns):
            labels = None  # such as DiFuMo's table, which has one column per naming scheme
        elif labels is not None and not isinstance(labels, pd.DataFrame):
            labels = [str(label) for label in labels]
        return cls(maps, labels, threshold)

    @cached_property
    def _parcels(self) -> Parcels:
        data, affine = read_volume(self.image, "the atlas")
        if data.ndim == 4:
            values = most_probable(data, self.threshold)
            known = np.arange(1, data.shape[-1] + 1)
        else:
            values = as_labels(data)
            known = distinct(values)
        names = read_labels(self.labels, known, maps=data.ndim == 4)
        return match_labels(values, affine, names)

    @property
    def regions(self) -> NDArray[np.int32]:
        """Region of each voxel, −1 outside: (x, y, z)."""
        return self._parcels.regions

    @property
    def affine(self) -> NDArray[np.float64]:
        """Voxel indices to the mm of voxel centres: (4, 4)."""
        return self._parcels.affine

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each region."""
        return self._parcels.names

    @property
    def ids(self) -> NDArray[np.int64]:
        """Value of each region in the image (map number + 1 in a probabilistic one): (m,)."""
        return self._parcels.ids

    @property
    def n_regions(self) -> int:
        """Number of regions m."""
        return len(self._parcels.ids)

    def resample(self, resolution_mm: float | None = None, *, like: Any = None) -> Self:
        """Make the atlas on other voxels: each takes the region at its centre.

        Regions that no voxel centre falls in are named in a `DataWarning` and in `lost`.

        Parameters
        ----------
        resolution_mm : float, optional
            Edge of the new cubic voxels; the axes and the first voxel's centre stay.
        like : image, path or Partition, optional
            Take the voxels of this image instead.
        """
        affine, shape = self._target(resolution_mm, like)
        return self._with_regions(self.sample(affine, shape), affine, "on the new grid")

    def restrict(self, grid: VoxelGrid) -> Self:
        """Intersect with the brain of a grid: voxels whose centre is outside are cut off.

        Regions that vanish are named in a `DataWarning` and in `lost`.
        """
        brain = grid.sample(self.affine, self.shape) != OUTSIDE
        regions = np.where(brain, self.regions, np.int32(OUTSIDE))
        return self._with_regions(regions, self.affine, "in the brain mask")

    def _with_regions(
        self, regions: NDArray[np.int32], affine: NDArray[np.float64], where: str
    ) -> Self:
        """Make the same atlas with other voxels, without the regions that have none."""
        voxels = np.bincount(regions[regions >= 0], minlength=self.n_regions)
        kept = np.flatnonzero(voxels)
        if len(kept) == 0:
            raise PartitionError(f"no region of the atlas has a voxel {where}; check the images")
        names = {int(self.ids[k]): self.names[k] for k in kept}
        atlas = type(self)((label_volume(regions, self.ids), affine), names, self.threshold)
        atlas.lost = tuple(self.names[k] for k in np.flatnonzero(voxels == 0))
        if atlas.lost:
            warnings.warn(
                f"{len(atlas.lost)} of {self.n_regions} regions have no voxel {where}: "
                f"{few(atlas.lost)}",
                DataWarning,
                stacklevel=3,
            )
        return atlas

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Region of each voxel, affine, and the value and name of each region."""
        return {
            "regions": self.regions,
            "affine": self.affine,
            "ids": self.ids,
            "names": np.array(self.names),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make the atlas again from `to_arrays`; neither image nor labels are needed."""
        ids, names = arrays["ids"], arrays["names"].tolist()
        image = (label_volume(arrays["regions"], ids), arrays["affine"])
        return cls(image, dict(zip(ids.tolist(), names, strict=True)))

    def __repr__(self) -> str:
        image = describe_image(self.image)
        if not isinstance(self.labels, (str, os.PathLike)):
            return f"Atlas({image})"
        return f"Atlas({image}, labels={os.fspath(self.labels)!r})"


def label_volume(regions: NDArray[np.int32], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Label image of regions."""
    return np.append(ids, BACKGROUND)[regions]  # index −1 finds the background


def most_probable(maps: NDArray[Any], threshold: float) -> NDArray[np.int64]:
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


def as_labels(data: NDArray[Any]) -> NDArray[np.int64]:
    """Labels as whole numbers, whatever type they were stored in; missing values are outside."""
    if data.dtype.kind == "f":
        data = np.where(np.isnan(data), BACKGROUND, data)
    labels = as_integers(data)
    odd = data[labels != data]
    if odd.size:
        raise PartitionError(
            f"expected whole numbers in a label image; got {odd[0]:g} and {odd.size - 1:,} "
            "more that are not: give probability maps as one 4-D image"
        )
    if not labels.any():
        raise PartitionError("the atlas is empty; expected voxels that are not zero")
    return labels


def distinct(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Values of a label image in increasing order, without the background."""
    values = np.asarray(pd.unique(labels.ravel(order="K")))  # hashing beats sorting all voxels
    return np.sort(values[values != BACKGROUND])


def match_labels(
    values: NDArray[np.int64], affine: NDArray[np.float64], names: dict[int, str]
) -> Parcels:
    """Join label volume and names; what is in one only is counted."""
    ids = distinct(values)
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
