import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.exceptions import FitError
from neurowhere.learn import shuffle_split


@given(
    st.lists(st.integers(0, 40), min_size=30, max_size=120).filter(lambda g: len(set(g)) >= 10),
    st.integers(0, 99),
    st.integers(0, 5),
)
def test_every_study_is_on_one_side_and_no_group_on_both(groups, fold, seed):
    groups = np.array(groups)
    train, test = shuffle_split(groups, fold, seed=seed)
    assert sorted([*train, *test]) == list(range(len(groups)))
    assert not set(groups[train]) & set(groups[test])
    assert len(set(groups[test])) == round(0.1 * len(set(groups)))


def test_a_fold_depends_on_its_number_and_the_seed():
    groups = np.arange(1000)
    first = shuffle_split(groups, 3, seed=7)[1]
    np.testing.assert_array_equal(first, shuffle_split(groups, 3, seed=7)[1])
    for other in (shuffle_split(groups, 4, seed=7)[1], shuffle_split(groups, 3, seed=8)[1]):
        assert len(np.intersect1d(first, other)) < 30


def test_every_study_is_tested_about_as_often():
    tested = np.bincount(
        np.concatenate([shuffle_split(np.arange(200), fold)[1] for fold in range(300)]),
        minlength=200,
    )
    assert tested.sum() == 300 * 20
    assert 10 <= tested.min() <= tested.max() <= 55  # 30 expected, standard deviation 5.2


def test_recorded_splits():
    """Folds that results were computed on: other random numbers would make them void."""
    assert shuffle_split(np.arange(20), 3, seed=7)[1].tolist() == [5, 8]
    assert shuffle_split(np.arange(20), seed=7)[1].tolist() == [3, 8]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.99, 1.0])
def test_neither_side_is_empty(share):
    assert all(map(len, shuffle_split(np.arange(3), share=share)))


def test_one_study_cannot_be_split():
    with pytest.raises(FitError, match="at least 2 studies"):
        shuffle_split(np.array(["a", "a"]))
