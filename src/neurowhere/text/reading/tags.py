"""Tags: the phrases of all tables in a text, each with the row that it comes from.

The longest phrase of a table at each place counts, and none goes across sentences. Words have
classes by the table of words (`lexicon`). No level after this one compares words.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from neurowhere.text.language import is_foreign
from neurowhere.text.places import PLACES
from neurowhere.text.reading import lexicon
from neurowhere.text.reading.document import Document
from neurowhere.text.reading.rules import rules
from neurowhere.text.reading.tables import (
    OPTIONAL,
    TEXT,
    Column,
    Phrases,
    Row,
    alternatives,
    one_of,
    read_table,
    split,
)
from neurowhere.text.relatives import is_research

DIRECTIONS = one_of("ahead back beside object both not except clause idle")
# What a cue speaks of: anything, places alone, or what is wrong alone.
TARGETS = one_of("any places findings", is_required=False)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "direction": DIRECTIONS,
    "target": TARGETS,
    "only": one_of("foreign start small sign note ratio", is_required=False),
}
ELSEWHERE: dict[str, Column] = {
    "words": TEXT,
    "before": OPTIONAL,
    "after": OPTIONAL,
    "sentence": OPTIONAL,
}
TABLES = ("cues", "hedges")
LOBES = {"frontal": "gyrus", "temporal": "gyrus", "occipital": "gyrus", "parietal": "lobule"}
AHEAD = re.compile(r"(?:^|[\s(\[,;:/-])(?:\?+|\+/-|±)\s?$")  # before a word
SIDE, HALF, LIMB = 64, 128, 256  # signs of words, beside those of classes and of phrases
LANGUAGE = 10_000  # characters that tell the language of a text
Found = tuple[int, int, Any]  # first token of a phrase, the one after its last, and its value
At = dict[str, list[Found]]


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


def signs_of(word: str) -> int:
    """Return the signs of a word: of its classes, and of the phrases that it is in."""
    classes = lexicon.lexicon()[word]
    signs = _words().get(word, 0) | _phrases().signs_of(word)
    return signs | lexicon.signs_of(classes) if classes else signs


def find_phrases(document: Document) -> At:
    """Return the phrases of all tables, by the table."""
    phrases, words, marks = _phrases(), document.words, document.marks
    starts = None if marks is None else phrases.starts(words, marks)
    at: At = phrases.find(words, document.starts_of_sentences, starts)
    return at


def find_cues(document: Document, at: At | None = None) -> list[Tag]:
    """Return the cues and the hedges of a text; with foreign ones if it is in another language."""
    at = find_phrases(document) if at is None else at
    found = [Tag(*each) for each in at["cues"]]
    if at["foreign"] and is_foreign(document.text[:LANGUAGE]):
        found += (Tag(*each) for each in at["foreign"])
    tags = [tag for tag in found if _is_meant(document, tag)]
    if "?" in document.text or "±" in document.text:
        tags += _signs(document)
    return sorted(tags, key=lambda tag: tag[:2])


def _is_meant(document: Document, tag: Tag) -> bool:
    """Whether a phrase is a cue where it stands: "may" in small letters, not within a name."""
    only = tag.row["only"]
    if tag.first in document.inner or (
        document.gaps[tag.end] == "-" and tag.row["direction"] == "ahead"
    ):
        return False
    if only == "start":
        return tag.first in document.starts_of_sentences
    if only == "ratio":  # "5/5", not "5-/5"
        return document.gaps[tag.first + 1] == "/"
    if only == "note":
        return not is_research(document.text)
    return only != "small" or document.written(tag.first).islower()


def _signs(document: Document) -> Iterator[Tag]:
    """Yield the question marks of a text: "?glioma" asks of what follows, "Glioma?" of it all."""
    gaps = document.gaps
    for i, gap in enumerate(gaps[:-1]):
        is_sign = "?" in gap or "±" in gap or "+/-" in gap
        if is_sign and (AHEAD.search(gap) or (i == 0 and gap.strip() == "?")):
            yield Tag(i, i, row_of_sign("?"))
    for first, end in document.sentences:
        if gaps[end].startswith(("?", " ?", ")?")):
            yield Tag(first, first, row_of_sign("…?"))


# ---- tables


@cache
def _cues() -> tuple[Row, ...]:
    return tuple(row for table in TABLES for row in read_table(__package__, table, CUES))


@cache
def row_of_sign(sign: str) -> Row:
    """Return the row of a sign that is no word: "?" or "−"."""
    return next(row for row in _cues() if row["only"] == "sign" and row["words"] == sign)


def _phrases_of(*only: str) -> Iterator[tuple[str, Row]]:
    return _spelt(row for row in _cues() if row["only"] in only)


def _spelt(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the phrases of some rows."""
    for row in rows:
        for item in split(row["words"]):
            yield from ((phrase, row) for phrase in alternatives(item))


@cache
def words_of_cues() -> frozenset[str]:
    """Return all words of the cues and hedges."""
    phrases = _phrases_of("", "start", "small", "note", "ratio")
    return frozenset(word for phrase, _ in phrases for word in phrase.split())


@cache
def elsewhere_beside() -> dict[str, frozenset[str]]:
    """Return the words of the brain that are of another organ beside others, with those others."""
    beside: dict[str, frozenset[str]] = {}
    for row in read_table(__package__, "elsewhere", ELSEWHERE):
        others = frozenset(split(row["sentence"]))
        for word in split(row["words"]) if others else ():
            beside[word] = beside.get(word, frozenset()) | others
    return beside


def _elsewhere() -> Iterator[tuple[str, str]]:
    """Yield the phrases in which a word of the brain means something else: "parietal pleura"."""
    for row in read_table(__package__, "elsewhere", ELSEWHERE):
        before, after = split(row["before"]), split(row["after"])
        for word in split(row["words"]):
            yield from ((f"{words} {word}", row.name) for words in before)
            for words in after:
                yield from ((f"{word} {words}{ending}", row.name) for ending in ("", "s"))


def _items(table: str, schema: dict[str, Column]) -> Iterator[tuple[str, str]]:
    rows = read_table(__package__, table, schema)
    return ((item, row.name) for row in rows for item in split(row["words"]))


@cache
def _words() -> dict[str, int]:
    """Return the signs of the words at which levels have something to do."""
    sides = ("left", "right", "bilateral", "related", "same-side", "respectively")
    signs = dict.fromkeys(lexicon.words_of(*sides), SIDE)
    return signs | dict.fromkeys(("and", "or", "nor", *LOBES), HALF) | {"limb": LIMB}


@cache
def _phrases() -> Phrases[Any]:
    """Return the phrases of all tables."""
    table = rules()
    return Phrases(
        {
            "cues": _phrases_of("", "start", "small", "note", "ratio"),
            "foreign": _phrases_of("foreign"),
            "pressed": _spelt(read_table(__package__, "pressed", CUES)),
            "elsewhere": _elsewhere(),
            "beside": elsewhere_beside().items(),
            "places": _items("places", PLACES),
            "implied": table.phrases.items(),
            "fixed": table.fixed.items(),
            "sites": table.sites.items(),
        }
    )
