import errno
import gzip
import json
import os
import pickle
import shutil
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.contrast.conftest import make_records, write_records
from tests.tools.crashes import crashes

from neurowhere import Corpus, read_corpus
from neurowhere._tools.parallel import Workers
from neurowhere.contrast import library as module
from neurowhere.contrast.library import find_parts, iter_source, open_library
from neurowhere.contrast.query import Query
from neurowhere.contrast.shard import Shard
from neurowhere.corpus import Document
from neurowhere.corpus.documents import documents_table, peaks_table
from neurowhere.exceptions import CorpusError, DataWarning, OutputError


def open_here(sources, cache, **options):
    return open_library(sources, cache, workers=Workers(), **options)


def ids(library):
    return [
        row["id"]
        for shard in library.shards
        for number, row in enumerate(shard.table())
        if number not in library.repeated(shard)
    ]


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(module, "SHARD_DOCUMENTS", 7)


def test_every_document_is_there_once_and_whole(source, tmp_path, small_shards):
    library = open_here([source], tmp_path / "cache")
    assert [len(shard) for shard in library.shards] == [7] * 17 + [1]
    assert ids(library) == [str(1000 + number) for number in range(120)]
    assert library.n_documents == 120
    rows = library.shards[1].table()
    assert (rows[0]["title"], rows[0]["arm"]) == ("Study 7", "controls")
    records = make_records()
    texts = library.shards[1].read_texts(np.array([2, 0]))
    assert texts == [f"Study {n}\n\n{records[n]['abstract']}" for n in (9, 7)]


def test_texts_of_any_script_come_back(tmp_path):
    text = "Ménière — 脳 \u2028 \N{BRAIN}"
    source = write_records(tmp_path / "a.jsonl", [{"pmid": 1, "abstract": text}])
    (shard,) = open_here([source], tmp_path / "cache").shards
    assert shard.read_texts(np.array([0])) == [text]


def test_it_goes_on_where_it_stopped(source, tmp_path, small_shards, monkeypatch):
    whole = open_here([source], tmp_path / "cache")
    (whole.folder / "00000.keys.json").unlink()
    whole.shards[5].file("documents").unlink()
    before = {shard.name: shard.file("documents").stat().st_mtime_ns for shard in whole.shards[:5]}
    again = open_here([source], tmp_path / "cache")
    assert ids(again) == ids(whole)
    for shard in again.shards[:5]:
        assert shard.file("documents").stat().st_mtime_ns == before[shard.name]
    monkeypatch.setattr(module, "cut", None)  # a finished library is not cut again
    assert ids(open_here([source], tmp_path / "cache")) == ids(whole)


@pytest.mark.parametrize("damage", ["", "[]", '{"shards": [], "repeats": []}'])
def test_damaged_notes_are_made_again(source, tmp_path, damage):
    whole = open_here([source], tmp_path / "cache")
    (whole.folder / "00000.keys.json").write_text(damage)
    assert ids(open_here([source], tmp_path / "cache")) == ids(whole)


def test_a_source_that_changed_is_read_again(source, tmp_path):
    first = open_here([source], tmp_path / "cache")
    write_records(source, make_records(30))
    second = open_here([source], tmp_path / "cache")
    assert (len(ids(first)), len(ids(second))) == (120, 30)


def test_unreadable_files_in_the_middle_are_skipped_named_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_BYTES", 1)
    records = make_records(60)
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(3):
        text = "".join(json.dumps(r) + "\n" for r in records[20 * number : 20 * number + 20])
        data = gzip.compress(text.encode())
        (folder / f"{number}.jsonl.gz").write_bytes(data if number != 1 else data[:-30])
    (folder / "3.jsonl").write_bytes(b"\xff\xfe not text")
    message = r"skipped 2 of 4 files \(1.jsonl.gz: is truncated or damaged.*3.jsonl: .*not UTF-8"
    with pytest.warns(DataWarning, match=message):
        library = open_here([folder], tmp_path / "cache")
    found = ids(library)
    assert found[:20] == [str(1000 + n) for n in range(20)]
    assert found[-20:] == [str(1040 + n) for n in range(20)]
    assert any("skipped 2 of 4 files" in problem for problem in library.problems)

    assert "1.jsonl.gz" in library.damaged
    for _ in range(2):  # also when nothing has to be read again
        with pytest.raises(CorpusError, match=r"skipped 2 of 4 files .*--keep-going"):
            open_here([folder], tmp_path / "cache", keep_going=False)


