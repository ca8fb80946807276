"""Regression of what documents say on their kind and on a group, tested and calibrated.

Arrays only: N documents, p covariates, m responses, K groups. docs/contrast.md has the statistics.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

__all__ = [
    "LEVEL",
    "RATE",
    "Partialled",
    "Tested",
    "calibrate",
    "discoveries",
    "fit_groups",
    "half_width",
    "log_response",
    "orthonormal",
    "partial_out",
    "share_by_chance",
    "stretch",
    "t_tests",
]

Array = NDArray[np.floating]

RATE = 0.05  # false-discovery rate
LEVEL = 0.95  # of intervals
PRIOR = 20  # documents of usual variance that are added to those of a group
QUANTILE = 0.8  # of the squared statistics of placeless words that is made that of χ²
WITHOUT_DISCOVERY = 0.96  # of placeless words
COLLINEAR = 1e-7  # an eigenvalue smaller than this share of the largest is none


def log_response(relative: Array) -> Array:
    """Return y = log(½ + ½ q/q̄) from q/q̄: finite where a document says nothing of a place."""
    return np.asarray(np.log1p(relative) - np.log(2, dtype=relative.dtype))


def orthonormal(gram: Array) -> Array:
    """Return T such that Q = C T is an orthonormal basis of the columns of C.

    Parameters
    ----------
    gram : array of shape (p, p)
        CᵀC.

    Returns
    -------
    array of shape (p, rank)
    """
    norms = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    kept = values > COLLINEAR * values.max()
    return np.asarray(scale[:, None] * vectors[:, kept] / np.sqrt(values[kept]))


class Partialled(NamedTuple):
    """Groups with the covariates partialled out: g̃ = g − QQᵀg.

    Attributes
    ----------
    inside : array of shape (N, K)
        g̃ of active documents, 0 for the others.
    on_basis : array of shape (rank, K)
        Qᵀg.
    s : array of shape (K,)
        Σ g̃².
    n : array of shape (K,)
        s² / Σ g̃⁴: documents of equal weight that would tell as much.
    """

    inside: Array
    on_basis: Array
    s: Array
    n: Array


def partial_out(basis: Array, groups: Array, active: NDArray[np.bool_]) -> Partialled:
    """Partial the covariates out of groups.

    Parameters
    ----------
    basis : array of shape (N, rank)
        Q.
    groups : array of shape (N, K)
        g, the weight of each document in each group, 0 outside.
    active : array of bool of shape (N, K)
        Documents whose own residuals will enter.

    Returns
    -------
    Partialled
    """
    on_basis = basis.T @ groups
    residual = groups - basis @ on_basis
    square = residual**2
    s, fourth = square.sum(axis=0), (square**2).sum(axis=0)
    n = np.divide(s**2, fourth, out=np.zeros_like(s), where=fourth > 0)
    return Partialled(np.where(active, residual, 0.0), on_basis, s, n)


def fit_groups(
    parted: Partialled, sums: tuple[Array, Array, Array], usual: Array
) -> tuple[Array, Array]:
    """Fit β of each group, and its variance, from sums over the active documents alone.

    With ỹ = y − QQᵀy and e = ỹ − g̃β, β = Σ g ỹ / s. Its variance is V′/s, where

        V = (Σ_active g̃² e² + V₀ Σ_others g̃²) / s · n / (n − 1),    V′ = (n V + 20 V₀) / (n + 20).

    Documents that are not active are taken to have the usual variance V₀.

    Parameters
    ----------
    parted : Partialled
        Of K groups.
    sums : three arrays of shape (K, m)
        Σ g ỹ over all documents; Σ g̃² ỹ² and Σ g̃³ ỹ over the active ones.
    usual : array of shape (m,)
        V₀, the residual variance of all documents.

    Returns
    -------
    effect, variance : arrays of shape (K, m)
    """
    linear, square, cube = sums
    inside, _, s, n = parted
    effect = linear / s[:, None]
    second, fourth = ((inside**power).sum(axis=0)[:, None] for power in (2, 4))
    spread = np.maximum(square - 2 * effect * cube + effect**2 * fourth, 0.0)
    elsewhere = np.maximum(s[:, None] - second, 0.0) * usual
    own = (spread + elsewhere) / s[:, None] * (n / np.maximum(n - 1, 1.0))[:, None]
    moderated = (n[:, None] * own + PRIOR * usual) / (n[:, None] + PRIOR)
    return effect, moderated / s[:, None]


def calibrate(effect: Array, variance: Array) -> Array:
    """Return τ², what is added to the variance for differences that no covariate explains.

    τ² makes the 80 % quantile of β² / (se² + τ²) over placeless words that of χ²₁, c: as many words
    have β² / (se² + τ²) ≤ c as have β²/c − se² ≤ τ², so τ² is the quantile of the latter, or 0.

    Parameters
    ----------
    effect, variance : arrays of shape (K, m)

    Returns
    -------
    array of shape (m,)
    """
    excess = effect**2 / stats.chi2.ppf(QUANTILE, 1) - variance
    return np.maximum(np.quantile(excess, QUANTILE, axis=0), 0.0)


class Tested(NamedTuple):
    """Statistics of each group and response: t = β / se, two-sided p."""

    t: Array
    p_values: Array


def t_tests(effect: Array, variance: Array, n: Array) -> Tested:
    """Test effects by Student's distribution with n + 19 degrees of freedom.

    Parameters
    ----------
    effect, variance : arrays of shape (K, m)
    n : array of shape (K,)

    Returns
    -------
    Tested
    """
    t = np.divide(effect, np.sqrt(variance), out=np.zeros_like(effect), where=variance > 0)
    return Tested(t, np.asarray(2 * special.stdtr(n[:, None] + PRIOR - 1, -np.abs(t))))


def half_width(variance: Array, n: Array) -> Array:
    """Return half of the width of the 95 % interval of an effect."""
    t = special.stdtrit(n + PRIOR - 1, (1 + LEVEL) / 2)
    return np.asarray(np.asarray(t)[..., None] * np.sqrt(variance))


def discoveries(p_values: Array) -> NDArray[np.bool_]:
    """Return whether each group has any discovery, by Benjamini and Hochberg: (K,)."""
    m = p_values.shape[1]
    ordered = np.sort(p_values, axis=1)
    return np.asarray((ordered <= RATE * np.arange(1, m + 1) / m).any(axis=1))


def stretch(effect: Array, variance: Array, n: Array) -> float:
    """Return κ, by which standard errors are stretched: few placeless words keep a discovery.

    A word has none as soon as its largest |t| are, one after the other, less than the quantiles
    that Benjamini and Hochberg compare them with: κ of a word is the largest ratio of the two. Its
    96 % quantile over words, or 1, leaves 4 % with a discovery: one less than the level, because τ²
    is chosen on the same words.

    Parameters
    ----------
    effect, variance : arrays of shape (K, m)
        τ² included.
    n : array of shape (K,)

    Returns
    -------
    float
    """
    m = effect.shape[1]
    levels = RATE * np.arange(1, m + 1) / m
    ratios = []
    for t, size in zip(t_tests(effect, variance, n).t, n, strict=True):
        limits = -special.stdtrit(size + PRIOR - 1, levels / 2)
        ratios.append(np.max(np.sort(np.abs(t))[::-1] / limits))
    return max(1.0, float(np.quantile(ratios, WITHOUT_DISCOVERY)))


def share_by_chance(effect: Array, variance: Array, n: Array, *, calibrated: bool) -> float:
    """Return the share of placeless words with any discovery.

    Each half of the words is calibrated by the other.

    Parameters
    ----------
    effect, variance : arrays of shape (K, m)
    n : array of shape (K,)
    calibrated : bool
        Whether τ² is added, and κ applied.

    Returns
    -------
    float
    """
    found = []
    for start in (0, 1):
        these, others = slice(start, None, 2), slice(1 - start, None, 2)
        error = variance[these]
        if calibrated:
            extra = calibrate(effect[others], variance[others])
            kappa = stretch(effect[others], variance[others] + extra, n[others])
            error = kappa**2 * (error + extra)
        tested = t_tests(effect[these], error, n[these])
        found.append(discoveries(tested.p_values))
    return float(np.concatenate(found).mean())
