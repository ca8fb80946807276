"""Counted: the mentions of a text that count, as arrays: a long text has a million of them.

A very long text is read in pieces, so that the words of one piece at a time are in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import track
from neurowhere.text import TermExtractor
from neurowhere.text.places import is_general, limb_sign
from neurowhere.text.reading.mentions import (
    DOMINANCE,
    Mention,
    Mentions,
    SideShares,
    Span,
)
from neurowhere.text.words import PIECE, cuts

Ints = NDArray[np.integer]
Rows = NDArray[Any]  # of the fields of ROW

ROW = np.dtype(
    [
        ("term", np.int32),  # its index in the vocabulary
        ("start", np.int32),
        ("end", np.int32),
        ("side", np.int8),  # 0 for none, or as in SIDE_NUMBERS and DOMINANT
        ("weight", np.float64),
        ("is_structure", np.bool_),
        ("is_crossed", np.bool_),  # of a side of the body
        ("is_present", np.bool_),
        ("is_implied", np.bool_),  # by a rule, not by name
    ]
)
LEFT, RIGHT, BILATERAL = 1, 2, 3
SIDE_NUMBERS = {None: 0, "left": LEFT, "right": RIGHT, "bilateral": BILATERAL}
DOMINANT = {"left": 4, "right": 5}  # both, but more on one
SIGNS = np.array([0.0, 1.0, -1.0, 0.0, DOMINANCE, -DOMINANCE])  # both, or none, are neither
_is_general = lru_cache(maxsize=1 << 14)(is_general)
_limb_sign = lru_cache(maxsize=1 << 14)(limb_sign)


class Placeless(NamedTuple):
    """Numbers of places that have no map of their own: on each side, and in all."""

    left: int = 0
    right: int = 0
    all: int = 0

    def plus(self, other: "Placeless") -> "Placeless":
        """Add up the numbers of two parts of a text."""
        return Placeless(*map(sum, zip(self, other, strict=True)))


def rows_of(
    found: Sequence[Mention], extractor: TermExtractor, implied: Sequence[Mention] = ()
) -> Rows:
    """Return mentions as the rows of an array: what is found, then what rules imply."""
    mentions = (*found, *implied)
    rows: Rows = np.empty(len(mentions), ROW)
    if not mentions:
        return rows
    columns = dict(zip(Mention._fields, zip(*mentions, strict=True), strict=True))
    index = {term: extractor.vocabulary.index(term) for term in set(columns["term"])}
    rows["term"] = list(map(index.__getitem__, columns["term"]))
    sides = zip(columns["side"], columns["dominant"], strict=True)
    rows["side"] = [DOMINANT[more] if more else SIDE_NUMBERS[side] for side, more in sides]
    for name in ("start", "end", "weight", "is_structure", "is_crossed"):
        rows[name] = columns[name]
    absent = zip(columns["negation_span"], columns["section"], strict=True)
    rows["is_present"] = [denial is None and section is None for denial, section in absent]
    rows["is_implied"] = np.arange(len(rows)) >= len(found)
    return rows


def placeless_of(mentions: Mentions, implied: Sequence[Mention]) -> Placeless:
    """Count the places that a text affirms and gives a side, where no rule reads them."""
    if not mentions.places:
        return Placeless()
    ruled = {(mention.start, mention.end) for mention in implied}
    sides = [
        place.side
        for place in mentions.places
        if place.is_present and (place.start, place.end) not in ruled
    ]
    return Placeless(sides.count("left"), sides.count("right"), len(sides))


class RowCounter:
    """Counts the mentions of texts by their weights, which may change between two counts.

    Those that a text denies are not counted.

    Parameters
    ----------
    rows : array of the fields of `ROW`
        The mentions of all texts, those of a text together.
    texts : array of shape (n,)
        Number of the text of each.
    n_texts : int
    extractor : TermExtractor
    """

    def __init__(self, rows: Rows, texts: Ints, n_texts: int, extractor: TermExtractor) -> None:
        self._rows, self._present = rows, np.flatnonzero(rows["is_present"])
        numbers, n_terms = texts[self._present], len(extractor.terms)
        columns, self._which, times = _entries(rows[self._present], extractor)
        self._times = times * (extractor.section_weights or {}).get("body", 1.0)
        keys, self._entry = np.unique(numbers[self._which] * n_terms + columns, return_inverse=True)
        bounds = np.searchsorted(keys, np.arange(n_texts + 1) * n_terms)
        entries = (np.zeros(len(keys), np.float32), keys % n_terms, bounds)
        self._counts = sparse.csr_matrix(entries, shape=(n_texts, n_terms))

    def count(self) -> sparse.csr_matrix:
        """Return the counts, of shape (n_texts, n_terms); the next call changes them."""
        values = self._rows["weight"][self._present][self._which] * self._times
        counts = np.bincount(self._entry, values, len(self._counts.data))
        self._counts.data = counts.astype(np.float32)
        return self._counts


def _entries(rows: Rows, extractor: TermExtractor) -> tuple[Ints, Ints, Ints]:
    """Return the columns in which mentions count, the mention of each entry, and how often.

    A mention counts for its own term, for the term on its side, and for those within it.
    """
    term, which = rows["term"], np.arange(len(rows))
    sided, sided_columns = _sided_columns(rows, extractor)
    columns, mentions = [term, sided_columns], [which, sided]
    times = [np.ones(len(rows) + len(sided), np.float32)]
    if extractor.nested:
        within = extractor.within
        lengths = np.diff(within.indptr)[term]
        ends = np.cumsum(lengths)
        steps = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
        places = np.repeat(within.indptr[term], lengths) + steps
        columns.append(within.indices[places])
        mentions.append(np.repeat(which, lengths))
        times.append(within.data[places])
    return np.concatenate(columns), np.concatenate(mentions), np.concatenate(times)


def _sided_columns(rows: Rows, extractor: TermExtractor) -> tuple[Ints, Ints]:
    """Return the rows that count as terms on one side as well, and the columns of these."""
    nothing = np.empty(0, np.intp)
    if not extractor.sided:
        return nothing, nothing
    known = np.full((len(SIGNS), len(extractor.vocabulary)), -1)
    for column, name in enumerate(extractor.sided, len(extractor.vocabulary)):
        side, _, term = name.partition(" ")
        known[SIDE_NUMBERS[side], extractor.vocabulary.index(term)] = column
    columns = np.where(rows["is_crossed"], -1, known[rows["side"], rows["term"]])
    sided = np.flatnonzero(columns >= 0)
    return sided, columns[sided]


@dataclass(frozen=True, eq=False)
class Counted:
    """The mentions of some texts that count: what they affirm, and what rules make of that.

    Attributes
    ----------
    rows : array of shape (n,), of the fields of `ROW`
        Those of each text together.
    texts : array of shape (n,)
        Number of the text of each.
    placeless : list of Placeless
        Places of each text that are in no row.
    extractor : TermExtractor
    """

    rows: Rows
    texts: Ints
    placeless: list[Placeless]
    extractor: TermExtractor

    def only(self, text: int) -> "Counted":
        """Return the mentions of one of the texts."""
        rows = self.rows[slice(*np.searchsorted(self.texts, [text, text + 1]))].copy()
        first = np.zeros(len(rows), np.int8)  # as little as there is
        return Counted(rows, first, [self.placeless[text]], self.extractor)

    def uses(
        self, columns: Ints, listed: int | None
    ) -> tuple[list[int], list[list[Span]], list[bool]]:
        """Return how one text uses some terms: how often, where, and whether by rules alone.

        Places after `listed` are left out.
        """
        column, mention, _ = _entries(self.rows, self.extractor)
        order = np.lexsort((mention, column))
        column, rows = column[order], self.rows[mention[order]]
        first = np.searchsorted(column, columns)
        end = np.searchsorted(column, columns, side="right")
        is_listed = rows["start"] < (np.inf if listed is None else listed)
        n_listed, n_named = (
            np.concatenate([[0], np.cumsum(each)]) for each in (is_listed, ~rows["is_implied"])
        )
        kept = rows[is_listed]
        places = list(zip(kept["start"].tolist(), kept["end"].tolist(), strict=True))
        here = map(slice, n_listed[first].tolist(), n_listed[end].tolist())
        is_implied = n_named[end] == n_named[first]
        return (end - first).tolist(), [places[each] for each in here], is_implied.tolist()

    @cached_property
    def _limb_signs(self) -> NDArray[np.float64]:
        """Return the side that the limb of a text gives to each mention: 1 for left, −1 for right.

        "Left hand movements activated the motor cortex" is right: a limb moves the structures that
        serve it if its side is the only one of the text.
        """
        signs, names = np.zeros(len(self.rows)), self.extractor.vocabulary.terms
        limbs = (self.rows["side"] > 0) & (self.rows["weight"] > 0) & self.rows["is_crossed"]
        for text in np.unique(self.texts[limbs]).tolist():
            some = slice(*np.searchsorted(self.texts, [text, text + 1]))
            side = self._side_of_limbs(self.rows[some], self.placeless[text])
            if side:
                is_free = self.rows["is_structure"][some] & (self.rows["side"][some] == 0)
                free = some.start + np.flatnonzero(is_free)
                terms = self.rows["term"][free].tolist()
                signs[free] = [side * _limb_sign(names[term]) for term in terms]
        return signs

    def _side_of_limbs(self, rows: Rows, placeless: Placeless) -> float:
        """Side of the limbs of a text, if nothing else has one: 1 for left, −1 for right, or 0."""
        sided = rows[(rows["side"] > 0) & (rows["weight"] > 0)]
        sides = np.unique(sided["side"])
        if placeless.all or len(sides) != 1 or not sided["is_crossed"].all():
            return 0.0
        names = self.extractor.vocabulary.terms
        is_seen = any("field" in names[term] for term in set(sided["term"].tolist()))
        return 0.0 if is_seen else float(SIGNS[sides[0]])

    def balance(
        self, features: sparse.csr_matrix, limbs: NDArray[np.floating]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return which features of the texts are structures or have a side, and their sides.

        The side d is the share of the term's mentions on the left minus the share on the right:
        of the brain first, then of the body. A term within a longer name is on the side of the
        name. What serves the limb of a text has d = ±limbs.

        Parameters
        ----------
        features : csr_matrix of shape (n_texts, n_terms)
        limbs : array of shape (n_texts,)

        Returns
        -------
        entries : array of shape (k,)
            Places in `features.data`.
        balance : array of shape (k, 2)
        """
        columns, which, _ = _entries(self.rows, self.extractor)
        found, entry = _places_in(features, self.texts[which], columns)
        which = which[found]
        rows, size = self.rows, features.nnz
        sides, crossed = SIGNS[rows["side"]], rows["is_crossed"]
        of_brain = sides * ~crossed + limbs[self.texts] * self._limb_signs
        *totals, n_structures, n_mentions = (
            np.bincount(entry, values[which], minlength=size)
            for values in (of_brain, sides * crossed, rows["is_structure"], np.ones(len(rows)))
        )
        balance = np.stack(totals, axis=1) / np.maximum(n_mentions, 1)[:, None]
        places = np.flatnonzero(balance.any(axis=1) | (n_structures > 0))
        return places, balance[places]

    def named(
        self, features: sparse.csr_matrix, limbs: NDArray[np.floating]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        """Return which features of the texts name structures, the weight of each, and its side.

        Words within a longer name, and general or extra ones, name nothing of their own. The weight
        is the largest of the mentions, at most 1; the side d is as in `balance`.
        """
        is_named = self.rows["is_structure"] & (self.rows["weight"] > 0)
        is_named &= ~(self._is_general | self.extractor.is_generic[self.rows["term"]])
        rows, texts = self.rows[is_named], self.texts[is_named]
        d = SIGNS[rows["side"]] + limbs[texts] * self._limb_signs[is_named]
        found, entry = _places_in(features, texts, rows["term"])
        places, number = np.unique(entry, return_inverse=True)
        weights = np.zeros(len(places))
        np.maximum.at(weights, number, np.minimum(rows["weight"][found], 1))
        sides = np.bincount(number, d[found], len(places))
        return places, weights, sides / np.bincount(number, minlength=len(places))

    @cached_property
    def _is_general(self) -> NDArray[np.bool_]:
        """Whether each mention is of a place that has no map of its own."""
        names = self.extractor.vocabulary.terms
        return np.array([_is_general(names[term]) for term in self.rows["term"].tolist()], bool)

    def fold_shares(self) -> list[SideShares]:
        """Return how much of each text is about sides of places that have no map of their own.

        "Left MCA" and "left hemisphere" move the whole map. Every other structure that the text
        affirms counts as neither; as far as these have sides of their own, the map stays: "left
        hemisphere stroke activated the right insula".
        """
        side, is_named = self.rows["side"], ~self.rows["is_implied"]
        general = self._is_general & is_named
        is_own = self.rows["is_structure"] & ~general
        n_left, n_right, n_sided, n_structures, n_own, n_own_sided = (
            np.bincount(self.texts[some], minlength=len(self.placeless)).tolist()
            for some in (
                general & (side == LEFT),
                general & (side == RIGHT),
                general & (side > 0),
                is_own & is_named,
                is_own,
                is_own & (side > 0),
            )
        )
        shares = []
        for text, placeless in enumerate(self.placeless):
            known = placeless.plus(Placeless(n_left[text], n_right[text], n_sided[text]))
            total = max(known.all + n_structures[text], 1)
            moves = 1 - n_own_sided[text] / max(n_own[text], 1)
            left, right = (moves * n / total for n in (known.left, known.right))
            shares.append(SideShares(left, right, 1 - left - right))
        return shares


def _places_in(
    features: sparse.csr_matrix, texts: Ints, columns: Ints
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of some pairs of text and column the features have, and their places there."""
    n_texts, n_terms = features.shape
    first = np.repeat(np.arange(n_texts) * n_terms, np.diff(features.indptr))
    keys = np.append(first + features.indices, n_texts * n_terms)
    asked = texts.astype(np.int64) * n_terms + columns
    places = np.searchsorted(keys, asked)
    found = np.flatnonzero(keys[places] == asked)
    return found, places[found]


def read_in_pieces(
    text: str, read: Callable[[str], Mentions], *, piece: int = PIECE
) -> Iterator[tuple[int, Mentions]]:
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

    Yields
    ------
    (int, Mentions)
        Where a piece starts, and its mentions. Their places are those in the whole text.
    """
    if len(text) <= piece:
        yield 0, read(text)
        return
    for start, end in track(list(cuts(text, piece)), "reading"):
        yield start, _moved(read(text[start:end]), start)


def joined(parts: Sequence[Mentions]) -> Mentions:
    """Return the mentions of pieces as those of one text."""
    if len(parts) == 1:
        return parts[0]
    names = [field.name for field in fields(Mentions)]
    return Mentions(*(tuple(m for part in parts for m in getattr(part, name)) for name in names))


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
