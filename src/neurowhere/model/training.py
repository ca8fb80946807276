"""Learning: from the features and targets of studies to a fitted predictor.

What cannot be learned by the loss itself, the penalty, the sharpness and how long to go on, is
chosen by the likelihood of the peaks of studies that are held out of the training data; then the
model is fitted to all of it.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere._tools.progress import track
from neurowhere.learn import (
    Block,
    Certificate,
    Choice,
    Design,
    Linear,
    LogLinear,
    Peaks,
    Predictor,
    Schedule,
    Studies,
    average,
    calibrate,
    choose,
    collect,
    fit_loglinear,
    l1_blocks,
    label_blocks,
    learn_term_weights,
    nats_above_uniform,
    peak_levels,
    reweighted,
    ridge_blocks,
    softmax,
    target_products,
    validation_split,
)
from neurowhere.space.targets import Targets

# Rows of X have unit norm, its columns are centred, targets are probabilities times m. For the
# likelihood, the weight decay of the loadings.
LAMBDAS = {
    "l1": tuple(np.geomspace(10, 0.1, 9).tolist()),
    "l2": tuple(np.geomspace(1000, 1, 10).tolist()),
    "labels": tuple(np.geomspace(100, 0.01, 9).tolist()),
    "likelihood": (2.0,),
}
EXPONENT_SHARPNESS = (0.8, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)
CHUNK = 256  # studies predicted at a time
T = TypeVar("T")


class Regions(Protocol):
    """What learning asks of a partition."""

    @property
    def volumes_mm3(self) -> NDArray[np.float64]:
        """Volume of each region."""

    @property
    def n_regions(self) -> int:
        """Number of regions m."""


@dataclass(frozen=True)
class Learner:
    """How a predictor is learned. The parameters are those of `neurowhere.Encoder`."""

    loss: str = "l1"
    constraint: str | None = None
    lambdas: Sequence[float] | None = None
    validation: float = 0.1
    tolerance: float = 1e-3
    repeats: int = 2
    schedule: Schedule = field(default_factory=Schedule)
    seed: int = 0
    n_jobs: int = -1
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def path(self) -> list[float]:
        """Penalties to choose from, decreasing."""
        usual = LAMBDAS[self.constraint or self.loss]
        return [float(value) for value in (usual if self.lambdas is None else self.lambdas)]


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted predictor, and how it came about.

    Attributes
    ----------
    predictor : Predictor
    choice : Choice or None
        Scores of all penalties and sharpnesses on the validation studies.
    certificate : Certificate or None
        Primal and dual value of an ℓ1 fit.
    calibration : array or None
        Predicted mass that held each share of the peaks of held-out studies; see
        `neurowhere.learn.calibration`.
    term_weights : array or None
        Learned weight of each term among the features of a text; see `neurowhere.learn.loglinear`.
    """

    predictor: Predictor
    choice: Choice | None = None
    certificate: Certificate | None = None
    calibration: NDArray[np.float64] | None = None
    term_weights: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """What there is to learn from: studies as features and targets, over regions of the brain.

    `labels`, for a label-constrained model, has a one where a term is the label of a region.
    """

    features: sparse.csr_matrix  # (n_studies, n_terms)
    targets: Targets
    regions: Regions
    brain_mm3: float
    labels: sparse.csr_matrix | None = None  # (n_terms, n_regions)

    def select(self, rows: NDArray[np.intp]) -> "Lesson":
        """Give the lesson of some studies."""
        return replace(self, features=self.features[rows], targets=self.targets.select(rows))

    def reweighted(self, term_weights: NDArray[np.float32]) -> "Lesson":
        """Give the lesson in which terms have other weights."""
        return replace(self, features=reweighted(self.features, term_weights))

    @property
    def columns(self) -> sparse.csr_matrix:
        """Features as a regression sees them: one column per term, or per region's label."""
        if self.labels is None:
            return self.features
        selector = sparse.csr_matrix(self.labels, dtype=self.features.dtype)
        return sparse.csr_matrix(self.features @ selector)

    @property
    def peaks(self) -> Peaks:
        """Peaks to score against."""
        return Peaks(self.targets.study, self.targets.region, len(self.targets))

    @property
    def relative_volume(self) -> NDArray[np.float64]:
        """V/v_k: what turns a probability into a density relative to uniform."""
        relative: NDArray[np.float64] = self.brain_mm3 / self.regions.volumes_mm3
        return relative

    @property
    def studies(self) -> Studies:
        """What a log-linear regression is fitted to."""
        mean = mean_target(self.targets)
        n_peaks = np.bincount(self.targets.study, minlength=len(self.targets))
        return Studies(self.columns, self.targets.rows, n_peaks, mean, self.relative_volume)


