"""Predictors: fitted regressions, from the features of texts to the probability of each region.

A linear one adds up maps of probability, a log-linear one maps of log probability. Both give the
exact share of each term of a text in each region, before the result is made a density.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere.learn.lateral import lateral_shifts

Floats = NDArray[np.floating]
Float32 = NDArray[np.float32]

FLOOR = 1e-9  # least probability of a region, before terms change it


@dataclass(frozen=True, eq=False)
class Linear:
    """The mean map plus (x − x̄)ᵀβ times the sharpness, cut at zero and rescaled.

    Attributes
    ----------
    mean : array of shape (m,)
        Mean target of each region; less than 1 in all where an atlas does not cover every peak.
    coefficients : array of shape (d, m)
    centre : array of shape (d,)
        Mean features x̄.
    sharpness : float
    """

    mean: Floats
    coefficients: Float32
    centre: Floats
    sharpness: float = 1.0
    unit: ClassVar[Literal["probability"]] = "probability"

    @property
    def n_terms(self) -> int:
        """Number of features."""
        return len(self.coefficients)

    @cached_property
    def mean_map(self) -> Floats:
        """Mean probability of each region."""
        mean_map: Floats = self.mean / self.mean.sum()
        return mean_map

    @cached_property
    def _offset(self) -> Float32:
        offset: Float32 = (self.centre @ self.coefficients).astype(np.float32)
        return offset

    def predict(self, X: sp.csr_matrix, shift: Float32 | None = None) -> Float32:
        """Predict the probability of each region: (n, m). Without any term, the mean map.

        `shift` of the same shape, if any, is added to what the terms add.
        """
        moved = deviations(X, self.coefficients, self._offset)
        if shift is not None:
            moved += shift / np.float32(self.sharpness)
        return to_probabilities(self.mean, moved, self.sharpness)

    def lateral(self, maps: Float32, balance: Floats, sides: Floats) -> Float32:
        """Return what the sides of terms add to their maps; see `neurowhere.learn.lateral`."""
        return lateral_shifts(maps, balance, sides)

    def effects(self, terms: NDArray[np.integer]) -> Float32:
        """Return the change of the probability of regions, before it is cut and rescaled."""
        effects: Float32 = self.coefficients[terms] * np.float32(self.sharpness)
        return effects

    def mean_effects(self, terms: NDArray[np.integer], weights: Floats) -> Floats:
        """Average the effects over regions, with weights."""
        effects: Floats = self.sharpness * (self.coefficients[terms] @ weights)
        return effects

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        sharpness = np.array(self.sharpness)
        return {
            "mean": self.mean,
            "coefficients": self.coefficients,
            "centre": self.centre,
            "sharpness": sharpness,
        }


@dataclass(frozen=True, eq=False)
class LogLinear:
    """q = softmax(b + xᵀA S), with b the log of the mean map; see `neurowhere.learn.loglinear`.

    Attributes
    ----------
    mean : array of shape (m,)
    loadings : array of shape (d, r)
        A, each term in r dimensions.
    components : array of shape (r, m)
        S, the maps of these dimensions.
    """

    mean: Floats
    loadings: Float32
    components: Float32
    unit: ClassVar[Literal["log probability"]] = "log probability"

    @property
    def n_terms(self) -> int:
        """Number of features."""
        return len(self.loadings)

    @cached_property
    def mean_map(self) -> Floats:
        """Mean probability of each region."""
        mean_map: Floats = self.mean / self.mean.sum()
        return mean_map

    @cached_property
    def bias(self) -> Float32:
        """Log of the mean map; a region that no study reports is improbable, not impossible."""
        bias: Float32 = np.log(np.maximum(self.mean_map, FLOOR)).astype(np.float32)
        return bias

    def project(self, X: sp.csr_matrix) -> Float32:
        """Place texts in the r dimensions, where neighbours have similar maps: (n, r)."""
        return np.asarray(X @ self.loadings, dtype=np.float32)

    def predict(self, X: sp.csr_matrix, shift: Float32 | None = None) -> Float32:
        """Predict the probability of each region: (n, m). Without any term, the mean map.

        `shift` of the same shape, if any, is added to the exponent.
        """
        exponent = self.project(X) @ self.components
        exponent += self.bias
        if shift is not None:
            exponent += shift
        return softmax(exponent)

    def lateral(self, maps: Float32, balance: Floats, sides: Floats) -> Float32:
        """Return what the sides of terms add to their maps; see `neurowhere.learn.lateral`."""
        return lateral_shifts(maps, balance, sides, self.mean_map)

    def effects(self, terms: NDArray[np.integer]) -> Float32:
        """Return the change of the log probability of regions, up to a constant of the text."""
        effects: Float32 = self.loadings[terms] @ self.components
        return effects

    def mean_effects(self, terms: NDArray[np.integer], weights: Floats) -> Floats:
        """Average the effects over regions, with weights."""
        effects: Floats = self.loadings[terms] @ (self.components @ weights.astype(np.float32))
        return effects

    def copy(self) -> "LogLinear":
        """Copy the arrays, which a running fit keeps changing."""
        return LogLinear(self.mean, self.loadings.copy(), self.components.copy())

    def sharpened(self, sharpness: float) -> "LogLinear":
        """Multiply the effect of every term."""
        return LogLinear(self.mean, self.loadings * np.float32(sharpness), self.components)

    def truncated(self, rank: int) -> "LogLinear":
        """Keep the `rank` dimensions that move the maps most, the strongest first.

        With A S = U Σ Vᵀ, loadings become U Σ and components Vᵀ.
        """
        left, left_r = np.linalg.qr(self.loadings)
        right, right_r = np.linalg.qr(self.components.T)
        u, values, vt = np.linalg.svd(left_r @ right_r.T)
        rank = min(rank, int((values > 0).sum()))
        loadings = left @ (u[:, :rank] * values[:rank])
        components = vt[:rank] @ right.T
        return LogLinear(
            self.mean, loadings.astype(np.float32), np.ascontiguousarray(components, np.float32)
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define it."""
        return {"mean": self.mean, "loadings": self.loadings, "components": self.components}


