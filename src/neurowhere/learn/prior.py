"""Prior: what the name of a place adds to a map, however few studies mention it.

The name of region r adds L_r = log(½/V + ½ p_r) − log(½/V + ½ q̄) to the exponent, with p_r the
density of the region, q̄ the mean map and V the volume of the brain. Term t adds

    τ λ_t x_t² L_r(t),        λ_t = n₀ / (n₀ + n_t),

so that what n_t studies have taught about the term takes over where there are many.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Float32 = NDArray[np.float32]

STRENGTH, MANY_STUDIES, FEW_STUDIES = 1.5, 100.0, 5  # τ; n₀; fewer leave all to the prior
LEAST = 0.02  # of log(1 + p V): less is nothing


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

    def selector(self, n_terms: int) -> sp.csr_matrix:
        """Return the weights of terms, by map: (n_terms, k)."""
        places = (self.terms, np.arange(len(self.terms)))
        return sp.csr_matrix((self.weights, places), shape=(n_terms, len(self.terms)))

    def total(self, X: sp.csr_matrix) -> Float32 | None:
        """Return what the names in texts add to the exponent: (n, m); None if there are none."""
        strengths = sp.csr_matrix(X.power(2) @ self.selector(X.shape[1]))  # (n, k)
        if not strengths.nnz:
            return None
        named = np.unique(strengths.indices)
        added: Float32 = (self.maps[named].T @ strengths[:, named].toarray().T).T
        added -= np.outer(np.asarray(strengths.sum(axis=1)), self.baseline).astype(np.float32)
        return added

    def add_to(self, maps: Float32, terms: NDArray[np.integer], x: Float32) -> None:
        """Add to the map of each of some terms what its name adds, given their features."""
        for place, term in enumerate(terms.tolist()):
            if (row := self._row_of.get(term)) is not None:
                strength = self.weights[row] * x[place] ** 2
                maps[place] -= strength * self.baseline
                own = slice(*self.maps.indptr[row : row + 2])
                maps[place, self.maps.indices[own]] += strength * self.maps.data[own]

    def mean_added(self, terms: NDArray[np.integer], weights: NDArray[np.floating]) -> Float32:
        """Average over regions what a name adds with a feature of 1, for some terms: (n_terms,)."""
        rows = np.array([self._row_of.get(term, -1) for term in terms.tolist()], dtype=np.intp)
        named = np.flatnonzero(rows >= 0)
        kept = rows[named]
        added = np.zeros(len(rows), np.float32)
        added[named] = self.weights[kept] * (self.maps[kept] @ weights - self.baseline @ weights)
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
