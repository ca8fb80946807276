"""The regression against ordinary least squares, and in simulations whose answer is known."""

import numpy as np
import pytest
from scipy import stats

from neurowhere.contrast.regression import (
    PRIOR,
    QUANTILE,
    WITHOUT_DISCOVERY,
    calibrate,
    discoveries,
    fit_groups,
    half_width,
    likely_members,
    log_response,
    orthonormal,
    partial_out,
    share_by_chance,
    stretch,
    t_tests,
)


@pytest.fixture
def setting():
    """Documents whose responses follow from covariates, with a group that they predict."""
    rng = np.random.default_rng(0)
    n, m = 400, 5
    covariates = np.column_stack([np.ones(n), rng.normal(size=(n, 6)), rng.random((n, 2)) < 0.3])
    group = (rng.random(n) < 1 / (1 + np.exp(2 - covariates[:, 1]))).astype(float)
    noise = rng.normal(size=(n, m)) * (1 + group[:, None])  # more in the group
    y = covariates @ rng.normal(size=(9, m)) + 0.5 * group[:, None] + noise
    return covariates, group, y


def fit(covariates, groups, y, active=None, *, adjusted=False):
    """Fit as a contrast does, from sums."""
    basis = covariates @ orthonormal(covariates.T @ covariates)
    left = y - basis @ (basis.T @ y)
    active = groups > 0 if active is None else active
    own = likely_members(basis, groups) if adjusted else None
    parted = partial_out(basis, groups, active, own)
    inside, on_own = parted.inside, parted.own_inside
    weights = (groups, parted.own, inside**3, inside**2 * on_own)
    linear, shared, cube, mixed = (weight.T @ left for weight in weights)
    sums = linear, shared, (inside**2).T @ left**2, cube, mixed
    usual = (left**2).sum(axis=0) / (len(y) - basis.shape[1])
    fits = fit_groups(parted, sums, usual)
    return fits.effect, fits.variance, parted, usual


def least_squares(covariates, group, y):
    """β, its robust variance (White, HC0) and residual variances, by solving for all at once."""
    x = np.column_stack([covariates, group])
    solution = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = y - x @ solution
    inverse = np.linalg.pinv(x.T @ x)
    robust = [(inverse @ (x.T * e**2) @ x @ inverse)[-1, -1] for e in residual.T]
    return solution[-1], np.array(robust), residual


def test_the_basis_is_orthonormal_and_spans_the_covariates_whatever_their_scale(setting):
    covariates = setting[0] * np.array([1, 1e4, 1e-4, 1, 1, 1, 1, 1, 1])
    repeated = np.column_stack(
        [covariates, covariates[:, 1] + covariates[:, 2], 0 * covariates[:, 0]]
    )
    basis = repeated @ orthonormal(repeated.T @ repeated)
    assert basis.shape[1] == 9
    np.testing.assert_allclose(basis.T @ basis, np.eye(9), atol=1e-9)
    np.testing.assert_allclose(basis @ (basis.T @ covariates), covariates, rtol=1e-6, atol=1e-6)


def test_effects_are_those_of_least_squares_with_all_covariates(setting):
    covariates, group, y = setting
    effect = fit(covariates, group[:, None], y)[0]
    np.testing.assert_allclose(effect[0], least_squares(covariates, group, y)[0], rtol=1e-8)


def test_with_all_documents_active_the_variance_is_the_robust_one_but_for_the_prior(setting):
    covariates, group, y = setting
    everyone = np.ones((len(y), 1), dtype=bool)
    _, variance, parted, usual = fit(covariates, group[:, None], y, everyone)
    n, s = parted.n[0], parted.s[0]
    robust = least_squares(covariates, group, y)[1] * n / (n - 1)
    expected = (n * robust + PRIOR * usual / s) / (n + PRIOR)
    np.testing.assert_allclose(variance[0], expected, rtol=1e-8)


def test_a_covariate_of_the_group_s_own_is_one_more_column(setting):
    covariates, group, y = setting
    basis = covariates @ orthonormal(covariates.T @ covariates)
    everyone = np.ones((len(y), 1), dtype=bool)
    own = likely_members(basis, group[:, None])
    beside = np.column_stack([covariates, own])
    effect, variance, parted, usual = fit(covariates, group[:, None], y, everyone, adjusted=True)
    expected, robust, _ = least_squares(beside, group, y)
    np.testing.assert_allclose(effect[0], expected, rtol=1e-8)
    n, s = parted.n[0], parted.s[0]
    expected = (n * robust * n / (n - 1) + PRIOR * usual / s) / (n + PRIOR)
    np.testing.assert_allclose(variance[0], expected, rtol=1e-8)


def test_likely_members_are_documents_of_the_kind_of_the_group_and_not_its_members():
    rng = np.random.default_rng(8)
    n = 2000
    kind = rng.normal(size=n)
    basis = np.column_stack([np.ones(n), kind])
    basis = basis @ orthonormal(basis.T @ basis)
    group = (rng.random(n) < 0.1 * (kind > 1)).astype(float)
    own = likely_members(basis, group[:, None])[:, 0]
    assert abs(np.count_nonzero(own) - 200) <= 1
    assert kind[own > 0].min() > np.quantile(kind, 0.85)
    alone = basis[:, :1] / np.linalg.norm(basis[:, 0])  # nothing is known of the documents
    own = likely_members(alone, group[:, None])[:, 0]
    assert abs(np.corrcoef(own, group)[0, 1]) < 0.1
    assert not likely_members(basis[:399], group[:399, None]).any()  # too few to tell


