"""Regressions with closed forms: ridge, and one feature for each region.

**Ridge**, the paper's ℓ2 encoder, takes a whole path of λ for about the price of one fit. For each
region, minimise ‖y − X̃β‖² + λ‖β‖². With X̃ᵀX̃ = V diag(s) Vᵀ,

    β(λ) = V diag(1 / (s + λ)) Vᵀ X̃ᵀY

so the targets enter only through the (d, m) matrix X̃ᵀY. The paper's weights 1/√v_k cancel, since
β is linear in Y. And since β is linear in Y, ridge commutes with the smoothing of densities: with
Y = C K, where C holds the sparse peak counts and K the kernel, X̃ᵀY = (X̃ᵀC) K. Only d maps are
smoothed; the dense (n, m) targets never exist.

**Label-constrained** regressions predict each region from the frequency of its own name alone. β is
diagonal, so a fit is m regressions with one centred feature x̃ each:

    ℓ2:  β = x̃ᵀy / (x̃ᵀx̃ + λ)
    ℓ1:  β minimises Σ|yᵢ − x̃ᵢβ| + λβ², a convex function with kinks at bᵢ = yᵢ/x̃ᵢ.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import FitError
from neurowhere.learn.linear import Array, Block, Design, Float32

BLOCK_SIZE = 4096  # regions solved at a time
_ROWS_AT_ONCE = 128
_LABELS_AT_ONCE = 64  # regions, each with its label

Slope = Callable[[Array, Array, float], Array]


def ridge_blocks(
    design: Design,
    products: Float32,
    mean: Array,
    lambdas: Sequence[float],
    *,
    block_size: int = BLOCK_SIZE,
) -> Iterator[Block]:
    """Solve for every region and every λ.

    Parameters
    ----------
    design : Design
    products : array of shape (n_terms, n_regions)
        X̃ᵀY, from `target_products` or computed directly.
    mean : array of shape (n_regions,)
        Mean target.
    lambdas : sequence of float
    block_size : int
        Regions solved at a time.

    Yields
    ------
    Block
        Without certificates: the solution is exact.
    """
    values, vectors = design.eigen
    V = vectors.astype(np.float32)
    shrink = [(1 / (values + lam)).astype(np.float32)[:, None] for lam in lambdas]
    for regions in slices(products.shape[1], block_size):
        rotated = V.T @ products[:, regions]  # (d, b)
        solutions = np.empty((len(shrink), *rotated.shape), dtype=np.float32)
        for factor, solution in zip(shrink, solutions, strict=True):
            np.matmul(V, factor * rotated, out=solution)
        yield Block(regions, mean[regions], solutions, ())


def target_products(
    design: Design,
    counts: sp.csr_matrix,
    smooth: Callable[[sp.csr_matrix], NDArray[np.float32]] | None = None,
) -> tuple[Float32, Array]:
    """Compute X̃ᵀY and the mean of Y, for targets Y = counts, or Y = smooth(counts).

    Parameters
    ----------
    design : Design
    counts : sparse matrix of shape (n_studies, n_bins)
    smooth : callable, optional
        A linear map from sparse (k, n_bins) to dense (k, n_regions).

    Returns
    -------
    products : array of shape (n_terms, n_regions)
    mean : array of shape (n_regions,)
    """
    n, d = design.shape
    apply = smooth if smooth is not None else _dense
    bins = counts.astype(np.float32)
    mean = apply(sp.csr_matrix(counts.mean(axis=0)))[0].astype(np.float64)
    crossed = sp.csr_matrix(design.X.T.astype(np.float32) @ bins)  # XᵀC (d, n_bins), sparse
    products = np.empty((d, len(mean)), dtype=np.float32)
    for rows in slices(d, _ROWS_AT_ONCE):
        # Centring commutes with smoothing too: X̃ᵀCK = XᵀCK − n x̄ (1ᵀCK/n).
        products[rows] = apply(crossed[rows])
        products[rows] -= (n * design.mean[rows, None] * mean).astype(np.float32)
    return products, mean


def _dense(maps: sp.csr_matrix) -> NDArray[np.float32]:
    return maps.toarray()


def label_blocks(
    design: Design,
    targets: Callable[[slice], NDArray[np.floating]],
    n_regions: int,
    lambdas: Sequence[float],
    slope: Slope,
) -> Iterator[Block]:
    """Fit every region on its own label.

    Parameters
    ----------
    design : Design
        Frequencies of the labels: column k belongs to region k, so n_terms = n_regions.
    targets : callable
        Gives the (n_studies, b) targets of a slice of regions; they are centred here.
    n_regions : int
    lambdas : sequence of float
    slope : callable
        Solves regressions with one feature each: `one_feature_l1` or `one_feature_l2`.

    Yields
    ------
    Block
        Its coefficients are zero but for those of each region's own label.
    """
    if design.shape[1] != n_regions:
        raise FitError(
            f"a label-constrained fit needs one label per region: got {design.shape[1]} labels "
            f"for {n_regions} regions; give the atlas's labels as the vocabulary"
        )
    for regions in slices(n_regions, _LABELS_AT_ONCE):
        y = np.asarray(targets(regions), dtype=np.float64)
        mean = y.mean(axis=0)
        x = design.X[:, regions].toarray() - design.mean[regions]  # (n, b)
        solutions = np.zeros((len(lambdas), n_regions, y.shape[1]), dtype=np.float32)
        columns = np.arange(y.shape[1])
        for path_index, lam in enumerate(lambdas):
            solutions[path_index, regions.start + columns, columns] = slope(x, y - mean, lam)
        yield Block(regions, mean, solutions, ())


def one_feature_l2(x: Array, y: Array, lam: float) -> Array:
    """Minimise Σ(yᵢ − xᵢβ)² + λβ² for each column.

    Parameters
    ----------
    x, y : arrays of shape (n, b)
        One feature and its target in each column.
    lam : float

    Returns
    -------
    array of shape (b,)
    """
    slopes: Array = (x * y).sum(axis=0) / ((x * x).sum(axis=0) + lam)
    return slopes


def one_feature_l1(x: Array, y: Array, lam: float) -> Array:
    """Minimise Σ|yᵢ − xᵢβ| + λβ² for each column.

    Sort the kinks b₁ ≤ … ≤ bₙ and let Cⱼ be the sum of the first j weights |x|, W their total.
    Between bⱼ and bⱼ₊₁ the derivative is 2λβ + 2Cⱼ − W, zero at rⱼ = (W − 2Cⱼ)/(2λ). As rⱼ falls
    with j while bⱼ rises, the minimum is max(rⱼ, bⱼ) for the first j with rⱼ ≤ bⱼ₊₁.

    Parameters
    ----------
    x, y : arrays of shape (n, b)
        One feature and its target in each column.
    lam : float

    Returns
    -------
    array of shape (b,)

    Examples
    --------
    >>> one_feature_l1(np.ones((3, 1)), np.array([[0.0], [1.0], [5.0]]), 1e-9)
    array([1.])
    """
    n, b = x.shape
    weights = np.abs(x)
    # A zero feature has no kink: it is put last, with no weight.
    kinks = np.divide(y, x, out=np.full((n, b), np.inf), where=x != 0)
    order = np.argsort(kinks, axis=0)
    kinks = np.take_along_axis(kinks, order, axis=0)
    weights = np.take_along_axis(weights, order, axis=0)
    ends = np.full((1, b), np.inf)
    lower = np.concatenate([-ends, kinks])  # bⱼ,   j = 0..n
    upper = np.concatenate([kinks, ends])  # bⱼ₊₁
    cumulated = np.concatenate([np.zeros((1, b)), np.cumsum(weights, axis=0)])
    roots = (weights.sum(axis=0) - 2 * cumulated) / (2 * lam)
    first = np.argmax(roots <= upper, axis=0)
    columns = np.arange(b)
    slopes: Array = np.maximum(roots[first, columns], lower[first, columns])
    return slopes
