"""Folders and files under faults: a process that is killed, a full disk, a second writer."""

import errno
import os
import signal
import stat
from pathlib import Path

import pytest
from tests.studies import make_corpus
from tests.tools.crashes import in_another_process, kill_this_process

from neurowhere._tools.files import INFO_NAME, added_files, new_file, new_folder
from neurowhere._tools.replacement import locked, sole_writer
from neurowhere.corpus.folder import write as write_corpus
from neurowhere.evaluate.scores import Ledger
from neurowhere.exceptions import OutputError


def test_a_lock_that_a_disk_keeps_at_first_is_removed(tmp_path, monkeypatch):
    unlink, refusals = Path.unlink, [OSError(errno.EIO, "Input/output error")]

    def refuse_once(path, missing_ok=False):
        if refusals and path.suffix == ".lock":
            raise refusals.pop()
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse_once)
    with new_file(tmp_path / "a") as stream:
        stream.write("a")
    assert not refusals
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def write_and_be_killed(folder: Path, **options):
    with new_folder(folder, **options) as temporary:
        (temporary / "half").write_text("a")
        kill_this_process()


def test_what_a_killed_process_left_is_no_output_and_is_removed_by_the_next(tmp_path):
    target = tmp_path / "out"
    assert in_another_process(lambda: write_and_be_killed(target)) == -signal.SIGKILL
    leftovers = sorted(path.name for path in tmp_path.iterdir())
    assert all(name.startswith(".out-") for name in leftovers)
    assert [Path(name).suffix for name in leftovers] == [".lock", ".part"]
    with new_folder(target) as temporary:
        (temporary / "whole").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_is_whole_until_it_is_replaced(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / INFO_NAME).touch()
    in_another_process(lambda: write_and_be_killed(target, overwrite=True))
    assert [path.name for path in target.iterdir()] == [INFO_NAME]
    with new_folder(target, overwrite=True) as temporary:
        (temporary / "new").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in target.iterdir()] == ["new"]


def test_files_go_to_a_folder_whole_and_instead_of_stale_ones(tmp_path):
    for name in ("kept", "stale-1", "replaced"):
        (tmp_path / name).write_text("old")

    def half():
        with added_files(tmp_path, instead_of="stale-*") as temporary:
            (temporary / "replaced").write_text("half")
            kill_this_process()

    assert in_another_process(half) == -signal.SIGKILL
    assert {(tmp_path / name).read_text() for name in ("kept", "stale-1", "replaced")} == {"old"}
    with added_files(tmp_path, instead_of="stale-*") as temporary:
        (temporary / "replaced").write_text("new")
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"kept": "old", "replaced": "new"}


def test_a_folder_that_is_moved_aside_and_not_replaced_comes_back(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.mkdir()
    (target / INFO_NAME).touch()
    rename = Path.rename

    def fail_in_the_end(path, to):
        if Path(to) == target and path.suffix == ".part":
            raise OSError(5, "Input/output error")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", fail_in_the_end)
    with (
        pytest.raises(OutputError, match="Input/output error"),
        new_folder(target, overwrite=True) as temporary,
    ):
        (temporary / "new").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in target.iterdir()] == [INFO_NAME]


def test_of_two_writers_of_a_folder_the_first_to_end_wins(tmp_path):
    target = tmp_path / "out"

    def write(name):
        with new_folder(target) as temporary:
            (temporary / name).touch()

    def both():
        with new_folder(target) as temporary:
            (temporary / "slow").touch()
            write("fast")  # leaves the temporary folder of the other alone

    with pytest.raises(OutputError, match="exists and is not empty"):
        both()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in target.iterdir()] == ["fast"]


def test_two_writers_of_a_file_do_not_mix(tmp_path):
    target = tmp_path / "table.csv"
    with new_file(target) as first:
        first.write("first\n" * 9000)
        with new_file(target) as second:
            second.write("second\n")
        assert target.read_text() == "second\n"
    assert target.read_text() == "first\n" * 9000
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_what_a_killed_writer_of_a_file_left_is_removed_by_the_next(tmp_path):
    def write_and_be_killed():
        with new_file(tmp_path / "table.csv") as stream:
            stream.write("a")
            stream.flush()
            kill_this_process()

    in_another_process(write_and_be_killed)
    (tmp_path / ".table.csv-mine").touch()  # not one of ours
    with new_file(tmp_path / "table.csv") as stream:
        stream.write("b")
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", ".table.csv-mine"}


def test_a_second_process_is_refused_a_folder_that_grows(tmp_path):
    def come_second():
        with sole_writer(tmp_path):
            pass

    with sole_writer(tmp_path):
        assert in_another_process(come_second, OutputError) == 3
        with pytest.raises(OutputError, match="another process is writing"):
            come_second()
    come_second()
    assert not list(tmp_path.iterdir())  # no lock is left


