import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from neurowhere.corpus import Corpus, Document, concatenate
from neurowhere.corpus.documents import documents_table, peaks_table
from neurowhere.exceptions import CorpusError, DataWarning


def make_corpus(n_peaks: list[int], *, shuffle: bool = False) -> Corpus:
    """Corpus with texts and counts whose values tell their document and peak."""
    n = len(n_peaks)
    ids = [str(100 + i) for i in range(n)]
    rows = np.repeat(np.arange(n), n_peaks)
    if shuffle:
        rows = np.random.default_rng(0).permutation(rows)
    peaks = pd.DataFrame({"id": [ids[row] for row in rows], "x": rows, "y": range(len(rows))})
    return Corpus(
        documents_table([{"id": i, "title": f"title {i}", "space": "MNI"} for i in ids]),
        peaks_table(peaks.assign(z=0)),
        {"abstract": [f"abstract {i}" for i in ids]},
        {"title": sparse.csr_matrix(np.arange(3 * n).reshape(n, 3))},
        ["amygdala", "fear", "vision"],
    )


def test_peaks_by_document_agree_with_groupby() -> None:
    corpus = make_corpus([3, 0, 2, 5], shuffle=True)
    by_id = dict(list(corpus.peaks.groupby("id")))
    for document_id, peaks in zip(corpus.documents["id"], corpus.peaks_by_document, strict=True):
        expected = by_id.get(document_id, corpus.peaks.iloc[:0])
        np.testing.assert_array_equal(peaks, expected[["x", "y", "z"]])
    np.testing.assert_array_equal(corpus.n_peaks, [3, 0, 2, 5])


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.data())
def test_select_keeps_everything_aligned(n_peaks: list[int], data: st.DataObject) -> None:
    corpus = make_corpus(n_peaks, shuffle=True)
    rows = data.draw(st.lists(st.sampled_from(range(len(corpus))), unique=True))
    chosen = corpus.select(rows)
    assert len(chosen) == len(rows)
    assert chosen.documents["id"].tolist() == [corpus.documents["id"][row] for row in rows]
    assert chosen.texts == [f"abstract {100 + row}" for row in rows]
    for row, peaks in zip(rows, chosen.peaks_by_document, strict=True):
        np.testing.assert_array_equal(peaks, corpus.peaks_by_document[row])
    assert chosen.counts is not None
    assert corpus.counts is not None
    expected = corpus.counts["title"].toarray()[np.array(rows, dtype=int)]
    np.testing.assert_array_equal(chosen.counts["title"].toarray(), expected)


def test_select_takes_masks_slices_and_indices() -> None:
    corpus = make_corpus([1, 2, 3])
    for rows in ([False, True, True], np.array([1, 2]), slice(1, None), [-2, -1]):
        assert corpus.select(rows).documents["id"].tolist() == ["101", "102"]
    assert len(corpus.select(corpus.n_peaks > 5)) == 0
    with pytest.raises(CorpusError, match="one document per id, but '100'"):
        corpus.select([0, 0])


def test_texts_join_sections_in_reading_order() -> None:
    documents = [Document("1", {"body": "b", "title": "t"}), Document("2", {"abstract": "a"})]
    corpus = Corpus.from_documents(documents)
    assert list(corpus.sections or ()) == ["title", "abstract", "body"]
    assert corpus.texts == ["t\n\nb", "a"] == [document.text for document in documents]


def test_documents_come_back() -> None:
    documents = [
        Document("1", {"title": "t"}, np.array([[1.0, 2, 3]]), "MNI", {"year": 1999, "pmid": "1"}),
        Document("2", {"abstract": "a"}, metadata={"authors": ["A", "B"]}),
        Document("3", {}),
    ]
    back = list(Corpus.from_documents(documents).iter_documents())
    assert [document.id for document in back] == ["1", "2", "3"]
    assert [dict(document.sections) for document in back] == [{"title": "t"}, {"abstract": "a"}, {}]
    assert [document.space for document in back] == ["MNI", "unknown", "unknown"]
    assert back[0].metadata["year"] == 1999
    assert back[1].metadata["authors"] == "A; B"
    np.testing.assert_array_equal(back[0].peaks, [[1, 2, 3]])
    without_text = Corpus.from_documents([Document("3", {})])
    assert [dict(document.sections) for document in without_text.iter_documents()] == [{}]


def test_no_documents_make_an_empty_corpus() -> None:
    corpus = Corpus.from_documents([])
    assert len(corpus) == 0
    assert corpus.texts == []
    assert corpus.peaks_by_document == []


def test_table_of_documents_is_tidy() -> None:
    table = documents_table(
        [
            {"id": "1", "pmid": 7, "year": "1997", "x": None},
            {"id": "2", "year": 2003.0, "space": "TAL"},
            {"id": "3", "year": "in press"},
            {"id": "4", "year": np.inf, "title": "t"},
        ]
    )
    assert table.columns.tolist() == ["id", "title", "space", "source_space", "pmid", "year", "x"]
    assert table["pmid"].tolist() == ["7", "", "", ""]
    assert table["year"].tolist() == [1997, 2003, pd.NA, pd.NA]
    assert table["source_space"].tolist() == ["unknown", "TAL", "unknown", "unknown"]
    assert table["title"].tolist() == ["", "", "", "t"]