def test_the_cache_is_that_of_the_content(tmp_path):
    source = write_records(tmp_path / "a.jsonl", [{"pmid": 1, "abstract": "one two"}])
    before = source.stat()
    first = open_here([source], tmp_path / "cache")
    write_records(source, [{"pmid": 2, "abstract": "two one"}])
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (source.stat().st_size, source.stat().st_mtime_ns) == (
        before.st_size,
        before.st_mtime_ns,
    )
    second = open_here([source], tmp_path / "cache")
    assert (ids(first), ids(second)) == (["1"], ["2"])
    source.touch()
    assert open_here([source], tmp_path / "cache").folder == second.folder


def test_bad_lines_are_said(tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text('{"pmid": 1, "abstract": "x"}\nnot JSON\n')
    with pytest.warns(DataWarning, match=r"skipped 1 of 2 lines \(a.jsonl:2"):
        library = open_here([source], tmp_path / "cache")
    assert ids(library) == ["1"]
    for _ in range(2):  # read, and kept
        with pytest.raises(CorpusError, match=r"skipped 1 of 2 lines .*--keep-going"):
            open_here([source], tmp_path / "cache", keep_going=False)


def test_nothing_readable_is_an_error(tmp_path):
    source = tmp_path / "a.jsonl.gz"
    source.write_bytes(gzip.compress(b'{"pmid": 1, "abstract": "x"}\n')[:-12])
    with pytest.raises(CorpusError, match=r"nothing could be read: skipped 1 of 1 files \(a.jsonl"):
        open_here([source], tmp_path / "cache")
    with pytest.raises(CorpusError, match="does not exist"):
        open_here([tmp_path / "no.jsonl"], tmp_path / "cache")
    with pytest.raises(CorpusError, match="does not exist"):
        open_here([tmp_path / "no.jsonl"], tmp_path / "cache", format="jsonl")
    with pytest.raises(CorpusError, match="unknown format 'x'"):
        open_here([source], tmp_path / "cache", format="x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="no known format"):
        open_here([tmp_path / "empty"], tmp_path / "cache")


def test_a_link_to_nowhere_is_no_document(source, tmp_path):
    read_corpus(source).save(tmp_path / "corpus")
    (tmp_path / "corpus" / "link").symlink_to("nowhere")
    assert open_here([tmp_path / "corpus"], tmp_path / "cache").n_documents == 120


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_names_of_files_need_not_be_unicode(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in ((b"a", b"pons"), (b"caf\xe9", b"amygdala"), (b"\xff", b"\xff")):
        (folder / os.fsdecode(name + b".txt")).write_bytes(text)
    with pytest.warns(DataWarning, match="skipped 1 of 3 files"):
        library = open_here([folder], tmp_path / "cache")
    again = open_here([folder], tmp_path / "cache")
    assert ids(library) == ids(again) == ["a.txt", "caf\udce9.txt"]


def test_repeated_documents_are_left_out_and_counted(tmp_path):
    one = write_records(tmp_path / "one.jsonl", make_records(30))
    two = write_records(tmp_path / "two.jsonl", make_records(40))
    with pytest.warns(DataWarning, match="30 documents have the id of an earlier one"):
        library = open_here([one, two], tmp_path / "cache")
    assert ids(library) == [str(1000 + number) for number in range(40)]
    assert library.n_documents == 40
    again = open_here([one, two], tmp_path / "cache")
    assert ids(again) == ids(library)


def test_files_of_the_same_name_are_not_taken_for_repeats(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "report.txt").write_text(f"amygdala {folder.name}")
        (folder / "more.jsonl").write_text('{"abstract": "no id"}\n')
    library = open_here(folders, tmp_path / "cache", format="text")
    assert library.n_documents == 2
    lines = open_here([f / "more.jsonl" for f in folders], tmp_path / "cache")
    assert lines.n_documents == 2


def test_counted_documents_have_the_counts_of_the_corpus(model, tmp_path):
    terms = ["cortex", "visual cortex", "visual", "huntington disease", "amygdala", "pons"]
    rng = np.random.default_rng(0)
    counts = {
        name: sparse.csr_matrix(rng.poisson(0.7, (9, len(terms))).astype(np.int32))
        for name in ("title", "abstract")
    }
    documents = documents_table([{"id": str(i), "title": f"T{i}", "year": 2000} for i in range(9)])
    peaks = peaks_table(pd.DataFrame({"id": ["0"], "x": [0.0], "y": [0.0], "z": [0.0]}))
    corpus = Corpus(documents, peaks, counts=counts, terms=terms)
    corpus.save(tmp_path / "corpus")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.extractor_.counts(read_corpus(tmp_path / "corpus"))
        (shard,) = open_here([tmp_path / "corpus"], tmp_path / "cache").shards
    assert np.array_equal(shard.vectors(model.extractor_).toarray(), expected.toarray())
    total = counts["title"] + counts["abstract"]
    assert Query("huntington").mentions(shard).tolist() == total[:, 3].toarray().ravel().tolist()
    # "visual" and "cortex" stand side by side here, but are two terms
    both = Query("visual cortex").mentions(shard).tolist()
    assert both == total[:, 1].toarray().ravel().tolist()
    row = shard.table()[0]
    assert (row["id"], row["title"], row["year"]) == ("0", "T0", 2000)


def test_a_corpus_with_neither_text_nor_counts_is_refused(tmp_path):
    peaks = peaks_table(pd.DataFrame(columns=["id", "x", "y", "z"]))
    Corpus(documents_table([{"id": "1"}]), peaks).save(tmp_path / "corpus")
    with pytest.raises(CorpusError, match="no texts"):
        list(iter_source(tmp_path / "corpus", "folder"))


def test_columns_are_left_out_and_what_was_read_is_not_sent_along(model, source, tmp_path):
    (shard,) = open_here([source], tmp_path / "cache").shards
    counts = shard.vectors(model.extractor_).toarray()
    without = shard.vectors_without(model.extractor_, np.array([0, 3])).toarray()
    assert not without[:, [0, 3]].any()
    assert np.array_equal(without[:, [1, 2, 4]], counts[:, [1, 2, 4]])
    size = len(pickle.dumps(shard))
    _ = shard.words, len(shard)
    assert len(pickle.dumps(shard)) == size


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
def test_what_was_made_of_the_documents_is_made_again(model, source, tmp_path, damage):
    (shard,) = open_here([source], tmp_path / "cache").shards
    vectors, words = shard.vectors(model.extractor_), shard.words
    for path in shard.folder.glob("*.npz"):
        if ".documents." in path.name:
            continue
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        content = {"cut": data[: len(data) // 2], "flip": data, "empty": b"", "gone": b""}[damage]
        path.write_bytes(content)
        if damage == "gone":
            path.unlink()
    (again,) = open_here([source], tmp_path / "cache").shards
    assert np.array_equal(again.vectors(model.extractor_).toarray(), vectors.toarray())
    assert again.words.words == words.words
    assert np.array_equal(again.words.counts.toarray(), words.counts.toarray())


def test_a_full_disk_is_one_line_and_leaves_no_half_file(source, tmp_path, monkeypatch):
    def full(stream, **arrays):
        stream.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OutputError, match=r"cannot write .*No space left on device"):
        open_here([source], tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_library_that_is_stopped_at_any_moment_is_cut_to_its_end(model, tmp_path):
    source = write_records(tmp_path / "few.jsonl", make_records(8))

    def index():
        for shard in open_here([source], tmp_path / "cache").shards:
            _ = shard.words, shard.vectors(model.extractor_)

    for _ in crashes(index):
        assert len(ids(open_here([source], tmp_path / "cache"))) == 8
        (folder,) = (tmp_path / "cache").iterdir()
        assert not list(folder.glob(".*"))
        index()
        assert len(list(folder.glob("*.npz"))) == 3
        shutil.rmtree(tmp_path / "cache")


def test_copies_of_texts_are_for_their_owner_alone(source, tmp_path):
    library = open_here([source], tmp_path / "cache")
    assert library.folder.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_cannot_be_written_is_one_line(source, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write to"):
        open_here([source], tmp_path / "file" / "cache")


def test_small_files_are_read_together_and_large_ones_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_BYTES", 250)
    for number, size in enumerate([100, 100, 100, 900, 20]):
        (tmp_path / f"{number}.txt").write_text("x" * size)
    parts = find_parts([tmp_path])
    assert [[file.stem for file in part.files] for part in parts] == [
        ["0", "1"],
        ["2"],
        ["3"],
        ["4"],
    ]
    assert [part.number for part in parts] == [0, 1, 2, 3]


def test_the_front_is_title_abstract_and_keywords_or_the_first_words(tmp_path):
    shard = Shard(tmp_path, 0, 0)
    long = " ".join(f"w{n}" for n in range(400))
    sections = [
        {"title": "Kuru", "abstract": "a", "keywords": "k", "body": "chorea chorea"},
        {"body": long},
        {"title": "Only a title"},
    ]
    shard.write([Document(str(n), each) for n, each in enumerate(sections)])
    fronts = shard.front.read_texts(np.arange(3))
    assert fronts[0] == "Kuru\n\na\n\nk"
    assert fronts[1].split() == long.split()[:300]
    assert Query("chorea").mentions(shard).tolist() == [2, 0, 0]
    assert Query("chorea").mentions(shard.front).tolist() == [0, 0, 0]
    assert Query("kuru").mentions(shard.front).tolist() == [1, 0, 0]
    assert shard.front.sizes.tolist() == [[5, 1], [400, 1], [3, 0]]
    again = Shard(tmp_path, 0, 0)  # from the file
    assert again.front.words.lengths.tolist() == [3, 300, 3]
