"""Which algorithm for ℓ1? Every rival solves the same real regions to the same certified gap.

    python benchmarks/l1_algorithms.py [--regions 64] [--lambda 0.3]

One core, neuroquery_dev, 4-mm grid, anatomical vocabulary. Seconds per region, of the processor,
exclude compilation.
"""

import argparse
import time
import warnings

import numpy as np
import scipy.linalg
from numba import njit
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVR
from threadpoolctl import threadpool_limits

from neurowhere.learn import Design, l1, l1_blocks
from neurowhere.learn.l1 import l1_dual_lbfgs
from setting import print_table, real_problem

TOLERANCE = 1e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regions", type=int, default=64)
    parser.add_argument("--lambda", dest="lam", type=float, default=0.3)
    arguments = parser.parse_args()
    problem = real_problem()
    sample = np.sort(
        np.random.default_rng(0).choice(problem.n_regions, arguments.regions, replace=False)
    )
    Y = problem.targets_of(sample)
    # Rivals that cannot centre a sparse X implicitly would pay for a dense one: none is centred.
    design = Design(problem.X, centre=False)
    y = (Y - Y.mean(axis=0)).astype(np.float64)
    print(f"{design.shape[0]} studies x {design.shape[1]} terms, λ = {arguments.lam}")
    bound = dual_values(design, y, arguments.lam)
    rows = []
    with threadpool_limits(1):
        for name, solve, n_regions in RIVALS:
            part = y[:, :n_regions]
            solve(design, part[:, : min(n_regions, 8)], arguments.lam, bound)  # compile
            start = time.process_time()
            beta = solve(design, part, arguments.lam, bound)
            seconds = (time.process_time() - start) / part.shape[1]
            primal = objective(design, part, beta, arguments.lam)
            gap = 1 - bound[: part.shape[1]].sum() / primal.sum()
            rows.append([name, part.shape[1], seconds, gap])
    fastest = rows[0][2]
    header = ["algorithm", "regions", "s / region", "relative gap", "times ours"]
    print_table(
        header, [[n, k, f"{s:.5f}", f"{g:.1e}", f"{s / fastest:.1f}"] for n, k, s, g in rows]
    )


def objective(design, y, beta, lam):
    return np.abs(y - design.dot(beta)).sum(axis=0) + lam * (beta**2).sum(axis=0)


def dual_values(design, y, lam):
    """Bound each region's optimum from below, by a solve to 1e-5."""
    values = []
    for k in range(y.shape[1]):
        blocks = l1_blocks(design, lambda _, k=k: y[:, [k]], 1, [lam], tolerance=1e-5, n_jobs=1)
        values.append(next(blocks).certificates[0].dual)
    return np.array(values)


def admm(design, y, lam, _, lambdas=None, block_size=l1.BLOCK_SIZE):
    blocks = l1_blocks(
        design,
        lambda r: y[:, r],
        y.shape[1],
        lambdas or [lam],
        tolerance=TOLERANCE,
        n_jobs=1,
        block_size=block_size,
    )
    return np.concatenate([block.coefficients[-1] for block in blocks], axis=1).astype(float)


def admm_narrow(design, y, lam, bound):
    return admm(design, y, lam, bound, block_size=8)


def admm_plain(design, y, lam, bound):
    """Without over-relaxation."""
    return with_constant("_OVER_RELAXATION", 1.0, design, y, lam, bound)


def admm_stiff(design, y, lam, bound):
    """With ρ ten times smaller than the rule says."""
    return with_constant("_PENALTY", 10 * l1._PENALTY, design, y, lam, bound)


def admm_soft(design, y, lam, bound):
    """With ρ ten times larger than the rule says."""
    return with_constant("_PENALTY", 0.1 * l1._PENALTY, design, y, lam, bound)


def with_constant(name, value, *arguments):
    usual = getattr(l1, name)
    setattr(l1, name, value)
    try:
        return admm(*arguments)
    finally:
        setattr(l1, name, usual)


def admm_path(design, y, lam, bound):
    """Ten λ, of which this is the last."""
    return admm(design, y, lam, bound, lambdas=list(np.geomspace(30 * lam, lam, 10)))


def lbfgs(design, y, lam, _):
    return np.stack(
        [l1_dual_lbfgs(design, column, [lam], tolerance=TOLERANCE)[0][0] for column in y.T], axis=1
    )


def linear_svr(design, y, lam, bound):
    """Run liblinear at the loosest of its tolerances that reaches the gap."""
    return np.stack([_svr(design, column, lam, b) for column, b in zip(y.T, bound)], axis=1)


_SVR_TOLERANCE = [None]


