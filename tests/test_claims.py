"""Figures and pictures of the documentation, against the results and the model they stand for."""

import csv
import hashlib
import json
import re
from math import exp
from pathlib import Path
from statistics import mean, stdev

import pytest

from neurowhere.model.store import SHIPPED

ROOT = Path(__file__).parents[1]
RESULTS, IMAGES = ROOT / "docs" / "results", ROOT / "docs" / "images"
FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


CLAIMS, PICTURES = rows(RESULTS / "claims.csv"), rows(IMAGES / "pictures.csv")
PREDICTION = (ROOT / "docs" / "benchmarks" / "prediction.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")


def shipped_model():
    """Fingerprint of the model that is shipped."""
    return json.loads((SHIPPED / "info.json").read_text("utf-8"))["sha256"]["predictor.npz"]


def values_of(claim):
    """Values of a claim: of each file or, for an entry of the benchmark, of each random fold."""
    files = sorted(RESULTS.glob(claim["files"]))
    assert files, claim["files"]
    for content in (json.loads(file.read_text("utf-8")) for file in files):
        if claim["key"] in content:
            yield content[claim["key"]]
        elif "scores" in content:
            kind, _, metric = claim["key"].partition("/")
            own = [row for row in content["scores"] if row["kind"] == kind]
            yield from (row[metric] for row in own if row["fold"] != "newest")
        else:
            for part in claim["key"].split("/"):
                content = content[int(part) if isinstance(content, list) else part]
            yield content


def in_words(value, figure):
    """A value with as many digits as a figure has."""
    digits = len(figure.partition(".")[2])
    return f"{value:.{digits}f}".replace("-", "−")


def test_each_figure_of_the_table_in_the_readme_names_its_file():
    table = README.partition("## Compared with other tools")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line[:2] == "| "]
    methods = lines[0][1:]
    shown = {
        (line[0], method, value.strip("* "))
        for line in lines[2:]
        for method, value in zip(methods, line[1:], strict=True)
        if value != "–"
    }
    assert len(shown) == 26
    told = [row for row in CLAIMS if row["page"] == "README.md"]
    assert shown == {(row["text"], row["method"], row["figure"]) for row in told}


@pytest.mark.parametrize("row", CLAIMS, ids=lambda row: f"{row['text']}-{row['method']}")
def test_a_figure_is_on_its_page_and_that_of_its_files(row):
    values = list(values_of(row))
    if isinstance(values[0], str):  # a cell of a table that was printed
        assert values == [row["figure"]]
    else:
        assert len(values) == 1 or len(values) >= 3
        assert in_words(mean(values), row["figure"]) == row["figure"]
    assert row["figure"] in (ROOT / row["page"]).read_text("utf-8")
    script = row["command"].split()[0]
    assert script == "neurowhere" or (ROOT / script).exists()


def test_what_the_readme_opens_with_follows_from_its_table():
    (gain,) = (
        row for row in CLAIMS if row["method"] == "neurowhere" and row["text"].startswith("title, ")
    )
    likelier = exp(mean(values_of(gain)))
    assert f"{likelier:.1f} times as likely" in README
    opening = " ".join(README.split())
    assert f"a gain of {gain['figure']} [nats]" in opening
    assert "both maps are first mixed half and half with the uniform density" in opening


KINDS = {
    "title, abstract and keywords": "title, abstract, keywords",
    "words that NeuroQuery's vocabulary lacks": "no term of NeuroQuery's vocabulary",
    "article without tables": "article",
}
ENTRY_KINDS = {"title, abstract and keywords": "all", "article without tables": "article"}
ABOVE = "nats_above_mean_map"


def test_the_table_of_prediction_is_that_of_its_files():
    table = PREDICTION.partition("## By kind of text")[2].partition("| --- |")[2]
    rows = [line.strip("| ").split(" | ") for line in table.partition("\n\n")[0].splitlines()[1:]]
    assert len(rows) == 6
    for text, neuroquery, plain, shipped, *_ in rows:
        key = KINDS.get(text, text)
        own = {"files": "benchmark/loglinear.json", "key": f"{ENTRY_KINDS.get(text, text)}/{ABOVE}"}
        found = {plain: list(values_of(own))}
        for told, method in ((neuroquery, "neuroquery"), (shipped, "shipped")):
            files = sorted(RESULTS.glob(f"kinds/{method}-*.json"))
            found[told] = [json.loads(file.read_text("utf-8")).get(key) for file in files]
        for told, values in found.items():
            if told.strip():
                assert told == f"{mean(values):.3f} ± {stdev(values):.3f}"


def test_the_table_of_unseen_studies_is_that_of_its_file():
    file = json.loads((RESULTS / "unseen.json").read_text("utf-8"))
    assert file["model"] == shipped_model(), "run benchmarks/unseen_studies.py -o again"
    found = file["kinds"]
    for kind, row in found.items():
        held = " / ".join(f"{100 * row[f'{share} %']:.1f}" for share in (50, 80, 95))
        gain = f"{row['gain']:.3f} ± {row['error']:.3f}"
        assert (
            f"| {kind} | {row['texts']:,} | {gain} | {held} | {row['stated']:.3f} |" in PREDICTION
        )
    held = sorted(round(100 * row["50 %"]) for row in found.values())
    assert f"the 50 % region held {held[0]} to {held[-1]} %" in " ".join(README.split())


def test_each_picture_names_its_command():
    drawn = {path.name for path in IMAGES.iterdir() if path.suffix in {".png", ".svg"}}
    assert {row["image"] for row in PICTURES} == drawn
    for row in PICTURES:
        script = row["command"].split()[0]
        assert script == "neurowhere" or (ROOT / script).exists()


@pytest.mark.parametrize("row", PICTURES, ids=lambda row: row["image"])
def test_a_picture_of_the_shipped_model_shows_the_one_that_is_shipped(row):
    if FINGERPRINT.fullmatch(row["model"]):
        assert row["model"] == shipped_model(), f"draw it again: python {row['command']}"


@pytest.mark.parametrize("row", PICTURES, ids=lambda row: row["image"])
def test_a_picture_of_results_was_drawn_from_them_as_they_are(row):
    files = sorted({file for each in row["files"].split() for file in RESULTS.glob(each)})
    assert bool(files) == bool(row["files"]) == bool(row["sha256"])
    found = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    assert not files or row["sha256"] == found, f"draw it again: python {row['command']}"
