"""Tables in the layouts of other programs; the same three places in each."""

import json
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest

from neurowhere import Atlas, name_regions
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.exceptions import CorpusError, DataWarning

TABLES = Path(__file__).with_name("tables")
AMYGDALA, OCCIPITAL, INSULA = [-24, -4, -18], [-30, -92, -8], [40, 22, 0]
# The columns of FSL's voxel table are indices of this 2-mm grid.
FSL_AFFINE = np.array([[-2.0, 0, 0, 90], [0, 2, 0, -126], [0, 0, 2, -72], [0, 0, 0, 1]])


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "thresh_zstat1.nii.gz"
    nibabel.Nifti1Image(np.zeros((91, 109, 91), np.uint8), FSL_AFFINE).to_filename(path)
    return path


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("fsl_cluster_mm.txt", ["left amygdala", "right insula"]),
        ("fsl_lmax_std.txt", ["left amygdala", "left inferior occipital gyrus", "right insula"]),
        ("spm.csv", ["left amygdala", "left inferior occipital gyrus", "right insula"]),
        ("spm.txt", ["left amygdala", "left inferior occipital gyrus", "right insula"]),
        ("freesurfer.summary", ["left insula", "left calcarine cortex"]),
    ],
)
def test_a_table_of_each_program_is_read_as_it_comes(table, names):
    named = name_regions(TABLES / table)
    assert named["name"].tolist() == names
    assert (named["distance_mm"] == 0).all()


def test_columns_stay_as_the_file_has_them():
    named = name_regions(TABLES / "spm.csv")
    assert named["cluster p(unc)"].tolist() == ["0.000", "", "0.008"]
    assert named["peak p(unc)"].tolist() == ["0.000"] * 3
    assert named.columns[-4:].tolist() == ["region", "name", "side", "distance_mm"]


def test_nilearn_writes_what_is_read(tmp_path):
    from nilearn.reporting import get_clusters_table

    values = np.zeros((46, 55, 46), np.float32)
    affine = FSL_AFFINE @ np.diag([2.0, 2, 2, 1])
    for point in (AMYGDALA, INSULA):
        centre = np.round(np.linalg.inv(affine) @ [*point, 1])[:3].astype(int)
        values[tuple(slice(i - 1, i + 2) for i in centre)] = 4
        values[tuple(centre)] = 5 + (point is AMYGDALA)
    found = get_clusters_table(nibabel.Nifti1Image(values, affine), stat_threshold=3)
    from_python = name_regions(found)
    assert from_python["name"].tolist() == ["left amygdala", "right insula"]
    assert from_python["X"].dtype == found["X"].dtype
    for suffix, options in ((".csv", {"index": False}), (".tsv", {"sep": "\t"})):
        path = tmp_path / f"clusters{suffix}"
        found.to_csv(path, **options)
        assert name_regions(path)["region"].tolist() == from_python["region"].tolist()


def test_voxel_indices_need_their_image(image):
    table = TABLES / "fsl_cluster_vox.txt"
    with pytest.raises(CorpusError, match="voxel indices, which need their image"):
        name_regions(table)
    named = name_regions(table, voxels=image)
    assert named[["x_mni", "y_mni", "z_mni"]].to_numpy().tolist() == [AMYGDALA, INSULA]
    assert named["name"].tolist() == ["left amygdala", "right insula"]
    with pytest.raises(CorpusError, match="got mm"):
        name_regions(TABLES / "fsl_cluster_mm.txt", voxels=image)


def test_what_looks_like_voxels_is_warned_of(tmp_path):
    path = tmp_path / "lmax_zstat1.txt"
    path.write_text(
        "Cluster Index\tZ\tx\ty\tz\n2\t11.9\t57\t61\t27\n1\t6\t25\t74\t36\n1\t5\t9\t9\t9\n"
    )
    with pytest.warns(DataWarning, match="give the image with --voxels"):
        name_regions(path)


@pytest.mark.parametrize("text", ["-24 -4 -18\n40, 22, 0\n", "-24;-4;-18\n40;22;0\n"])
def test_three_numbers_in_a_row_are_enough(text, tmp_path):
    path = tmp_path / "points.txt"
    path.write_text(text)
    assert name_regions(path)["name"].tolist() == ["left amygdala", "right insula"]


