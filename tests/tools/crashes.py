"""Crashes: work that is stopped before each system call by which it changes the disk."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

CHANGES = {"fcntl.flock", "os.chmod", "os.mkdir", "os.remove", "os.rename", "os.rmdir"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


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


def kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stop_before(step: int) -> None:
    """Kill this process before its `step`-th change of the disk from now on."""
    steps = count(1)

    def watch(event: str, arguments: tuple) -> None:
        opens = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
        if (opens or event in CHANGES) and next(steps) == step:
            kill_this_process()

    fsync = os.fsync  # of which Python tells no one

    def watched(descriptor: int) -> None:
        watch("os.chmod", ())
        fsync(descriptor)

    os.fsync = watched
    sys.addaudithook(watch)


def crashes(work: Callable[[], object]) -> Iterator[int]:
    """Do the work again and again, stopped before its first change, its second, to its end."""
    for step in count(1):
        code = in_another_process(lambda step=step: (stop_before(step), work()))
        if code == 0:
            assert step > 5, "the work changes the disk"
            return
        assert code == -signal.SIGKILL
        yield step


def visible(folder: Path) -> dict[str, str]:
    """Read the files of a folder and of those in it, but for hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_text("latin-1")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    }
