"""Training: from the term counts and the peaks of studies to a model that predicts from counts.

What is minimised, over which path of λ and by which solver is the business of a `Loss`; those that
the package knows are in `neurowhere.model.losses`. `CountModel` is all there is to a fitted model
between counts and probabilities: an `Encoder` puts the reading of texts before it, and the folds
of a comparison use it as it is.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.learn import (
    Certificate,
    Choice,
    Design,
    Peaks,
    Predictor,
    Schedule,
    shuffle_split,
    target_products,
)
from neurowhere.space.density import Targets
from neurowhere.text import TfIdf
from neurowhere.text.features import WEIGHTINGS

CHUNK = 256  # studies predicted at a time


@dataclass(frozen=True)
class TrainingOptions:
    """Options of training, whatever the loss. The parameters are those of `Encoder`."""

    lambdas: Sequence[float] | None = None
    validation: float = 0.1
    tolerance: float = 1e-3
    repeats: int = 2
    schedule: Schedule = field(default_factory=Schedule)
    seed: int = 0
    n_jobs: int = -1
    checkpoint: str | os.PathLike[str] | None = None


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Studies to learn from, as features and targets.

    Attributes
    ----------
    features : csr_matrix of shape (n_studies, n_terms)
    targets : Targets
        Densities to predict, and the peaks to score.
    groups : array of shape (n_studies,)
        Studies of one group are held out together.
    volumes_mm3 : array of shape (n_regions,)
        v_k.
    brain_mm3 : float
        V, the volume of the brain.
    labels : csr_matrix of shape (n_terms, n_regions), optional
        A one where a term is the label of a region; for losses that need labels.
    """

    features: sparse.csr_matrix
    targets: Targets
    groups: NDArray[Any]
    volumes_mm3: NDArray[np.float64]
    brain_mm3: float
    labels: sparse.csr_matrix | None = None

    @property
    def n_regions(self) -> int:
        """Number of regions m."""
        return len(self.volumes_mm3)

    @property
    def relative_volume(self) -> NDArray[np.float64]:
        """V/v_k, which turns a probability into a density relative to the uniform one."""
        relative: NDArray[np.float64] = self.brain_mm3 / self.volumes_mm3
        return relative

    @property
    def peaks(self) -> Peaks:
        """Peaks to score."""
        return Peaks(self.targets.study, self.targets.region, len(self.targets))

    @property
    def mean_target(self) -> NDArray[np.float64]:
        """Mean probability of each region over the studies."""
        ones = Design(np.ones((len(self.targets), 1)))
        _, mean = target_products(ones, self.targets.shares, self.targets.smooth)
        return mean

    def select(self, rows: NDArray[np.intp]) -> "TrainingData":
        """Return the data of some studies, given by index."""
        return replace(
            self,
            features=self.features[rows],
            targets=self.targets.select(rows),
            groups=self.groups[rows],
        )

    def split(self, options: TrainingOptions) -> tuple["TrainingData", "TrainingData"]:
        """Return the studies to fit on while choosing, and the validation studies."""
        rows = shuffle_split(self.groups, seed=options.seed, share=options.validation)
        return self.select(rows[0]), self.select(rows[1])


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """A fitted predictor, and how it was chosen.

    Attributes
    ----------
    predictor : Predictor
    choice : Choice or None
        Scores of all penalties and sharpnesses on the validation studies.
    certificate : Certificate or None
        Primal and dual value of an ℓ1 fit.
    calibration : array or None
        Predicted mass that held each share of the peaks of validation studies; see
        `neurowhere.learn.scoring`.
    term_weights : array or None
        Learned weight of each term among the features of a text; see `neurowhere.learn.loglinear`.
    """

    predictor: Predictor
    choice: Choice | None = None
    certificate: Certificate | None = None
    calibration: NDArray[np.float64] | None = None
    term_weights: NDArray[np.float32] | None = None


