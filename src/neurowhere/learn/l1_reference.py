"""The paper's own algorithm for ℓ1: L-BFGS-B on the dual. The reference, not the default."""

import contextlib
from collections.abc import Sequence

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from neurowhere.learn.blocks import Certificate
from neurowhere.learn.design import Array, Design


class _SmallEnough(Exception):  # noqa: N818 (a signal, not an error)
    """The duality gap is below the tolerance."""


def l1_dual_lbfgs(
    design: Design,
    target: NDArray[np.floating],
    lambdas: Sequence[float],
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
) -> tuple[Array, list[Certificate]]:
    """Solve one region over a decreasing path of λ, with warm starts, as in the paper.

    Minimises −D(ν) = ‖X̃ᵀν‖²/(4λ) − νᵀy over −1 ≤ ν ≤ 1 until the relative duality gap at
    β = X̃ᵀν/(2λ) is below the tolerance.

    Parameters
    ----------
    design : Design
    target : array of shape (n_studies,)
        Centred here.
    lambdas : sequence of float
        Sorted from large to small.
    tolerance : float
        Relative duality gap.
    max_iterations : int
        Bound for each λ.

    Returns
    -------
    coefficients : array of shape (n_lambdas, n_terms)
    certificates : list of Certificate, one per λ
    """
    y = np.asarray(target, dtype=np.float64)
    y = y - y.mean()
    nu = np.zeros(len(y))
    coefficients, certificates = [], []
    for lam in lambdas:
        nu = _maximise_dual(design, y, lam, nu, tolerance, max_iterations)
        beta = design.rdot(nu[:, None])[:, 0] / (2 * lam)
        coefficients.append(beta)
        certificates.append(_certify(design, y, lam, nu, beta))
    return np.stack(coefficients), certificates


def _maximise_dual(
    design: Design, y: Array, lam: float, nu: Array, tolerance: float, max_iterations: int
) -> Array:
    def negative_dual(nu: Array) -> tuple[float, Array]:
        beta = design.rdot(nu[:, None])[:, 0] / (2 * lam)
        return float(lam * beta @ beta - nu @ y), design.dot(beta) - y

    best = nu.copy()

    def check(intermediate: Array) -> None:
        best[:] = intermediate
        beta = design.rdot(intermediate[:, None])[:, 0] / (2 * lam)
        if _certify(design, y, lam, intermediate, beta).relative_gap <= tolerance:
            raise _SmallEnough

    limits = {"maxiter": max_iterations, "maxfun": 10 * max_iterations, "ftol": 0, "gtol": 0}
    with contextlib.suppress(_SmallEnough):
        scipy.optimize.minimize(
            negative_dual,
            nu,
            jac=True,
            method="L-BFGS-B",
            bounds=scipy.optimize.Bounds(-1.0, 1.0),
            callback=check,
            options=limits,  # type: ignore[call-overload]
        )
    return best


def _certify(design: Design, y: Array, lam: float, nu: Array, beta: Array) -> Certificate:
    penalty = lam * beta @ beta
    return Certificate(
        primal=float(np.abs(y - design.dot(beta)).sum() + penalty), dual=float(nu @ y - penalty)
    )
