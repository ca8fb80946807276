"""Findings: what a text says is wrong, or active, and where, each place with its role.

A place is the *seat* of a finding, an *extension* of it, *pressed* by it, a *landmark* beside it or
the *level* at which something is measured. The last phrase of the table of roles before a place in
its clause says so; where none does, the place is a seat.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from neurowhere.text.matching import NO_TERM
from neurowhere.text.reading.clauses import Clause, Sentence
from neurowhere.text.reading.document import Document, Side
from neurowhere.text.reading.lexicon import is_lesion_word
from neurowhere.text.reading.sides import Attached
from neurowhere.text.reading.tables import TEXT, Column, Row, Trie, alternatives, one_of, read_table

SEAT, PRESSED, SPARED = "seat", "pressed", "spared"
ROLES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "role": one_of("seat extension landmark pressed level oedema satellite"),
    "direction": one_of("ahead both"),
}
UNITS = {"cm": 10.0, "mm": 1.0}  # in mm
SURFACE = ("sulc", "gyr")  # effaced where the brain is swollen: these are no places that are pressed


class Place(NamedTuple):
    """A place of a finding: ``text[start:end]``, its side, its status and its role."""

    term: str
    start: int
    end: int
    side: Side | None
    status: str
    role: str
    row: str = ""


class Finding(NamedTuple):
    """What a clause of a text tells of: what is wrong, where, and how large it is in mm."""

    what: tuple[str, ...]
    places: tuple[Place, ...]
    size_mm: float | None = None


@cache
def _trie() -> Trie[Row]:
    rows = read_table(__package__, "roles", ROLES)
    return Trie((phrase, row) for row in rows for phrase in alternatives(row["words"]))


def first_words() -> frozenset[str]:
    """Return the words with which the table of roles begins."""
    return _trie().first_words


def find_roles(document: Document, tokens: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Find the structures that are no seats, with their roles and the rows that say so."""
    roles: dict[int, tuple[str, str]] = {}
    by_sentence: dict[int, list[tuple[int, int, Row]]] = {}
    for found in document.whole(_trie().find(document.words, tokens)):
        by_sentence.setdefault(document.sentence_of(found[0]), []).append(found)
    for number, some in by_sentence.items():
        sentence = Sentence(document, *document.sentences[number])
        for first, end, row in some:
            for name in _reached(sentence, first, end, row, some):
                roles.setdefault(name, (row["role"], row.name))
    return {n: role for n, role in roles.items() if role[0] != SEAT}


def _reached(
    sentence: Sentence, first: int, end: int, row: Row, others: list[tuple[int, int, Row]]
) -> list[int]:
    """Return the structures that a phrase of the table speaks of."""
    document = sentence.document
    clause, place = sentence.places[first]
    after = place + end - first
    is_said = row["direction"] == "both" and _is_last(document, clause, after)
    if is_said:
        tokens = clause.tokens[:place]
    else:
        stops = {each[0] for each in others}
        tokens = []
        for i in clause.tokens[after:]:
            if i in stops or "stop" in document.kinds[i]:
                break
            tokens.append(i)
    names = [document.begins[i] for i in tokens if i in document.begins]
    places = [n for n in names if document.names[n].is_structure]
    return [n for n in places if row["role"] != PRESSED or not _is_surface(document, n)]


def _is_last(document: Document, clause: Clause, place: int) -> bool:
    """Whether no noun follows some place of a clause."""
    if place >= len(clause.tokens):
        return True
    i = clause.tokens[place]
    return "," in document.gaps[i] or not {"closing", "conjunction"}.isdisjoint(document.kinds[i])


def _is_surface(document: Document, number: int) -> bool:
    name = document.names[number]
    return any(word.startswith(SURFACE) for word in document.words[name.first : name.end])


def find_findings(
    document: Document,
    terms: Sequence[str],
    statuses: Sequence[str],
    sides: Mapping[int, Attached],
    roles: Mapping[int, tuple[str, str]],
) -> tuple[Finding, ...]:
    """Return the findings of a text: sentence by sentence, what is there with its places."""
    findings = []
    for first, end in document.sentences:
        numbers = [n for n in document.names_within(first, end) if document.names[n].is_structure]
        if not numbers:
            continue
        places = []
        for n in numbers:
            name, attached = document.names[n], sides.get(n)
            start, stop = document.span(name.first, name.end)
            term = terms[n] if name.term != NO_TERM else document.text[start:stop]
            role, row = roles.get(n, (SEAT, ""))
            role = SPARED if statuses[n] == "denied" else role
            side = attached.side if attached else None
            places.append(Place(term, start, stop, side, statuses[n], role, row))
        what = [document.words[i] for i in range(first, end) if is_lesion_word(document.words[i])]
        size = _size(document, first, end)
        findings.append(Finding(tuple(dict.fromkeys(what)), tuple(places), size))
    return tuple(findings)


def _size(document: Document, first: int, end: int) -> float | None:
    """Largest size that a sentence gives, in mm: "3.5 x 2 cm"."""
    sizes = [0.0]
    for i in range(first + 1, end):
        unit = UNITS.get(document.words[i])
        if unit is None:
            continue
        j = i
        while j > first and (document.words[j - 1].isdigit() or document.words[j - 1] == "x"):
            j -= 1
        numbers = document.text[document.starts[j] : document.starts[i]].split("x")
        for number in numbers:
            try:
                sizes.append(float(number.strip()) * unit)
            except ValueError:
                continue
    return max(sizes) or None
