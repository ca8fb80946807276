"""Reading: texts as a model reads them, with the terms that they affirm and the sides of these.

A very long text is read in pieces, so that the words of one piece at a time are in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.exceptions import TextError
from neurowhere.learn import Gates
from neurowhere.text import TermCounter, TermExtractor, TfIdf, Vocabulary
from neurowhere.text.articles import place_weights
from neurowhere.text.clinical.mentions import (
    Mention,
    Mentions,
    SideShares,
    Span,
    count_each,
    read_mentions,
)
from neurowhere.text.clinical.places import is_general

ANATOMY = 1.73  # factor of the names of structures in an article
EXTRA_POWER = 0.5  # of the short gate, in the factor of extra words
LEAST_OPEN = 0.05  # of the long gate; a text below is no article
_is_general = lru_cache(maxsize=1 << 14)(is_general)
BESIDE_LEARNED = 0.5  # weight of a rule for a name that the model knows
SIGNS: dict[str, float] = {"left": 1.0, "right": -1.0}  # both sides, or none, are neither

PIECE = 250_000  # characters; nearly all texts are shorter, and read at once
ENDS = ("\n\n", "\n", ". ", " ")  # where a text may be cut, the best first


@dataclass(frozen=True)
class Reader:
    """How a model reads texts.

    Attributes
    ----------
    negation : bool
        Whether what a text denies is left out.
    sides : bool
        Whether structures move to the sides that a text gives them.
    findings : bool
        Whether sections of a report that hold no findings (technique, indication, history,
        comparison, plan) are left out.
    hedge_weight : float
        Weight of what a text leaves open ("possible", "cannot be excluded"), 1 for that of others.
    """

    negation: bool = True
    sides: bool = True
    findings: bool = True
    hedge_weight: float = 1.0

    def mentions(self, text: str, counter: TermCounter) -> Mentions:
        """Find the terms of a text, and what it says of them."""
        read = partial(
            read_mentions,
            counter=counter,
            negation=self.negation,
            sections=self.findings,
            hedge_weight=self.hedge_weight,
        )
        return read_in_pieces(text, read)


@dataclass(frozen=True, eq=False)
class Readings:
    """Some texts as a model reads them.

    Attributes
    ----------
    mentions : list of Mentions
        All that was read in each text.
    implied : list of list of Mention
        Structures that arteries, syndromes and signs in each text point to by a rule.
    features : csr_matrix of shape (n_texts, n_terms)
        Features x of the terms that the texts affirm.
    extractor : TermExtractor or None
        Counts the terms; None for a model of the mean map, which reads nothing.
    """

    mentions: list[Mentions]
    implied: list[list[Mention]]
    features: sparse.csr_matrix
    extractor: TermExtractor | None

    @classmethod
    def read(
        cls, texts: Sequence[str], extractor: TermExtractor, weighting: TfIdf, reader: Reader
    ) -> "Readings":
        """Find the terms of texts, and weigh those that the texts affirm."""
        mentions = [reader.mentions(text, extractor.counter) for text in texts]
        implied = [_implied(each, extractor) for each in mentions]
        counted = [
            replace(each, found=(*each.found, *more))
            for each, more in zip(mentions, implied, strict=True)
        ]
        counts = count_each(counted, extractor)
        if isinstance(weighting, GatedTfIdf):
            gates = weighting.gates.of(counts).long
            if (gates > LEAST_OPEN).any():
                texts_and_gates = zip(texts, counted, gates.tolist(), strict=True)
                counted = [_as_article(*each) for each in texts_and_gates]
                counts = count_each(counted, extractor)
        features = weighting.transform(counts)
        return cls(mentions, implied, _carrying(features, extractor), extractor)

    @classmethod
    def unread(cls, n_texts: int) -> "Readings":
        """Return the readings of texts that do not matter."""
        nothing = sparse.csr_matrix(np.zeros((n_texts, 0), dtype=np.float32))
        return cls([Mentions(())] * n_texts, [[]] * n_texts, nothing, None)

    def where(self, row: int) -> dict[str, list[Mention]]:
        """Return the mentions that count for each term of a text; nested terms count too."""
        found: dict[str, list[Mention]] = {}
        if self.extractor is None:
            return found
        within, sided = self.extractor.terms_within, frozenset(self.extractor.sided)
        for mention in (*self.mentions[row].present, *self.implied[row]):
            names = [mention.term, *within.get(mention.term, ())]
            if (name := f"{mention.side} {mention.term}") in sided:
                names.append(name)
            for name in names:
                found.setdefault(name, []).append(mention)
        return found

    def structures(self, row: int) -> dict[int, float]:
        """Return the side of the structures of a text, by their place among its features.

        The side d is the share of the term's mentions on the left minus the share on the right. A
        term within a longer name is on the side of the name. Empty where no structure has one.
        """
        counted = (*self.mentions[row].present, *self.implied[row])
        if self.extractor is None or not any(mention.side in SIGNS for mention in counted):
            return {}
        where, terms = self.where(row), self.extractor.terms
        found = {}
        for place, column in enumerate(self.features[row].indices.tolist()):
            mentions = where[terms[column]]
            side = sum(SIGNS.get(mention.side or "", 0.0) for mention in mentions) / len(mentions)
            if side or any(mention.is_structure for mention in mentions):
                found[place] = side
        return found

    def fold_shares(self, row: int) -> SideShares:
        """Return how much of a text is about sides of places that have no map of their own.

        "Left MCA" and "left hemisphere" move the whole map. Every other structure that the text
        affirms has a side of its own, or none, and counts as neither.
        """
        mentions = self.mentions[row]
        ruled = {(mention.start, mention.end) for mention in self.implied[row]}
        placeless = [
            place.side
            for place in mentions.places
            if place.is_present and (place.start, place.end) not in ruled
        ]
        n_structures = 0
        for mention in mentions.present:
            if not _is_general(mention.term):
                n_structures += mention.is_structure
            elif mention.side:
                placeless.append(mention.side)
        total = len(placeless) + n_structures
        left, right = (placeless.count(side) / max(total, 1) for side in ("left", "right"))
        return SideShares(left, right, 1 - left - right)


class GatedTfIdf(TfIdf):
    """Weights of terms that depend on the number of known terms in a text.

    With c the count of a term and w its weight, x ∝ s(c) · w as in `TfIdf`, times 1.73^h for names
    of structures, and times √g for extra words, with g and h the gates of the text
    (`neurowhere.learn.exponent`).

    Parameters
    ----------
    idf : array of shape (n_terms,)
    is_extra, is_anatomy : array of shape (n_terms,)
    """

    def __init__(
        self,
        idf: NDArray[np.floating],
        is_extra: NDArray[np.bool_],
        is_anatomy: NDArray[np.bool_],
    ) -> None:
        self.idf_ = np.asarray(idf, dtype=np.float32)
        self.gates = Gates(is_extra)
        self.is_anatomy = is_anatomy

    @classmethod
    def of_vocabulary(
        cls, idf: NDArray[np.floating], vocabulary: Vocabulary, terms: Sequence[str]
    ) -> "GatedTfIdf":
        """Make the weighting of terms by their categories."""
        categories = np.array([vocabulary.category(term) for term in terms])
        return cls(idf, categories == "extra", categories == "anatomy")

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        short, long = (np.repeat(gate, np.diff(counts.indptr)) for gate in self.gates.of(counts))
        weighted = super()._weigh(counts)
        columns = weighted.indices
        weighted.data *= np.where(self.is_anatomy[columns], ANATOMY**long, 1)
        weighted.data *= np.where(self.gates.is_extra[columns], short**EXTRA_POWER, 1)
        return weighted


def _implied(mentions: Mentions, extractor: TermExtractor) -> list[Mention]:
    """Return the structures that rules point to.

    Each stands where the name stands, on the side that the rule gives it. Where the name is a term
    of the model too, rules count half: what was learned counts beside them.
    """
    known = {(mention.start, mention.end) for mention in mentions.found}
    return [
        Mention(
            structure.term,
            mention.start,
            mention.end,
            side=structure.side,
            is_structure=True,
            weight=structure.weight
            * mention.weight
            * (BESIDE_LEARNED if (mention.start, mention.end) in known else 1),
        )
        for mention in mentions.rule_based
        if mention.is_present
        for structure in mention.implied
        if structure.term in extractor.vocabulary
    ]


def _as_article(text: str, mentions: Mentions, gate: float) -> Mentions:
    """Weigh the mentions of a text by their places, as far as it is long: by exp(h v)."""
    found = mentions.found
    if gate <= LEAST_OPEN:
        return mentions
    starts = np.array([mention.start for mention in found])
    numbers: dict[str, int] = {}
    terms = np.array([numbers.setdefault(mention.term, len(numbers)) for mention in found])
    structures = np.array([mention.is_structure for mention in found], dtype=bool)
    factors = np.exp(gate * place_weights(text, starts, terms, structures)).tolist()
    weighed = (
        mention._replace(weight=mention.weight * factor)
        for mention, factor in zip(found, factors, strict=True)
    )
    return replace(mentions, found=tuple(weighed))


def _carrying(features: sparse.csr_matrix, extractor: TermExtractor) -> sparse.csr_matrix:
    """Return the features without the texts whose only known words are generic ones.

    "The quick brown fox" says nothing of the brain, although some study says "brown".
    """
    carries = features @ (~extractor.is_generic).astype(np.float32) > 0
    return sparse.csr_matrix(sparse.diags_array(carries.astype(np.float32)) @ features)


def spans(mentions: Iterable[Mention]) -> list[Span]:
    """Return where mentions are."""
    return [(mention.start, mention.end) for mention in mentions]


def as_texts(X: Iterable[str]) -> Iterable[str]:
    """Return texts as they are; one string is not a sequence of texts."""
    if isinstance(X, str):
        raise TextError(
            "expected a list of texts, got one string; put it in a list, or call encode(text)"
        )
    return X


def chunks(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield lists of at most `size` items, as they come."""
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield chunk


