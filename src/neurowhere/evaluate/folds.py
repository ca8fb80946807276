"""Shuffle-split folds: random test sets, each drawn anew, in which no group is divided."""

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import FitError

TEST_SHARE = 0.1


def shuffle_split(
    groups: NDArray[np.generic], fold: int, *, seed: int = 0, test_share: float = TEST_SHARE
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to train on and rows to test on, in increasing order.

    A fold depends on its number and on the seed alone: asking for more folds keeps those before.

    Parameters
    ----------
    groups : array of shape (n_studies,)
        Studies of one group, as those that share a PubMed id, are on the same side.
    fold : int
        Number of the fold, from 0.
    seed : int
    test_share : float
        Share of the groups that is tested on.

    Examples
    --------
    >>> train, test = shuffle_split(np.array([7, 7, 8, 9, 9]), 0, test_share=0.4)
    >>> train, test
    (array([0, 1, 2]), array([3, 4]))
    """
    distinct, index = np.unique(groups, return_inverse=True)
    n_test = round(test_share * len(distinct))
    if not 1 <= n_test < len(distinct):
        raise FitError(
            f"expected studies to train and to test on; {test_share:.0%} of {len(distinct)} "
            f"leaves {n_test} to test on: give more studies"
        )
    order = np.random.default_rng([seed, fold]).permutation(len(distinct))
    tested = np.zeros(len(distinct), dtype=bool)
    tested[order[:n_test]] = True
    return np.flatnonzero(~tested[index]), np.flatnonzero(tested[index])
