"""Sparse features: the design matrix, centred without becoming dense, weights and dropout."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from neurowhere.exceptions import FitError

Array = NDArray[np.float64]


class Design:
    """Features X of n studies, used as X̃ = (X − 1 x̄ᵀ) diag(σ)⁻¹.

    X̃ never exists: a product with it is a sparse product and a rank-one correction,

        X̃ B = X B − 1 (x̄ᵀ B),        X̃ᵀ A = Xᵀ A − x̄ (1ᵀ A),

    where σ is already folded into the sparse X and x̄.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_studies, n_terms)
    centre : bool
        Subtract the mean x̄ of each column (x̄ = 0 otherwise).
    scale : bool
        Divide each column by its standard deviation σ (1 for constant columns). Off by
        default: the scale of λ in this package supposes rows of unit norm, columns centred.

    Examples
    --------
    >>> design = Design(np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]))
    >>> design.mean
    array([1., 1.])
    >>> design.dot(np.eye(2))
    array([[ 0., -1.],
           [-1.,  0.],
           [ 1.,  1.]])
    """

    def __init__(
        self, X: sp.csr_matrix | ArrayLike, *, centre: bool = True, scale: bool = False
    ) -> None:
        matrix = sp.csr_matrix(X if sp.issparse(X) else np.asarray(X), dtype=np.float64)
        if 0 in matrix.shape:
            raise FitError(f"expected studies and terms to learn from, got shape {matrix.shape}")
        if not np.isfinite(matrix.data).all():
            raise FitError("X holds NaN or infinite values; clean the features before fitting")
        self.scale: Array = _standard_deviations(matrix) if scale else np.ones(matrix.shape[1])
        self.X: sp.csr_matrix = sp.csr_matrix(matrix @ sp.diags(1 / self.scale))
        self.X.sort_indices()
        self.mean: Array = np.asarray(self.X.mean(axis=0)).ravel() * centre

    @property
    def shape(self) -> tuple[int, int]:
        """(n_studies, n_terms)."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    def dot(self, B: NDArray[np.floating]) -> Array:
        """Compute X̃ B, for B of shape (n_terms, ...)."""
        product: Array = self.X @ B - self.mean @ B
        return product

    def rdot(self, A: NDArray[np.floating]) -> Array:
        """Compute X̃ᵀ A, for A of shape (n_studies, n_columns)."""
        product: Array = self.X.T @ A - np.outer(self.mean, A.sum(axis=0))
        return product

    def project(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """Scale new rows to the units of this design; the caller subtracts `mean`."""
        return sp.csr_matrix(X @ sp.diags(1 / self.scale))

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Eigenvalues s (d,) and eigenvectors V (d, d) of X̃ᵀX̃ = V diag(s) Vᵀ.

        With them (X̃ᵀX̃ + c I)⁻¹ = V diag(1 / (s + c)) Vᵀ for every c at once: a path of λ,
        or a penalty for each region, costs no new factor.
        """
        from scipy.linalg import eigh  # only a fit needs it, and it takes long to import

        gram = (self.X.T @ self.X).toarray() - self.shape[0] * np.outer(self.mean, self.mean)
        values, vectors = eigh(gram)
        return np.maximum(values, 0.0), vectors


def reweighted(X: sp.csr_matrix, term_weights: NDArray[np.floating]) -> sp.csr_matrix:
    """Multiply each term by its weight, and rescale rows to unit norm; x = w∘z / ‖w∘z‖.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    term_weights : array of shape (n_terms,)

    Returns
    -------
    csr_matrix of shape (n, n_terms)

    Examples
    --------
    >>> z = sp.csr_matrix([[0.6, 0.8], [0.0, 0.0]])
    >>> reweighted(z, np.array([4.0, 3.0])).toarray().round(2)
    array([[0.71, 0.71],
           [0.  , 0.  ]])
    """
    data = X.data * term_weights[X.indices].astype(X.dtype)
    squares = np.bincount(row_of_entries(X), data**2, minlength=X.shape[0])
    norms = np.sqrt(np.where(squares > 0, squares, 1)).astype(X.dtype)
    return _with_data(X, data / np.repeat(norms, np.diff(X.indptr)))


def drop(X: sp.csr_matrix, share: float, rng: Any) -> sp.csr_matrix:
    """Hide a random share of the entries, and scale the others up to keep the mean.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_terms)
    share : float
    rng : numpy.random.Generator

    Returns
    -------
    csr_matrix of shape (n, n_terms)
        With zeros in place of the hidden entries.
    """
    kept = rng.random(X.nnz, dtype=np.float32) >= share
    return _with_data(X, X.data * kept / np.float32(1 - share))


def row_of_entries(X: sp.csr_matrix) -> NDArray[np.intp]:
    """Return the row of each entry of a sparse matrix.

    Parameters
    ----------
    X : csr_matrix

    Returns
    -------
    array of shape (nnz,)
    """
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def _with_data(X: sp.csr_matrix, data: NDArray[np.floating]) -> sp.csr_matrix:
    """Return a matrix with other entries in the same places."""
    return sp.csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _standard_deviations(X: sp.csr_matrix) -> Array:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    return np.where(constant, 1.0, deviation)
