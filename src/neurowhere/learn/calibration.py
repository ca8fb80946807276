"""Calibration: how much predicted mass it takes to hold a share of the peaks of unseen studies.

The *level* of a peak is the predicted mass that is denser than the place where it lies: a region
of highest density holds the peak once its mass exceeds that. If the levels of held-out peaks were
uniform, a region of mass 0.5 would hold half of them. They are not quite, so the mass that is
needed for a share s is read off as the s-quantile of the held-out levels (split conformal
prediction), each study weighing the same.
"""

import numpy as np
from numpy.typing import NDArray

SHARES = np.linspace(0, 1, 201)  # at which a calibration is kept


def peak_levels(
    probabilities: NDArray[np.floating],
    density: NDArray[np.floating],
    study: NDArray[np.integer],
    region: NDArray[np.integer],
) -> NDArray[np.float64]:
    """Compute the predicted mass that is denser than each peak.

    Parameters
    ----------
    probabilities, density : arrays of shape (n_studies, m)
    study, region : arrays of shape (n_peaks,)
        Region is −1 for a peak that the partition leaves uncovered: its level is 1.

    Returns
    -------
    array of shape (n_peaks,)

    Examples
    --------
    >>> q = np.array([[0.2, 0.5, 0.3]])
    >>> peak_levels(q, q, np.array([0, 0, 0]), np.array([0, 1, 2])).round(2)
    array([0.8, 0. , 0.5])
    """
    levels = np.ones(len(study))
    order = np.argsort(study, kind="stable")
    bounds = np.searchsorted(study[order], np.arange(len(probabilities) + 1))
    for i, (q, dense) in enumerate(zip(probabilities, density, strict=True)):
        peaks = order[bounds[i] : bounds[i + 1]]
        peaks = peaks[region[peaks] >= 0]
        ranked = np.argsort(-dense, kind="stable")
        before = np.empty(len(q))
        before[ranked] = np.cumsum(q[ranked], dtype=np.float64) - q[ranked]
        levels[peaks] = before[region[peaks]]
    return levels


def calibrate(levels: NDArray[np.float64], study: NDArray[np.integer]) -> NDArray[np.float64]:
    """Compute quantiles of the levels of peaks, each study weighing the same.

    Parameters
    ----------
    levels, study : arrays of shape (n_peaks,)

    Returns
    -------
    array
        Quantile at each of `SHARES`.
    """
    weights = 1 / np.bincount(study)[study]
    order = np.argsort(levels, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    quantiles = levels[order][np.minimum(np.searchsorted(reached, SHARES), len(levels) - 1)]
    quantiles[0], quantiles[-1] = 0.0, 1.0
    return quantiles


def mass_for(share: float, calibration: NDArray[np.float64]) -> float:
    """Return the predicted mass that should hold a share of the peaks.

    Parameters
    ----------
    share : float
    calibration : array
        From `calibrate`.

    Returns
    -------
    float
    """
    return float(np.interp(share, SHARES, calibration))
