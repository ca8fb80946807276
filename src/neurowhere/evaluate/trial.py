"""One trial of a comparison: a model fitted on the training studies of a fold, and its scores."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.evaluate.problem import Problem
from neurowhere.exceptions import ConvergenceWarning
from neurowhere.learn import Choice, Peaks, PeakScorer, shuffle_split
from neurowhere.model.losses import LOSSES, Loss, MeanMap
from neurowhere.model.training import CHUNK, CountModel, TrainingOptions

Rows = NDArray[np.intp]

UNIFORM, MEAN = "uniform", MeanMap.name
BASELINES = (UNIFORM, MEAN)
TEST_SHARE = 0.1  # of the studies


class Task(NamedTuple):
    """Which model to fit, on which fold."""

    fold: int
    partition: str
    loss: str


@dataclass(frozen=True)
class Score:
    """A row of the table of scores: means over the test studies of a fold.

    `penalty` and `sharpness` are NaN for models that have none.
    """

    fold: int
    partition: str
    loss: str
    log_likelihood: float
    nats_above_uniform: float
    total_variation: float
    penalty: float
    sharpness: float
    seconds: float
    studies: int
    peaks: int
    warning: str = ""


@dataclass(frozen=True, eq=False)
class FoldModel:
    """A model fitted on some studies of a problem.

    Attributes
    ----------
    predict : callable
        Gives the probability of each region for some studies of the problem, a chunk at a time.
    choice : Choice or None
        Chosen penalty and sharpness; None for a baseline.
    uncovered : float
        Density, relative to the uniform one, where the partition leaves the brain uncovered.
    """

    predict: Callable[[Rows], Iterator[NDArray[np.floating]]]
    choice: Choice | None = None
    uncovered: float = 0.0


@dataclass(frozen=True)
class Trial:
    """How the models of a comparison are fitted and scored; called with a problem and a task.

    Attributes
    ----------
    seed : int
        Seed of the folds and of the fits.
    n_jobs : int
        Threads of a fit.
    losses : mapping of str to Loss
        The losses by name; they travel to other processes with the trial.
    """

    seed: int = 0
    n_jobs: int = 1
    losses: Mapping[str, Loss] = field(default_factory=lambda: dict(LOSSES))

    def __call__(self, problem: Problem, task: Task) -> Score:
        """Fit the model of a task and score it on the test studies of its fold."""
        start = time.perf_counter()
        train, test = self.split(problem, task.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = self.fit(problem, task.loss, train)
        nats, distances = score_model(model, problem, test)
        said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
        return Score(
            *task,
            log_likelihood=float(nats.mean() - np.log(problem.brain_mm3)),
            nats_above_uniform=float(nats.mean()),
            total_variation=float(distances.mean()),
            penalty=np.nan if model.choice is None else model.choice.penalty,
            sharpness=np.nan if model.choice is None else model.choice.sharpness,
            seconds=round(time.perf_counter() - start, 3),
            studies=len(test),
            peaks=int(np.isin(problem.targets.study, test).sum()),
            warning=" ".join(said),
        )

    def split(self, problem: Problem, fold: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to test on."""
        return shuffle_split(problem.groups, fold, seed=self.seed, share=TEST_SHARE)

    def fit(self, problem: Problem, loss: str, rows: Rows) -> FoldModel:
        """Fit a model on some studies of a problem.

        Parameters
        ----------
        problem : Problem
        loss : str
            Name of a loss or of a baseline.
        rows : array of int
            Studies to fit on.

        Returns
        -------
        FoldModel
        """
        if loss == UNIFORM:
            return FoldModel(partial(_predict_uniform, problem), uncovered=1.0)
        chosen = MeanMap() if loss == MEAN else self.losses[loss]
        counts = problem.counts_for(chosen)
        rows = rows[problem.targets.has_mass[rows]]
        model = CountModel.fit(
            chosen,
            counts[rows],
            problem.targets.select(rows),
            problem.groups[rows],
            volumes_mm3=problem.regions.volumes_mm3,
            brain_mm3=problem.brain_mm3,
            labels=problem.label_selector if chosen.needs_labels else None,
            options=TrainingOptions(seed=self.seed, n_jobs=self.n_jobs),
        )
        return FoldModel(lambda some: model.predict(counts[some]), model.result.choice)


def _predict_uniform(problem: Problem, rows: Rows) -> Iterator[NDArray[np.float64]]:
    """Yield the share of the brain's volume in each region, for each study."""
    shares = problem.regions.volumes_mm3 / problem.brain_mm3
    for chunk in slices(len(rows), CHUNK):
        yield np.broadcast_to(shares, (chunk.stop - chunk.start, len(shares)))


def score_model(
    model: FoldModel, problem: Problem, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score a model on some studies of a problem.

    Parameters
    ----------
    model : FoldModel
    problem : Problem
    rows : array of shape (n,)
        The studies.

    Returns
    -------
    nats, distances : arrays of shape (n,)
        Nats above uniform, and total-variation distance, of each study.
    """
    targets = problem.targets.select(rows)
    peaks = Peaks(targets.study, targets.region, len(rows))
    relative_volume = problem.brain_mm3 / problem.regions.volumes_mm3
    scorer = PeakScorer(peaks, relative_volume, uncovered=model.uncovered)
    distances = []
    start = 0
    for q in model.predict(rows):  # (chunk, n_regions)
        scorer.add(q)
        distances.append(total_variation(targets.rows(slice(start, start + len(q))), q))
        start += len(q)
    return scorer.nats, np.concatenate(distances)


def total_variation(
    targets: NDArray[np.floating], predictions: NDArray[np.floating]
) -> NDArray[np.float64]:
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
