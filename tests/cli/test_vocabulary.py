import json

import pytest

from neurowhere.text import Vocabulary


def test_info_sums_up_a_file(run, tmp_path):
    path = tmp_path / "v.csv"
    Vocabulary(["amygdala", "fear"], {"fears": "fear"}, {"amygdala": "anatomy"}).save(path)
    outcome = run("vocabulary", "info", path, "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out) == {
        "terms": 2,
        "synonyms": 1,
        "anatomy": 1,
        **dict.fromkeys(["function", "task", "drug", "disorder", "symptom", "other"], 0),
        **dict.fromkeys(["generic", "extra"], 0),
        "no_category": 1,
        "words_in_longest_term": 1,
    }
    assert "no category" in run("vocabulary", "info", path).out


def test_info_reads_neuroquerys_files(run, tmp_path):
    (tmp_path / "terms.txt").write_text("amygdala\nfear\nfears\n")
    (tmp_path / "synonyms.json").write_text('{"fears": "fear"}')
    outcome = run(
        *("vocabulary", "info", tmp_path / "terms.txt"),
        *("--mapping", tmp_path / "synonyms.json", "--json"),
    )
    assert json.loads(outcome.out)["synonyms"] == 1


def test_mistakes_are_one_line(run, tmp_path):
    outcome = run("vocabulary", "info", tmp_path / "none.csv")
    assert outcome.code == 1
    assert outcome.err.startswith("neurowhere: cannot read")
    assert outcome.err.count("\n") == 1
    outcome = run("vocabulary", "build", "-o", tmp_path / "v.csv", "--sources", tmp_path)
    assert outcome.code == 1
    assert "lacks all_atlas_labels.csv" in outcome.err
    assert not (tmp_path / "v.csv").exists()
    assert run("vocabulary", "build", "--kind", "nothing").code == 2


@pytest.mark.data
def test_builds_the_same_file_twice(run, data, tmp_path):
    for name in ("a.csv", "b.csv"):
        outcome = run(
            *("vocabulary", "build", "-o", tmp_path / name),
            *("--sources", data / "vocabulary", "--json"),
        )
        assert outcome.code == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert json.loads(outcome.out)["terms"] == len(Vocabulary.load(tmp_path / "a.csv"))


@pytest.mark.data
def test_keeps_the_terms_of_a_corpus(run, data, tmp_path):
    (tmp_path / "report.txt").write_text("Left amygdala and the hippocampi.")
    outcome = run(
        *("vocabulary", "build", "-o", tmp_path / "v.csv", "--sources", data / "vocabulary"),
        *("--corpus", tmp_path / "report.txt"),
    )
    assert outcome.code == 0
    assert Vocabulary.load(tmp_path / "v.csv").terms == ("amygdala", "hippocampus")


def test_wide_needs_studies(run, tmp_path):
    outcome = run(
        "vocabulary", "build", "-o", tmp_path / "v.csv", "--sources", tmp_path, "--kind", "wide"
    )
    assert outcome.code == 2
    assert "give --corpus SOURCE" in outcome.err
