"""Grids with every awkward property: unequal dimensions, flipped and uneven axes, holes."""

import numpy as np
import pytest

AFFINES = {
    "plain": np.diag([4.0, 4.0, 4.0, 1.0]),
    "flipped": np.array([[-4.0, 0, 0, 30], [0, 4, 0, -20], [0, 0, -4, 11], [0, 0, 0, 1]]),
    "uneven": np.array([[2.0, 0, 0, -3], [0, 3.5, 0, 5], [0, 0, 5, -7], [0, 0, 0, 1]]),
    "permuted": np.array([[0, 0, -3.0, 8], [2, 0, 0, -9], [0, 4, 0, 1], [0, 0, 0, 1]]),
}


@pytest.fixture(params=AFFINES)
def affine(request):
    return AFFINES[request.param]


@pytest.fixture
def mask():
    """A brain of (7, 8, 9) voxels with holes, which does not fill its image."""
    mask = np.zeros((9, 10, 12), dtype=np.uint8)
    mask[1:8, 1:9, 2:11] = np.random.default_rng(0).random((7, 8, 9)) < 0.7
    return mask
