"""Documents that share their peaks are in one group."""

import warnings
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.documents import MAX_DOCUMENTS, find_twins, group_documents
from neurowhere.corpus.readers import neuroquery

RNG = np.random.default_rng(0)


def peaks(n: int) -> np.ndarray:
    return RNG.integers(-70, 70, (n, 3)).astype(float)


def groups_of(*peaks_mm: np.ndarray) -> list[str]:
    documents = [Document(str(i), {"title": "t"}, xyz) for i, xyz in enumerate(peaks_mm)]
    return Corpus.from_documents(documents).groups.tolist()


def test_four_fifths_of_the_peaks_make_a_twin() -> None:
    first = peaks(10)
    assert groups_of(first, np.concatenate([first[:8], peaks(2)])) == ["0", "0"]
    assert groups_of(first, np.concatenate([first[:7], peaks(3)])) == ["0", "1"]
    assert groups_of(first, first[:5]) == ["0", "0"]  # all of the second's
    assert groups_of(first, first[:4]) == ["0", "1"]  # so few may be chance


def test_repeated_peaks_count_once() -> None:
    first = peaks(4)
    assert groups_of(np.tile(first, (3, 1)), np.tile(first, (2, 1))) == ["0", "1"]


def test_twins_of_twins_are_one_group() -> None:
    first, second, third = peaks(8), peaks(8), peaks(9)
    assert groups_of(first, third, second, np.concatenate([first, second]) * 1) == [
        "0",
        "1",
        "0",
        "0",
    ]


def test_articles_and_twins_join() -> None:
    xyz = peaks(6)
    documents = [
        Document("a", {"title": "t"}, metadata={"pmid": "7"}),
        Document("b", {"title": "t"}, xyz, metadata={"pmid": "8"}),
        Document("c", {"title": "t"}, xyz, metadata={"pmid": "7"}),
        Document("d", {"title": "t"}),
    ]
    assert Corpus.from_documents(documents).groups.tolist() == ["7", "7", "7", "d"]


def test_a_place_that_everybody_reports_shows_nothing() -> None:
    xyz = peaks(6)
    n = MAX_DOCUMENTS + 1
    twins, _ = find_twins(np.tile(xyz, (n, 1)), np.repeat(np.arange(n), 6), n)
    assert len(twins) == 0


@given(st.lists(st.lists(st.tuples(*[st.integers(0, 1)] * 3), max_size=9), max_size=6))
def test_it_is_what_sets_say(studies: list[list[tuple[int, ...]]]) -> None:
    sets = [set(study) for study in studies]
    expected = {
        (i, j)
        for i, one in enumerate(sets)
        for j, other in enumerate(sets)
        if i != j and len(one & other) >= max(5, 0.8 * len(one))
    }
    xyz = np.array([peak for study in studies for peak in study], dtype=float).reshape(-1, 3)
    rows = np.repeat(np.arange(len(studies)), [len(study) for study in studies])
    twins, others = find_twins(xyz, rows, len(studies))
    assert set(zip(twins.tolist(), others.tolist())) == expected
    labels = np.array([str(i) for i in range(len(studies))], dtype=object)
    groups = group_documents(labels, xyz, rows)
    assert all(groups[i] == groups[j] for i, j in expected)


def test_the_84_twins_of_neuroquery(data: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpus = neuroquery.read(data / "corpus")
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    twins, _ = find_twins(xyz, corpus.peak_rows, len(corpus))
    assert len(np.unique(twins)) == 84
    assert len(corpus) - len(set(corpus.groups)) == 73
