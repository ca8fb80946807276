"""Losses of linear models: total variation (ℓ1), least squares (ℓ2), and the mean map alone.

Their λ suppose rows of X of unit norm, columns that are centred, and targets that are
probabilities times the number m of regions.
"""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import (
    SHARPNESS,
    Block,
    Design,
    Linear,
    LinearFit,
    choose,
    collect,
    l1_blocks,
    ridge_blocks,
    target_products,
)
from neurowhere.model.training import Loss, TrainingData, TrainingOptions, TrainingResult


class LinearLoss(Loss):
    """A loss that is a sum over regions, each fitted by a linear regression.

    Attributes
    ----------
    sharpness : tuple of float
        Candidates for the sharpness, which is chosen together with λ.
    """

    sharpness: ClassVar[tuple[float, ...]] = SHARPNESS

    @abstractmethod
    def blocks(
        self,
        design: Design,
        data: TrainingData,
        lambdas: list[float],
        options: TrainingOptions,
        stage: str,
    ) -> Iterator[Block]:
        """Solve every region over a path of λ.

        Parameters
        ----------
        design : Design
            Made of what `inputs` gives for the data.
        data : TrainingData
        lambdas : list of float
            Path of λ, decreasing.
        options : TrainingOptions
        stage : str
            "choice", or "fit" for the last fit.

        Yields
        ------
        Block
            For targets times m.
        """

    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        """Choose λ and the sharpness on validation studies, then fit all studies."""
        path = self.path(options)
        part, held = data.split(options)
        design = Design(self.inputs(part))
        choice = choose(
            self.blocks(design, part, path, options, "choice"),
            path,
            design,
            self.inputs(held),
            held.peaks,
            data.relative_volume,
            sharpness=self.sharpness,
        )
        # The path down to the chosen λ costs little more than λ alone, and gives it a good start.
        path = [lam for lam in path if lam >= choice.penalty]
        design = Design(self.inputs(data))
        fitted = collect(self.blocks(design, data, path, options, "fit"), data.n_regions)
        predictor = self.predictor(fitted, design, data, choice.sharpness)
        return TrainingResult(predictor, choice, fitted.certificate)

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

    def blocks(
        self,
        design: Design,
        data: TrainingData,
        lambdas: list[float],
        options: TrainingOptions,
        stage: str,
    ) -> Iterator[Block]:
        """Solve every region by ADMM, with a certificate."""
        return l1_blocks(
            design,
            lambda regions: target_columns(data, regions),
            data.n_regions,
            lambdas,
            tolerance=options.tolerance,
            n_jobs=options.n_jobs,
            checkpoint=options.checkpoint and Path(options.checkpoint) / stage,
        )


class L2(LinearLoss):
    """Least squares: ridge regression."""

    name = "l2"
    title = "ℓ2"
    lambdas = tuple(np.geomspace(1000, 1, 10).tolist())

    def blocks(
        self,
        design: Design,
        data: TrainingData,
        lambdas: list[float],
        options: TrainingOptions,
        stage: str,
    ) -> Iterator[Block]:
        """Solve every region in closed form."""
        shares = data.targets.shares * data.n_regions
        products, mean = target_products(design, shares, data.targets.smooth)
        return ridge_blocks(design, products, mean, lambdas)


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


def target_columns(data: TrainingData, regions: slice) -> NDArray[np.float32]:
    """Return the targets of all studies for some regions, times m.

    Parameters
    ----------
    data : TrainingData
    regions : slice

    Returns
    -------
    array of shape (n_studies, b)
    """
    return data.targets.columns(regions) * np.float32(data.n_regions)
