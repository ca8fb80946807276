"""Coordinates: NiMARE's numbers as oracle, round trips, and voxels at their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from neurowhere.corpus.coordinates import MNI_TO_TALAIRACH, talairach_to_mni
from neurowhere.space.images import transform_points, voxel_index

POINTS = np.array([[0, 0, 0], [-22, -4, -18], [40, -60, 30], [10, -90, -5], [-55, 20, 12.5]])

# Printed by NiMARE 0.22.1: nimare.utils.tal2mni(POINTS) and nimare.utils.mni2tal(POINTS), its
# Python version of BrainMap's tal2icbm_other.m and icbm_other2tal.m.
NIMARE_TAL2MNI = np.array(
    [
        [1.0781555390892308, 1.168243532406646, -4.178049420864948],
        [-22.563886432135938, -4.744169953425647, -23.484253807573758],
        [44.307506556793534, -59.45019034449555, 33.86504627676044],
        [12.07918742256341, -94.36267286275893, -1.8689000013080532],
        [-57.67079221104765, 23.03503064822338, 8.602960694800258],
    ]
)
NIMARE_MNI2TAL = np.array(
    [
        [-1.0423, -1.394, 3.6475],
        [-21.5097, -3.7026, -13.0205],
        [35.9957, -60.208, 26.4485],
        [8.0897, -85.66, -7.501],
        [-52.5378, 16.848, 15.79375],
    ]
)

points_mm = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 7), st.just(3)), elements=st.floats(-200, 200)
)


def affine(*, spacing: tuple[float, ...], origin: tuple[float, ...]) -> NDArray[np.float64]:
    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = origin
    return matrix


# Isotropic, anisotropic, flipped, and with axes in another order.
AFFINES = {
    "4 mm": affine(spacing=(4, 4, 4), origin=(-90, -126, -72)),
    "anisotropic": affine(spacing=(2, 3, 5), origin=(7, -8, 9)),
    "flipped": affine(spacing=(-4, 4, -2), origin=(90, -126, 72)),
    "permuted": affine(spacing=(4, 4, 4), origin=(1, 2, 3))[[1, 2, 0, 3]],
}


def to_talairach(points_mm):
    return transform_points(MNI_TO_TALAIRACH, points_mm)


def test_talairach_to_mni_agrees_with_nimare():
    np.testing.assert_allclose(talairach_to_mni(POINTS), NIMARE_TAL2MNI, atol=1e-10)


def test_mni_to_talairach_agrees_with_nimare():
    np.testing.assert_allclose(to_talairach(POINTS), NIMARE_MNI2TAL, atol=1e-10)


@given(points_mm)
def test_talairach_round_trip(points):
    np.testing.assert_allclose(to_talairach(talairach_to_mni(points)), points, atol=1e-9)
    np.testing.assert_allclose(talairach_to_mni(to_talairach(points)), points, atol=1e-9)


def test_one_point_and_no_points_are_tables_of_points():
    assert talairach_to_mni([1, 2, 3]).shape == (1, 3)
    assert talairach_to_mni([]).shape == (0, 3)
    assert voxel_index(np.eye(4), []).shape == (0, 3)


@pytest.mark.parametrize("name", AFFINES)
@given(data=st.data())
def test_voxel_holds_its_point(name, data):
    """The centre of the voxel is at most half a voxel away along each axis of the image."""
    points = data.draw(points_mm)
    centres = transform_points(AFFINES[name], voxel_index(AFFINES[name], points))
    offsets = (points - centres) @ np.linalg.inv(AFFINES[name])[:3, :3].T  # (n, 3), in voxels
    assert (np.abs(offsets) <= 0.5 + 1e-6).all()


@pytest.mark.parametrize("name", AFFINES)
def test_centres_of_voxels_are_in_their_voxel(name):
    voxels = np.stack(np.meshgrid(range(7), range(8), range(9), indexing="ij"), axis=-1)
    voxels = voxels.reshape(-1, 3)
    centres = transform_points(AFFINES[name], voxels)
    np.testing.assert_array_equal(voxel_index(AFFINES[name], centres), voxels)


@pytest.mark.parametrize("name", AFFINES)
def test_ties_go_up_in_voxels_for_odd_and_even_alike(name):
    """A point on the edge of two voxels is in the upper one; rounding half to even is not."""
    lower = np.stack([np.arange(-3, 8)] * 3, axis=1)  # (11, 3)
    edges = transform_points(AFFINES[name], lower + 0.5)
    np.testing.assert_array_equal(voxel_index(AFFINES[name], edges), lower + 1)
    half_to_even = np.round(lower + 0.5).astype(int)
    assert not np.array_equal(half_to_even, lower + 1)


def test_whole_millimetres_fall_evenly_on_even_and_odd_voxels():
    """On a 4-mm grid one whole millimetre in four is a tie; each voxel still gets four."""
    peaks = np.stack([np.arange(-90, 90)] * 3, axis=1)  # (180, 3)
    voxels = voxel_index(AFFINES["4 mm"], peaks)[:, 0]
    counts = np.bincount(voxels)
    assert counts[0] == 2
    assert set(counts[1:-1]) == {4}
    naive = np.bincount(np.round((peaks[:, 0] + 90) / 4).astype(int))
    assert set(naive[1:-1]) == {3, 5}


def test_ties_survive_the_rounding_of_an_inverse_affine():
    """Thirds of a millimetre are not exact in binary; points on edges stay where they belong."""
    thirds = affine(spacing=(1 / 3, 0.7, 1.1), origin=(0.1, -0.2, 0.3))
    lower = np.stack([np.arange(-50, 50)] * 3, axis=1)
    edges = transform_points(thirds, lower + 0.5)
    np.testing.assert_array_equal(voxel_index(thirds, edges), lower + 1)
