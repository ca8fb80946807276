"""The commands decode and term on many places and terms: a row each, a line for each failure."""

import csv
import io
import json
import os
import signal
import time

import nibabel
import pytest
from tests.studies import PLACES, TERMS

from neurowhere import load_model
from neurowhere.corpus.coordinates import MNI_TO_TALAIRACH
from neurowhere.space.images import transform_points


@pytest.fixture
def decode(run, model):
    return lambda *arguments: run("decode", *arguments, "--model", model)


@pytest.fixture
def peaks(tmp_path):
    """All places of each term, called by its name, in another order of columns."""
    rows = [f'"{term}",{z},{y},{x}' for term in TERMS for x, y, z in PLACES[term]]
    path = tmp_path / "peaks.csv"
    path.write_text("Study,Z,Y,X\n" + "\n".join(rows) + "\n")
    return path


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_each_value_of_a_column(decode, peaks, tmp_path):
    outcome = decode(peaks, "--by", "study", "--table", tmp_path / "t.csv", "--terms", 2)
    assert (outcome.code, outcome.err) == (0, "")
    rows = rows_of((tmp_path / "t.csv").read_text("utf-8"))
    assert [(row["id"], row["term"]) for row in rows] == [(term, term) for term in TERMS]
    assert all(len(row["terms"].split("; ")) == 2 and row["studies"] for row in rows)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_table_of_excel(decode, tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes("id;x;y;z\r\nä;-38;-24;56\r\n".encode(encoding))
    (row,) = rows_of(decode(tmp_path / "a.csv", "--by", "id").out)
    assert (row["id"], row["term"]) == ("ä", "motor cortex")


def test_each_row(decode, peaks):
    rows = rows_of(decode(peaks, "--by", "row").out)
    assert [row["id"] for row in rows] == [str(number) for number in range(1, 8)]
    assert [row["term"] for row in rows] == [term for term in TERMS for _ in PLACES[term]]


def test_rows_of_the_same_id_are_told_apart(decode, tmp_path):
    (tmp_path / "a.tsv").write_text("id\tx\ty\tz\n=s\t-38\t-24\t56\n=s\t8\t-92\t2\n")
    rows = rows_of(decode(tmp_path / "a.tsv", "--by", "row").out)
    assert [row["id"] for row in rows] == ["'=s:1", "'=s:2"]  # no formulas
    (row,) = rows_of(decode(tmp_path / "a.tsv", "--by", "id", "--keep-formulas").out)
    assert row["id"] == "=s"


def test_points_in_talairach_as_lines_of_json(decode, tmp_path):
    x, y, z = transform_points(MNI_TO_TALAIRACH, [PLACES["motor cortex"][0]])[0]
    (tmp_path / "a.csv").write_text(f"x,y,z\n{x},{y},{z}\n")
    line = json.loads(decode(tmp_path / "a.csv", "--by", "row", "--talairach", "--json").out)
    assert (line["id"], line["problem"], line["terms"][0]["term"]) == ("1", None, "motor cortex")


def test_a_folder_of_maps_and_several_maps(decode, model, tmp_path):
    maps = tmp_path / "maps"
    (maps / "more").mkdir(parents=True)
    encoder = load_model(model)
    encoder.encode("amygdala").density_img.to_filename(maps / "a.nii.gz")
    encoder.encode("motor cortex").density_img.to_filename(maps / "more" / "b.nii")
    (maps / "c.nii").write_text("no image")
    (maps / "notes.txt").write_text("no map")
    outcome = decode(maps, "--keep-going")
    rows = rows_of(outcome.out)
    assert [(row["id"], row["term"]) for row in rows] == [
        ("a", "amygdala"), ("c", ""), ("more/b", "motor cortex"),
    ]  # fmt: skip
    assert "cannot read the map" in rows[1]["problem"]
    assert outcome.code == 0
    assert outcome.err.startswith("neurowhere: c: ")
    both = decode(maps / "a.nii.gz", maps / "more" / "b.nii")
    assert [row["term"] for row in rows_of(both.out)] == ["amygdala", "motor cortex"]
    assert decode(maps).code == 1


def test_a_warning_says_of_which_place(decode, tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y,z\ns,-38,-24,56\ns,0,0,200\n")
    outcome = decode(tmp_path / "a.csv", "--by", "id")
    assert outcome.code == 0
    assert outcome.err == "neurowhere: warning: s: 1 of 2 points lie outside of the brain\n"


BAD_ROWS = 'id,x,y,z\n"a\nb",-38,-24,56\n\nc,nan,-24,56\nd,8,,\n,,,\ne,8,-92,two\nf,8,-92,2\n'
TOLD = [
    "line 5: expected three numbers, got 'nan', '-24', '56'",
    "line 6: expected three numbers, got '8', '', ''",
    "line 7: expected three numbers, got '', '', ''",
    "line 8: expected three numbers, got '8', '-92', 'two'",
]


def test_a_bad_row_is_named_by_its_line_and_the_others_are_decoded(decode, tmp_path):
    (tmp_path / "a.csv").write_text(BAD_ROWS)
    outcome = decode(tmp_path / "a.csv", "--by", "row")
    assert outcome.code == 1
    rows = rows_of(outcome.out)
    assert [row["problem"] for row in rows if row["problem"]] == TOLD
    assert [row["term"] for row in rows if row["term"]] == ["motor cortex", "visual cortex"]
    assert f"neurowhere: c: {TOLD[0]}" in outcome.err
    assert decode(tmp_path / "a.csv", "--by", "row", "--keep-going").code == 0


def test_a_place_with_a_bad_row_has_the_rest_of_its_rows_if_asked(decode, tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y,z\ns,-38,-24,56\ns,x,y,z\nt,1,2,inf\n")
    assert "none of the 2 places" in decode(tmp_path / "a.csv", "--by", "id").err
    outcome = decode(tmp_path / "a.csv", "--by", "id", "--keep-going")
    assert outcome.code == 0
    assert [row["term"] for row in rows_of(outcome.out)] == ["motor cortex", ""]
    assert outcome.err.splitlines() == [
        "neurowhere: warning: s: line 3: expected three numbers, got 'x', 'y', 'z'; left out",
        "neurowhere: t: line 4: expected three numbers, got '1', '2', 'inf'",
    ]


def test_bad_rows_of_one_place_are_left_out_if_asked(decode, tmp_path):
    (tmp_path / "a.csv").write_text(BAD_ROWS)
    decode(tmp_path / "a.csv").assert_refused(f"{TOLD[0]}; {TOLD[1]}")
    outcome = decode(tmp_path / "a.csv", "--keep-going", "--json")
    assert outcome.code == 0
    assert "line 8: expected three numbers, got '8', '-92', 'two'; left out" in outcome.err
    terms = {row["term"] for row in json.loads(outcome.out)["terms"][:2]}
    assert terms == {"motor cortex", "visual cortex"}


@pytest.mark.linux
def test_what_is_decoded_is_kept_when_stopped(decode, peaks, tmp_path, monkeypatch):
    def stopped_half_way(items, description):
        for number, item in enumerate(items):
            if number == 2:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(10)
            yield item

    monkeypatch.setattr("neurowhere._tools.parallel.track", stopped_half_way)
    outcome = decode(peaks, "--by", "row", "--table", tmp_path / "t.csv")
    assert outcome.code == 130
    assert "2 places decoded, 0 not; stopped before the end" in outcome.out
    assert [row["id"] for row in rows_of((tmp_path / "t.csv").read_text())] == ["1", "2"]


def test_nothing_decoded_leaves_no_table(decode, tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z\n0,0,200\n")
    outcome = decode(tmp_path / "a.csv", "--by", "row", "--table", tmp_path / "t.csv")
    assert outcome.code == 1
    assert outcome.err.startswith("neurowhere: 1: ")
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize(
    ("content", "by", "message"),
    [
        ("x,y,z\n1,2,3\n", "study", "expected a column 'study' in"),
        ("a,b,c\n1,2,3\n", "row", "expected columns named x, y and z in"),
        ("x,y,z\n1,2,left\n", "row", "expected rows of three numbers"),
        ("", "row", "cannot read peaks from"),
    ],
)
def test_mistakes_are_one_line(decode, tmp_path, content, by, message):
    (tmp_path / "a.csv").write_text(content)
    decode(tmp_path / "a.csv", "--by", by).assert_refused(message)


def test_an_empty_folder_is_refused(decode, tmp_path):
    decode(tmp_path).assert_refused("expected NIfTI images")


def test_wrong_usage_is_code_2(decode, run, tmp_path, peaks):
    assert decode(peaks, "--by", "row", "-o", tmp_path / "out").code == 2
    assert decode(peaks, "--table", tmp_path / "t.csv").code == 2
    assert decode(1, 2, 3, "--by", "row").code == 2
    for arguments in ((), ("a", "--all"), ("--all", "--terms", peaks), ("a", "--csv")):
        assert run("term", *arguments, "-o", tmp_path / "out").code == 2


def test_maps_of_all_terms_and_of_some(run, model, tmp_path):
    outcome = run("term", "--all", "--model", model, "-o", tmp_path / "all")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("maps of 4 terms: written to")
    assert nibabel.load(tmp_path / "all" / "maps.nii.gz").shape[-1] == len(TERMS)
    (tmp_path / "some.txt").write_text("left amygdala\n\nvisual cortex\n", encoding="utf-8")
    some = ("term", "--terms", tmp_path / "some.txt", "--model", model, "--csv")
    assert run(*some, "-o", tmp_path / "some").code == 0
    rows = rows_of((tmp_path / "some" / "regions.csv").read_text("utf-8"))
    assert [row["term"] for row in rows] == ["left amygdala", "visual cortex"]
    assert float(rows[0]["Amygdala_R"]) == 0 < float(rows[0]["Amygdala_L"])
