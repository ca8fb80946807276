"""Least absolute deviation with an ℓ2 penalty: the paper's total-variation regression.

For each region, with targets y (n,) centred and features X̃ (n, d),

    minimise    P(β) = ‖y − X̃β‖₁ + λ‖β‖²                                               (primal)
    maximise    D(ν) = νᵀy − ‖X̃ᵀν‖² / (4λ)    subject to |ν| ≤ 1,    β = X̃ᵀν / (2λ)    (dual)

and D(ν) ≤ P(β) for any pair: their difference certifies a solution.

The solver is ADMM on the splitting z = y − X̃β. With scaled multiplier u = ν/ρ, the iteration is

    β ← (X̃ᵀX̃ + cI)⁻¹ X̃ᵀ(y − z + u),    c = 2λ/ρ
    w ← y − X̃β + u,    u ← clip(w, ±1/ρ),    z ← w − u

so that w alone is the state, ν = ρu is always feasible, and one fused pass over the studies does
everything but the solve. One eigendecomposition of X̃ᵀX̃ serves every λ, and lets each region have
the ρ of its own scale. The docs page "The ℓ1 solver" says what else was tried.

The paper's own algorithm, L-BFGS-B on the dual, is `l1_dual_lbfgs`: the reference, not the default.
"""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from neurowhere._tools.parallel import compiled, slices
from neurowhere.exceptions import ConvergenceWarning, FitError
from neurowhere.learn.linear import Array, Block, Certificate, Checkpoint, Design, run_blocks

Floats = NDArray[np.floating]

# Wide enough for vectorised loops, small enough that two blocks of 12,000 studies stay in cache.
BLOCK_SIZE = 128
TOLERANCE = 1e-3
MAX_ITERATIONS = 1000

# Rounding keeps float32 iterates from certifying much less than this; below it they are float64.
_FLOAT32_TOLERANCE = 1e-4
_OVER_RELAXATION = 1.8
_CHECK_EVERY = 5
# A gap below this many tolerances needs fewer iterations more.
_ALMOST, _LAST_CHECK = 1.6, 3
_EXTRAPOLATION = 0.7  # share of the last step along the path of λ
# c = PENALTY (λ s)^⅔ (mean ‖x̃‖²)^⅓, with s the mean absolute target: on real regions ten times
# more or less takes two to six times as long (benchmarks/l1_algorithms.py).
_PENALTY = 2.2


