"""Clauses: what a sentence says one after the other, and what links it.

Signs part clauses (semicolons, colons, brackets, dashes), words do ("but", "although", "which"),
and so does a comma or an "and" before a subject with a verb of its own. A bracket is a clause
within another, which goes on after it: the tokens of a clause need not be next to each other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from neurowhere.text.reading.document import Document

LONGEST_SUBJECT = 16  # tokens
PLAIN = frozenset([" ", "-", ", ", ","])  # gaps that part no clauses
LABELLING = frozenset(":-(")  # links of clauses that tell of the one before them


@dataclass(frozen=True, eq=False)
class Clause:
    """Tokens of a clause, what links it to what went before, and which clause that is."""

    tokens: list[int]
    link: str
    number: int


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence of a document as clauses."""

    document: Document
    first: int
    end: int

    @cached_property
    def clauses(self) -> list[Clause]:
        """Clauses in the order of the text."""
        parts = [
            piece
            for part in _by_signs(self.document, self.first, self.end)
            for piece in _by_verbs(self.document, *part)
        ]
        parts = sorted((part for part in parts if part[0]), key=lambda part: part[0][0])
        return [Clause(*part, number) for number, part in enumerate(parts)]

    @cached_property
    def places(self) -> dict[int, tuple[Clause, int]]:
        """Clause of each token, and its place there."""
        return {
            token: (clause, place)
            for clause in self.clauses
            for place, token in enumerate(clause.tokens)
        }


def _by_signs(document: Document, first: int, end: int) -> Iterator[tuple[list[int], str]]:
    """Yield tokens between signs and linking words, and how they are linked."""
    gaps, kinds = document.gaps, document.kinds
    current, link = list[int](), ""
    outer: list[tuple[list[int], str]] = []
    for i in range(first, end):
        gap = gaps[i] if i > first else ""
        if gap and gap not in PLAIN:
            if (")" in gap or "]" in gap) and outer:
                yield current, link
                current, link = outer.pop()
            sign = _sign(document, i)
            if sign == "(":
                outer.append((current, link))
                current, link = [], sign
            elif sign:
                yield current, link
                current, link = [], sign
        is_turn = "turn" in kinds[i] and "not-word" not in kinds[i - 1]
        if is_turn and current and i not in document.inner:
            yield current, link
            current, link = [], document.words[i]
        current.append(i)
    yield current, link
    yield from outer


def _sign(document: Document, i: int) -> str:
    """Sign before token i that parts clauses."""
    gap = document.gaps[i]
    if "(" in gap or "[" in gap:
        return "("
    if ";" in gap:
        return ";"
    if ":" in gap:
        return ":" if gap.strip() != gap or not document.words[i][0].isdigit() else ""
    is_dash = "—" in gap or " – " in gap or " - " in gap or " -- " in gap
    return "-" if is_dash or "→" in gap else ""


def _by_verbs(document: Document, tokens: list[int], link: str) -> Iterator[tuple[list[int], str]]:
    """Cut a clause where another subject with a verb begins."""
    kinds, gaps = document.kinds, document.gaps
    start, has_verb = 0, False
    is_led = bool(tokens) and "subordinate" in kinds[tokens[0]]
    for place, i in enumerate(tokens):
        is_comma = place > start and "," in gaps[i]
        is_joint = is_comma or "conjunction" in kinds[i]
        if place > start and is_joint and (has_verb or (is_led and is_comma)):
            after = place + ("conjunction" in kinds[i])
            is_cut = is_verbal(document, tokens, after) or (is_led and _is_new(document, i))
            if is_cut:
                yield tokens[start:place], link
                start, link, has_verb, is_led = place, ",", False, False
        has_verb = has_verb or is_verb(document, i)
    yield tokens[start:], link


def _is_new(document: Document, i: int) -> bool:
    """Whether token i after a comma begins what is said after a leading phrase."""
    kinds = document.kinds
    if not {"pronoun", "opening-cue"}.isdisjoint(kinds[i]):
        return True
    for j in range(i, document.sentences[document.sentence_of(i)][1]):
        if j > i and "," in document.gaps[j]:
            return True
        if "conjunction" in kinds[j]:
            return False
        is_noun = {"modifier", "determiner", "side"}.isdisjoint(kinds[j])
        if j not in document.covered and is_noun:
            return True
    return True


def is_verb(document: Document, i: int) -> bool:
    """Whether a token is a finite verb, and not part of a name nor of a relative clause."""
    if "finite" not in document.kinds[i] or i in document.covered:
        return False
    return document.word(i - 1) != "to"


def is_verbal(document: Document, tokens: list[int], place: int) -> bool:
    """Whether a subject begins at some place of a clause, and a verb follows it."""
    kinds = document.kinds
    for n, i in enumerate(tokens[place : place + LONGEST_SUBJECT]):
        if is_verb(document, i):
            return n > 0
        if i not in document.covered and not {"stop", "negator"}.isdisjoint(kinds[i]):
            return n == 0 and "pronoun" in kinds[i]
    return False
