"""The likelihood of peaks under predictions: the metric by which models are chosen and compared.

The metric is the log of the half-uniform density q' = ½ (1/V + q), where V is the volume of the
brain. For a peak in region k with density q = p_k / v_k,

    log q' = −log V + log(½ + ½ ρ),    ρ = p_k V / v_k

and the second term, the nats above uniform, is what this module computes. The density ρ relative
to the uniform one needs only the *relative volume* V/v_k of each region.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Peaks:
    """Peaks inside the brain, by study and region.

    Attributes
    ----------
    study, region : arrays of shape (n_peaks,)
        Region is −1 where the partition leaves the brain uncovered.
    n_studies : int
    """

    study: NDArray[np.integer]
    region: NDArray[np.integer]
    n_studies: int


class PeakScorer:
    """Score studies at their peaks, while their predictions pass by a chunk at a time.

    Parameters
    ----------
    peaks : Peaks
    relative_volume : array of shape (n_regions,)
        V/v_k.
    uncovered : float
        Relative density ρ at peaks that the partition leaves uncovered.

    Examples
    --------
    >>> scorer = PeakScorer(Peaks(np.array([1, 0]), np.array([0, 1]), 2), np.array([2.0, 2.0]))
    >>> scorer.add(np.array([[0.5, 0.5]]))
    >>> scorer.add(np.array([[1.0, 0.0]]))
    >>> scorer.nats.round(3)
    array([0.   , 0.405])
    """

    def __init__(self, peaks: Peaks, relative_volume: Array, *, uncovered: float = 0.0) -> None:
        order = np.argsort(peaks.study, kind="stable")
        self._study, self._region = peaks.study[order], peaks.region[order]
        self._n_studies = peaks.n_studies
        self._relative_volume = relative_volume
        self._uncovered = uncovered
        self._density = np.zeros(len(order))  # ρ at each peak
        self._n_seen = 0

    def add(self, probabilities: NDArray[np.floating]) -> None:
        """Read the densities at the peaks of the next studies.

        Parameters
        ----------
        probabilities : array of shape (n, n_regions)
            Predictions for the n studies that follow those of the calls before.
        """
        stop = self._n_seen + len(probabilities)
        here = slice(*np.searchsorted(self._study, [self._n_seen, stop]))
        row, region = self._study[here] - self._n_seen, self._region[here]
        density = probabilities[row, region] * self._relative_volume[region]
        self._density[here] = np.where(region >= 0, density, self._uncovered)
        self._n_seen = stop

    @property
    def nats(self) -> Array:
        """Nats above uniform of each study, NaN without peaks: (n_studies,)."""
        return nats_above_uniform(self._density, self._study, self._n_studies)


def score_studies(
    predictions: Iterable[NDArray[np.floating]],
    peaks: Peaks,
    relative_volume: Array,
    *,
    uncovered: float = 0.0,
) -> Array:
    """Score studies at their peaks from a stream of predictions.

    Parameters
    ----------
    predictions : iterable of arrays of shape (n, n_regions)
        Probability of each region, for consecutive chunks of the studies.
    peaks : Peaks
    relative_volume : array of shape (n_regions,)
        V/v_k.
    uncovered : float
        Relative density ρ at peaks that the partition leaves uncovered.

    Returns
    -------
    array of shape (n_studies,)
        Mean nats above uniform of the peaks of each study; NaN for a study without peaks.
    """
    scorer = PeakScorer(peaks, relative_volume, uncovered=uncovered)
    for probabilities in predictions:
        scorer.add(probabilities)
    return scorer.nats


def nats_above_uniform(
    relative_density: Array, study: NDArray[np.integer], n_studies: int
) -> Array:
    """Average log(½ + ½ ρ) over the peaks of each study.

    Parameters
    ----------
    relative_density : array of shape (n_peaks,)
        ρ = q V, the density relative to the uniform one; 0 for a peak in a part of the brain that
        the partition leaves uncovered.
    study : array of shape (n_peaks,)
        Study of each peak.
    n_studies : int

    Returns
    -------
    array of shape (n_studies,)
        NaN for a study without peaks.
    """
    logs = np.log(0.5 + 0.5 * relative_density)
    sums = np.bincount(study, weights=logs, minlength=n_studies)
    counts = np.bincount(study, minlength=n_studies)
    scores = np.full(n_studies, np.nan)
    np.divide(sums, counts, out=scores, where=counts > 0)
    return scores
