"""Mentions: the terms that a text mentions, with their sides and what the text says of them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.text.clinical.adjectives import with_nouns
from neurowhere.text.clinical.assertions import Denials, attach_denials, attach_hedges
from neurowhere.text.clinical.capsule import with_capsule
from neurowhere.text.clinical.carrying import with_carried_sides, with_known_sides
from neurowhere.text.clinical.cerebellar import weigh_ataxic
from neurowhere.text.clinical.crossed import weigh_halves
from neurowhere.text.clinical.ellipsis import read_tables, with_halves, with_others
from neurowhere.text.clinical.implied import (
    Implied,
    find_names,
    implied_by,
    without_fixed,
)
from neurowhere.text.clinical.lateralised import with_lateralised
from neurowhere.text.clinical.misspelt import find_misspelt, with_misspelt, with_spelt_sides
from neurowhere.text.clinical.peripheral import weigh_explained
from neurowhere.text.clinical.places import (
    Side,
    Sides,
    is_general,
    sides_of_limbs,
    with_limbs,
    with_places,
)
from neurowhere.text.clinical.pressed import weigh_pressed
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.sides import attach_sides
from neurowhere.text.clinical.spared import Spared, sides_of_spared, without_spared
from neurowhere.text.clinical.vessels import weigh_vessels
from neurowhere.text.counter import TermCounter
from neurowhere.text.features import LATERAL, TermExtractor
from neurowhere.text.matching import NO_TERM
from neurowhere.text.sections import ADDRESS, read_sections

Span = tuple[int, int]
Status = Literal["affirmed", "hedged", "denied", "not_finding"]
HEDGE_WEIGHT = 0.5  # a usual weight of what is left open
DOMINANCE = 0.3  # d of a mention on both sides that has more on the left
SENTENCE = re.compile(
    r"(?:[^\n.!?]|\.(?=\d))[^\n.!?]*(?:\.(?=\d)[^\n.!?]*)*"
)  # not cut within "3.5" or "12.3.2024"
UNPAIRED = re.compile(r"(?:third|fourth|3rd|4th) ventric|aqueduct|chiasm|foramen magnum|pellucid")
SHORTEST_COPY = 30  # characters of a sentence that counts once, however often it is repeated
TAIL, NO_DATE = 40, b"0123456789.:/-, "  # to tell most sentences apart fast
# Dates, times and days of a stay, which differ between copies of a note.
DATE = re.compile(
    r"\b\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?[.:]?(?!\w)|\b\d{1,2}[:.h]\d\d(?::\d\d)?(?: ?[ap]m)?\b"
    r"|\b(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? \d{1,4}"
    r"(?:, \d{4})?|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:day|pod|hd|week|visit) ?#?\d+:?",
    re.IGNORECASE,
)
IN_DATE = re.compile(r"\d|day", re.IGNORECASE)  # something of this is in every date


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
        "history", "comparison", "plan" or "references"; "general" for what is so of all patients.
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
        Whether the text has its name with one letter wrong: "hipocampal".
    rule_kind : str
        Kind of a name that implies structures: "artery", "place", "sign", "syndrome" and others.
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
    vocabulary = counter.vocabulary
    reading = with_spelt_sides(counter.read(text))
    reading = with_nouns(reading, counter.term_of, vocabulary.index)
    misspelt = find_misspelt(reading, counter)
    reading = with_halves(with_misspelt(reading, misspelt), counter.term_of, vocabulary.index)
    reading = with_capsule(without_fixed(reading), counter.term_of, vocabulary.index)
    reading = with_limbs(with_places(reading), vocabulary)
    sides = attach_sides(reading)
    if (resumed := with_others(reading, sides)) is not reading:
        reading, sides = resumed, attach_sides(resumed)
    reading, sides = with_lateralised(reading, sides)
    tabled = read_tables(reading)
    limbs = tabled.limbs | sides_of_limbs(reading, sides.unapplied)
    said = _Said(reading, negation=negation, sections=sections, hedge_weight=hedge_weight)
    sides = with_known_sides(reading, sides, said.denied)
    sides = with_carried_sides(reading, sides, said.denied)
    attached = limbs | {n: side for n, side in sides.applied.items() if _is_paired(reading, n)}
    mentions = weigh_vessels(reading, weigh_pressed(reading, said.mentions(counter)))
    mentions = weigh_explained(reading, mentions, said.denied)
    mentions = weigh_halves(reading, weigh_ataxic(reading, mentions))
    for number, (side, words, is_inherited, dominant) in attached.items():
        mentions[number] = mentions[number]._replace(
            side=side,
            side_span=reading.span(words),
            side_inherited=is_inherited,
            is_crossed=number in limbs,
            dominant=dominant,
        )
    wrong = (n for n, first in enumerate(reading.first) if first in misspelt) if misspelt else ()
    for number in wrong:
        mentions[number] = mentions[number]._replace(is_misspelt=True)
    is_term = [term != NO_TERM for term in reading.terms]
    places = [
        mentions[number]._replace(term=said.words(number))
        for number in sorted(attached.keys() - tabled.heads)
        if not is_term[number]
    ]
    for number in tabled.heads:
        is_term[number] = False
    found = list(compress(mentions, is_term))
    found.sort(key=attrgetter("start"))  # sides that stand for a term come last
    denied = ((each.term, each.side) for each in (*found, *places) if each.negation_span)
    rule_based = tuple(_rule_based(reading, sides, said, counter, sides_of_spared(denied)))
    used = {mention.side_span for mention in rule_based}
    used |= {reading.span(side.words) for side in [*limbs.values(), *sides.applied.values()]}
    marks = (SideMark(side, *reading.span(words)) for side, words in sides.unapplied)
    unapplied = (mark for mark in marks if (mark.start, mark.end) not in used)
    return Mentions(tuple(found), tuple(_alone(places, rule_based)), tuple(unapplied), rule_based)


def _is_paired(reading: Reading, number: int) -> bool:
    """Whether a match has sides, as the third ventricle has not."""
    words = reading.tokens[reading.first[number] : reading.last[number] + 1]
    return not UNPAIRED.match(" ".join(words).removeprefix("cerebral ").removeprefix("optic "))


class _Said:
    """What a text says of the matches in it.

    Parameters
    ----------
    reading : Reading
    negation : bool
        Whether what the text denies is told apart.
    sections : bool
        Whether what is in a section that is no finding is told apart.
    hedge_weight : float
        Weight of what the text leaves open.
    """

    def __init__(
        self, reading: Reading, *, negation: bool, sections: bool, hedge_weight: float
    ) -> None:
        self.negation = negation
        self.hedge_weight = hedge_weight
        self.sections = read_sections(reading.text) if sections else []
        self.copies = find_copies(reading.text)
        self._attach(reading)

    def _attach(self, reading: Reading, around: Sequence[int] | None = None) -> None:
        self.reading = reading
        denials = attach_denials(reading, around) if self.negation else Denials({}, {})
        self.denied = denials.denied
        self.hedged = attach_hedges(reading, around) | denials.left_open

    def of(self, names: Sequence[Tokens]) -> "_Said":
        """Return what is said of some more names, which are numbered after the matches."""
        said = copy(self)
        said._attach(
            self.reading.with_matches(names, is_structure=False),
            around=sorted(name.first for name in names),
        )
        for number, name in enumerate(names, len(self.reading.terms)):
            denial = self.denied.get(self.reading.finishes.get(name.last, NO_TERM))
            if denial and not name.first <= denial.first <= name.last:  # "alexia without agraphia"
                said.denied.setdefault(number, denial)  # "the left MCA shows no occlusion"
        return said

    def words(self, number: int) -> str:
        """Words of a match as the text has them."""
        start, end = self.reading.span(
            Tokens(self.reading.first[number], self.reading.last[number])
        )
        return self.reading.text[start:end]

    def mentions(self, counter: TermCounter, first: int = 0) -> list[Mention]:
        """Return a mention of each match from a first one on, on the side that its term has.

        A long text has one every few words, and nothing is said of most: they are made together.
        """
        reading, terms = self.reading, self.reading.terms[first:]
        starts, is_structure = reading.starts[reading.first[first:]], reading.is_structure[first:]
        sections = self._sections_at(starts, is_structure)
        places = zip(sections, _numbers_at(self.copies, starts), strict=True)
        names, sides, is_noise = (list(map(each.__getitem__, terms)) for each in counter.about)
        columns: dict[str, list[Any]] = {
            **{name: [value] * len(terms) for name, value in Mention._field_defaults.items()},
            "term": names,
            "start": starts.tolist(),
            "end": reading.ends[reading.last[first:]].tolist(),
            "side": sides,
            "is_structure": is_structure,
            "section": sections,
            "weight": [0.0 if section or copy else 1.0 for section, copy in places],
            "is_generic": is_noise,
        }
        self._doubt(columns, first)
        fields = map(columns.__getitem__, Mention._fields)
        rows = zip(*fields, strict=True)
        mentions: list[Mention] = list(map(partial(tuple.__new__, Mention), rows))
        return mentions

    def _doubt(self, columns: dict[str, list[Any]], first: int) -> None:
        """Put what denies matches, and what leaves them open, into the columns of their fields."""
        weights, is_generic = columns["weight"], columns["is_generic"]
        for number, words in self.hedged.items():
            if (row := number - first) >= 0:
                weights[row] *= self.hedge_weight
                if not is_generic[row]:
                    columns["hedge_span"][row] = self.reading.span(words)
        for number, words in self.denied.items():
            if (row := number - first) >= 0:
                weights[row] = 0.0
                columns["negation_span"][row] = self.reading.span(words)

    def _sections_at(
        self, places: NDArray[np.intp], is_structure: Sequence[bool]
    ) -> list[str | None]:
        """Return the names of the sections that are no findings at the places of matches."""
        names = [None, *(section.name for section in self.sections)]
        spans = [(section.start, section.end) for section in self.sections]
        sections = [names[number] for number in _numbers_at(spans, places)]
        for number in np.flatnonzero(is_structure).tolist() if ADDRESS in names else ():
            if sections[number] == ADDRESS:
                sections[number] = None  # "Harvard University Insula Study"
        return sections


def _numbers_at(spans: Sequence[Span], places: NDArray[np.intp]) -> list[int]:
    """Return which of some spans, in order, each place is in, from 1 on; 0 for none.

    >>> _numbers_at([(2, 4), (6, 7)], np.array([1, 2, 4, 6]))
    [0, 1, 0, 2]
    """
    if not spans:
        return [0] * len(places)
    starts, ends = np.array(spans).T
    numbers = np.searchsorted(starts, places, side="right")
    is_within = places < np.append(0, ends)[numbers]
    within: list[int] = np.where(is_within, numbers, 0).tolist()
    return within


def find_copies(text: str) -> list[Span]:
    """Find the sentences of a text that stand in it before, but for dates and times.

    Short ones ("Alert.") are copies beside another copy.

    >>> find_copies("8:00 The insula is as it was before. 9:30 The insula is as it was before.")
    [(36, 72)]
    """
    sentences = [match.span() for match in SENTENCE.finditer(text)]
    ends = "\n".join(text[max(start, end - TAIL) : end] for start, end in sentences)
    # No sentence has a line break in it, and bytes are translated many times faster than letters.
    tails = ends.encode("utf-8", "surrogatepass").translate(None, NO_DATE).split(b"\n")
    n_tails = Counter(tails)
    repeated = [i for i, tail in enumerate(tails) if n_tails[tail] > 1]
    long = [i for i in repeated if sentences[i][1] - sentences[i][0] >= SHORTEST_COPY]
    if len({tails[i] for i in long}) == len(long):  # without a long copy, short ones are none
        return []
    copies: set[int] = set()
    known: set[int] = set()  # that stand before, short ones too, or are but a date
    seen: set[str] = set()
    for i in repeated:
        words = text[slice(*sentences[i])]
        words = DATE.sub(" ", words) if IN_DATE.search(words) else words
        words = " ".join(words.strip(" ,:;-–").split())
        if words in seen or not words:
            known.add(i)
        if words in seen and len(words) >= SHORTEST_COPY:
            copies.add(i)
        seen.add(words)
    for i in sorted(copies):
        for step in (-1, 1):
            j = i + step
            while j in known and j not in copies:
                copies.add(j)
                j += step
    return [sentences[i] for i in sorted(copies)]


def _alone(places: list[Mention], names: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the places that are not part of a longer name of a rule: "M1" of "M1 segment"."""
    ends = {name.start: name.end for name in names}
    return (place for place in places if ends.get(place.start, 0) <= place.end)