def _svr(design, column, lam, bound):
    # The tolerance is found once, on the first region, outside of what is timed afterwards.
    for tolerance in _SVR_TOLERANCE if _SVR_TOLERANCE[0] else (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3):
        model = LinearSVR(
            epsilon=0,
            loss="epsilon_insensitive",
            fit_intercept=False,
            C=1 / (2 * lam),
            tol=tolerance,
            max_iter=100_000,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            beta = model.fit(design.X, column).coef_
        primal = objective(design, column[:, None], beta[:, None], lam)[0]
        if 1 - bound / primal <= TOLERANCE:
            break
    _SVR_TOLERANCE[0] = tolerance
    return beta


def coordinate_descent(design, y, lam, bound, epochs=2000):
    """Dual coordinate descent, on a block of regions at a time, so that it is vectorised too."""
    X = design.X
    square = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    nu, beta = dual_start(X, square, y)
    rng = np.random.default_rng(0)
    for epoch in range(epochs):
        order = rng.permutation(len(y))
        _descend(X.indptr, X.indices, X.data, square, order, y, nu, beta, 2 * lam)
        if epoch % 5 == 4:
            primal = objective(design, y, beta, lam).sum()
            dual = np.vdot(nu, y) - lam * np.vdot(beta, beta)
            if 1 - dual / primal <= TOLERANCE:
                break
    return beta


def dual_start(X, square, y):
    """Give ν and β = 0 to start from; a study without terms has its best ν from the beginning."""
    return np.where(square[:, None] > 0, 0.0, np.sign(y)), np.zeros((X.shape[1], y.shape[1]))


@njit(nogil=True, fastmath=True, cache=True)
def _descend(indptr, indices, data, square, order, y, nu, beta, two_lambda):
    b = y.shape[1]
    row = np.empty(b)
    for i in order:
        if square[i] == 0:
            continue
        row[:] = y[i]
        for p in range(indptr[i], indptr[i + 1]):
            for j in range(b):
                row[j] -= data[p] * beta[indices[p], j]
        for j in range(b):
            moved = min(max(nu[i, j] + row[j] * two_lambda / square[i], -1.0), 1.0)
            row[j] = (moved - nu[i, j]) / two_lambda
            nu[i, j] = moved
        for p in range(indptr[i], indptr[i + 1]):
            for j in range(b):
                beta[indices[p], j] += data[p] * row[j]


def newton(design, y, lam, bound):
    """Semismooth Newton on the Huber-smoothed primal, its width halved until the gap is met."""
    X = design.X
    columns = []
    for target in y.T:
        beta = np.zeros(X.shape[1])
        width = np.abs(target).mean()
        for _ in range(30):
            beta = _newton_steps(X, target, lam, beta, width)
            residual = target - X @ beta
            nu = np.clip(residual / width, -1, 1)
            primal = np.abs(residual).sum() + lam * beta @ beta
            dual = nu @ target - np.sum((X.T @ nu) ** 2) / (4 * lam)
            if 1 - dual / primal <= TOLERANCE:
                break
            width /= 2
        columns.append(beta)
    return np.stack(columns, axis=1)


def _newton_steps(X, y, lam, beta, width, steps=30):
    def smoothed(beta):
        size = np.abs(y - X @ beta)
        huber = np.where(size < width, size**2 / (2 * width), size - width / 2)
        return huber.sum() + lam * beta @ beta

    value = smoothed(beta)
    for _ in range(steps):
        residual = y - X @ beta
        inside = np.abs(residual) < width
        gradient = 2 * lam * beta - X.T @ np.clip(residual / width, -1, 1)
        active = X[inside]
        hessian = (active.T @ active).toarray() / width
        hessian[np.diag_indices_from(hessian)] += 2 * lam
        step = scipy.linalg.solve(hessian, gradient, assume_a="pos")
        scale = 1.0
        while (new := smoothed(beta - scale * step)) > value and scale > 1e-6:
            scale /= 2
        beta = beta - scale * step
        if value - new <= 1e-6 * value:
            break
        value = new
    return beta


RIVALS = [
    ("ADMM (ours)", admm, 64),
    ("ADMM, blocks of 8 regions", admm_narrow, 64),
    ("ADMM, no over-relaxation", admm_plain, 64),
    ("ADMM, ρ / 10", admm_stiff, 64),
    ("ADMM, ρ x 10", admm_soft, 64),
    ("ADMM, path of 10 λ", admm_path, 64),
    ("dual coordinate descent, vectorised", coordinate_descent, 64),
    ("LinearSVR (liblinear)", linear_svr, 16),
    ("semismooth Newton", newton, 4),
    ("L-BFGS-B on the dual (the paper's)", lbfgs, 8),
]

if __name__ == "__main__":
    main()
