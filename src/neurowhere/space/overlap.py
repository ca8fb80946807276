"""Overlap of two partitions: how much of each region of one lies in each region of the other."""

from functools import lru_cache

import numpy as np
from scipy import sparse

from neurowhere._tools.coordinates import transform_points
from neurowhere.space.partition import OUTSIDE, Partition


@lru_cache(maxsize=8)
def overlap_mm3(first: Partition, second: Partition) -> sparse.csr_matrix:
    """Volume that regions share, from the centres of the finer one's voxels.

    Returns
    -------
    csr_matrix (first.n_regions, second.n_regions)
        In mm³. It is kept for the next call: do not change it.

    Examples
    --------
    >>> from neurowhere.space import VoxelGrid
    >>> fine = VoxelGrid(mask=(np.ones((4, 2, 2)), np.eye(4)))
    >>> coarse = VoxelGrid(mask=(np.ones((2, 1, 1)), np.diag([2.0, 2.0, 2.0, 1.0])))
    >>> overlap_mm3(coarse, fine).sum(axis=1).A1.tolist()  # its first voxel reaches from −1 to 1
    [1.0, 2.0]
    """
    if first.voxel_volume_mm3 < second.voxel_volume_mm3:
        return sparse.csr_matrix(overlap_mm3(second, first).T)
    voxels = np.argwhere(second.regions != OUTSIDE)  # (n_voxels, 3)
    rows = first.region_of(transform_points(second.affine, voxels))
    columns = second.regions[tuple(voxels.T)]
    shared = rows != OUTSIDE
    volumes = np.full(np.count_nonzero(shared), second.voxel_volume_mm3)
    places = (rows[shared], columns[shared])
    return sparse.csr_matrix((volumes, places), shape=(first.n_regions, second.n_regions))
