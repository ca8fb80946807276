"""Work on many texts or places: what is done survives Ctrl-C, and failures are told and counted."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import typer

from neurowhere.exceptions import NeurowhereError, one_line

MOST_TOLD = 20  # failures, one a line; the table has them all
SIGNALLED = 128  # what a signal adds to its number, for the exit code


class Tally:
    """Counts what became of many texts or places, and keeps what is done when a signal comes.

    `what` is (one, many, participle): ("text", "texts", "encoded"). A run that `goes_on` can be
    repeated to do the rest.
    """

    def __init__(
        self,
        what: tuple[str, str, str],
        error: type[NeurowhereError],
        *,
        goes_on: bool = False,
        keep_going: bool = False,
    ) -> None:
        self.what, self.error, self.goes_on, self.keep_going = what, error, goes_on, keep_going
        self.signal = 0  # number of the signal that stopped the work
        self.n_seen = self.n_kept = self.n_failed = self.n_unmapped = self.n_told = 0
        self._is_undisturbed = False
        self._untold: list[str] = []  # a failure, as long as it may be that of the only text

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Go on to the end, or until Ctrl-C or SIGTERM: what is done then is kept."""
        try:
            with ExitStack() as stack:
                for number in _heeded_signals():
                    stack.callback(signal.signal, number, signal.signal(number, self._stop))
                yield
        except KeyboardInterrupt:
            self.signal = self.signal or signal.SIGINT

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Let a signal wait until a piece of work is done and counted."""
        self._is_undisturbed = True
        try:
            yield
        finally:
            self._is_undisturbed = False

    def _stop(self, number: int, _: object) -> None:
        self.signal = number
        if not self._is_undisturbed:
            raise KeyboardInterrupt

    def keep(self) -> None:
        """Count one that an earlier run has done."""
        self.n_kept += 1
        self._see(1)

    def add(self, n: int, failed: Iterable[tuple[str, str]], n_unmapped: int = 0) -> None:
        """Count n of them; `failed` has the names and problems of those that failed."""
        for name, problem in failed:
            self.n_failed += 1
            is_named = problem.startswith((f"{name} ", f"{name}:"))
            self._untold.append(problem if is_named else f"{name}: {problem}")
        self.n_unmapped += n_unmapped
        self._see(n)

    def _see(self, n: int) -> None:
        self.n_seen += n
        if self.n_seen > 1:
            for problem in self._untold[: MOST_TOLD - self.n_told]:
                typer.echo(f"neurowhere: {one_line(problem)}", err=True)
                self.n_told += 1
            self._untold.clear()
        if self.signal:  # it has waited, or its interruption was lost, in a finaliser say
            raise KeyboardInterrupt

    def refuse_nothing(self) -> None:
        """Raise an error if nothing came of the work."""
        if not self.n_seen:
            self._end_as_stopped()
        if self.n_seen == self.n_failed == 1:
            raise self.error(*self._untold)
        if self.n_failed == self.n_seen:
            _, many, participle = self.what
            raise self.error(f"none of the {self.n_seen:,} {many} could be {participle}; see above")

    def end(self, path: Path | None) -> None:
        """Tell what was done, and end with the exit code that says so."""
        if (more := self.n_failed - self.n_told) > 0:
            words = f"neurowhere: and {more:,} more, in the column problem of the table"
            typer.echo(words, err=True)
        if path is not None:
            typer.echo(f"{path}: {self}")
        self._end_as_stopped()
        if self.n_failed and not self.keep_going:
            words = f"{self.n_failed:,} of {self.n_seen:,} {self.what[1]} failed; see above"
            raise self.error(words)

    def _end_as_stopped(self) -> None:
        if self.signal:
            raise typer.Exit(SIGNALLED + self.signal)

    def __str__(self) -> str:
        one, many, participle = self.what
        n_done = self.n_seen - self.n_failed - self.n_kept
        told = f"{n_done:,} {one if n_done == 1 else many} {participle}"
        told += f" ({self.n_unmapped:,} without a map), " if self.n_unmapped else ", "
        told += f"{self.n_kept:,} kept from before, " * bool(self.n_kept)
        told += f"{self.n_failed:,} not"
        told += "; stopped before the end" * bool(self.signal)
        return told + ", run again to go on" * bool(self.signal and self.goes_on)


def _heeded_signals() -> list[signal.Signals]:
    """Return the signals that end a command; none in a thread, or if they are ignored."""
    if threading.current_thread() is not threading.main_thread():
        return []
    both = (signal.SIGINT, signal.SIGTERM)
    return [number for number in both if signal.getsignal(number) is not signal.SIG_IGN]
