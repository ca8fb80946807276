"""One trial of a comparison: a model fitted on the training studies of a fold, and its scores."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.evaluate.folds import shuffle_split
from neurowhere.evaluate.metric import relative_densities, total_variation
from neurowhere.evaluate.problem import Problem
from neurowhere.exceptions import ConvergenceWarning
from neurowhere.learn import nats_above_uniform
from neurowhere.model.encoder import Encoder
from neurowhere.model.training import CHUNK, Learned, mean_predictor
from neurowhere.space import Partition, VoxelGrid

T = TypeVar("T")
Rows = NDArray[np.intp]

UNIFORM, MEAN = "uniform", "mean"
BASELINES = (UNIFORM, MEAN)
# What each loss asks of the encoder. The paper's label-constrained encoder is least squares.
LOSSES: dict[str, dict[str, Any]] = {
    "l1": {"loss": "l1"},
    "l2": {"loss": "l2"},
    "likelihood": {"loss": "likelihood"},
    "labels": {"loss": "l2", "constraint": "labels"},
    "labels-l1": {"loss": "l1", "constraint": "labels"},
}


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


def needs_labels(loss: str) -> bool:
    """Whether a loss is for atlases with labels only."""
    return LOSSES.get(loss, {}).get("constraint") == "labels"


@dataclass(frozen=True)
class Trial:
    """How the models of a comparison are fitted and scored; called with a problem and a task."""

    seed: int = 0
    n_jobs: int = 1

    def __call__(self, problem: Problem, task: Task) -> Score:
        """Fit the model of a task and score it on the test studies of its fold."""
        start = time.perf_counter()
        train, test = self.split(problem, task.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = self.fit(problem, task.loss, train)
        nats, distances = score_studies(problem, test, model)
        said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
        return Score(
            *task,
            log_likelihood=float(nats.mean() - np.log(problem.brain.total_volume_mm3)),
            nats_above_uniform=float(nats.mean()),
            total_variation=float(distances.mean()),
            penalty=model.penalty_,
            sharpness=np.nan if task.loss in BASELINES else model.sharpness_,
            seconds=round(time.perf_counter() - start, 3),
            studies=len(test),
            peaks=int(np.isin(problem.targets.study, test).sum()),
            warning=" ".join(said),
        )

    def split(self, problem: Problem, fold: int) -> tuple[Rows, Rows]:
        """Rows to train on and rows to test on."""
        return shuffle_split(problem.groups, fold, seed=self.seed)

    def fit(self, problem: Problem, loss: str, rows: Rows) -> "Uniform | FoldEncoder":
        """Fit the model of a loss on some studies of a problem."""
        if loss == UNIFORM:
            return Uniform()
        options = {"text": "none"} if loss == MEAN else LOSSES[loss]
        return FoldEncoder(seed=self.seed, n_jobs=self.n_jobs, **options).fit_rows(problem, rows)


class Uniform:
    """The density that is the same everywhere in the brain."""

    penalty_, sharpness_ = np.nan, 1.0
    uncovered = 1.0

    def predict_rows(self, problem: Problem, rows: Rows) -> Iterator[NDArray[np.float64]]:
        """Yield the share of the brain's volume in each region, for each study."""
        shares = problem.regions.volumes_mm3 / problem.brain.total_volume_mm3
        for chunk in slices(len(rows), CHUNK):
            yield np.broadcast_to(shares, (chunk.stop - chunk.start, len(shares)))


class FoldEncoder(Encoder):
    """Encoder that learns from the counts and targets that were made once for all folds."""

    uncovered = 0.0

    def fit_rows(self, problem: Problem, rows: Rows) -> Self:
        """Learn from some studies of a problem."""
        rows = rows[problem.targets.has_mass[rows]]
        targets = problem.targets.select(rows)
        # Learning asks for names and volumes only; voxels would weigh a hundred times as much.
        self.partition_ = cast(Partition, problem.regions)
        self.brain_ = cast(VoxelGrid, problem.brain)
        if self.text == "none":
            self._keep(Learned(mean_predictor(targets)))
            return self
        if self.constraint == "labels":
            labels = _given(problem.labels)
            self.vocabulary_, self.label_names_ = labels.vocabulary, list(labels.names)
        counts = self._counts(problem)[rows]
        self.learn_counts(counts, targets, problem.groups[rows])
        return self

    def predict_rows(self, problem: Problem, rows: Rows) -> Iterator[NDArray[np.float32]]:
        """Predict some studies of a problem, a chunk at a time."""
        features = self.transform(self._counts(problem)[rows])
        for chunk in slices(len(rows), CHUNK):
            yield self.predict_features(features[chunk])

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Weight the term counts of studies."""
        return X if self.text == "none" else self.weighting_.transform(X)

    def _counts(self, problem: Problem) -> sparse.csr_matrix:
        if self.text == "none":
            return sparse.csr_matrix(np.zeros((len(problem), 0), dtype=np.float32))
        counts = _given(problem.labels).counts if self.constraint else _given(problem.counts)
        return sparse.csr_matrix(counts)


def _given(value: T | None) -> T:
    """Return what `compare` has seen to: counts or labels where a loss needs them."""
    assert value is not None
    return value


def score_studies(
    problem: Problem, rows: Rows, model: Uniform | FoldEncoder
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nats above uniform and total-variation distance of each study under a model."""
    targets = problem.targets.select(rows)
    order = np.argsort(targets.study, kind="stable")
    study, region = targets.study[order], targets.region[order]
    relative = np.zeros(len(study))
    distances = np.zeros(len(rows))
    start = 0
    for q in model.predict_rows(problem, rows):  # (chunk, n_regions)
        stop = start + len(q)
        here = slice(*np.searchsorted(study, [start, stop]))
        relative[here] = relative_densities(
            q,
            study[here] - start,
            region[here],
            problem.regions.volumes_mm3,
            problem.brain.total_volume_mm3,
            model.uncovered,
        )
        distances[start:stop] = total_variation(targets.rows(slice(start, stop)), q)
        start = stop
    return nats_above_uniform(relative, study, len(rows)), distances
