"""Partition: regions of the brain, from points to regions, from values to images; voxel grids."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere.exceptions import FitError, PartitionError
from neurowhere.space.images import (
    OUTSIDE,
    ImageLike,
    check_resolution,
    describe_image,
    mni152_template,
    read_grid,
    read_volume,
    transform_points,
    voxel_index,
)

FAR_MM = 1e6  # beyond any image; stands for infinite and missing coordinates
ROUNDING = 1e-9  # share of a voxel by which a ratio of lengths may miss a whole number
MM3_PER_CM3 = 1000.0
DEFAULT_RESOLUTION_MM = 4.0
TEMPLATE_THRESHOLD = 0.2  # share of the MNI152 template's intensity, as in nilearn's brain mask


class Partition(ABC):
    """Disjoint regions R_1..R_m of the brain, on the voxels of an image.

    A subclass says which region each voxel belongs to (`regions`), where the voxels are
    (`affine`) and what the regions are called (`names`). Partitions are values: they are
    not changed once made, and all work is put off until it is needed.
    """

    lost: tuple[str, ...] = ()
    """Names of the regions of the original that `resample` or `restrict` left without a voxel."""

    @property
    @abstractmethod
    def regions(self) -> NDArray[np.int32]:
        """Region of each voxel, −1 outside: (x, y, z) array."""

    @property
    @abstractmethod
    def affine(self) -> NDArray[np.float64]:
        """Voxel indices to the mm of voxel centres: (4, 4) matrix."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """One name for each region."""

    @property
    @abstractmethod
    def n_regions(self) -> int:
        """Number of regions m."""

    @abstractmethod
    def resample(self, resolution_mm: float | None = None, *, like: Any = None) -> Self:
        """Return the partition of the same brain on another grid."""

    @abstractmethod
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that it takes to make the partition again."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make the partition again from what `to_arrays` returned."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of voxels along each axis."""
        x, y, z = self.regions.shape
        return x, y, z

    @property
    def voxel_sizes_mm(self) -> NDArray[np.float64]:
        """Edges of a voxel: (3,)."""
        sizes: NDArray[np.float64] = np.linalg.norm(self.affine[:3, :3], axis=0)
        return sizes

    @property
    def voxel_volume_mm3(self) -> float:
        """Volume of one voxel."""
        return float(abs(np.linalg.det(self.affine[:3, :3])))

    @cached_property
    def volumes_mm3(self) -> NDArray[np.float64]:
        """Volume v_k of each region: (m,)."""
        voxels = np.bincount(self.regions[self.regions >= 0], minlength=self.n_regions)
        return voxels.astype(np.float64) * self.voxel_volume_mm3

    @property
    def total_volume_mm3(self) -> float:
        """Volume of all regions together."""
        return float(self.volumes_mm3.sum())

    @cached_property
    def centers_mm(self) -> NDArray[np.float64]:
        """Centre of mass of each region, which may lie outside a bent one: (m, 3)."""
        voxels = np.nonzero(self.regions >= 0)  # three arrays, one per axis
        region = self.regions[voxels]
        totals = [np.bincount(region, axis, minlength=self.n_regions) for axis in voxels]
        count = np.bincount(region, minlength=self.n_regions)
        return transform_points(self.affine, np.stack(totals, axis=1) / count[:, None])

    def region_of(self, xyz_mm: ArrayLike) -> NDArray[np.intp]:
        """Return the index of the region R_k that contains each point.

        Parameters
        ----------
        xyz_mm : (n, 3)
            Points. One belongs to the voxel whose cell contains it; if it is not finite, to none.

        Returns
        -------
        (n,)
            −1 outside.
        """
        voxels = voxel_index(self.affine, as_points(xyz_mm))  # (n, 3)
        inside = ((voxels >= 0) & (voxels < self.shape)).all(axis=1)
        region = np.full(len(voxels), OUTSIDE, dtype=np.intp)
        region[inside] = self.regions[tuple(voxels[inside].T)]
        return region

    def counts(
        self,
        xyz_mm: ArrayLike,
        studies: ArrayLike,
        n_studies: int,
        weights: ArrayLike | None = None,
    ) -> sparse.csr_matrix:
        """Count the peaks of each study in each region, or add up their weights.

        Parameters
        ----------
        xyz_mm : (n_peaks, 3)
            Peaks of all studies, see `stack_peaks`.
        studies : (n_peaks,)
            Index of the study of each peak, from 0 to `n_studies` − 1.
        n_studies : int
            Number of rows; studies without peaks keep an empty one.
        weights : (n_peaks,), optional
            Weight of each peak, 1 by default.

        Returns
        -------
        csr_matrix (n_studies, m)
            Peaks outside all regions are left out.
        """
        shape = (n_studies, self.n_regions)
        return count_matrix(self.region_of(xyz_mm), studies, shape, weights)

    def to_img(
        self, values: ArrayLike, *, resolution_mm: float | None = None, like: Any = None
    ) -> Any:
        """Paint values onto the regions.

        Parameters
        ----------
        values : (m,) or (k, m)
            One value per region, or k maps.
        resolution_mm, like
            Grid of the image, as in `resample`; by default that of the partition. Each voxel
            gets the value of the region that contains its centre.

        Returns
        -------
        nibabel.Nifti1Image
            float32, zero outside, 3-D or with k volumes.
        """
        import nibabel

        table = np.asarray(values, dtype=np.float32)
        if table.ndim not in (1, 2) or table.shape[-1] != self.n_regions:
            raise PartitionError(
                f"expected {self.n_regions:,} values, one per region, or rows of as many; "
                f"got an array of shape {table.shape}"
            )
        if resolution_mm is None and like is None:
            affine, regions = self.affine, self.regions
        else:
            affine, shape = self._target(resolution_mm, like)
            regions = self.sample(affine, shape)
        padded = np.zeros((self.n_regions + 1, *table.shape[:-1]), np.float32)
        padded[:OUTSIDE] = table.T  # the last row is the background's: index −1 finds it
        image: Any = nibabel.Nifti1Image(padded[regions], affine)  # type: ignore[no-untyped-call]
        image.header.set_xyzt_units("mm")
        image.set_sform(affine, code="mni")
        image.set_qform(affine, code="mni")
        return image

    def sample(self, affine: NDArray[np.float64], shape: Sequence[int]) -> NDArray[np.int32]:
        """Return the region at the centre of each voxel of another grid.

        Parameters
        ----------
        affine : (4, 4)
            Voxel indices of the other grid to mm.
        shape : (3,)
            Number of its voxels along each axis.

        Returns
        -------
        (x, y, z)
            −1 outside.
        """
        regions = np.empty(shape, np.int32)
        plane = np.indices((1, *shape[1:])).reshape(3, -1).T  # (ny nz, 3): voxels with x = 0
        for x in range(shape[0]):  # one plane at a time, to hold few coordinates
            centers_mm = transform_points(affine, plane + np.array([x, 0, 0]))
            regions[x] = self.region_of(centers_mm).reshape(shape[1:])
        return regions

    def _target(
        self, resolution_mm: float | None, like: Any
    ) -> tuple[NDArray[np.float64], tuple[int, ...]]:
        """Return the affine and shape of the grid that was asked for."""
        if (resolution_mm is None) == (like is None):
            raise PartitionError("expected either resolution_mm or like (an image); give one")
        if isinstance(like, Partition):
            return like.affine, like.shape
        if like is not None:
            return read_grid(like, "the image whose grid is wanted")
        # Same axes and first voxel centre; the last centre reaches at least as far.
        scale = check_resolution(resolution_mm) / self.voxel_sizes_mm  # (3,)
        affine = self.affine.copy()
        affine[:3, :3] *= scale
        last = np.ceil((np.array(self.shape) - 1) / scale - ROUNDING).astype(int)
        return affine, tuple(int(n) for n in last + 1)

    def summary(self) -> dict[str, str]:
        """Describe the partition in readable pairs.

        Returns
        -------
        dict of str
        """
        return {
            "regions": f"{self.n_regions:,}",
            "volume": f"{self.total_volume_mm3 / MM3_PER_CM3:,.0f} cm³",
            "voxels": " × ".join(f"{size:g}" for size in self.voxel_sizes_mm.round(3)) + " mm",
            "image": " × ".join(map(str, self.shape)),
        }

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in self.summary().items())
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = self.to_arrays(), other.to_arrays()
        return all(np.array_equal(mine[key], theirs[key]) for key in mine)

    def __hash__(self) -> int:
        return hash((type(self), self.n_regions, self.affine.tobytes()))

    def __deepcopy__(self, memo: object) -> Self:
        # A value that never changes: scikit-learn's clone need not copy the volumes.
        return self