class Loss(ABC):
    """Loss of a model: its name, its path of λ, what it needs, and its fit.

    A new loss is a subclass in a module of `neurowhere.model.losses`, and one line in the table
    `LOSSES` there. `Encoder`, comparisons and commands know it from then on.

    Attributes
    ----------
    name : str
        Name of the loss in comparisons; also the `loss` of an `Encoder`, unless `parameters` says
        otherwise.
    title : str
        Name in tables and figures.
    lambdas : tuple of float
        Default path of the penalty λ, decreasing.
    needs_terms : bool
        Whether it looks at the text at all.
    needs_labels : bool
        Whether it needs an atlas with labels: the terms are then the labels, and
        `TrainingData.labels` says whose.
    counts_nested : bool
        Whether terms within longer ones count too, unless the user says otherwise.
    features : "tfidf" or "tf"
        How counts become features; see `neurowhere.text.features`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    lambdas: ClassVar[tuple[float, ...]]
    needs_terms: ClassVar[bool] = True
    needs_labels: ClassVar[bool] = False
    counts_nested: ClassVar[bool] = False
    features: str = "tfidf"

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of an `Encoder` that has this loss."""
        return {"loss": self.name, "constraint": None}

    def path(self, options: TrainingOptions) -> list[float]:
        """Return the λ to choose from: those asked for, or the usual ones."""
        lambdas = self.lambdas if options.lambdas is None else options.lambdas
        return [float(value) for value in lambdas]

    @abstractmethod
    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        """Choose what has to be chosen on validation studies, then fit all studies.

        Parameters
        ----------
        data : TrainingData
        options : TrainingOptions

        Returns
        -------
        TrainingResult
        """


@dataclass(frozen=True, eq=False)
class CountModel:
    """A fitted model, from the term counts of studies to the probability of each region.

    Attributes
    ----------
    weighting : TfIdf
        Turns counts into features.
    result : TrainingResult
        Its predictor turns features into probabilities.
    """

    weighting: TfIdf
    result: TrainingResult

    @classmethod
    def fit(
        cls,
        loss: Loss,
        counts: sparse.csr_matrix,
        targets: Targets,
        groups: NDArray[Any],
        *,
        volumes_mm3: NDArray[np.float64],
        brain_mm3: float,
        labels: sparse.csr_matrix | None = None,
        options: TrainingOptions,
    ) -> Self:
        """Learn the weights of terms, then fit the loss.

        Parameters
        ----------
        loss : Loss
        counts : csr_matrix of shape (n_studies, n_terms)
        targets, groups, volumes_mm3, brain_mm3, labels
            As in `TrainingData`.
        options : TrainingOptions

        Returns
        -------
        CountModel
        """
        weighting = WEIGHTINGS[loss.features]().fit(counts)
        features = weighting.transform(counts)
        data = TrainingData(features, targets, groups, volumes_mm3, brain_mm3, labels)
        result = loss.fit(data, options)
        if result.term_weights is not None:
            weighting = TfIdf.from_idf(weighting.idf_ * result.term_weights)
        return cls(weighting, result)

    def predict(
        self, counts: sparse.csr_matrix, chunk: int = CHUNK
    ) -> Iterator[NDArray[np.float32]]:
        """Predict from term counts, some studies at a time.

        Parameters
        ----------
        counts : csr_matrix of shape (n, n_terms)
        chunk : int

        Yields
        ------
        array of shape (at most chunk, n_regions)
            Probability of each region.
        """
        features = self.weighting.transform(counts)
        for rows in slices(features.shape[0], chunk):
            yield self.result.predictor.predict(features[rows])


def no_counts(n_studies: int) -> sparse.csr_matrix:
    """Return the counts of a model that knows no terms.

    Parameters
    ----------
    n_studies : int

    Returns
    -------
    csr_matrix of shape (n_studies, 0)
    """
    return sparse.csr_matrix(np.zeros((n_studies, 0), dtype=np.float32))
