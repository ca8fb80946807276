"""Measures of held-out predictions besides the likelihood, and differences between models.

Arrays only. The likelihood itself is in `neurowhere.learn.scoring`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

CONFIDENCE = 0.95


def total_variation(targets: NDArray[np.floating], predictions: NDArray[np.floating]) -> Array:
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
    distances: Array = (apart + np.abs(uncovered)) / 2
    return distances


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of two models over folds, with its confidence interval.

    `share_above` is the share of the folds in which the first model is better.
    """

    mean: float
    low: float
    high: float
    folds: int
    share_above: float


def paired_difference(
    first: ArrayLike, second: ArrayLike, test_share: float, confidence: float = CONFIDENCE
) -> Difference:
    """Compare the scores of two models on the same shuffle-split folds.

    The training sets of the folds overlap, so their scores are not independent. The variance of
    the mean of J differences dⱼ is therefore taken as (Nadeau & Bengio, Machine Learning 2003)

        (1/J + n_test/n_train) s²,    s² = Σ (dⱼ − d̄)² / (J − 1)

    and the interval is d̄ ± t s √(…), with t the quantile of Student's law with J − 1 degrees.

    Parameters
    ----------
    first, second : arrays of shape (n_folds,)
    test_share : float
        Share of the studies in a test set, which gives n_test/n_train.
    confidence : float
        Level of the interval.

    Returns
    -------
    Difference
        Its interval is NaN with fewer than two folds.
    """
    from scipy.stats import t

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n = len(differences)
    mean = float(differences.mean()) if n else np.nan
    above = float((differences > 0).mean()) if n else np.nan
    if n < 2:
        return Difference(mean, np.nan, np.nan, n, above)
    variance = (1 / n + test_share / (1 - test_share)) * differences.var(ddof=1)
    margin = float(t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(variance))
    return Difference(mean, mean - margin, mean + margin, n, above)