def test_metadata_do_not_replace_the_document() -> None:
    document = Document("1", {"title": "real"}, metadata={"id": "x", "title": "y", "space": "z"})
    row = Corpus.from_documents([document]).documents.iloc[0]
    assert (row["id"], row["title"], row["space"]) == ("1", "real", "unknown")


def test_groups_are_pubmed_ids_where_known() -> None:
    documents = [Document("a", {}, metadata={"pmid": "12"}), Document("b", {})]
    assert Corpus.from_documents(documents).groups.tolist() == ["12", "b"]
    assert Corpus.from_documents(documents[1:]).groups.tolist() == ["b"]


def test_first_of_duplicates_is_kept() -> None:
    documents = [Document("1", {"title": title}) for title in "abc"]
    with pytest.warns(DataWarning, match="2 documents with the id of an earlier one .dropped.: 1"):
        corpus = Corpus.from_documents(documents)
    assert corpus.texts == ["a"]
    assert [problem.count for problem in corpus.problems] == [2]


def test_duplicates_can_be_kept_under_new_ids() -> None:
    ids = ["1", "1#2", "1", "1"]
    with pytest.warns(DataWarning, match="kept"):
        corpus = Corpus.from_documents([Document(i, {}) for i in ids], keep_duplicates=True)
    assert corpus.documents["id"].tolist() == ["1", "1#2", "1#3", "1#4"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"documents": pd.DataFrame({"id": ["1"]})}, "title, space, source_space missing among id"),
        ({"peaks": pd.DataFrame({"id": ["1"], "x": [0]})}, "peaks: .* y, z missing among id, x"),
        ({"peaks": peaks_table(pd.DataFrame({"id": ["9"], "x": 0, "y": 0, "z": 0}))}, "'9' is not"),
        ({"sections": {"title": ["a", "b"]}}, "expected 1 texts .* 'title' has 2"),
        ({"sections": {"methods": ["a"]}}, "among title, abstract, keywords, body, but 'methods'"),
        ({"counts": {}}, "go together"),
        ({"counts": {"title": sparse.csr_matrix((1, 2))}, "terms": ["a"]}, r"shape \(1, 1\)"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    parts = {
        "documents": documents_table([{"id": "1"}]),
        "peaks": peaks_table(pd.DataFrame({"id": [], "x": [], "y": [], "z": []})),
    }
    with pytest.raises(CorpusError, match=message):
        Corpus(**{**parts, **change})  # type: ignore[arg-type]


def test_repr_says_what_there_is() -> None:
    corpus = make_corpus([1, 2])
    assert repr(corpus) == (
        "Corpus: 2 documents, 3 peaks; texts of abstract; counts of 3 terms in title"
    )
    hostile = Corpus.from_documents([Document("<b>", {"title": "<script>"})])
    assert "<script>" not in hostile._repr_html_()
    assert "<b>" not in hostile._repr_html_()


def test_counts_alone_give_no_documents() -> None:
    corpus = make_corpus([1])
    bare = Corpus(corpus.documents, corpus.peaks, None, corpus.counts, corpus.terms)
    assert bare.texts is None
    with pytest.raises(CorpusError, match="expected texts"):
        bare.iter_documents()


def test_empty_documents_have_neither_text_nor_terms() -> None:
    corpus = make_corpus([1, 1])
    counts = {"title": sparse.csr_matrix([[0, 0, 0], [0, 2, 0]])}
    texts = {"title": [" \n", ""]}
    found = Corpus(corpus.documents, corpus.peaks, texts, counts, corpus.terms).is_empty
    np.testing.assert_array_equal(found, [True, False])


def test_concatenate_joins_texts_and_counts_by_name() -> None:
    first = make_corpus([1, 2])
    second = make_corpus([3, 4, 1]).select([1, 2])  # "101" is in both
    second = Corpus(
        second.documents,
        second.peaks,
        {"body": ["b", "c"]},
        {"title": sparse.csr_matrix([[1, 2], [3, 4]])},
        ["vision", "motor"],
    )
    with pytest.warns(DataWarning, match="1 document with the id of an earlier one"):
        both = concatenate([first, second])
    assert both.documents["id"].tolist() == ["100", "101", "102"]
    assert both.n_peaks.tolist() == [1, 2, 1]
    assert both.texts == ["abstract 100", "abstract 101", "c"]
    assert both.terms == ["amygdala", "fear", "vision", "motor"]
    assert both.counts is not None
    assert both.counts["title"].toarray().tolist() == [[0, 1, 2, 0], [3, 4, 5, 0], [0, 0, 3, 4]]


def test_concatenate_needs_something_in_common() -> None:
    corpus = make_corpus([1])
    texts = Corpus(corpus.documents, corpus.peaks, corpus.sections)
    counts = Corpus(corpus.documents, corpus.peaks, None, corpus.counts, corpus.terms)
    with pytest.raises(CorpusError, match="none is common"):
        concatenate([texts, counts])
    with pytest.raises(CorpusError, match="at least one"):
        concatenate([])
    assert concatenate([texts]).sections == texts.sections
