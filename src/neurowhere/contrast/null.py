r"""What chance would do: the permutation null of a contrast, by its exact moments.

A contrast of mean encodings is, in each region, a linear statistic of the documents,

    T = Σᵢ aᵢ xᵢ,

where aᵢ = wᵢ/Σw for the documents of the group (minus the same for those of a second group), and
0 for all others. If the group had nothing to do with what its documents say, every assignment of
the weights a to the N documents would be as likely. Over these N! permutations,

    E T = N ā x̄,    Var T = Sₐₐ Sₓₓ / (N − 1),    E (T − E T)³ = N Sₐₐₐ Sₓₓₓ / ((N − 1)(N − 2)),

with Sₐₐ = Σ (aᵢ − ā)², Sₐₐₐ = Σ (aᵢ − ā)³ and so on. These three moments need sums over documents
only, no permutation, and are exact; the tail is that of Pearson's type III distribution (a shifted
gamma) with these moments, as Mielke and Berry propose for permutation tests and Winkler et al.
(NeuroImage, 2016) for images. Away from the skewness that distribution ends, where p-values would
be 0 without being certain; there Cornish and Fisher's correction of the normal tail is taken
wherever it is larger. `benchmarks/contrast_null.py` puts it to the test.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from neurowhere.contrast.sums import Sums

__all__ = ["Null", "permutation_null", "upper_tail"]

Array = NDArray[np.float64]

ROUNDING = 1e-9  # a variance smaller than this share of the mean square is none
ALMOST_SYMMETRIC = 1e-4  # a gamma of less skewness is a normal distribution to eight digits


@dataclass(frozen=True, eq=False)
class Null:
    """How far a contrast is from what chance would do, in each region.

    Attributes
    ----------
    z : array of shape (m,)
        (T − E T) / √Var T.
    p_values : array of shape (m,)
        Two-sided.
    q_values : array of shape (m,)
        p-values adjusted to control the false-discovery rate (Benjamini and Hochberg).
    """

    z: Array
    p_values: Array
    q_values: Array


def permutation_null(group: Sums, reference: Sums | None, population: Sums) -> Null:
    """Compare the mean of a group with that of random groups of the same size and weights.

    Parameters
    ----------
    group : Sums
    reference : Sums or None
        Second group, disjoint from the first; None contrasts with all documents.
    population : Sums
        All documents among which the weights are permuted.

    Returns
    -------
    Null
    """
    n = population.documents
    a = _scaled(group.weights)  # Σ a, Σ a², Σ a³
    change = group.mean
    if reference is not None:
        a = a - _scaled(reference.weights) * [1, -1, 1]
        change = change - reference.mean
    expected = population.mean if reference is None else 0.0
    a_square, a_cube = _central(a, n)
    x_square, x_cube = _central(population.moments, n)  # (m,)
    variance = a_square * x_square / max(n - 1, 1)
    third = n * a_cube * x_cube / max((n - 1) * (n - 2), 1)
    varies = variance > 0
    scale = np.sqrt(np.where(varies, variance, 1.0))
    z = np.where(varies, (change - expected) / scale, 0.0)
    skewness = np.where(varies, third / scale**3, 0.0)
    p_values = np.minimum(1.0, 2 * np.minimum(upper_tail(z, skewness), upper_tail(-z, -skewness)))
    return Null(z, p_values, stats.false_discovery_control(p_values))


def upper_tail(z: Array, skewness: Array) -> Array:
    """Return the probability above z, for a variable of mean 0, variance 1 and some skewness γ.

    Pearson's type III; for γ < 0 not less than Φ(−w), with w = z − γ (z² − 1) / 6 the first term
    of Cornish and Fisher's expansion, which has no end.

    >>> upper_tail(np.array([1.96, 1.96]), np.array([0.0, 1.0])).round(3)
    array([0.025, 0.045])
    """
    symmetric = np.abs(skewness) < ALMOST_SYMMETRIC
    g = np.where(symmetric, 1.0, skewness)
    shape = 4 / g**2
    place = np.maximum(shape + np.sign(g) * np.sqrt(shape) * z, 0.0)  # a gamma's, from 0
    gamma = np.where(g > 0, special.gammaincc(shape, place), special.gammainc(shape, place))
    endless = special.ndtr(skewness * (z**2 - 1) / 6 - z)
    tail = np.where(g > 0, gamma, np.maximum(gamma, endless))
    return np.where(symmetric, special.ndtr(-z), tail)


def _scaled(weights: Array) -> Array:
    """Σ a, Σ a², Σ a³ for a = w / Σ w."""
    return np.asarray(weights / weights[0] ** np.arange(1, 4))


def _central(sums: Array, n: int) -> tuple[Array, Array]:
    """Σ (x − x̄)² and Σ (x − x̄)³ from Σ x, Σ x², Σ x³."""
    first, second, third = sums
    mean = first / n
    square = second - n * mean**2
    square = np.where(square > ROUNDING * second, square, 0.0)
    return square, third - 3 * mean * second + 2 * n * mean**3
