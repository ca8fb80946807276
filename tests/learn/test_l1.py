import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from tests.learn.problems import KINDS, centred, exact_l1, random_problem

from neurowhere.exceptions import ConvergenceWarning, FitError
from neurowhere.learn import Design, collect, l1_blocks
from neurowhere.learn.l1 import l1_dual_lbfgs

TIGHT = 1e-6


def fit(X, Y, lambdas, **options):
    options = {"tolerance": TIGHT, "max_iterations": 20_000, "n_jobs": 1} | options
    blocks = l1_blocks(Design(X), lambda regions: Y[:, regions], Y.shape[1], lambdas, **options)
    return collect(blocks, Y.shape[1])


@pytest.mark.parametrize("lam", [10.0, 0.5, 0.02])
@pytest.mark.parametrize("kind", KINDS)
def test_matches_an_exact_solver(kind, lam):
    X, Y = random_problem(kind)
    solution = fit(X, Y, [lam])
    Xc, Yc = centred(X, Y)
    exact = [exact_l1(Xc, y, lam) for y in Yc.T]
    optimum = sum(value for _, value in exact)
    assert solution.certificate.dual <= optimum + 1e-6
    assert optimum - 1e-6 <= solution.certificate.primal <= optimum * (1 + TIGHT) + 1e-6
    # P is 2λ-strongly convex, so λ‖β − β*‖² ≤ P(β) − P*.
    distance2 = sum(np.sum((b - s) ** 2) for (b, _), s in zip(exact, solution.coefficients.T))
    assert lam * distance2 <= 2 * TIGHT * optimum + 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_reference_matches_an_exact_solver(kind):
    X, Y = random_problem(kind)
    Xc, Yc = centred(X, Y)
    coefficients, certificates = l1_dual_lbfgs(Design(X), Y[:, 0], [5.0, 0.5], tolerance=1e-6)
    for lam, beta, certificate in zip([5.0, 0.5], coefficients, certificates):
        exact, optimum = exact_l1(Xc, Yc[:, 0], lam)
        assert certificate.relative_gap <= 1e-6
        assert certificate.primal == pytest.approx(optimum, rel=1e-5, abs=1e-6)
        np.testing.assert_allclose(beta, exact, atol=2e-2)


def test_satisfies_the_optimality_conditions():
    """2λβ = X̃ᵀν with ν = sign of the residual where there is one, and |ν| ≤ 1 elsewhere."""
    X, Y = random_problem("tall", n_regions=3)
    lam = 0.5
    solution = fit(X, Y, [lam], tolerance=1e-6)
    Xc, Yc = centred(X, Y)
    for y, beta in zip(Yc.T, solution.coefficients.T.astype(float)):
        residual = y - Xc @ beta
        zero = np.abs(residual) < 1e-2
        assert 0 < zero.sum() <= X.shape[1]
        unexplained = 2 * lam * beta - Xc[~zero].T @ np.sign(residual[~zero])
        free = lsq_linear(Xc[zero].T, unexplained, bounds=(-1, 1))
        assert np.sqrt(2 * free.cost) < 1e-2 * np.linalg.norm(2 * lam * beta)


@given(
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    lam=st.floats(1e-3, 1e3),
    iterations=st.integers(1, 40),
)
@settings(max_examples=50, deadline=None)
@pytest.mark.filterwarnings("ignore::neurowhere.exceptions.ConvergenceWarning")
def test_dual_never_exceeds_primal(seed, kind, lam, iterations):
    X, Y = random_problem(kind, n_regions=3, seed=seed)
    certificate = fit(X, Y, [lam], max_iterations=iterations, tolerance=0.0).certificate
    assert certificate.dual <= certificate.primal


def test_any_block_size_and_number_of_threads_give_the_same_within_tolerance():
    X, Y = random_problem("tall", n_regions=23)
    whole = fit(X, Y, [1.0, 0.3], block_size=64)
    for block_size, n_jobs in [(1, 1), (5, 2), (7, 4)]:
        parts = fit(X, Y, [1.0, 0.3], block_size=block_size, n_jobs=n_jobs)
        np.testing.assert_allclose(parts.coefficients, whole.coefficients, atol=5e-3)
        assert parts.certificate.relative_gap <= TIGHT
    again = fit(X, Y, [1.0, 0.3], block_size=5, n_jobs=1)
    np.testing.assert_array_equal(
        again.coefficients, fit(X, Y, [1.0, 0.3], block_size=5, n_jobs=3).coefficients
    )


def test_warm_started_path_ends_where_a_cold_start_does():
    X, Y = random_problem("tall")
    path = fit(X, Y, [30.0, 3.0, 0.3])
    alone = fit(X, Y, [0.3])
    assert path.certificate.primal == pytest.approx(alone.certificate.primal, rel=2 * TIGHT)


def test_scaling_targets_and_penalty_together_changes_nothing_but_the_unit():
    X, Y = random_problem("tall")
    small, large = fit(X, Y, [0.5]), fit(X, 1e4 * Y, [0.5e-4])
    np.testing.assert_allclose(large.coefficients, 1e4 * small.coefficients, atol=200)


def test_stopping_early_warns_and_names_the_parameter():
    X, Y = random_problem("tall")
    with pytest.warns(ConvergenceWarning, match="max_iterations"):
        fit(X, Y, [0.01], max_iterations=5)


@pytest.mark.parametrize("lambdas", [[], [0.0], [1.0, 2.0], [-1.0]])
def test_refuses_a_path_that_is_not_decreasing_and_positive(lambdas):
    X, Y = random_problem("tall")
    with pytest.raises(FitError, match="decreasing path"):
        fit(X, Y, lambdas)


class StoppedError(Exception):
    pass


def test_goes_on_from_finished_blocks(tmp_path):
    X, Y = random_problem("tall", n_regions=12)
    asked = []

    def targets(regions, stop=12):
        asked.append(regions.start)
        if regions.start >= stop:
            raise StoppedError
        return Y[:, regions]

    options = {"block_size": 2, "n_jobs": 1, "tolerance": TIGHT, "checkpoint": tmp_path / "fit"}
    with pytest.raises(StoppedError):
        list(l1_blocks(Design(X), lambda r: targets(r, stop=6), 12, [0.5], **options))
    damaged = sorted((tmp_path / "fit").glob("*.npz"))[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    asked.clear()
    resumed = collect(l1_blocks(Design(X), targets, 12, [0.5], **options), 12)
    # The first slice is asked for to recognise the problem, and again since its block is damaged.
    assert asked == [0, 0, 6, 8, 10]
    np.testing.assert_array_equal(resumed.coefficients, fit(X, Y, [0.5], block_size=2).coefficients)


def test_refuses_the_blocks_of_another_problem(tmp_path):
    X, Y = random_problem("tall")
    fit(X, Y, [0.5], checkpoint=tmp_path)
    with pytest.raises(FitError, match="another fit"):
        fit(X, Y, [0.4], checkpoint=tmp_path)