def l1_blocks(
    design: Design,
    targets: Callable[[slice], NDArray[np.floating]],
    n_regions: int,
    lambdas: Sequence[float],
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MAX_ITERATIONS,
    block_size: int = BLOCK_SIZE,
    n_jobs: int = -1,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Iterator[Block]:
    """Fit every region over a decreasing path of λ, each warm-started from the one before.

    Parameters
    ----------
    design : Design
    targets : callable
        Gives the (n_studies, b) targets of a slice of regions; they are centred here.
    n_regions : int
    lambdas : sequence of float
        Sorted from large to small.
    tolerance : float
        Relative duality gap of each block, and so of the sum over all regions.
    max_iterations : int
        Bound for each block and λ; a ConvergenceWarning says so when it is met.
    block_size, n_jobs : int
        Regions solved together, threads. They change the speed, and the result only within
        the tolerance.
    checkpoint : path, optional
        Folder that keeps finished blocks: the same call resumes from them.

    Yields
    ------
    Block
    """
    lambdas = check_lambdas(lambdas)
    solver = _BlockSolver(design, lambdas, tolerance, max_iterations)

    def solve(regions: slice) -> Block:
        return solver.solve(regions, targets(regions))

    regions = slices(n_regions, block_size)
    kept = None
    if checkpoint is not None:
        X = design.X
        identity = (X.data, X.indices, X.indptr, targets(regions[0]), lambdas, tolerance, n_regions)
        kept = Checkpoint(checkpoint, *identity)
    unfinished = Certificate()
    for block in run_blocks(solve, regions, n_jobs=n_jobs, checkpoint=kept, description="ℓ1 fit"):
        for certificate in block.certificates:
            if certificate.relative_gap > tolerance:
                unfinished += certificate
        yield block
    if unfinished.primal:
        warnings.warn(
            f"some blocks of the ℓ1 fit stopped at a relative duality gap of "
            f"{unfinished.relative_gap:.1e}, above the tolerance {tolerance:g}; "
            f"raise max_iterations (now {max_iterations}) or the tolerance",
            ConvergenceWarning,
            stacklevel=2,
        )


def check_lambdas(lambdas: Sequence[float]) -> list[float]:
    """Check that a path of λ is positive and decreasing.

    Parameters
    ----------
    lambdas : sequence of float

    Returns
    -------
    list of float
    """
    path = [float(value) for value in lambdas]
    if not path or min(path) <= 0 or path != sorted(path, reverse=True):
        raise FitError(f"expected a decreasing path of positive λ, got {path}")
    return path


class _BlockSolver:
    """ADMM for one block of regions at a time; holds what all blocks share, read-only."""

    def __init__(
        self, design: Design, lambdas: list[float], tolerance: float, max_iterations: int
    ) -> None:
        self.design = design
        self.lambdas = lambdas
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.dtype: Any = np.float32 if tolerance >= _FLOAT32_TOLERANCE else np.float64
        self.relaxation = self.dtype(_OVER_RELAXATION)
        X = design.X
        self.csr64 = (X.indptr, X.indices, X.data)
        self.csr = (X.indptr, X.indices, X.data.astype(self.dtype))
        self.transposed = X.T.tocsr().astype(self.dtype)
        self.mean = design.mean.astype(self.dtype)
        values, vectors = design.eigen
        self.values = values.astype(self.dtype)[:, None]  # (d, 1)
        self.vectors = np.ascontiguousarray(vectors, dtype=self.dtype)  # (d, d)
        self.vectors_t = np.ascontiguousarray(vectors.T, dtype=self.dtype)
        self.row_norm2 = float(values.sum()) / design.shape[0]

    def solve(self, regions: slice, targets: NDArray[np.floating]) -> Block:
        """Follow the path of λ for one block."""
        mean = targets.mean(axis=0, dtype=np.float64)
        y = np.ascontiguousarray(targets - mean, dtype=self.dtype)  # (n, b)
        scale = np.abs(y).mean(axis=0, dtype=np.float64)  # (b,)
        fitted = self._rdot(y)  # X̃ᵀy
        start = _Start(y.shape, len(fitted), self.dtype)
        solutions, certificates = [], []
        for lam in self.lambdas:
            penalty = self._penalty(lam, scale)
            start.move(self.transposed, (penalty / (2 * lam)).astype(self.dtype))
            beta, certificate = self._iterate(lam, y, fitted, penalty, start)
            solutions.append(beta.astype(np.float32))
            certificates.append(certificate)
        return Block(regions, mean, np.stack(solutions), tuple(certificates))

    def _penalty(self, lam: float, scale: Array) -> Array:
        scale = np.where(scale > 0, scale, 1.0)
        penalty: Array = _PENALTY * (lam * scale) ** (2 / 3) * max(self.row_norm2, 1e-12) ** (1 / 3)
        return penalty

    def _iterate(
        self, lam: float, y: Floats, fitted: Floats, penalty: Array, start: "_Start"
    ) -> tuple[Floats, Certificate]:
        """Run ADMM from `start` (updated in place) until the block's gap is small enough."""
        threshold, state, row = start.threshold, start.state, start.row
        product, total = start.product, start.total
        shrink = 1 / (self.values + penalty.astype(self.dtype))  # (d, b)
        check = _CHECK_EVERY
        for iteration in range(1, self.max_iterations + 1):
            right = fitted - product + np.outer(self.mean, total)
            beta = self.vectors @ (shrink * (self.vectors_t @ right))
            offset = self.mean @ beta
            fixed = (y, threshold, self.relaxation)
            work = (state, row, product, total, total, total)
            _sweep(*self.csr, beta, offset, *fixed, *work)
            if iteration == min(check, self.max_iterations):
                certificate = self._certify(lam, y, beta, state, threshold)
                gap = certificate.relative_gap
                if gap <= self.tolerance:
                    break
                check += _LAST_CHECK if gap < _ALMOST * self.tolerance else _CHECK_EVERY
        return beta, certificate

    def _rdot(self, A: Floats) -> Floats:
        product: Floats = self.transposed @ A - np.outer(self.mean, A.sum(axis=0))
        return product

    def _certify(
        self, lam: float, y: Floats, beta: Floats, state: Floats, threshold: Floats
    ) -> Certificate:
        """Primal value of β and dual value of ν = clip(ρw, ±1), in float64."""
        beta = beta.astype(np.float64)
        deviation, linear, row, total = np.zeros((4, y.shape[1]))
        product = np.empty(beta.shape)
        fixed = (y, threshold.astype(np.float64), 0.0)
        work = (state, row, product, total, deviation, linear)
        _sweep(*self.csr64, beta, self.design.mean @ beta, *fixed, *work)
        product -= np.outer(self.design.mean, total)  # X̃ᵀν
        dual = linear.sum() - np.vdot(product, product) / (4 * lam)
        return Certificate(float(deviation.sum() + lam * np.vdot(beta, beta)), float(dual))


class _Start:
    """State w of a block, what the first solve from it needs, and how it moves along the path.

    From one λ to the next ν stays, and z goes on most of the way that it moved since the λ before:
    that saves iterations.
    """

    def __init__(self, shape: tuple[int, int], n_terms: int, dtype: Any) -> None:
        self.state = np.zeros(shape, dtype)  # w = z + u, (n, b)
        self.residual = np.zeros(shape, dtype)  # z at the end of the λ before
        self.product = np.zeros((n_terms, shape[1]), dtype)  # Xᵀ(z − u)
        self.row, self.total = np.zeros((2, shape[1]), dtype)  # work space, Σ(z − u)
        self.threshold = np.zeros(shape[1], dtype)  # 1/ρ
        self.n_moves = 0

    def move(self, transposed: sp.csr_matrix, threshold: Floats) -> None:
        """Make w = z + ν/ρ anew for the ρ of the next λ, given Xᵀ."""
        if self.n_moves:
            u = np.clip(self.state, -self.threshold, self.threshold)
            z = self.state - u
            u *= threshold / self.threshold
            step = self.state.dtype.type(_EXTRAPOLATION if self.n_moves > 1 else 0)
            self.state = z + step * (z - self.residual) + u
            self.residual = z
            moved = self.state - 2 * np.clip(self.state, -threshold, threshold)
            self.product, self.total = transposed @ moved, moved.sum(axis=0)
        self.threshold = threshold
        self.n_moves += 1


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
        beta = design.rdot(nu) / (2 * lam)
        coefficients.append(beta)
        certificates.append(_certify(design, y, lam, nu, beta))
    return np.stack(coefficients), certificates


def _maximise_dual(
    design: Design, y: Array, lam: float, nu: Array, tolerance: float, max_iterations: int
) -> Array:
    def negative_dual(nu: Array) -> tuple[float, Array]:
        beta = design.rdot(nu) / (2 * lam)
        return float(lam * beta @ beta - nu @ y), design.dot(beta) - y

    import scipy.optimize  # here, since the package predicts without it

    best = nu.copy()

    def check(intermediate: Array) -> None:
        best[:] = intermediate
        beta = design.rdot(intermediate) / (2 * lam)
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


@compiled(nogil=True, fastmath=True)
def _sweep(  # type: ignore[no-untyped-def]
    indptr,
    indices,
    data,
    beta,
    offset,
    targets,
    threshold,
    relaxation,
    state,
    row,
    out,
    total,
    deviation,
    linear,
):  # pragma: no cover
    """Pass over the studies once, all of a study's row while it is in cache.

    For every study i, with w its row of `state`, u = clip(w, ±t) and z = w − u:

        w ← z + u + α (y − X̃β − z),        out += x_i (w − 2 clip(w, ±t)).

    Without relaxation α, the state stays, and what primal and dual values need is summed instead:
    deviation = Σ|y − X̃β|, linear = Σ ν y, total = Σ ν, out = Xᵀν, with ν = u/t.

    Arrays hold a block of b regions in their last axis, so that one sparse entry of X drives a
    vectorised loop over b contiguous values. b is read from the shape: a compile-time constant
    would be unrolled into scalar code.
    """
    n, b = targets.shape
    out[:] = 0
    total[:] = 0
    for i in range(n):
        for j in range(b):
            row[j] = -offset[j]
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                row[j] += x * beta[k, j]
        if relaxation:
            for j in range(b):
                t = threshold[j]
                w = state[i, j]
                u = min(max(w, -t), t)
                z = w - u
                w = z + u + relaxation * (targets[i, j] - row[j] - z)
                state[i, j] = w
                u = min(max(w, -t), t)
                w = w - u - u
                row[j] = w
                total[j] += w
        else:
            for j in range(b):
                deviation[j] += abs(targets[i, j] - row[j])
                t = threshold[j]
                nu = min(max(state[i, j], -t), t) / t
                linear[j] += nu * targets[i, j]
                row[j] = nu
                total[j] += nu
        for p in range(indptr[i], indptr[i + 1]):
            k = indices[p]
            x = data[p]
            for j in range(b):
                out[k, j] += x * row[j]
