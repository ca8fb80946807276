"""Scores of predictions at held-out peaks: likelihood, calibration, and the choice of a penalty.

**Likelihood.** The metric by which models are chosen and compared is the log of the half-uniform
density q' = ½ (1/V + q), where V is the volume of the brain. For a peak in region k with density
q = p_k / v_k,

    log q' = −log V + log(½ + ½ ρ),    ρ = p_k V / v_k

and the second term, the nats above uniform, is what this module computes. The density ρ relative
to the uniform one needs only the *relative volume* V/v_k of each region.

**Calibration.** The *level* of a peak is the predicted mass that is denser than the place where it
lies: a region of highest density holds the peak once its mass exceeds that. If the levels of
held-out peaks were uniform, a region of mass 0.5 would hold half of them. They are not quite, so
the mass that is needed for a share s is read off as the s-quantile of the held-out levels (split
conformal prediction), each study weighing the same. Short texts, abstracts and articles differ in
that, so a `LengthCalibration` has such quantiles for several numbers of known terms, and goes from
one to the next linearly in the log of the number.

**Choice.** The penalty λ and the sharpness are chosen by the likelihood of validation peaks inside
the training data. A linear fit that is regularised enough to generalise also shrinks its maps
towards the mean map. The *sharpness* multiplies the deviation from the mean map before it is cut at
zero and rescaled, and gives back the contrast. Both are chosen together, from one stream of blocks:
the scores of all pairs (λ, sharpness) are accumulated while the coefficients pass by, and no map is
kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import compiled
from neurowhere.exceptions import FitError
from neurowhere.learn.linear import Array, Block, Design
from neurowhere.learn.predictor import deviations

Rows = NDArray[np.intp]

SHARES = np.linspace(0, 1, 201)  # at which a calibration is kept
KNOTS = np.array([1.5, 4, 8, 16, 35, 62, 150, 250, 420])  # numbers of known terms
LEAST_GAIN = 0.02  # expected gain below which a map is all but the mean map
TINY = 1e-6  # weight of any text at any knot, for knots that no text is close to
RIDGE = 1.0  # penalty when the true gain is regressed on the model's own estimate
SHARPNESS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
HELD_OUT_SHARE = 0.1


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
    return _quantiles(levels, 1 / np.bincount(study)[study])


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


def highest_density(
    probabilities: NDArray[np.floating], density: NDArray[np.floating], mass: float
) -> NDArray[np.bool_]:
    """Return which regions make the smallest set of regions that has a mass.

    Regions are taken from the densest down, until their probabilities sum to the mass.

    Parameters
    ----------
    probabilities, density : arrays of shape (m,)
    mass : float

    Returns
    -------
    array of bool of shape (m,)

    Examples
    --------
    >>> highest_density(np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.2, 0.6]), 0.5)
    array([False,  True,  True])
    """
    order = np.argsort(-density, kind="stable")
    before = np.cumsum(probabilities[order], dtype=np.float64) - probabilities[order]
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order] = (before < mass * probabilities.sum(dtype=np.float64)) & (density[order] > 0)
    return chosen


@dataclass(frozen=True, eq=False)
class LengthCalibration:
    """Calibration by the number n of known terms: what maps hold and gain on unseen studies.

    Attributes
    ----------
    knots : array of shape (n_knots,)
        Numbers of known terms, between which it goes from one to the next in log n.
    masses : array of shape (n_knots, n_shares)
        Predicted mass that held each of `SHARES` of the peaks.
    gains : array of shape (n_knots, 2)
        a and b, with a + b E the true gain over the mean map where the model expects E.
    """

    knots: NDArray[np.float64]
    masses: NDArray[np.float64]
    gains: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        n_terms: NDArray[np.integer],
        levels: NDArray[np.float64],
        text: NDArray[np.integer],
        expected: NDArray[np.floating],
        true: NDArray[np.floating],
    ) -> "LengthCalibration":
        """Calibrate on texts that the model did not see.

        Parameters
        ----------
        n_terms : array of shape (n_texts,)
        levels, text : arrays of shape (n_peaks,)
            Levels of peaks, and the text of each.
        expected, true : arrays of shape (n_texts,)
            Gain by the model's own account, and the true one.

        Returns
        -------
        LengthCalibration
        """
        shares = _knot_shares(n_terms, KNOTS)  # (n_texts, n_knots)
        sizes = np.bincount(text, minlength=len(n_terms))
        weights = (shares + TINY)[text] / sizes[text, None]  # (n_peaks, n_knots)
        masses = [_quantiles(levels, weight) for weight in weights.T]
        design = np.hstack([shares, shares * expected[:, None]])
        normal = design.T @ design + RIDGE * np.eye(design.shape[1])
        gains = np.linalg.solve(normal, design.T @ true)
        return cls(KNOTS, np.array(masses), gains.reshape(2, -1).T)

    def mass_for(self, share: float, n_terms: int) -> float:
        """Return the mass that should hold a share of the peaks of a text."""
        weights = _knot_shares(np.array([n_terms]), self.knots)[0]
        return float(np.interp(share, SHARES, weights @ self.masses))

    def gain(self, expected: float, n_terms: int) -> float:
        """Return the gain to be expected of a text, given what the model expects itself."""
        constant, slope = _knot_shares(np.array([n_terms]), self.knots)[0] @ self.gains
        return float(max(constant * min(1.0, expected / LEAST_GAIN) + slope * expected, 0.0))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        return {"knots": self.knots, "masses": self.masses, "gains": self.gains}


def _knot_shares(n_terms: NDArray[np.integer], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of the knots in a linear interpolation in log n: (n_texts, n_knots)."""
    logs = np.log(knots)
    at = np.clip(np.log(np.maximum(n_terms, 1)), logs[0], logs[-1])
    left = np.clip(np.searchsorted(logs, at) - 1, 0, len(logs) - 2)
    right_share = (at - logs[left]) / (logs[left + 1] - logs[left])
    weights = np.zeros((len(at), len(logs)))
    rows = np.arange(len(at))
    weights[rows, left] = 1 - right_share
    weights[rows, left + 1] = right_share
    return weights


