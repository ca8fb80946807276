"""What grids and atlases share."""

import copy
import subprocess
import sys

import nibabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, clone

import neurowhere.space
from neurowhere.exceptions import FitError, PartitionError
from neurowhere.space import Atlas, VoxelGrid, partition_from_arrays, stack_peaks

POINTS = hnp.arrays(np.float64, (20, 3), elements=st.floats(-60, 60, width=16))


def brute_force_region(partition, point):
    """The region of the voxel whose cell, half a voxel around its centre, holds the point."""
    voxel = nibabel.affines.apply_affine(np.linalg.inv(partition.affine), point)
    for index in np.ndindex(partition.shape):
        offset = voxel - index
        if (offset >= -0.5).all() and (offset < 0.5).all():
            return partition.regions[index]
    return -1


@settings(deadline=None)
@given(points=POINTS, flips=st.tuples(*[st.sampled_from([-1.0, 1.0])] * 3))
def test_region_of_is_that_of_the_cell(points, flips):
    # Powers of two, so that the brute force has no rounding of its own.
    affine = np.diag([*np.multiply(flips, [2.0, 4.0, 8.0]), 1.0])
    affine[:3, 3] = [10, -16, 4]
    mask = np.random.default_rng(1).random((5, 4, 3)) < 0.6
    grid = VoxelGrid(mask=(mask, affine))
    expected = [brute_force_region(grid, point) for point in points]
    np.testing.assert_array_equal(grid.region_of(points), expected)


def test_region_of_centers_is_the_region(mask, affine):
    grid = VoxelGrid(mask=(mask, affine))
    np.testing.assert_array_equal(grid.region_of(grid.centers_mm), np.arange(grid.n_regions))


def test_integer_peaks_do_not_prefer_even_voxels():
    grid = VoxelGrid(mask=(np.ones((9, 9, 9)), np.diag([4.0, 4.0, 4.0, 1.0])))
    points = np.stack(np.meshgrid(*[np.arange(-2, 34)] * 3), axis=-1).reshape(-1, 3)
    counts = np.bincount(grid.region_of(points), minlength=grid.n_regions)
    np.testing.assert_array_equal(counts, 4**3)


def test_points_that_are_not_finite_are_outside():
    grid = VoxelGrid(mask=(np.ones((2, 2, 2)), np.eye(4)))
    points = [[0, 0, 0], [np.nan, 0, 0], [0, np.inf, 0], [0, 0, -np.inf], [1e300, 0, 0]]
    np.testing.assert_array_equal(grid.region_of(points), [0, -1, -1, -1, -1])
    assert grid.region_of([]).shape == (0,)
    assert grid.region_of([0, 0, 0]) == [0]
    with pytest.raises(PartitionError, match=r"\(n, 3\).*\(2, 2\)"):
        grid.region_of([[0, 0], [1, 1]])


def test_volumes(mask, affine):
    grid = VoxelGrid(mask=(mask, affine))
    np.testing.assert_allclose(grid.volumes_mm3, np.prod(grid.voxel_sizes_mm))
    assert grid.total_volume_mm3 == pytest.approx(mask.sum() * abs(np.linalg.det(affine)))


def test_counts_by_hand():
    labels = np.zeros((4, 3, 3), int)
    labels[0], labels[3] = 7, 200
    atlas = Atlas((labels, np.eye(4)))
    xyz_mm, studies = stack_peaks([[[0, 0, 0], [3, 1, 1], [3, 2, 2]], [], [[1, 0, 0]]])
    expected = [[1, 2], [0, 0], [0, 0]]
    np.testing.assert_array_equal(atlas.counts(xyz_mm, studies, 3).toarray(), expected)
    weighted = atlas.counts(xyz_mm, studies, 3, weights=[0.5, 1, 0.25, 9])
    np.testing.assert_array_equal(weighted.toarray()[0], [0.5, 1.25])


@pytest.mark.parametrize(
    ("studies", "weights", "message"),
    [
        ([0], None, "2 peaks, 1 studies"),
        ([0, 5], None, "from 0 to 1; got 0 to 5"),
        ([0, -1], None, "from 0 to 1; got -1 to 0"),
        ([0, 1], [1.0], "1 weights"),
        ([0, 1], [1.0, -1.0], "not negative"),
        ([0, 1], [1.0, np.nan], "finite"),
    ],
)
def test_counts_refuse_what_does_not_fit(studies, weights, message):
    grid = VoxelGrid(mask=(np.ones((2, 2, 2)), np.eye(4)))
    with pytest.raises(FitError, match=message):
        grid.counts([[0, 0, 0], [1, 1, 1]], studies, 2, weights)


