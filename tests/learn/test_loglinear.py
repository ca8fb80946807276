from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.learn import (
    Gates,
    Linear,
    LogLinear,
    Prior,
    Schedule,
    Studies,
    average,
    fit_loglinear,
    learn_term_weights,
    loglinear,
    nats_above_uniform,
    predictor_from_arrays,
    reweighted,
)
from neurowhere.learn.loglinear import drop, gradient, one_cycle, weight_gradient
from neurowhere.learn.predictor import Structures

N, D, M, RANK = 7, 9, 11, 3
SHARES = np.linspace(0.1, 0.2, N)  # of studies in the loss


def problem(seed=0, n=N, d=D, m=M):
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.random((n, d)) * (rng.random((n, d)) < 0.5))
    y = rng.dirichlet(np.ones(m), n)
    volumes = rng.uniform(1, 3, m)
    model = LogLinear(
        rng.dirichlet(np.ones(m)), rng.normal(size=(d, RANK)), rng.normal(size=(RANK, m))
    )
    return X, y, volumes.sum() / volumes, model


def loss(model, X, y, weight):
    """Loss of a batch, written down directly."""
    exponent = np.log(model.mean_map) + X @ model.loadings @ model.components
    q = np.exp(exponent) / np.exp(exponent).sum(axis=1, keepdims=True)
    return -SHARES @ (y * np.log(0.5 + 0.5 * q * weight)).sum(axis=1)


def test_gradient_is_that_of_finite_differences():
    Z, y, weight, model = problem()
    weights = np.random.default_rng(3).normal(size=(D, 1))  # log weights of terms
    # In double precision, so that differences are exact enough.
    model.__dict__["bias"] = np.log(model.mean_map)
    x = reweighted(Z, np.exp(weights[:, 0]))
    with ThreadPoolExecutor(2) as threads:
        *slopes, to_hidden = gradient(model, x, y, weight, SHARES, threads)
    slopes.append(weight_gradient(x, x, model.loadings, to_hidden))
    step = 1e-6
    at = {"loadings": model.loadings, "components": model.components, "weights": weights}
    for name, slope in zip(at, slopes, strict=True):
        assert slope.shape == at[name].shape
        for index in np.ndindex(slope.shape):
            values = []
            for sign in (1, -1):
                moved = at | {name: at[name].copy()}
                moved[name][index] += sign * step
                features = reweighted(Z, np.exp(moved.pop("weights")[:, 0]))
                values.append(loss(LogLinear(model.mean, **moved), features, y, weight))
            assert slope[index] == pytest.approx((values[0] - values[1]) / (2 * step), abs=2e-5)


def test_gradient_for_weights_is_of_what_dropout_leaves():
    Z, y, weight, model = problem()
    mask = np.random.default_rng(5).random(Z.nnz) < 0.6
    model.__dict__["bias"] = np.log(model.mean_map)

    def seen(log_weights):
        x = reweighted(Z, np.exp(log_weights))
        return x, sp.csr_matrix((x.data * mask, x.indices, x.indptr), shape=x.shape)

    x, left = seen(np.zeros(D))
    with ThreadPoolExecutor(1) as threads:
        *_, to_hidden = gradient(model, left, y, weight, SHARES, threads)
    slope = weight_gradient(x, left, model.loadings, to_hidden)
    for term, step in enumerate(1e-6 * np.eye(D)):
        up, down = (loss(model, seen(sign * step)[1], y, weight) for sign in (1, -1))
        assert slope[term, 0] == pytest.approx((up - down) / 2e-6, abs=2e-5)


def test_prediction_is_a_density_that_starts_from_the_mean_map():
    X, _, _, model = problem()
    model = LogLinear(
        *(np.asarray(a, np.float32) for a in (model.mean, model.loadings, model.components))
    )
    X = sp.csr_matrix(X.toarray() * (np.arange(N) != 2)[:, None])
    q = model.predict(sp.csr_matrix(X, dtype=np.float32))
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(q[2], model.mean_map, rtol=1e-5)
    exponent = np.log(model.mean_map) + X @ model.loadings @ model.components
    np.testing.assert_allclose(
        q, np.exp(exponent) / np.exp(exponent).sum(1, keepdims=True), rtol=1e-4
    )


def gated(model):
    """The same model with all that a text's length and its names of places add."""
    rng = np.random.default_rng(5)
    d, r = model.loadings.shape
    densities = rng.exponential(size=(2, M)).astype(np.float32)
    terms, n_studies = np.array([0, d - 1]), np.array([2, 300])
    return replace(
        model,
        gates=Gates(np.arange(d) % 3 == 2),
        short=rng.normal(0, 0.2, (d, r)).astype(np.float32),
        long=rng.normal(0, 0.2, (d, r)).astype(np.float32),
        prior=Prior.make(terms, densities, model.mean_map * M, n_studies),
    )


