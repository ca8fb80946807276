from pathlib import Path

import pytest

from neurowhere.corpus import read_corpus
from neurowhere.exceptions import CorpusError, DataWarning


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
