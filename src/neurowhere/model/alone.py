"""Alone: texts that are one term each, their maps, and the terms that say what a text says.

With h_t = x_tᵀA the text of term t in the dimensions of a log-linear model, its map is

    q_tk = exp(b_k + h_tᵀ S_k − log Z_t),    Z_t = Σ_k exp(b_k + h_tᵀ S_k).

A place touches few regions k, and Z_t never changes: once it is known, some regions of the map cost
as much as these regions, not as the whole brain. With h any text, the closeness of term t to it is

    hᵀh_t / (|h| (|h_t| + c)),    c the median of all |h_t|,

a cosine that is small for terms that hardly point anywhere.
"""

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear
from neurowhere.model.encoding import Encoding
from neurowhere.model.text_model import TextModel

Floats = NDArray[np.floating]

CHUNK = 64  # terms whose maps are held at a time
FEW = 8  # terms of a pause, which then ends within milliseconds


def term_features(model: TextModel, terms: NDArray[np.intp] | None = None) -> sparse.csr_matrix:
    """Return the features of texts that are one term each, by default every term.

    A term on a side is mentioned without it too.
    """
    extractor = model.extractor_
    if terms is None:
        terms = np.arange(len(extractor.terms))
    n_plain = len(extractor.vocabulary)
    rows, columns = list(range(len(terms))), terms.tolist()
    for row, column in enumerate(terms.tolist()):
        if column >= n_plain:
            _, _, name = extractor.terms[column].partition(" ")
            rows.append(row)
            columns.append(extractor.vocabulary.index(name))
    shape = (len(terms), len(extractor.terms))
    counts = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    return model.weighting_.transform(extractor.weigh({"body": counts}))


class TermsAlone:
    """Maps of terms alone, in the regions that are asked for.

    Parameters
    ----------
    predictor : LogLinear
        For maps plain: without gates and prior.
    features : csr_matrix of shape (n_terms, n_terms)
        Features of texts that are one term each.
    """

    def __init__(self, predictor: LogLinear, features: sparse.csr_matrix) -> None:
        self.hidden = predictor.project(features)  # (n_terms, r)
        self.log_totals = np.full(len(self.hidden), np.nan)  # log Z; NaN where not known yet

    @cached_property
    def directions(self) -> Floats:
        """Return h_t over |h_t| + c: (n_terms, r)."""
        norms = np.linalg.norm(self.hidden, axis=1, keepdims=True)
        directions: Floats = self.hidden / (norms + np.median(norms))
        return directions

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


def terms_alone(model: TextModel, predictor: LogLinear) -> TermsAlone:
    """Return what is known of the terms of a model alone; it is kept as long as the model is."""
    if predictor not in known:
        known[predictor] = TermsAlone(predictor, term_features(model))
    return known[predictor]


def related_terms(model: TextModel, encoding: Encoding, n_terms: int = 12) -> pd.DataFrame:
    """Find the terms that are closest to a text and not in it.

    Parameters
    ----------
    model : TextModel
    encoding : Encoding
        A text that this model has read.
    n_terms : int

    Returns
    -------
    DataFrame
        term, closeness; the closest first. It is empty for a text without a known term, and for a
        model that is not log-linear.
    """
    predictor = model.predictor_
    if model.text == "none" or not isinstance(predictor, LogLinear) or not encoding.uses:
        return pd.DataFrame({"term": [], "closeness": []})
    terms = model.extractor_.terms
    text = _features(terms, encoding)
    hidden = predictor.project(text)[0]  # (r,)
    directions = terms_alone(model, predictor).directions
    closeness = directions @ (hidden / max(np.linalg.norm(hidden), 1e-9))
    closeness[text.indices] = -np.inf
    if predictor.gates is not None:
        closeness[predictor.gates.is_extra] = -np.inf
    best = np.argsort(-closeness, kind="stable")[:n_terms]
    best = best[closeness[best] > 0]
    return pd.DataFrame({"term": [terms[i] for i in best], "closeness": closeness[best].tolist()})


def _features(terms: tuple[str, ...], encoding: Encoding) -> sparse.csr_matrix:
    place = {term: i for i, term in enumerate(terms)}
    columns = [place[term] for term in encoding.uses]
    weights = np.array([use.weight for use in encoding.uses.values()], dtype=np.float32)
    shape = (1, len(terms))
    return sparse.csr_matrix((weights, ([0] * len(columns), columns)), shape=shape)
