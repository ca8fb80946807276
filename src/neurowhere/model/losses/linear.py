"""Losses of linear models: total variation (ℓ1), least squares (ℓ2), both on labels, the mean map.

Their λ suppose rows of X of unit norm, columns that are centred, and targets that are
probabilities times the number m of regions.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.learn import (
    SHARPNESS,
    Block,
    Choice,
    Design,
    Linear,
    LinearFit,
    choose,
    collect,
    l1_blocks,
    label_blocks,
    one_feature_l1,
    one_feature_l2,
    ridge_blocks,
    score_studies,
    target_products,
)
from neurowhere.learn.linear import Array
from neurowhere.model.training import Loss, TrainingData, TrainingOptions, TrainingResult
from neurowhere.text import Vocabulary, words_of_label

CONSTRAINT = "labels"
REGIONS_AT_ONCE = 64


class RegularisationPath(NamedTuple):
    """Problem that a linear loss solves: every region, over a path of λ.

    Attributes
    ----------
    design : Design
        Made of what `LinearLoss.inputs` gives for the data.
    data : TrainingData
    lambdas : list of float
        Decreasing.
    options : TrainingOptions
    stage : "choice" or "fit"
        Whether λ is being chosen, or this is the last fit.
    """

    design: Design
    data: TrainingData
    lambdas: list[float]
    options: TrainingOptions
    stage: Literal["choice", "fit"]

    def columns(self, regions: slice) -> NDArray[np.float32]:
        """Return the targets of all studies for some regions, times m: (n_studies, b)."""
        return self.data.targets.columns(regions) * np.float32(self.data.n_regions)


class LinearLoss(Loss):
    """A loss that is a sum over regions, each fitted by a linear regression.

    Attributes
    ----------
    sharpness : tuple of float
        Candidates for the sharpness, which is chosen together with λ.
    intercept : bool
        Whether a region also has a constant, its mean. Without it, what the terms add is all that
        is predicted, and there is no sharpness.
    """

    sharpness: tuple[float, ...] = SHARPNESS
    intercept: bool = True
    base: ClassVar[str | None] = None  # loss of an encoder that has this one, if named otherwise
    constraint: ClassVar[str | None] = None

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of an `Encoder` that has this loss; usual values are left out."""
        given: dict[str, Any] = {"loss": self.base or self.name, "constraint": self.constraint}
        if self.features != Loss.features:
            given["features"] = self.features
        if len(self.sharpness) == 1:
            given["sharpness"] = self.sharpness[0]
        return given if self.intercept else given | {"intercept": False}

    @abstractmethod
    def blocks(self, path: RegularisationPath) -> Iterator[Block]:
        """Solve every region over a path of λ.

        Parameters
        ----------
        path : RegularisationPath

        Yields
        ------
        Block
            For targets times m.
        """

    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        """Choose λ and the sharpness on validation studies, then fit all studies."""
        lambdas = self.path(options)
        part, held = data.split(options)
        if not self.intercept:
            trials = [self.through_zero(part, lam).predict(held.features) for lam in lambdas]
            nats = [score_studies([q], held.peaks, held.relative_volume) for q in trials]
            scores = np.array([[np.nanmean(each)] for each in nats])
            best = int(scores.argmax())
            found = Choice(lambdas[best], 1.0, float(scores[best, 0]), scores)
            return TrainingResult(self.through_zero(data, lambdas[best]), found)
        design = Design(self.inputs(part))
        choice = choose(
            self.blocks(RegularisationPath(design, part, lambdas, options, "choice")),
            lambdas,
            design,
            self.inputs(held),
            held.peaks,
            data.relative_volume,
            sharpness=self.sharpness,
        )
        # The path down to the chosen λ costs little more than λ alone, and gives it a good start.
        lambdas = [lam for lam in lambdas if lam >= choice.penalty]
        design = Design(self.inputs(data))
        path = RegularisationPath(design, data, lambdas, options, "fit")
        fitted = collect(self.blocks(path), data.n_regions)
        predictor = self.predictor(fitted, design, data, choice.sharpness)
        return TrainingResult(predictor, choice, fitted.certificate)

    def through_zero(self, data: TrainingData, lam: float) -> Linear:
        """Fit without an intercept: no feature and no target is centred.

        Parameters
        ----------
        data : TrainingData
        lam : float

        Returns
        -------
        Linear
        """
        raise NotImplementedError(f"{self.name} has an intercept")

    def inputs(self, data: TrainingData) -> sparse.csr_matrix:
        """Return the features as the regression sees them."""
        return data.features

    def predictor(
        self, fitted: LinearFit, design: Design, data: TrainingData, sharpness: float
    ) -> Linear:
        """Make a predictor from terms, of a fit to targets times m."""
        m = data.n_regions
        coefficients = np.asarray(fitted.coefficients / m, np.float32)
        return Linear(fitted.mean / m, coefficients, design.mean, sharpness)


