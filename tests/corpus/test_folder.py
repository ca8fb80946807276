import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from neurowhere.corpus import Corpus, Document, Problem, folder, iter_documents, read_corpus
from neurowhere.corpus.documents import documents_table, peaks_table
from neurowhere.exceptions import CorpusError, OutputError

# All but lone surrogates, which UTF-8 cannot hold, and NUL, which pandas 2 cannot read from CSV.
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
MM = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    """Corpora with any text anywhere, any finite coordinate, texts or counts or both or none."""
    ids = draw(st.lists(TEXT, unique=True, max_size=5))
    n = len(ids)
    rows = [
        {
            "id": i,
            "title": draw(TEXT),
            "space": draw(st.sampled_from(["MNI", "TAL", "unknown"])),
            "year": draw(st.one_of(st.none(), st.integers(1, 2100))),
            "note": draw(TEXT),
        }
        for i in ids
    ]
    peaks = draw(st.lists(st.tuples(st.sampled_from(ids), MM, MM, MM))) if ids else []
    terms = draw(st.lists(st.text("ab \u2028é", min_size=1, max_size=5), unique=True, max_size=4))
    counts = draw(st.lists(st.integers(0, 300), min_size=n * len(terms), max_size=n * len(terms)))
    with_texts, with_counts = draw(st.booleans()), draw(st.booleans())
    matrix = sparse.csr_matrix(np.array(counts, dtype=np.int32).reshape(n, len(terms)))
    return Corpus(
        documents_table(pd.DataFrame(rows, columns=["id", "title", "space", "year", "note"])),
        peaks_table(pd.DataFrame(peaks, columns=["id", "x", "y", "z"]).assign(table="t\r1")),
        {"title": [draw(TEXT) for _ in ids], "body": [draw(TEXT) for _ in ids]}
        if with_texts
        else None,
        {"abstract": matrix} if with_counts else None,
        terms if with_counts else None,
        {"format": "made up", "files": ["é"]},
        (Problem("empty", 2, examples=("1", "2")),),
    )


def assert_same(first: Corpus, second: Corpus) -> None:
    pd.testing.assert_frame_equal(first.documents, second.documents, check_exact=True)
    pd.testing.assert_frame_equal(first.peaks, second.peaks, check_exact=True)
    assert first.sections == second.sections
    assert first.terms == second.terms
    assert (first.counts is None) == (second.counts is None)
    for name, matrix in (first.counts or {}).items():
        other = (second.counts or {})[name]
        assert matrix.dtype == other.dtype
        np.testing.assert_array_equal(matrix.toarray(), other.toarray())
    assert first.origin == second.origin
    assert first.problems == second.problems


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_round_trip_is_exact(corpus: Corpus) -> None:
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "corpus"
        corpus.save(path)
        assert folder.detects(path)
        assert_same(corpus, folder.read(path))


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_documents(
        [
            Document("1", {"title": "Fear", "body": "b"}, np.array([[1.0, 2, -3]]), "MNI"),
            Document("2", {"title": "Vision"}, np.array([[0.1, -90, 2], [3, 4, 5]]), "TAL"),
            Document("3", {"title": "Motor"}, metadata={"year": 2001, "pmid": "7"}),
        ]
    )


@pytest.fixture
def saved(corpus: Corpus, tmp_path: Path) -> Path:
    corpus.save(tmp_path / "corpus")
    return tmp_path / "corpus"


def test_files_are_plain(saved: Path) -> None:
    names = ["documents.csv", "info.json", "peaks.csv", "texts.jsonl.gz"]
    assert sorted(file.name for file in saved.iterdir()) == names
    info = json.loads((saved / "info.json").read_text())
    assert (info["kind"], info["documents"], info["peaks"]) == ("corpus", 3, 3)
    assert (saved / "peaks.csv").read_text().splitlines()[:2] == [
        '"id","x","y","z"',
        '"1",1.0,2.0,-3.0',
    ]


def test_documents_are_streamed_as_they_were(corpus: Corpus, saved: Path) -> None:
    streamed = list(iter_documents(saved, talairach_to_mni=False))
    assert_same(Corpus.from_documents(streamed), corpus)
    assert [document.space for document in iter_documents(saved)] == ["MNI", "MNI", "unknown"]


