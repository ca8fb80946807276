"""The command decode: points, tables of peaks and maps; negative numbers are no options."""

import json

import pytest
from tests.studies import PLACES, TERMS

from neurowhere import load_model
from neurowhere.corpus.coordinates import MNI_TO_TALAIRACH
from neurowhere.space.images import transform_points


@pytest.fixture
def decode(run, model):
    return lambda *arguments: run("decode", *arguments, "--model", model)


def first_term(outcome):
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)["terms"][0]["term"]


@pytest.mark.parametrize("term", TERMS)
def test_a_point(decode, term):
    assert first_term(decode(*PLACES[term][0], "--json")) == term


@pytest.mark.parametrize("point", ["-38,-24,56", "-38; -24; 56.5", " -38 -24  56 "])
def test_a_point_as_one_argument(decode, point):
    assert first_term(decode(point, "--json")) == "motor cortex"


def test_a_point_in_talairach(decode):
    point = transform_points(MNI_TO_TALAIRACH, [PLACES["motor cortex"][0]])[0]
    assert first_term(decode(*point, "--talairach", "--json")) == "motor cortex"


@pytest.mark.parametrize(
    "content",
    [
        "x,y,z\n-38,-24,56\n38,-24,56\n",
        "id\tz\ty\tx\n1\t56\t-24\t-38\n",
        "-38 -24 56\n38 -24 56\n",
        "-38; -24; 56.5\n",
    ],
)
def test_a_table_of_peaks(decode, tmp_path, content):
    (tmp_path / "peaks.csv").write_text(content)
    assert first_term(decode(tmp_path / "peaks.csv", "--json")) == "motor cortex"


def test_a_map_and_a_folder(decode, model, tmp_path):
    load_model(model).encode("visual cortex").density_img.to_filename(tmp_path / "map.nii.gz")
    outcome = decode(tmp_path / "map.nii.gz", "-o", tmp_path / "out", "--terms", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[1].startswith("visual cortex ")
    assert lines[3:5] == ["", "closest studies"]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "terms.csv", "studies.csv", "info.json",
    }  # fmt: skip
    assert (tmp_path / "out" / "terms.csv").read_text().splitlines()[0] == "term,score,ratio,alike"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 200), "expected points in the brain, in MNI mm, got 0, 0, 200"),
        (("nan", 0, 0), "expected points in the brain, in MNI mm, got nan, 0, 0"),
        (("{here}/no.csv",), "cannot read peaks from"),
        (("{here}/words.csv",), "expected rows of three numbers, or columns named x, y and z"),
        (("{here}/empty.csv",), "cannot read peaks from"),
        (("{here}/no.nii.gz",), "no file"),
        (("{here}/words.nii.gz",), "cannot read the map"),
        ((0, 0, 0, "-o", "{here}"), "exists and is not empty"),
        (("{here}/map.nii.gz", "--threshold", 1), "expected values above 1 in the brain"),
    ],
)
def test_mistakes_are_one_line_and_code_1(decode, model, tmp_path, arguments, message):
    (tmp_path / "words.csv").write_text("a,b,c\nd,e,f\n")
    (tmp_path / "words.nii.gz").write_text("words")
    (tmp_path / "empty.csv").write_text("")
    load_model(model).encode("amygdala").density_img.to_filename(tmp_path / "map.nii.gz")
    outcome = decode(*(str(each).format(here=tmp_path) for each in arguments))
    outcome.assert_refused(message)


@pytest.mark.parametrize("arguments", [(), (1, 2), (1, 2, 3, 4), ("a", "b", "c"), ("--terms", 0)])
def test_wrong_usage_is_code_2(run, arguments):
    assert run("decode", *arguments).code == 2