def _quantiles(levels: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted quantile of levels at each of `SHARES`."""
    order = np.argsort(levels, kind="stable")
    reached = np.cumsum(weights[order])
    reached /= reached[-1]
    quantiles = levels[order][np.minimum(np.searchsorted(reached, SHARES), len(levels) - 1)]
    quantiles[0], quantiles[-1] = 0.0, 1.0
    return quantiles


@dataclass(frozen=True, slots=True)
class Choice:
    """The best pair, and the scores of all: mean nats above uniform over validation studies."""

    penalty: float
    sharpness: float
    score: float
    scores: Array  # (n_lambdas, n_sharpness)


def shuffle_split(
    groups: NDArray[np.generic],
    fold: int = 0,
    *,
    seed: int = 0,
    share: float = HELD_OUT_SHARE,
) -> tuple[Rows, Rows]:
    """Split studies at random into those to fit on and those to hold out.

    Parameters
    ----------
    groups : array of shape (n_studies,)
        Studies of one group, such as those that share a PubMed id, are on the same side.
    fold : int
        Number of the fold, from 0. A fold depends on its number and on the seed alone: asking for
        more folds keeps those before.
    seed : int
    share : float
        Share of the groups to hold out; at least one is, and at least one is not.

    Returns
    -------
    fit, held_out : arrays of int
        Rows of the studies, in increasing order.

    Examples
    --------
    >>> shuffle_split(np.array([7, 7, 8, 9, 9]), 0, share=0.4)
    (array([0, 1, 2]), array([3, 4]))
    """
    distinct, index = np.unique(groups, return_inverse=True)
    if len(distinct) < 2:
        raise FitError(
            f"expected at least 2 studies, to fit on and to hold out, got {len(distinct)}; "
            "give more studies"
        )
    n_held = min(max(round(share * len(distinct)), 1), len(distinct) - 1)
    rng = np.random.default_rng([seed, fold])
    is_held = np.zeros(len(distinct), dtype=bool)
    is_held[rng.permutation(len(distinct))[:n_held]] = True
    return np.flatnonzero(~is_held[index]), np.flatnonzero(is_held[index])


def choose(
    blocks: Iterable[Block],
    lambdas: Sequence[float],
    design: Design,
    X: sp.csr_matrix,
    peaks: Peaks,
    relative_volume: Array,
    *,
    sharpness: Sequence[float] = SHARPNESS,
) -> Choice:
    """Score every λ and sharpness on validation studies and return the best.

    Parameters
    ----------
    blocks : iterable of Block
        The path fitted on `design`.
    lambdas : sequence of float
        The λ of that path.
    design : Design
        Features of the studies that were fitted to.
    X : sparse matrix of shape (n_validation, n_terms)
        Features of the validation studies, not centred.
    peaks : Peaks
        Peaks of the validation studies.
    relative_volume : array of shape (n_regions,)
        V/v_k.
    sharpness : sequence of float

    Returns
    -------
    Choice
    """
    scorer = _PathScorer(design, X, peaks, len(lambdas), sharpness)
    for block in blocks:
        scorer.add(block)
    scores = scorer.scores(relative_volume)
    best_lambda, best_sharpness = divmod(int(np.argmax(scores)), len(sharpness))
    return Choice(lambdas[best_lambda], sharpness[best_sharpness], float(scores.max()), scores)


class _PathScorer:
    """Score each pair (λ, sharpness) at the peaks, while blocks of regions pass by."""

    def __init__(
        self,
        design: Design,
        X: sp.csr_matrix,
        peaks: Peaks,
        n_lambdas: int,
        sharpness: Sequence[float],
    ) -> None:
        order = np.argsort(peaks.region, kind="stable")
        self.study, self.region = peaks.study[order], peaks.region[order]
        self.n_studies = peaks.n_studies
        self.features = design.project(X).astype(np.float32)
        self.centre = design.mean.astype(np.float32)
        self.sharpness = sharpness
        self.totals = np.zeros((n_lambdas, len(sharpness), self.n_studies))
        self.mean_total = 0.0
        self.mean = np.zeros(len(order))  # at each peak
        self.deviation = np.zeros((n_lambdas, len(order)))  # at each peak

    def add(self, block: Block) -> None:
        """Sum the positive parts of a block, and read mean and deviations at its peaks."""
        here = slice(*np.searchsorted(self.region, [block.regions.start, block.regions.stop]))
        study, column = self.study[here], self.region[here] - block.regions.start
        self.mean_total += block.mean.sum()
        self.mean[here] = block.mean[column]
        mean, factors = (np.array(each, np.float32) for each in (block.mean, self.sharpness))
        for index, beta in enumerate(block.coefficients):
            moved = deviations(self.features, beta, self.centre @ beta)  # (n_validation, b)
            self.deviation[index, here] = moved[study, column]
            _add_positive_totals(mean, moved, factors, self.totals[index])

    def scores(self, relative_volume: Array) -> Array:
        """Average the nats above uniform over studies: (n_lambdas, n_sharpness)."""
        uniform = np.where(self.region >= 0, relative_volume[self.region], 0.0)  # V/v_k
        scores = np.empty(self.totals.shape[:2])
        for path_index, sharp_index in np.ndindex(*scores.shape):
            moved = self.mean + self.sharpness[sharp_index] * self.deviation[path_index]
            total = self.totals[path_index, sharp_index][self.study]
            probability = np.where(
                total > 0,
                np.maximum(moved, 0) / np.where(total > 0, total, 1),
                self.mean / self.mean_total,
            )
            nats = nats_above_uniform(probability * uniform, self.study, self.n_studies)
            scores[path_index, sharp_index] = np.nanmean(nats)
        return scores


@compiled(nogil=True, fastmath=True)
def _add_positive_totals(  # type: ignore[no-untyped-def]
    mean, deviations, sharpness, totals
):  # pragma: no cover
    """Add Σ_k max(mean_k + s deviation_ik, 0) to totals[s, i], for every sharpness s.

    A row of deviations is read once for all of them, while it is in cache.
    """
    for i in range(deviations.shape[0]):
        for index in range(len(sharpness)):
            sharp = sharpness[index]
            total = np.float32(0)
            for k in range(len(mean)):
                total += max(mean[k] + sharp * deviations[i, k], np.float32(0))
            totals[index, i] += total
