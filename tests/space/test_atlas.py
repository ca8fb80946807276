"""Atlases, made up and real."""

import warnings

import nibabel
import numpy as np
import pandas as pd
import pytest

from neurowhere.exceptions import DataWarning, PartitionError
from neurowhere.space import Atlas, VoxelGrid

VALUES = [3, 127, 128, 200, 255]  # with gaps, and above what int8 holds
NAMES = {value: f"region {value}" for value in VALUES}


@pytest.fixture
def labels():
    """A label image with blocks of unequal size."""
    labels = np.zeros((7, 8, 9), np.uint8)
    labels[1, :4] = 3
    labels[2, 1:3] = 127
    labels[3:5, 2, 3:9] = 128
    labels[5, 6, 7] = 200
    labels[6] = 255
    return labels


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32, np.float64])
def test_labels_of_any_type(labels, affine, dtype, tmp_path):
    path = tmp_path / "atlas.nii.gz"
    nibabel.save(nibabel.Nifti1Image(labels.astype(dtype), affine), path)
    atlas = Atlas(path, NAMES)
    assert atlas.n_regions == 5
    assert atlas.names == tuple(NAMES.values())
    np.testing.assert_array_equal(atlas.ids, VALUES)
    voxels = [np.count_nonzero(labels == value) for value in VALUES]
    np.testing.assert_allclose(atlas.volumes_mm3, np.array(voxels) * abs(np.linalg.det(affine)))
    for value in VALUES:
        points = nibabel.affines.apply_affine(affine, np.argwhere(labels == value))
        np.testing.assert_array_equal(atlas.region_of(points), VALUES.index(value))
        np.testing.assert_allclose(atlas.centers_mm[VALUES.index(value)], points.mean(axis=0))
    background = nibabel.affines.apply_affine(affine, np.argwhere(labels == 0))
    assert (atlas.region_of(background) == -1).all()


def test_missing_values_are_outside(labels):
    data = labels.astype(float)
    data[0] = np.nan
    assert Atlas((data, np.eye(4))) == Atlas((labels, np.eye(4)))


def test_labels_in_every_form(labels, tmp_path):
    table = pd.DataFrame({"index": [0, *VALUES], "name": ["Background", *NAMES.values()]})
    table.to_csv(tmp_path / "labels.csv", index=False)
    table.assign(color="red").to_csv(tmp_path / "labels.TSV.gz", index=False, sep="\t")
    forms = [
        tmp_path / "labels.csv",
        str(tmp_path / "labels.TSV.gz"),
        table,
        NAMES,
        list(NAMES.values()),
        ["Background", *NAMES.values()],
    ]
    for form in forms:
        assert Atlas((labels, np.eye(4)), form).names == tuple(NAMES.values())
    assert Atlas((labels, np.eye(4))).names[-1] == "label 255"
    assert "labels.csv" in repr(Atlas(tmp_path / "a.nii", tmp_path / "labels.csv"))
    shape = " × ".join(map(str, labels.shape))
    assert repr(Atlas((labels, np.eye(4)))) == f"Atlas(<array of {shape} voxels>)"


def test_a_sequence_with_a_name_for_every_number():
    labels = np.array([0, 1, 2, 4]).reshape(4, 1, 1)
    with pytest.warns(DataWarning, match="2 of 5 labels have no voxel and are left out: c, e"):
        assert Atlas((labels, np.eye(4)), list("abcde")).names == ("a", "b", "d")


def test_names_may_look_like_missing_values(labels, tmp_path):
    (tmp_path / "labels.csv").write_text("Index, Name\n3,NA\n127,None\n128,nan\n200,a\n255,b")
    assert Atlas((labels, np.eye(4)), tmp_path / "labels.csv").names[:3] == ("NA", "None", "nan")