def test_image_has_values_in_place(mask, affine):
    grid = VoxelGrid(mask=(mask, affine))
    values = np.arange(1.0, grid.n_regions + 1)
    image = grid.to_img(values)
    data = image.get_fdata()
    np.testing.assert_array_equal(data[mask > 0], values)
    assert not data[mask == 0].any()
    assert image.get_data_dtype() == np.float32
    np.testing.assert_allclose(image.affine, affine)
    assert image.header["sform_code"] == 4  # MNI
    maps = grid.to_img(np.stack([values, -values, 2 * values]))
    assert maps.shape == (*mask.shape, 3)
    np.testing.assert_array_equal(maps.get_fdata()[..., 1], -data)
    with pytest.raises(PartitionError, match=r"one per region.*shape"):
        grid.to_img(values[:-1])


def test_image_on_another_grid_samples_the_density(mask, affine):
    grid = VoxelGrid(mask=(mask, affine))
    values = np.random.default_rng(0).random(grid.n_regions)
    fine = grid.to_img(values, resolution_mm=1)
    centers = nibabel.affines.apply_affine(
        fine.affine, np.argwhere(np.ones(fine.shape, bool)) + 0.0
    )
    region = grid.region_of(centers)
    expected = np.where(region < 0, 0, values[region]).reshape(fine.shape)
    np.testing.assert_allclose(fine.get_fdata(), expected, rtol=1e-6)
    # A fine grid sees every region, about as much as its volume says.
    mass = fine.get_fdata().sum()
    assert mass == pytest.approx(values @ grid.volumes_mm3, rel=0.1)


@pytest.mark.parametrize("bad", [{}, {"resolution_mm": 2, "like": "image"}])
def test_resampling_takes_one_target(bad):
    with pytest.raises(PartitionError, match="either resolution_mm or like"):
        VoxelGrid(mask=(np.ones((2, 2, 2)), np.eye(4))).resample(**bad)


def test_like_is_not_read(tmp_path):
    path = tmp_path / "series.nii"
    nibabel.save(nibabel.Nifti1Image(np.ones((3, 4, 5, 6), np.float32), np.eye(4)), path)
    with path.open("r+b") as stream:
        stream.truncate(400)  # the header alone
    grid = VoxelGrid(mask=(np.ones((3, 4, 5)), np.eye(4)))
    assert grid.to_img(np.ones(60), like=path).shape == (3, 4, 5)
    with pytest.raises(PartitionError, match=r"3-D image; got shape \(2, 2\)"):
        grid.resample(like=(np.ones((2, 2)), np.eye(4)))


def test_arrays_make_the_same_partition_again(mask, affine, tmp_path):
    labels = np.where(mask, np.arange(mask.size).reshape(mask.shape) % 3 * 100, 0)
    for partition in [
        VoxelGrid(mask=(mask, affine)),
        Atlas((labels, affine), {100: "Größe", 200: "b"}),
    ]:
        np.savez_compressed(tmp_path / "p.npz", **partition.to_arrays())
        with np.load(tmp_path / "p.npz", allow_pickle=False) as stored:
            again = partition_from_arrays(stored)
            assert again == partition
        assert again.names == partition.names
        assert copy.deepcopy(again) is again
        other = VoxelGrid(mask=(mask, 2 * affine)) if "mask" in partition.to_arrays() else None
        assert partition != other
    with pytest.raises(PartitionError, match="got nonsense"):
        partition_from_arrays({"nonsense": mask})


def test_scikit_learn_clones_estimators_with_a_partition():
    class Model(BaseEstimator):
        def __init__(self, partition=None):
            self.partition = partition

    grid = VoxelGrid(4)
    assert clone(Model(grid)).partition is grid


def test_html_is_a_readable_table(mask):
    html = VoxelGrid(mask=(mask, np.diag([2.0, 3.0, 4.0, 1.0])))._repr_html_()
    assert f"<td>{mask.sum()}</td>" in html
    assert "2 × 3 × 4 mm" in html


def test_public_names():
    assert set(neurowhere.space.__all__) == {
        "Atlas",
        "DensityEstimator",
        "Partition",
        "Targets",
        "VoxelGrid",
        "default_atlas",
        "fold",
        "make_targets",
        "move_to_sides",
        "overlap_mm3",
        "partition_from_arrays",
        "place_peaks",
        "stack_peaks",
        "strongest_regions",
    }


def test_heavy_libraries_are_imported_only_when_used():
    code = (
        "import sys, numpy as np; from neurowhere.space import *;"
        "grid = partition_from_arrays({'mask': np.ones((3, 4, 5)), 'affine': np.eye(4)});"
        "grid.region_of([[0, 0, 0]]); grid.volumes_mm3;"
        "print(*{'nilearn', 'nibabel', 'numba', 'matplotlib', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
