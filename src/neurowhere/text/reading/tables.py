"""Tables: the rows that the reader's rules are, read with a schema that refuses what it lacks.

A phrase may have alternatives in braces: "{free|clear} of". Each row has an identifier, by which an
answer names the row that made it: "cues:absence-of".
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, product
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_table

IDENTIFIER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
T = TypeVar("T")
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
        self._tables = tuple(tables)
        known = [(p.split(), value, name) for name in tables for p, value in tables[name]]
        spelt = [words for words, *_ in known]
        names = sorted(frozenset(chain.from_iterable(spelt)))
        self._ids = dict(zip(names, count(1)))
        self._n_ids = len(names) + 1  # 0 is any other word
        # Nodes by the node before and the word: numbers alone, which collections of garbage skip.
        self._edges: dict[int, int] = {}
        self._values: dict[int, dict[str, T]] = {}
        for words, value, table in known:
            self._values.setdefault(self._node(words), {}).setdefault(table, value)
        self._begun = frozenset(words[0] for words in spelt)
        pairs = [words[:2] for words in spelt if len(words) > 1]
        self._pairs = frozenset(map(" ".join, pairs))
        self._first, self._second = (frozenset(pair[i] for pair in pairs) for i in (0, 1))

    def _node(self, words: Iterable[str]) -> int:
        """Return the node of a phrase, which is made if there is none."""
        node = 0
        for word in words:
            edge = node * self._n_ids + self._ids[word]
            node = self._edges.setdefault(edge, len(self._edges) + 1)
        return node

    def signs_of(self, word: str) -> int:
        """Return whether a word is a phrase, begins a longer one, and is the second word of one."""
        if word not in self._ids:
            return 0
        is_phrase = self._edges.get(self._ids[word], 0) in self._values
        return ALONE * is_phrase | FIRST * (word in self._first) | SECOND * (word in self._second)

    def starts(self, words: Sequence[str], signs: NDArray[np.intp]) -> list[int]:
        """Return where phrases may begin, by the signs of the words.

        >>> Phrases({"": [("no", 1), ("is no", 2)]}).starts(["is", "no"], np.array([FIRST, 5]))
        [0, 1]
        """
        both = np.flatnonzero((signs[:-1] & FIRST != 0) & (signs[1:] & SECOND != 0)).tolist()
        alone: list[int] = np.flatnonzero(signs & ALONE).tolist()
        pairs = [i for i in both if f"{words[i]} {words[i + 1]}" in self._pairs]
        return sorted({*alone, *pairs})

    def find(
        self, words: Sequence[str], stops: Container[int] = (), starts: Iterable[int] | None = None
    ) -> dict[str, list[tuple[int, int, T]]]:
        """Return the phrases of each table; none goes on across one of some stops."""
        found: dict[str, list[tuple[int, int, T]]] = {table: [] for table in self._tables}
        if starts is None:
            starts = [i for i, word in enumerate(words) if word in self._begun]
        for first in starts:
            for table, phrase in self._longest(words, first, stops).items():
                if not found[table] or found[table][-1][1] <= first:
                    found[table].append(phrase)
        return found

    def _longest(
        self, words: Sequence[str], first: int, stops: Container[int]
    ) -> dict[str, tuple[int, int, T]]:
        """Return the longest phrase of each table that begins with a word."""
        ids, edges, values, end = self._ids, self._edges, self._values, first + 1
        node, best = edges.get(ids.get(words[first], 0)), dict[str, tuple[int, int, T]]()
        while node is not None:
            for table, value in values[node].items() if node in values else ():
                best[table] = (first, end, value)
            if end == len(words) or end in stops:
                break
            node = edges.get(node * self._n_ids + ids.get(words[end], 0))
            end += 1
        return best


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
