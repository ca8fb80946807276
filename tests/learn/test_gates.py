import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.learn import Gates, LogLinear
from neurowhere.learn.exponent import LESS_SHORT, MORE_LONG, N_LONG, N_SHORT, Core, give_shares


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


def test_structures_have_a_share_and_what_they_add_is_exact():
    q = np.array([0.7, 0.1, 0.05, 0.05, 0.05, 0.05], np.float32)
    before = q.copy()
    shares = [(np.array([0, 1]), [0.4, 0.1]), (np.array([1, 2]), [0.2, 0.3])]
    added = np.zeros((2, 6))
    steps = give_shares(q, [(regions, np.float32(share)) for regions, share in shares])
    for (regions, had), row in zip(steps, added):
        row[regions] = np.log(q[regions] / had)
    np.testing.assert_allclose(q, np.array([1.1, 0.4, 0.35, 0.05, 0.05, 0.05]) / 2, rtol=1e-6)
    assert added[1].tolist() == pytest.approx([0, np.log(2), np.log(7), 0, 0, 0])
    moved = np.log(q / before)
    assert np.ptp(moved - added.sum(axis=0)) < 1e-5  # exact, but for what makes it sum to 1


def test_a_core_moves_to_the_side_of_its_structure():
    core = Core.of(np.float32([2, 2, 0, 0]), np.full(4, 0.25))
    sides = np.array([1, -1, 1, -1])
    assert core.regions.tolist() == [0, 1]
    both, left = core.on_side(0, sides), core.on_side(1, sides)
    np.testing.assert_array_equal(both, core.probabilities)
    assert left.tolist() == pytest.approx([core.probabilities.sum(), 0])


def test_cores_of_some_terms_are_those_of_each():
    rng = np.random.default_rng(0)
    loadings, components = rng.normal(size=(9, 2)), rng.normal(size=(2, 7))
    fit = LogLinear(np.full(7, 1 / 7), loadings.astype("f4"), components.astype("f4"))
    for term, core in zip([3, 1, 4, 3, 0, 8, 7, 2], fit.cores(np.array([3, 1, 4, 3, 0, 8, 7, 2]))):
        (alone,) = fit.cores(np.array([term]))
        np.testing.assert_array_equal(core.regions, alone.regions)
        np.testing.assert_allclose(core.probabilities, alone.probabilities, rtol=1e-5)
