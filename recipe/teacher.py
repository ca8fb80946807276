"""Teacher: what a ridge says of each study that it has not seen, to soften the targets with.

The density of a study's peaks is a noisy target: another sample of its subjects would report other
peaks. Half of the target is therefore what a ridge on all other studies predicts from the text.
With x_i the features of study i, y_i its density, H = X̃ (X̃ᵀX̃ + λI)⁻¹ X̃ᵀ + 1/n and the leverage
h_i = H_ii, leaving out a study needs no fit of its own,

    t_i = ȳ + (x̃_iᵀβ − h_i (y_i − ȳ)) / (1 − h_i),

cut at 0 and rescaled to sum to 1. The teacher is fitted on the coarse grid.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.learn.loglinear import TargetRows

Floats = NDArray[np.float32]

PENALTY, SHARE = 20.0, 0.5  # λ; of the teacher in a softened target
STUDIES_AT_ONCE = 1000


def taught(X: sparse.csr_matrix, targets: TargetRows, penalty: float = PENALTY) -> Floats:
    """Predict the density of each study by a ridge on all others.

    Parameters
    ----------
    X : csr_matrix of shape (n, d)
        Features of studies.
    targets : callable
        Gives the densities of some of them: (b, m).
    penalty : float

    Returns
    -------
    array of shape (n, m)
    """
    from scipy.linalg import cho_solve, cholesky, solve_triangular

    n, d = X.shape
    centre = np.asarray(X.mean(axis=0), dtype=np.float32).ravel()
    normal = (X.T @ X).toarray() - np.float32(n) * np.outer(centre, centre)
    normal[np.diag_indices(d)] += np.float32(penalty)
    factor = cholesky(normal.astype(np.float32), lower=True, overwrite_a=True)
    every = np.arange(n)
    densities = np.concatenate([targets(every[rows]) for rows in slices(n, STUDIES_AT_ONCE)])
    mean = densities.mean(axis=0)
    densities -= mean
    coefficients = cho_solve((factor, True), np.asarray(X.T @ densities))  # Σ (y − ȳ) = 0
    offset = centre @ coefficients
    for rows in slices(n, STUDIES_AT_ONCE):
        x = X[rows]
        whitened = solve_triangular(factor, (x.toarray() - centre).T, lower=True)
        leverage = ((whitened**2).sum(axis=0) + 1 / n)[:, None]
        predicted = x @ coefficients - offset
        predicted -= leverage * densities[rows]
        predicted /= 1 - leverage
        predicted += mean
        densities[rows] = to_densities(predicted)
    return densities


def to_densities(maps: Floats) -> Floats:
    """Cut maps at 0 and rescale each to sum to 1."""
    positive: Floats = np.maximum(maps, 0, dtype=np.float32)
    positive /= positive.sum(axis=1, keepdims=True)
    return positive


def teacher(
    known: Floats, targets: TargetRows, to_grid: sparse.csr_matrix | None = None
) -> TargetRows:
    """Return what a teacher says of studies, on its own grid or another.

    Parameters
    ----------
    known : array of shape (n, m)
        From `taught`.
    targets : callable
        Densities, which are those of any texts beyond the n studies.
    to_grid : csr_matrix of shape (m, m of the other grid), optional

    Returns
    -------
    callable
    """

    def rows(some: NDArray[np.intp]) -> Floats:
        is_study = some < len(known)
        told = known[some[is_study]]
        told = told if to_grid is None else to_densities(told @ to_grid)
        if is_study.all():
            return told
        densities = targets(some)
        densities[is_study] = told
        return densities

    return rows


def softened(targets: TargetRows, teacher: TargetRows, share: float = SHARE) -> TargetRows:
    """Return targets that are part of what a teacher says."""

    def rows(some: NDArray[np.intp]) -> Floats:
        mixed = targets(some)
        mixed *= np.float32(1 - share)
        mixed += np.float32(share) * teacher(some)
        return mixed

    return rows