Predictor = Linear | LogLinear


def average(models: list[LogLinear]) -> LogLinear:
    """Average the exponents of log-linear models of one problem.

    Parameters
    ----------
    models : list of LogLinear

    Returns
    -------
    LogLinear
        Of a rank that is the sum of theirs.
    """
    loadings = np.concatenate([model.loadings for model in models], axis=1) / len(models)
    components = np.concatenate([model.components for model in models])
    return LogLinear(models[0].mean, loadings.astype(np.float32), components)


def predictor_from_arrays(arrays: dict[str, NDArray[Any]]) -> Predictor:
    """Rebuild a predictor from what `to_arrays` gave.

    Parameters
    ----------
    arrays : dict of str to array

    Returns
    -------
    Predictor
    """
    if "loadings" in arrays:
        return LogLinear(arrays["mean"], arrays["loadings"], arrays["components"])
    return Linear(
        arrays["mean"], arrays["coefficients"], arrays["centre"], float(arrays["sharpness"])
    )


def deviations(X: sp.csr_matrix, coefficients: Floats, offset: Float32) -> Float32:
    """Compute (x − x̄)ᵀβ for each row x of X; 0, the mean map, for a row without any term.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    coefficients : array of shape (n_terms, m)
    offset : array of shape (m,)
        x̄ᵀβ.

    Returns
    -------
    array of shape (n, m)

    Examples
    --------
    >>> deviations(sp.csr_matrix([[2.0], [0.0]]), np.array([[3.0]]), np.float32([3.0]))
    array([[3.],
           [0.]], dtype=float32)
    """
    moved: Float32 = np.asarray(X @ coefficients, dtype=np.float32)
    moved -= offset
    moved[np.diff(X.indptr) == 0] = 0
    return moved


def to_probabilities(mean: Floats, deviations: Floats, sharpness: float = 1.0) -> Float32:
    """Cut mean + sharpness · deviation at zero and rescale each row to sum to 1.

    Parameters
    ----------
    mean : array of shape (m,)
    deviations : array of shape (n, m)
    sharpness : float

    Returns
    -------
    array of shape (n, m)
        A row that is nowhere positive gets the mean map.

    Examples
    --------
    >>> to_probabilities(np.array([1.0, 1.0]), np.array([[1.0, -2.0], [-2.0, -2.0]]))
    array([[1. , 0. ],
           [0.5, 0.5]], dtype=float32)
    """
    positive = np.maximum(mean + sharpness * deviations, 0.0, dtype=np.float32)
    totals = positive.sum(axis=1, dtype=np.float64)
    positive[totals <= 0] = mean
    totals[totals <= 0] = mean.sum()
    positive /= totals[:, None].astype(np.float32)
    return positive


def softmax(exponent: Floats) -> Floats:
    """Exponentiate each row and rescale it to sum to 1, in place.

    Parameters
    ----------
    exponent : array of shape (n, m)
        Overwritten.

    Returns
    -------
    array of shape (n, m)
        The same array.

    Examples
    --------
    >>> softmax(np.log(np.array([[1.0, 3.0]])))
    array([[0.25, 0.75]])
    """
    exponent -= exponent.max(axis=1, keepdims=True)
    np.exp(exponent, out=exponent)
    exponent /= exponent.sum(axis=1, keepdims=True)
    return exponent
