"""Context: the terms that a text mentions, with the sides and the negations around them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from neurowhere.text.clinical.sides import attach_sides
from neurowhere.text.clinical.denials import attach_negations
from neurowhere.text.clinical.places import Side, is_general, with_places
from neurowhere.text.counter import TermCounter
from neurowhere.text.extraction import LATERAL, TermExtractor
from neurowhere.text.matching import NO_TERM

Span = tuple[int, int]


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
    """

    term: str
    start: int
    end: int
    side: Side | None = None
    side_span: Span | None = None
    negation_span: Span | None = None
    is_structure: bool = False

    @property
    def is_negated(self) -> bool:
        """Whether the text denies it."""
        return self.negation_span is not None


class SideMark(NamedTuple):
    """A side that was seen and not applied: that of a limb, a visual field or a symptom."""

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
    """What a text mentions, in its order; iterates over the mentions of terms.

    Attributes
    ----------
    found : tuple of Mention
        Mentions of the vocabulary's terms, the negated ones included.
    places : tuple of Mention
        Places that the text gives a side and the vocabulary lacks: "left PICA".
    unapplied : tuple of SideMark
        Sides that were seen and not applied.
    """

    found: tuple[Mention, ...]
    places: tuple[Mention, ...] = ()
    unapplied: tuple[SideMark, ...] = ()

    def __iter__(self) -> Iterator[Mention]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def present(self) -> tuple[Mention, ...]:
        """The mentions of terms that the text does not deny."""
        return tuple(mention for mention in self.found if not mention.is_negated)


def read_mentions(text: str, counter: TermCounter, *, negation: bool = True) -> Mentions:
    """Find the terms in a text, the sides that they are on, and which of them the text denies.

    Without `negation`, nothing counts as denied.

    Examples
    --------
    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula", "thalamus"]))
    >>> mentions = read_mentions("Left insula infarct, no lesion in the thalamus.", counter)
    >>> [(mention.term, mention.side, mention.is_negated) for mention in mentions]
    [('insula', 'left', False), ('thalamus', None, True)]
    """
    reading = with_places(counter.read(text))
    sides = attach_sides(reading)
    negations = attach_negations(reading) if negation else {}
    found, places = [], []
    starts, ends = reading.starts[reading.first].tolist(), reading.ends[reading.last].tolist()
    for number, term in enumerate(reading.terms):
        start, end = starts[number], ends[number]
        side, words = sides.applied.get(number, (None, None))
        denial = negations.get(number)
        mention = Mention(
            term=text[start:end] if term == NO_TERM else counter.vocabulary.terms[term],
            start=start,
            end=end,
            side=side or (None if term == NO_TERM else counter.sides[term]),
            side_span=reading.span(words) if words else None,
            negation_span=reading.span(denial) if denial else None,
            is_structure=reading.is_structure[number],
        )
        if term != NO_TERM:
            found.append(mention)
        elif side:
            places.append(mention)
    unapplied = (SideMark(side, *reading.span(words)) for side, words in sides.unapplied)
    return Mentions(tuple(found), tuple(places), tuple(unapplied))


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
    for row, mentions in enumerate(texts):
        for mention in mentions.found if with_negated else mentions.present:
            here = [extractor.vocabulary.index(mention.term)]
            if (name := f"{mention.side} {mention.term}") in sided:
                here.append(sided[name])
            columns += here
            rows += [row] * len(here)
    shape = (len(texts), len(extractor.terms))
    counts = sparse.csr_matrix((np.ones(len(rows), np.int64), (rows, columns)), shape=shape)
    return extractor.weigh({"body": counts})


def side_shares(mentions: Mentions, weights: Mapping[str, float] | None = None) -> SideShares:
    r"""Share of the weight of the brain's parts that a text puts on the left and on the right.

    With w_t the weight of a structure's term t, n_t its mentions that are not negated and
    n_t^left those on the left, the share of the left is Σ w_t n_t^left / n_t over Σ w_t. Mentions
    on both sides count as neither; general words ("brain", "white matter") without a side count
    nothing. A place that is no term weighs as much as a mention of a structure on average, or 1
    where there is none.

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
        amounts[_direction(mention)] += weight
    average = sum(amounts.values()) / max(len(structures), 1)
    for place in mentions.places:
        if not place.is_negated:
            amounts[_direction(place)] += average or 1.0
    total = sum(amounts.values())
    if not total:
        return SideShares(0.0, 0.0, 1.0)
    return SideShares(**{name: amount / total for name, amount in amounts.items()})


def _direction(mention: Mention) -> str:
    return mention.side if mention.side in LATERAL else "neither"
