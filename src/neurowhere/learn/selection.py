"""Choice of λ and of the sharpness, by the likelihood of validation peaks inside the training data.

A linear fit that is regularised enough to generalise also shrinks its maps towards the mean map.
The *sharpness* multiplies the deviation from the mean map before it is cut at zero and rescaled,
and gives back the contrast. Both are chosen together, from one stream of blocks: the scores of all
pairs (λ, sharpness) are accumulated while the coefficients pass by, and no map is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere.exceptions import FitError
from neurowhere.learn.blocks import Block
from neurowhere.learn.design import Array, Design
from neurowhere.learn.probability import deviations, nats_above_uniform

SHARPNESS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


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


@dataclass(frozen=True, slots=True)
class Choice:
    """The best pair, and the scores of all: mean nats above uniform over validation studies."""

    penalty: float
    sharpness: float
    score: float
    scores: Array  # (n_lambdas, n_sharpness)


def validation_split(
    groups: NDArray[np.generic], *, fraction: float = 0.1, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to fit on and rows to validate on; studies of one group stay together.

    >>> fit, validate = validation_split(np.array(["a", "a", "b", "c"]), fraction=0.3)
    >>> sorted(fit.tolist() + validate.tolist())
    [0, 1, 2, 3]
    """
    unique, index = np.unique(groups, return_inverse=True)
    if len(unique) < 2:
        raise FitError(f"expected at least 2 studies to choose λ on, got {len(unique)}")
    n_held = min(max(round(fraction * len(unique)), 1), len(unique) - 1)
    held = np.zeros(len(unique), dtype=bool)
    held[np.random.default_rng(seed).permutation(len(unique))[:n_held]] = True
    return np.flatnonzero(~held[index]), np.flatnonzero(held[index])


def choose(
    blocks: Iterable[Block],
    lambdas: Sequence[float],
    design: Design,
    X: sp.csr_matrix,
    peaks: Peaks,
    volumes: Array,
    total_volume: float,
    *,
    sharpness: Sequence[float] = SHARPNESS,
) -> Choice:
    """Score every λ and sharpness on validation studies and return the best.

    Parameters
    ----------
    blocks : iterable of Block
        The path fitted on `design`.
    X : sparse matrix of shape (n_validation, n_terms)
        Features of the validation studies, not centred.
    peaks : Peaks
        Peaks of the validation studies.
    volumes : array of shape (n_regions,)
        v_k, in the unit of `total_volume`, the volume V of the brain.
    """
    from neurowhere.learn._sweeps import add_positive_totals

    features = design.project(X).astype(np.float32)
    factors = np.array(sharpness, dtype=np.float32)
    centre = design.mean.astype(np.float32)
    order = np.argsort(peaks.region, kind="stable")
    region = peaks.region[order]
    n_lambdas, n_sharpness = len(lambdas), len(sharpness)
    totals = np.zeros((n_lambdas, n_sharpness, peaks.n_studies))
    mean_total = 0.0
    mean_at_peak = np.zeros(len(region))
    deviation_at_peak = np.zeros((n_lambdas, len(region)))
    for block in blocks:
        here = slice(*np.searchsorted(region, [block.regions.start, block.regions.stop]))
        column = region[here] - block.regions.start
        mean_total += block.mean.sum()
        mean_at_peak[here] = block.mean[column]
        mean = block.mean.astype(np.float32)
        for path_index, beta in enumerate(block.coefficients):
            deviation = deviations(features, beta, centre)  # (n_validation, b)
            deviation_at_peak[path_index, here] = deviation[peaks.study[order][here], column]
            add_positive_totals(mean, deviation, factors, totals[path_index])

    uniform = np.where(region >= 0, total_volume / volumes[region], 0.0)  # V/v_k; 0 uncovered
    study = peaks.study[order]
    scores = np.empty((n_lambdas, n_sharpness))
    for path_index, sharp_index in np.ndindex(*scores.shape):
        deviation_sharp = sharpness[sharp_index] * deviation_at_peak[path_index]
        total = totals[path_index, sharp_index][study]
        probability = np.where(
            total > 0,
            np.maximum(mean_at_peak + deviation_sharp, 0) / np.where(total > 0, total, 1),
            mean_at_peak / mean_total,
        )
        per_study = nats_above_uniform(probability * uniform, study, peaks.n_studies)
        scores[path_index, sharp_index] = np.nanmean(per_study)
    best_lambda, best_sharpness = divmod(int(np.argmax(scores)), n_sharpness)
    return Choice(lambdas[best_lambda], sharpness[best_sharpness], float(scores.max()), scores)
