"""Views: studies shown as the few words that people type, drawn anew each time.

A study is shown as its title, its keywords, some terms of these, some terms of all its text, or one
term. Where several are drawn the heavier are likelier; a single term is also drawn evenly, so that
the model learns what each means by itself.

A bare term says what all studies with it say together. Few draws show that, so there is also a
text of each term alone, whose target pools these studies (`bare_terms`). As the loss is linear in
the target, that is the mean loss of the term over all of them at once.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.text.features import combine_sections

# Kinds of views: the probability of each, the most terms that are drawn, and from where.
TITLE, KEYWORDS = 0, 1
PROBABILITIES = (0.17, 0.17, 0.2, 0.1, 0.11, 0.25)
MOST_TERMS = {2: 4, 3: 8, 4: 1, 5: 1}
FROM_TITLE, EVEN = 2, 5  # drawn from title and keywords; drawn evenly
LEAST_STUDIES, TIMES = 10, 2  # studies of a bare term; texts of each


class Views:
    """Draws views of studies.

    Parameters
    ----------
    sections : mapping of str to csr_matrix of shape (n_studies, n_terms)
        Counts in "title", "keywords" and other sections, with the terms within longer ones.
    within : csr_matrix of shape (n_terms, n_terms)
        How often the term of a column is within that of a row.
    weights : array of shape (n_terms,)
        Weights of terms; those of weight 0 are never shown.
    seed : int
    """

    def __init__(
        self,
        sections: Mapping[str, sparse.csr_matrix],
        within: sparse.csr_matrix,
        weights: NDArray[np.floating],
        seed: int = 0,
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.within, self.weights = within, weights
        shown = sparse.diags_array((weights > 0).astype(np.float32))
        kept = {name: sparse.csr_matrix(counts @ shown) for name, counts in sections.items()}
        for counts in kept.values():
            counts.eliminate_zeros()
        self.title, self.keywords = kept["title"], kept["keywords"]
        self.named = self._without_nested(self.title + self.keywords)
        self.whole = self._without_nested(combine_sections(kept))

    def _without_nested(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Take out the terms within longer ones."""
        bare = sparse.csr_matrix(counts - counts @ self.within)
        bare.data = np.maximum(bare.data, 0)
        bare.eliminate_zeros()
        return bare

    def draw(self) -> sparse.csr_matrix:
        """Draw a view of each study: counts of shape (n_studies, n_terms)."""
        n = self.title.shape[0]
        kinds = self.rng.choice(len(PROBABILITIES), n, p=PROBABILITIES)
        kinds[(kinds == KEYWORDS) & (np.diff(self.keywords.indptr) == 0)] = TITLE
        rows: list[int] = []
        columns: list[int] = []
        for row in np.flatnonzero(kinds > KEYWORDS).tolist():
            drawn = self._terms(row, int(kinds[row]))
            columns += drawn
            rows += [row] * len(drawn)
        ones = np.ones(len(rows), np.float32)
        some = sparse.csr_matrix((ones, (rows, columns)), shape=self.title.shape)
        some = some + some @ self.within
        titles, keywords = (
            sparse.diags_array((kinds == kind).astype(np.float32)) for kind in (TITLE, KEYWORDS)
        )
        return sparse.csr_matrix(some + titles @ self.title + keywords @ self.keywords)

    def _terms(self, row: int, kind: int) -> list[int]:
        """Draw some terms of a study."""
        counts = self.named if kind == FROM_TITLE else self.whole
        own = slice(*counts.indptr[row : row + 2])
        if own.start == own.stop:
            counts = self.whole
            own = slice(*counts.indptr[row : row + 2])
        terms, size = counts.indices[own], own.stop - own.start
        if not size:
            return []
        size = min(size, int(self.rng.integers(1, MOST_TERMS[kind] + 1)))
        weights = np.log1p(counts.data[own]) * self.weights[terms] if kind != EVEN else 1.0
        # The smallest of exponential times are a draw without replacement, by weight.
        times = self.rng.exponential(size=len(terms)) / np.maximum(weights, 1e-6)
        drawn: list[int] = terms[np.argpartition(times, size - 1)[:size]].tolist()
        return drawn


class BareTerms(NamedTuple):
    """Texts of one term each.

    Attributes
    ----------
    counts : csr_matrix of shape (n_texts, n_terms)
    studies : csr_matrix of shape (n_texts, n_studies)
        Share of each study in the target of each text.
    """

    counts: sparse.csr_matrix
    studies: sparse.csr_matrix


def bare_terms(
    counts: sparse.csr_matrix,
    within: sparse.csr_matrix,
    importance: NDArray[np.floating],
    is_shown: NDArray[np.bool_],
) -> BareTerms:
    """Make texts of each term that enough studies have.

    Parameters
    ----------
    counts : csr_matrix of shape (n_studies, n_terms)
    within : csr_matrix of shape (n_terms, n_terms)
        How often the term of a column is within that of a row.
    importance : array of shape (n_studies,)
        Weight of each study.
    is_shown : array of shape (n_terms,)
        Terms that may be shown.

    Returns
    -------
    BareTerms
    """
    has_enough = is_shown & (counts.getnnz(axis=0) >= LEAST_STUDIES)
    terms = np.tile(np.flatnonzero(has_enough), TIMES)
    places = (np.arange(len(terms)), terms)
    ones = np.ones(len(terms), np.float32)
    bare = sparse.csr_matrix((ones, places), shape=(len(terms), counts.shape[1]))
    has = sparse.csr_matrix((counts[:, terms] > 0).T @ sparse.diags_array(importance))
    shares = sparse.diags_array(1 / np.asarray(has.sum(axis=1)).ravel()) @ has
    return BareTerms(sparse.csr_matrix(bare + bare @ within), sparse.csr_matrix(shares))
