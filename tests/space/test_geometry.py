import numpy as np
import pytest

from neurowhere.space import Atlas, VoxelGrid, fold, overlap_mm3, strongest_regions

AFFINE = np.diag([-4.0, 4.0, 4.0, 1.0])
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


def brute_force(grid, values):
    """Voxels that no neighbour exceeds."""
    found = []
    places = np.argwhere(grid.brain)
    for k, place in enumerate(places):
        near = np.abs(places - place).max(axis=1) <= 1
        if values[k] > 0 and values[k] >= values[near].max():
            found.append(k)
    return sorted(found, key=lambda k: -values[k])


def test_maxima_are_those_of_a_slow_search():
    rng = np.random.default_rng(0)
    grid = VoxelGrid(mask=(rng.random((7, 8, 9)) > 0.3, AFFINE))
    values = rng.normal(size=grid.n_regions)
    found = strongest_regions(grid, values, n_places=1000, apart_mm=0)
    assert found.tolist() == brute_force(grid, values)
    assert strongest_regions(grid, values, 3, apart_mm=0).tolist() == found[:3].tolist()


def test_places_are_apart():
    rng = np.random.default_rng(1)
    grid = VoxelGrid(mask=(np.ones((9, 8, 7)), AFFINE))
    values = rng.random(grid.n_regions)
    found = strongest_regions(grid, values, 20, apart_mm=13)
    centers = grid.centers_mm[found]
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    assert gaps[~np.eye(len(found), dtype=bool)].min() >= 13
    assert found[0] == values.argmax()


def test_regions_of_an_atlas_by_value():
    image = np.zeros((9, 3, 3))
    image[0], image[4], image[8] = 1, 2, 201
    atlas = Atlas((image, AFFINE))
    assert strongest_regions(atlas, np.array([0.1, 0.3, 0.0]), 10).tolist() == [1, 0]


def test_nothing_positive_has_no_maximum():
    grid = VoxelGrid(mask=(np.ones((2, 3, 4)), AFFINE))
    assert strongest_regions(grid, np.zeros(24), 5).tolist() == []


@pytest.mark.parametrize("side", ["left", "right"])
def test_folding_keeps_all_mass_that_has_a_mirror_image(side):
    affine = np.diag([4.0, 4.0, 4.0, 1.0])
    affine[0, 3] = -12
    grid = VoxelGrid(mask=(np.random.default_rng(1).random((7, 8, 9)) > 0.3, affine))
    q = np.random.default_rng(0).dirichlet(np.ones(grid.n_regions)).astype(np.float32)
    folded = fold(grid, q, side)
    sign = 1 if side == "left" else -1
    x = sign * grid.centers_mm[:, 0]
    assert folded.sum() == pytest.approx(1, abs=1e-5)
    assert (folded[x > 0] == 0).all()
    mirrored = grid.region_of(grid.centers_mm * [-1, 1, 1])
    here = np.flatnonzero((x < 0) & (mirrored >= 0))
    assert 100 < len(here) < (x < 0).sum()
    expected = q[here] + q[mirrored[here]]
    np.testing.assert_allclose(folded[here] / folded[here[0]], expected / expected[0], rtol=1e-4)
