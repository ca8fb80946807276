"""Tags: the phrases of a text that the tables know, each with the row that it comes from.

Cues and hedges are found in the words as they stand, the longest at each place; words have classes
("being", "stop", "lesion") by the table of words. No level after this one compares words.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from neurowhere.text.reading.document import Document
from neurowhere.text.reading.tables import (
    TEXT,
    Column,
    Row,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)
from neurowhere.text.words import fold

DIRECTIONS = one_of("ahead back beside object both not except clause idle")
# What a cue speaks of: anything, places alone, or what is wrong alone.
TARGETS = one_of("any places findings", is_required=False)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "direction": DIRECTIONS,
    "target": TARGETS,
    "only": one_of("foreign", is_required=False),
}
HEDGES = CUES
WORDS: dict[str, Column] = {"class": TEXT, "words": TEXT}


class Tag(NamedTuple):
    """Some tokens of a text and the row of a table that they are."""

    first: int
    end: int
    row: Row

    @property
    def direction(self) -> str:
        """Where what it speaks of stands."""
        return self.row["direction"]

    @property
    def is_open(self) -> bool:
        """Whether it leaves open rather than denies."""
        return self.row.table == "hedges"


@cache
def cues() -> tuple[Row, ...]:
    """Rows of the cues and of the hedges."""
    read = (read_table(__package__, name, CUES) for name in ("cues", "hedges"))
    return tuple(row for rows in read for row in rows)


@cache
def _trie(is_foreign: bool) -> Trie[Row]:
    kept = [row for row in cues() if (row["only"] == "foreign") == is_foreign]
    return Trie(
        (phrase, row)
        for row in sorted(kept, key=lambda row: row.table)  # the same phrase denies first
        for item in split(row["words"])
        for phrase in alternatives(item)
    )


@cache
def classes() -> Mapping[str, frozenset[str]]:
    """Classes of words, by the word."""
    found: dict[str, set[str]] = {}
    for row in read_table(__package__, "words", WORDS):
        for word in row["words"].split():
            found.setdefault(word, set()).add(row["class"])
    return {word: frozenset(some) for word, some in found.items()}


NOTHING = frozenset[str]()


def class_of(word: str) -> frozenset[str]:
    """Return the classes of a word, or those of its singular."""
    known = classes()
    found = known.get(word)
    return known.get(fold(word), NOTHING) if found is None else found


def find_cues(document: Document, *, is_foreign: bool = False) -> list[Tag]:
    """Return the cues and hedges of a text, the longest at each place, none across sentences."""
    return [Tag(*found) for found in _within_sentences(document, _trie(is_foreign))]


def _within_sentences(document: Document, trie: Trie[Row]) -> Iterator[tuple[int, int, Row]]:
    starts: Iterable[int] = document.sentence_starts
    stops = frozenset(starts)
    for first, end, row in trie.find(document.words):
        if end == first + 1 or stops.isdisjoint(range(first + 1, end)):
            yield first, end, row
