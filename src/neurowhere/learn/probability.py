"""From linear scores to probabilities, and from probabilities to the likelihood of peaks.

The metric is the log of the half-uniform density q' = ½ (1/V + q), where V is the volume of the
brain. For a peak in region k with density q = p_k / v_k,

    log q' = −log V + log(½ + ½ p_k V / v_k)

and the second term, the nats above uniform, is what this module computes.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


def deviations(
    X: sp.csr_matrix, coefficients: NDArray[np.floating], centre: NDArray[np.floating]
) -> NDArray[np.float32]:
    """(x − x̄)ᵀβ for each row x of X; 0, the mean map, for a row without any term.

    >>> deviations(sp.csr_matrix([[2.0], [0.0]]), np.array([[3.0]]), np.array([1.0]))
    array([[3.],
           [0.]], dtype=float32)
    """
    moved: NDArray[np.float32] = np.asarray(X @ coefficients, dtype=np.float32)
    moved -= (centre @ coefficients).astype(np.float32)
    moved[np.diff(X.indptr) == 0] = 0
    return moved


def to_probabilities(
    mean: NDArray[np.floating], deviations: NDArray[np.floating], sharpness: float = 1.0
) -> NDArray[np.float32]:
    """Cut mean + sharpness · deviation at zero and rescale each row to sum to 1.

    A row that is nowhere positive gets the mean map.

    >>> to_probabilities(np.array([1.0, 1.0]), np.array([[1.0, -2.0], [-2.0, -2.0]]))
    array([[1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    positive = np.maximum(mean + sharpness * deviations, 0.0, dtype=np.float32)
    totals = positive.sum(axis=1, dtype=np.float64)
    positive[totals <= 0] = mean
    totals[totals <= 0] = mean.sum()
    positive /= totals[:, None].astype(np.float32)
    return positive


def softmax(exponent: NDArray[np.floating]) -> NDArray[np.floating]:
    """Exponential of each row, rescaled to sum to 1; the rows themselves are overwritten.

    >>> softmax(np.log(np.array([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    exponent -= exponent.max(axis=1, keepdims=True)
    np.exp(exponent, out=exponent)
    exponent /= exponent.sum(axis=1, keepdims=True)
    return exponent


def nats_above_uniform(
    relative_density: Array, study: NDArray[np.integer], n_studies: int
) -> Array:
    """Mean over each study's peaks of log(½ + ½ ρ), with ρ = q V the density relative to uniform.

    Parameters
    ----------
    relative_density : array of shape (n_peaks,)
        0 for a peak in a part of the brain that the partition leaves uncovered.
    study : array of shape (n_peaks,)
        Study of each peak.

    Returns
    -------
    scores : array of shape (n_studies,)
        NaN for a study without peaks.
    """
    logs = np.log(0.5 + 0.5 * relative_density)
    sums = np.bincount(study, weights=logs, minlength=n_studies)
    counts = np.bincount(study, minlength=n_studies)
    scores = np.full(n_studies, np.nan)
    np.divide(sums, counts, out=scores, where=counts > 0)
    return scores
