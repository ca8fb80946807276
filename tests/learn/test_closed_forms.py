import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from tests.learn.problems import SHAPES, random_problem

from neurowhere.learn import Design, collect, ridge_blocks, target_products

LAMBDAS = [30.0, 1.0, 0.1]


@pytest.mark.parametrize("kind", SHAPES)
def test_matches_scikit_learn(kind):
    X, Y = random_problem(kind, n_regions=11)
    design = Design(X)
    products, mean = target_products(design, sp.csr_matrix(Y))
    for index, lam in enumerate(LAMBDAS):
        blocks = ridge_blocks(design, products, mean, LAMBDAS, block_size=4)
        fit = collect(blocks, 11, index)
        oracle = Ridge(alpha=lam).fit(X.toarray(), Y)
        prediction = fit.mean + design.dot(fit.coefficients)
        np.testing.assert_allclose(fit.coefficients.T, oracle.coef_, atol=1e-4)
        np.testing.assert_allclose(prediction, oracle.predict(X.toarray()), atol=1e-4)


def test_commutes_with_smoothing():
    """Smoothing the coefficient maps of counts equals fitting the smoothed counts."""
    rng = np.random.default_rng(0)
    X, Y = random_problem("tall", n_regions=8)
    kernel = rng.random((8, 6)).astype(np.float32)
    design = Design(X)
    late, late_mean = target_products(design, sp.csr_matrix(Y), lambda maps: maps @ kernel)
    early, early_mean = target_products(design, sp.csr_matrix(Y @ kernel))
    np.testing.assert_allclose(late, early, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(late_mean, early_mean, rtol=1e-5)
