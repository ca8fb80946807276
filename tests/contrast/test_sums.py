import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contrast.conftest import StubShard, stub_summing

from neurowhere.contrast.shard import BATCH, Rows, poisson_draws, sum_rows


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    maps = rng.dirichlet(np.ones(7), size=5)  # five terms, seven regions
    counts = rng.poisson(1.0, (2 * BATCH + 9, 5))
    return stub_summing(maps, replicates=11), maps, counts


def test_sums_are_those_of_all_documents_at_once(setting):
    summing, maps, counts = setting
    shard = StubShard(counts)
    rows = np.arange(3, len(counts))
    weights = np.random.default_rng(1).integers(1, 9, len(rows)).astype(float)
    sums = sum_rows(summing, [Rows(shard, rows, weights)])
    p = counts[rows] @ maps
    x = p - maps.mean(axis=0)
    draws = poisson_draws(summing, shard)[:, rows]
    assert sums.documents == len(rows)
    np.testing.assert_allclose(sums.weights, [(weights**k).sum() for k in (1, 2, 3)])
    np.testing.assert_allclose(sums.probability, weights @ p, rtol=1e-5)
    np.testing.assert_allclose(sums.mean, np.average(p, axis=0, weights=weights), rtol=1e-5)
    np.testing.assert_allclose(sums.moments, [(x**k).sum(axis=0) for k in (1, 2, 3)], rtol=1e-4)
    np.testing.assert_allclose(sums.features, weights @ counts[rows], rtol=1e-5)
    np.testing.assert_allclose(sums.presence, weights @ (counts[rows] > 0), rtol=1e-5)
    np.testing.assert_allclose(sums.replicates, (draws * weights) @ p, rtol=1e-4)
    np.testing.assert_allclose(sums.replicate_weights, (draws * weights).sum(axis=1), rtol=1e-6)


def test_terms_that_are_left_out_count_for_nothing(setting):
    summing, maps, counts = setting
    without = stub_summing(maps, replicates=11, left_out=[1, 4])
    zeroed = counts.copy()
    zeroed[:, [1, 4]] = 0
    rows = np.arange(len(counts))
    left_out = sum_rows(without, [Rows(StubShard(counts), rows)])
    by_hand = sum_rows(summing, [Rows(StubShard(zeroed), rows)])
    np.testing.assert_allclose(left_out.probability, by_hand.probability)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 19), unique=True, min_size=1), st.integers(0, 3))
def test_sums_of_disjoint_documents_add_up(rows, number):
    rng = np.random.default_rng(5)
    summing = stub_summing(rng.dirichlet(np.ones(4), size=3), replicates=6)
    shard = StubShard(rng.poisson(1.0, (20, 3)), number=number)
    rows = np.sort(np.array(rows))
    rest = np.setdiff1d(np.arange(20), rows)
    whole = sum_rows(summing, [Rows(shard, np.arange(20))])
    part = sum_rows(summing, [Rows(shard, rows)])
    other = sum_rows(summing, [Rows(shard, rest)])
    for name in vars(whole):
        total, both = getattr(whole, name), getattr(part + other, name)
        np.testing.assert_allclose(total, both, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(getattr(whole - part, name), getattr(other, name), atol=1e-5)


def test_draws_are_the_documents_own_and_poisson():
    summing = stub_summing(np.ones((1, 1)), replicates=300)
    shards = [StubShard(np.ones((50, 1)), number=number) for number in range(2)]
    first, second = (poisson_draws(summing, shard) for shard in shards)
    assert np.array_equal(first, poisson_draws(summing, shards[0]))
    assert not np.array_equal(first, second)
    other = poisson_draws(stub_summing(np.ones((1, 1)), replicates=300, seed=1), shards[0])
    assert not np.array_equal(first, other)
    assert abs(first.mean() - 1) < 0.03
    assert abs(first.var() - 1) < 0.05
