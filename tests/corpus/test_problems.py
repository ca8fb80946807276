import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.review import (
    HEAD_HIGH_MM,
    HEAD_LOW_MM,
    Problem,
    is_outside,
    is_repeated,
    review,
    unsigned_studies,
)
from neurowhere.exceptions import CorpusError, DataWarning


def peaks_of(*rows: tuple[str, float, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "x", "y", "z"])


def test_repeated_peaks_are_those_after_the_first() -> None:
    peaks = peaks_of(("1", 1, 2, 3), ("2", 1, 2, 3), ("1", 1, 2, 3), ("1", 1, 2, 4), ("1", 1, 2, 3))
    assert is_repeated(peaks).tolist() == [False, False, True, False, True]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4)))
def test_without_repeated_peaks_each_is_there_once(rows: list[tuple[int, ...]]) -> None:
    peaks = pd.DataFrame(rows, columns=["id", "x", "y", "z"]).astype({"id": str})
    kept = peaks[~is_repeated(peaks)]
    assert sorted(set(rows)) == sorted((int(i), x, y, z) for i, x, y, z in kept.to_numpy())


def test_outside_is_beyond_the_template() -> None:
    inside = [tuple(HEAD_LOW_MM), tuple(HEAD_HIGH_MM), (0, 0, 0), (-71, -104, 80)]
    outside = [(92, 0, 0), (0, -127, 0), (0, 0, 110), (-91, 0, 0), (0, 92, 0), (0, 0, -73)]
    peaks = pd.DataFrame([*inside, *outside], columns=["x", "y", "z"])
    assert is_outside(peaks).tolist() == [False] * len(inside) + [True] * len(outside)


def studies(*peaks: np.ndarray) -> Corpus:
    return Corpus.from_documents(
        Document(str(i), {"title": "t"}, xyz, "MNI") for i, xyz in enumerate(peaks)
    )


def test_a_study_without_negative_coordinates_is_told_from_others() -> None:
    voxels = np.random.default_rng(0).integers(10, 80, (12, 3)).astype(float)
    corpus = studies(voxels, voxels - 40, voxels[:5])
    found = unsigned_studies(corpus.peaks, corpus.peak_rows, len(corpus))
    assert found.tolist() == [True, False, False]  # five peaks prove nothing
    with pytest.warns(DataWarning, match="1 document whose coordinates are never negative"):
        review(corpus)
    assert len(review(corpus, drop=["unsigned"])) == 2


def test_a_corpus_without_negative_coordinates_is_refused() -> None:
    voxels = np.random.default_rng(0).integers(0, 90, (30, 3)).astype(float)
    with pytest.raises(CorpusError, match="expected peaks in mm, but none of the 30 peaks has a"):
        review(studies(voxels[:14], voxels[14:]))
    assert review(studies(voxels[:5])).problems == ()


def odd_corpus() -> Corpus:
    xyz = np.array([[1.0, 2, 3], [1, 2, 3], [0, 0, 200]])
    return Corpus.from_documents(
        [
            Document("good", {"title": "t"}, xyz[:1], "MNI"),
            Document("repeats", {"title": "t"}, xyz[:2]),
            Document("outside", {"title": "t"}, xyz[2:], "MNI"),
            Document("mute", {"title": " "}, xyz[:1], "MNI"),
            Document("bare", {"title": "t"}),
        ]
    )


def test_review_counts_and_keeps() -> None:
    corpus = review(odd_corpus())
    assert {problem.name: problem.count for problem in corpus.problems} == {
        "repeated": 1,
        "outside": 1,
        "empty": 1,
        "without_peaks": 1,
        "unknown_space": 1,
    }
    assert not any(problem.dropped for problem in corpus.problems)
    assert (len(corpus), len(corpus.peaks)) == (5, 5)


def test_review_drops_what_is_named() -> None:
    corpus = review(odd_corpus(), drop=["repeated", "outside", "empty", "without_peaks"])
    assert corpus.documents["id"].tolist() == ["good", "repeats"]
    assert corpus.n_peaks.tolist() == [1, 1]
    problems = {problem.name: problem for problem in corpus.problems}
    assert problems["without_peaks"].count == 2  # one has only a peak outside
    assert problems["without_peaks"].examples == ("outside", "bare")
    assert problems["repeated"].dropped


def test_review_of_a_reviewed_corpus_remembers_what_was_dropped() -> None:
    once = review(odd_corpus(), drop=["repeated"])
    again = review(once)
    assert set(again.problems) == set(once.problems)


def test_review_refuses_to_leave_nothing() -> None:
    with pytest.raises(CorpusError, match="no document is left; 1 document without peaks"):
        review(Corpus.from_documents([Document("1", {"title": "t"})]), drop=["without_peaks"])
    with pytest.raises(CorpusError, match="none was there"):
        review(Corpus.from_documents([]))


def test_review_names_the_problems_it_knows() -> None:
    with pytest.raises(CorpusError, match="cannot drop typo; choose among duplicates, statistics"):
        review(odd_corpus(), drop=["typo", "empty"])


def test_a_problem_is_a_sentence() -> None:
    assert str(Problem.at("outside", ["7", "7", "8"], dropped=True)) == (
        "3 peaks outside any head (dropped): 7, 8, ..."
    )
    assert str(Problem.at("empty", ["7"])) == "1 document without text or terms (kept): 7"
    assert str(Problem.at("mirrored", ["7"], converted=True)).endswith("mirrored (converted): 7")
