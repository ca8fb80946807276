import json

import numpy as np
import pandas as pd
from scipy import sparse

from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.coordinates import corpus_to_mni
from neurowhere.corpus.documents import documents_table, peaks_table
from neurowhere.corpus.review import review, summarise


def make_corpus() -> Corpus:
    xyz = np.array([[1.0, 2, -3]]) * np.arange(1, 8)[:, None]
    documents = [
        Document("1", {"title": "Fear and fear"}, xyz[:1], "MNI", {"year": 1999}),
        Document("2", {"title": "The fear", "body": "vision"}, xyz[:3], "TAL", {"year": 2003}),
        Document("3", {"title": "Vision"}, xyz[:7], "unknown", {"year": 2001}),
        Document("4", {"title": " "}),
    ]
    return review(corpus_to_mni(Corpus.from_documents(documents)))


def test_summary_is_plain_data() -> None:
    summary = summarise(make_corpus())
    assert (summary.documents, summary.peaks) == (4, 11)
    assert summary.peaks_per_document == {
        "min": 1,
        "quartile1": 2,
        "median": 3,
        "quartile3": 5,
        "max": 7,
    }
    assert summary.spaces == {"unknown": 2, "MNI": 1, "TAL converted to MNI": 1}
    assert summary.years == {"first": 1999, "median": 2001, "last": 2003, "known": 3}
    assert summary.content == {"title texts": 3, "body texts": 1}
    assert summary.terms == {"fear": 2, "vision": 1}  # documents, not occurrences; no "the"
    assert {problem.name for problem in summary.problems} == {
        "empty",
        "without_peaks",
        "unknown_space",
    }
    assert json.loads(json.dumps(summary.to_dict()))["problems"][0]["says"].startswith("1 document")


def test_summary_reads_well() -> None:
    lines = summarise(make_corpus()).to_text().splitlines()
    assert lines[:7] == [
        "documents   4",
        "peaks       11",
        "per study   median 3, half in 2-5, range 1-7",
        "space       unknown 2, MNI 1, TAL converted to MNI 1",
        "years       1999-2003, median 2001 (known for 3)",
        "content     title texts 3, body texts 1",
        "frequent    fear 2, vision 1",
    ]
    assert lines[7].startswith("problems    1 document without text or terms")
    assert lines[8].startswith("            1 document without peaks")


def test_terms_are_counted_once_per_document() -> None:
    corpus = Corpus(
        documents_table([{"id": "1"}, {"id": "2"}]),
        peaks_table(pd.DataFrame({"id": [], "x": [], "y": [], "z": []})),
        counts={
            "title": sparse.csr_matrix([[1, 0, 0], [0, 0, 0]]),
            "abstract": sparse.csr_matrix([[5, 1, 0], [0, 2, 0]]),
        },
        terms=["fear", "vision", "never"],
    )
    summary = summarise(corpus)
    assert summary.terms == {"vision": 2, "fear": 1}
    assert summary.content == {"title counts": 1, "abstract counts": 2}
    assert summary.years is None


def test_a_corpus_of_nothing_but_bodies() -> None:
    corpus = Corpus.from_documents([Document("1", {"body": "fear"})])
    assert summarise(corpus).terms == {"fear": 1}
    nothing = summarise(Corpus.from_documents([]))
    assert nothing.terms == nothing.content == {}
    assert "frequent    none" in nothing.to_text()
