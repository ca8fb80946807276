"""Tables: the rows that the reader's rules are, read with a schema that refuses what it lacks.

A phrase may have alternatives in braces: "{free|clear} of". Each row has an identifier, by which an
answer names the row that made it: "cues:absence-of".
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_table

IDENTIFIER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
T = TypeVar("T")
VALUE = ""  # key of what a phrase stands for: no word is empty
NO_VALUES: Mapping[str, Any] = {}
ALONE, FIRST, SECOND = 1, 2, 4  # signs of a word: it is a phrase, begins one, is second in one


@dataclass(frozen=True, eq=False)
class Row:
    """A row of a table: where it is, and its cells by the names of the columns."""

    id: str
    table: str
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    @property
    def name(self) -> str:
        """Name of the row in answers: "cues:absence-of"."""
        return f"{self.table}:{self.id}"


@dataclass(frozen=True)
class Column:
    """What a column of a table may hold: anything, or one of some values."""

    values: frozenset[str] | None = None
    is_required: bool = True

    def problem(self, cell: str) -> str | None:
        """Return what is wrong with a cell; None if nothing is."""
        if not cell:
            return "is empty" if self.is_required else None
        if self.values is None or cell in self.values:
            return None
        return f"has {cell!r}, expected one of {sorted(self.values)}"


def one_of(values: str, *, is_required: bool = True) -> Column:
    """Return a column of which each cell is one of some words."""
    return Column(frozenset(values.split()), is_required)


TEXT, OPTIONAL = Column(), Column(is_required=False)


def read_table(package: str, name: str, schema: Mapping[str, Column]) -> list[Row]:
    """Read the rows of a table that the package carries, or raise a ValueError for a wrong one."""
    return check_rows(name, shipped_table(package, f"{name}.csv"), schema)


def check_rows(
    name: str, lines: Iterable[Mapping[str, str]], schema: Mapping[str, Column]
) -> list[Row]:
    """Return the rows of a table as its schema has them; the first line is number 2."""
    rows: list[Row] = []
    known: set[str] = set()
    for number, cells in enumerate(lines, 2):
        place = f"{name}.csv, line {number}"
        if list(cells) != list(schema) or None in cells.values():
            raise ValueError(f"{place}: expected the columns {', '.join(schema)}, found {cells}")
        for column, cell in cells.items():
            if problem := schema[column].problem(cell):
                raise ValueError(f"{place}: column {column!r} {problem}")
        identifier = cells.get("id", str(number))
        if not IDENTIFIER.fullmatch(identifier) or identifier in known:
            raise ValueError(f"{place}: {identifier!r} is no identifier, or that of another row")
        known.add(identifier)
        rows.append(Row(identifier, name, dict(cells)))
    return rows


def split(cell: str) -> list[str]:
    """Return the items of a cell that semicolons part."""
    return [item.strip() for item in cell.split(";") if item.strip()]


@cache
def alternatives(words: str) -> tuple[str, ...]:
    """Spell out the phrases that a cell stands for.

    >>> alternatives("{free|clear} of"), alternatives("spar{ed|ing}")
    (('free of', 'clear of'), ('spared', 'sparing'))
    """
    parts = [part.split("|") for part in re.split(r"[{}]", words)]
    return tuple(" ".join("".join(choice).split()) for choice in product(*parts))


class Phrases(Generic[T]):
    """Phrases of several tables, the longest of each table found in one pass over a text.

    >>> phrases = Phrases({"cues": [("no", 1), ("no longer", 2)], "places": [("longer", 3)]})
    >>> phrases.find("no longer".split(), frozenset())
    {'cues': [(0, 2, 2)], 'places': [(1, 2, 3)]}
    """

    def __init__(self, tables: Mapping[str, Iterable[tuple[str, T]]]) -> None:
        self._tables, self._root = tuple(tables), dict[str, Any]()
        for table, phrases in tables.items():
            for phrase, value in phrases:
                node = self._root
                for word in phrase.split():
                    node = node.setdefault(word, {})
                node.setdefault(VALUE, {}).setdefault(table, value)
        self._second = frozenset(chain.from_iterable(self._root.values())) - {VALUE}

    def signs_of(self, word: str) -> int:
        """Return whether a word is a phrase, begins a longer one, and is the second word of one."""
        node = self._root.get(word, NO_VALUES)
        is_first = len(node) > (VALUE in node)
        return ALONE * (VALUE in node) | FIRST * is_first | SECOND * (word in self._second)

    def find(
        self, words: Sequence[str], stops: Container[int] = (), starts: Iterable[int] | None = None
    ) -> dict[str, list[tuple[int, int, T]]]:
        """Return the phrases of each table; none goes on across one of some stops."""
        found: dict[str, list[tuple[int, int, T]]] = {table: [] for table in self._tables}
        for first in range(len(words)) if starts is None else starts:
            node = self._root.get(words[first])
            if node is None:
                continue
            best: dict[str, tuple[int, int, T]] = {}
            end = first + 1
            while node is not None:
                for table, value in node[VALUE].items() if VALUE in node else ():
                    best[table] = (first, end, value)
                node = node.get(words[end]) if end < len(words) and end not in stops else None
                end += 1
            for table, phrase in best.items():
                if not found[table] or found[table][-1][1] <= first:
                    found[table].append(phrase)
        return found


def may_begin(signs: NDArray[np.intp]) -> list[int]:
    """Return where phrases may begin, by the signs of each word.

    >>> may_begin(np.array([FIRST, SECOND, FIRST, 0, ALONE]))
    [0, 4]
    """
    may = signs & ALONE
    may[:-1] |= (signs[:-1] // FIRST) & (signs[1:] // SECOND) & 1
    return np.flatnonzero(may).tolist()


class Trie(Generic[T]):
    """Phrases and what each stands for, found longest first in a sequence of words.

    >>> trie = Trie([("no", 1), ("no longer", 2), ("insula", 3)])
    >>> trie.find("no longer in the insula".split())
    [(0, 2, 2), (4, 5, 3)]
    """

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._phrases = Phrases({"": phrases})

    def find(
        self, words: Sequence[str], starts: Iterable[int] | None = None
    ) -> list[tuple[int, int, T]]:
        """Return the first word, the word after the last and the value of each phrase found."""
        return self._phrases.find(words, (), starts)[""]
