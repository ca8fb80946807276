"""Tags: the cues and hedges of a text, each with the row that it comes from.

The longest phrase at each place counts, and none goes across sentences. Words have classes by the
table of words (`lexicon`). No level after this one compares words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from neurowhere.text.language import is_foreign
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
from neurowhere.text.relatives import is_research

DIRECTIONS = one_of("ahead back beside measure object both not except clause idle")
# What a cue speaks of: anything, places alone, or what is wrong alone.
TARGETS = one_of("any places findings", is_required=False)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "direction": DIRECTIONS,
    "target": TARGETS,
    "only": one_of("foreign start small sign note", is_required=False),
}
TABLES = ("cues", "hedges")
AHEAD = re.compile(r"(?:^|[\s(\[,;:/-])(?:\?+|\+/-|±)\s?$")  # before a word
LANGUAGE = 10_000  # characters that tell the language of a text


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
        if (row["only"] == "foreign") == is_foreign and row["only"] != "sign"
        for item in split(row["words"])
        for phrase in alternatives(item)
    )


@cache
def first_words() -> frozenset[str]:
    """Return the words that a cue or a hedge begins with: most sentences have none of them."""
    tries = (*map(_trie, TABLES), _trie("cues", is_foreign=True))
    return frozenset[str]().union(*(trie.first_words for trie in tries))


@cache
def words_of_cues() -> frozenset[str]:
    """Return all words of the cues and hedges."""
    return frozenset(
        word
        for table in TABLES
        for row in read_table(__package__, table, CUES)
        if row["only"] not in ("foreign", "sign")
        for item in split(row["words"])
        for phrase in alternatives(item)
        for word in phrase.split()
    )


def find_cues(document: Document, starts: Sequence[int] | None = None) -> list[Tag]:
    """Return the cues and the hedges that begin at some tokens, by default at any.

    Those of other languages are cues in a text that is in one of these.
    """
    found = [Tag(*each) for table in TABLES for each in _trie(table).find(document.words, starts)]
    foreign = _trie("cues", is_foreign=True).find(document.words, starts)
    if foreign and is_foreign(document.text[:LANGUAGE]):
        found += (Tag(*each) for each in foreign)
    signs = find_signs(document) if "?" in document.text or "±" in document.text else []
    return sorted([*_within_sentences(document, found), *signs], key=lambda tag: tag[:2])


@cache
def row_of_sign(sign: str) -> Row:
    """Return the row of a sign that is no word: "?" or "−"."""
    rows = (row for table in TABLES for row in read_table(__package__, table, CUES))
    return next(row for row in rows if row["only"] == "sign" and row["words"] == sign)


def find_signs(document: Document) -> list[Tag]:
    """Return the question marks of a text: "?glioma" asks of what follows, "Glioma?" of it all."""
    gaps, found = document.gaps, list[Tag]()
    starts = document.starts_of_sentences
    signed = [i for i, gap in enumerate(gaps[:-1]) if "?" in gap or "±" in gap or "+/-" in gap]
    for i, gap in zip(signed, map(gaps.__getitem__, signed), strict=True):
        if AHEAD.search(gap) or (i == 0 and gap.strip() == "?"):
            found.append(Tag(i, i, row_of_sign("?")))
    for first, end in document.sentences:
        if gaps[end].startswith(("?", " ?", ")?")) and first in starts:
            found.append(Tag(first, first, row_of_sign("…?")))
    return found


def _within_sentences(document: Document, tags: Iterable[Tag]) -> Iterator[Tag]:
    starts = frozenset(document.sentence_starts)
    inner = document.inner
    for tag in tags:
        is_whole = tag.end == tag.first + 1 or starts.isdisjoint(range(tag.first + 1, tag.end))
        is_placed = tag.row["only"] != "start" or tag.first in starts
        is_placed &= tag.row["only"] != "note" or not is_research(document.text)
        is_placed &= document.gaps[tag.end] != "-" or tag.row["direction"] != "ahead"
        is_placed &= tag.row["only"] != "small" or document.written(tag.first).islower()
        if is_whole and is_placed and tag.first not in inner:
            yield tag
