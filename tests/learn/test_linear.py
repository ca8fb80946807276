import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.exceptions import FitError
from neurowhere.learn import Design

rng = np.random.default_rng(0)
X = rng.normal(size=(9, 7)) * (rng.random((9, 7)) < 0.5)
X[:, 3] = 2.0  # constant


@pytest.mark.parametrize("scale", [False, True])
def test_products_are_those_of_the_dense_centred_matrix(scale):
    design = Design(sp.csr_matrix(X), scale=scale)
    deviation = np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    dense = (X - X.mean(axis=0)) / (deviation if scale else 1)
    np.testing.assert_allclose(design.dot(np.eye(7)), dense, atol=1e-12)
    np.testing.assert_allclose(design.rdot(np.eye(9)), dense.T, atol=1e-12)
    values, vectors = design.eigen
    np.testing.assert_allclose(vectors * values @ vectors.T, dense.T @ dense, atol=1e-10)
    np.testing.assert_allclose(
        design.project(sp.csr_matrix(X)).toarray() - design.mean, dense, atol=1e-12
    )


def test_stays_sparse():
    big = sp.random(2_000, 1_000, density=1e-3, format="csr", random_state=0)
    assert Design(big, scale=True).X.nnz == big.nnz


@pytest.mark.parametrize("bad", [np.zeros((0, 3)), np.zeros((3, 0)), np.array([[np.nan, 1.0]])])
def test_refuses_what_cannot_be_fitted(bad):
    with pytest.raises(FitError):
        Design(bad)
