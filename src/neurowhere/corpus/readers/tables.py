"""Tables of texts, CSV or TSV: one document per row, streamed."""

import csv
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from neurowhere._tools.files import open_text
from neurowhere.corpus.documents import Document
from neurowhere.corpus.readers.files import Skipped, find_shards, iter_shards
from neurowhere.corpus.readers.jsonl import TEXT_KEYS, document_from_record, only_text
from neurowhere.exceptions import CorpusError

NAME = "table"
SUFFIXES = (".csv", ".tsv")
DELIMITERS = ",;\t"
SEPARATOR_LINE = re.compile(r"sep=.\n?", re.IGNORECASE)
# The csv module takes cells of up to 128 KiB, and has one limit for the whole process; a full
# text in a cell can be longer. A cell that is longer than this has a quote that is not closed.
MAX_CELL_CHARACTERS = 1 << 26


def detects(path: Path) -> bool:
    """Return whether the file, or a file of the folder, is named as CSV or TSV."""
    return bool(find_shards(path, SUFFIXES))


def iter_documents(
    path: Path, *, column: str | None = None, skipped: Skipped | None = None
) -> Iterator[Document]:
    """Yield the documents of a table, or of a folder of tables; bad rows are skipped.

    Parameters
    ----------
    path : Path
    column : str, optional
        Name of the column of the whole text; other texts are then ignored.
    skipped : Skipped, optional
        Where rows that cannot be read are told.

    Yields
    ------
    Document
    """
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    wanted = None if column is None else column.strip().lower()
    read = partial(_read_rows, column=wanted)
    yield from iter_shards(path, SUFFIXES, read, skipped or Skipped("rows"))


def _read_rows(path: Path, skipped: Skipped, column: str | None) -> Iterator[Document]:
    with open_text(path) as stream:
        header = stream.readline()
        if SEPARATOR_LINE.fullmatch(header):  # which Excel reads, and no table has
            header = stream.readline()
        delimiter = max(DELIMITERS, key=header.count)
        columns = _read_header(path, header, delimiter, column)
        for number, row in _iter_rows(path, stream, delimiter, skipped):
            place = f"{path.name}:{number}"
            try:
                document = _read_row(columns, row, place, column)
            except ValueError as error:
                skipped.add(place, error)
            else:
                yield document


def _iter_rows(
    path: Path, stream: TextIO, delimiter: str, skipped: Skipped
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row below the header, with the number of its last line.

    A quotation mark that is not closed takes the lines below into its cell, up to the next one or
    to the end of the file. These lines are counted as not read.
    """
    lines = _Lines(stream)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        before = rows.line_num
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            n_lines = rows.line_num - before
            if n_lines > 1 or lines.are_over:
                first, last = before + 2, rows.line_num + 1
                which = f"{n_lines:,} lines, {first} to {last}, are" if n_lines > 1 else "it is"
                reason = f"a quotation mark is not closed; {which} not read"
                skipped.add(f"{path.name}:{first}", reason, n_lines)
                continue
            row = next(csv.reader([lines.last], delimiter=delimiter))  # as it is written
        if row:
            yield rows.line_num + 1, row


class _Lines:
    """The lines of a file, of which the last one is remembered."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._lines = iter(stream)
        self.last = ""
        self.are_over = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            self.last = next(self._lines)
        except StopIteration:
            self.are_over = True
            raise
        return self.last


def _read_header(path: Path, header: str, delimiter: str, column: str | None) -> list[str]:
    columns = [name.strip().lower() for name in next(csv.reader([header], delimiter=delimiter), [])]
    if column is not None:
        if column not in columns:
            raise CorpusError(
                f"{path}: expected a column {column}; "
                f"the columns are {', '.join(columns) or 'none'}; name one of them"
            )
        return columns
    if not set(columns).intersection(TEXT_KEYS):
        raise CorpusError(
            f"{path}: expected a column of text named {', '.join(TEXT_KEYS)}; "
            f"the columns are {', '.join(columns) or 'none'}; rename the one with the text"
        )
    return columns


def _read_row(columns: list[str], row: list[str], place: str, column: str | None) -> Document:
    if len(row) != len(columns):
        raise ValueError(f"expected {len(columns)} cells, not {len(row)}")
    # An empty cell is a missing value; "text" stays, so that an empty row is an empty document.
    cells = {name: cell for name, cell in zip(columns, row, strict=True) if cell}
    if column is not None:
        cells = only_text({column: "", **cells}, column)
    return document_from_record({"text": "", **cells}, fallback_id=place)