def test_what_does_not_match_is_counted(labels):
    names = {value: NAMES[value] for value in VALUES[1:]} | {50: "lost", 60: "gone"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        atlas = Atlas((labels, np.eye(4)), names)
        assert atlas.names[0] == "label 3"
        assert atlas.names[0] == "label 3"  # and not again
    messages = [str(warning.message) for warning in caught]
    assert [warning.category for warning in caught] == [DataWarning, DataWarning]
    assert messages[0] == "2 of 6 labels have no voxel and are left out: lost, gone"
    assert "1 of 5 regions have no label" in messages[1]
    assert messages[1].endswith(": 3")


def test_repeated_index_is_counted(labels):
    table = pd.DataFrame({"index": [*VALUES, 3], "name": [*NAMES.values(), "again"]})
    with pytest.warns(DataWarning, match="1 labels repeat the index"):
        assert Atlas((labels, np.eye(4)), table).names[0] == "region 3"


def test_image_and_labels_that_share_nothing(labels):
    with pytest.raises(PartitionError, match=r"share nothing: .* has 3, 127, .*1000"):
        Atlas((labels, np.eye(4)), {1000: "a", 1001: "b"}).names  # noqa: B018


def test_an_empty_table_names_nothing(labels, tmp_path):
    (tmp_path / "labels.csv").write_text("index,name\n")
    with pytest.warns(DataWarning, match="5 of 5 regions have no label"):
        assert Atlas((labels, np.eye(4)), tmp_path / "labels.csv").n_regions == 5


BAD_TABLES = {
    "value,label\n3,a\n": "columns index and name in the labels; got value, label",
    "index,name\nthree,a\n": "whole numbers as the index of labels; got 'three'",
    "index,name\n3.5,a\n": "whole numbers as the index of labels; got '3.5'",
    "index,name\n3,a\ninf,b\n": "whole numbers as the index of labels; got 'inf'",
    "index,name\n1e30,a\n": "whole numbers as the index of labels; got '1e30'",
    "": "cannot read labels",
    "index,name\n3,a,b,c\n4,a,b,c,d\n": "cannot read labels",
}


@pytest.mark.parametrize("text", BAD_TABLES)
def test_bad_tables(labels, text, tmp_path):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(PartitionError, match=BAD_TABLES[text]):
        Atlas((labels, np.eye(4)), tmp_path / "labels.csv").names  # noqa: B018


def test_bad_label_files(labels, tmp_path):
    with pytest.raises(PartitionError, match="No such file"):
        Atlas((labels, np.eye(4)), tmp_path / "none.csv").names  # noqa: B018
    (tmp_path / "latin.csv").write_bytes("index,name\n3,Größe\n".encode("latin-1"))
    with pytest.raises(PartitionError, match="cannot read labels"):
        Atlas((labels, np.eye(4)), tmp_path / "latin.csv").names  # noqa: B018


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.full((3, 4, 5), 0.37), "whole numbers in a label image; got 0.37"),
        (np.full((3, 4, 5), np.inf, np.float32), "whole numbers in a label image; got inf"),
        (np.full((3, 4, 5), -1e30), r"whole numbers in a label image; got -1e\+30"),
        (np.full((3, 4, 5), 2**63 + 1, np.uint64), "whole numbers in a label image; got 9.2"),
        (np.zeros((3, 4, 5)), "atlas is empty"),
        (np.full((3, 4, 5, 2), 300), "choose one volume"),
        (np.full((3, 4, 5, 2), -0.5), "from -0.5"),
        (np.full((3, 4, 5, 2), 0.1), "threshold 0.25; the highest probability is 0.1"),
        (np.ones((3, 4)), "3-D or 4-D"),
    ],
)
def test_bad_images(data, message):
    with pytest.raises(PartitionError, match=message):
        Atlas((data, np.eye(4))).names  # noqa: B018


def probabilities(scale, dtype):
    """Three maps along x: 60/30/0 %, a tie of 40/40/0, 10/20/24, nothing, 0/0/25."""
    table = np.array([[60, 30, 0], [40, 40, 0], [10, 20, 24], [0, 0, 0], [0, 0, 25]])
    maps = np.zeros((5, 3, 2, 3))
    maps[:] = table[:, None, None] * scale
    return maps.astype(dtype)


@pytest.mark.parametrize(
    "maps",
    [
        probabilities(1, np.uint8),
        probabilities(1, np.int16),
        probabilities(1, np.float32),
        probabilities(0.01, np.float64),
    ],
    ids=["uint8", "int16", "percent", "share"],
)
def test_maximum_probability(maps):
    atlas = Atlas((maps, np.eye(4)), {1: "a", 2: "b", 3: "c"})
    with pytest.warns(DataWarning, match="1 of 3 labels have no voxel and are left out: b"):
        assert atlas.names == ("a", "c")
    np.testing.assert_array_equal(atlas.regions[:, 0, 0], [0, 0, -1, -1, 1])
    low = Atlas((maps, np.eye(4)), ["a", "b", "c"], threshold=0)
    with pytest.warns(DataWarning, match="left out: b"):
        np.testing.assert_array_equal(low.regions[:, 0, 0], [0, 0, 1, -1, 1])


