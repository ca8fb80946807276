"""One trial of a comparison: a model fitted on the studies of a fold, its scores, and examples."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import replaced
from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.problem import Problem
from neurowhere.exceptions import ConvergenceWarning
from neurowhere.learn import Choice, Peaks, PeakScorer, shuffle_split
from neurowhere.model.losses import LOSSES, Loss, MeanMap
from neurowhere.model.training import CHUNK, CountModel, TrainingOptions

Rows = NDArray[np.intp]

UNIFORM, MEAN = "uniform", MeanMap.name
BASELINES = (UNIFORM, MEAN)
TEST_SHARE = 0.1  # of the studies
EXAMPLES_NAME = "examples.npz"
# The studies that the paper shows: the best, the first quartile and the median of its own test.
PAPER_PMIDS = ("20965262", "22832732", "20619347")
# Of the test studies in order of their scores: how many in a hundred are better.
RANKS = {"best": 0.0, "first quartile": 0.25, "median": 0.5}


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


@dataclass(frozen=True, eq=False)
class Examples:
    """Studies that took no part in learning, what they report and what was predicted.

    Attributes
    ----------
    partition, loss : str
        Model that predicted.
    why : tuple of str
        Why each study is shown.
    row : array of shape (n,)
        Row of each study in the corpus.
    nats : array of shape (n,)
        Nats above uniform of each.
    truth, prediction : arrays of shape (n, n_regions)
        Probability of each region.
    """

    partition: str
    loss: str
    why: tuple[str, ...]
    row: NDArray[np.intp]
    nats: NDArray[np.float64]
    truth: NDArray[np.float32]
    prediction: NDArray[np.float32]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the examples into the folder of a comparison."""
        with replaced(Path(folder) / EXAMPLES_NAME) as stream:
            np.savez_compressed(
                stream,
                model=np.array([self.partition, self.loss]),
                why=np.array(self.why),
                row=self.row,
                nats=self.nats,
                truth=self.truth,
                prediction=self.prediction,
            )

    @classmethod
    def load(cls, folder: str | os.PathLike[str], partition: str, loss: str) -> "Examples | None":
        """Read the examples of a model; None where there are none, or those of another."""
        try:
            with np.load(Path(folder) / EXAMPLES_NAME, allow_pickle=False) as arrays:
                if arrays["model"].tolist() != [partition, loss]:
                    return None
                why = tuple(arrays["why"].tolist())
                rest = [arrays[name] for name in ("row", "nats", "truth", "prediction")]
        except (OSError, BadZipFile, EOFError, KeyError, ValueError):
            return None
        return cls(partition, loss, why, *rest)


@dataclass(frozen=True)
class ExampleTrial:
    """Makes the examples of a problem, called with the loss and the rows that must be shown."""

    trial: Trial

    def __call__(self, problem: Problem, task: tuple[str, Sequence[int]]) -> Examples:
        """Fit on what is neither in the first fold's test set nor asked for; predict those."""
        loss, wanted = task
        train, test = self.trial.split(problem, 0)
        asked = np.array(wanted, dtype=np.intp)
        apart = problem.groups[asked]
        train, test = (rows[~np.isin(problem.groups[rows], apart)] for rows in (train, test))
        model = self.trial.fit(problem, loss, train)
        nats, _ = score_model(model, problem, test)
        ranked = by_rank(nats)
        row = np.concatenate([test[list(ranked.values())], asked])
        shown, _ = score_model(model, problem, row)
        return Examples(
            problem.name,
            loss,
            (*ranked, *["in the paper"] * len(asked)),
            row,
            shown,
            problem.targets.rows(row),
            np.concatenate(list(model.predict(row))),
        )


def paper_rows(corpus: Corpus) -> list[int]:
    """Rows of the paper's example studies, those that are in the corpus."""
    groups = corpus.groups.astype(str)
    return [int(row) for pmid in PAPER_PMIDS for row in np.flatnonzero(groups == pmid)]


def by_rank(scores: NDArray[np.float64]) -> dict[str, int]:
    """Index of the best score, and of those that a quarter and a half of the others surpass.

    >>> by_rank(np.array([3.0, 1.0, 5.0, 4.0, 2.0]))
    {'best': 2, 'first quartile': 3, 'median': 0}
    """
    order = np.argsort(-scores, kind="stable")
    return {name: int(order[round(share * (len(order) - 1))]) for name, share in RANKS.items()}
