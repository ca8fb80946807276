"""Measures of held-out predictions beside the likelihood, and differences between models.

Arrays only. The likelihood itself is in `neurowhere.learn.probability`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

CONFIDENCE = 0.95


def relative_densities(
    predictions: NDArray[np.floating],
    study: NDArray[np.integer],
    region: NDArray[np.integer],
    volumes: Array,
    total_volume: float,
    uncovered: float = 0.0,
) -> Array:
    """Density at peaks relative to the uniform one: q V / v.

    Parameters
    ----------
    predictions : array of shape (n_studies, n_regions)
        Probability q_k of each region.
    study, region : arrays of shape (n_peaks,)
    volumes : array of shape (n_regions,)
        v_k, in the unit of `total_volume`, the volume V of the brain.
    uncovered : float
        What it is where the region is −1, in the part of the brain that is left uncovered.

    Examples
    --------
    >>> q = np.array([[0.25, 0.75]])
    >>> relative_densities(q, np.zeros(2, int), np.array([1, -1]), np.array([1.0, 2.0]), 4.0)
    array([1.5, 0. ])
    """
    scale = total_volume / volumes
    return np.where(region >= 0, predictions[study, region] * scale[region], uncovered)


def total_variation(targets: NDArray[np.floating], predictions: NDArray[np.floating]) -> Array:
    """Total-variation distance of each row of two tables of probabilities.

    What a row lacks to 1 is the probability of the background R_0, the part of the brain that the
    partition leaves uncovered:

        ½ Σ_k |ŷ_k − q_k|,  k = 0..m,  ŷ_0 = 1 − Σ ŷ_k,  q_0 = 1 − Σ q_k

    so that the distance is between 0 and 1. It compares models on one partition: on a coarser
    one all distances are smaller.

    >>> total_variation(np.array([[0.5, 0.0]]), np.array([[0.25, 0.75]]))
    array([0.75])
    """
    apart = np.abs(targets - predictions).sum(axis=1, dtype=np.float64)
    uncovered = targets.sum(axis=1, dtype=np.float64) - predictions.sum(axis=1, dtype=np.float64)
    distances: Array = (apart + np.abs(uncovered)) / 2
    return distances


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of two models over folds, with its confidence interval."""

    mean: float
    low: float
    high: float
    folds: int
    share_above: float
    """Share of the folds in which the first model is better."""


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
        Of the interval.
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
