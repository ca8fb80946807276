"""Crashes: work that is killed, or told of a broken disk, at each change that it makes of the disk.

Changes are counted where Python makes them: files opened for writing, each write to such a file,
fsync, renames, removals, folders made, permissions and locks.
"""

import builtins
import errno
import io
import mmap
import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

CHANGES = {
    "fcntl.flock",
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
}
IN_FOLDERS = {"os.chmod", "os.mkdir", "os.remove", "os.rmdir"}  # or in one that is open
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
DESCRIPTORS = Path("/proc/self/fd")


def in_another_process(work: Callable[[], object], expected: type[Exception] = ZeroDivisionError):
    """Run in a copy of this process; return its exit code, or minus the signal that ended it.

    The code is 3 if the work ends with the expected error, 1 with another one.
    """
    if not hasattr(os, "fork"):
        pytest.skip("copies this process")
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except expected:
            code = 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_this_process(change: str = "") -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def break_the_disk(change: str) -> None:
    """Say what a system says of a disk that cannot be written or read."""
    raise OSError(errno.EIO, os.strerror(errno.EIO))


# ---- what changes the disk


class WatchedFile(io.FileIO):
    """A file each of whose writes is told before it is made."""

    tell_of: Callable[[str], None]

    def write(self, data) -> int:
        self.tell_of("write")
        return super().write(data)


def watch(told: Callable[[str], None], place: Path | None = None) -> None:
    """Tell of each change of the disk before it is made, for the rest of this process.

    With a place, only of changes below it.
    """
    fsync, plain_open = os.fsync, io.open

    def tell(event: str, path: object, folder: int = -1) -> None:
        if place is None or path_of(path, folder).is_relative_to(place):
            told(event)

    def audit(event: str, arguments: tuple) -> None:
        if event == "open":
            if isinstance(arguments[2], int) and arguments[2] & WRITING:
                tell(event, arguments[0])
        elif event in CHANGES:
            tell(event, arguments[0], arguments[-1] if event in IN_FOLDERS else -1)

    def watched_fsync(descriptor: int) -> None:
        tell("fsync", descriptor)
        fsync(descriptor)

    def watched_open(
        file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True,
        opener=None,
    ):  # fmt: skip
        if not set(mode) & set("wax+"):
            return plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw = WatchedFile(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        raw.tell_of = lambda event: tell(event, file)
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        stream = (io.BufferedRandom if "+" in mode else io.BufferedWriter)(raw, size)
        if "b" in mode:
            return stream
        text = io.TextIOWrapper(stream, encoding, errors, newline, buffering == 1)
        text.mode = mode
        return text

    os.fsync = watched_fsync
    io.open = builtins.open = watched_open
    sys.addaudithook(audit)


def path_of(path: object, folder: int = -1) -> Path:
    """Return the path of a file that is named, open, or named in an open folder."""
    if isinstance(path, int):
        return (DESCRIPTORS / str(path)).readlink()
    name = Path(os.fsdecode(path))
    if folder is not None and folder >= 0 and not name.is_absolute():
        name = (DESCRIPTORS / str(folder)).readlink() / name
    return Path.cwd() / name


# ---- faults


def fault_at(
    step: int, fault: Callable[[str], None] = kill_this_process, place: Path | None = None
) -> None:
    """Let a fault come before the `step`-th change of the disk from now on."""
    steps = count(1)

    def told(event: str) -> None:
        if next(steps) == step:
            fault(event)

    watch(told, place)


def stop_before(step: int) -> None:
    """Kill this process before its `step`-th change of the disk from now on."""
    fault_at(step)


def crashes(work: Callable[[], object]) -> Iterator[int]:
    """Do the work again and again, stopped before its first change, its second, to its end."""
    for step in count(1):
        code = in_another_process(lambda step=step: (stop_before(step), work()))
        if code == 0:
            assert step > 5, "the work changes the disk"
            return
        assert code == -signal.SIGKILL
        yield step


def changes_of(
    run: Callable[[Callable[[], None]], object],
    place: Path | None = None,
    before_each: Callable[[], object] = lambda: None,
) -> list[str]:
    """Run work once, in a copy of this process, and return the changes that it makes, in order.

    Parameters
    ----------
    run : callable
        Runs the work in a copy of this process, in which it calls its argument first.
    place : Path, optional
        Folder below which changes count.
    before_each : callable
        Called in the copy before each change.
    """
    with mmap.mmap(-1, MOST_BYTES) as shared:  # a copy writes to the same memory

        def told(event: str) -> None:
            before_each()
            shared.write(f"{event}\n".encode())

        run(lambda: watch(told, place))
        return shared[:].rstrip(b"\0").decode().split()


MOST_BYTES = 1 << 20


def visible(folder: Path) -> dict[str, str]:
    """Read the files of a folder and of those in it, but for hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_text("latin-1")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    }


def hidden(folder: Path) -> list[str]:
    """Name the hidden files and folders in a folder and in those in it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))
