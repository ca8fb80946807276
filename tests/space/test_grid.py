"""Voxel grids."""

import nibabel
import numpy as np
import pytest

from neurowhere.exceptions import PartitionError
from neurowhere.space import VoxelGrid
from neurowhere.space.partition import mni152_brain


def test_default_mask_is_nilearns():
    from nilearn.datasets import load_mni152_brain_mask

    grid = VoxelGrid()
    expected = load_mni152_brain_mask(resolution=4)
    np.testing.assert_array_equal(grid.brain, expected.get_fdata() > 0)
    np.testing.assert_array_equal(grid.affine, expected.affine)
    assert grid.n_regions == 29398
    assert grid == VoxelGrid(4)
    assert grid != VoxelGrid(8)


@pytest.mark.parametrize("edge_mm", [1, 2, 3, 4])
def test_mask_is_nilearns_bit_for_bit_at_every_edge(edge_mm):
    from nilearn.datasets import load_mni152_brain_mask

    expected = load_mni152_brain_mask(resolution=edge_mm)
    brain, affine = mni152_brain(edge_mm)
    np.testing.assert_array_equal(brain, np.asarray(expected.dataobj) > 0)
    np.testing.assert_array_equal(affine, expected.affine)


@pytest.mark.parametrize("resolution_mm", [3, 5.5])
def test_any_resolution_covers_the_same_brain(resolution_mm):
    grid = VoxelGrid(resolution_mm)
    np.testing.assert_allclose(grid.voxel_sizes_mm, resolution_mm)
    assert grid.total_volume_mm3 == pytest.approx(VoxelGrid(4).total_volume_mm3, rel=0.02)


def test_mask_from_a_file(mask, affine, tmp_path):
    path = tmp_path / "mask.nii.gz"
    nibabel.save(nibabel.Nifti1Image(mask, affine), path)
    grid = VoxelGrid(mask=path)
    assert grid == VoxelGrid(mask=(mask, affine)) == VoxelGrid(mask=nibabel.load(path))
    assert "mask.nii.gz" in repr(grid)
    assert repr(VoxelGrid(3)) == "VoxelGrid(3)"
    shape = " × ".join(map(str, mask.shape))
    assert repr(VoxelGrid(mask=(mask, affine))) == f"VoxelGrid(mask=<array of {shape} voxels>)"
    assert len(grid.names) == mask.sum()


def test_missing_values_and_a_trailing_axis():
    mask = np.ones((3, 4, 5, 1), np.float32)
    mask[0] = np.nan
    mask[1] = 0
    assert VoxelGrid(mask=(mask, np.eye(4))).n_regions == 20


def test_mask_and_resolution_resamples_the_mask(mask, affine):
    grid = VoxelGrid(1.0, mask=(mask, affine))
    np.testing.assert_allclose(grid.voxel_sizes_mm, 1.0)
    assert grid == VoxelGrid(mask=(mask, affine)).resample(1.0)
    assert grid.region_of(grid.centers_mm).min() >= 0


def test_resample_agrees_with_nilearn(mask, affine):
    from nilearn.image import resample_img

    target = nibabel.Nifti1Image(
        np.zeros((11, 13, 7), np.uint8), np.diag([3.1, 2.3, 4.7, 1.0]) + 0.17 * np.eye(4, k=3)
    )
    grid = VoxelGrid(mask=(mask, affine)).resample(like=target)
    expected = resample_img(
        nibabel.Nifti1Image(mask, affine),
        target_affine=target.affine,
        target_shape=target.shape,
        interpolation="nearest",
        force_resample=True,
        copy_header=True,
    )
    np.testing.assert_array_equal(grid.brain, expected.get_fdata() > 0)


def test_resample_to_itself_changes_nothing(mask):
    grid = VoxelGrid(mask=(mask, np.diag([-4.0, 4.0, 4.0, 1.0])))
    assert grid.resample(4) == grid == grid.resample(like=grid)


BAD_MASKS = {
    "two dimensions": (np.ones((4, 5)), np.eye(4), "3-D or 4-D.*\\(4, 5\\)"),
    "four dimensions": (np.ones((2, 3, 4, 5)), np.eye(4), "three dimensions.*\\(2, 3, 4, 5\\)"),
    "empty": (np.zeros((2, 3, 4)), np.eye(4), "empty"),
    "no voxels": (np.zeros((0, 3, 4)), np.eye(4), "shape \\(0, 3, 4\\)"),
    "text": (np.full((2, 3, 4), "a"), np.eye(4), "image of numbers"),
    "flat affine": (np.ones((2, 3, 4)), np.diag([1.0, 0, 1, 1]), "cannot be inverted"),
    "missing affine": (np.ones((2, 3, 4)), np.full((4, 4), np.nan), "cannot be inverted"),
    "small affine": (np.ones((2, 3, 4)), np.eye(3), "cannot be inverted"),
}


@pytest.mark.parametrize("case", BAD_MASKS)
def test_bad_masks(case):
    mask, affine, message = BAD_MASKS[case]
    with pytest.raises(PartitionError, match=message) as caught:
        VoxelGrid(mask=(mask, affine)).n_regions  # noqa: B018
    assert "\n" not in str(caught.value)


def test_bad_files(tmp_path):
    with pytest.raises(PartitionError, match=r"no file .*nowhere"):
        VoxelGrid(mask=tmp_path / "nowhere.nii.gz").regions  # noqa: B018
    (tmp_path / "text.nii.gz").write_text("not an image")
    with pytest.raises(PartitionError, match="cannot read the mask"):
        VoxelGrid(mask=tmp_path / "text.nii.gz").regions  # noqa: B018
    whole = tmp_path / "whole.nii.gz"
    random = np.random.default_rng(0).integers(0, 99, (20, 20, 20)).astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(random, np.eye(4)), whole)
    (tmp_path / "cut.nii.gz").write_bytes(whole.read_bytes()[:3000])
    with pytest.raises(PartitionError, match="cannot read the mask"):
        VoxelGrid(mask=tmp_path / "cut.nii.gz").regions  # noqa: B018
    with pytest.raises(PartitionError, match="got dict"):
        VoxelGrid(mask={}).regions  # noqa: B018


@pytest.mark.parametrize("resolution_mm", [0, -4, np.nan, np.inf, 0.01, 1000, "fine"])
def test_bad_resolutions(resolution_mm):
    with pytest.raises(PartitionError, match=r"0.5 to 50 mm"):
        VoxelGrid(resolution_mm).n_regions  # noqa: B018


def test_a_grid_too_coarse_for_the_brain():
    mask = np.zeros((9, 9, 9))
    mask[4, 4, 4] = 1
    with pytest.raises(PartitionError, match="make it finer"):
        VoxelGrid(mask=(mask, np.eye(4))).resample(5)
