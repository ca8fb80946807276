"""Lists: files of terms, categories and synonyms, as rows of text."""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TextIO

from neurowhere._tools.files import bare_suffix, open_text
from neurowhere.exceptions import VocabularyError

HEADER = ["term", "category", "synonyms"]
SEPARATOR = "|"  # between synonyms


@contextmanager
def open_list(path: Path) -> Iterator[TextIO]:
    """Open a list of names; a file that cannot be read or parsed becomes a `VocabularyError`."""
    try:
        with open_text(path) as stream:
            yield stream
    except OSError as error:
        raise VocabularyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, csv.Error) as error:  # ValueError: damaged, or not JSON
        raise VocabularyError(f"cannot read {path}: {error}") from error


def read_rows(path: Path) -> list[list[str]]:
    """Read rows of term, category and synonyms, the last two where the file has them."""
    with open_list(path) as stream:
        if bare_suffix(path) != ".csv":
            return [[line.strip()] for line in stream if line.strip()]
        rows = [row for row in csv.reader(stream, strict=True) if row]
    if rows and rows[0][0] == HEADER[0]:
        return _columns(path, rows[0], rows[1:])
    if all(len(row) == 2 and _is_number(row[1]) for row in rows):
        return [row[:1] for row in rows]
    raise VocabularyError(f"{path} has no header {','.join(HEADER)}; add it, or name the file .txt")


def _columns(path: Path, header: list[str], rows: list[list[str]]) -> list[list[str]]:
    if unknown := set(header) - set(HEADER):
        raise VocabularyError(
            f"{path} has the column {min(unknown)!r}; expected {', '.join(HEADER)}"
        )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise VocabularyError(
                f"{path}, row {number}: {len(row)} fields where the header has {len(header)}"
            )
    places = [header.index(name) if name in header else None for name in HEADER]
    return [["" if place is None else row[place] for place in places] for row in rows]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_mapping(path: Path) -> dict[str, str]:
    """Read a JSON object of synonyms, each with the term that it stands for."""
    with open_list(path) as stream:
        mapping = json.load(stream)
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):
        raise VocabularyError(f"{path} should hold a JSON object of synonym: term")
    return mapping


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a CSV file that has at least these columns and one row."""
    with open_list(path) as stream:
        rows = list(csv.DictReader(stream))
    if not rows or not set(columns) <= set(rows[0]):
        raise VocabularyError(f"{path} should have the columns {', '.join(columns)}")
    return rows


def shipped_lines(package: str, name: str) -> list[str]:
    """Read the lines of a file that a package of this one carries."""
    return (files(package) / name).read_text(encoding="utf-8").splitlines()


def shipped_table(package: str, name: str) -> list[dict[str, str]]:
    """Read the rows of a CSV file that a package of this one carries."""
    return list(csv.DictReader(shipped_lines(package, name)))