@pytest.mark.parametrize("leftover", [None, ".info.json-0a1b2c3d.part", ".lock"])
def test_a_comparison_that_was_killed_at_its_very_start_begins_again(tmp_path, leftover):
    folder = tmp_path / "out"
    folder.mkdir()
    if leftover:
        (folder / leftover).write_text("{")
    with sole_writer(folder):
        assert Ledger(folder, {}, {}).finished() == set()
    assert {path.name for path in folder.iterdir()} == {"info.json", "scores.csv"}


def test_a_comparison_says_what_it_is_before_it_has_scores(tmp_path, monkeypatch):
    monkeypatch.setattr(Ledger, "_mend", lambda ledger: kill_this_process())
    in_another_process(lambda: Ledger(tmp_path / "out", {}, {}))
    monkeypatch.undo()
    assert Ledger(tmp_path / "out", {}, {}).finished() == set()


def test_a_lock_ends_with_its_process(tmp_path):
    def hold_and_be_killed():
        with locked(tmp_path / "lock"):
            kill_this_process()

    in_another_process(hold_and_be_killed)
    assert (tmp_path / "lock").exists()
    with locked(tmp_path / "lock") as is_ours:
        assert is_ours
    assert not (tmp_path / "lock").exists()


def test_where_nothing_can_be_locked_files_are_written_all_the_same(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    leftover = tmp_path / ".out-0a1b2c3d.part"
    leftover.touch()
    with new_folder(tmp_path / "out") as temporary:
        (temporary / "a").touch()
    assert (tmp_path / "out" / "a").exists()
    assert leftover.exists()  # perhaps of a process that lives


def test_permissions_are_those_of_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        with new_folder(tmp_path / "out") as folder, new_file(folder / "table.csv") as stream:
            stream.write("text of a patient")
    finally:
        os.umask(before)
    assert mode(tmp_path / "out") == 0o700
    assert mode(tmp_path / "out" / "table.csv") == 0o600
    with new_folder(tmp_path / "other") as folder, new_file(folder / "table.csv") as stream:
        stream.write("of no patient")
    assert mode(tmp_path / "other") == 0o777 & ~before
    assert mode(tmp_path / "other" / "table.csv") == 0o666 & ~before


@pytest.mark.parametrize("content", [None, INFO_NAME])
def test_what_was_private_stays_private(tmp_path, content):
    (tmp_path / "out").mkdir(mode=0o700)
    if content:
        (tmp_path / "out" / content).touch(mode=0o600)
    with new_folder(tmp_path / "out", overwrite=True) as folder:
        (folder / "b").touch()
    assert mode(tmp_path / "out") == 0o700
    (tmp_path / "table.csv").touch(mode=0o600)
    with new_file(tmp_path / "table.csv", overwrite=True) as stream:
        stream.write("b")
    assert mode(tmp_path / "table.csv") == 0o600


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / INFO_NAME).touch()
    (tmp_path / "out").symlink_to("disk")
    (tmp_path / "table.csv").symlink_to("disk.csv")
    with new_folder(tmp_path / "out", overwrite=True) as folder:
        (folder / "new").touch()
    with new_file(tmp_path / "table.csv") as stream:
        stream.write("a")
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["new"]
    assert (tmp_path / "disk.csv").read_text() == "a"
    assert (tmp_path / "out").is_symlink()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_of_others_is_not_replaced(tmp_path):
    (tmp_path / "thesis.txt").touch()
    with (
        pytest.raises(OutputError, match="neurowhere did not write it"),
        new_folder(tmp_path, overwrite=True),
    ):
        pass
    assert (tmp_path / "thesis.txt").exists()


def test_the_current_folder_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for folder in (".", tmp_path / "here", ".."):
        with (
            pytest.raises(OutputError, match="holds the current folder"),
            new_folder(folder, overwrite=True),
        ):
            pass


def test_the_root_of_a_disk_is_not_replaced():
    with pytest.raises(OutputError, match="a disk is mounted"), new_folder("/", overwrite=True):
        pass


def test_on_a_full_disk_nothing_is_left(tmp_path):
    resource = pytest.importorskip("resource")  # not on Windows

    def write_on_a_full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # bytes of a file
        write_corpus(make_corpus(50), tmp_path / "corpus")

    assert in_another_process(write_on_a_full_disk, OutputError) == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder where nothing can be made")
def test_a_folder_where_nothing_can_be_made_is_refused_at_once():
    with pytest.raises(OutputError, match="cannot write"), new_folder("/proc/out"):
        pass
