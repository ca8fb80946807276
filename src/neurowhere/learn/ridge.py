"""Ridge regression: the paper's ℓ2 encoder, a whole path of λ for about the price of one fit.

For each region, minimise ‖y − X̃β‖² + λ‖β‖². With X̃ᵀX̃ = V diag(s) Vᵀ,

    β(λ) = V diag(1 / (s + λ)) Vᵀ X̃ᵀY

so the targets enter only through the (d, m) matrix X̃ᵀY. The paper's weights 1/√v_k cancel, since
β is linear in Y. And since β is linear in Y, ridge commutes with the smoothing of densities: with
Y = C K, where C holds the sparse peak counts and K the kernel, X̃ᵀY = (X̃ᵀC) K. Only d maps are
smoothed; the dense (n, m) targets never exist.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import slices
from neurowhere.learn.blocks import Block, Float32
from neurowhere.learn.design import Array, Design

BLOCK_SIZE = 4096
_ROWS_AT_ONCE = 128


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
    """X̃ᵀY and the mean of Y, for targets Y = counts, or Y = smooth(counts).

    Parameters
    ----------
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


def leave_one_out_errors(
    design: Design,
    products: NDArray[np.floating],
    cross: NDArray[np.floating],
    squared_norms: Array,
    lambdas: Sequence[float],
) -> Array:
    """Mean squared error of predicting each study from all others, for every λ, in closed form.

    The hat matrix is H = 11ᵀ/n + X̃ V diag(1/(s + λ)) Vᵀ X̃ᵀ, and leaving study i out scales its
    residual eᵢ = yᵢ − (HY)ᵢ by 1/(1 − Hᵢᵢ). Row norms of e need only inner products of targets,

        ‖eᵢ‖² = ‖ỹᵢ‖² − 2 fᵢ Vᵀ X̃ᵀỸ ỹᵢ + fᵢ (Vᵀ X̃ᵀỸ)(Vᵀ X̃ᵀỸ)ᵀ fᵢᵀ,   fᵢ = x̃ᵢ V diag(1/(s + λ)),

    so that no (n, m) array is formed.

    Parameters
    ----------
    products : array of shape (n_terms, n_regions)
        X̃ᵀY, as from `target_products`.
    cross : array of shape (n_studies, n_terms)
        Inner products of the centred targets with the rows of `products`: Ỹ (X̃ᵀY)ᵀ.
    squared_norms : array of shape (n_studies,)
        ‖ỹᵢ‖².

    Returns
    -------
    errors : array of shape (n_lambdas,)
        Summed over regions, averaged over studies.
    """
    n, _ = design.shape
    values, V = design.eigen
    scores = design.dot(V)  # X̃V (n, d)
    rotated = V.T @ products
    gram = rotated @ rotated.T  # (d, d)
    aligned = cross @ V  # (n, d)
    errors = []
    for lam in lambdas:
        factors = scores / (values + lam)  # fᵢ
        leverage = 1 / n + (factors * scores).sum(axis=1)
        residual = (
            squared_norms
            - 2 * (factors * aligned).sum(axis=1)
            + ((factors @ gram) * factors).sum(axis=1)
        )
        errors.append(np.mean(residual / (1 - leverage) ** 2))
    return np.array(errors)


def _dense(maps: sp.csr_matrix) -> NDArray[np.float32]:
    return maps.toarray()
