from collections.abc import Iterator
from pathlib import Path

import pytest

from neurowhere.corpus import Document
from neurowhere.corpus.readers.shards import Skipped, find_shards, iter_shards
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
