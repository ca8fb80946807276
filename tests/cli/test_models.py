"""The commands fit, score, term and model, on a small corpus."""

import json
import shutil

import nibabel
import numpy as np
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, load_model, read_corpus, save_model

PARTITION = "voxels:12"
CORPUS, TEST = make_corpus(), make_corpus(10, seed=1)


@pytest.fixture
def corpus(tmp_path):
    CORPUS.save(tmp_path / "corpus")
    return tmp_path / "corpus"


@pytest.fixture
def test_corpus(tmp_path):
    TEST.save(tmp_path / "test")
    return tmp_path / "test"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    save_model(Encoder(GRID, "l2").fit(CORPUS), folder)
    return folder


@pytest.fixture
def model(fitted, tmp_path):
    return shutil.copytree(fitted, tmp_path / "model")


@pytest.fixture
def atlas(tmp_path):
    made = make_atlas()
    image = nibabel.Nifti1Image(made.image[0], made.affine)
    image.to_filename(tmp_path / "atlas.nii.gz")
    rows = [f"{index},{name}\n" for index, name in made.labels.items()]
    (tmp_path / "labels.csv").write_text("index,name\n" + "".join(rows))
    return tmp_path / "atlas.nii.gz"


def test_fit_and_info(run, corpus, tmp_path):
    model = tmp_path / "model"
    outcome = run("fit", corpus, "-o", model, "--partition", PARTITION, "--loss", "l2")
    assert (outcome.code, outcome.err) == (0, "")
    shown = run("model", "info", model)
    assert (shown.code, shown.out) == (0, outcome.out)
    assert "regions          1,084\n" in shown.out
    assert "studies          40\n" in shown.out
    summary = json.loads(run("model", "info", model, "--json").out)
    assert (summary["regions"], summary["loss"], summary["studies"]) == (1084, "l2", 40)
    assert summary["origin"]["format"] == "made up"
    assert run("model", "verify", model).out == f"{model} is whole: 6 files\n"
    assert json.loads(run("model", "verify", model, "--json").out) == {"files": 6}


def test_options_reach_the_encoder(run, corpus, atlas, tmp_path):
    terms = tmp_path / "terms.txt"
    terms.write_text("\n".join(TERMS))
    output = tmp_path / "model"
    options = ("--vocabulary", terms, "--seed", 3, "--jobs", 1, "--bandwidth", 2, "--laterality")
    outcome = run("fit", corpus, "-o", output, "--partition", "voxels:12", *options, "--json")
    summary = json.loads(outcome.out)
    assert (summary["terms"], summary["seed"], summary["bandwidth"]) == (4, 3, 2.0)
    loaded = load_model(output)
    assert (loaded.loss, loaded.laterality, loaded.seed) == ("l1", True, 3)

    labels = ("--labels", tmp_path / "labels.csv", "--constraint", "labels", "--loss", "l2")
    again = (*labels, "--overwrite", "--from", "folder")
    assert run("fit", corpus, "-o", output, "--partition", f"atlas:{atlas}", *again).code == 0
    assert load_model(output).partition.names == tuple(TERMS)
    named = f"atlas:{atlas}:{tmp_path / 'labels.csv'}"
    assert run("fit", corpus, "-o", output, "--partition", named, "--overwrite").code == 0
    assert load_model(output).partition.names == tuple(TERMS)

    mean = ("--partition", PARTITION, "--text", "none", "--overwrite")
    assert run("fit", corpus, "-o", output, *mean).code == 0
    assert load_model(output).text == "none"
    assert run("model", "verify", output).code == 0


def test_score_is_that_of_the_library(run, model, test_corpus):
    outcome = run("score", model, test_corpus, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    scores = json.loads(outcome.out)
    assert {"log_likelihood", "uniform", "mean_map", "studies", "peaks"} <= set(scores)
    assert scores["log_likelihood"] == load_model(model).score(read_corpus(test_corpus))
    assert (scores["studies"], scores["peaks"]) == (10, len(TEST.peaks) - scores["peaks_outside"])
    shown = run("score", model, test_corpus)
    assert "studies             10\n" in shown.out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["amygdala", "left amygdala"])
