"""Every writer, stopped before every change that it makes: the old output or the new is there."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.studies import make_corpus
from tests.tools.crashes import crashes, in_another_process, stop_before, visible

from neurowhere._tools.files import new_file, new_folder
from neurowhere._tools.replacement import recover
from neurowhere.corpus import download
from neurowhere.corpus.folder import read, write
from neurowhere.evaluate.compare import Examples
from neurowhere.evaluate.scores import COLUMNS, Ledger
from neurowhere.evaluate.trial import Score

MEMORY = Path("/dev/shm")  # a disk on which nothing waits
OLD, NEW = {"out/info.json": "old", "out/b/c": "old"}, {"out/info.json": "new", "out/d/e": "new"}


@pytest.fixture
def disk() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Path(folder)


def write_folder(place: Path, files: dict[str, str]) -> None:
    with new_folder(place / "out", overwrite=True) as folder:
        for name, text in files.items():
            path = folder / Path(name).relative_to("out")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)


def write_file(place: Path, files: dict[str, str]) -> None:
    with new_file(place / "out", overwrite=True) as stream:
        stream.write(files["out/info.json"])


def fail(place: Path) -> None:
    """Start to write, as a next command would, and end with an error."""
    with pytest.raises(ZeroDivisionError), new_folder(place / "out", overwrite=True):
        _ = 1 / 0


def begin_again(place: Path, write=None, files=None) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    if files is not None:
        write(place, files)


@pytest.mark.parametrize("before", [None, OLD], ids=["new", "replaced"])
def test_a_folder_is_never_lost(disk, before):
    place = disk / "place"
    begin_again(place, write_folder, before)
    seen = []
    for _ in crashes(lambda: write_folder(place, NEW)):
        assert visible(place) in ({}, before or {}, NEW)
        fail(place)
        seen.append(visible(place))
        assert seen[-1] in (before or {}, NEW)
        assert {path.name for path in place.iterdir()} <= {"out"}
        write_folder(place, NEW)
        assert visible(place) == NEW
        begin_again(place, write_folder, before)
    assert NEW in seen
    assert (before or {}) in seen


def test_a_folder_is_not_lost_by_a_second_crash_either(disk):
    place, kept = disk / "place", disk / "kept"
    begin_again(place, write_folder, OLD)
    tried = 0
    for _ in crashes(lambda: write_folder(place, NEW)):
        if list(place.glob(".*.old")):
            shutil.copytree(place, kept)
            for _ in crashes(lambda: recover(place)):
                recover(place)
                assert visible(place) in (OLD, NEW)
                assert len(list(place.iterdir())) == 1
                begin_again(place)
                shutil.copytree(kept, place, dirs_exist_ok=True)
                tried += 1
            shutil.rmtree(kept)
        begin_again(place, write_folder, OLD)
    assert tried > 10


@pytest.mark.parametrize("before", [None, OLD], ids=["new", "replaced"])
def test_a_file_is_never_lost(disk, before):
    place = disk / "place"
    begin_again(place, write_file, before)
    states = ({"out": "old"} if before else {}, {"out": "new"})
    for _ in crashes(lambda: write_file(place, NEW)):
        assert visible(place) in states
        recover(place, "out")
        assert visible(place) in states
        assert {path.name for path in place.iterdir()} <= {"out"}
        begin_again(place, write_file, before)


def test_what_is_restored_is_whole_even_if_the_folder_was_removed_since(disk):
    place = disk / "place"
    begin_again(place, write_folder, OLD)
    seen = []
    for _ in crashes(lambda: write_folder(place, NEW)):
        shutil.rmtree(place / "out", ignore_errors=True)
        recover(place)
        seen.append(visible(place))
        begin_again(place, write_folder, OLD)
    assert all(files in ({}, OLD, NEW) for files in seen)
    assert OLD in seen


def test_a_reader_finds_a_corpus_that_a_crash_took_away(disk):
    folder = disk / "corpus"
    old, new = make_corpus(20), make_corpus(30)
    write(old, folder)
    missing = 0
    for _ in crashes(lambda: write(new, folder, overwrite=True)):
        missing += not folder.exists()
        assert len(read(folder)) in (20, 30)
        recover(disk)
        assert [path.name for path in disk.iterdir()] == ["corpus"]
        write(old, folder, overwrite=True)
    assert missing > 0


def score(fold: int) -> Score:
    numbers = dict.fromkeys(COLUMNS[3:], 1.5) | {"studies": 4, "peaks": 12}
    return Score(fold, "a", "l1", **numbers, warning="")


def test_scores_that_were_added_are_never_lost(disk):
    folder = disk / "out"
    maps = np.ones((1, 3), np.float32)
    examples = Examples("a", "l1", ("best",), np.array([0]), np.array([1.0]), maps, maps)

    def go_on():
        ledger = Ledger(folder, {"seed": 1}, {})
        fold = len(ledger.finished())
        ledger.add(score(fold))
        (disk / "added").write_text(str(fold + 1))
        ledger.tidy()
        examples.save(folder)
        ledger.seal()

    (disk / "added").write_text("0")
    for _ in crashes(go_on):
        added = int((disk / "added").read_text() or "0")
        ledger = Ledger(folder, {"seed": 1}, {})
        assert added <= len(ledger.finished()) <= added + 1
        assert not list(folder.glob(".*"))
        shutil.rmtree(folder)
        (disk / "added").write_text("0")
    assert Examples.load(folder, "a", "l1") is not None


def test_a_download_is_whole_or_goes_on(disk, monkeypatch):
    release = download.Release("http://nowhere", "CC0", dict.fromkeys(("a", "b")))

    def retrieve(url, known, name, folder):
        if not (folder / name).exists():
            (folder / f".{name}").write_text(name)
            (folder / f".{name}").rename(folder / name)

    monkeypatch.setattr(download, "_retrieve", retrieve)
    folder = disk / "place" / "corpus"
    folder.parent.mkdir()
    for _ in crashes(lambda: download.fetch(release, folder)):
        if folder.exists():
            download.verify(folder)
        download.fetch(release, folder)
        download.verify(folder, release.files)
        assert [path.name for path in folder.parent.iterdir()] == ["corpus"]
        shutil.rmtree(folder)


# ---- power cuts


def path_of(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())


proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks into /proc")


@proc
def test_a_folder_is_on_the_disk_before_it_has_its_name(disk, monkeypatch):
    done = []
    fsync, rename = os.fsync, Path.rename

    def note_fsync(descriptor):
        done.append(("flush", path_of(descriptor)))
        fsync(descriptor)

    def note_rename(path, to):
        done.append(("rename", str(to)))
        return rename(path, to)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "rename", note_rename)
    write_folder(disk, NEW)
    named = done.index(("rename", str(disk / "out")))
    (part,) = {path for what, path in done[:named] if path.endswith(".part")}
    flushed = [path for what, path in done[:named] if what == "flush"]
    assert set(flushed) >= {part, f"{part}/info.json", f"{part}/d", f"{part}/d/e"}
    assert done[named + 1] == ("flush", str(disk))


@proc
def test_a_file_is_on_the_disk_before_it_has_its_name(disk, monkeypatch):
    done = []
    fsync, replace = os.fsync, Path.replace

    def note_fsync(descriptor):
        done.append((path_of(descriptor), os.fstat(descriptor).st_size))
        fsync(descriptor)

    def note_replace(path, to):
        done.append(("rename", to))
        return replace(path, to)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    write_file(disk, {"out/info.json": "x" * 100})
    part, named, folder = done
    assert part[0].endswith(".part")
    assert part[1] == 100
    assert named == ("rename", disk / "out")
    assert folder[0] == str(disk)


def test_the_crash_is_one(disk):
    code = in_another_process(lambda: (stop_before(1), (disk / "a").mkdir()))
    assert code < 0
    assert not (disk / "a").exists()


@pytest.mark.linux
def test_writers_of_one_folder_do_not_disturb_each_other(disk):
    def write_often(text):
        for _ in range(40):
            write_folder(disk, {"out/info.json": text, "out/b": text})

    children = []
    for text in ("one", "two", "three"):
        child = os.fork()
        if not child:
            code = 1
            try:
                write_often(text)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert len(set(visible(disk).values())) == 1
    assert [path.name for path in disk.iterdir()] == ["out"]
