"""Tags: the cues and hedges of a text, each with the row that it comes from.

The longest phrase at each place counts, and none goes across sentences. Words have classes by the
table of words (`lexicon`). No level after this one compares words.
"""

from collections.abc import Iterator
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

DIRECTIONS = one_of("ahead back beside measure object both not except clause idle")
# What a cue speaks of: anything, places alone, or what is wrong alone.
TARGETS = one_of("any places findings", is_required=False)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "direction": DIRECTIONS,
    "target": TARGETS,
    "only": one_of("foreign start", is_required=False),
}
TABLES = ("cues", "hedges")


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
def _trie(table: str, *, is_foreign: bool = False) -> Trie[Row]:
    return Trie(
        (phrase, row)
        for row in read_table(__package__, table, CUES)
        if (row["only"] == "foreign") == is_foreign
        for item in split(row["words"])
        for phrase in alternatives(item)
    )


@cache
def first_words(*, is_foreign: bool = False) -> frozenset[str]:
    """Return the words that a cue or a hedge begins with: most sentences have none of them."""
    words = (_trie(table, is_foreign=False).first_words for table in TABLES)
    foreign = _trie("cues", is_foreign=True).first_words if is_foreign else frozenset[str]()
    return frozenset(foreign.union(*words))


def find_cues(document: Document, starts: list[int], *, is_foreign: bool = False) -> list[Tag]:
    """Return the cues and the hedges that begin at some tokens, each table by itself."""
    tries = [_trie(table) for table in TABLES]
    if is_foreign:
        tries.append(_trie("cues", is_foreign=True))
    found = (Tag(*each) for trie in tries for each in trie.find(document.words, starts))
    return sorted(_within_sentences(document, found), key=lambda tag: tag[:2])


def _within_sentences(document: Document, tags: Iterator[Tag]) -> Iterator[Tag]:
    starts = frozenset(document.sentence_starts)
    inner = document.inner
    for tag in tags:
        is_whole = tag.end == tag.first + 1 or starts.isdisjoint(range(tag.first + 1, tag.end))
        is_placed = tag.row["only"] != "start" or tag.first in starts
        if is_whole and is_placed and tag.first not in inner:
            yield tag
