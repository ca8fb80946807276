"""Maxima: the places where a map is strongest."""

import numpy as np
from numpy.typing import NDArray

from neurowhere.space.grid import VoxelGrid
from neurowhere.space.partition import Partition

APART_MM = 10.0  # about the width (FWHM) of the default kernel: closer ones are one place


def strongest_regions(
    partition: Partition, values: NDArray[np.floating], n_places: int, apart_mm: float = APART_MM
) -> NDArray[np.intp]:
    """Regions where a map is positive and highest, the strongest first.

    On a grid these are voxels as high as all 26 around them. The centres of any two are at least
    `apart_mm` apart; the lower one gives way.

    Parameters
    ----------
    partition : VoxelGrid or Atlas
    values : (m,)
        Map to search.
    n_places : int
        At most so many.

    Examples
    --------
    >>> grid = VoxelGrid(mask=(np.ones((9, 1, 1)), np.diag([4.0, 4.0, 4.0, 1.0])))
    >>> strongest_regions(grid, np.array([1, 5, 2, 0, 0, 3, 4, 1, 2]), 2)
    array([1, 6])
    """
    candidates = _local_maxima(partition, values) if isinstance(partition, VoxelGrid) else values
    order = np.argsort(-candidates, kind="stable")
    kept: list[int] = []
    for region in order[: np.count_nonzero(candidates > 0)].tolist():
        distances = np.linalg.norm(
            partition.centers_mm[kept] - partition.centers_mm[region], axis=1
        )
        if (distances >= apart_mm).all():
            kept.append(region)
        if len(kept) == n_places:
            break
    return np.array(kept, dtype=np.intp)


def _local_maxima(grid: VoxelGrid, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Values of the voxels as high as all around them, 0 elsewhere: (m,)."""
    from scipy.ndimage import maximum_filter

    volume = np.zeros(grid.shape)
    volume[grid.brain] = values
    highest = maximum_filter(volume, size=3, mode="constant")
    return np.where(volume == highest, volume, 0.0)[grid.brain]
