"""Metrics against independent implementations, and on cases whose answer is known."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, pearsonr

from neurowhere.evaluate.metrics import (
    as_densities,
    correlations,
    overlaps,
    recalls,
    share_held,
    term_scores,
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
    assert term_scores(scores, mentioned).auc == pytest.approx(np.mean(areas))


def test_terms_that_tell_are_above_the_null_and_noise_is_not():
    rng = np.random.default_rng(0)
    mentioned = rng.random((40, 200)) < 0.2
    told = term_scores(mentioned + 0.1 * rng.random(mentioned.shape), mentioned)
    noise = term_scores(rng.random(mentioned.shape), mentioned)
    assert (told.auc, told.above, told.n_terms) == (1, 1, 40)
    assert noise.above < 0.2
    assert noise.null < 0.55 < told.auc


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