def learn(learner: Learner, lesson: Lesson, groups: NDArray[Any]) -> Learned:
    """Choose what has to be chosen on held-out studies, then fit all of them.

    Parameters
    ----------
    learner : Learner
    lesson : Lesson
    groups : array of shape (n_studies,)
        Studies of one group are held out together.
    """
    fit_rows, held_rows = validation_split(groups, fraction=learner.validation, seed=learner.seed)
    fit, held = lesson.select(fit_rows), lesson.select(held_rows)
    if learner.loss == "likelihood":
        return _learn_likelihood(learner, lesson, fit, held)
    return _learn_linear(learner, lesson, fit, held)


def mean_predictor(targets: Targets) -> Linear:
    """Predictor of the mean map, whatever the text."""
    mean = mean_target(targets)
    return Linear(mean / mean.sum(), np.zeros((0, len(mean)), np.float32), np.zeros(0))


def mean_target(targets: Targets) -> NDArray[np.float64]:
    """Mean probability of each region over the studies."""
    ones = Design(np.ones((len(targets), 1)))
    _, mean = target_products(ones, targets.shares, targets.smooth)
    return mean


# ---- linear losses


def _learn_linear(learner: Learner, lesson: Lesson, fit: Lesson, held: Lesson) -> Learned:
    path = learner.path
    design, blocks = _blocks(learner, fit, path, "choice")
    choice = choose(
        blocks,
        path,
        design,
        held.columns,
        held.peaks,
        lesson.regions.volumes_mm3,
        lesson.brain_mm3,
    )
    # The path down to the chosen λ costs little more than λ alone, and starts it well.
    path = [lam for lam in path if lam >= choice.penalty]
    design, blocks = _blocks(learner, lesson, path, "fit")
    m = lesson.regions.n_regions
    fitted = collect(blocks, m)
    coefficients, centre = fitted.coefficients, design.mean
    if lesson.labels is not None:
        # One coefficient per region, that of its own label: move it to the label's term.
        coefficients = lesson.labels.toarray() * np.diagonal(coefficients)
        centre = lesson.labels @ centre / np.maximum(lesson.labels.getnnz(axis=1), 1)
    predictor = Linear(
        fitted.mean / m, np.asarray(coefficients / m, np.float32), centre, choice.sharpness
    )
    return Learned(predictor, choice, fitted.certificate)


def _blocks(
    learner: Learner, lesson: Lesson, lambdas: list[float], stage: str
) -> tuple[Design, Iterator[Block]]:
    """Design and blocks of a linear regression over a path of λ, on targets times m."""
    m = lesson.regions.n_regions
    targets = lesson.targets
    design = Design(lesson.columns)

    def columns(regions: slice) -> NDArray[np.float32]:
        return targets.columns(regions) * np.float32(m)

    if lesson.labels is not None:
        return design, label_blocks(
            design, columns, m, lambdas, loss="l1" if learner.loss == "l1" else "l2"
        )
    if learner.loss == "l1":
        return design, l1_blocks(
            design,
            columns,
            m,
            lambdas,
            tolerance=learner.tolerance,
            n_jobs=learner.n_jobs,
            checkpoint=learner.checkpoint and Path(learner.checkpoint) / stage,
        )
    products, mean = target_products(design, targets.shares * m, targets.smooth)
    return design, ridge_blocks(design, products, mean, lambdas)


# ---- likelihood