def read_in_pieces(text: str, read: Callable[[str], Mentions], *, piece: int = PIECE) -> Mentions:
    """Read a text, in pieces where it is long.

    A piece ends with a paragraph, a line, a sentence or a word. What a sentence says of its terms
    is therefore the same; a section of a report that goes on in the next piece is not.

    Parameters
    ----------
    text : str
    read : callable
        Finds the mentions of a text.
    piece : int
        Characters of the longest piece.

    Returns
    -------
    Mentions
        Their places are those in the whole text.
    """
    if len(text) <= piece:
        return read(text)
    parts = [_moved(read(text[start:end]), start) for start, end in cuts(text, piece)]
    names = [field.name for field in fields(Mentions)]
    return Mentions(*(tuple(m for part in parts for m in getattr(part, name)) for name in names))


def cuts(text: str, piece: int) -> Iterator[Span]:
    """Yield where the pieces of a text start and end.

    >>> list(cuts("One two. Three four five six.", 12))
    [(0, 9), (9, 20), (20, 29)]
    """
    start = 0
    while len(text) - start > piece:
        found = ((text.rfind(end, start, start + piece), end) for end in ENDS)
        places = (at + len(end) for at, end in found if at > start)
        end = next(places, start + piece)
        yield start, end
        start = end
    yield start, len(text)


def _moved(mentions: Mentions, offset: int) -> Mentions:
    """Move the mentions of a piece to where they are in the whole text."""
    if not offset:
        return mentions
    found, places, rule_based = (
        tuple(_moved_mention(mention, offset) for mention in some)
        for some in (mentions.found, mentions.places, mentions.rule_based)
    )
    unapplied = tuple(
        mark._replace(start=mark.start + offset, end=mark.end + offset)
        for mark in mentions.unapplied
    )
    return Mentions(found, places, unapplied, rule_based)


def _moved_mention(mention: Mention, offset: int) -> Mention:
    def moved(span: Span | None) -> Span | None:
        return None if span is None else (span[0] + offset, span[1] + offset)

    return mention._replace(
        start=mention.start + offset,
        end=mention.end + offset,
        side_span=moved(mention.side_span),
        negation_span=moved(mention.negation_span),
        hedge_span=moved(mention.hedge_span),
    )