def test_maps_counted_from_zero():
    maps = np.eye(3).reshape(3, 1, 1, 3)
    for names in [{0: "a", 1: "b", 2: "c"}, {0: "Background", 1: "a", 2: "b", 3: "c"}]:
        assert Atlas((maps, np.eye(4)), names).names == ("a", "b", "c")


def test_resample_agrees_with_nilearn(labels, affine):
    from nilearn.image import resample_img

    # Padded, as nilearn cuts off the outer half of the voxels at an image's edge.
    image = nibabel.Nifti1Image(np.pad(labels, 1).astype(np.int16), affine)
    target = np.diag([1.3, 1.7, -1.9, 1.0])
    target[:3, 3] = [-5.1234, -8.3127, 40.7291]  # no ties
    like = nibabel.Nifti1Image(np.zeros((31, 33, 35), np.uint8), target)
    expected = resample_img(
        image,
        target_affine=target,
        target_shape=like.shape,
        interpolation="nearest",
        force_resample=True,
        copy_header=True,
    ).get_fdata()
    atlas = Atlas(image, NAMES)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        moved = atlas.resample(like=like)
    ids = np.append(moved.ids, 0)
    np.testing.assert_array_equal(ids[moved.regions], expected)
    assert set(moved.names) | set(moved.lost) == set(NAMES.values())


def test_lost_regions_are_named(labels):
    atlas = Atlas((labels, np.eye(4)), NAMES)
    with pytest.warns(DataWarning, match=r"2 of 5 regions have no voxel .*: region 3, region 200"):
        coarse = atlas.resample(2)  # voxels with even indices
    assert coarse.lost == ("region 3", "region 200")  # those at x = 1 and x = 5
    assert coarse.names == ("region 127", "region 128", "region 255")
    np.testing.assert_array_equal(
        (coarse.regions >= 0)[:, :4], np.isin(labels[::2, ::2, ::2], coarse.ids)
    )
    assert atlas.lost == ()


def test_restrict_to_the_brain(labels):
    brain = np.zeros((4, 4, 5))
    brain[:3] = 1  # cells from −1 to 5 along x
    atlas = Atlas((labels, np.eye(4)), NAMES)
    grid = VoxelGrid(mask=(brain, np.diag([2.0, 2.0, 2.0, 1.0])))
    with pytest.warns(DataWarning, match="in the brain mask: region 200, region 255"):
        inside = atlas.restrict(grid)
    assert inside.lost == ("region 200", "region 255")
    np.testing.assert_array_equal(inside.ids, VALUES[:3])
    expected = np.where(np.arange(7)[:, None, None] < 5, labels, 0)  # 5 is in the next cell
    np.testing.assert_array_equal(np.append(inside.ids, 0)[inside.regions], expected)


def test_restrict_to_another_place(labels):
    elsewhere = np.eye(4)
    elsewhere[:3, 3] = 500
    grid = VoxelGrid(mask=(np.ones((3, 3, 3)), elsewhere))
    with pytest.raises(PartitionError, match="no region of the atlas has a voxel in the brain"):
        Atlas((labels, np.eye(4))).restrict(grid)


@pytest.fixture
def nilearn_folder(tmp_path):
    """A folder as nilearn leaves it, with a made-up atlas of Schaefer's format."""
    folder = tmp_path / "schaefer_2018"
    folder.mkdir()
    labels = np.arange(11 * 10 * 1).reshape(11, 10, 1) % 101
    nibabel.save(
        nibabel.Nifti1Image(labels.astype(np.int32), np.eye(4)),
        folder / "Schaefer2018_100Parcels_7Networks_order_FSLMNI152_2mm.nii.gz",
    )
    rows = [f"{i}\t7Networks_LH_Vis_{i}\t1\t2\t3\t0" for i in range(1, 101)]
    (folder / "Schaefer2018_100Parcels_7Networks_order.txt").write_text("\n".join(rows))
    return tmp_path


