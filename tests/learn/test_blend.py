from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.learn import Gates, LogLinear, predictor_from_arrays
from neurowhere.learn.blend import ALONE, REST, SHARPER, Blend, ShownStudies, fit_blend

N, D, M, RANK = 5, 19, 41, 3


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)

    def normal(size, scale=1.0):
        return rng.normal(0, scale, size).astype(np.float32)

    mean = rng.dirichlet(np.ones(M))
    return LogLinear(
        mean,
        normal((D, RANK)),
        normal((RANK, M)),
        gates=Gates(np.arange(D) % 7 == 6),
        short=normal((D, RANK)),
        blend=Blend(normal((D, RANK)), mean * normal((RANK, M), 0.3), strength=0.5, kept=0.7),
    )


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(1)
    X = rng.random((N, D)) * (rng.random((N, D)) < 0.7)
    X[-1] = 0
    return sp.csr_matrix(X, dtype=np.float32)


def log_ratio(model, x):
    """L of one text, written down directly; and whether the map was cut."""
    mean, blend = model.mean_map, model.blend
    moved = mean + (x @ blend.loadings @ blend.components)[0]
    ridge = np.maximum(moved, 0) / np.maximum(moved, 0).sum()
    return np.log((REST * mean + (1 - REST) * ridge) / mean), (moved < 0).any()


def test_the_exponent_is_what_the_formula_says(model, texts):
    without = replace(model, blend=None)
    was_cut = []
    for x in texts:
        L, is_cut = log_ratio(model, x.toarray())
        was_cut.append(is_cut)
        short = model.gates.of(x).short[0]
        gate = (1 - short) ** 1.5
        exponent = (0.7 + (ALONE - 0.7) * short) * np.log(without.predict(x)[0] / model.mean_map)
        expected = model.mean_map * np.exp(exponent + 0.5 * gate * L)
        np.testing.assert_allclose(model.predict(x)[0], expected / expected.sum(), rtol=1e-4)
    assert any(was_cut)
    assert not all(was_cut)
    np.testing.assert_allclose(model.predict(texts)[-1], model.mean_map, rtol=1e-5)


def test_what_terms_add_through_the_ridge_sums_to_the_whole(model, texts):
    for x in texts:
        short = model.gates.of(x).short
        gate = (1 - short[0]) ** 1.5
        added = model.blend.added(x, short, model.mean_map)
        whole = 0.5 * gate * log_ratio(model, x.toarray().astype(np.float64))[0]
        np.testing.assert_allclose(added.sum(axis=0), whole, atol=1e-6)
        weights = np.random.default_rng(2).random((M, 2))
        means = model.blend.mean_added(x, short, model.mean_map, weights)
        np.testing.assert_allclose(means, added @ weights, atol=1e-6)
        one = model.blend.mean_added(x, short, model.mean_map, weights[:, 0])
        np.testing.assert_allclose(one, means[:, 0], atol=1e-6)


def test_no_term_blows_up_where_terms_cancel(model):
    """Two terms that say the opposite add up to nothing, and each adds what it adds alone."""
    loadings = model.blend.loadings.copy()
    loadings[1] = -loadings[0]
    blend = replace(model.blend, loadings=loadings)
    x = sp.csr_matrix(([1.0, 1.0], [0, 1], [0, 2]), shape=(1, D), dtype=np.float32)
    added = blend.added(x, np.float32([0.0]), model.mean_map)
    assert 0.01 < abs(added).max() < 10
    np.testing.assert_allclose(added.sum(axis=0), 0, atol=1e-6)


def test_a_batch_predicts_what_each_text_alone_does(model, texts):
    alone = np.concatenate([model.predict(x) for x in texts])
    np.testing.assert_allclose(model.predict(texts), alone, rtol=1e-4)


def test_a_model_without_a_blend_is_as_before(model, texts):
    arrays = model.to_arrays()
    np.testing.assert_array_equal(
        predictor_from_arrays(arrays).predict(texts), model.predict(texts)
    )
    old = {name: values for name, values in arrays.items() if not name.startswith("blend")}
    assert predictor_from_arrays(old).blend is None


def test_the_ridge_is_that_of_the_closed_form():
    """With all dimensions, maps are those of least squares; with few, of what ridge keeps."""
    rng = np.random.default_rng(3)
    n, d, m = 60, 8, 12
    views = [sp.csr_matrix(rng.random((n, d)), dtype=np.float32) for _ in range(2)]
    Y = rng.dirichlet(np.ones(m), n).astype(np.float32)
    importance = rng.random(n)
    studies = ShownStudies(
        views, [1.0, 0.5], importance, lambda rows: Y[rows], lambda rows: Y[rows]
    )
    blend = fit_blend(studies, penalty=2.0, rank=d)
    X = np.vstack([view.toarray() for view in views])
    W = np.diag(np.concatenate([importance, 0.5 * importance]))
    moved = np.vstack([Y, Y]) - Y.mean(axis=0)
    squares = np.linalg.lstsq(np.sqrt(W) @ X, np.sqrt(W) @ moved, rcond=None)[0]
    np.testing.assert_allclose(
        blend.loadings @ blend.components, SHARPER * squares, rtol=0.01, atol=2e-3
    )
    few = fit_blend(studies, penalty=2.0, rank=2)
    assert few.loadings.shape == (d, 2)
    ridge = np.linalg.solve(X.T @ W @ X + 2 * np.eye(d), X.T @ W @ moved)
    strongest = np.linalg.svd(np.sqrt(W) @ X @ ridge)[2][:2]
    kept = ridge @ strongest.T
    hidden, expected = np.linalg.qr(few.loadings)[0], np.linalg.qr(kept)[0]
    np.testing.assert_allclose(hidden @ hidden.T, expected @ expected.T, atol=1e-3)
