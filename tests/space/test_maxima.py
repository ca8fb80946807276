import numpy as np

from neurowhere.space import Atlas, VoxelGrid
from neurowhere.space.maxima import strongest_regions

AFFINE = np.diag([-4.0, 4.0, 4.0, 1.0])


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