def test_fetch_by_name(nilearn_folder):
    options = {"n_rois": 100, "resolution_mm": 2, "data_dir": nilearn_folder}
    for name in ["schaefer_2018", "schaefer-2018", "fetch_atlas_schaefer_2018"]:
        atlas = Atlas.fetch(name, **options)
        assert atlas.n_regions == 100
        assert atlas.names[41] == "7Networks_LH_Vis_42"


def test_fetch_that_cannot_be():
    with pytest.raises(PartitionError, match=r"no atlas 'nowhere'; it has aal, .*yeo"):
        Atlas.fetch("nowhere")
    with pytest.raises(PartitionError, match="cannot fetch the atlas 'schaefer_2018'"):
        Atlas.fetch("schaefer_2018", n_rois=7)


def test_fetch_without_network(monkeypatch):
    def fetch(**options):
        raise ConnectionError("name or service not known\nand so on")

    monkeypatch.setattr("nilearn.datasets.fetch_atlas_aal", fetch)
    with pytest.raises(PartitionError, match="cannot fetch the atlas 'aal': name or service"):
        Atlas.fetch("aal")


def test_what_fetchers_return():
    maps = nibabel.Nifti1Image(np.eye(3).reshape(3, 1, 1, 3), np.eye(4))
    assert Atlas.from_nilearn({"maps": maps, "labels": ["a", "b", "c"]}).names == ("a", "b", "c")
    schemes = pd.DataFrame({"component": [1, 2, 3], "difumo_names": ["a", "b", "c"]})
    assert Atlas.from_nilearn({"maps": maps, "labels": schemes}).names[0] == "label 1"
    with pytest.raises(PartitionError, match="one volume image"):
        Atlas.from_nilearn({"map_left": "surface"})


def manifest(data):
    table = pd.read_csv(data / "atlases" / "manifest.csv").astype({"unlabelled_ids": int})
    return [
        (row, data / "atlases" / row.files.split(";")[-1], data / "atlases" / row.labels)
        for row in table.itertuples()
    ]


def test_all_real_atlases_load(data):
    brain = data / "atlases" / "mask_4mm_neuroquery_28542vox.nii.gz"
    for row, image, labels in manifest(data):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            atlas = Atlas(image, labels)
            coarse = atlas.resample(like=brain)
        assert atlas.n_regions == row.n_regions, row.atlas
        assert round(atlas.total_volume_mm3 / 1000) == row.volume_cm3, row.atlas
        assert coarse.n_regions == row.regions_left_at_4mm, row.atlas
        assert len(coarse.lost) == row.n_regions - row.regions_left_at_4mm, row.atlas
        odd = [row.unlabelled_ids, row.labels_without_voxels, len(coarse.lost)]
        assert len(caught) == np.count_nonzero(odd), row.atlas


def test_real_atlases_cover_the_peaks_they_should(data):
    """The manifest's coverage, computed independently, among peaks in the brain."""
    peaks = pd.read_csv(data / "corpus" / "neuroquery_dev_coordinates.tsv.gz", sep="\t")
    grid = VoxelGrid(4)
    points = peaks[["x", "y", "z"]].to_numpy()[::20]
    points = points[grid.region_of(points) >= 0]
    for row, image, labels in manifest(data)[::5]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            covered = Atlas(image, labels).restrict(grid).region_of(points) >= 0
        assert covered.mean() == pytest.approx(row.frac_NQ_coords_inside, abs=0.015), row.atlas


def test_real_sides_are_right(data):
    """Regions called left are left of the midline, whatever the direction of the axes."""
    for name in ["aal", "aal3", "aicha", "destrieux", "hcpex426", "ho_subcortical_thr25"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            atlas = Atlas(
                data / "atlases" / f"{name}.nii.gz", data / "atlases" / f"{name}_labels.csv"
            )
            x = dict(zip(atlas.names, atlas.centers_mm[:, 0], strict=True))
        left = [x[n] for n in x if n.endswith(("_L", "-L")) or n.startswith(("Left", "lh."))]
        right = [x[n] for n in x if n.endswith(("_R", "-R")) or n.startswith(("Right", "rh."))]
        assert len(left) >= 8, name
        assert max(left) < 1 < min(right) + 2, name


def test_probabilistic_atlas_is_fsls_own_maximum(data):
    folder = data / "atlases"
    labels = folder / "juelich_labels.csv"
    ours = Atlas(folder / "juelich_prob.nii.gz", labels)
    assert ours == Atlas(folder / "juelich_maxprob-thr25.nii.gz", labels)