def test_peaks_are_converted_once(saved: Path, tmp_path: Path) -> None:
    first = read_corpus(saved)  # converts the second document
    first.save(tmp_path / "again")
    second = read_corpus(tmp_path / "again")
    assert_same(first, second)
    assert second.documents["source_space"].tolist() == ["MNI", "TAL", "unknown"]
    assert_same(Corpus.from_documents(iter_documents(tmp_path / "again")), folder_only(second))


def folder_only(corpus: Corpus) -> Corpus:
    return Corpus(corpus.documents, corpus.peaks, corpus.sections)


def test_reading_again_finds_the_same_problems(saved: Path, tmp_path: Path) -> None:
    first = read_corpus(saved)
    first.save(tmp_path / "again")
    assert read_corpus(tmp_path / "again").problems == first.problems


def test_counts_alone_cannot_be_streamed(tmp_path: Path) -> None:
    counts = {"title": sparse.csr_matrix([[1]])}
    peaks = peaks_table(pd.DataFrame({"id": [], "x": [], "y": [], "z": []}))
    Corpus(documents_table([{"id": "1"}]), peaks, None, counts, ["fear"]).save(tmp_path / "c")
    with pytest.raises(CorpusError, match="holds term counts but no texts"):
        next(iter_documents(tmp_path / "c"))


def test_a_folder_is_not_overwritten_unless_asked(corpus: Corpus, saved: Path) -> None:
    with pytest.raises(OutputError, match="exists and is not empty"):
        corpus.save(saved)
    corpus.select([0]).save(saved, overwrite=True)
    assert len(read_corpus(saved)) == 1


def test_a_failure_leaves_nothing_behind(corpus: Corpus, tmp_path: Path) -> None:
    counts = {"title": sparse.csr_matrix((3, 1))}
    broken = Corpus(corpus.documents, corpus.peaks, None, counts, ["line\nbreak"])
    with pytest.raises(CorpusError, match="has a line break"):
        broken.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["documents.csv", "peaks.csv", "texts.jsonl.gz"])
def test_a_changed_file_is_refused(saved: Path, name: str) -> None:
    content = bytearray((saved / name).read_bytes())
    content[-3] ^= 1
    (saved / name).write_bytes(content)
    with pytest.raises(CorpusError, match=f"{name} was changed since it was written"):
        folder.read(saved)
    (saved / name).unlink()
    with pytest.raises(CorpusError, match=f"{name} is missing"):
        folder.read(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 99}, "has format version 99, .* up to 1; upgrade"),
        ({"kind": "model"}, "holds a model, not a corpus"),
        ({"format_version": "x"}, "is damaged or not of neurowhere"),
        ({"sha256": None}, "is damaged"),
    ],
)
def test_a_foreign_or_newer_folder_is_refused(
    saved: Path, change: dict[str, object], message: str
) -> None:
    info = json.loads((saved / "info.json").read_text())
    (saved / "info.json").write_text(json.dumps({**info, **change}))
    with pytest.raises(CorpusError, match=message):
        read_corpus(saved)


@pytest.mark.parametrize("content", ["", "[]", '{"made_by": "pubget"}', "{", "\xff"])
def test_a_damaged_info_is_refused(saved: Path, content: str) -> None:
    (saved / "info.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(CorpusError, match="damaged or not of neurowhere"):
        read_corpus(saved)


def test_an_info_that_says_too_little_is_refused(saved: Path) -> None:
    info = json.loads((saved / "info.json").read_text())
    del info["origin"]
    (saved / "info.json").write_text(json.dumps(info))
    with pytest.raises(CorpusError, match="does not say origin"):
        read_corpus(saved)


def test_the_same_corpus_gives_the_same_checksums(corpus: Corpus, saved: Path) -> None:
    other = saved.with_name("other")
    corpus.save(other)
    infos = [json.loads((path / "info.json").read_text()) for path in (saved, other)]
    assert infos[0]["sha256"] == infos[1]["sha256"]
