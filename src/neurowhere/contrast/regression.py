"""Regression of what documents say on their kind and on a group, tested and calibrated.

Arrays only: N documents, p covariates, m responses, K groups. docs/contrast.md has the statistics.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from neurowhere._tools.parallel import slices

Array = NDArray[np.floating]

RATE = 0.05  # false-discovery rate
LEVEL = 0.95  # of intervals
PRIOR = 20  # documents of usual variance that are added to those of a group
FLOOR = 0.15  # ε of the response
QUANTILE = 0.8  # of the squared statistics of placeless words that is made that of χ²
WITHOUT_DISCOVERY = 0.97  # of placeless words
COLLINEAR = 1e-7  # an eigenvalue smaller than this share of the largest is none
LIKELY, FEWEST_LIKELY = 4, 200  # documents for one of the group, and at least
TENTHS = 10
AT_ONCE = 4096  # responses that are calibrated at a time


def log_response(relative: Array) -> Array:
    """Return y = log(ε + (1 − ε) q/q̄) from q/q̄: finite where a document says nothing of a place."""
    return np.asarray(np.log(FLOOR + (1 - FLOOR) * relative))


def orthonormal(gram: Array) -> Array:
    """Return T such that Q = C T is an orthonormal basis of the columns of C, from CᵀC."""
    norms = np.sqrt(np.diag(gram))
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    values, vectors = np.linalg.eigh(gram * np.outer(scale, scale))
    kept = values > COLLINEAR * values.max()
    return np.asarray(scale[:, None] * vectors[:, kept] / np.sqrt(values[kept]))  # (p, rank)


def likely_members(basis: Array, groups: Array) -> Array:
    """Return h, one more covariate: how much more likely than most a document is in the group.

    A regression on covariates takes membership to be linear in them. It rises more steeply among
    the documents whose kind is most like that of the group: h = max(ĝ − c, 0), with ĝ the
    membership that a fit to nine tenths of the documents gives to the others, and c such that four
    documents for one of the group, at least 200 and at most half of all, are above it.

    Q is the (N, rank) basis, and groups and h are (N, K). With less than 400 documents, which are
    too few to tell, h is 0.
    """
    if len(basis) < 2 * FEWEST_LIKELY:
        return np.zeros_like(groups)
    on_basis, fitted = basis.T @ groups, np.empty_like(groups)
    order = np.random.default_rng(0).permutation(len(basis))
    for held in np.array_split(order, TENTHS):
        q = basis[held]
        inverse = np.linalg.pinv(np.eye(q.shape[1]) - q.T @ q, hermitian=True, rcond=COLLINEAR)
        fitted[held] = q @ (inverse @ (on_basis - q.T @ groups[held]))
    for column, size in zip(fitted.T, (groups > 0).sum(axis=0).tolist(), strict=True):
        n = min(max(LIKELY * size, FEWEST_LIKELY), len(column) // 2)
        column -= np.partition(column, -n - 1)[-n - 1]
    return np.asarray(np.maximum(fitted, 0.0))


class Partialled(NamedTuple):
    """Groups with the covariates partialled out: g̃ = g − QQᵀg − h̃h̃ᵀg."""

    inside: Array  # (N, K): g̃ of active documents, 0 for the others
    on_basis: Array  # (rank, K): Qᵀg
    s: Array  # (K,): Σ g̃²
    n: Array  # (K,): s² / Σ g̃⁴, documents of equal weight that would tell as much
    own: Array  # (N, K): each group's own covariate h, scaled so that h̃ is of unit norm, or 0
    own_inside: Array  # (N, K): h̃ = h − QQᵀh of active documents
    on_own: Array  # (K,): h̃ᵀg


def partial_out(
    basis: Array, groups: Array, active: NDArray[np.bool_], own: Array | None = None
) -> Partialled:
    """Partial the covariates, Q and h, out of the weights g of documents in groups: (N, K).

    Active documents are those whose own residuals enter the variance.
    """
    on_basis = basis.T @ groups
    residual = groups - basis @ on_basis
    own = np.zeros_like(groups) if own is None else own
    tilde = own - basis @ (basis.T @ own)
    norms = np.linalg.norm(tilde, axis=0)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > COLLINEAR)
    own, tilde = own * scale, tilde * scale
    on_own = (tilde * residual).sum(axis=0)
    residual -= tilde * on_own
    square = residual**2
    s, fourth = square.sum(axis=0), (square**2).sum(axis=0)
    n = np.divide(s**2, fourth, out=np.zeros_like(s), where=fourth > 0)
    inside, own_inside = (np.where(active, each, 0.0) for each in (residual, tilde))
    return Partialled(inside, on_basis, s, n, own, own_inside, on_own)


class Fits(NamedTuple):
    """Effects β of K groups and their variances, (K, m), with n and s of `Partialled`."""

    effect: Array
    variance: Array
    n: Array
    s: Array


def fit_groups(parted: Partialled, sums: Sequence[Array], usual: Array) -> Fits:
    """Fit β of each group, and its variance, from sums over the active documents alone.

    With ỹ = y − QQᵀy, a = h̃ᵀỹ and e = ỹ − ah̃ − g̃β, β = Σ g̃ y / s. Its variance is V′/s, where

        V = (Σ_active g̃² e² + V₀ Σ_others g̃²) / s · n / (n − 1),    V′ = (n V + 20 V₀) / (n + 20).

    Documents that are not active are taken to have the usual variance V₀, (m,), which is the
    residual variance of all. The sums, (K, m) each, are Σ g ỹ and Σ h ỹ over all documents, and
    Σ g̃² ỹ², Σ g̃³ ỹ and Σ g̃² h̃ ỹ over the active ones.
    """
    linear, shared, square, cube, mixed = sums
    inside, own, s, n = parted.inside, parted.own_inside, parted.s, parted.n
    effect = (linear - parted.on_own[:, None] * shared) / s[:, None]
    weight = inside**2
    second, fourth, on_own, both = (
        (weight * each).sum(axis=0)[:, None] for each in (1.0, weight, own**2, inside * own)
    )
    spread = square - 2 * (effect * cube + shared * mixed - effect * shared * both)
    spread = np.maximum(spread + effect**2 * fourth + shared**2 * on_own, 0.0)
    elsewhere = np.maximum(s[:, None] - second, 0.0) * usual
    raw = (spread + elsewhere) / s[:, None] * (n / np.maximum(n - 1, 1.0))[:, None]
    moderated = (n[:, None] * raw + PRIOR * usual) / (n[:, None] + PRIOR)
    return Fits(effect, moderated / s[:, None], n, s)


# ---- tests and intervals


class Tested(NamedTuple):
    """Statistics of each group and response: t = β / se, two-sided p."""

    t: Array
    p_values: Array


def t_tests(effect: Array, variance: Array, n: Array) -> Tested:
    """Test effects, (K, m), by Student's distribution with n + 19 degrees of freedom."""
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


