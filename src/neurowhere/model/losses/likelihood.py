"""The likelihood itself, of a log-linear model: the loss of the model that the package ships."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices, track
from neurowhere.learn import (
    Choice,
    LogLinear,
    PeakScorer,
    Schedule,
    Studies,
    average,
    calibrate,
    fit_loglinear,
    learn_term_weights,
    peak_levels,
    reweighted,
    softmax,
)
from neurowhere.model.training import (
    CHUNK,
    Loss,
    TrainingData,
    TrainingOptions,
    TrainingResult,
)

T = TypeVar("T")


class Likelihood(Loss):
    """Log-likelihood of peaks under a log-linear model; see `neurowhere.learn.loglinear`.

    Its λ is the weight decay of the loadings.

    Attributes
    ----------
    sharpness : tuple of float
        Candidates for the sharpness, which multiplies the exponent.
    """

    name = "likelihood"
    title = "likelihood"
    lambdas = (2.0,)
    counts_nested = True
    sharpness: ClassVar[tuple[float, ...]] = (0.8, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)

    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        """Learn the weights of terms; choose decay, epochs and sharpness; average several seeds.

        The average has the rank of all fits together; what exceeds the rank of one moves no map.
        """
        part, held = data.split(options)
        *_, term_weights = _epochs(learn_term_weights, part, options, options.schedule, "weights")
        data, part, held = (_reweighted(each, term_weights) for each in (data, part, held))
        trials = [self._try(part, held, options, decay) for decay in self.path(options)]
        best = max(trials, key=lambda trial: max(trial.scores))
        models = []
        for repeat in range(options.repeats):
            title = f"fit {repeat + 1} of {options.repeats}"
            *_, model = _epochs(fit_loglinear, data, options, best.schedule, title, repeat)
            models.append(model)
        return TrainingResult(
            average(models).sharpened(best.sharpness).truncated(options.schedule.rank),
            Choice(
                best.schedule.decay[0],
                best.sharpness,
                max(best.scores),
                np.array([trial.scores for trial in trials]),
            ),
            calibration=_calibration(best.model.sharpened(best.sharpness), held),
            term_weights=term_weights,
        )

    def _try(
        self, part: TrainingData, held: TrainingData, options: TrainingOptions, decay: float
    ) -> "_Trial":
        """Fit, and keep the epoch with the best validation score."""
        schedule = replace(options.schedule, decay=(decay, options.schedule.decay[1]))
        best: _Trial | None = None
        epochs = _epochs(fit_loglinear, part, options, schedule, f"choice, decay {decay:g}")
        for epoch, model in enumerate(epochs, start=1):
            scores = sharpness_scores(model, held, self.sharpness)
            if best is None or max(scores) > max(best.scores):
                sharpness = self.sharpness[int(np.argmax(scores))]
                best = _Trial(model.copy(), replace(schedule, stop=epoch), scores, sharpness)
        assert best is not None
        return best


class _Trial(NamedTuple):
    """The best epoch of a fit to part of the studies."""

    model: LogLinear
    schedule: Schedule
    scores: list[float]  # for each sharpness
    sharpness: float  # the best


def to_studies(data: TrainingData) -> Studies:
    """Return what a log-linear regression is fitted to.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    Studies
    """
    targets = data.targets
    n_peaks = np.bincount(targets.study, minlength=len(targets))
    return Studies(data.features, targets.rows, n_peaks, data.mean_target, data.relative_volume)


def sharpness_scores(
    model: LogLinear, held: TrainingData, candidates: tuple[float, ...] = Likelihood.sharpness
) -> list[float]:
    """Score a model on validation studies for each sharpness.

    Parameters
    ----------
    model : LogLinear
    held : TrainingData
        Validation studies.
    candidates : tuple of float

    Returns
    -------
    list of float
        Mean nats above uniform.
    """
    scorers = [PeakScorer(held.peaks, held.relative_volume) for _ in candidates]
    for rows in slices(held.features.shape[0], CHUNK):
        added = model.project(held.features[rows]) @ model.components
        for scorer, sharpness in zip(scorers, candidates, strict=True):
            scorer.add(softmax(model.bias + np.float32(sharpness) * added))
    return [float(np.nanmean(scorer.nats)) for scorer in scorers]


def _reweighted(data: TrainingData, term_weights: NDArray[np.float32]) -> TrainingData:
    return replace(data, features=reweighted(data.features, term_weights))


def _calibration(model: LogLinear, held: TrainingData) -> NDArray[np.float64]:
    """Find the mass that holds each share of the peaks of validation studies."""
    study, region = held.targets.study, held.targets.region
    levels = np.ones(len(study))
    for rows in slices(held.features.shape[0], CHUNK):
        q = model.predict(held.features[rows])
        here = (study >= rows.start) & (study < rows.stop)
        levels[here] = peak_levels(
            q, q * held.relative_volume, study[here] - rows.start, region[here]
        )
    return calibrate(levels, study)


def _epochs(
    method: Callable[..., Iterator[T]],
    data: TrainingData,
    options: TrainingOptions,
    schedule: Schedule,
    title: str,
    repeat: int = 0,
) -> Iterator[T]:
    """Follow a fit, or the learning of weights, epoch by epoch."""
    seed = options.seed + repeat
    results = method(to_studies(data), schedule, seed=seed, n_jobs=options.n_jobs)
    return track(results, title, schedule.n_epochs)
