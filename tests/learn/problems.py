"""Small regression problems, and exact solutions of them by an interior-point solver."""

import clarabel
import numpy as np
import scipy.sparse as sp

SHAPES = {
    "tall": (40, 7, 0.5),
    "dense": (30, 9, 1.0),
    "wide": (12, 25, 0.4),  # n < d
}


def random_problem(kind, n_regions=5, seed=0):
    """X (n, d) and targets Y (n, n_regions), heavy-tailed and often zero as densities are."""
    rng = np.random.default_rng(seed)
    n, d, density = SHAPES.get(kind, SHAPES["tall"])
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    Y = rng.exponential(size=(n, n_regions)) * (rng.random((n, n_regions)) < 0.4)
    Y += np.maximum(X @ rng.normal(size=(d, n_regions)), 0)
    if kind == "constant column":
        X[:, 2] = 1.5
    if kind == "duplicate rows":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "zero targets":
        Y[:] = 0
    return sp.csr_matrix(X), Y


KINDS = [*SHAPES, "constant column", "duplicate rows", "zero targets"]


def centred(X, Y):
    X = X.toarray()
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def exact_l1(X, y, lam):
    """Solve min ‖y − Xβ‖₁ + λ‖β‖² as a quadratic program in (β, t), −t ≤ y − Xβ ≤ t."""
    n, d = X.shape
    P = sp.block_diag([2 * lam * sp.eye(d), sp.csc_matrix((n, n))], format="csc")
    q = np.concatenate([np.zeros(d), np.ones(n)])
    A = sp.csc_matrix(sp.bmat([[X, -sp.eye(n)], [-X, -sp.eye(n)]]))
    b = np.concatenate([y, -y])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * n)]
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    beta = np.array(solution.x[:d])
    return beta, np.abs(y - X @ beta).sum() + lam * beta @ beta
