"""Exponent: what shapes the map of a text besides the loadings of its terms.

**Gates** tell how far a text is a few words, or a whole article. With n the number of distinct
known terms of a text,

    g = n₀ / (n₀ + n),        h = n⁶ / (n⁶ + N⁶),        s = 1 − σ_g g + σ_h h.

The short gate g is 1 for a text without a known term, and closes as terms add up. The long gate h
opens where a text is longer than an abstract and its introduction; the gate by which mentions weigh
by their section has `N_SECTIONS` in place of N. The sharpness s multiplies the whole exponent: a
few words say less than they seem to, and an article says more.

**Prior**: the name of a place adds to a map, however few studies mention it. The name of region r
adds L_r = log(½/V + ½ p_r) − log(½/V + ½ q̄), with p_r the density of the region, q̄ the mean map and
V the volume of the brain. Term t adds

    τ λ_t x_t² L_r(t),        λ_t = n₀ / (n₀ + n_t),

so that what n_t studies have taught about the term takes over where there are many.

**Sides**: a text that puts structures on one side shifts its map. The term t of a structure adds a
map e_t to the exponent (or, in a linear model, to the probabilities). The map
ê_t = e_t − log Σ_k q̄_k exp(e_tk) is how far the term alone raises the log probability of each
region, and a_t = max(ê_t, 0) is where it does; in a linear model a_t = max(e_t, 0). Let d_t be the
share of the term's mentions on the left minus that on the right, and s = 1 in the left hemisphere,
−1 in the right one. The sides add

    s ∘ b ∘ Σ_t h_t,    b = Σ_t d_t a_t² / Σ_t a_t²,    h_t = a_t √(a_t / max a_t).

A side of the body ("left hand") is crossed: its s is −κ g in the left half of the cerebrum, κ g in
the right one, and the other way round in the cerebellum. In a long text, where g is small, the limb
is most often the one that pressed a button. If limbs of one side are all that has a side,
structures that serve them and have none take d = ∓κ g: "left hand movements activated the motor
cortex".

The sum of h is over the terms that have a side; b is over all structures, but for faint ones
without a side (`neurowhere.model.text_model`), so that each place
follows the side of the structures that point to it: "left motor cortex and right cerebellum" moves
each of the two, and what is named on both sides, or on none, stays where it is. Where a term
points most clearly, its side doubles what it adds, and takes it from the mirror image. The share
of term t is s ∘ (d_t a_t² / Σ_u a_u²) ∘ Σ_u h_u, so that the sum over terms stays exact.

**Shares**: terms multiply, so that a strong name outweighs a weak one, and two names may meet at
neither place, although a text that names two places means both. So places also add up. The core of
a structure is the map p_t that its term has alone, on the side that the text gives it, where a_t is
at least `LEAST_CORE` of its maximum. With w_t the weight of its mentions, at most 1, and m the sum
of x² over the terms that are about places, the map becomes

    q + (1 − h) m Σ_t w_t p_t / max(1, Σ_t w_t),

scaled to sum to 1. Term by term, the log of what a structure raises q by is what its term adds.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices

Float32 = NDArray[np.float32]
Floats = NDArray[np.floating]

N_SHORT, N_LONG, POWER = 5.0, 160.0, 6  # terms that halve the one gate, and open half the other
N_SECTIONS = 80.0  # terms that open half the gate by which mentions weigh by their section
LESS_SHORT, MORE_LONG = 0.3, 0.3  # of the sharpness
STRENGTH, MANY_STUDIES, FEW_STUDIES = 1.5, 100.0, 5  # τ; n₀; fewer leave all to the prior
LEAST = 0.02  # of log(1 + p V): less is nothing
TINY = 1e-12  # of a sum that may be zero
FEW_MAPS = 8
LEAST_CORE = 0.2  # of the highest log ratio of a term alone, in its core


class Opening(NamedTuple):
    """The gates of some texts: arrays of shape (n_texts,)."""

    short: Float32
    long: Float32

    @property
    def sharpness(self) -> Float32:
        """Return s of each text."""
        sharpness = 1 - LESS_SHORT * self.short + MORE_LONG * self.long
        return sharpness.astype(np.float32)


@dataclass(frozen=True, eq=False)
class Gates:
    """Which terms are known ones, and which are extra words that only help short texts.

    Attributes
    ----------
    is_extra : array of shape (n_terms,)
        Whether each term is an extra word, which does not count as a known term.

    Examples
    --------
    >>> gates = Gates(np.array([False, False, True]))
    >>> short, long = gates.of(sp.csr_matrix([[1, 1, 1], [0, 0, 2]]))
    >>> short.round(3), long.round(3)
    (array([0.714, 1.   ], dtype=float32), array([0., 0.], dtype=float32))
    """

    is_extra: NDArray[np.bool_]

    def of(self, X: sp.csr_matrix, n_long: float | None = None) -> Opening:
        """Return the gates of texts, given their features or counts, and N if it is not N_LONG."""
        known = np.zeros(len(X.data) + 1)
        np.cumsum(~self.is_extra[X.indices] & (X.data != 0), out=known[1:])
        n = known[X.indptr[1:]] - known[X.indptr[:-1]]
        short = N_SHORT / (N_SHORT + n)
        power = n**POWER
        long = power / (power + (n_long or N_LONG) ** POWER)
        return Opening(short.astype(np.float32), long.astype(np.float32))


@dataclass(frozen=True, eq=False)
class Prior:
    """Maps of the names of places.

    Attributes
    ----------
    terms : array of shape (k,)
        Indices of the terms.
    weights : array of shape (k,)
        τ λ of each.
    maps : csr_matrix of shape (k, m)
        log(1 + p_r V) of each; zero far from the region.
    baseline : array of shape (m,)
        log(1 + q̄ V).
    """

    terms: NDArray[np.integer]
    weights: Float32
    maps: sp.csr_matrix
    baseline: Float32

    @classmethod
    def make(
        cls,
        terms: NDArray[np.integer],
        densities: Float32,
        mean: NDArray[np.floating],
        n_studies: NDArray[np.integer],
    ) -> "Prior":
        """Make the prior of names.

        Parameters
        ----------
        terms : array of shape (k,)
        densities : array of shape (k, m)
            Density of each region, in multiples of the uniform one.
        mean : array of shape (m,)
            The mean map, in multiples of the uniform density.
        n_studies : array of shape (k,)
            Training studies that mention each term.

        Returns
        -------
        Prior
        """
        share = np.where(n_studies < FEW_STUDIES, 1, MANY_STUDIES / (MANY_STUDIES + n_studies))
        maps = np.log1p(densities)
        maps[maps < LEAST] = 0
        baseline = np.log1p(mean).astype(np.float32)
        weights = (STRENGTH * share).astype(np.float32)
        return cls(np.asarray(terms), weights, sp.csr_matrix(maps, dtype=np.float32), baseline)

    @cached_property
    def _row_of(self) -> dict[int, int]:
        return {term: row for row, term in enumerate(self.terms.tolist())}

    @cached_property
    def _regions(self) -> dict[int, NDArray[np.uint8]]:
        """Regions of the names that were asked for, eight places a byte."""
        return {}

    def membership(self, term: int) -> Float32 | None:
        """Return how far each place is in the region of a name: (m,), from 0 to 1 within."""
        if (row := self._row_of.get(term)) is None:
            return None
        own = slice(*self.maps.indptr[row : row + 2])
        heights = np.expm1(self.maps.data[own])
        inside = np.zeros(len(self.baseline), np.float32)
        inside[self.maps.indices[own]] = heights / heights.max(initial=TINY)
        return inside

    def region_of(self, term: int) -> NDArray[np.bool_] | None:
        """Return where the region of a name is, (m,): where p_r is above half of its highest."""
        if term not in self._regions:
            if (inside := self.membership(term)) is None:
                return None
            self._regions[term] = np.packbits(inside >= 0.5)
        return np.unpackbits(self._regions[term], count=len(self.baseline)).view(bool)

    @cached_property
    def _names(self) -> NDArray[np.intp]:
        """Row of the map of each term, up to the last that has one; −1 for others."""
        names = np.full(int(self.terms.max(initial=-1)) + 2, -1)
        names[self.terms] = np.arange(len(self.terms))
        return names

    def _strengths(self, X: sp.csr_matrix) -> tuple[NDArray[np.integer], NDArray[np.intp], Float32]:
        """Return how strongly names speak, text by text: where each begins, maps, strengths."""
        names = self._names[np.minimum(X.indices, len(self._names) - 1)]
        entries = np.flatnonzero(names >= 0)
        names = names[entries]
        bounds = np.searchsorted(entries, X.indptr)
        return bounds, names, X.data[entries] ** 2 * self.weights[names]

    def strengths(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """Return how strongly the names in texts speak, τ λ_t x_t², by map: (n, k)."""
        bounds, names, strengths = self._strengths(X)
        return sp.csr_matrix((strengths, names, bounds), shape=(X.shape[0], len(self.terms)))

    def add_total(self, exponent: Float32, X: sp.csr_matrix) -> None:
        """Add to the exponent of each text, (n, m), what the names in it add."""
        bounds, names, strengths = self._strengths(X)
        for row, start, end in zip(exponent, bounds[:-1], bounds[1:], strict=True):
            if start < end:
                here = slice(start, end)
                row -= strengths[here].sum() * self.baseline
                self._add_maps(row, zip(names[here].tolist(), strengths[here], strict=True))

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Indices of the maps as numpy wants them: half the time of those that scipy keeps."""
        return self.maps.indices.astype(np.intp)

    def _add_maps(self, row: Float32, names: Iterable[tuple[int, np.float32]]) -> None:
        """Add some of the maps to a row, each times its strength."""
        bounds = self.maps.indptr
        for name, strength in names:
            own = slice(bounds[name], bounds[name + 1])
            np.add.at(row, self._places[own], strength * self.maps.data[own])

    def has(self, term: int) -> bool:
        """Return whether a term is such a name."""
        return term in self._row_of

    def add_to(self, maps: Float32, terms: NDArray[np.integer], x: Float32) -> None:
        """Add to the map of each of some terms what its name adds, given their features."""
        for place, term in enumerate(terms.tolist()):
            if (name := self._row_of.get(term)) is not None:
                strength = self.weights[name] * x[place] ** 2
                maps[place] -= strength * self.baseline
                self._add_maps(maps[place], [(name, strength)])

    def mean_added(self, terms: NDArray[np.integer], weights: NDArray[np.floating]) -> Float32:
        """Average over regions what a name adds with a feature of 1: (n_terms,) or (n_terms, n)."""
        rows = np.array([self._row_of.get(term, -1) for term in terms.tolist()], dtype=np.intp)
        named = np.flatnonzero(rows >= 0)
        kept = rows[named]
        added = np.zeros((len(rows), *weights.shape[1:]), np.float32)
        more = self.maps[kept] @ weights - self.baseline @ weights
        added[named] = (self.weights[kept] * more.T).T
        return added

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it; maps are rounded to 8 bits, with a scale for each.

        Places are kept as steps from one to the next, which are small and compress well.
        """
        self.maps.sort_indices()
        lengths = np.diff(self.maps.indptr)
        scale = np.maximum(self.maps.max(axis=1).toarray().ravel(), LEAST) / 255
        levels = np.round(self.maps.data / np.repeat(scale, lengths))
        steps = np.diff(self.maps.indices, prepend=0)
        firsts = self.maps.indptr[:-1][lengths > 0]
        steps[firsts] = self.maps.indices[firsts]
        is_small = self.maps.shape[1] <= np.iinfo(np.uint16).max
        return {
            "prior_terms": self.terms,
            "prior_weights": self.weights,
            "prior_baseline": self.baseline,
            "prior_levels": levels.astype(np.uint8),
            "prior_scales": scale.astype(np.float32),
            "prior_steps": steps.astype(np.uint16 if is_small else np.int32),
            "prior_lengths": lengths,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Prior":
        """Rebuild a prior from what `to_arrays` gave."""
        lengths, baseline = arrays["prior_lengths"], arrays["prior_baseline"]
        data = arrays["prior_levels"] * np.repeat(arrays["prior_scales"], lengths)
        pointers = np.append(0, np.cumsum(lengths))
        reached = np.append(0, np.cumsum(arrays["prior_steps"], dtype=np.int64))
        places = (reached[1:] - np.repeat(reached[pointers[:-1]], lengths)).astype(np.int32)
        maps = sp.csr_matrix((data, places, pointers), shape=(len(lengths), len(baseline)))
        return cls(arrays["prior_terms"], arrays["prior_weights"], maps, baseline)


class Turn:
    """How the sides of structures shift the map of a text: sums over its structures.

    Structures are added some at a time, so that few of their maps are in memory.

    Parameters
    ----------
    sides : array of shape (n_kinds, m)
        s: 1 on the left, −1 on the right, between them for a region across. There may be several
        kinds of sides, such as those of the brain and those of the body.
    mean_map : array of shape (m,), optional
        q̄, for maps of log probability. Without it, maps are of probability.

    Examples
    --------
    >>> turn = Turn(np.array([[1, -1, 1, -1]]))
    >>> turn.add(np.float32([[0.4, 0.4, 0.1, -0.2]]), np.array([[1.0]]))  # left, right, left, right
    >>> turn.shift.round(2) + 0
    array([ 0.4 , -0.4 ,  0.05,  0.  ], dtype=float32)
    """

    def __init__(self, sides: Floats, mean_map: Floats | None = None) -> None:
        self._sides, self._mean_map = sides.astype(np.float32), mean_map
        n_kinds, m = sides.shape
        self._squares = np.zeros((1 + n_kinds, m), np.float32)  # Σ a², Σ d a² of each kind
        self._heights = np.zeros(m, np.float32)  # Σ h

    def add(self, maps: Float32, balance: Floats) -> None:
        """Add structures.

        Parameters
        ----------
        maps : array of shape (k, m)
            What the term of each adds, e. Overwritten.
        balance : array of shape (k, n_kinds)
            d, between −1 (right) and 1 (left); 0 for both sides or none.
        """
        is_sided = np.asarray(balance.any(axis=1))
        weights = np.column_stack([np.ones(len(balance)), balance]).astype(np.float32)
        for few in slices(len(maps), FEW_MAPS):  # which the processor's cache holds
            raised = _raised(maps[few], self._mean_map)
            self._heights += _heights(raised[is_sided[few]])
            raised *= raised
            self._squares += weights[few].T @ raised

    @property
    def shift(self) -> Float32:
        """What the sides add to the map: (m,)."""
        total, *turned = self._squares
        shift: Float32 = np.einsum("km,km->m", turned, self._sides)
        shift /= np.maximum(total, TINY, dtype=np.float32)
        shift *= self._heights
        return shift


def lateral_shifts(
    blocks: Iterable[Float32], balance: Floats, sides: Floats, mean_map: Floats | None = None
) -> Float32:
    """Return what the sides of structures add to the map of a text, term by term.

    Parameters
    ----------
    blocks : iterable of arrays of shape (n, m)
        What the term of each structure adds, e: blocks of all n_terms rows, in order. Rows of one
        block at a time are in memory, and those of terms that have a side. Overwritten.
    balance : array of shape (n_terms, n_kinds)
        As `Turn.add` takes it.
    sides, mean_map
        As `Turn` takes them.

    Returns
    -------
    array of shape (n_sided, m)
        Of the terms whose balance is not 0; others add nothing. Their sum is that of `Turn`.
    """
    is_sided = np.asarray(balance.any(axis=1))
    total = np.zeros(sides.shape[1], np.float32)  # Σ a²
    kept, first = [], 0
    for maps in blocks:
        raised = _raised(maps, mean_map)
        total += np.einsum("km,km->m", raised, raised)
        kept.append(raised[is_sided[first : first + len(raised)]])
        first += len(raised)
    shifts = np.concatenate(kept)
    heights = _heights(shifts)
    heights /= np.maximum(total, TINY)
    sides = sides.astype(np.float32)
    for row, shares in zip(shifts, balance[is_sided].astype(np.float32), strict=True):
        row *= row
        row *= heights
        row *= shares @ sides
    return shifts


def _raised(maps: Float32, mean_map: Float32 | None) -> Float32:
    """Return 2 a, twice where terms raise a map, given what they add, which is overwritten.

    Twice the positive part is e + |e|, which takes half the time of a maximum.
    """
    if mean_map is not None:
        maps -= _log_means(maps, mean_map)
    maps += np.abs(maps)
    return maps


def _heights(doubled: Float32) -> Float32:
    """Return Σ h, given 2 a of each structure: (m,)."""
    highest = doubled.max(axis=1, initial=TINY)
    powers = np.sqrt(doubled)
    powers *= doubled
    heights: Float32 = (0.5 / np.sqrt(highest)) @ powers
    return heights


def _log_means(maps: Float32, mean_map: Float32) -> Float32:
    """Return log Σ_k q̄_k exp(e_k) for each map: (n_terms, 1)."""
    highest = maps.max(axis=1, keepdims=True)
    powers = maps - highest
    np.exp(powers, out=powers)
    means: Float32 = np.log(powers @ mean_map)[:, None] + highest
    return means


class Core(NamedTuple):
    """Where a term alone points: some regions, and the probability of each.

    >>> regions, probabilities = Core.of(np.float32([3, 2.5, 0, -3]), np.full(4, 0.25))
    >>> regions, probabilities.round(2)
    (array([0, 1]), array([0.6 , 0.37], dtype=float32))
    """

    regions: NDArray[np.intp]
    probabilities: Float32

    @classmethod
    def of(cls, added: Float32, mean_map: Floats) -> "Core":
        """Find the core of a term, given what it adds alone: (m,)."""
        raised = added - _log_means(added[None], mean_map)[0]
        regions = np.flatnonzero(raised >= LEAST_CORE * max(raised.max(), np.float32(TINY)))
        return cls(regions, (mean_map[regions] * np.exp(raised[regions])).astype(np.float32))

    def on_side(self, balance: float, sides: Floats) -> Float32:
        """Return the probabilities with those of the other side moved over.

        Parameters
        ----------
        balance : float
            d, between −1 (right) and 1 (left).
        sides : array of shape (m,)
            s: 1 on the left, −1 on the right.

        Returns
        -------
        array of the shape of `probabilities`, with the same sum
        """
        kept = self.probabilities * np.clip(1 + balance * sides[self.regions], 0, 1)
        moved: Float32 = (kept * (self.probabilities.sum() / max(kept.sum(), TINY))).astype(
            np.float32
        )
        return moved


def give_shares(
    q: Float32, shares: Iterable[tuple[NDArray[np.intp], Float32]]
) -> Iterator[tuple[NDArray[np.intp], Float32]]:
    """Add the shares of the structures of a text to its map, in place, one at a time.

    Parameters
    ----------
    q : array of shape (m,)
        Probability of each region; changed.
    shares : iterable of (regions, what is added to the probability of each)

    Yields
    ------
    (regions, what they had before)
        Of each structure. The log of what they have now, over this, is what its term adds.

    Examples
    --------
    >>> q = np.float32([0.8, 0.1, 0.1])
    >>> for regions, before in give_shares(q, [(np.array([0]), 0.4), (np.array([1]), 0.6)]):
    ...     print(np.log(q[regions] / before).round(1))
    [0.4]
    [1.9]
    >>> q.round(2)
    array([0.6 , 0.35, 0.05], dtype=float32)
    """
    for regions, share in shares:
        before = np.maximum(q[regions], np.float32(TINY))
        q[regions] = before + share
        yield regions, before
    q /= q.sum()
