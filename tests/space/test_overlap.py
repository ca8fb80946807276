import numpy as np
import pytest

from neurowhere.space import Atlas, VoxelGrid
from neurowhere.space.overlap import overlap_mm3

FINE = np.diag([-2.0, 2.0, 2.0, 1.0])
COARSE = np.array([[6.0, 0, 0, -40], [0, 5, 0, 3], [0, 0, 4, 1], [0, 0, 0, 1]])


@pytest.fixture
def fine():
    rng = np.random.default_rng(0)
    return Atlas((rng.integers(0, 4, size=(20, 19, 18)) * 70, FINE))


@pytest.fixture
def coarse():
    return VoxelGrid(mask=(np.random.default_rng(1).random((7, 8, 9)) > 0.4, COARSE))


def test_it_counts_the_voxels_of_the_finer_one(fine, coarse):
    expected = np.zeros((fine.n_regions, coarse.n_regions))
    for voxel in np.ndindex(fine.shape):
        k = fine.regions[voxel]
        j = coarse.region_of((FINE @ [*voxel, 1])[:3])[0]
        if k >= 0 and j >= 0:
            expected[k, j] += 8.0
    assert expected.any()
    np.testing.assert_allclose(overlap_mm3(fine, coarse).toarray(), expected)
    np.testing.assert_allclose(overlap_mm3(coarse, fine).toarray(), expected.T)


def test_a_partition_overlaps_itself_by_its_volumes(fine):
    np.testing.assert_allclose(overlap_mm3(fine, fine).toarray(), np.diag(fine.volumes_mm3))


def test_apart_is_nothing(coarse):
    far = VoxelGrid(mask=(np.ones((2, 2, 2)), np.diag([1.0, 1, 1, 1])))
    shifted = COARSE.copy()
    shifted[:3, 3] += 900
    assert overlap_mm3(far, VoxelGrid(mask=(coarse.brain, shifted))).nnz == 0
