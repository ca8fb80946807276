import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.evaluate.folds import shuffle_split
from neurowhere.exceptions import FitError


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


def test_too_few_studies_is_an_error():
    with pytest.raises(FitError, match="10% of 3 leaves 0 to test on"):
        shuffle_split(np.arange(3), 0)
