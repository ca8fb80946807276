import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from neurowhere.exceptions import FitError
from neurowhere.learn import Design, collect, label_blocks, one_feature_l1, one_feature_l2


def problem(n=30, m=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(n, m)) * (rng.random((n, m)) < 0.3)
    return sp.csr_matrix(X), np.maximum(X * 2 + rng.normal(size=(n, m)), 0)


def test_l2_is_the_formula_of_a_one_feature_regression():
    X, Y = problem()
    fit = collect(label_blocks(Design(X), lambda r: Y[:, r], 5, [0.7], one_feature_l2), 5)
    x, y = X.toarray() - X.toarray().mean(axis=0), Y - Y.mean(axis=0)
    expected = [(x[:, k] @ y[:, k]) / (x[:, k] @ x[:, k] + 0.7) for k in range(5)]
    np.testing.assert_allclose(fit.coefficients, np.diag(expected), rtol=1e-6)
    np.testing.assert_allclose(fit.mean, Y.mean(axis=0))


@given(seed=st.integers(0, 10**6), lam=st.floats(1e-3, 1e3), zeros=st.booleans())
@settings(max_examples=60, deadline=None)
def test_l1_minimises_the_one_feature_objective(seed, lam, zeros):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 17, 1))
    if zeros:
        x[:5] = 0

    def objective(slope):
        return np.abs(y - x * slope).sum() + lam * slope**2

    slope = one_feature_l1(x, y, lam)[0]
    oracle = minimize_scalar(objective, bounds=(-100, 100), method="bounded").x
    assert objective(slope) <= objective(oracle) + 1e-9
    assert objective(slope) <= min(objective(slope + 1e-4), objective(slope - 1e-4))


def test_a_label_that_never_occurs_predicts_the_mean():
    X, Y = problem()
    X = X.toarray()
    X[:, 2] = 0
    for slope in (one_feature_l1, one_feature_l2):
        fit = collect(label_blocks(Design(X), lambda r: Y[:, r], 5, [0.7], slope), 5)
        assert fit.coefficients[2, 2] == 0
        assert np.count_nonzero(fit.coefficients) == 4


def test_needs_one_label_per_region():
    X, Y = problem()
    with pytest.raises(FitError, match="5 labels for 4 regions"):
        list(label_blocks(Design(X), lambda r: Y[:, r], 4, [1.0], one_feature_l2))
