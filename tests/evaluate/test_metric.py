import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from neurowhere.evaluate import paired_difference, total_variation

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


def test_without_overlap_the_interval_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 9))
    difference = paired_difference(first, second, test_share=0.0)
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert difference.low == pytest.approx(expected.low)
    assert difference.high == pytest.approx(expected.high)
    assert difference.mean == pytest.approx((first - second).mean())
    assert difference.share_above == np.mean(first > second)


def test_overlapping_training_sets_widen_the_interval_as_nadeau_and_bengio_say():
    differences = np.array([1.0, 2.0, 4.0, 5.0])
    corrected = paired_difference(differences, np.zeros(4), test_share=0.1)
    plain = paired_difference(differences, np.zeros(4), test_share=0.0)
    ratio = (corrected.high - corrected.mean) / (plain.high - plain.mean)
    assert ratio == pytest.approx(np.sqrt((1 / 4 + 1 / 9) / (1 / 4)))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_folds_have_no_interval(n):
    difference = paired_difference(np.ones(n), np.zeros(n), test_share=0.1)
    assert np.isnan([difference.low, difference.high]).all()
    assert difference.folds == n