# ---- calibration by placeless words: effects and variances (K, m), n (K,)


def calibrate(effect: Array, variance: Array) -> Array:
    """Return τ², what is added to the variance for differences that no covariate explains: (m,).

    τ² makes the 80 % quantile of β² / (se² + τ²) over placeless words that of χ²₁, c: as many words
    have β² / (se² + τ²) ≤ c as have β²/c − se² ≤ τ², so τ² is the quantile of the latter, or 0.
    """
    quantile, found = stats.chi2.ppf(QUANTILE, 1), np.zeros(effect.shape[1])
    for some in slices(len(found), AT_ONCE):
        excess = effect[:, some] ** 2 / quantile - variance[:, some]
        found[some] = np.quantile(excess, QUANTILE, axis=0)
    return np.maximum(found, 0.0)


def stretch(effect: Array, variance: Array, n: Array) -> float:
    """Return κ, by which standard errors, τ² included, are stretched: few words keep a discovery.

    A word has none as soon as its largest |t| are, one after the other, less than the quantiles
    that Benjamini and Hochberg compare them with: κ of a word is the largest ratio of the two. Its
    97 % quantile over words, or 1, leaves 3 % with a discovery: less than the level, because τ² and
    κ are chosen on the same words.
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

    Each half of the words is calibrated by the other, with τ² and κ, unless they are left out.
    """
    found = []
    for start in (0, 1):
        these, others = slice(start, None, 2), slice(1 - start, None, 2)
        error = variance[these]
        if calibrated:
            extra = calibrate(effect[others], variance[others])
            kappa = stretch(effect[others], variance[others] + extra, n[others])
            error = kappa**2 * (error + extra)
        found.append(discoveries(t_tests(effect[these], error, n[these]).p_values))
    return float(np.concatenate(found).mean())
