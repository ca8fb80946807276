"""Many texts encoded: a row of a table, or a folder, for each; some may fail."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from neurowhere._tools.files import new_file
from neurowhere.cli.encode import Options, write_folder
from neurowhere.exceptions import OutputError, TextError

if TYPE_CHECKING:
    import pandas as pd

    from neurowhere.inputs import Failure, Text
    from neurowhere.model.encoder import Encoder
    from neurowhere.report.tables import Pair, RowMaker

ROWS_AT_ONCE = 64
LONGEST_NAME = 80  # characters of the name of a text's folder
TABLE_NAME = "table.csv"
NUMBERS = "%.6g"
STOPPED = 130  # exit code of what Ctrl-C ends


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
    pairs = encode_items(model, track(found, "encoding"), **options.reading)
    maker = RowMaker(options.atlas, all_regions, with_text=sentences and options.with_text)
    if output is None:
        _write_table(maker, pairs, table, options)
    else:
        _write_folders(maker, pairs, output, options)


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
                _append(table, stream, options.as_json, header=not tally.n_seen)
                tally.add(table)
        tally.refuse_nothing()  # before the file is there
    if path is not None:
        typer.echo(f"{path}: {tally}")
    tally.exit_if_stopped()


def _append(table: "pd.DataFrame", stream: TextIO, as_json: bool, *, header: bool) -> None:
    """Write rows, all at once, so that none is cut where the work is stopped."""
    if as_json:
        text = table.to_json(None, orient="records", lines=True, force_ascii=False)
    else:
        text = table.to_csv(
            None, index=False, header=header, float_format=NUMBERS, lineterminator="\n"
        )
    stream.write(text)


def _write_folders(
    maker: "RowMaker", pairs: "Iterator[Pair]", output: Path, options: Options
) -> None:
    """Write a folder for each text, and a table of all; what was written stays, come what may."""
    if output.is_dir() and any(output.iterdir()) and not options.overwrite:
        raise OutputError(f"{output} is not empty; choose another folder, or add --overwrite")
    tally = Tally()
    names: dict[str, int] = {}
    with (
        _gone_if_empty(output),
        new_file(output / TABLE_NAME, overwrite=options.overwrite) as stream,
    ):
        with tally.until_stopped():
            for item, outcome in pairs:
                folder = ""
                if not isinstance(outcome, str):
                    folder = _folder_name(item.name, names)
                    write_folder(outcome, output / folder, item.name, options)
                table = maker.table([(item, outcome)])
                table.insert(1, "folder", folder)
                _append(table, stream, as_json=False, header=not tally.n_seen)
                tally.add(table)
        tally.refuse_nothing()
    typer.echo(f"{output / TABLE_NAME}: {tally}")
    tally.exit_if_stopped()


@contextmanager
def _gone_if_empty(folder: Path) -> Iterator[None]:
    """Remove a folder into which nothing was written after all."""
    try:
        yield
    finally:
        with suppress(OSError):  # not empty, or never made
            folder.rmdir()


def _folder_name(name: str, taken: dict[str, int]) -> str:
    """Name for a folder: without what file systems refuse, and not that of another text."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:LONGEST_NAME] or "text"
    taken[plain] = taken.get(plain, 0) + 1
    return plain if taken[plain] == 1 else f"{plain}-{taken[plain]}"


class Tally:
    """What became of the texts of a batch; failures are told as they come."""

    def __init__(self) -> None:
        self.n_seen = self.n_failed = 0
        self.stopped = False

    def add(self, table: "pd.DataFrame") -> None:
        """Count rows, and tell of those that have a problem."""
        self.n_seen += len(table)
        failed = table[table["problem"].notna()]
        self.n_failed += len(failed)
        for name, problem in zip(failed["id"], failed["problem"], strict=True):
            typer.echo(f"neurowhere: {name}: {problem}", err=True)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Go on to the end, or until the user stops it: what is done then is kept."""
        try:
            yield
        except KeyboardInterrupt:
            self.stopped = True

    def exit_if_stopped(self) -> None:
        """End as a command does that was stopped."""
        if self.stopped:
            raise typer.Exit(STOPPED)

    def refuse_nothing(self) -> None:
        """Refuse a batch of which nothing came."""
        if self.n_failed == self.n_seen:
            raise TextError(f"none of the {self.n_seen:,} texts could be encoded; see above")

    def __str__(self) -> str:
        told = f"{self.n_seen - self.n_failed:,} texts encoded, {self.n_failed:,} not"
        return f"{told}; stopped before the end" if self.stopped else told
