"""Places: points, tables of peaks and maps that a user hands over, one or many of them."""

import csv
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import expanded, open_text
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.corpus.readers.tables import DELIMITERS
from neurowhere.exceptions import CorpusError, DataWarning

__all__ = ["BY_ROW", "NamedPlace", "iter_maps", "iter_points", "read_peaks"]

AXES = ("x", "y", "z")
MAP_SUFFIXES = (".nii", ".nii.gz")
BY_ROW, ID = "row", "id"
SEPARATORS = re.compile(r"[,;\s]+")
MOST_TOLD, SHOWN = 10, 60  # rows that a message names, and characters of one


class NamedPlace(NamedTuple):
    """A place to decode, what it is called, and why it cannot be read, if it cannot."""

    name: str
    place: Any  # (n, 3) array in MNI mm, or the path of a map
    problem: str | None = None


def read_peaks(path: Path, *, keep_going: bool = False) -> NDArray[np.float64]:
    """Read coordinates from a table: its columns x, y, z, or its only three; (n, 3).

    With `keep_going`, rows without three numbers are left out, with a warning.
    """
    peaks = _read_peaks(path)
    bad = peaks.problems
    if bad and not keep_going:
        raise CorpusError(f"{path}: {_joined(bad.values())}; mend that, or add --keep-going")
    if bad:
        warnings.warn(f"{path}: {_joined(bad.values())}; left out", DataWarning, stacklevel=2)
    return np.delete(peaks.xyz_mm, list(bad), axis=0)


def iter_points(
    path: Path, by: str = BY_ROW, *, talairach: bool = False, keep_going: bool = False
) -> Iterator[NamedPlace]:
    """Yield the places of a table of points: each row, or all rows that share a value.

    `by` is "row" or the name of a column. A place with a row that has no three numbers has a
    problem, which names its line; with `keep_going`, it has the rest of its rows, with a warning.
    """
    peaks = _read_peaks(path)
    if not set(AXES) <= set(peaks.header):
        raise CorpusError(
            f"expected columns named x, y and z in {path}; it has {', '.join(peaks.header)}"
        )
    points = talairach_to_mni(peaks.xyz_mm) if talairach else peaks.xyz_mm
    for name, rows in _groups(peaks.table, by, path).items():
        good = points[np.setdiff1d(rows, list(peaks.problems))]
        problem = _joined(filter(None, map(peaks.problems.get, rows)))
        if problem and not (keep_going and len(good)):
            yield NamedPlace(name, None, problem)
            continue
        if problem:
            warnings.warn(f"{name}: {problem}; left out", DataWarning, stacklevel=2)
        yield NamedPlace(name, good)


class _Peaks(NamedTuple):
    """A table of peaks: all of its cells, and the coordinates that they hold."""

    header: list[str]
    table: pd.DataFrame  # text cells, without the header
    xyz_mm: NDArray[np.float64]  # (n, 3)
    problems: dict[int, str]  # message by row number


def _read_peaks(path: Path) -> _Peaks:
    rows = _read_rows(path)
    header = [name.strip('"').lower() for name in rows[0][1]]
    has_names = set(AXES) <= set(header)
    rows = rows[has_names:]
    names = header if has_names else list(AXES)
    places, width, table = list(map(names.index, AXES)), len(names), []
    xyz_mm, problems = np.full((len(rows), len(AXES)), np.nan), dict[int, str]()
    for number, (line, cells) in enumerate(rows):
        table.append([*cells, *[""] * width][:width])
        some = [table[-1][i] for i in places]
        is_longer = len(cells) > width
        with suppress(ValueError):
            xyz_mm[number] = [cell.strip('"') for cell in some]
        if is_longer or not np.isfinite(xyz_mm[number]).all():
            told = ", ".join(map(repr, cells if is_longer else some))
            problems[number] = f"line {line:,}: expected three numbers, got {shorten(told, SHOWN)}"
    if len(problems) == len(rows):
        raise CorpusError(
            f"expected rows of three numbers, or columns named x, y and z, in {path}; "
            f"its first row is {', '.join(header)}"
        )
    return _Peaks(header, pd.DataFrame(table, columns=names, dtype=str), xyz_mm, problems)


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Read the cells of a table, each row with its line; empty lines are none.

    Cells are parted as those of the first line are, most often; if it has no comma, semicolon or
    tab, by any of these and by spaces.
    """
    try:
        with open_text(path) as stream:
            cut = _cut(stream.read())
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CorpusError(f"cannot read peaks from {path}: {reason}") from error
    rows = [(line, _without_empty_end([cell.strip() for cell in row])) for line, row in cut if row]
    if not rows:
        raise CorpusError(f"cannot read peaks from {path}: it is empty")
    return rows


def _cut(text: str) -> list[tuple[int, list[str]]]:
    first = text.lstrip().partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    if delimiter in first:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [(reader.line_num, row) for row in reader]
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return [(number, SEPARATORS.split(line)) for number, line in lines if line]


def _without_empty_end(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells = cells[:-1]
    return cells


def _joined(problems: Iterable[str]) -> str:
    """Return problems in one line; of many the first ones."""
    told = list(problems)
    more = f"; and {len(told) - MOST_TOLD:,} more" if len(told) > MOST_TOLD else ""
    return "; ".join(told[:MOST_TOLD]) + more


def _groups(table: pd.DataFrame, by: str, path: Path) -> dict[str, list[int]]:
    """Return the rows of each place, by name."""
    if by == BY_ROW:
        ids = table[ID] if ID in table else pd.Series(range(1, len(table) + 1)).astype(str)
        if ids.duplicated().any():  # a name for each row
            ids = ids + ":" + pd.Series(range(1, len(table) + 1)).astype(str)
    elif by.lower() in table:
        ids = table[by.lower()]
    else:
        raise CorpusError(
            f"expected a column {by!r} in {path}; it has {', '.join(table.columns)}: name one of "
            f"these, or {BY_ROW!r}"
        )
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(ids.fillna("")):
        groups.setdefault(str(name).strip(), []).append(number)
    return groups


def iter_maps(sources: Iterable[str]) -> Iterator[NamedPlace]:
    """Yield maps, called by their paths: NIfTI files, and those in folders."""
    for source in sources:
        path = expanded(source)
        if not path.is_dir():
            yield NamedPlace(_without_suffix(source), str(path))
            continue
        found = [file for file in sorted(path.rglob("*")) if is_map(file.name)]
        if not found:
            raise CorpusError(f"expected NIfTI images (.nii, .nii.gz) in {path}; there are none")
        for file in found:
            name = file.relative_to(path).as_posix()
            yield NamedPlace(_without_suffix(name), str(file))


def is_map(name: str) -> bool:
    """Return whether a file is called like a map.

    >>> [is_map(name) for name in ("a.nii.gz", "A.NII", "a.csv", "._a.nii")]
    [True, True, False, False]
    """
    return name.lower().endswith(MAP_SUFFIXES) and not Path(name).name.startswith(".")


def _without_suffix(name: str) -> str:
    suffix = next((each for each in MAP_SUFFIXES[::-1] if name.lower().endswith(each)), "")
    return name[: len(name) - len(suffix)]
