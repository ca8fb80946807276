"""Many texts encoded: a row of a table, or a folder, for each; some may fail."""

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from neurowhere._tools.files import new_file
from neurowhere.cli.encode import Options
from neurowhere.cli.folders import TABLE_NAME, Shelf, held, rows_of_csv
from neurowhere.exceptions import TextError, one_line

if TYPE_CHECKING:
    import pandas as pd

    from neurowhere.inputs import Failure, Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.report.tables import Pair, RowMaker

ROWS_AT_ONCE = 64
SIGNALLED = 128  # what a signal adds to its number, for the exit code


def encode_texts(
    sources: list[str],
    options: Options,
    *,
    output: Path | None,
    table: Path | None,
    sentences: bool,
    all_regions: bool,
    column: str | None = None,
) -> None:
    """Encode texts as they come, or their sentences, into folders or into a table."""
    from neurowhere._tools.parallel import track
    from neurowhere.inputs import iter_texts
    from neurowhere.model.store import load_model
    from neurowhere.report.tables import RowMaker, encode_items

    model = load_model(options.model)
    found = iter_texts(sources, column=column)
    if sentences:
        found = _split(found, model)
    found = track(found, "encoding")
    maker = RowMaker(
        options.atlas, all_regions, with_text=sentences and options.with_text, sort=options.sort
    )
    if output is None:
        _write_table(maker, encode_items(model, found, **options.reading), table, options)
    else:
        _write_folders(model, maker, found, output, options)


def _split(found: "Iterable[Text | Failure]", model: "Encoder") -> "Iterator[Text | Failure]":
    """Cut texts into sentences."""
    from neurowhere.inputs import Text, split_sentences

    for item in found:
        if isinstance(item, Text):
            yield from split_sentences(item, model.extractor_.counter)
        else:
            yield item


def _write_table(
    maker: "RowMaker", pairs: "Iterator[Pair]", path: Path | None, options: Options
) -> None:
    """Write a row for each text, as CSV or as JSON lines."""
    tally = Tally()
    target = new_file(path, overwrite=options.overwrite) if path else nullcontext(sys.stdout)
    with target as stream:
        with tally.until_stopped():
            while some := list(islice(pairs, ROWS_AT_ONCE)):
                table = maker.table(some)
                _append(table, stream, options, header=not tally.n_seen)
                tally.add(table)
        tally.refuse_nothing()  # before the file is there
    tally.end(path, options.keep_going)


def _append(table: "pd.DataFrame", stream: TextIO, options: Options, *, header: bool) -> None:
    """Write rows, all at once, so that none is cut where the work is stopped."""
    if options.as_json:
        text = table.to_json(None, orient="records", lines=True, force_ascii=False)
    else:
        text = rows_of_csv(table, options, header=header)
    stream.write(text)


def _write_folders(
    model: "Encoder",
    maker: "RowMaker",
    found: "Iterable[Text | Failure]",
    output: Path,
    options: Options,
) -> None:
    """Write a folder for each text, and a table of all; what was written stays, come what may."""
    from neurowhere.model.text_model import CHUNK_ENCODED
    from neurowhere.report.tables import encode_items

    tally = Tally(goes_on=True)
    with held(output, options.overwrite):
        with closing(Shelf.open(output, maker, options)) as shelf, tally.until_stopped():
            jobs = map(shelf.job, found)
            while some := list(islice(jobs, CHUNK_ENCODED)):
                todo = [job.item for job in some if not job.is_done]
                pairs = encode_items(model, todo, **options.reading)
                for job in some:
                    if job.is_done:
                        tally.keep()
                        continue
                    tally.add(shelf.write(job, next(pairs)))
        tally.refuse_nothing()
    tally.end(output / TABLE_NAME, options.keep_going)


# ---- what became of them


class Tally:
    """What became of the texts of a batch; failures are told as they come."""

    def __init__(self, goes_on: bool = False) -> None:
        self.goes_on = goes_on  # whether a second run does the rest
        self.n_seen = self.n_kept = self.n_failed = 0
        self.signal = 0  # that stopped the batch
        self._untold: list[str] = []  # a failure, as long as it may be that of the only text

    def keep(self) -> None:
        """Count a text that an earlier run has encoded."""
        self.n_kept += 1
        self._see(1)

    def add(self, table: "pd.DataFrame") -> None:
        """Count rows, and tell of those that have a problem."""
        failed = table[table["problem"].notna()]
        self.n_failed += len(failed)
        for name, problem in zip(failed["id"], failed["problem"], strict=True):
            self._untold.append(problem if problem.startswith(name) else f"{name}: {problem}")
        self._see(len(table))

    def _see(self, n_texts: int) -> None:
        self.n_seen += n_texts
        if self.n_seen > 1:
            for problem in self._untold:
                typer.echo(f"neurowhere: {one_line(problem)}", err=True)
            self._untold.clear()
        if self.signal:  # whose interruption was lost, in a finaliser for instance
            raise KeyboardInterrupt

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Go on to the end, or until Ctrl-C or SIGTERM: what is done then is kept."""
        with ExitStack() as stack:
            for number in _heeded_signals():
                stack.callback(signal.signal, number, signal.signal(number, self._stop))
            try:
                yield
            except KeyboardInterrupt:
                self.signal = self.signal or signal.SIGINT

    def _stop(self, number: int, _: object) -> None:
        self.signal = number
        raise KeyboardInterrupt

    def refuse_nothing(self) -> None:
        """Refuse a batch of which nothing came."""
        if self.signal and not self.n_seen:
            raise typer.Exit(SIGNALLED + self.signal)
        if self.n_seen == self.n_failed == 1:
            raise TextError(*self._untold)
        if self.n_failed == self.n_seen:
            raise TextError(f"none of the {self.n_seen:,} texts could be encoded; see above")

    def end(self, path: Path | None, keep_going: bool) -> None:
        """Tell what was done, and end with the exit code that says so."""
        if path is not None:
            typer.echo(f"{path}: {self}")
        if self.signal:
            raise typer.Exit(SIGNALLED + self.signal)
        if self.n_failed and not keep_going:
            raise TextError(f"{self.n_failed:,} of {self.n_seen:,} texts failed; see above")

    def __str__(self) -> str:
        told = f"{self.n_seen - self.n_failed - self.n_kept:,} texts encoded, "
        told += f"{self.n_kept:,} kept from before, " * bool(self.n_kept)
        told += f"{self.n_failed:,} not"
        told += "; stopped before the end" * bool(self.signal)
        return told + ", run again to go on" * bool(self.signal and self.goes_on)


def _heeded_signals() -> list[signal.Signals]:
    """Return the signals that end a command; not in a thread, and none that it is to ignore."""
    if threading.current_thread() is not threading.main_thread():
        return []
    both = (signal.SIGINT, signal.SIGTERM)
    return [number for number in both if signal.getsignal(number) is not signal.SIG_IGN]