@pytest.mark.parametrize("change", [lambda model: model, gated])
def test_what_terms_add_sums_to_the_log_ratio(change):
    X, _, _, model = problem()
    model = change(model)
    for row in range(3):
        x = sp.csr_matrix(X[row], dtype=np.float32)
        added = model.added(x)  # (k, m)
        ratio = np.log(model.predict(x)[0] / model.mean_map)
        total = added.sum(axis=0)
        np.testing.assert_allclose(np.diff(total), np.diff(ratio), rtol=1e-3, atol=1e-5)
        weights = np.random.default_rng(1).random(M)
        means = model.mean_added(x, weights)
        np.testing.assert_allclose(means, added @ weights, rtol=1e-3, atol=1e-5)
        moved = model.mean_moved(x, weights)[0]
        np.testing.assert_allclose(moved, means.sum(), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(model.added(x, np.array([0])), added[:1], rtol=1e-5)


@pytest.mark.parametrize("at_once", [1, 2, 3, 32])
def test_sides_add_what_the_formula_says_however_many_maps_are_made_at_once(at_once, monkeypatch):
    monkeypatch.setattr("neurowhere.learn.predictor.MAPS_AT_ONCE", at_once)
    X, _, _, model = problem(n=1, d=40)
    model, x = gated(model), sp.csr_matrix(X, dtype=np.float32)
    rng = np.random.default_rng(3)
    places = np.sort(rng.permutation(x.nnz)[:7])
    balance = np.array([[1, 0], [0, 0], [-0.5, 0], [0, 0], [0, 1], [0.5, -0.5], [0, -1]])
    sides = rng.choice([-1.0, 1.0], (2, M))
    shifts = model.lateral(x, places, balance, sides)
    e = model.added(x, places).astype(float)
    a = np.maximum(e - np.log(np.exp(e) @ model.mean_map)[:, None], 0)
    is_sided = balance.any(axis=1)
    height = sum(row * np.sqrt(row / row.max()) for row in a[is_sided])
    expected = balance @ sides * a**2 / (a**2).sum(axis=0).clip(1e-12) * height
    np.testing.assert_allclose(shifts, expected[is_sided], rtol=1e-3, atol=1e-6)
    assert abs(shifts).max() > 0.1


@pytest.mark.parametrize("kind", ["log-linear", "linear"])
@pytest.mark.parametrize("at_once", [1, 2, 7, 64])
def test_the_shift_of_each_text_is_the_sum_of_what_its_sides_add(kind, at_once, monkeypatch):
    monkeypatch.setattr("neurowhere.learn.predictor.MAPS_AT_ONCE", at_once)
    X, _, _, model = problem(n=5, d=40)
    model, X = gated(model), sp.csr_matrix(X, dtype=np.float32)
    if kind == "linear":
        rng = np.random.default_rng(0)
        model = Linear(model.mean, rng.normal(size=(40, M)).astype("f4"), np.zeros(40))
    rng = np.random.default_rng(3)
    sides = rng.choice([-1.0, 1.0], (2, M))
    entries = np.sort(rng.permutation(np.arange(*X.indptr[[1, 5]]))[:13])  # none of the first text
    texts = np.searchsorted(X.indptr, entries, side="right") - 1
    balance = rng.choice([-1, 0, 0, 0.5, 1], (13, 2))
    balance[np.append(True, np.diff(texts) > 0)] = 1, 0
    structures = Structures(texts, entries, balance)
    found = dict(model.shifts(X, structures, sides))
    assert list(found) == np.unique(texts).tolist()
    for text, shift in found.items():
        here, x = texts == text, X[text]
        alone = model.lateral(x, entries[here] - X.indptr[text], balance[here], sides)
        np.testing.assert_allclose(shift, alone.sum(axis=0), rtol=1e-4, atol=1e-6)
    whole, plain = model.predict(X, structures, sides), model.predict(X)
    for text in range(5):
        here, x = texts == text, X[text]
        own = Structures(np.zeros(here.sum(), int), entries[here] - X.indptr[text], balance[here])
        np.testing.assert_allclose(whole[text], model.predict(x, own, sides)[0], rtol=1e-4)
        assert (text in found) == (abs(whole[text] - plain[text]).max() > 1e-4)
        if kind == "log-linear":  # by no more than these shifts
            rest = np.log(whole[text] / plain[text]) - found.get(text, 0)
            assert np.ptp(rest) < 1e-4


def test_a_gated_model_survives_its_arrays():
    X, _, _, model = problem()
    model = gated(model)
    X = sp.csr_matrix(X, dtype=np.float32)
    twin = predictor_from_arrays(model.to_arrays())
    np.testing.assert_allclose(twin.predict(X), model.predict(X), rtol=2e-2)
    np.testing.assert_array_equal(
        twin.predict(X), predictor_from_arrays(twin.to_arrays()).predict(X)
    )


def test_truncation_to_full_rank_changes_nothing_and_orders_dimensions():
    X, _, _, model = problem()
    whole = model.truncated(RANK)
    np.testing.assert_allclose(whole.predict(X), model.predict(X), rtol=1e-4)
    np.testing.assert_allclose(whole.components @ whole.components.T, np.eye(RANK), atol=1e-5)
    strengths = np.linalg.norm(whole.loadings, axis=0)
    assert (np.diff(strengths) < 0).all()
    best = np.linalg.svd(model.loadings @ model.components)[1][0]
    np.testing.assert_allclose(
        model.truncated(1).loadings.T @ model.truncated(1).loadings, best**2, rtol=1e-4
    )


def test_average_of_models_averages_their_exponents():
    X, _, _, first = problem()
    other = problem(seed=1)[3]
    second = LogLinear(first.mean, other.loadings, other.components)
    exponents = [X @ model.loadings @ model.components for model in (first, second)]
    both = average([first, second])
    np.testing.assert_allclose(
        X @ both.loadings @ both.components, np.mean(exponents, axis=0), rtol=1e-4, atol=1e-5
    )


def planted(seed=0, n=300):
    """Studies whose one term says in which half of ten regions their peaks are."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(2, size=n)
    X = sp.csr_matrix(np.eye(2, dtype=np.float32)[kind])
    y = np.where(np.arange(10) // 5 == kind[:, None], 0.2, 0.0).astype(np.float32)
    return X, y


SCHEDULE = Schedule(rank=4, epochs=30, batch=50, rate=0.1, decay=(0.01, 0.01), dropout=0.0)


def fit_planted(seed=0, **options):
    X, y = planted()
    *_, model = fit_loglinear(ten_regions(X, y), SCHEDULE, seed=seed, **options)
    return X, y, model


def ten_regions(X, y, n_peaks=20):
    n_peaks = np.broadcast_to(n_peaks, len(y))
    return Studies(X, lambda rows: y[rows], n_peaks, y.mean(0), np.full(10, 10.0))


def test_a_term_that_tells_nothing_loses_weight():
    X, y = planted()
    noise = sp.csr_matrix(np.random.default_rng(1).random((len(y), 3)) < 0.7, dtype=np.float32)
    X = reweighted(sp.hstack([X, noise]).tocsr(), np.ones(5))
    *_, learned = learn_term_weights(ten_regions(X, y), SCHEDULE)
    assert learned[:2].min() > 3 * learned[2:].max()


def test_a_rare_term_is_trusted_less_with_its_weight(monkeypatch):
    """Log weights grow by half for a frequent term, and shrink by a quarter at 30 studies."""
    log_weights = np.array([0.3, 0.3, -0.3, 0.3], np.float32)
    descent = iter([(None, log_weights)])
    monkeypatch.setattr(loglinear, "_descend", lambda *_, **__: descent)
    X = sp.csr_matrix(np.arange(10_000)[:, None] < [10_000, 30, 10, 0], dtype=np.float32)
    (learned,) = learn_term_weights(Studies(X, None, None, None, None), SCHEDULE)
    np.testing.assert_allclose(np.log(learned), [0.4487, 0.225, -0.1125, 0], atol=1e-4)


def test_a_planted_effect_is_learned():
    X, y, model = fit_planted()
    q = model.predict(X)
    study, region = np.nonzero(y)
    nats = nats_above_uniform(q[study, region] * 10, study, len(y)).mean()
    assert nats == pytest.approx(np.log(0.5 + 0.5 * 2), abs=0.02)  # the density is twice uniform


def test_a_study_of_few_peaks_weighs_less():
    """All texts are alike; those of 25 peaks, which weigh 5/8, differ from those of 10, 2/5."""
    halves, y = planted()
    many = halves.toarray()[:, 0] > 0
    X = sp.csr_matrix(np.ones((len(y), 1), np.float32))
    for few_peaks, weights in [(15, (5 / 8, 2 / 5)), (0, (1, 1))]:
        problem = ten_regions(X, y, np.where(many, 25, 10))
        *_, model = fit_loglinear(problem, replace(SCHEDULE, few_peaks=few_peaks))
        first = model.predict(X[:1])[0, :5].sum()
        expected = best_share(many.sum() * weights[0], (~many).sum() * weights[1])
        np.testing.assert_allclose(first, expected, atol=0.02)


def best_share(first, second):
    """Mass of the first half of regions that maximises Σ n log(½ + ½ density)."""
    p = np.linspace(0, 1, 10_001)
    return p[np.argmax(first * np.log(0.5 + p) + second * np.log(0.5 + 1 - p))]


def test_same_seed_same_model_for_any_number_of_threads():
    first, second = fit_planted(n_jobs=1)[2], fit_planted(n_jobs=3)[2]
    np.testing.assert_array_equal(first.loadings, second.loadings)
    np.testing.assert_array_equal(first.components, second.components)
    assert not np.array_equal(first.loadings, fit_planted(seed=1)[2].loadings)


def test_dropout_keeps_the_mean():
    X = sp.csr_matrix(np.ones((200, 300), dtype=np.float32))
    dropped = drop(X, 0.3, np.random.default_rng(0))
    assert set(np.unique(dropped.data).round(4)) == {np.float32(0), np.float32(1 / 0.7).round(4)}
    assert dropped.data.mean() == pytest.approx(1, abs=0.01)


def test_learning_rate_rises_then_falls():
    rates = [one_cycle(progress) for progress in np.linspace(0, 1, 101)]
    assert (np.diff(rates[:31]) > 0).all()
    assert (np.diff(rates[30:]) < 0).all()
