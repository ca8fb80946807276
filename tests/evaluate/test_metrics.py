"""Metrics against independent implementations, and on cases whose answer is known."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import mannwhitneyu, pearsonr

from neurowhere.evaluate.metrics import (
    as_densities,
    correlations,
    likelihood_matrix,
    overlaps,
    recalls,
    share_held,
    term_scores,
    total_variation,
)


@pytest.fixture
def maps():
    return np.random.default_rng(0).random((300, 40))


def test_correlations_are_those_of_scipy(maps):
    other = maps[::-1] ** 2
    expected = [pearsonr(a, b).statistic for a, b in zip(maps, other)]
    np.testing.assert_allclose(correlations(maps, other), expected)


def test_a_large_constant_map_has_no_correlation():
    assert correlations(np.full((1, 7), 1 / 7, np.float32), np.eye(7)[:1]) == [0]


def test_overlap_counts_the_highest_voxels(maps):
    other = np.random.default_rng(1).random(maps.shape)
    found = overlaps(maps, other, 0.1)
    for mine, theirs, value in zip(maps, other, found):
        a, b = (set(np.argsort(each)[-4:]) for each in (mine, theirs))
        assert value == pytest.approx(2 * len(a & b) / 8)


def test_voxels_without_density_are_not_among_the_highest_of_a_study():
    target = np.zeros((1, 10))
    target[0, 3] = 1
    prediction = np.zeros((1, 10))
    prediction[0, [3, 4]] = 2, 1
    assert overlaps(prediction, target, 0.2) == pytest.approx(2 / 3)


def test_maps_with_nan_and_below_zero_become_densities():
    found = as_densities(np.array([[np.nan, 2.0, -1.0, 2.0]]))
    np.testing.assert_allclose(found, [[0, 0.5, 0, 0.5]])


def test_each_study_weighs_the_same_in_the_share_held():
    levels = np.array([0.1, 0.9, 0.9, 0.2])
    study = np.array([0, 0, 0, 1])
    assert share_held(levels, study, np.array([0.5, 0.5])) == pytest.approx((1 / 3 + 1) / 2)
    assert share_held(levels, study, np.array([0.95, 0.1])) == pytest.approx(0.5)


def test_areas_of_terms_are_those_of_scipy():
    rng = np.random.default_rng(0)
    scores, mentioned = rng.integers(0, 9, (6, 50)).astype(float), rng.random((6, 50)) < 0.3
    pairs = [(row[has], row[~has]) for row, has in zip(scores, mentioned)]
    areas = [mannwhitneyu(a, b).statistic / (len(a) * len(b)) for a, b in pairs]
    assert term_scores(scores, mentioned).term_auc == pytest.approx(np.mean(areas))


def test_terms_that_tell_are_above_the_null_and_noise_is_not():
    rng = np.random.default_rng(0)
    mentioned = rng.random((40, 200)) < 0.2
    told = term_scores(mentioned + 0.1 * rng.random(mentioned.shape), mentioned)
    noise = term_scores(rng.random(mentioned.shape), mentioned)
    assert (told.term_auc, told.terms_above_null, told.terms) == (1, 1, 40)
    assert noise.terms_above_null < 0.2
    assert noise.term_auc_null < 0.55 < told.term_auc


def test_equal_scores_give_the_recall_of_chance():
    table = recalls(np.zeros((50, 50)))
    assert table["text to coordinates, recall at 1"] == pytest.approx(1 / 50)
    assert table["coordinates to text, recall at 10"] == pytest.approx(10 / 50)
    assert table["text to coordinates, mix and match"] == pytest.approx(0.5)


def test_the_area_is_the_mean_of_recall_over_all_ranks():
    scores = np.random.default_rng(0).random((30, 30))
    better = (scores > np.diagonal(scores)[:, None]).sum(axis=1)
    curve = [(better < k).mean() for k in range(1, 31)]
    assert recalls(scores)["text to coordinates, AUC"] == pytest.approx(np.mean(curve))


def test_scores_are_means_over_the_peaks_of_each_study():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(7), 4)
    study, region = np.array([0, 0, 1, 2, 2, 2, 3]), rng.integers(7, size=7)
    scores = likelihood_matrix(q, study, region, 7.0)
    for i, j in np.ndindex(4, 4):
        expected = np.mean([np.log(0.5 + 0.5 * 7 * q[i, k]) for k in region[study == j]])
        np.testing.assert_allclose(scores[i, j], expected, rtol=1e-5)


def test_recall_counts_the_rivals_before_ones_own():
    scores = np.array([[3.0, 1.0, 0.0], [2.0, 0.5, 0.0], [9.0, 0.0, 1.0]])
    table = recalls(scores)
    assert table["coordinates to text, recall at 1"] == 1 / 3
    assert table["coordinates to text, recall at 10"] == 1.0
    # Three studies: 2, 1 and 0 rivals before their own text.
    assert table["coordinates to text, mix and match"] == 1 - (1 + 1 + 0) / 3 / 2


def test_chance_is_one_half_of_mix_and_match():
    scores = np.random.default_rng(0).normal(size=(400, 400))
    table = recalls(scores)
    assert abs(table["text to coordinates, mix and match"] - 0.5) < 0.03
    assert abs(table["text to coordinates, recall at 10"] - 10 / 400) < 0.03


@pytest.mark.parametrize("n", [40, 300])
def test_recall_of_a_pool_is_that_of_random_pools(n):
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=(n, n)) + 2 * np.eye(n)).round(1)  # with ties
    names = ["text to coordinates, recall at 1", "text to coordinates, recall at 10"]
    names += ["text to coordinates, AUC", "coordinates to text, mix and match"]
    drawn = [
        recalls(scores[np.ix_(some, some)])
        for some in (rng.permutation(n)[:20] for _ in range(400))
    ]
    expected = recalls(scores, pool=20)
    for name in names:
        assert expected[name] == pytest.approx(np.mean([each[name] for each in drawn]), abs=0.02)


@pytest.fixture
def matcher(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("matcher")


def test_coordinates_that_any_text_likes_do_not_win(matcher):
    scores = np.eye(5) + np.array([9.0, 0, 0, 0, 0])
    assert recalls(scores)["text to coordinates, recall at 1"] == 1 / 5
    assert recalls(matcher.combine(scores))["text to coordinates, recall at 1"] == 1.0


def test_hubs_are_set_back(matcher):
    scores = np.eye(30) + np.random.default_rng(0).normal(0, 0.05, (30, 30))
    scores[:, 3] += 1.4  # near to every text
    assert recalls(scores)["text to coordinates, recall at 1"] < 0.1
    assert recalls(matcher.without_hubs(scores))["text to coordinates, recall at 1"] == 1.0
    other_way = matcher.without_hubs(scores.T)
    assert recalls(other_way)["coordinates to text, recall at 1"] == 1.0


def test_a_matcher_finds_what_texts_and_densities_share(matcher):
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(900, 3))
    texts = np.hstack([shared, rng.normal(size=(900, 4))])
    densities = (shared @ rng.normal(size=(3, 250)) + 8 + rng.normal(size=(900, 250))) ** 2
    fitted = matcher.Matcher.fit(texts[:700], densities[:700])
    scores = fitted.scores(texts[700:], densities[700:])
    assert recalls(scores)["coordinates to text, recall at 10"] > 0.9
    shuffled = scores[rng.permutation(200)]
    assert recalls(shuffled)["coordinates to text, recall at 10"] < 0.15


SHARES = arrays(np.float64, (7, 8), elements=st.floats(0, 1 / 8))


@given(SHARES, SHARES)
def test_total_variation_is_a_distance_between_distributions(p, q):
    distances = total_variation(p, q)
    assert ((distances >= 0) & (distances <= 1 + 1e-12)).all()
    np.testing.assert_allclose(distances, total_variation(q, p))
    np.testing.assert_array_equal(total_variation(p, p), 0)


@given(SHARES, SHARES)
def test_total_variation_is_the_largest_difference_of_any_event(p, q):
    with_background = [np.c_[1 - rows.sum(axis=1), rows] for rows in (p, q)]
    differences = with_background[0] - with_background[1]
    largest = np.where(differences > 0, differences, 0).sum(axis=1)
    np.testing.assert_allclose(total_variation(p, q), largest, atol=1e-12)


def test_total_variation_of_disjoint_distributions_is_one():
    assert total_variation(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])) == [1]
    nothing_covered = np.zeros((1, 2))
    assert total_variation(nothing_covered, np.array([[0.5, 0.5]])) == [1]
