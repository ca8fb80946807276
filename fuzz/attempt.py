"""One attempt: an input given to a target, and what is wrong with what came of it."""

import resource
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from neurowhere.exceptions import NeurowhereError

MAX_SECONDS = 3.0  # of the processor's time, for one input of at most some 50,000 characters
MAX_GROWTH = 400 << 20  # bytes by which one input may raise the most memory ever used
RSS_UNIT = 1 if sys.platform == "darwin" else 1024

Call = Callable[[bytes], object]


class TooSlow(BaseException):
    """Raised in the middle of an input that takes too long; no handler in between takes it."""


class Finding(NamedTuple):
    """What went wrong, where, and in which words."""

    problem: str
    place: str
    detail: str = ""


def attempt(call: Call, data: bytes) -> Finding | None:
    """Give an input to a target: it may succeed, or raise an error of ours with one line."""
    before = _most_memory()
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        call(data)
    except NeurowhereError as error:
        if len(str(error).splitlines()) != 1:
            return Finding("message of several lines, or of none", _place(error), str(error))
    except TooSlow as error:
        return Finding(f"more than {MAX_SECONDS:g} s", _place(error))
    except Exception as error:
        return Finding(type(error).__name__, _place(error), str(error)[:100])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if _most_memory() - before > MAX_GROWTH:
        return Finding(f"more than {MAX_GROWTH >> 20} MiB", "")
    return None


def _place(error: BaseException) -> str:
    """Innermost lines of the package that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "neurowhere" in Path(frame.filename).parts]
    return " < ".join(
        f"{Path(frame.filename).name}:{frame.lineno}" for frame in (ours or frames)[-2:][::-1]
    )


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End what takes too long; regular expressions are interrupted as well."""
    raise TooSlow


signal.signal(signal.SIGPROF, _interrupt)
