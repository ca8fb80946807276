"""Mentions: the terms that a text mentions, with their sides and what the text says of them."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from neurowhere.text.counter import TermCounter
from neurowhere.text.matching import NO_TERM
from neurowhere.text.places import is_general
from neurowhere.text.reading import names
from neurowhere.text.reading.cells import read_cells
from neurowhere.text.reading.document import Clause, Document, Sentence, Side
from neurowhere.text.reading.ellipsis import take_up
from neurowhere.text.reading.implied import (
    Found,
    Implied,
    Pointing,
    Spared,
    find_implied,
    implied_by,
    sides_of_spared,
    without_spared,
)
from neurowhere.text.reading.scope import Said, read_scope
from neurowhere.text.reading.sides import Attached, Sides, read_sides
from neurowhere.text.reading.tags import SIDE, Tag, find_cues, find_phrases
from neurowhere.text.sections import ADDRESS, Part, read_sections

Span = tuple[int, int]
Status = Literal["affirmed", "hedged", "denied", "not_finding"]
HEDGE_WEIGHT = 0.5  # a usual weight of what is left open
DOMINANCE = 0.3  # d of a mention on both sides that has more on the left
PRESSED_WEIGHT = 0.1  # of a place that is pressed on, beside another that is not
SENTENCE = re.compile(
    r"(?:[^\n.!?]|\.(?=\d))[^\n.!?]*(?:\.(?=\d)[^\n.!?]*)*"
)  # not cut within "3.5" or "12.3.2024"
SHORTEST_COPY = 30  # characters of a sentence that counts once, however often it is repeated
NO_LETTERS = b"0123456789.:/-, "  # bytes are translated fast
# Dates, times and days of a stay, which differ between copies of a note.
DATE = re.compile(
    r"\b\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?[.:]?(?!\w)|\b\d{1,2}[:.h]\d\d(?::\d\d)?(?: ?[ap]m)?\b"
    r"|\b(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? \d{1,4}"
    r"(?:, \d{4})?|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:day|pod|hd|week|visit) ?#?\d+:?",
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """One mention of a term, or of a place, in a text.

    Attributes
    ----------
    term : str
        Name in the vocabulary; of a place that is no term, the words of the text.
    start, end : int
        The mention is ``text[start:end]``.
    side : "left", "right", "bilateral" or None
        Side that the text gives to it.
    side_span : (int, int) or None
        Where the text says so; None if it does not, or within the name itself.
    negation_span : (int, int) or None
        Where the text denies it; None if it does not.
    is_structure : bool
        Whether it names a part of the brain or the territory of an artery.
    side_inherited : bool
        Whether the side stands before an earlier name of a list: "left amygdala and hippocampus".
    hedge_span : (int, int) or None
        Where the text leaves it open: "possible", "cannot be excluded"; None if it does not.
    section : str or None
        Section of a report that it is in and that is no finding: "technique", "indication",
        "history", "comparison" or "plan".
    weight : float
        How much it counts: 1 if affirmed, between 0 and 1 if hedged, and 0 if denied, no finding or
        in a copy of an earlier sentence.
    implied : tuple of Implied
        Structures that the name of an artery, a syndrome or a sign points to by a rule.
    is_generic : bool
        Whether its term says nothing of where by itself and is no finding: "human", not "lesion".
    is_crossed : bool
        Whether the side is one of the body, which the other hemisphere serves: "left hand".
    dominant : "left", "right" or None
        Of both sides, the one that has more: "left greater than right".
    is_misspelt : bool
        Whether the text has its name or its side with letters wrong: "rigth", "hipocampal".
    rule_kind : str
        Kind of the rule that implies its structures: "artery", "sign"; empty where there is none.
    rows : tuple of str
        Rows of the tables that gave its status, its side and what it implies: "cues:no".
    """

    term: str
    start: int
    end: int
    side: Side | None = None
    side_span: Span | None = None
    negation_span: Span | None = None
    is_structure: bool = False
    side_inherited: bool = False
    hedge_span: Span | None = None
    section: str | None = None
    weight: float = 1.0
    implied: tuple[Implied, ...] = ()
    is_generic: bool = False
    is_crossed: bool = False
    dominant: Side | None = None
    is_misspelt: bool = False
    rule_kind: str = ""
    rows: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """What the text says of it."""
        if self.section is not None:
            return "not_finding"
        if self.negation_span is not None:
            return "denied"
        return "affirmed" if self.hedge_span is None else "hedged"

    @property
    def is_present(self) -> bool:
        """Whether the text affirms it or leaves it open."""
        return self.status in ("affirmed", "hedged")

    @property
    def is_negated(self) -> bool:
        """Whether the text denies it."""
        return self.negation_span is not None


FIELDS: dict[str, Any] = Mention("", 0, 0)._asdict()  # with what they are if nothing is said


class SideMark(NamedTuple):
    """A side that was seen and not applied: that of a symptom, or of the body."""

    side: Side
    start: int
    end: int


class SideShares(NamedTuple):
    """How much of what a text says of places in the brain is on a side; the three sum to 1."""

    left: float
    right: float
    neither: float


@dataclass(frozen=True)
class Mentions:
    """What a text mentions, in its order; iterates over the mentions that are worth listing.

    Generic words ("first", "human") are no findings, so that to deny one says nothing: they are
    listed where they count, or where there is nothing else.

    Attributes
    ----------
    found : tuple of Mention
        Mentions of the vocabulary's terms, the negated ones included.
    places : tuple of Mention
        Places that the text gives a side and the vocabulary lacks: "left PICA".
    unapplied : tuple of SideMark
        Sides that were seen and not applied, not even by a rule.
    rule_based : tuple of Mention
        Arteries, syndromes and signs, each with the structures that it implies; those that are
        terms of the vocabulary are in `found` as well.
    """

    found: tuple[Mention, ...]
    places: tuple[Mention, ...] = ()
    unapplied: tuple[SideMark, ...] = ()
    rule_based: tuple[Mention, ...] = ()

    def __iter__(self) -> Iterator[Mention]:
        listed = [each for each in self.found if each.is_present or not each.is_generic]
        return iter(listed or self.found)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def present(self) -> tuple[Mention, ...]:
        """The mentions of terms that the text affirms or leaves open."""
        return tuple(mention for mention in self.found if mention.is_present)


def read_mentions(
    text: str,
    counter: TermCounter,
    *,
    negation: bool = True,
    sections: bool = True,
    hedge_weight: float = 1.0,
) -> Mentions:
    """Find the terms in a text, the sides that they are on, and what the text says of them.

    Parameters
    ----------
    text : str
    counter : TermCounter
    negation : bool
        Whether what the text denies is told apart.
    sections : bool
        Whether what stands under "Technique", "Indication", "History", "Comparison" or "Plan" in a
        report is told apart as no finding.
    hedge_weight : float
        Weight of mentions that the text leaves open; `HEDGE_WEIGHT` is a usual one.

    Returns
    -------
    Mentions

    Examples
    --------
    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula", "pons", "thalamus"]))
    >>> text = "Left insula infarct, possibly of the pons; no lesion in the thalamus."
    >>> [(mention.term, mention.side, mention.status) for mention in read_mentions(text, counter)]
    [('insula', 'left', 'affirmed'), ('pons', None, 'hedged'), ('thalamus', None, 'denied')]
    """
    document = counter.read(text)
    at = find_phrases(document)
    document = names.complete(document, counter, at)
    tokens = document.having(SIDE)
    sides, cues = read_sides(document, tokens), find_cues(document, at)
    whole = take_up(document, tokens, sides, {cue.first for cue in cues})
    if whole is not document:
        document, sides = whole, read_sides(whole, tokens)
    if inside := sides.inside():
        cues = [cue for cue in cues if cue.first not in inside]
    said = read_scope(document, cues, [Tag(*each) for each in at["pressed"]])
    tabled = read_cells(document, cues)
    sides.applied.update(tabled.sides)
    sides.limbs.update(tabled.limbs)
    said.denied.update(tabled.denied)
    if not negation:
        said.denied.clear()
    terms = counter.about[0]
    named = [terms[name.term] for name in document.names]
    pointing = find_implied(document, at, sides.applied, said.denied, named)
    apart = _Apart(text, read_sections(text) if sections else [])
    fold = _Fold(document, counter, sides, said, apart, hedge_weight)
    return fold.mentions(pointing, tabled.heads)


class _Apart:
    """The sections of a text without findings, and its copies of sentences."""

    def __init__(self, text: str, parts: Sequence[Part]) -> None:
        self.sections = [(*part[1:], part.name) for part in parts]
        self.copies = [(*copy, "copy") for copy in find_copies(text)]

    def at(self, starts: Sequence[int]) -> Iterator[tuple[int, str | None, bool]]:
        """Yield the numbers of the places that are in these: the section, and whether a copy."""
        sections, copies = _values_at(self.sections, starts), _values_at(self.copies, starts)
        for n in sections.keys() | copies.keys():
            yield n, sections.get(n), n in copies


PLACES = tuple(range(1 << 14))  # numbers that the mentions of all texts share, which saves memory


class _Fold:
    """Folds what the levels have found into mentions: a column for each of their fields.

    A long text has a name every few words, and nothing is said of most.
    """

    def __init__(
        self,
        document: Document,
        counter: TermCounter,
        sides: Sides,
        said: Said,
        apart: _Apart,
        hedge_weight: float,
    ) -> None:
        self.document, self.counter, self.sides, self.said = document, counter, sides, said
        self.apart, self.hedge_weight = apart, hedge_weight
        n, (terms, sides_of_terms, is_noise) = len(document.names), counter.about
        starts, ends = document.starts, document.ends
        self.columns = {name: [value] * n for name, value in FIELDS.items()}
        firsts, lasts, numbers, is_structure = zip(*document.names, strict=True) if n else [()] * 4
        length = len(document.text) + 1
        places = PLACES if length < len(PLACES) else range(length)
        self.columns |= {
            "term": list(map(terms.__getitem__, numbers)),
            "start": [places[starts[first]] for first in firsts],
            "end": [places[ends[last - 1]] for last in lasts],
            "side": list(map(sides_of_terms.__getitem__, numbers)),
            "is_structure": list(is_structure),
            "is_generic": list(map(is_noise.__getitem__, numbers)),
        }
        if document.misspelt:
            self.columns["is_misspelt"] = list(map(document.misspelt.__contains__, firsts))
        is_added = NO_TERM in numbers
        self.no_terms = {i for i in range(n) if numbers[i] == NO_TERM} if is_added else set[int]()

    def mentions(self, pointing: Pointing, heads: Set[int]) -> Mentions:
        """Return all that a text mentions."""
        text, columns = self.document.text, self.columns
        for n in self.no_terms:
            columns["term"][n] = text[columns["start"][n] : columns["end"][n]]
        self.leave_out()
        self.say()
        self.attach()
        self.press()
        self.hide(pointing.idle)
        rows = zip(*columns.values(), strict=True)
        every: list[Mention] = list(map(partial(tuple.__new__, Mention), rows))
        hidden = self.no_terms | heads
        found = [m for n, m in enumerate(every) if n not in hidden] if hidden else every
        sided = {*self.sides.applied, *self.sides.limbs}
        places = [every[n] for n in sorted(sided & self.no_terms - heads)]
        ruled = self.ruled(pointing.found, (*found, *places)) if pointing.found else ()
        ends = {mention.start: mention.end for mention in ruled}
        return Mentions(
            tuple(sorted(found, key=attrgetter("start"))),
            tuple(each for each in places if ends.get(each.start, 0) <= each.end),
            self.unapplied((*every, *ruled)),
            ruled,
        )

    def leave_out(self) -> None:
        """Mark the mentions in sections without findings, and weigh these and copies nothing."""
        columns = self.columns
        for n, section, is_copy in self.apart.at(columns["start"]):
            if section == ADDRESS and columns["is_structure"][n]:
                section = None  # "Harvard University Insula Study"
            columns["section"][n] = section
            columns["weight"][n] = 0.0 if section or is_copy else 1.0

    def say(self) -> None:
        """Mark what is denied or left open."""
        columns, span = self.columns, self.document.span
        for n, hedge in self.said.hedged.items():
            if not columns["is_generic"][n]:
                columns["hedge_span"][n] = span(hedge.first, hedge.end)
            columns["weight"][n] *= self.hedge_weight
            columns["rows"][n] = (hedge.row.name,)
        for n, denial in self.said.denied.items():
            columns["negation_span"][n] = span(denial.first, denial.end)
            columns["weight"][n] = 0.0
            columns["rows"][n] = (denial.row.name, *columns["rows"][n])

    def attach(self) -> None:
        """Give the mentions their sides."""
        columns, limbs = self.columns, self.sides.limbs
        for n, mark in (limbs | self.sides.applied).items():
            columns["side"][n], columns["dominant"][n] = mark.side, mark.dominant
            columns["side_span"][n] = self.document.span(mark.first, mark.end)
            columns["side_inherited"][n], columns["is_crossed"][n] = mark.is_inherited, n in limbs
            columns["rows"][n] = (*columns["rows"][n], mark.row)
            columns["is_misspelt"][n] |= "misspelt" in self.document.kinds[mark.first]

    def press(self) -> None:
        """Weigh what is pressed on less, beside another place."""
        columns, terms = self.columns, self.columns["term"]
        pressed = {n: t for n, t in self.said.pressed.items() if not _is_surface(terms[n])}
        if pressed and any(n not in pressed and self.is_local(n) for n in range(len(terms))):
            for n, tag in pressed.items():
                columns["weight"][n] *= PRESSED_WEIGHT
                columns["rows"][n] = (*columns["rows"][n], tag.row.name)

    def hide(self, idle: frozenset[int]) -> None:
        """Let names within what a rule explains count nothing."""
        for n, name in enumerate(self.document.names) if idle else ():
            if idle.issuperset(range(name.first, name.end)):
                self.columns["weight"][n] = 0.0

    def is_local(self, n: int) -> bool:
        """Whether a name is of a structure that counts, and says more than "brain"."""
        is_structure = self.columns["is_structure"][n] and self.columns["weight"][n]
        return is_structure and not is_general(self.columns["term"][n])

    def unapplied(self, mentions: Iterable[Mention]) -> tuple[SideMark, ...]:
        """Return the sides that no mention has."""
        spans = ((m.side, *self.document.span(m.first, m.end)) for m in self.sides.unapplied)
        used = {mention.side_span for mention in mentions} if self.sides.unapplied else ()
        return tuple(SideMark(*span) for span in spans if span[1:] not in used)

    def ruled(self, found: Iterable[Found], others: Sequence[Mention]) -> tuple[Mention, ...]:
        """Return the names that point to structures, but to those that the text spares."""
        denied = ((each.term, each.side) for each in others if each.negation_span)
        spared = sides_of_spared(denied)
        return tuple(self.rule_based(each, spared) for each in found)

    def rule_based(self, found: Found, spared: Spared) -> Mention:
        """Return the mention of a name that points to structures."""
        side, entry, number = found.side, found.entry, self.number_of(found)
        start, end = self.document.span(found.first, found.end)
        _, section, is_copy = next(self.apart.at([start]), (0, None, False))
        denial, hedge = self.said.denied.get(number), self.said.hedged.get(number)
        if denial and found.first <= denial.first < found.end:
            denial = None
        is_counted = not (section or is_copy or denial)
        weight = is_counted * (self.hedge_weight if hedge else 1.0)
        return Mention(
            entry.name,
            start,
            end,
            side=side and side.side,
            side_span=self.span(side),
            negation_span=self.span(denial),
            hedge_span=self.span(hedge),
            section=section,
            weight=weight * (PRESSED_WEIGHT if number in self.said.pressed else 1.0),
            implied=without_spared(implied_by(found, self.counter.term_of), spared),
            dominant=side.dominant if side and not entry.is_crossed else None,
            rule_kind=entry.kind,
            rows=(entry.row,),
        )

    def number_of(self, found: Found) -> int:
        """Return the number of the name that has the noun of a name of a rule."""
        covered = self.document.covered
        return next((covered[i] for i in range(found.first, found.end)[::-1] if i in covered), -1)

    def span(self, each: Attached | Tag | None) -> Span | None:
        """Where a side or a cue is in the text."""
        return each and self.document.span(each.first, each.end)


def _is_surface(term: str) -> bool:
    """Whether a term is of gyri or sulci, which are effaced where the brain itself is swollen."""
    return "sulc" in term or "gyr" in term


def _values_at(spans: Sequence[tuple[int, int, str]], places: Sequence[int]) -> dict[int, str]:
    """Return the value of the span, of some in order, that each place is in, by its number.

    >>> _values_at([(2, 4, "a"), (6, 7, "b")], [1, 2, 4, 6])
    {1: 'a', 3: 'b'}
    """
    if not spans or not places:
        return {}
    starts, ends, values = zip(*spans, strict=True)
    numbers = np.searchsorted(starts, places, "right") - 1
    within = (numbers >= 0) & (np.array(places) < np.array(ends)[numbers])
    return {n: values[numbers[n]] for n in np.flatnonzero(within).tolist()}


def find_copies(text: str) -> list[Span]:
    """Find the long sentences of a text that stand in it before, but for dates and times.

    >>> find_copies("8:00 The insula is as it was before. 9:30 The insula is as it was before.")
    [(36, 72)]
    """
    long = [each for each in SENTENCE.findall(text) if len(each) >= SHORTEST_COPY]
    if len({*_letters("\0".join(long)).split(b"\0")}) == len(long):
        return []  # as most texts have none
    copies, seen = list[Span](), dict[bytes, str]()
    for match in SENTENCE.finditer(text):
        sentence = match[0]
        if len(sentence) >= SHORTEST_COPY:
            first = seen.setdefault(_letters(sentence), sentence)
            if first is not sentence and _undated(first) == _undated(sentence):
                copies.append(match.span())
    return copies


def _letters(text: str) -> bytes:
    """Return a text without its numbers, spaces and their signs."""
    return text.encode("utf-8", "surrogatepass").translate(None, NO_LETTERS)


def _undated(sentence: str) -> list[str]:
    """Return the words of a sentence but for dates and times."""
    return re.findall(r"\w+", DATE.sub(" ", sentence))


# ---- why a text was read so


def explain(text: str, counter: TermCounter) -> Iterator[str]:
    """Yield the lines of the tree of a text.

    Parameters
    ----------
    text : str
    counter : TermCounter

    Yields
    ------
    str

    Examples
    --------
    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula", "pons"]))
    >>> for line in explain("Left insula, no lesion of the pons.", counter):
    ...     print(line)
    sentence 1
      clause: Left insula no lesion of the pons
        phrase  "insula"  insula, left, affirmed: sides:before
        tag     "no"  cues:no ahead
        phrase  "pons"  pons, denied: cues:no
    """
    document, mentions = counter.read(text), read_mentions(text, counter)
    tags = [
        (tag.first, f'tag     "{_written(document, tag.first, tag.end)}"  {tag.row.name} {way}')
        for tag in find_cues(document)
        for way in [tag.direction]
    ]
    starts = {start: i for i, start in enumerate(document.starts)}
    phrases = [(starts.get(m.start, -1), _phrase(text, m)) for m in _every(mentions)]
    for number in range(len(document.sentences)):
        yield f"sentence {number + 1}"
        for clause in Sentence(document, number).clauses:
            yield f"  clause{_link(clause)}: {' '.join(map(document.written, clause.tokens))}"
            here = frozenset(clause.tokens)
            for _, line in sorted(pair for pair in (*tags, *phrases) if pair[0] in here):
                yield f"    {line}"


def _every(mentions: Mentions) -> Iterator[Mention]:
    yield from mentions
    yield from mentions.places
    yield from mentions.rule_based


def _written(document: Document, first: int, end: int) -> str:
    """Return some tokens as the text has them; a sign is no token."""
    return document.text[slice(*document.span(first, end))] if end > first else "?"


def _link(clause: Clause) -> str:
    return f" after {clause.link!r}" if clause.link else ""


def _phrase(text: str, mention: Mention) -> str:
    """Return what a text says of a phrase, and the rows that say so."""
    implied = (f"→ {' '.join(filter(None, (i.side, i.term)))}" for i in mention.implied)
    said = ", ".join(filter(None, (mention.term, mention.side, mention.status, *implied)))
    told = mention.section or ", ".join(mention.rows)
    return f'phrase  "{text[mention.start : mention.end]}"  {said}' + f": {told}" * bool(told)
