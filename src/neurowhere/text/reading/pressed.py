"""Pressed: places that a lesion presses on, which is not where it is.

"A frontal meningioma with mass effect on the lateral ventricle" is in the frontal lobe. Gyri and
sulci are effaced where the brain is swollen, and are no such places.
"""

from collections.abc import Sequence
from functools import cache

from neurowhere.text.reading.clauses import Clause, Sentence
from neurowhere.text.reading.document import Document
from neurowhere.text.reading.tables import TEXT, Column, Row, Trie, alternatives, one_of, read_table

PRESSED: dict[str, Column] = {"id": TEXT, "words": TEXT, "direction": one_of("ahead both")}
SURFACE = ("sulc", "gyr")


@cache
def _trie() -> Trie[Row]:
    rows = read_table(__package__, "pressed", PRESSED)
    return Trie((phrase, row) for row in rows for phrase in alternatives(row["words"]))


def first_words() -> frozenset[str]:
    """Return the words with which the table begins."""
    return _trie().first_words


def find_pressed(document: Document, tokens: Sequence[int]) -> dict[int, str]:
    """Find the structures that something presses on, each with the row that says so."""
    found: dict[int, str] = {}
    sentence: Sentence | None = None
    for first, end, row in document.whole(_trie().find(document.words, tokens)):
        if sentence is None or first >= sentence.end:
            sentence = Sentence(document, document.sentence_of(first))
        for number in _reached(sentence, first, end, row):
            found.setdefault(number, row.name)
    return found


def _reached(sentence: Sentence, first: int, end: int, row: Row) -> list[int]:
    """Return the structures that a phrase of the table speaks of."""
    document = sentence.document
    clause, place = sentence.place(first)
    after = place + end - first
    is_said = row["direction"] == "both" and _is_last(document, clause, after)
    if is_said:
        tokens = clause.tokens[:place]
    else:
        tokens = []
        for i in clause.tokens[after:]:
            if "stop" in document.kinds[i]:
                break
            tokens.append(i)
    names = [document.begins[i] for i in tokens if i in document.begins]
    places = (n for n in names if document.names[n].is_structure)
    return [n for n in places if not _is_surface(document, n)]


def _is_last(document: Document, clause: Clause, place: int) -> bool:
    """Whether no noun follows some place of a clause."""
    if place >= len(clause.tokens):
        return True
    i = clause.tokens[place]
    return "," in document.gaps[i] or not {"closing", "conjunction"}.isdisjoint(document.kinds[i])


def _is_surface(document: Document, number: int) -> bool:
    name = document.names[number]
    return any(word.startswith(SURFACE) for word in document.words[name.first : name.end])
