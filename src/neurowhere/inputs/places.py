"""Places: points, tables of peaks and maps that a user hands over, one or many of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import expanded, open_text
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.corpus.readers.tables import DELIMITERS
from neurowhere.exceptions import CorpusError

__all__ = ["BY_ROW", "NamedPlace", "iter_maps", "iter_points", "read_peaks"]

AXES = ("x", "y", "z")
MAP_SUFFIXES = (".nii", ".nii.gz")
BY_ROW, ID = "row", "id"


class NamedPlace(NamedTuple):
    """A place to decode, and what it is called."""

    name: str
    place: Any  # (n, 3) array in MNI mm, or the path of a map


def read_peaks(path: Path) -> NDArray[np.float64]:
    """Read coordinates from a table: its columns x, y, z, or its only three.

    Parameters
    ----------
    path : Path

    Returns
    -------
    (n, 3)
    """
    table = _read_table(path, sep=r"[,;\s]+", engine="python", header=None)
    header = _names(table.iloc[0])
    if set(AXES) <= set(header):
        table = table.iloc[1:, [header.index(axis) for axis in AXES]]
    return _as_numbers(table, path, header)


def iter_points(path: Path, by: str = BY_ROW, *, talairach: bool = False) -> Iterator[NamedPlace]:
    """Yield the places of a table of points: each row, or all rows that share a value.

    Parameters
    ----------
    path : Path
        CSV, or TSV: columns x, y and z, in mm, and others.
    by : str
        "row", or the name of a column, such as "id". Rows are called by their column id, or by
        their number from 1.
    talairach : bool
        Whether the points are in Talairach space.

    Yields
    ------
    NamedPlace
        In the order in which names come first.
    """
    table = _read_table(path, sep=_delimiter(path))
    table.columns = header = _names(table.columns)
    if not set(AXES) <= set(header):
        raise CorpusError(
            f"expected columns named x, y and z in {path}; it has {', '.join(header)}"
        )
    points = _as_numbers(table[list(AXES)], path, header)
    if talairach:
        points = talairach_to_mni(points)
    for name, rows in _groups(table, by, path).items():
        yield NamedPlace(name, points[rows])


def _delimiter(path: Path) -> str:
    """Return what separates the columns of a table: as many as its first line has, most often."""
    if not path.is_file():
        return ","  # told where it is read
    with open_text(path) as stream:
        return max(DELIMITERS, key=stream.readline().count)


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
    """Yield maps: files, and those in folders, whatever they hold.

    Parameters
    ----------
    sources : iterable of str
        Paths of NIfTI images, and of folders of them.

    Yields
    ------
    NamedPlace
        Called by its path within the folder, or as it was given, without the suffix.
    """
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


def _read_table(path: Path, **options: Any) -> pd.DataFrame:
    try:
        with open_text(path) as stream:
            table: pd.DataFrame = pd.read_csv(stream, dtype=str, **options)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise CorpusError(f"cannot read peaks from {path}: {reason}") from error
    return table


def _names(header: Iterable[Any]) -> list[str]:
    return [str(name).strip().strip('"').lower() for name in header]


def _as_numbers(table: pd.DataFrame, path: Path, header: list[str]) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = table.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    if numbers.shape[1] != len(AXES) or np.isnan(numbers).any() or not len(numbers):
        raise CorpusError(
            f"expected rows of three numbers, or columns named x, y and z, in {path}; "
            f"its first row is {', '.join(header)}"
        )
    return numbers
