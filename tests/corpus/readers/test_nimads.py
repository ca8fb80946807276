"""NIMADS: what NiMARE 0.22 writes, word for word in the shape it has, and what is broken."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neurowhere.corpus import Corpus, Document, read_corpus
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.corpus.readers import nimads
from neurowhere.exceptions import CorpusError, DataWarning

# Keys, order and nulls as NiMARE 0.22.1 writes them with Studyset.to_nimads.
STUDYSET: dict[str, Any] = {
    "id": "s",
    "name": "demo",
    "studies": [
        {
            "name": "Fear in the amygdala",
            "doi": "10.1/x",
            "pmid": "111",
            "authors": "A B",
            "year": 2020,
            "publication": "J Neuro",
            "description": "We scanned people.",
            "metadata": {"k": 1},
            "id": "a1",
            "analyses": [
                {
                    "id": "x",
                    "name": "fear > neutral",
                    "description": "faces",
                    "metadata": {"sample_size": 20},
                    "texts": {"abstract": "We scanned people.", "keywords": "fear"},
                    "conditions": [{"name": "fear", "description": ""}],
                    "weights": [1.0],
                    "images": [],
                    "points": [
                        {"id": None, "coordinates": [-22.0, -4.0, -18.0], "space": "TAL"},
                        {"id": None, "coordinates": [24.0, -2.0, -20.0], "space": "TAL"},
                    ],
                },
                {
                    "id": "y",
                    "name": "neutral > fear",
                    "description": None,
                    "metadata": None,
                    "texts": {"abstract": "We scanned people."},
                    "conditions": [],
                    "weights": [],
                    "images": [],
                    "points": [{"id": None, "coordinates": [8.0, -92.0, 2.0], "space": "TAL"}],
                },
            ],
        },
        {
            "name": "b2",
            "doi": "None",
            "pmid": None,
            "description": None,
            "metadata": None,
            "id": "b2",
            "analyses": [
                {
                    "id": "1",
                    "name": "1",
                    "points": [{"coordinates": [8.5, -92.0, 2.0], "space": "mni152_2mm"}],
                }
            ],
        },
    ],
    "annotations": [],
}

# As nimare.io.convert_neurosynth_to_json and convert_sleuth_to_json write it.
DATASET: dict[str, Any] = {
    "9065511": {
        "metadata": {"title": "Knowledge of places", "year": 1997},
        "contrasts": {
            "1": {
                "coords": {"space": "TAL", "x": [38.0, 52.0], "y": [-48.0, -62.0], "z": [49.0, 14]},
                "labels": {"Neurosynth_TFIDF__001": 0.0},
                "metadata": {"authors": "C D", "journal": "J", "title": "Knowledge of places"},
                "text": {"abstract": "People walked."},
            },
            "2": {"coords": {"space": "TAL", "x": [1.0], "y": [2.0], "z": [3.0]}},
        },
    },
    "other": {"contrasts": {"faces": {"metadata": {"sample_sizes": [25]}}}},
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_studyset_becomes_one_document_per_study(tmp_path: Path):
    path = write(tmp_path / "studyset.json", STUDYSET)
    assert nimads.detects(path)
    fear, vision = nimads.iter_documents(path)
    assert (fear.id, vision.id) == ("111", "b2")
    assert fear.sections == {
        "title": "Fear in the amygdala",
        "abstract": "We scanned people.",
        "keywords": "fear",
        "body": "fear > neutral\n\nfaces\n\nneutral > fear",
    }
    assert fear.space == "TAL"
    np.testing.assert_array_equal(fear.peaks, [[-22, -4, -18], [24, -2, -20], [8, -92, 2]])
    assert fear.metadata == {
        "pmid": "111",
        "doi": "10.1/x",
        "year": 2020,
        "journal": "J Neuro",
        "authors": "A B",
        "study_id": "a1",
        "analyses": ["fear > neutral", "neutral > fear"],
    }
    assert vision.sections == {}  # its names repeat its id, or count
    assert vision.space == "MNI"
    assert vision.metadata == {"study_id": "b2"}


def test_dataset_of_nimare_is_read_the_same_way(tmp_path: Path):
    path = write(tmp_path / "dataset.json", DATASET)
    assert nimads.detects(path)
    study, other = nimads.iter_documents(path)
    assert study.id == "9065511"
    assert study.sections == {"title": "Knowledge of places", "abstract": "People walked."}
    assert study.space == "TAL"
    np.testing.assert_array_equal(study.peaks, [[38, -48, 49], [52, -62, 14], [1, 2, 3]])
    assert study.metadata["year"] == 1997
    assert study.metadata["journal"] == "J"
    assert other.peaks.shape == (0, 3)
    assert other.sections == {"body": "faces"}


def test_compressed_files_and_folders_are_found(tmp_path: Path):
    path = tmp_path / "studyset.json.gz"
    path.write_bytes(gzip.compress(json.dumps(STUDYSET).encode()))
    write(tmp_path / "annotation.json", {"notes": [{"analysis": "x", "note": {"include": True}}]})
    assert nimads.detects(tmp_path)
    assert [document.id for document in nimads.iter_documents(tmp_path)] == ["111", "b2"]
    corpus = read_corpus(tmp_path)
    assert corpus.origin["format"] == "nimads"
    assert len(corpus) == 2


def test_points_in_several_spaces_are_brought_to_one(tmp_path: Path):
    points = [
        {"coordinates": [-22, -4, -18], "space": "TAL"},
        {"coordinates": [8, -92, 2], "space": "MNI"},
        {"coordinates": [1, 2, 3], "space": None},
    ]
    analyses = [{"id": "i", "points": points[:2]}, {"id": "j", "points": points[2:]}]
    content = {
        "studies": [{"id": "a", "analyses": analyses[:1]}, {"id": "b", "analyses": analyses}]
    }
    known, partly = nimads.iter_documents(write(tmp_path / "s.json", content))
    converted = talairach_to_mni([[-22, -4, -18]])[0]
    assert known.space == "MNI"
    np.testing.assert_allclose(known.peaks, [converted, [8, -92, 2]])
    assert partly.space == "unknown"
    np.testing.assert_allclose(partly.peaks, [converted, [8, -92, 2], [1, 2, 3]])


@pytest.mark.parametrize("bad", [None, ["a", 2, 3], [1, 2], [float("nan"), 1, 2]])
def test_points_that_are_no_numbers_are_dropped_and_counted(tmp_path: Path, bad: object):
    points = [{"coordinates": [1, 2, 3], "space": "MNI"}, {"coordinates": bad, "space": "MNI"}]
    content = {
        "studies": [{"id": "a", "name": "Pain", "analyses": [{"id": "1", "points": points}]}]
    }
    path = write(tmp_path / "s.json", content)
    with pytest.warns(DataWarning, match="skipped 1 of 2 peaks"):
        corpus = read_corpus(path)
    np.testing.assert_array_equal(corpus.peaks[["x", "y", "z"]], [[1, 2, 3]])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("a word", "expected an object"),
        ({"name": "no id"}, "neither id nor pmid"),
        ({"id": "a", "analyses": [{"points": ["x"]}]}, "no attribute"),
        (
            {"id": "a", "contrasts": {"1": {"coords": {"x": [1], "y": [1, 2], "z": [1]}}}},
            "x, y and z of different lengths",
        ),
    ],
)
def test_broken_studies_are_skipped_named_and_counted(tmp_path: Path, broken: Any, reason: str):
    content = {"studies": [*STUDYSET["studies"], broken]}
    path = write(tmp_path / "s.json", content)
    with pytest.warns(DataWarning, match=rf"skipped 1 of 3 studies \(s.json, study 3: .*{reason}"):
        assert len(list(nimads.iter_documents(path))) == 2
    alone = write(tmp_path / "t.json", {"studies": [broken]})
    with pytest.raises(CorpusError, match=f"nothing could be read: .*{reason}"):
        list(nimads.iter_documents(alone))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"studies": [', "is not JSON"),
        ("[1, 2]", "should have a list of studies"),
        ('{"studies": 3}', "should have a list of studies"),
        ('{"a": {"b": 1}}', "should have a list of studies"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_files_that_are_no_studyset_are_one_line_errors(tmp_path: Path, text: str, message: str):
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(CorpusError, match=message) as error:
        list(nimads.iter_documents(path))
    assert "\n" not in str(error.value)


def test_other_json_is_not_detected(tmp_path: Path):
    assert not nimads.detects(write(tmp_path / "a.json", {"studies": 12_100}))
    assert not nimads.detects(write(tmp_path / "b.json", [{"title": "x"}]))
    (tmp_path / "c.json").write_bytes(b"\xff\xfe\x00")
    assert not nimads.detects(tmp_path / "c.json")
    assert not nimads.detects(tmp_path)
    with pytest.raises(CorpusError, match="expected a NIMADS studyset"):
        list(nimads.iter_documents(tmp_path))


def test_a_corpus_is_written_as_a_studyset_and_read_again(tmp_path):
    source, target = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps(STUDYSET))
    corpus = read_corpus(source)
    corpus.to_nimads(target)
    again = read_corpus(target)
    assert again.documents["id"].tolist() == corpus.documents["id"].tolist()
    assert again.documents["year"].tolist() == corpus.documents["year"].tolist()
    assert again.documents["journal"].tolist() == corpus.documents["journal"].tolist()
    assert again.texts == corpus.texts
    assert again.peaks[["x", "y", "z"]].equals(corpus.peaks[["x", "y", "z"]])
    assert again.documents["space"].tolist() == corpus.documents["space"].tolist()
    first = json.loads(target.read_text())["studies"][0]
    assert first["analyses"][0]["points"][0]["space"] == "MNI"  # converted when it was read


def test_each_table_becomes_an_analysis(tmp_path):
    peaks = np.arange(1.0, 10.0).reshape(3, 3)
    corpus = Corpus.from_documents([Document("1", {"title": "Fear"}, peaks, "MNI")])
    corpus = replace(corpus, peaks=corpus.peaks.assign(table=["t1", "t2", "t1"]))
    corpus.to_nimads(tmp_path / "out.json")
    (study,) = json.loads((tmp_path / "out.json").read_text())["studies"]
    found = {each["name"]: [p["coordinates"] for p in each["points"]] for each in study["analyses"]}
    assert found == {"t1": [[1, 2, 3], [7, 8, 9]], "t2": [[4, 5, 6]]}
