import json
import re
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest

from neurowhere.evaluate.scores import COLUMNS
from neurowhere.model.losses import LOSSES
from neurowhere.space import VoxelGrid

PLACES_MM = {"visual cortex": (8, -88, 4), "amygdala": (-24, -4, -18)}


@pytest.fixture
def source(tmp_path):
    """Forty studies that say where they look."""
    rng = np.random.default_rng(0)
    path = tmp_path / "studies.jsonl"
    with path.open("w") as stream:
        for number in range(40):
            name = list(PLACES_MM)[number % 2]
            peaks = np.array(PLACES_MM[name]) + rng.integers(-6, 7, size=(3, 3))
            study = {
                "pmid": 20965262 if number == 7 else number,
                "title": f"<b>{number}</b>",
                "abstract": f"Looking at the {name}.",
                "coords": peaks.tolist(),
                "space": "MNI",
            }
            stream.write(json.dumps(study) + "\n")
    return path


@pytest.fixture
def atlas(tmp_path):
    """Two blocks around the places, and their labels."""
    grid = VoxelGrid(8)
    image = np.zeros(grid.shape, dtype=np.int16)
    centres = grid.centers_mm
    for value, place in zip((4, 200), PLACES_MM.values()):
        near = (np.abs(centres - place) < 16).all(axis=1)
        image[grid.brain] = np.where(near, value, image[grid.brain])
    nibabel.save(nibabel.Nifti1Image(image, grid.affine), tmp_path / "blocks.nii.gz")
    labels = tmp_path / "blocks.csv"
    labels.write_text("index,name\n4,Visual_Cortex\n200,Amygdala_L\n")
    return f"atlas:{tmp_path / 'blocks.nii.gz'}:{labels}"


@pytest.mark.slow
def test_everything_is_written(run, source, atlas, tmp_path):
    output = tmp_path / "out"
    arguments = ("compare", source, "-o", output, "--partitions", f"voxels:12,{atlas}")
    options = ("--folds", 2, "--bandwidths", "1,2", "--jobs", 1)
    outcome = run(*arguments, *options)
    assert outcome.code == 0, outcome.err
    assert "| blocks | labels (ℓ2) | 2 |" in outcome.out
    scores = pd.read_csv(output / "scores.csv")
    assert tuple(scores.columns) == COLUMNS
    assert set(scores["partition"]) == {"voxels 12 mm", "voxels 12 mm (h 2)", "blocks"}
    assert len(scores) == 2 * (4 + 4 + 5)
    for name in ("scores.png", "scores.svg", "summary.csv", "summary.md", "info.json"):
        assert (output / name).stat().st_size > 100
    report = (output / "report.html").read_text()
    assert report.count("data:image/png;base64,") == 1 + 3 + 1  # box plot, ranks, the paper's
    assert "&lt;b&gt;7&lt;/b&gt; (id 20965262)" in report
    assert "<b>" not in report
    methods = (output / "methods.txt").read_text()
    assert "(voxels 12 mm, voxels 12 mm (h 2), blocks) and losses (l1, l2, labels)" in methods
    assert "learned from 40 studies" in methods
    assert "@article{nadeau2003inference" in methods
    assert "(Nadeau and Bengio, 2003)" in report
    info = json.loads((output / "info.json").read_text())
    assert info["settings"]["studies"] == 40
    assert set(info["sha256"]) >= {"scores.csv", "report.html"}
    before = (output / "scores.csv").read_bytes()
    (output / "prediction-best-of-another-model.png").touch()
    again = run(*arguments, *options)
    assert len(list(output.glob("prediction-*.png"))) == 4
    assert (again.code, (output / "scores.csv").read_bytes()) == (0, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folds", 50), "expected at least 50 studies"),
        (
            ("--losses", "l7"),
            "expected losses among l1, l2, likelihood, labels, labels-l1, l1-literal, l2-literal, "
            "labels-literal; got 'l7'",
        ),
        (("--partitions", "atlas:no.nii"), "no file no.nii"),
        (("--vocabulary", "no.csv"), "cannot read no.csv"),
        (("--partitions", "voxels:4,voxels:4"), "two are 'voxels 4 mm'"),
    ],
)
def test_mistakes_are_one_line_and_code_1(run, source, tmp_path, options, message):
    outcome = run("compare", source, "-o", tmp_path / "out", "--folds", 2, *options)
    outcome.assert_refused(message)
    assert not (tmp_path / "out").exists()


def test_a_corpus_without_coordinates_is_refused(run, tmp_path):
    source = tmp_path / "texts.jsonl"
    source.write_text('{"pmid": 1, "abstract": "amygdala"}\n' * 3)
    outcome = run("compare", source, "-o", tmp_path / "out")
    assert outcome.code == 1
    assert "expected coordinates" in outcome.err


@pytest.mark.parametrize(
    "options",
    [("--partitions", "cubes:4"), ("--partitions", "voxels:x"), ("--bandwidths", "wide"), ()],
)
def test_wrong_usage_is_code_2(run, source, tmp_path, options):
    output = ("-o", tmp_path / "out") if options else ()
    assert run("compare", source, *output, *options).code == 2


def test_the_help_names_every_loss(run):
    compare, fit = (" ".join(run(name, "--help").out.split()) for name in ("compare", "fit"))
    for loss in LOSSES.values():
        assert re.search(rf"\b{loss.name}\b", compare), loss.name
        assert re.search(rf"\b{loss.parameters['loss']}\b", fit), loss.parameters


def test_every_loss_and_column_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    for name in (*LOSSES, *COLUMNS):
        assert f"`{name}`" in page, name
