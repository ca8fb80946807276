from collections.abc import Iterator
from pathlib import Path

import pytest

from neurowhere.corpus import Document, read_corpus
from neurowhere.corpus.readers.files import Skipped, find_shards, iter_shards
from neurowhere.exceptions import CorpusError, DataWarning


def test_shards_are_found_by_suffix_and_sorted(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt.gz", "c.csv", ".d.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.txt").mkdir()
    assert [file.name for file in find_shards(tmp_path, (".txt",))] == ["a.txt.gz", "b.txt"]
    assert find_shards(tmp_path / "b.txt", (".txt",)) == [tmp_path / "b.txt"]
    assert find_shards(tmp_path / "c.csv", (".txt",)) == []


def test_skipped_says_only_the_first_places() -> None:
    skipped = Skipped("lines")
    for line in range(1, 1235):
        skipped.add(f"a:{line}", "bad")
    assert skipped.summary(n_read=1) == (
        "skipped 1,234 of 1,235 lines (a:1: bad; a:2: bad; a:3: bad; ...)"
    )


def test_nothing_skipped_is_nothing_said() -> None:
    Skipped("lines").report(0)


def test_shards_that_all_fail_are_an_error(tmp_path: Path) -> None:
    def fail(path: Path, _: Skipped) -> Iterator[Document]:
        raise CorpusError(f"{path.name} is bad")
        yield

    for name in "ab":
        (tmp_path / f"{name}.txt").touch()
    with pytest.raises(CorpusError, match=r"skipped 2 of 2 files \(a.txt: a.txt is bad"):
        list(iter_shards(tmp_path, (".txt",), fail))


def test_what_was_read_before_the_damage_is_kept(tmp_path: Path) -> None:
    def read(path: Path, _: Skipped) -> Iterator[Document]:
        yield Document(path.name, {})
        if path.name == "a.txt":
            raise CorpusError("torn")

    for name in "ab":
        (tmp_path / f"{name}.txt").touch()
    with pytest.warns(DataWarning, match=r"skipped 1 of 2 files \(a.txt: torn\)"):
        ids = [document.id for document in iter_shards(tmp_path, (".txt",), read)]
    assert ids == ["a.txt", "b.txt"]


# ---- plain text


def test_one_file_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("Lesion of the left thalamus.\n", encoding="utf-8")
    corpus = read_corpus(tmp_path / "report.txt")
    assert corpus.documents["id"].tolist() == ["report.txt"]
    assert corpus.texts == ["Lesion of the left thalamus."]
    assert len(corpus.peaks) == 0


def test_a_folder_skips_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.md").write_text("b")
    (tmp_path / "c.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (tmp_path / "d.txt").write_bytes(b"text\0text")
    (tmp_path / ".hidden.txt").write_text("no")
    (tmp_path / "e.png").write_text("no")
    with pytest.warns(DataWarning, match=r"skipped 2 of 4 files \(c.txt: .*UTF-8.*; d.txt: .*NUL"):
        assert read_corpus(tmp_path).texts == ["a", "b"]


def test_a_binary_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"text\0text")
    with pytest.raises(CorpusError, match="is not text"):
        read_corpus(tmp_path / "d.txt")


def test_an_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "secret.txt")

    (tmp_path / "secret.txt").write_text("x")
    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("neurowhere._tools.files.open", refuse, raising=False)
    with pytest.raises(CorpusError, match=r"cannot read secret.txt: Permission denied"):
        read_corpus(tmp_path / "secret.txt")
