from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from neurowhere.contrast.contrast import permutation_null, upper_tail
from neurowhere.contrast.shard import Sums


def sums_of(x, weights=None, centre=0.0):
    """Sums of documents with values x (n, m)."""
    w = np.ones(len(x)) if weights is None else np.asarray(weights, float)
    moments = np.stack([((x - centre) ** k).sum(axis=0) for k in (1, 2, 3)])
    powers = np.array([(w**k).sum() for k in (1, 2, 3)])
    nothing = np.zeros(1)
    return Sums(len(x), powers, moments, w @ x, nothing, nothing, nothing[None], nothing)


def by_permutation(x, a):
    """Mean, standard deviation and skewness of Σ a x over all permutations."""
    values = np.array([a @ x[list(order)] for order in permutations(range(len(x)))])
    return values.mean(axis=0), values.std(axis=0), stats.skew(values, axis=0)


@pytest.fixture
def x():
    return np.random.default_rng(0).exponential(size=(7, 3))  # seven documents, three regions


def test_moments_are_those_of_all_permutations_against_all(x, monkeypatch):
    seen = {}
    monkeypatch.setattr(
        "neurowhere.contrast.contrast.upper_tail",
        lambda z, skewness: seen.setdefault("skewness", skewness) * 0 + 0.5,
    )
    rows, w = [1, 4, 5], np.array([1.0, 3.0, 2.0])
    null = permutation_null(sums_of(x[rows], w, 0.3), None, sums_of(x, centre=0.3))
    a = np.zeros(7)
    a[rows] = w / w.sum()
    mean, std, skewness = by_permutation(x, a)
    np.testing.assert_allclose(null.z, (a @ x - mean) / std, rtol=1e-9)
    np.testing.assert_allclose(seen["skewness"], skewness, rtol=1e-8)


def test_moments_are_those_of_all_permutations_of_two_groups(x, monkeypatch):
    seen = {}
    monkeypatch.setattr(
        "neurowhere.contrast.contrast.upper_tail",
        lambda z, skewness: seen.setdefault("skewness", skewness) * 0 + 0.5,
    )
    one, other, w = [0, 2, 3], [1, 4, 5, 6], np.array([1.0, 4.0, 2.0])
    group, reference = sums_of(x[one], w), sums_of(x[other])
    null = permutation_null(group, reference, group + reference)
    a = np.zeros(7)
    a[one], a[other] = w / w.sum(), -1 / 4
    mean, std, skewness = by_permutation(x, a)
    np.testing.assert_allclose(mean, 0, atol=1e-12)
    np.testing.assert_allclose(null.z, (a @ x) / std, rtol=1e-9)
    np.testing.assert_allclose(seen["skewness"], skewness, rtol=1e-8)


@pytest.mark.parametrize("skewness", [0.0, 1e-3, 0.4, 3.0])
def test_the_long_tail_is_pearsons(skewness):
    z = np.linspace(-6, 6, 41)
    expected = stats.pearson3.sf(z, skewness)
    found = upper_tail(z, np.full(41, skewness))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("skewness", [-2.5, -0.7, -1e-3])
def test_the_short_tail_is_pearsons_but_does_not_end(skewness):
    z = np.linspace(-6, 6, 41)
    found = upper_tail(z, np.full(41, skewness))
    pearson = stats.pearson3.sf(z, skewness)
    assert (found >= pearson * (1 - 1e-9)).all()
    assert (np.diff(found) < 0).all()
    assert (found > 0).all()
    assert (found[z > 1] <= stats.norm.sf(z[z > 1])).all()
    before_the_end = pearson > 0.01
    np.testing.assert_allclose(found[before_the_end], pearson[before_the_end], atol=0.06)


def test_far_tails_do_not_vanish():
    assert 0 < upper_tail(np.array([12.0]), np.array([0.5]))[0] < 1e-10


@pytest.mark.parametrize("size", [6, 25, 80])
def test_p_values_of_random_groups_are_right(size):
    """Uniform on the side of the skewness; on the other, never too small."""
    rng = np.random.default_rng(1)
    x = rng.gamma(0.5, size=(400, 1))  # skewness 2.8
    population = sums_of(x)
    nulls = [
        permutation_null(sums_of(x[rng.choice(400, size, replace=False)]), None, population)
        for _ in range(1000)
    ]
    z, p_values = (np.array([getattr(null, n)[0] for null in nulls]) for n in ("z", "p_values"))
    above = np.sort(p_values[z > np.median(z)])
    assert stats.kstest(p_values[(z > 0) & (p_values < 0.8)], "uniform", (0, 0.8)).pvalue > 0.001
    for level in (0.1, 0.02):
        allowed = 4 * np.sqrt(level / 2 / 1000)
        assert abs(np.searchsorted(above, level) / 1000 - level / 2) < allowed
        assert (p_values[z < 0] <= level).sum() / 1000 < level / 2 + allowed


def test_a_normal_tail_would_not_be_uniform():
    """The third moment is needed: without it the same groups fail the same test."""
    rng = np.random.default_rng(1)
    x = rng.gamma(0.1, size=(400, 1))
    population = sums_of(x)
    groups = [sums_of(x[rng.choice(400, 10, replace=False)]) for _ in range(1000)]
    z = np.array([permutation_null(group, None, population).z[0] for group in groups])
    normal = 2 * stats.norm.sf(np.abs(z))
    assert stats.kstest(normal, "uniform").pvalue < 1e-6


def test_the_false_discovery_rate_is_kept_and_a_planted_effect_is_found():
    rng = np.random.default_rng(2)
    false, found = [], []
    for _ in range(60):
        x = rng.gamma(2.0, size=(300, 200))
        x[:30, :20] += 2.0  # the group is the first 30, the effect in the first 20 regions
        null = permutation_null(sums_of(x[:30]), None, sums_of(x))
        passing = null.q_values <= 0.1
        false.append(passing[20:].sum() / max(passing.sum(), 1))
        found.append(passing[:20].mean())
    assert np.mean(false) < 0.12
    assert np.mean(found) > 0.95


def test_what_does_not_vary_is_not_significant():
    x = np.full((6, 2), 0.1)
    x[:, 1] = [0, 0, 0, 0, 1, 1]
    null = permutation_null(sums_of(x[4:]), None, sums_of(x))
    assert null.p_values[0] == 1
    assert null.z[0] == 0
    assert np.isfinite(null.q_values).all()
