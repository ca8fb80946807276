import gzip
import json
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, save_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Folder of a small model."""
    folder = tmp_path_factory.mktemp("models") / "model"
    save_model(Encoder(GRID, loss="l2", vocabulary=TERMS).fit(make_corpus(60)), folder)
    return folder


@pytest.fixture
def source(tmp_path):
    """Ninety documents; the thirty that mention Huntington speak of the amygdala."""
    rng = np.random.default_rng(0)
    path = tmp_path / "documents.jsonl"
    with path.open("w") as stream:
        for number in range(90):
            sick = number % 3 == 0
            word = "amygdala" if sick else rng.choice(TERMS)
            text = f"The {word}{' in Huntington disease' * sick}."
            record = {"pmid": number + 1, "title": f"T{number}", "abstract": text, "arm": int(sick)}
            stream.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def atlas(tmp_path):
    """Left and right."""
    labels = np.zeros(GRID.shape, dtype=np.uint8)
    labels[GRID.brain] = np.where(GRID.centers_mm[:, 0] < 0, 200, 1)
    nibabel.save(nibabel.Nifti1Image(labels, GRID.affine), tmp_path / "sides.nii.gz")
    (tmp_path / "sides.csv").write_text("index,name\n1,Right\n200,Left\n")
    return f"{tmp_path / 'sides.nii.gz'}:{tmp_path / 'sides.csv'}"


@pytest.fixture
def options(model, tmp_path):
    return (
        *("-o", tmp_path / "out", "--model", model, "--cache", tmp_path / "cache"),
        *("--jobs", 1),
    )


def test_a_truncated_file_is_an_error_unless_told_to_go_on(run, source, options, tmp_path):
    whole = gzip.compress(source.read_bytes())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    term = ("--term", "huntington", "--unadjusted")
    command = ("contrast", tmp_path / "cut.jsonl.gz", *term, *options)
    for _ in range(2):
        run(*command).assert_refused("cut.jsonl.gz: is truncated or damaged")
        assert not (tmp_path / "out").exists()
    outcome = run(*command, "--keep-going")
    assert outcome.code == 0
    assert (tmp_path / "out" / "map.nii.gz").exists()


def test_titles_that_begin_like_a_formula_are_escaped(run, options, tmp_path):
    records = [
        {"pmid": n + 1, "title": "=1+1", "abstract": "amygdala" + " huntington" * (n % 2)}
        for n in range(12)
    ]
    source = tmp_path / "documents.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in records))
    command = ("contrast", source, "--term", "huntington", *options)
    for flags, title in [((), "'=1+1"), (("--keep-formulas", "--overwrite"), "=1+1")]:
        assert run(*command, *flags).code == 0
        documents = pd.read_csv(tmp_path / "out" / "documents.csv")
        assert set(documents["title"]) == {title}
        assert documents["mentions"].dtype.kind == "i"


def test_a_folder_is_written_and_summed_up(run, source, atlas, options, tmp_path):
    outcome = run("contrast", source, "--term", "huntington", "--atlas", atlas, *options)
    assert outcome.code == 0, outcome.err
    assert "30 documents that are about huntington against what is expected from 90" in outcome.out
    assert "30 about it, 0 in passing" in outcome.out
    assert "What nothing looks like: how often" in outcome.out  # too few documents to measure
    assert " left " in outcome.out
    assert f"a copy of their texts: {tmp_path / 'cache'}" in outcome.out
    assert "Raised most: " in outcome.out
    regions = pd.read_csv(tmp_path / "out" / "regions.csv")
    tested = ["ratio", "low", "high", "t", "p", "q", "passes"]
    assert list(regions.columns) == ["region", "name", *tested, "probability", "reference"]
    assert regions["t"].is_monotonic_decreasing
    info = json.loads((tmp_path / "out" / "info.json").read_text())
    assert info["kind"] == "contrast"
    assert info["about"]["tested"] is True
    again = run("contrast", source, "--term", "huntington", *options)
    assert (again.code, "exists and is not empty" in again.err) == (1, True)


def test_a_list_of_terms_has_one_page_and_what_is_found_nowhere_is_said(
    run, source, atlas, options, tmp_path
):
    (tmp_path / "terms.txt").write_text("# diseases\nhuntington\n\nkuru\nThe amygdala\n")
    arguments = ("--terms", tmp_path / "terms.txt", "--atlas", atlas, "--unadjusted")
    outcome = run("contrast", source, *arguments, *options)
    assert outcome.code == 0, outcome.err
    assert "mention kuru, but none of the 90 does" in " ".join(outcome.err.split())
    table = pd.read_csv(tmp_path / "out" / "terms.csv")
    assert table["group"].tolist() == ["mention huntington", "mention The amygdala"]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    for folder in table["folder"]:
        assert f'href="{folder}/report.html"' in page
        assert (tmp_path / "out" / folder / "map.png").exists()
    assert page.count("<img") == 2
    assert "Not contrasted" in page
    assert "mention kuru, but none of the 90 does" in page


def test_two_groups_by_a_column_as_json(run, source, options):
    arms = ("--column", "arm", "--group", "1", "--against", "0")
    outcome = run("contrast", source, *arms, *options, "--unadjusted", "--json", "--no-cache")
    assert outcome.code == 0, outcome.err
    about = json.loads(outcome.out)
    assert (about["documents_in_group"], about["documents_in_second_group"]) == (30, 60)
    assert about["kept_in"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--term", "kuru"), "mention kuru, but none of the 90 does"),
        (("--term", "/[/"), "is no regular expression"),
        (("--terms", "no such file"), "expected a text file with a query in each line"),
        (("--term", "huntington", "--model", "no"), "expected the folder of a model"),
        (("--term", "huntington", "--atlas", "no.nii"), "no.nii"),
        (("--column", "sex", "--group", "f"), "have f in the column sex, but none of the 90"),
        (("--term", "huntington", "--cluster", "tcp://127.0.0.1:1"), "no Dask scheduler answers"),
    ],
)
@pytest.mark.enable_socket
def test_mistakes_are_one_line_and_code_1(
    run, source, options, tmp_path, monkeypatch, arguments, message
):
    if "--cluster" in arguments:
        pytest.importorskip("distributed")
        monkeypatch.setattr("neurowhere._tools.parallel.connect.__defaults__", (0.5,))  # seconds
    outcome = run("contrast", source, *options, *arguments)
    outcome.assert_refused(message)
    assert not (tmp_path / "out").exists()


def test_an_expression_that_takes_too_long_is_one_line(run, source, options, tmp_path):
    with source.open("a") as stream:
        record = {"pmid": 999, "abstract": "a" * 300 + "!cb"}
        stream.write(json.dumps(record) + "\n")
    outcome = run("contrast", source, *options, "--term", "/(a|aa)*b/")
    outcome.assert_refused("/(a|aa)*b/ was stopped after 1 seconds")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--term", "a", "--column", "b", "--group", "c"),
        ("--column", "b"),
        ("--group", "c"),
        ("--term", "a", "--group", "c"),
        ("--term", "a", "--min-mentions", "0"),
        ("--term", "a", "--terms", "b"),
        ("--term", "a", "--matched", "--unadjusted"),
    ],
)
def test_wrong_usage_is_code_2(run, source, options, arguments):
    assert run("contrast", source, *options, *arguments).code == 2


def test_every_file_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "contrast.md").read_text(encoding="utf-8")
    files = [
        "map.nii.gz",
        "log_ratio.nii.gz",
        "t.nii.gz",
        "q.nii.gz",
        "regions.csv",
        "terms.csv",
        "kinds.csv",
    ]
    for name in (*files, "documents.csv", "report.html", "info.json"):
        assert f"`{name}`" in page, name


def test_controls_and_a_minimum_ratio(run, options, tmp_path):
    source = tmp_path / "alike.jsonl"
    with source.open("w") as stream:
        for number in range(90):
            disease, word = ("ordinary", TERMS[number % 4])
            if number % 3 == 0:
                disease, word = ("Huntington", TERMS[number % 2])
            record = {"pmid": number + 1, "abstract": f"The {word} in {disease} disease."}
            stream.write(json.dumps(record) + "\n")
    arguments = ("--term", "huntington", "--matched", "--min-ratio", "1.2")
    outcome = run("contrast", source, *arguments, *options)
    assert outcome.code == 0, outcome.err
    assert "that are of the same kind" in outcome.out
    kinds = pd.read_csv(tmp_path / "out" / "kinds.csv")
    assert {"kind", "difference"} <= set(kinds.columns)
    assert "have no control and are left out" in (tmp_path / "out" / "report.html").read_text(
        "utf-8"
    )
    about = json.loads((tmp_path / "out" / "info.json").read_text())["about"]
    assert (about["matched"], about["min_ratio"]) == (True, 1.2)
    assert run("contrast", source, "--term", "a", "--min-ratio", "0.5", *options).code == 2