def test_membership_that_is_not_linear_in_the_covariates_makes_no_discoveries():
    """The few documents of one kind make up the group, and responses bend there."""
    rng = np.random.default_rng(9)
    n, m, n_groups = 3000, 30, 100
    kind = rng.normal(size=n)
    y = np.maximum(kind - 1.3, 0)[:, None] + rng.normal(size=(n, m))
    p = 1 / (1 + np.exp(6 - 3 * kind))
    groups = (rng.random((n, n_groups)) < p[:, None]).astype(float)
    covariates = np.column_stack([np.ones(n), kind])
    for adjusted, least, most in ((False, 0.9, 1.0), (True, 0.0, 0.1)):
        effect, variance, parted, _ = fit(covariates, groups, y, adjusted=adjusted)
        found = discoveries(t_tests(effect, variance, parted.n).p_values)
        assert least <= found.mean() <= most


def test_documents_outside_of_the_group_may_be_taken_to_be_usual(setting):
    covariates, group, y = setting
    few = np.where(np.arange(len(y)) % 4 == 0, group, 0.0)
    everyone = np.ones((len(y), 1), dtype=bool)
    short, whole = (fit(covariates, few[:, None], y, active)[1] for active in (None, everyone))
    np.testing.assert_allclose(short, whole, rtol=0.1)


def test_a_second_group_as_a_covariate_gives_the_difference_of_two_means():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(90, 4))
    first, second = (np.arange(90) < 20) * 1.0, ((np.arange(90) >= 20) & (np.arange(90) < 60)) * 1.0
    covariates = np.column_stack([np.ones(90), first + second])
    active = (first + second > 0)[:, None]
    effect = fit(covariates, first[:, None], y, active)[0]
    np.testing.assert_allclose(effect[0], y[:20].mean(axis=0) - y[20:60].mean(axis=0), rtol=1e-9)


def test_the_error_is_held_and_effects_are_found():
    """Groups that a covariate predicts: without it all are discoveries, with it 5 % at most."""
    rng = np.random.default_rng(2)
    n, m, n_groups = 1000, 40, 120
    kind = rng.normal(size=n)
    y = kind[:, None] + rng.normal(size=(n, m))
    p = 1 / (1 + np.exp(3 - kind))
    groups = (rng.random((n, n_groups)) < p[:, None]).astype(float)
    for covariates, least, most in (
        (np.ones((n, 1)), 0.95, 1.0),
        (np.column_stack([np.ones(n), kind]), 0.0, 0.1),
    ):
        effect, variance, parted, _ = fit(covariates, groups, y)
        found = discoveries(t_tests(effect, variance, parted.n).p_values)
        assert least <= found.mean() <= most
    effect, variance, parted, _ = fit(
        covariates, groups[:, :1], y + groups[:, :1] * (np.arange(m) < 4)
    )
    tested = t_tests(effect, variance, parted.n)
    passing = stats.false_discovery_control(tested.p_values[0]) <= 0.05
    assert passing[:4].all()
    assert passing[4:].sum() <= 2
    assert (tested.t[0, :4] > 0).all()


def test_intervals_cover_effects():
    rng = np.random.default_rng(3)
    kind = rng.normal(size=800)
    covariates = np.column_stack([np.ones(800), kind])
    groups = (rng.random((800, 200)) < 0.06).astype(float)
    y = kind[:, None] + rng.exponential(size=(800, 30))
    effect, variance, parted, _ = fit(covariates, groups, y)
    assert 0.93 < np.mean(np.abs(effect) <= half_width(variance, parted.n)) < 0.98


def test_calibration_is_the_smallest_that_makes_the_quantile_that_of_chi_square():
    rng = np.random.default_rng(4)
    variance = rng.uniform(0.5, 1.5, (300, 3))
    effect = rng.normal(size=variance.shape) * np.sqrt(variance + np.array([0, 1, 4]))
    extra = calibrate(effect, variance)
    np.testing.assert_allclose(extra, [0, 1, 4], atol=0.9)
    for k in (1, 2):
        squares = effect[:, k] ** 2 / (variance[:, k] + extra[k])
        share = np.mean(squares <= stats.chi2.ppf(QUANTILE, 1))
        assert abs(share - QUANTILE) < 0.01


def test_stretched_errors_leave_a_discovery_to_one_in_twenty_five():
    rng = np.random.default_rng(7)
    n = rng.uniform(25, 700, 500)
    effect = rng.standard_t(4, (500, 60))  # heavier tails than the test takes them to have
    kappa = stretch(effect, np.ones_like(effect), n)
    assert kappa > 1.2
    found = discoveries(t_tests(effect, np.full_like(effect, kappa**2), n).p_values)
    assert abs(found.mean() - (1 - WITHOUT_DISCOVERY)) < 0.005
    assert stretch(effect * 0.1, np.ones_like(effect), n) == 1


def test_the_share_by_chance_is_held_by_calibration_with_other_words():
    rng = np.random.default_rng(5)
    variance, n = np.ones((400, 30)), np.full(400, 100.0)
    effect = rng.normal(size=variance.shape) * 2
    assert share_by_chance(effect, variance, n, calibrated=False) > 0.8
    assert share_by_chance(effect, variance, n, calibrated=True) < 0.1


def test_discoveries_are_those_of_scipy():
    p_values = np.random.default_rng(6).random((50, 20)) ** 3
    expected = stats.false_discovery_control(p_values, axis=1).min(axis=1) <= 0.05
    assert np.array_equal(discoveries(p_values), expected)


def test_the_response_is_finite_where_nothing_is_said():
    np.testing.assert_allclose(log_response(np.array([0.0, 1.0, 3.0])), np.log([0.15, 1.0, 2.7]))
