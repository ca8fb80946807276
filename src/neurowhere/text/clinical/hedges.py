"""Hedges: which names a text leaves open ("possible glioma of the insula", "?thalamic").

A hedge doubts what follows it, the subject of which it is said, or both, as far as a denial would
reach. So do open questions ("whether the insula responds"), conditions ("if the pons is involved"),
question marks, and p-values just above the usual threshold.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from neurowhere.text.clinical.clauses import LONGEST_PHRASE, Clauses
from neurowhere.text.clinical.cues import ABLE, DIAGNOSES, HEDGES, LOOKING, Doubt
from neurowhere.text.clinical.places import LESION
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold

# A question mark before a word asks about what follows, one after it about what went before.
QUERY = re.compile(r"(?:^|(?<=[\s(\[,;:/-]))(?:\?+|\+/-|±)\s?(?=[A-Za-z])")
QUESTION = re.compile(r"(?<=\w)\s?\(?\?")
P_VALUE = re.compile(r"\bp\s*[=>≥]\s*(0?\.\d+)", re.IGNORECASE)
TREND = 0.05, 0.1  # p-values that are called a trend


class Hedge(NamedTuple):
    """Words that may doubt something."""

    first: int
    last: int
    kind: Doubt


def attach_hedges(reading: Reading) -> dict[int, Tokens]:
    """Find the matches that a text leaves open, each with the tokens that say so."""
    found = (Hedge(*each) for each in HEDGES.find(reading.tokens))
    hedges = [hedge for hedge in found if hedge.kind != "idle"]
    reader = _HedgeReader(reading, {hedge.first for hedge in hedges})
    doubted: dict[int, Tokens] = {}
    for hedge in hedges:
        for number in reader.doubted(hedge):
            if not hedge.first <= reading.first[number] <= hedge.last:
                doubted.setdefault(number, Tokens(hedge.first, hedge.last))
    for number, words in [*reader.queried(), *reader.trends()]:
        doubted.setdefault(number, words)
    return doubted


class _HedgeReader(Clauses):
    """Reads a text around its hedges."""

    def doubted(self, hedge: Hedge) -> list[int]:
        """Return the matches that a hedge leaves open."""
        i, j = hedge.first, hedge.last + 1
        if not self.is_hedge(hedge):
            return []
        if "that" in self.tokens[j : j + 2]:  # "it is possible that the thalamus is affected"
            return self.ahead(self.tokens.index("that", j) + 1, through_verbs=True)
        match hedge.kind:
            case "adjective" if self.is_predicate(hedge):
                return self.subject(i) or self.owner(i) or self.antecedents(i)
            case "adjective":
                return self.ahead(j) or self.place_before(i)
            case "object":
                is_heading = self.gap(j).startswith(":")
                names = self.ahead(j, through_verbs=True, is_start=is_heading)
                return names or self.said_of(hedge)
            case "clause":
                return self.ahead(j, through_verbs=True)
            case "both" if self.tokens[i] in ("versus", "vs"):
                return [*self.names(range(self.sentence(i)[0], i)), *self.ahead(j)]
            case "either":
                return self.alternatives(j)
            case "both":
                before = self.subject(i) or self.antecedents(i)
                return [*before, *self.ahead(j, through_verbs=True)]
            case _ if self.tokens[i] == "of":  # "of uncertain significance"
                return self.names(range(self.sentence(i)[0], i))
            case _:  # "subject"
                return self.subject(i) or self.antecedents(i)

    def said_of(self, hedge: Hedge) -> list[int]:
        """Return the subject of an adverb that has nothing after it: "thalamus probably involved"."""
        return self.subject(hedge.first) if self.tokens[hedge.first].endswith("ly") else []

    def alternatives(self, i: int) -> list[int]:
        """Return the places after "either" at token i − 1, if an "or" stands between them."""
        tokens = range(i, min(i + LONGEST_PHRASE, len(self.tokens)))
        names = self.structures(self.names(tokens))[:2]
        if len(names) < 2:
            return []
        between = self.tokens[self.reading.last[names[0]] + 1 : self.reading.first[names[1]]]
        return names if "or" in between else []

    def is_hedge(self, hedge: Hedge) -> bool:
        """Whether words that look like a hedge are one: not "in May", nor "we could see"."""
        i, j = hedge.first, hedge.last + 1
        match self.tokens[i]:
            case "may":
                return not self.token(j).isdigit() and self.token(i - 1) not in (
                    "in",
                    "of",
                    "since",
                )
            case "could":
                return self.token(i - 1) not in ABLE and self.token(j) != "not"
            case "versus" | "vs":
                around = (*self.tokens[max(i - 2, 0) : i], *self.tokens[j : j + 3])
                return any(fold(token) in LESION or token in DIAGNOSES for token in around)
            case "should" if hedge.kind == "clause":
                return i == 0 or self.is_sentence_end(i)
            case "differential":
                return hedge.last > i or ":" in self.gap(j) or "," in self.gap(i)
            case "limited":
                first, _ = self.sentence(i)
                return not LOOKING.isdisjoint(self.tokens[first:i])
            case _:
                return True

    def queried(self) -> Iterator[tuple[int, Tokens]]:
        """Find what question marks ask about."""
        starts = [start for start, _ in self.reading.spans]
        for mark in QUERY.finditer(self.reading.text):
            i = bisect_left(starts, mark.end())
            if i < len(starts):
                for number in self.ahead(i, through_verbs=True, is_start=True) or self.label(i):
                    yield number, Tokens(i, i)
        for mark in QUESTION.finditer(self.reading.text):
            i = bisect_left(starts, mark.end())
            first = i - 1 if "(" in mark[0] else self.sentence(i - 1)[0]
            for number in self.finishing(first, i):
                yield number, Tokens(i - 1, i - 1)

    def finishing(self, first: int, end: int) -> list[int]:
        """Return the matches that end within some tokens."""
        return [self.finishes[j] for j in range(first, end) if j in self.finishes]

    def trends(self) -> Iterator[tuple[int, Tokens]]:
        """Find the structures whose p-values are those of a trend."""
        starts = [start for start, _ in self.reading.spans]
        for value in P_VALUE.finditer(self.reading.text):
            if TREND[0] <= float(value[1]) < TREND[1]:
                i = bisect_left(starts, value.start())
                number = self.before_bracket(i)
                if number is not None:
                    yield number, Tokens(i, i)
