"""Associates: what a word says by the company that it keeps.

With h_i = x_iᵀA the hidden vector of text i and h̄ their mean, word t of n_t texts goes with

    T_t = n_t / (n_t + n₀) · (mean of h_i over the texts with t − h̄),

where what t itself adds to the texts is taken out. Texts need no coordinates for that.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float32]

FEW_TEXTS = 10.0  # n₀
LEAST_STUDIES = 8  # of an extra word
LEAST_RATIO, LEAST_RATIO_PER_STUDY = 2.0, 0.05  # of its variance to that of all studies


def associates(counts: sparse.csr_matrix, features: sparse.csr_matrix, loadings: Floats) -> Floats:
    """Return the associates of each word in the dimensions of a model.

    Parameters
    ----------
    counts : csr_matrix of shape (n_texts, n_words)
        Words of texts; the first are the terms of the model.
    features : csr_matrix of shape (n_texts, n_terms)
        Features of the terms in the same texts.
    loadings : array of shape (n_terms, r)
        A.

    Returns
    -------
    array of shape (n_words, r)
    """
    n_terms = features.shape[1]
    has = _has(counts)
    n = has.getnnz(axis=0)  # (n_words,)
    hidden = np.asarray(features @ loadings)
    means = np.asarray(has.T @ hidden) / np.maximum(n, 1)[:, None]
    others = np.repeat(hidden.mean(axis=0)[None], has.shape[1], axis=0)
    own = np.asarray(features.multiply(has[:, :n_terms]).sum(axis=0)).ravel()
    means[:n_terms] -= (own / np.maximum(n[:n_terms], 1))[:, None] * loadings
    others[:n_terms] -= np.asarray(features.mean(axis=0)).ravel()[:, None] * loadings
    found = (means - others) * (n / (n + FEW_TEXTS))[:, None]
    found[n == 0] = 0
    result: Floats = found.astype(np.float32)
    return result


def telling_words(counts: sparse.csr_matrix, hidden: Floats) -> NDArray[np.intp]:
    """Return which words tell where: the studies with them differ from the others.

    Parameters
    ----------
    counts : csr_matrix of shape (n_studies, n_words)
    hidden : array of shape (n_studies, r)
        Studies in the dimensions of a model.

    Returns
    -------
    array of int
        Indices of the words.
    """
    has = _has(counts)
    n = has.getnnz(axis=0)
    mean = hidden.mean(axis=0)
    variance = ((hidden - mean) ** 2).sum(axis=1).mean()
    means = np.asarray(has.T @ hidden) / np.maximum(n, 1)[:, None]
    per_study = ((means - mean) ** 2).sum(axis=1) / variance
    enough = (n >= LEAST_STUDIES) & (n * per_study >= LEAST_RATIO)
    return np.flatnonzero(enough & (per_study >= LEAST_RATIO_PER_STUDY))


def _has(counts: sparse.csr_matrix) -> sparse.csc_matrix:
    """Return a one for each word that a text has."""
    has = sparse.csc_matrix(counts, dtype=np.float32, copy=True)
    has.eliminate_zeros()
    has.data[:] = 1
    return has
