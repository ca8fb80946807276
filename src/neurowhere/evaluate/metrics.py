"""Metrics of the open benchmark, on arrays.

A map is a row of values over voxels. As a density, it is cut at zero and rescaled to sum to 1;
correlation and overlap take it as it is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices

Floats = NDArray[np.floating]

CHUNK = 128
TOP_SHARE = 0.1  # of the voxels, for the overlap
PERMUTATIONS = 200
NULL_QUANTILE = 0.95


def as_densities(maps: Floats) -> NDArray[np.float32]:
    """Cut maps at zero and rescale them to sum to 1; one that is nowhere positive is uniform.

    Parameters
    ----------
    maps : array of shape (n, m)

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> as_densities(np.array([[3.0, 1.0], [-1.0, 0.0]]))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]], dtype=float32)
    """
    positive = np.maximum(np.nan_to_num(maps, posinf=0.0, neginf=0.0), 0).astype(np.float32)
    totals = positive.sum(axis=1, dtype=np.float64)
    positive[totals <= 0] = 1
    totals[totals <= 0] = positive.shape[1]
    positive /= totals[:, None].astype(np.float32)
    return positive


def correlations(maps: Floats, targets: Floats) -> NDArray[np.float64]:
    """Compute Pearson's correlation of each map with its target, over voxels.

    Parameters
    ----------
    maps, targets : arrays of shape (n, m)

    Returns
    -------
    array of shape (n,)
        0 where a map is constant.

    Examples
    --------
    >>> correlations(np.array([[1.0, 2, 3], [1, 1, 1]]), np.array([[2.0, 4, 6], [0, 1, 0]]))
    array([1., 0.])
    """
    found = []
    for rows in slices(len(maps), CHUNK):
        a, b = (_standardised(each[rows]) for each in (maps, targets))
        found.append(np.einsum("ij,ij->i", a, b))
    return np.concatenate([np.empty(0), *found])


def _standardised(maps: Floats) -> NDArray[np.float64]:
    """Centre each row and scale it to unit norm; a constant row becomes zero."""
    centred = np.asarray(maps, np.float64)
    size = np.abs(centred).max(axis=1, keepdims=True)
    centred = centred - centred.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    is_constant = norms <= 1e-9 * size * np.sqrt(centred.shape[1])
    return np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, norms))


def overlaps(maps: Floats, targets: Floats, share: float = TOP_SHARE) -> NDArray[np.float64]:
    """Compute the Dice coefficient of the highest voxels of each map and of its target.

    With A and B the voxels of the highest values, a share of all, it is 2 |A ∩ B| / (|A| + |B|).
    Voxels where a target is zero are never among its highest: B may be smaller.

    Parameters
    ----------
    maps, targets : arrays of shape (n, m)
    share : float

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> overlaps(np.array([[4.0, 3, 2, 1]]), np.array([[1.0, 0, 0, 0]]), 0.5).round(3)
    array([0.667])
    """
    n_top = max(round(share * maps.shape[1]), 1)
    found = []
    for rows in slices(len(maps), CHUNK):
        mine, theirs = _highest(maps[rows], n_top), _highest(targets[rows], n_top)
        theirs &= targets[rows] > 0
        common = (mine & theirs).sum(axis=1)
        found.append(2 * common / (mine.sum(axis=1) + theirs.sum(axis=1)))
    return np.concatenate([np.empty(0), *found])


def _highest(maps: Floats, n_top: int) -> NDArray[np.bool_]:
    chosen = np.zeros(maps.shape, dtype=bool)
    order = np.argpartition(-maps, n_top - 1, axis=1)[:, :n_top]
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen


def share_held(
    levels: NDArray[np.float64], study: NDArray[np.integer], masses: NDArray[np.floating]
) -> float:
    """Return the share of peaks in the regions of highest density, averaged over studies.

    Parameters
    ----------
    levels, study : arrays of shape (n_peaks,)
        Level of each peak, see `neurowhere.learn.scoring`, and its study.
    masses : array of shape (n_studies,)
        Mass of the region of each study.

    Returns
    -------
    float
    """
    weights = 1 / np.bincount(study)[study]
    return float(np.average(levels < masses[study], weights=weights))


class TermScores(NamedTuple):
    """How well maps of terms tell the studies that mention them from the others."""

    auc: float  # mean over terms
    null: float  # that quantile of the same mean for permuted studies
    above: float  # share of the terms above that quantile of their own null
    n_terms: int


def term_scores(
    scores: Floats, is_mentioned: NDArray[np.bool_], *, permutations: int = PERMUTATIONS
) -> TermScores:
    """Compute the area under the ROC curve of each term, beside that of permuted studies.

    All terms share a permutation, so the null of their mean keeps what terms have in common.

    Parameters
    ----------
    scores : array of shape (n_terms, n_studies)
        How well the peaks of each study fit the map of each term.
    is_mentioned : array of shape (n_terms, n_studies)
    permutations : int

    Returns
    -------
    TermScores
    """
    from scipy.stats import rankdata

    if not len(scores):
        return TermScores(np.nan, np.nan, np.nan, 0)
    ranks = rankdata(scores, axis=1)
    aucs = _areas(ranks, is_mentioned)
    rng = np.random.default_rng(0)
    order = (rng.permutation(ranks.shape[1]) for _ in range(permutations))
    null = np.array([_areas(ranks[:, each], is_mentioned) for each in order])  # (p, n_terms)
    highest = np.quantile(null, NULL_QUANTILE, axis=0)
    return TermScores(
        float(aucs.mean()),
        float(np.quantile(null.mean(axis=1), NULL_QUANTILE)),
        float((aucs > highest).mean()),
        len(aucs),
    )


def _areas(ranks: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Mann and Whitney's U over the number of pairs, for each row."""
    n = is_positive.sum(axis=1)
    sums = np.where(is_positive, ranks, 0).sum(axis=1)
    areas: NDArray[np.float64] = (sums - n * (n + 1) / 2) / (n * (ranks.shape[1] - n))
    return areas