def _learn_likelihood(learner: Learner, lesson: Lesson, fit: Lesson, held: Lesson) -> Learned:
    """Learn the weights of terms; choose decay, epochs and sharpness; then average several seeds.

    The average has the rank of all fits together; what is beyond the rank of one moves no map.
    """
    *_, term_weights = _epochs(learn_term_weights, learner, fit, learner.schedule, "weights")
    lesson, fit, held = (each.reweighted(term_weights) for each in (lesson, fit, held))
    trials = [_try(learner, fit, held, decay) for decay in learner.path]
    best = max(trials, key=lambda trial: max(trial.scores))
    choice = Choice(
        best.schedule.decay[0],
        best.sharpness,
        max(best.scores),
        np.array([trial.scores for trial in trials]),
    )
    models = []
    for repeat in range(learner.repeats):
        title = f"fit {repeat + 1} of {learner.repeats}"
        *_, model = _epochs(fit_loglinear, learner, lesson, best.schedule, title, repeat)
        models.append(model)
    predictor = average(models).sharpened(best.sharpness).truncated(learner.schedule.rank)
    calibration = _calibration(best.model, held)
    return Learned(predictor, choice, calibration=calibration, term_weights=term_weights)


class _Trial(NamedTuple):
    """The best epoch of a fit to part of the studies."""

    model: LogLinear
    schedule: Schedule
    scores: list[float]  # for each sharpness

    @property
    def sharpness(self) -> float:
        return EXPONENT_SHARPNESS[int(np.argmax(self.scores))]


def _try(learner: Learner, fit: Lesson, held: Lesson, decay: float) -> _Trial:
    """Fit, and keep the epoch that held-out studies like best."""
    schedule = replace(learner.schedule, decay=(decay, learner.schedule.decay[1]))
    best: _Trial | None = None
    epochs = _epochs(fit_loglinear, learner, fit, schedule, f"choice, decay {decay:g}")
    for epoch, model in enumerate(epochs, start=1):
        scores = _sharpness_scores(model, held)
        if best is None or max(scores) > max(best.scores):
            best = _Trial(model.copy(), replace(schedule, stop=epoch), scores)
    assert best is not None
    return best._replace(model=best.model.sharpened(best.sharpness))


def _calibration(model: LogLinear, held: Lesson) -> NDArray[np.float64]:
    """Mass that holds each share of the peaks of held-out studies."""
    study, region = held.targets.study, held.targets.region
    levels = np.ones(len(study))
    features = held.columns
    for rows in slices(features.shape[0], CHUNK):
        q = model.predict(features[rows])
        here = (study >= rows.start) & (study < rows.stop)
        levels[here] = peak_levels(
            q, q * held.relative_volume, study[here] - rows.start, region[here]
        )
    return calibrate(levels, study)


def _epochs(
    method: Callable[..., Iterator[T]],
    learner: Learner,
    lesson: Lesson,
    schedule: Schedule,
    title: str,
    repeat: int = 0,
) -> Iterator[T]:
    """Follow a fit, or the learning of weights, epoch by epoch."""
    results = method(lesson.studies, schedule, seed=learner.seed + repeat, n_jobs=learner.n_jobs)
    return track(results, title, schedule.n_epochs)


def _sharpness_scores(model: LogLinear, held: Lesson) -> list[float]:
    """Mean nats above uniform of held-out studies for each sharpness."""
    peaks = held.peaks
    order = np.argsort(peaks.study, kind="stable")
    study, region = peaks.study[order], peaks.region[order]
    covered = region >= 0
    relative = np.zeros((len(EXPONENT_SHARPNESS), len(study)))
    scale = covered * held.relative_volume[region]
    features = held.columns
    for rows in slices(peaks.n_studies, CHUNK):
        here = slice(*np.searchsorted(study, [rows.start, rows.stop]))
        added = model.project(features[rows]) @ model.components
        for row, sharpness in zip(relative, EXPONENT_SHARPNESS, strict=True):
            q = softmax(model.bias + np.float32(sharpness) * added)
            row[here] = q[study[here] - rows.start, region[here]] * scale[here]
    return [float(np.nanmean(nats_above_uniform(row, study, peaks.n_studies))) for row in relative]
