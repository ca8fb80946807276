"""Weighting: features of texts whose length decides what counts in them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import Gates
from neurowhere.text import TfIdf, Vocabulary

ANATOMY = 1.73  # factor of the names of structures in an article
EXTRA_POWER = 0.5  # of the short gate, in the factor of extra words


class GatedTfIdf(TfIdf):
    """Weights of terms that depend on the number of known terms in a text.

    With c the count of a term and w its weight, x ∝ s(c) · w as in `TfIdf`, times 1.73^h for names
    of structures, and times √g for extra words, with g and h the gates of the text
    (`neurowhere.learn.gates`).

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
