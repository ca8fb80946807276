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

from neurowhere._tools.parallel import compiled
from neurowhere.exceptions import FitError
from neurowhere.learn.linear import Array, Block, Design
from neurowhere.learn.predictor import deviations
from neurowhere.learn.scoring import Peaks, nats_above_uniform

SHARPNESS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
HELD_OUT_SHARE = 0.1

Rows = NDArray[np.intp]


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