def _rule_based(
    reading: Reading,
    sides: Sides,
    said: _Said,
    counter: TermCounter,
    spared: Spared,
) -> Iterator[Mention]:
    """Yield the mentions of arteries, syndromes and signs that imply structures."""
    terms = ["" if term == NO_TERM else counter.vocabulary.terms[term] for term in reading.terms]
    names = find_names(reading, sides.applied, said.denied, terms)
    if not names:
        return
    said = said.of([name.tokens for name in names])
    for name, mention in zip(names, said.mentions(counter, len(reading.terms)), strict=True):
        yield mention._replace(
            term=name.entry.name,
            rule_kind=name.entry.kind,
            implied=without_spared(implied_by(name, counter.term_of), spared),
            side=name.side and name.side.side,
            side_span=name.side and reading.span(name.side.words),
            dominant=name.side.dominant if name.side and not name.entry.is_crossed else None,
        )


def count_mentions(
    mentions: Mentions, extractor: TermExtractor, *, with_negated: bool = False
) -> sparse.csr_matrix:
    """Count the mentions that are not negated: float32, of shape (1, n_terms).

    Where nothing is negated, or with `with_negated`, these are ``extractor.counts([text])``.

    >>> from neurowhere.text import Vocabulary
    >>> extractor = TermExtractor(Vocabulary(["insula", "thalamus"]), sided=["left insula"])
    >>> mentions = read_mentions("Left insula; the thalamus is spared.", extractor.counter)
    >>> count_mentions(mentions, extractor).toarray()
    array([[1., 0., 1.]], dtype=float32)
    """
    return count_each([mentions], extractor, with_negated=with_negated)


