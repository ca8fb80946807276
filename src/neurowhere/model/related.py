"""Related: the terms of a vocabulary that say most nearly what a text says.

With h the text in the dimensions of a log-linear model, and h_t a text that is term t alone, the
closeness of the term is

    hᵀh_t / (|h| (|h_t| + c)),    c the median of all |h_t|,

a cosine that is small for terms that hardly point anywhere.
"""

from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear
from neurowhere.model.decoding import term_features
from neurowhere.model.encoding import Encoding
from neurowhere.model.text_model import TextModel

Float32 = NDArray[np.float32]

_known: "WeakKeyDictionary[LogLinear, Float32]" = WeakKeyDictionary()  # h_t over |h_t| + c


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
    closeness = _terms(model, predictor) @ (hidden / max(np.linalg.norm(hidden), 1e-9))
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


def _terms(model: TextModel, predictor: LogLinear) -> Float32:
    if predictor not in _known:
        every = term_features(model, np.arange(len(model.extractor_.terms)))
        hidden = predictor.project(every)  # (n_terms, r)
        norms = np.linalg.norm(hidden, axis=1, keepdims=True)
        _known[predictor] = hidden / (norms + np.median(norms))
    return _known[predictor]
