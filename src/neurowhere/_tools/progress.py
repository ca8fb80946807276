"""Progress of long work: a bar on stderr, on a terminal, once two seconds have passed."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

__all__ = ["track"]

T = TypeVar("T")
QUIET_SECONDS = 2.0


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; when the work is long, show how many are done and the time left.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    if total is None and isinstance(items, Sized):
        total = len(items)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(description, total=total)
    start = time.monotonic()
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - start > QUIET_SECONDS:
                bar.start()
    finally:
        bar.stop()
