"""Intervals of the ratio of two means, from their bootstrap replicates alone."""

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

__all__ = ["LEVEL", "ratio_bounds"]

Array = NDArray[np.floating]

LEVEL = 0.95
PRIOR_DOCUMENTS = 20  # whose spread is that of all documents, added to those of a group
MIN_FOR_INTERVAL = 2  # documents: with one, every replicate is the same
NO_SKEWNESS = 1e-6
MOST_SKEWNESS = 0.4  # of a mean: near 0.5 the transformation is vertical, and bounds are erratic


def ratio_bounds(
    means: tuple[Array, Array],
    replicates: tuple[Array, Array],
    sizes: tuple[float, float],
    offset: Array | float = 0.0,
) -> tuple[Array, Array]:
    r"""Bound the ratio of two means, (o + ḡ) / (o + r̄), with a confidence of 95 %.

    Parameters
    ----------
    means : two arrays of shape (m,)
        Mean ḡ over the documents of a group, and r̄ over those of the reference.
    replicates : two arrays of shape (B, m)
        The same in each replicate of a Poisson bootstrap, drawn together.
    sizes : two floats
        Numbers of documents, n and n'; of weighted ones (Σ w)² / Σ w².
    offset : float or array of shape (m,)
        o, a constant.

    Returns
    -------
    two arrays of shape (m,)
        NaN where a group has less than two documents.

    Notes
    -----
    What documents say of a region is very skewed: most say nothing, few say much. A sample that
    happens to miss those few has too low a mean and too small a spread at once, which is why
    percentiles of a bootstrap fall short. Three things make up for it, and all of them follow from
    the replicates, whose cumulants are those of the documents.

    1. With ρ the ratio, T = g − ρ r has mean 0 and the variance and skewness of its replicates.
    2. Both spreads are shrunk towards that of all documents together, as if n₀ = 20 documents with
       it had been seen besides. With c the coefficient of variation of a group, and c₀ that of all,

           c'² = (n c² + n₀ c₀²) / (n + n₀),    γ' = (n γ + n₀ γ₀) / (n + n₀),

       where γ₀ is the skewness of T for gamma variables (2c for one document).
    3. The quantiles ±t of Student's distribution with n + n₀ − 1 degrees of freedom become those of
       the studentised mean of skewed values, by Hall's cubic transformation (J. R. Statist. Soc. B,
       1992): the bounds are ρ − s h(±t), with s the standard error of T / (o + r̄) and

           h(t) = 3/γ' (∛(1 + γ'(t − γ'/6)) − 1),    |γ'| ≤ 0.4.

    `benchmarks/contrast_coverage.py` measures how often they hold the truth.
    """
    (g, r), (n, n_reference) = means, sizes
    few = min(sizes)
    if few < MIN_FOR_INTERVAL:
        nothing = np.full(np.shape(g), np.nan)
        return nothing, nothing
    drawn = np.isfinite(replicates[0]).any(axis=1) & np.isfinite(replicates[1]).any(axis=1)
    g_each, r_each = (each[drawn] for each in replicates)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (offset + g) / (offset + r)
        each = (g_each - g) - ratio * (r_each - r)  # (B, m): T
        squares = g**2, (ratio * r) ** 2  # the part of each mean in T², for a relative variance
        spreads = _variation(g_each, g, n), _variation(r_each, r, n_reference)  # c²
        shrunk = _shrunk(spreads, sizes)
        before = squares[0] * spreads[0] / n + squares[1] * spreads[1] / n_reference
        v, v_reference = shrunk[0] / n, shrunk[1] / n_reference
        after = squares[0] * v + squares[1] * v_reference
        error = np.sqrt(each.var(axis=0) * np.nan_to_num(after / before, nan=1.0))
        third = 2 * (g**3 * v**2 - (ratio * r) ** 3 * v_reference**2)
        usual = np.nan_to_num(third / after**1.5)
        skewness = np.nan_to_num(stats.skew(each, axis=0))
        skewness = (few * skewness + PRIOR_DOCUMENTS * usual) / (few + PRIOR_DOCUMENTS)
        t = float(special.stdtrit(few + PRIOR_DOCUMENTS - 1, (1 + LEVEL) / 2))
        scale = error / (offset + r)
        low = np.maximum(ratio - scale * _stretched(t, skewness), 0.0)
        return low, ratio - scale * _stretched(-t, skewness)


def _variation(replicates: Array, mean: Array, n: float) -> Array:
    """Square of the coefficient of variation of documents, from the spread of their mean."""
    variation: Array = replicates.var(axis=0) / mean**2 * n * n / (n - 1)
    return np.nan_to_num(variation)


def _shrunk(spreads: tuple[Array, Array], sizes: tuple[float, float]) -> list[Array]:
    """Shrink two spreads towards what they are together."""
    together = sum(size * each for size, each in zip(sizes, spreads, strict=True)) / sum(sizes)
    return [
        (size * each + PRIOR_DOCUMENTS * together) / (size + PRIOR_DOCUMENTS)
        for size, each in zip(sizes, spreads, strict=True)
    ]


def _stretched(t: float, skewness: Array) -> Array:
    """Turn a quantile of a symmetric distribution into that of a skewed mean: h(t).

    >>> _stretched(2.0, np.array([0.0, 0.5, -0.5])).round(2)
    array([2.  , 1.58, 3.32])
    """
    skewness = np.clip(skewness, -MOST_SKEWNESS, MOST_SKEWNESS)
    g = np.where(np.abs(skewness) < NO_SKEWNESS, NO_SKEWNESS, skewness)
    return np.asarray(3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1))
