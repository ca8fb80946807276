"""Alone: the maps of texts that are one term each, of which decoding asks again and again.

With h_t = x_tᵀA the text of term t in the dimensions of a log-linear model, its map is

    q_tk = exp(b_k + h_tᵀ S_k − log Z_t),    Z_t = Σ_k exp(b_k + h_tᵀ S_k).

A place touches few regions k, and Z_t never changes: once it is known, some regions of the map cost
as much as these regions, not as the whole brain.
"""

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear

Floats = NDArray[np.floating]

CHUNK = 64  # terms whose maps are held at a time
FEW = 8  # terms of a pause, which then ends within milliseconds


class TermsAlone:
    """Maps of terms alone, in the regions that are asked for.

    Parameters
    ----------
    predictor : LogLinear
        Plain: without gates and prior.
    features : csr_matrix of shape (n_terms, n_terms)
        Features of texts that are one term each.
    """

    def __init__(self, predictor: LogLinear, features: sparse.csr_matrix) -> None:
        self.hidden = predictor.project(features)  # (n_terms, r)
        self.log_totals = np.full(len(self.hidden), np.nan)  # log Z; NaN where not known yet

    def mean_moved(self, predictor: LogLinear, weights: Floats) -> Floats:
        """Average over regions what each text adds to the exponent, with weights: (n_terms,)."""
        moved: Floats = self.hidden @ (predictor.components @ weights.astype(np.float32))
        return moved

    def maps(
        self, predictor: LogLinear, terms: NDArray[np.intp], regions: NDArray[np.intp] | slice
    ) -> Floats:
        """Return the probability of some regions in the maps of some terms: (n, k)."""
        unknown = terms[np.isnan(self.log_totals[terms])]
        for start in range(0, len(unknown), CHUNK):
            self._learn_totals(predictor, unknown[start : start + CHUNK])
        exponent = self.hidden[terms] @ predictor.components[:, regions]
        exponent += predictor.bias[regions]
        exponent -= self.log_totals[terms, None].astype(np.float32)
        found: Floats = np.exp(exponent, out=exponent)
        return found

    def learn_more(self, predictor: LogLinear) -> bool:
        """Learn the totals of some more terms; return whether there were any."""
        unknown = np.flatnonzero(np.isnan(self.log_totals))[:FEW]
        if len(unknown):
            self._learn_totals(predictor, unknown)
        return len(unknown) > 0

    def _learn_totals(self, predictor: LogLinear, terms: NDArray[np.intp]) -> None:
        exponent = self.hidden[terms] @ predictor.components
        exponent += predictor.bias
        highest = exponent.max(axis=1, keepdims=True)
        exponent -= highest
        np.exp(exponent, out=exponent)
        self.log_totals[terms] = highest[:, 0] + np.log(exponent.sum(axis=1, dtype=np.float64))


known: "WeakKeyDictionary[LogLinear, TermsAlone]" = WeakKeyDictionary()  # as long as the predictors
