"""Figures and pictures of the documentation, against the results and the model they stand for."""

import csv
import json
import re
from pathlib import Path
from statistics import mean

import pytest

from neurowhere.model.store import SHIPPED

ROOT = Path(__file__).parents[1]
RESULTS, IMAGES = ROOT / "docs" / "results", ROOT / "docs" / "images"
FINGERPRINT = re.compile(r"[0-9a-f]{64}")


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


CLAIMS, PICTURES = rows(RESULTS / "claims.csv"), rows(IMAGES / "pictures.csv")
README = (ROOT / "README.md").read_text("utf-8")


def test_each_figure_of_the_table_in_the_readme_names_its_command():
    table = README.partition("## Compared with other tools")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line[:2] == "| "]
    methods = lines[0][1:]
    shown = {
        (line[0], method, value.strip("* "))
        for line in lines[2:]
        for method, value in zip(methods, line[1:], strict=True)
    }
    assert len(shown) == 15
    assert shown == {(row["text"], row["method"], row["gain"]) for row in CLAIMS}
    for row in CLAIMS:
        assert (ROOT / row["command"].split()[0]).exists()


@pytest.mark.parametrize("row", [row for row in CLAIMS if row["files"]], ids=lambda r: r["key"])
def test_a_figure_of_the_readme_is_that_of_its_files(row):
    files = sorted(RESULTS.glob(row["files"]))
    assert len(files) == 5
    gain = mean(json.loads(file.read_text("utf-8"))[row["key"]] for file in files)
    assert f"{gain:.2f}".replace("-", "−") == row["gain"]


def test_each_picture_names_its_command():
    drawn = {path.name for path in IMAGES.iterdir() if path.suffix in {".png", ".svg"}}
    assert {row["image"] for row in PICTURES} == drawn
    for row in PICTURES:
        script = row["command"].split()[0]
        assert script == "neurowhere" or (ROOT / script).exists()


@pytest.mark.parametrize("row", PICTURES, ids=lambda row: row["image"])
def test_a_picture_of_the_shipped_model_shows_the_one_that_is_shipped(row):
    if FINGERPRINT.fullmatch(row["model"]):
        shipped = json.loads((SHIPPED / "info.json").read_text("utf-8"))["sha256"]["predictor.npz"]
        assert row["model"] == shipped, f"draw it again: python {row['command']}"
