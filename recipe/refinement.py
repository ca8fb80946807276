"""Refinement: what a fitted log-linear model learns besides for short texts, and for articles.

All of q = softmax(b + s xᵀ(A + g B + h D) S + prior) is kept but one of B and D, which moves away
from where it starts. It is fitted to the same loss as the model itself, on texts for which its gate
is open: views of studies that are a few words long, or articles.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.learn.loglinear import AdamW, TargetRows, drop, importance_of, to_slope
from neurowhere.learn.predictor import LogLinear

Floats = NDArray[np.float32]
FEW_PEAKS = 15.0  # number of peaks that halves the weight of a study


@dataclass(frozen=True)
class RefinementSchedule:
    """Schedule of a refinement; see `neurowhere.learn.Schedule`."""

    epochs: int
    batch: int
    rate: float
    decay: float
    dropout: float


SHORT = RefinementSchedule(epochs=10, batch=256, rate=0.01, decay=0.3, dropout=0.1)
LONG = RefinementSchedule(epochs=8, batch=64, rate=0.003, decay=5.0, dropout=0.2)


@dataclass(frozen=True, eq=False)
class RefinementTexts:
    """Texts that loadings are refined on.

    Attributes
    ----------
    draw : callable
        Gives the features of the texts, anew for each epoch: (n, n_terms).
    targets : callable
        Gives the densities of some of them: (b, m).
    n_peaks : array of shape (n,)
        Peaks of each.
    """

    draw: Callable[[], sp.csr_matrix]
    targets: TargetRows
    n_peaks: NDArray[np.integer]


def refine(
    model: LogLinear,
    kind: Literal["short", "long"],
    texts: RefinementTexts,
    schedule: RefinementSchedule,
    *,
    seed: int = 0,
    n_jobs: int = -1,
) -> Iterator[LogLinear]:
    """Refine the loadings of short texts or of articles, and yield the model after each epoch.

    Parameters
    ----------
    model : LogLinear
        With gates, and with the loadings to start from.
    kind : "short" or "long"
        Which loadings move: B or D.
    texts : RefinementTexts
    schedule : RefinementSchedule
    seed : int
        Seed of the order of the texts and of the dropout.
    n_jobs : int
        Threads, −1 for all cores.

    Yields
    ------
    LogLinear
    """
    from joblib import effective_n_jobs

    assert model.gates is not None
    gates = model.gates
    rng = np.random.default_rng(seed)
    start = getattr(model, kind)
    moved = np.zeros_like(start)
    n_voxels = len(model.mean)
    weight = np.full(n_voxels, n_voxels, np.float32)  # V/v_k
    importance = importance_of(texts.n_peaks, FEW_PEAKS)
    n = len(importance)
    n_steps = schedule.epochs * -(-n // schedule.batch)
    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as threads:
        step = AdamW([moved], [schedule.decay], schedule.rate, n_steps, threads)
        for _ in range(schedule.epochs):
            X = texts.draw()
            order = rng.permutation(n)
            for batch in slices(n, schedule.batch):
                rows = order[batch]
                model = replace(model, **{kind: start + moved})
                x = X[rows]
                opening = gates.of(x)
                seen = drop(x, schedule.dropout, rng)
                exponent: Floats = model.project(seen, opening) @ model.components
                exponent += model.bias
                if model.prior is not None:
                    model.prior.add_total(exponent, x)
                shares = importance[rows] / np.float32(len(rows))
                to_slope(exponent, texts.targets(rows), weight, shares, threads)
                through = opening.sharpness * getattr(opening, kind)
                step([_slope(seen, exponent @ model.components.T, through)])
            yield replace(model, **{kind: start + moved})


def _slope(x: sp.csr_matrix, to_hidden: Floats, through: Floats) -> Floats:
    """Return the gradient for loadings that reach the hidden vector through a gate."""
    return np.asarray(x.T @ (to_hidden * through[:, None]), dtype=np.float32)
