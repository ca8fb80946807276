"""Folders and files under faults: a process that is killed, a full disk, a second writer."""

import os
import resource
import signal
from pathlib import Path

import pytest
from tests.studies import make_corpus

from neurowhere._tools.files import locked, new_file, new_folder, sole_writer
from neurowhere.corpus.folder import write as write_corpus
from neurowhere.evaluate.ledger import Ledger
from neurowhere.exceptions import OutputError


def in_another_process(work):
    """Run in a copy of this process; its exit code, or minus the signal that ended it."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except OutputError:
            code = 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_this_process():
    os.kill(os.getpid(), signal.SIGKILL)


def write_and_be_killed(folder: Path, **options):
    with new_folder(folder, **options) as temporary:
        (temporary / "half").write_text("a")
        kill_this_process()


def test_what_a_killed_process_left_is_no_output_and_is_removed_by_the_next(tmp_path):
    target = tmp_path / "out"
    assert in_another_process(lambda: write_and_be_killed(target)) == -signal.SIGKILL
    (leftover,) = tmp_path.iterdir()
    assert leftover.name.startswith(".out-")
    with new_folder(target) as temporary:
        (temporary / "whole").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_is_whole_until_it_is_replaced(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
    in_another_process(lambda: write_and_be_killed(target, overwrite=True))
    assert [path.name for path in target.iterdir()] == ["old"]
    with new_folder(target, overwrite=True) as temporary:
        (temporary / "new").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in target.iterdir()] == ["new"]


def test_a_folder_that_is_moved_aside_and_not_replaced_comes_back(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").touch()
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
    assert [path.name for path in target.iterdir()] == ["old"]


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
        assert in_another_process(come_second) == 3
        with pytest.raises(OutputError, match="another process is writing"):
            come_second()
    come_second()
    with locked(tmp_path) as is_ours:
        assert is_ours


@pytest.mark.parametrize("leftover", [None, ".info.json", ".scores.csv-abcdefgh.part"])
def test_a_comparison_that_was_killed_at_its_very_start_begins_again(tmp_path, leftover):
    folder = tmp_path / "out"
    folder.mkdir()
    if leftover:
        (folder / leftover).write_text("{")
    assert Ledger(folder, {}, {}).finished() == set()


def test_a_comparison_says_what_it_is_before_it_has_scores(tmp_path, monkeypatch):
    monkeypatch.setattr(Ledger, "_mend", lambda ledger: kill_this_process())
    in_another_process(lambda: Ledger(tmp_path / "out", {}, {}))
    monkeypatch.undo()
    assert Ledger(tmp_path / "out", {}, {}).finished() == set()


def test_on_a_full_disk_nothing_is_left(tmp_path):
    def write_on_a_full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # bytes of a file
        write_corpus(make_corpus(50), tmp_path / "corpus")

    assert in_another_process(write_on_a_full_disk) == 3
    assert not list(tmp_path.iterdir())