def test_term(run, model, tmp_path, name):
    output = tmp_path / "out"
    outcome = run("term", name, "--model", model, "-o", output, "--resolution", 6)
    assert (outcome.code, outcome.err) == (0, "")
    restricted = name.startswith("left")
    assert ("restricted to the left hemisphere" if restricted else "(learned)") in outcome.out
    files = sorted(file.name for file in output.iterdir())
    assert files == ["info.json", "map.nii.gz", "map.png", "methods.txt"]
    assert (output / "map.png").read_bytes().startswith(b"\x89PNG")
    image = nibabel.load(output / "map.nii.gz")
    assert image.header.get_zooms() == (6, 6, 6)
    x_mm = image.affine[0, 0] * np.arange(image.shape[0]) + image.affine[0, 3]
    assert image.get_fdata()[x_mm > 0].any() != restricted
    info = json.loads((output / "info.json").read_text())
    assert info["method"] == ("restricted" if restricted else "learned")
    like = run(
        "term", name, "--model", model, "-o", tmp_path / "b", "--like", output / "map.nii.gz"
    )
    assert like.code == 0
    again = nibabel.load(tmp_path / "b" / "map.nii.gz")
    np.testing.assert_array_equal(again.get_fdata(), image.get_fdata())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "nowhere", "-o", "{out}"), "nowhere does not exist"),
        (("fit", "{corpus}", "-o", "{model}"), "exists and is not empty"),
        (("fit", "{texts}", "-o", "{out}"), "expected coordinates to learn from"),
        (("fit", "{corpus}", "-o", "{out}", "--vocabulary", "{other}"), "none of the 1 terms"),
        (("fit", "{corpus}", "-o", "{out}", "--vocabulary", "no.csv"), "cannot read no.csv"),
        (("fit", "{corpus}", "-o", "{out}", "--partition", "atlas:no.nii"), "no file no.nii"),
        (("fit", "{corpus}", "-o", "{out}", "--partition", "voxels:99"), "from 0.5 to 50 mm"),
        (("fit", "{corpus}", "-o", "{out}", "--bandwidth", "0"), "bandwidth"),
        (("fit", "{corpus}", "-o", "{out}", "--constraint", "labels"), "an atlas with labels"),
        (("score", "{corpus}", "{corpus}"), "holds a corpus, not a model"),
        (("score", "{model}", "{texts}"), "expected peaks to score"),
        (("score", "{model}", "nowhere"), "nowhere does not exist"),
        (("score", "nowhere", "{corpus}"), "cannot read nowhere/info.json"),
        (("model", "info", "{texts}"), "Not a directory"),
        (("model", "verify", "{corpus}"), "holds a corpus, not a model"),
        (("term", "liver", "--model", "{model}", "-o", "{out}"), "'liver' is not among"),
        (("term", "amygdala", "--model", "{model}", "-o", "{out}", "--like", "no.nii"), "no.nii"),
        (("term", "amygdala", "--model", "{model}", "-o", "{corpus}"), "exists and is not empty"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_code_1(run, corpus, model, tmp_path, arguments, message):
    (tmp_path / "texts.jsonl").write_text('{"title": "amygdala"}\n')
    (tmp_path / "other.txt").write_text("liver\n")
    places = {
        "corpus": corpus,
        "model": model,
        "out": tmp_path / "out",
        "texts": tmp_path / "texts.jsonl",
        "other": tmp_path / "other.txt",
    }
    outcome = run(*(argument.format(**places) for argument in arguments))
    outcome.assert_refused(message)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))  # nothing half-written


def test_an_atlas_that_misses_all_peaks_leaves_nothing(run, corpus, tmp_path):
    image = np.zeros((19, 22, 19), dtype=np.uint8)
    image[9, 10, 13] = 1
    nibabel.Nifti1Image(image, make_atlas().affine).to_filename(tmp_path / "a.nii")
    outcome = run("fit", corpus, "-o", tmp_path / "out", "--partition", f"atlas:{tmp_path}/a.nii")
    assert (outcome.code, outcome.out) == (1, "")
    assert "no peak lies in the brain and the partition" in outcome.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit",),
        ("fit", "corpus"),
        ("fit", "corpus", "-o", "out", "--partition", "voxels"),
        ("fit", "corpus", "-o", "out", "--partition", "mesh:4"),
        ("fit", "corpus", "-o", "out", "--partition", "atlas:"),
        ("fit", "corpus", "-o", "out", "--loss", "l3"),
        ("score", "model"),
        ("term", "amygdala"),
        ("model", "what"),
    ],
)
def test_wrong_usage_is_code_2(run, arguments):
    assert run(*arguments).code == 2
