"""Features of texts: counts of terms become frequencies or tf-idf, sections are weighted."""

from collections.abc import Mapping
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.exceptions import CorpusError, VocabularyError


def combine_sections(
    sections: Mapping[str, sparse.csr_matrix], weights: Mapping[str, float] | None = None
) -> sparse.csr_matrix:
    """Add the counts of the sections of texts, each multiplied by its weight.

    Parameters
    ----------
    sections : mapping of str to sparse matrix of shape (n_texts, n_terms)
        Counts by section: title, abstract, keywords, body.
    weights : mapping of str to float, optional
        Weights of sections; 1 where none is given. Those of absent sections are not used.

    Examples
    --------
    >>> title, body = sparse.csr_matrix([[1, 0]]), sparse.csr_matrix([[1, 3]])
    >>> combine_sections({"title": title, "body": body}, {"title": 2}).toarray()
    array([[3., 3.]], dtype=float32)
    """
    shapes = {counts.shape for counts in sections.values()}
    if len(shapes) != 1:
        raise CorpusError(f"expected sections of one shape, but theirs are {sorted(shapes)}")
    weighted = [
        counts.astype(np.float32) * np.float32((weights or {}).get(name, 1.0))
        for name, counts in sections.items()
    ]
    return sparse.csr_matrix(reduce(add, weighted))


def term_frequency(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Share of each term among the terms found in a text, as in the paper.

    Rows sum to 1, or to 0 where no term was found. The length of a text is counted in terms, not
    in words, so that a text and a list of its terms have the same features.

    >>> term_frequency(sparse.csr_matrix([[1, 3], [0, 0]])).toarray()
    array([[0.25, 0.75],
           [0.  , 0.  ]], dtype=float32)
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    return _scaled_rows(counts, lengths)


class TfIdf:
    """Sublinear counts, weighted by how rare a term is, in rows of unit norm.

    With c the count of a term, n the number of training texts and n_t those that have term t::

        x_t ∝ s(c_t) · (1 + log((1 + n) / (1 + n_t))),    s(c) = 1 + log c for c ≥ 1, else c

    which is scikit-learn's ``TfidfTransformer(sublinear_tf=True)`` where counts are whole
    numbers; weighted counts below 1 stay as they are, so that s grows and has no jump.

    Attributes
    ----------
    idf_ : array of shape (n_terms,)
        Factor of each term, learned by `fit`, and all that a model has to keep; a log-linear
        encoder multiplies it by the weights of terms that it learns.

    Examples
    --------
    >>> TfIdf().fit_transform(sparse.csr_matrix([[1, 1], [0, 1]])).toarray().round(2)
    array([[0.81, 0.58],
           [0.  , 1.  ]], dtype=float32)
    """

    idf_: NDArray[np.float32]

    @classmethod
    def from_idf(cls, idf: NDArray[np.floating]) -> "TfIdf":
        """Make a fitted transformer from weights that were kept."""
        transformer = cls()
        transformer.idf_ = np.asarray(idf, dtype=np.float32)
        return transformer

    def fit(self, counts: sparse.csr_matrix) -> "TfIdf":
        """Learn how rare each term is in the training texts."""
        n_texts = counts.shape[0]
        frequencies = counts.astype(bool).sum(axis=0).A1  # (n_terms,): texts that have each term
        self.idf_ = (1 + np.log((1 + n_texts) / (1 + frequencies))).astype(np.float32)
        return self

    def transform(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Weight the counts of texts: float32, rows of unit norm, or zero without a term."""
        if counts.shape[1] != len(self.idf_):
            raise VocabularyError(
                f"expected counts of {len(self.idf_):,} terms, but these have {counts.shape[1]:,}"
            )
        weighted = self._weigh(counts.astype(np.float64))
        norms = np.sqrt(weighted.multiply(weighted).sum(axis=1)).A1
        return _scaled_rows(weighted, norms)

    def _weigh(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Weight counts, in place, before rows get unit norm."""
        counts.data = _sublinear(counts.data) * self.idf_[counts.indices]
        return counts

    def fit_transform(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        """Fit, then transform the same counts."""
        return self.fit(counts).transform(counts)


def _sublinear(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(counts < 1, counts, 1 + np.log(np.maximum(counts, 1)))


def _scaled_rows(matrix: sparse.csr_matrix, sizes: NDArray[np.float64]) -> sparse.csr_matrix:
    """Divide rows by their sizes; rows of size zero stay zero."""
    inverse = 1 / np.where(sizes == 0, 1, sizes)
    scaled = matrix.astype(np.float64)
    scaled.data *= np.repeat(inverse, np.diff(scaled.indptr))
    return scaled.astype(np.float32)
