"""The command encode: what it prints and writes, and what it makes of bad input."""

import csv
import io
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import nibabel
import pytest
from rich.console import Console
from tests.model.test_encoder import make_atlas
from tests.studies import TERMS, small_model

from neurowhere import load_model
from neurowhere.cli.terminal import N_TERMS, _first, draw

TEXT = "The left amygdala and the amygdala; no motor cortex. Pain in the right ear."


@pytest.fixture
def atlas(tmp_path):
    made = make_atlas()
    nibabel.Nifti1Image(made.image[0], made.affine).to_filename(tmp_path / "atlas.nii.gz")
    rows = [f"{index},{name}\n" for index, name in made.labels.items()]
    (tmp_path / "labels.csv").write_text("index,name\n" + "".join(rows))
    return f"{tmp_path / 'atlas.nii.gz'}:{tmp_path / 'labels.csv'}"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---- one text


def test_it_tells_terms_regions_peaks_and_support(encode, model):
    outcome = encode(TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert "known      amygdala (2×)\n" in outcome.out
    assert "sides      amygdala (left)\n" in outcome.out
    assert "ignored    motor cortex (negated: “no”), “right ear” (a side, but" in outcome.out
    support = load_model(model).encode(TEXT).support
    assert f"support    {support}\n" in outcome.out
    assert "left amygdala  " in outcome.out
    assert "mm  " in outcome.out
    assert "\nclosest studies\n" in outcome.out


def test_a_misspelt_name_is_told(encode):
    assert "misspelt   left amygdala: “left amigdala”\n" in encode("left amigdala lesion").out
    (found,) = json.loads(encode("left amigdala lesion", "--json").out)["mentions"]
    assert (found["term"], found["side"], found["misspelt"]) == ("amygdala", "left", True)


def test_json_is_that_of_the_library(encode, model):
    told = json.loads(encode(TEXT, "--json").out)
    encoding = load_model(model).encode(TEXT)
    assert [row["term"] for row in told["terms"]] == encoding.terms["term"].tolist()
    assert told["terms"][0]["count"] == 2
    assert told["support"]["nats"] == pytest.approx(encoding.support.nats, rel=1e-3)
    assert len(told["regions"]) == 12
    for order in ("excess", "probability", "ratio"):
        rows = json.loads(encode(TEXT, "--json", "--sort", order).out)["regions"]
        values = [row[order] for row in rows]
        assert values == sorted(values, reverse=True)
    assert told["peaks"][0]["at"][0] == pytest.approx(encoding.peaks["x"][0], abs=0.1)
    assert [row["term"] for row in told["mentions"] if row["status"] == "denied"] == [
        "motor cortex"
    ]
    assert [row["side"] for row in told["unapplied_sides"]] == ["right"]


OUTSIDE = "Right Bell's palsy"


def test_outside_the_brain_one_line_says_so_and_nothing_is_drawn(run, tmp_path):
    outcome = run("encode", OUTSIDE, "-o", tmp_path / "maps")
    assert (outcome.code, outcome.err) == (0, "")
    (line,) = outcome.out.splitlines()
    assert line.startswith("outside the brain: nerve")
    assert "--draw-anyway shows the map" in line
    assert line.endswith("nothing was written")
    assert not (tmp_path / "maps").exists()


def test_the_map_of_what_is_outside_the_brain_is_drawn_if_it_is_asked_for(run, tmp_path):
    outcome = run("encode", OUTSIDE, "--draw-anyway", "-o", tmp_path / "maps", "--no-pictures")
    assert "support    outside the brain: nerve" in outcome.out
    assert "to the mean map" in outcome.out
    page = (tmp_path / "maps" / "report.html").read_text("utf-8")
    assert "This is outside the brain: nerve." in page


FOREIGN = "Der linke Thalamus ist unauffällig, kein Infarkt."


def test_the_map_of_a_text_in_another_language_is_withheld(run, tmp_path):
    outcome = run("encode", FOREIGN, "-o", tmp_path / "maps")
    assert outcome.out.startswith("not in English; translate the text; --draw-anyway shows the map")
    assert (outcome.code, outcome.err) == (0, "")
    assert not (tmp_path / "maps").exists()


def test_explain_prints_clauses_and_the_rows_that_decided(run):
    outcome = run("encode", "--explain", "Left insula infarct; no lesion in the thalamus.")
    assert (outcome.code, outcome.err) == (0, "")
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[:2] == ["sentence 1", "clause: Left insula infarct"]
    assert 'phrase "insula" insula, left, affirmed: sides:before' in lines
    assert 'phrase "thalamus" thalamus, denied: cues:no' in lines
    assert run("encode", "--explain", "insula", "--json").code == 2


def test_no_map_is_offered_where_no_word_is_known(encode):
    assert encode(OUTSIDE).out == "outside the brain: nerve\n"
    assert encode(OUTSIDE, "--draw-anyway").out == "outside the brain: nerve\n"


@pytest.mark.parametrize(
    "text",
    [
        "liver and kidney",
        "Die Leber und der Magen, das ist es.",
        "No amygdala.",
        "MRI brain: normal study. No abnormality.",
        OUTSIDE,
    ],
)
def test_a_text_without_a_map_is_told_once_in_the_words_of_python(encode, text, tmp_path):
    reason = small_model("likelihood").encode(text).support.withheld
    outcome = encode(text, "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    (line,) = outcome.out.splitlines()
    assert line.startswith(reason)
    assert line.endswith("; nothing was written")
    assert not (tmp_path / "out").exists()
    assert json.loads(encode(text, "--json").out)["support"]["withheld"] == reason


def test_json_carries_what_is_outside_the_brain(encode):
    told = json.loads(encode(OUTSIDE, "--json").out)
    support = {name: told["support"][name] for name in ("level", "outside", "withheld")}
    assert support == {"level": "none", "outside": "nerve", "withheld": "outside the brain: nerve"}


def test_a_sum_of_texts_is_drawn(run):
    assert "to the mean map" in run("encode", OUTSIDE, "--minus", "amygdala").out


def test_an_atlas_of_ones_own(encode, atlas):
    told = json.loads(encode(TEXT, "--atlas", atlas, "--json", "--sort", "probability").out)
    assert {row["region"] for row in told["regions"]} == set(TERMS)
    assert told["regions"][0]["region"] == "amygdala"


def test_options_reach_the_model(encode, model):
    told = json.loads(encode(TEXT, "--json", "--no-negation", "--no-sides").out)
    encoding = load_model(model).encode(TEXT, negation=False, sides=False)
    assert {row["term"] for row in told["terms"]} == {"amygdala", "motor cortex"}
    assert told["peaks"][0]["density"] == pytest.approx(encoding.peaks["density"][0], rel=1e-3)


def test_folder(encode, tmp_path, model):
    output = tmp_path / "out"
    outcome = encode(TEXT, "-o", output, "--resolution", 8)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{output / 'report.html'}: open it in a browser" in outcome.out
    names = {file.name for file in output.iterdir()}
    assert {"map.nii.gz", "log_ratio.nii.gz", "map.png", "terms.csv", "regions.csv"} <= names
    assert {"report.html", "info.json"} <= names
    assert nibabel.load(output / "map.nii.gz").header.get_zooms() == (8, 8, 8)
    assert rows_of((output / "regions.csv").read_text())[0]["region"].endswith("_L")
    again = encode(TEXT, "-o", output)
    assert (again.code, again.out) == (1, "")
    assert "exists and is not empty" in again.err


def test_without_pictures_the_page_has_its_viewer(encode, tmp_path):
    assert encode(TEXT, "-o", tmp_path / "out", "--no-pictures").code == 0
    assert not list((tmp_path / "out").glob("*.png"))
    assert 'id="stage"' in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_the_text_of_a_patient_is_kept_out(encode, tmp_path):
    secret = "Mrs. Miller has a lesion of the left amygdala, and a parrot."
    (tmp_path / "miller.txt").write_text(secret)
    output = tmp_path / "out"
    outcome = encode(tmp_path / "miller.txt", "-o", output, "--no-text", "--json")
    assert outcome.code == 0
    for file in output.iterdir():
        content = file.read_bytes().lower()
        assert b"miller" not in content
        assert b"parrot" not in content
    assert "Mrs" not in outcome.out


def test_difference_and_sum(encode, tmp_path):
    (tmp_path / "other.txt").write_text("visual cortex")
    sums = ("--minus", tmp_path / "other.txt", "--plus", "motor cortex")
    told = json.loads(encode("amygdala", *sums, "--json").out)
    weights = {row["term"]: row["weight"] for row in told["terms"]}
    assert weights == {"amygdala": 1, "visual cortex": -1, "motor cortex": 1}


def test_nothing_is_left_of_a_text_minus_itself(encode):
    outcome = encode(TEXT, "--minus", TEXT)
    assert (outcome.code, outcome.err) == (0, "")
    assert "point to the same places" in outcome.out
    assert "0.0%" not in outcome.out
    assert "point to the same places" not in encode("amygdala", "--minus", "motor cortex").out


def test_standard_input(encode, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the amygdala")))
    assert "known      amygdala\n" in encode("-").out


def test_a_picture_for_a_terminal(model):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, color_system="truecolor", width=120)
    encoding = load_model(model).encode("amygdala")
    draw(encoding, console)
    wide = stream.getvalue()
    assert wide.count("▀") > 500
    assert "255;176;32" in wide  # the hottest place
    narrow = Console(file=io.StringIO(), width=40)
    draw(encoding, narrow)
    assert max(map(len, narrow.file.getvalue().splitlines())) <= 40


# ---- bad input


@contextmanager
def full_disk(n_bytes):
    """Let no file grow beyond some bytes: what a full disk does, at the same place."""
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def make_bad_files(folder):
    (folder / "empty.txt").write_text("")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\0\0")
    (folder / "latin1.txt").write_bytes(b"L\xe4sion")
    with (folder / "long.txt").open("wb") as stream:
        stream.truncate(200_000_000)
    (folder / "bad.csv").write_text("id,text\n1,\n2,\n")
    (folder / "columns.csv").write_text("id,words\n1,amygdala\n")
    (folder / "nothing").mkdir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "-o", "{out}"), "expected a text, but the text is empty"),
        (("{here}/empty.txt", "-o", "{out}"), "empty.txt is empty"),
        (("{here}/no.txt", "-o", "{out}"), "looks like a path, but there is no such file"),
        (("{here}/image.png", "-o", "{out}"), "is not text, but binary"),
        (("{here}/latin1.txt", "-o", "{out}"), "is not UTF-8 text (byte 0xe4 at 1)"),
        (("{here}/long.txt", "-o", "{out}"), "larger than 20 MiB"),
        (("{here}/nothing", "-o", "{out}"), "has no file ending in"),
        (("{here}/columns.csv", "--table", "{out}"), "expected a column of text"),
        (("{here}/bad.csv", "-o", "{here}/empty.txt"), "is a file; give a folder"),
        (("{here}/bad.csv", "-o", "{out}"), "none of the 2 texts could be encoded"),
        (("{here}/bad.csv", "--table", "{out}"), "none of the 2 texts could be encoded"),
        (("left", "amygdala", "-o", "{out}"), "put a text in quotes"),
        (("amygdala", "--minus", "liver", "-o", "{out}"), "--minus 'liver': no place"),
        (("amygdala", "-o", "{here}/empty.txt"), "is a file; give a folder"),
        (("amygdala", "-o", "{here}/empty.txt/out"), "cannot write to"),
        (("amygdala", "-o", "/proc/out"), "cannot write"),
        (("{here}/bad.csv", "--table", "/proc/out.csv"), "cannot write"),
        (("amygdala", "-o", "{out}", "--like", "{here}/no.nii"), "no file"),
        (("amygdala", "-o", "{out}", "--resolution", "99"), "from 0.5 to 50 mm"),
        (("amygdala", "--resolution", "0"), "from 0.5 to 50 mm"),
        (("amygdala", "--atlas", "{here}/no.nii"), "no file"),
        (("amygdala", "--minus", ""), "expected a text"),
    ],
)  # fmt: skip
def test_mistakes_are_told_and_leave_nothing(encode, tmp_path, arguments, message):
    make_bad_files(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    outcome = encode(*(each.format(here=tmp_path, out=tmp_path / "out") for each in arguments))
    assert (outcome.code, outcome.out.count("\n")) in [(1, 0), (1, 3)]  # 3: rows of a table
    last = outcome.err.splitlines()[-1]
    assert last.startswith("neurowhere: ")
    assert message in last
    assert "Traceback" not in outcome.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_name_that_is_not_unicode_is_one_line(encode, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / os.fsdecode(b"caf\xe9.txt")).write_text("the amygdala")
    outcome = encode(tmp_path / "texts", "--table", tmp_path / "table.csv")
    outcome.assert_refused("names of files have to be in UTF-8")
    assert not (tmp_path / "table.csv").exists()


def test_a_terminal_that_is_not_unicode_is_one_line(encode, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    outcome = encode(TEXT)
    assert outcome.code == 1
    assert outcome.err.startswith("neurowhere: cannot write '\\u201c' in latin-1; ")


@pytest.mark.parametrize("size", [300, 30_000])
def test_a_full_disk_leaves_no_folder(encode, tmp_path, size):
    with full_disk(size):
        outcome = encode("amygdala", "-o", tmp_path / "out")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"neurowhere: cannot write {tmp_path / 'out'}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_no_table(encode, tmp_path):
    (tmp_path / "texts.csv").write_text("text\n" + "left amygdala\n" * 200)
    with full_disk(5_000):
        outcome = encode(tmp_path / "texts.csv", "--table", tmp_path / "out.csv")
    assert (outcome.code, outcome.out) == (1, "")
    assert "cannot write" in outcome.err
    assert [file.name for file in tmp_path.iterdir()] == ["texts.csv"]


@pytest.mark.parametrize("damage", ["missing", "changed", "foreign"])
def test_no_model(run, model, tmp_path, damage):
    folder = tmp_path / "model"
    if damage != "missing":
        folder.mkdir()
        for file in model.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    if damage == "changed":
        (folder / "predictor.npz").write_bytes(b"")
    if damage == "foreign":
        (folder / "info.json").write_text("{}")
    outcome = run("encode", "amygdala", "--model", folder, "-o", tmp_path / "out")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("amygdala", "--what"),
        ("amygdala", "--resolution", "fine"),
        ("a.csv", "b.csv", "--minus", "amygdala"),
        ("amygdala", "-o", "out", "--table", "out.csv"),
    ],
)
def test_wrong_usage_is_code_2(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("text\namygdala\n")
    assert run("encode", *arguments).code == 2


def test_long_lists_on_the_terminal_are_cut():
    names = [f"place {i}" for i in range(N_TERMS + 3)]
    assert _first(names[:2]) == "place 0, place 1"
    assert _first(names, "; ").endswith(f"; place {N_TERMS - 1} and 3 more")


def test_an_article_needs_no_extra(model, tmp_path):
    """The reader of JATS is ours; pubget is for coordinates."""
    article = tmp_path / "article.xml"
    article.write_text(
        "<article><front><article-meta><title-group><article-title>Fear and the amygdala"
        "</article-title></title-group></article-meta></front></article>"
    )
    without = (
        "import sys; sys.modules['pubget'] = None; from neurowhere.cli import main; "
        f"sys.argv[1:] = ['encode', {str(article)!r}, '--model', {str(model)!r}]; main()"
    )
    result = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert "amygdala" in result.stdout
