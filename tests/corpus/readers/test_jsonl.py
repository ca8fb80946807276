import gzip
import json
import lzma
import tracemalloc
from pathlib import Path

import pytest

from neurowhere.corpus import iter_documents, read_corpus
from neurowhere.corpus.readers import jsonl
from neurowhere.exceptions import CorpusError, DataWarning

RECORDS = [
    {"pmid": 1, "title": "Fear", "coords": [[-20, -4, -18]], "space": "MNI"},
    {"pmid": 2, "title": "Vision", "coords": "[[8, -90, 2], [0, -80, 6]]", "space": "TAL"},
    {"pmid": 3, "title": "Motor", "abstract": "Hands — not feet."},
]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.JSONL.xz", "a.ndjson"])
def test_plain_and_compressed(tmp_path: Path, name: str) -> None:
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(Path(name).suffix, open)
    with opener(tmp_path / name, "wt", encoding="utf-8") as stream:
        stream.write(LINES)
    for path in (tmp_path, tmp_path / name):
        corpus = read_corpus(path)
        assert corpus.origin == {"format": "jsonl", "source": path.name}
        assert corpus.documents["id"].tolist() == ["1", "2", "3"]
        assert corpus.n_peaks.tolist() == [1, 2, 0]
        assert corpus.texts is not None
        assert corpus.texts[2] == "Motor\n\nHands — not feet."


def test_a_bad_line_is_named_counted_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "a"}\n{"title": "b"\n\n[1]\n{"title": "c"}\n')
    with pytest.warns(DataWarning, match=r"skipped 2 of 4 lines \(a.jsonl:2: .*; a.jsonl:4: exp"):
        corpus = read_corpus(path)
    assert corpus.documents["id"].tolist() == ["a.jsonl:1", "a.jsonl:5"]
    assert len(corpus.origin["warnings"]) == 1


def test_only_bad_lines_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": 1}\n{"name": 2}\n')
    with pytest.raises(CorpusError, match="nothing could be read: skipped 2 of 2 lines"):
        read_corpus(path)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_an_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(CorpusError, match=r"expected documents in .*a.jsonl, none came"):
        read_corpus(path)


def write_truncated(path: Path) -> None:
    lines = "".join(json.dumps({"id": i, "title": f"{i**9}"}) + "\n" for i in range(5000))
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[: len(whole) // 2])


def test_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_truncated(path)
    with pytest.raises(CorpusError, match=r"a.jsonl.gz is truncated or damaged"):
        read_corpus(path)


def test_a_truncated_shard_among_others_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(LINES)
    write_truncated(tmp_path / "b.jsonl.gz")
    (tmp_path / "c.jsonl").write_text('{"id": "last", "title": "t"}\n')
    with pytest.warns(DataWarning, match=r"skipped 1 of 3 files \(b.jsonl.gz: .*truncated"):
        ids = [document.id for document in iter_documents(tmp_path)]
    assert ids[:3] == ["1", "2", "3"]
    assert ids[-1] == "last"


def test_another_encoding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"title": "Gehirn für Anfänger"}\n'.encode("latin-1"))
    with pytest.raises(CorpusError, match=r"is not UTF-8 text .byte 0xfc .* convert it"):
        read_corpus(path)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "a"}\n', encoding="utf-8-sig")
    assert read_corpus(path).texts == ["a"]


def test_deep_nesting_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "a"}\n' + "[" * 200_000 + "\n")
    with pytest.warns(DataWarning, match="skipped 1 of 2 lines"):
        assert len(read_corpus(path)) == 1


def test_coordinates_that_are_no_numbers_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "x", "title": "a", "coords": [[1, 2, -3], [1, NaN, 3], ["a", 2, 3]]}\n')
    with pytest.warns(DataWarning, match=r"skipped 2 of 3 peaks .document x: not three finite"):
        corpus = read_corpus(path)
    assert corpus.peaks[["x", "y", "z"]].to_numpy().tolist() == [[1, 2, -3]]


def test_any_name_will_do_when_the_format_is_given(tmp_path: Path) -> None:
    path = tmp_path / "export.data"
    path.write_text(LINES)
    assert not jsonl.detects(path)
    assert len(read_corpus(path, format="jsonl")) == 3


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    text = "amygdala " * 10_000
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as stream:
        for i in range(200):
            stream.write(json.dumps({"id": i, "body": text}) + "\n")
    tracemalloc.start()
    n_characters = sum(len(document.text) for document in iter_documents(tmp_path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_characters > 17_000_000
    assert peak < 3_000_000


@pytest.mark.filterwarnings("ignore::neurowhere.exceptions.DataWarning")
def test_linked_texts(data: Path) -> None:
    corpus = read_corpus(data / "corpus" / "rawtext_linked_dev.jsonl.gz", drop=["unsigned"])
    dropped = next(problem for problem in corpus.problems if problem.name == "unsigned")
    assert len(corpus) + dropped.count == 1857
    stated = corpus.documents["source_space"].value_counts()
    assert stated["TAL"] == 65
    assert "TAL" not in set(corpus.documents["space"])
    assert corpus.sections is not None
    bodies = dict(zip(corpus.documents["id"], corpus.sections["body"], strict=True))
    assert bodies["16412236"].startswith("PMID16412236        TITLE")
    assert "Reduced hippocampal activation during episodic" not in bodies["16412236"][:1000]


@pytest.mark.filterwarnings("ignore::neurowhere.exceptions.DataWarning")
def test_whole_articles(data: Path) -> None:
    corpus = read_corpus(data / "corpus" / "fulltext_dev.jsonl.xz")
    assert len(corpus) == 3068
    assert corpus.sections is not None
    assert list(corpus.sections) == ["body"]
    assert min(map(len, corpus.sections["body"])) > 500
    assert (corpus.documents["pmid"] != "").sum() > 3000
    assert (corpus.n_peaks > 0).sum() > 300


def test_unlabelled_texts_are_streamed(data: Path) -> None:
    documents = iter_documents(data / "unlabelled" / "elife_other_subjects.jsonl.xz")
    ids = {document.id for document in documents}
    assert len(ids) == 374
