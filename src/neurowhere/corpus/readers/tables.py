"""Tables of texts, CSV or TSV: one document per row, streamed.

A folder may hold the peaks in a table of their own: columns x, y, z and an id, no text. They are
joined to the texts by their ids.
"""

import csv
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TextIO

import numpy as np

from neurowhere._tools.files import open_text
from neurowhere.corpus.documents import XYZ, Document, parse_space
from neurowhere.corpus.readers.files import Skipped, find_shards, iter_shards
from neurowhere.corpus.readers.jsonl import (
    ID_KEYS,
    TEXT_KEYS,
    document_from_record,
    identifier,
    only_text,
    parse_peak,
)
from neurowhere.exceptions import CorpusError, DataWarning

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
    """Yield the documents of a table, or of a folder of tables; bad rows are skipped and reported.

    `column` is the name of the column of the whole text; other texts are then ignored.
    """
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    wanted = None if column is None else column.strip().lower()
    skipped = skipped or Skipped("rows")
    peaks = PeakTables.find(path, skipped)
    read = partial(_read_rows, column=wanted, peaks=peaks)
    yield from iter_shards(path, SUFFIXES, read, skipped, without=peaks.files)
    peaks.report()


def _read_rows(
    path: Path, skipped: Skipped, column: str | None, peaks: "PeakTables"
) -> Iterator[Document]:
    with open_text(path) as stream:
        columns, delimiter = _begin(stream)
        _check_header(path, columns, column)
        for number, row in _iter_rows(path, stream, delimiter, skipped):
            place = f"{path.name}:{number}"
            try:
                document = peaks.join(_read_row(columns, row, place, column))
            except ValueError as error:
                skipped.add(place, error)
            else:
                yield document


def _begin(stream: TextIO) -> tuple[list[str], str]:
    """Read the header of a table: its columns, and what is between them."""
    header = stream.readline()
    if SEPARATOR_LINE.fullmatch(header):  # Excel's "sep=" line
        header = stream.readline()
    delimiter = max(DELIMITERS, key=header.count)
    names = next(csv.reader([header], delimiter=delimiter), [])
    return [name.strip().lower() for name in names], delimiter


class PeakTables:
    """The tables of peaks in a folder: peaks by the ids of their documents."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self._peaks: dict[tuple[str, str], list[list[float]]] = {}
        self._spaces: dict[tuple[str, str], str] = {}
        self._joined: set[tuple[str, str]] = set()

    @classmethod
    def find(cls, path: Path, skipped: Skipped) -> "PeakTables":
        """Read the tables of peaks in a folder; a file has none beside it."""
        tables = cls()
        for file in find_shards(path, SUFFIXES) if path.is_dir() else []:
            with suppress(CorpusError, OSError), open_text(file) as stream:  # told by the reader
                columns, delimiter = _begin(stream)
                key = next((name for name in ID_KEYS if name in columns), None)
                is_of_peaks = {*XYZ} <= {*columns} and not {*TEXT_KEYS} & {*columns}
                if key is not None and is_of_peaks:
                    tables.files.append(file)
                    for _, row in _iter_rows(file, stream, delimiter, skipped):
                        tables._add(dict(zip(columns, row, strict=False)), key)
        return tables

    def _add(self, cells: dict[str, str], key: str) -> None:
        name = key, identifier(key, cells.get(key, ""))
        self._peaks.setdefault(name, []).append(parse_peak(cells))
        if space := cells.get("space"):
            self._spaces.setdefault(name, space)

    def join(self, document: Document) -> Document:
        """Give a document the peaks with one of its ids, unless it has peaks of its own."""
        known = {"id": document.id, **document.metadata}
        names = [(key, str(known[key])) for key in ID_KEYS if key in known]
        names += [(key, document.id) for key in ID_KEYS]
        name = next((each for each in names if each in self._peaks), None)
        if name is None or len(document.peaks):
            return document
        self._joined.add(name)
        space = document.space if document.space != parse_space(None) else None
        return replace(
            document,
            peaks=np.array(self._peaks[name]),
            space=space or parse_space(self._spaces.get(name)),
        )

    def report(self) -> None:
        """Warn of peaks whose document has no text; an error if that is so of all."""
        lost = [each for _, each in self._peaks.keys() - self._joined]
        if not lost:
            return
        names = ", ".join(file.name for file in self.files)
        if not self._joined:
            raise CorpusError(
                f"expected the ids of {names} in a table of texts, but none of {len(lost):,} is "
                f"there (such as {min(lost)}); give both tables a column of the same ids"
            )
        warnings.warn(
            f"{len(lost):,} of {len(self._peaks):,} ids of {names} have no text, such as "
            f"{min(lost)}; their peaks are left out",
            DataWarning,
            stacklevel=2,
        )


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
            row = next(csv.reader([lines.last], delimiter=delimiter))  # the line as written
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


def _check_header(path: Path, columns: list[str], column: str | None) -> None:
    if column is not None:
        if column not in columns:
            raise CorpusError(
                f"{path}: expected a column {column}; "
                f"the columns are {', '.join(columns) or 'none'}; name one of them"
            )
    elif not set(columns).intersection(TEXT_KEYS):
        raise CorpusError(
            f"{path}: expected a column of text named {', '.join(TEXT_KEYS)}; "
            f"the columns are {', '.join(columns) or 'none'}; rename the one with the text"
        )


def _read_row(columns: list[str], row: list[str], place: str, column: str | None) -> Document:
    if len(row) != len(columns):
        raise ValueError(f"expected {len(columns)} cells, not {len(row)}")
    # An empty cell is a missing value; "text" stays, so that an empty row is an empty document.
    cells = {name: cell for name, cell in zip(columns, row, strict=True) if cell}
    if column is not None:
        cells = only_text({column: "", **cells}, column)
    return document_from_record({"text": "", **cells}, fallback_id=place)
