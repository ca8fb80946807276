"""VoxelGrid: the partition of the brain into the voxels of a mask."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import PartitionError
from neurowhere.space.images import (
    OUTSIDE,
    ImageLike,
    check_resolution,
    describe_image,
    mni152_template,
    read_volume,
)
from neurowhere.space.partition import Partition

DEFAULT_RESOLUTION_MM = 4.0
TEMPLATE_THRESHOLD = 0.2  # of the MNI152 template's intensity: nilearn's own brain mask


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
    """Return nilearn's brain mask of the MNI152 template, which needs no network.

    Parameters
    ----------
    resolution_mm : float
        Edge of the cubic voxels.

    Returns
    -------
    brain : (x, y, z) array of bool
    affine : (4, 4)
    """
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