class L1(LinearLoss):
    """Total variation, the paper's loss: least absolute deviations."""

    name = "l1"
    title = "ℓ1"
    lambdas = tuple(np.geomspace(10, 0.1, 9).tolist())

    def blocks(self, path: RegularisationPath) -> Iterator[Block]:
        """Solve every region by ADMM, with a certificate."""
        options = path.options
        return l1_blocks(
            path.design,
            path.columns,
            path.data.n_regions,
            path.lambdas,
            tolerance=options.tolerance,
            n_jobs=options.n_jobs,
            checkpoint=options.checkpoint and Path(options.checkpoint) / path.stage,
        )


class L2(LinearLoss):
    """Least squares: ridge regression."""

    name = "l2"
    title = "ℓ2"
    lambdas = tuple(np.geomspace(1000, 1, 10).tolist())

    def blocks(self, path: RegularisationPath) -> Iterator[Block]:
        """Solve every region in closed form."""
        targets = path.data.targets
        shares = targets.shares * path.data.n_regions
        products, mean = target_products(path.design, shares, targets.smooth)
        return ridge_blocks(path.design, products, mean, path.lambdas)

    def through_zero(self, data: TrainingData, lam: float) -> Linear:
        """Fit without an intercept: no feature and no target is centred."""
        design = Design(self.inputs(data), centre=False)
        products, mean = target_products(design, data.targets.shares, data.targets.smooth)
        fitted = collect(ridge_blocks(design, products, mean, [lam]), data.n_regions)
        return Linear(mean, fitted.coefficients, np.zeros(design.shape[1]), intercept=False)


class LiteralL1(L1):
    """Total variation as the paper words it: term frequencies, and no sharpness."""

    name = "l1-literal"
    title = "ℓ1, literal"
    base = "l1"
    features = "tf"
    sharpness = (1.0,)
    # Frequencies are smaller than features of unit norm, and so are their λ.
    lambdas = tuple(np.geomspace(3, 0.003, 9).tolist())


class LiteralL2(L2):
    """Least squares as the paper words it: term frequencies, and no sharpness."""

    name = "l2-literal"
    title = "ℓ2, literal"
    base = "l2"
    features = "tf"
    sharpness = (1.0,)
    lambdas = tuple(np.geomspace(300, 0.03, 13).tolist())  # as in `LiteralL1`


class MeanMap(Loss):
    """The mean map of the training studies, whatever the text: a baseline without terms or λ."""

    name = "mean"
    title = "mean map"
    lambdas = ()
    needs_terms = False

    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        """Average the targets."""
        mean = data.mean_target
        no_terms = np.zeros((0, len(mean)), np.float32)
        return TrainingResult(Linear(mean / mean.sum(), no_terms, np.zeros(0)))


