import numpy as np
import pytest
import scipy.sparse as sp

from neurowhere.learn import Gates, LogLinear
from neurowhere.learn.exponent import LESS_SHORT, MORE_LONG, N_LONG, N_SHORT, lift


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


def test_a_structure_that_is_outweighed_becomes_visible():
    mean = np.full(6, 1 / 6)
    q = np.array([0.7, 0.1, 0.05, 0.05, 0.05, 0.05], np.float32)
    cores = sp.csr_matrix(np.array([[1, 0.5, 0, 0, 0, 0], [0, 0, 1, 0.5, 0, 0]], np.float32))
    before = q.copy()
    added = lift(q, cores, np.log([2.5, 2.5]), mean).toarray()
    assert q.sum() == pytest.approx(1, abs=1e-6)
    assert q[2] > 1.8 * mean[2] > before[2]
    assert added[0].max() < 0.1 < added[1].max()  # the first was visible all along
    moved = np.log(q / before)
    assert np.ptp(moved - added.sum(axis=0)) < 1e-4  # exact, but for what makes it sum to 1


def test_what_is_visible_stays_as_it_is():
    q = np.array([0.5, 0.25, 0.25], np.float32)
    before = q.copy()
    added = lift(q, sp.csr_matrix([[1.0, 0, 0]]), np.array([np.log(1.4)]), np.full(3, 1 / 3))
    np.testing.assert_array_equal(q, before)
    assert not added.toarray().any()


def test_only_so_many_cores_are_kept(monkeypatch):
    """A server that reads for weeks meets every name there is."""
    monkeypatch.setattr("neurowhere.learn.predictor.N_CORES", 2)
    rng = np.random.default_rng(0)
    loadings, components = rng.normal(size=(5, 2)), rng.normal(size=(2, 7))
    fit = LogLinear(np.full(7, 1 / 7), loadings.astype("f4"), components.astype("f4"))
    alone = [fit._find_cores([term])[0] for term in range(5)]
    assert 1 <= len(fit._cores) <= 2
    together = fit._find_cores([3, 1, 4, 3, 0])
    assert 1 <= len(fit._cores) <= 2
    for term, core in zip([3, 1, 4, 3, 0], together, strict=True):
        for one, other in zip(core, alone[term], strict=True):
            np.testing.assert_array_equal(one, other)
