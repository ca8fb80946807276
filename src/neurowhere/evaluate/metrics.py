"""Metrics on arrays: of the open benchmark, and the distance of a comparison.

A map is a row of values over voxels. As a density, it is cut at zero and rescaled to sum to 1;
correlation and overlap take it as it is. Retrieval finds the text of a study among many from its
coordinates, and the reverse: a pair is scored by the likelihood of the peaks under the text's map.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices

Floats = NDArray[np.floating]

CHUNK = 128
TOP_SHARE = 0.1  # share of the voxels that overlap compares
PERMUTATIONS = 200
NULL_QUANTILE = 0.95

RANKS = (1, 10, 100)


def as_densities(maps: Floats) -> NDArray[np.float32]:
    """Cut maps (n, m) at zero and rescale them to sum to 1; uniform if nowhere positive.

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


def total_variation(targets: Floats, predictions: Floats) -> NDArray[np.float64]:
    """Compute the total-variation distance of each row of two tables of probabilities.

    What a row lacks to 1 is the probability of the background R_0, the part of the brain that the
    partition leaves uncovered:

        ½ Σ_k |ŷ_k − q_k|,  k = 0..m,  ŷ_0 = 1 − Σ ŷ_k,  q_0 = 1 − Σ q_k

    so that the distance is between 0 and 1. It compares models on one partition: on a coarser
    one all distances are smaller.

    Parameters
    ----------
    targets, predictions : arrays of shape (n_studies, n_regions)

    Returns
    -------
    array of shape (n_studies,)

    Examples
    --------
    >>> total_variation(np.array([[0.5, 0.0]]), np.array([[0.25, 0.75]]))
    array([0.75])
    """
    apart = np.abs(targets - predictions).sum(axis=1, dtype=np.float64)
    uncovered = targets.sum(axis=1, dtype=np.float64) - predictions.sum(axis=1, dtype=np.float64)
    distances: NDArray[np.float64] = (apart + np.abs(uncovered)) / 2
    return distances


def correlations(maps: Floats, targets: Floats) -> NDArray[np.float64]:
    """Compute Pearson's correlation of each map with its target, both (n, m); 0 if constant.

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
    """Return the share of peaks in regions of highest density of given masses, mean over studies.

    Takes the level of each peak (see `neurowhere.learn.scoring`), its study, and the mass of each
    study's region.
    """
    weights = 1 / np.bincount(study)[study]
    return float(np.average(levels < masses[study], weights=weights))


class TermScores(NamedTuple):
    """How well maps of terms separate the studies that mention them from the others."""

    term_auc: float  # mean over terms
    term_auc_null: float  # the 95 % quantile of the mean over permuted studies
    terms_above_null: float  # share of the terms above that quantile of their own null
    terms: int


def term_scores(
    scores: Floats, is_mentioned: NDArray[np.bool_], *, permutations: int = PERMUTATIONS
) -> TermScores:
    """Compute the area under the ROC curve of each term, beside that of permuted studies.

    All terms share a permutation, so the null of their mean keeps what terms have in common. Both
    arrays are of shape (n_terms, n_studies); a score is the fit of a study's peaks to a term's map.
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
    above_all = float(np.quantile(null.mean(axis=1), NULL_QUANTILE))
    return TermScores(float(aucs.mean()), above_all, float((aucs > highest).mean()), len(aucs))


def _areas(ranks: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Compute Mann and Whitney's U over the number of pairs, for each row."""
    n = is_positive.sum(axis=1)
    sums = np.where(is_positive, ranks, 0).sum(axis=1)
    areas: NDArray[np.float64] = (sums - n * (n + 1) / 2) / (n * (ranks.shape[1] - n))
    return areas


def likelihood_matrix(
    probabilities: NDArray[np.floating],
    study: NDArray[np.integer],
    region: NDArray[np.integer],
    scale: NDArray[np.floating] | float,
) -> NDArray[np.float32]:
    """Score the peaks of every study under the map of every text, in mean nats above uniform.

    Takes maps (n_texts, m), the study and the region of each peak, and V/v_k of each region, which
    is m on a grid; returns (n_texts, n_studies).
    """
    n_studies = int(study.max()) + 1
    weights = 1 / np.bincount(study, minlength=n_studies)[study]
    shape = (probabilities.shape[1], n_studies)
    shares = sparse.csr_matrix((weights.astype(np.float32), (region, study)), shape=shape)
    nats = np.log(0.5 + 0.5 * probabilities * np.float32(scale))
    scores: NDArray[np.float32] = np.asarray((shares.T @ nats.T).T, dtype=np.float32)
    return scores


def recalls(scores: NDArray[np.floating], pool: int | None = None) -> dict[str, float]:
    """Compute recall at 1, 10 and 100, mix-and-match, and the AUC, in both directions.

    Each query is ranked among `pool` candidates: its own and pool − 1 of the n − 1 others. With b
    others before its own, the number that a random pool has of them is hypergeometric, so the
    expected recall is computed, not drawn, and is comparable between any n ≥ pool. Mix-and-match is
    the chance that the own candidate scores higher than a random other one. The AUC is the area
    under recall at k against k/pool. Of equal scores any may come first: each order is as likely.

    Parameters
    ----------
    scores : array of shape (n, n)
        Scores of texts × studies, each text in the row of its own study.
    pool : int, optional
        At most n, which is the default.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> recalls(np.eye(3))["coordinates to text, recall at 1"]
    1.0
    >>> round(recalls(np.zeros((4, 4)), pool=2)["text to coordinates, recall at 1"], 2)
    0.5
    """
    from scipy.stats import hypergeom

    n = len(scores)
    pool = n if pool is None else pool
    chance = {  # that fewer than k of the b before its own are in the pool; (n,)
        k: hypergeom.cdf(k - 1, n - 1, np.arange(n), pool - 1) if k < pool else np.ones(n)
        for k in RANKS
    }
    table = {}
    for name, matrix in (("coordinates to text", scores.T), ("text to coordinates", scores)):
        own = np.diagonal(matrix)[:, None]
        better = (matrix > own).sum(axis=1)  # others ranked before
        equal = (matrix == own).sum(axis=1)  # itself among them
        for rank, chances in chance.items():
            total = np.concatenate([[0.0], np.cumsum(chances)])
            found = (total[better + equal] - total[better]) / equal
            table[f"{name}, recall at {rank}"] = float(found.mean())
        before = float((better + (equal - 1) / 2).mean()) / max(n - 1, 1)
        table[f"{name}, mix and match"] = 1 - before
        table[f"{name}, AUC"] = 1 - before * (pool - 1) / pool
    return table