@dataclass(frozen=True, eq=False)
class LabelTerms:
    """The labels of an atlas as terms.

    Attributes
    ----------
    names : tuple of str
        Label of each region in words, "" where it names nothing.
    vocabulary : Vocabulary
        The different names.
    """

    names: tuple[str, ...]
    vocabulary: Vocabulary

    @classmethod
    def from_labels(cls, labels: Iterable[str]) -> Self:
        """Read the labels of an atlas, one per region."""
        names = tuple(words_of_label(label)[0] for label in labels)
        return cls(names, Vocabulary(sorted(set(filter(None, names)))))

    @property
    def selector(self) -> sparse.csr_matrix:
        """A one where the term is the region's label: (n_terms, n_regions)."""
        regions = [k for k, name in enumerate(self.names) if name]
        terms = [self.vocabulary.index(self.names[k]) for k in regions]
        shape = (len(self.vocabulary), len(self.names))
        return sparse.csr_matrix((np.ones(len(regions)), (terms, regions)), shape=shape)


class LabelConstrained(LinearLoss):
    """A regression of each region on the mentions of its own label.

    Attributes
    ----------
    base : str
        Loss that the constraint is put on.
    slope : callable
        Solves regressions on one feature each; see `neurowhere.learn.linear`.
    intercept : bool
        Without it, a region is as probable as its label is frequent, times a factor of its own.
    """

    constraint = CONSTRAINT
    slope: "ClassVar[staticmethod[[Array, Array, float], Array]]"
    lambdas = tuple(np.geomspace(100, 0.01, 9).tolist())
    needs_labels = True

    def through_zero(self, data: TrainingData, lam: float) -> Linear:
        """Fit each region by a line through zero: no feature and no target is centred."""
        x, labels = sparse.csc_matrix(self.inputs(data)), _labels(data)
        slopes = np.zeros(data.n_regions)
        for regions in slices(data.n_regions, REGIONS_AT_ONCE):
            y = data.targets.columns(regions).astype(np.float64) * data.n_regions
            slopes[regions] = self.slope(x[:, regions].toarray().astype(np.float64), y, lam)
        coefficients = np.asarray(labels.toarray() * slopes / data.n_regions, np.float32)
        centre = np.zeros(labels.shape[0])
        return Linear(data.mean_target, coefficients, centre, intercept=False)

    def inputs(self, data: TrainingData) -> sparse.csr_matrix:
        """Return one column per region: the feature of its label."""
        selector = sparse.csr_matrix(_labels(data), dtype=data.features.dtype)
        return sparse.csr_matrix(data.features @ selector)

    def blocks(self, path: RegularisationPath) -> Iterator[Block]:
        """Solve every region in closed form."""
        n_regions = path.data.n_regions
        return label_blocks(path.design, path.columns, n_regions, path.lambdas, self.slope)

    def predictor(
        self, fitted: LinearFit, design: Design, data: TrainingData, sharpness: float
    ) -> Linear:
        """Move the coefficient of each region to the term that is its label."""
        labels, m = _labels(data), data.n_regions
        coefficients = labels.toarray() * np.diagonal(fitted.coefficients)
        centre = labels @ design.mean / np.maximum(labels.getnnz(axis=1), 1)
        return Linear(fitted.mean / m, np.asarray(coefficients / m, np.float32), centre, sharpness)


class LabelsL2(LabelConstrained):
    """Least squares on labels, as in the paper."""

    name = "labels"
    title = "labels (ℓ2)"
    base = "l2"
    slope = staticmethod(one_feature_l2)


class LiteralLabels(LabelsL2):
    """Least squares on labels as the paper may be read: term frequencies, no intercept."""

    name = "labels-literal"
    title = "labels, literal"
    features = "tf"
    sharpness = (1.0,)
    intercept = False


class LabelsL1(LabelConstrained):
    """Least absolute deviations on labels."""

    name = "labels-l1"
    title = "labels (ℓ1)"
    base = "l1"
    slope = staticmethod(one_feature_l1)


def _labels(data: TrainingData) -> sparse.csr_matrix:
    assert data.labels is not None  # whoever trains a loss that needs labels gives them
    return data.labels