def count_matrix(
    columns: NDArray[np.intp],
    studies: ArrayLike,
    shape: tuple[int, int],
    weights: ArrayLike | None = None,
) -> sparse.csr_matrix:
    """Sum the weights of peaks by study and column; peaks of column −1 are left out.

    `columns`, `studies` and `weights`, 1 by default, are those of each peak.
    """
    rows = np.asarray(studies)
    values = np.ones(len(columns)) if weights is None else np.asarray(weights, np.float64)
    if not len(rows) == len(values) == len(columns):
        raise FitError(
            "expected one study and one weight per peak; "
            f"got {len(columns):,} peaks, {len(rows):,} studies and {len(values):,} weights"
        )
    if len(rows) and not 0 <= rows.min() <= rows.max() < shape[0]:
        raise FitError(
            f"expected study indices from 0 to {shape[0] - 1}; got {rows.min()} to {rows.max()}"
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        raise FitError("expected weights of peaks that are finite and not negative")
    kept = columns != OUTSIDE
    return sparse.csr_matrix((values[kept], (rows[kept], columns[kept])), shape=shape)


def stack_peaks(peaks_mm: Iterable[ArrayLike]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Stack the peaks (n_i, 3) of studies; return them with the index of the study of each.

    >>> xyz_mm, studies = stack_peaks([[[0, 2, 4], [1, 3, 5]], [], [[6, 6, 6]]])
    >>> studies
    array([0, 0, 2])
    """
    arrays = [as_points(peaks) for peaks in peaks_mm]
    studies = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    return np.concatenate([np.empty((0, 3)), *arrays]), studies


def as_points(xyz_mm: ArrayLike) -> NDArray[np.float64]:
    """Return points as an array (n, 3) of floats, or raise an error.

    Those that are not finite are put far away.
    """
    try:
        points = np.asarray(xyz_mm, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise PartitionError(f"expected points as an array (n, 3) of numbers ({error})") from error
    if points.size == 0:
        return np.empty((0, 3))
    if points.ndim not in (1, 2) or points.shape[-1] != 3:
        raise PartitionError(f"expected points as an array (n, 3); got shape {points.shape}")
    clipped: NDArray[np.float64] = np.clip(np.nan_to_num(points, nan=FAR_MM), -FAR_MM, FAR_MM)
    return clipped.reshape(-1, 3)


class VoxelGrid(Partition):
    """The voxels of a brain mask, each a region R_k.

    Parameters
    ----------
    resolution_mm : float, optional
        Edge of the cubic voxels. By default 4 mm, or the voxels of `mask` as they are.
    mask : image, path or (array, affine), optional
        Voxels that are neither zero nor missing are the brain, on the mask's own grid: any
        shape, voxel size and direction of axes. By default the MNI152 brain mask that
        nilearn carries.

    Notes
    -----
    Regions are in C order of the voxels. The mask is made at first use.

    Examples
    --------
    >>> import numpy as np
    >>> mask = np.zeros((3, 4, 5))
    >>> mask[1, 2, 1:4] = 1
    >>> grid = VoxelGrid(mask=(mask, np.diag([2.0, 2.0, 3.0, 1.0])))
    >>> grid.n_regions, grid.total_volume_mm3
    (3, 36.0)
    >>> grid.region_of([[2, 4, 3], [2, 4, 7], [0, 0, 0]])
    array([ 0,  1, -1])
    """

    def __init__(self, resolution_mm: float | None = None, mask: ImageLike | None = None) -> None:
        self.resolution_mm = resolution_mm
        self.mask = mask

    @cached_property
    def _brain(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """The mask as an array, and its affine."""
        if self.mask is None:
            resolution_mm = self.resolution_mm
            return mni152_brain(DEFAULT_RESOLUTION_MM if resolution_mm is None else resolution_mm)
        data, affine = read_volume(self.mask, "the mask")
        if data.ndim != 3:
            raise PartitionError(
                f"expected a mask of three dimensions; got shape {data.shape}: choose one volume"
            )
        brain = (data != 0) & ~np.isnan(data)
        if not brain.any():
            raise PartitionError("the mask is empty; expected voxels that are not zero")
        if self.resolution_mm is None:
            return brain, affine
        return VoxelGrid(mask=(brain, affine)).resample(self.resolution_mm)._brain

    @property
    def brain(self) -> NDArray[np.bool_]:
        """Which voxels are in the brain: (x, y, z)."""
        return self._brain[0]

    @property
    def affine(self) -> NDArray[np.float64]:
        """Voxel indices to the mm of voxel centres: (4, 4)."""
        return self._brain[1]

    @cached_property
    def regions(self) -> NDArray[np.int32]:
        """Region of each voxel, in C order, −1 outside the brain: (x, y, z)."""
        regions = np.full(self.brain.shape, OUTSIDE, np.int32)
        regions[self.brain] = np.arange(self.n_regions)
        return regions

    @cached_property
    def n_regions(self) -> int:
        """Number of voxels m in the brain."""
        return int(np.count_nonzero(self.brain))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Centre of each voxel in mm, in words."""
        return tuple(f"voxel at {x:g}, {y:g}, {z:g} mm" for x, y, z in self.centers_mm.round(2))

    def resample(self, resolution_mm: float | None = None, *, like: Any = None) -> Self:
        """Return the grid of the same brain on other voxels: those whose centre is in it.

        Parameters
        ----------
        resolution_mm : float, optional
            Edge of the new cubic voxels; the axes and the first voxel's centre stay.
        like : image, path or Partition, optional
            Take the voxels of this image instead.

        Returns
        -------
        VoxelGrid
        """
        affine, shape = self._target(resolution_mm, like)
        brain = self.sample(affine, shape) != OUTSIDE
        if not brain.any():
            raise PartitionError("no voxel centre of the new grid is in the brain; make it finer")
        return type(self)(mask=(brain, affine))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make the grid again; nilearn is not needed.

        Parameters
        ----------
        arrays : mapping of str to array
            As from `to_arrays`.

        Returns
        -------
        VoxelGrid
        """
        return cls(mask=(arrays["mask"], arrays["affine"]))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that it takes to make the grid again.

        Returns
        -------
        dict of array
            Mask and affine.
        """
        return {"mask": self.brain, "affine": self.affine}

    def __repr__(self) -> str:
        if self.mask is None:
            return f"VoxelGrid({self.resolution_mm or DEFAULT_RESOLUTION_MM:g})"
        edge = "" if self.resolution_mm is None else f"{self.resolution_mm:g}, "
        return f"VoxelGrid({edge}mask={describe_image(self.mask)})"


@lru_cache(maxsize=4)
def mni152_brain(resolution_mm: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return nilearn's brain mask of the MNI152 template and its affine, without a network."""
    check_resolution(resolution_mm)
    template, affine = mni152_template()
    step = int(resolution_mm)
    if step == resolution_mm and not any((n - 1) % step for n in template.shape):
        # Voxel centres of the template itself, where interpolation would change nothing.
        voxels = np.ascontiguousarray(template[::step, ::step, ::step])
        brain = voxels > TEMPLATE_THRESHOLD * template.max()
        scaled = affine * (step, step, step, 1)
    else:
        brain, scaled = _resampled_brain(resolution_mm)
    brain.flags.writeable = False
    return brain, scaled


def _resampled_brain(resolution_mm: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return what nilearn's load_mni152_brain_mask does, which takes whole millimetres only."""
    from nilearn.datasets import load_mni152_template
    from nilearn.image import resample_img

    template = resample_img(load_mni152_template(resolution=1), np.eye(3) * resolution_mm)
    return np.asarray(template.dataobj) > TEMPLATE_THRESHOLD, template.affine