def test_an_excel_table_of_spm(tmp_path):
    pytest.importorskip("openpyxl")
    rows = [
        ["cluster", "peak", "", "", ""],
        ["p(unc)", "T", *["x,y,z {mm}"] * 3],
        [0.001, 9.49, *AMYGDALA],
        ["", 6.5, *INSULA],
    ]
    path = tmp_path / "spm.xlsx"
    pd.DataFrame(rows).to_excel(path, header=False, index=False)
    named = name_regions(path)
    assert named["name"].tolist() == ["left amygdala", "right insula"]
    assert named["peak T"].tolist() == ["9.49", "6.5"]


def test_talairach_points_are_converted():
    named = name_regions([AMYGDALA], talairach=True)
    expected = talairach_to_mni([AMYGDALA]).round(1)
    assert named[["x_mni", "y_mni", "z_mni"]].to_numpy() == pytest.approx(expected)


def test_a_point_outside_gets_the_closest_region_and_its_distance():
    volume = np.zeros((7, 8, 9), np.uint8)
    volume[1, 2, 3], volume[6, 7, 8] = 3, 200
    atlas = Atlas((volume, np.diag([2.0, 2, 2, 1])), {3: "Near_L", 200: "Far_R"})
    named = name_regions([[2, 4, 6], [2, 4, 9], [-2, 4, 6]], atlas)
    assert named["region"].tolist() == ["Near_L"] * 3
    assert named["distance_mm"].tolist() == [0, 3, 4]
    assert named["side"].tolist() == ["right", "right", "left"]
    assert "probability" not in named


def test_probability_maps_tell_the_probability_at_the_point():
    maps = np.zeros((4, 5, 6, 2))
    maps[1, 1, 1], maps[2, 2, 2] = (60, 30), (10, 80)  # in percent
    named = name_regions([[1, 1, 1], [2, 2, 2], [3, 3, 3]], Atlas((maps, np.eye(4)), ["a", "b"]))
    assert named["region"].tolist() == ["a", "b", "b"]
    assert named["probability"].tolist() == [0.6, 0.8, 0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "got 'nothing'"),
        ("name,size\na,1\n", "expected columns of coordinates"),
        ("x,y,z\n1,2,three\n", "line 2: expected three numbers, got '1, 2, three'"),
        ("x,y,z\n", "got a header alone"),
        ("x,y,z\n1,2\n", "line 2: expected three numbers, got '1, 2'"),
        ("x,y,z\n1,2,nan\n", "line 2: expected three numbers"),
    ],
)
def test_a_bad_table_is_one_line(content, told, tmp_path, run):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    run("regions", path).assert_refused(told)


def test_a_table_keeps_its_own_columns(tmp_path):
    path = tmp_path / "peaks.csv"
    path.write_text("name,x,y,z\nfirst,-24,-4,-18\n")
    (row,) = name_regions(path).to_dict("records")
    assert (row["name"], row["atlas_name"]) == ("first", "left amygdala")


def test_points_that_are_not_finite_are_refused():
    with pytest.raises(CorpusError, match="finite"):
        name_regions([[np.nan, 0, 0]])


@pytest.mark.parametrize("suffix", [".xls", ".xlsx"])
def test_what_is_no_excel_file_is_one_line(suffix, tmp_path, run):
    pytest.importorskip("openpyxl")
    pytest.importorskip("xlrd")
    path = tmp_path / f"bad{suffix}"
    path.write_bytes(b"no workbook")
    run("regions", path).assert_refused("Excel")


def test_the_command_writes_the_table_and_json(tmp_path, run):
    path = tmp_path / "named.csv"
    assert run("regions", TABLES / "nilearn.csv", "--table", path).code == 0
    assert pd.read_csv(path)["region"].tolist()[0] == "Amygdala_L"
    run("regions", TABLES / "nilearn.csv", "--table", path).assert_refused("exists")
    (point,) = json.loads(run("regions", "-24", "-4", "-18", "--json").out)
    assert (point["x"], point["name"], point["side"]) == (-24, "left amygdala", "left")


def test_a_table_that_is_not_there_is_one_line(run):
    run("regions", "missing.csv").assert_refused("missing.csv")
