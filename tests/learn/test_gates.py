import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.learn import Gates
from neurowhere.learn.exponent import LESS_SHORT, MORE_LONG, N_LONG, N_SHORT


def opening(n, extra=0):
    x = sp.csr_matrix(np.ones((1, n + extra)))
    return Gates(np.arange(n + extra) >= n).of(x)


def test_a_text_of_extra_words_alone_is_as_short_as_can_be():
    short, long = opening(0, extra=4)
    assert (short[0], long[0]) == (1, 0)
    assert opening(0, extra=4).sharpness[0] == pytest.approx(1 - LESS_SHORT)


def test_gates_are_half_open_where_they_say():
    assert opening(int(N_SHORT)).short[0] == pytest.approx(0.5)
    assert opening(int(N_LONG)).long[0] == pytest.approx(0.5)


def test_gates_change_steadily_with_the_number_of_terms():
    some = [opening(n) for n in range(1, 400)]
    assert (np.diff([each.short[0] for each in some]) < 0).all()
    assert (np.diff([each.long[0] for each in some]) > 0).all()
    assert some[-1].sharpness[0] == pytest.approx(1 + MORE_LONG, abs=0.01)


def test_zeros_that_are_kept_are_no_terms():
    x = sp.csr_matrix(np.ones((2, 3)))
    x.data[:2] = 0
    np.testing.assert_allclose(
        Gates(np.zeros(3, bool)).of(x).short, [N_SHORT / (N_SHORT + 1), N_SHORT / (N_SHORT + 3)]
    )