def count_each(
    texts: Sequence[Mentions], extractor: TermExtractor, *, with_negated: bool = False
) -> sparse.csr_matrix:
    """Count as `count_mentions` does in each of several texts: (n_texts, n_terms)."""
    sided = {name: len(extractor.vocabulary) + i for i, name in enumerate(extractor.sided)}
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    for row, mentions in enumerate(texts):
        for mention in mentions.found if with_negated else mentions.present:
            here = [extractor.vocabulary.index(mention.term)]
            if (name := f"{mention.side} {mention.term}") in sided and not mention.is_crossed:
                here.append(sided[name])
            columns += here
            rows += [row] * len(here)
            weights += [1.0 if with_negated else mention.weight] * len(here)
    shape = (len(texts), len(extractor.terms))
    counts = sparse.csr_matrix((weights, (rows, columns)), shape=shape, dtype=np.float64)
    return extractor.weigh({"body": counts})


def side_shares(mentions: Mentions, weights: Mapping[str, float] | None = None) -> SideShares:
    r"""Share of the weight of the brain's parts that a text puts on the left and on the right.

    With w_t the weight of a structure's term t, n_t its mentions that are not negated and
    n_t^left those on the left, the share of the left is Σ w_t n_t^left / n_t over Σ w_t. Mentions
    on both sides count as neither, but for a part of those with more on one; general words
    ("brain", "white matter") without a side count nothing. A place that is no term weighs as much
    as a mention of a structure on average, or 1 where there is none.

    Parameters
    ----------
    mentions : Mentions
    weights : mapping of str to float, optional
        Weight of each term in the text, such as its feature; 0 for those that are not in it. By
        default each mention weighs 1.

    Examples
    --------
    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula", "thalamus"]))
    >>> side_shares(read_mentions("left insula, thalamus, left hand", counter))
    SideShares(left=0.5, right=0.0, neither=0.5)
    """
    structures = [
        mention
        for mention in mentions.present
        if mention.is_structure and (mention.side or not is_general(mention.term))
    ]
    n_mentions = Counter(mention.term for mention in structures)
    amounts = {"left": 0.0, "right": 0.0, "neither": 0.0}
    for mention in structures:
        weight = 1.0 if weights is None else weights.get(mention.term, 0) / n_mentions[mention.term]
        for direction, share in _directions(mention):
            amounts[direction] += share * weight
    average = sum(amounts.values()) / max(len(structures), 1)
    for place in mentions.places:
        if place.is_present:
            for direction, share in _directions(place):
                amounts[direction] += share * (average or 1.0)
    total = sum(amounts.values())
    if not total:
        return SideShares(0.0, 0.0, 1.0)
    return SideShares(**{name: amount / total for name, amount in amounts.items()})


def _directions(mention: Mention) -> list[tuple[str, float]]:
    """Sides of a mention, and its share on each."""
    if mention.dominant:
        return [(mention.dominant, DOMINANCE), ("neither", 1 - DOMINANCE)]
    return [(mention.side if mention.side in LATERAL else "neither", 1.0)]


def implied_structures(mentions: Mentions) -> tuple[Implied, ...]:
    """Return the structures that arteries, syndromes and signs of a text point to.

    Those that the text denies, or that are no findings, point nowhere. A structure that several
    names imply has the largest of their weights; a hedged name weighs as much as its mention.

    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["occipital lobe", "pons"]))
    >>> implied_structures(read_mentions("Left hemianopia, no locked-in syndrome.", counter))
    (Implied(term='occipital lobe', side='right', weight=1.0),)
    """
    weights: dict[tuple[str, Side | None], float] = {}
    for mention in mentions.rule_based:
        for term, side, weight in mention.implied if mention.is_present else ():
            weights[term, side] = max(weight * mention.weight, weights.get((term, side), 0.0))
    return tuple(Implied(term, side, weight) for (term, side), weight in weights.items())
