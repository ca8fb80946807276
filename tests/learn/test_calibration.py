import numpy as np
import pytest

from neurowhere.learn import calibrate, mass_for, peak_levels


def sample(rng, n_studies=400, m=60, power=1.0):
    """Studies whose peaks are drawn from q to a power: sharper or blunter than predicted."""
    q = rng.dirichlet(np.full(m, 0.5), n_studies)
    true = q**power / (q**power).sum(axis=1, keepdims=True)
    study = np.repeat(np.arange(n_studies), 20)
    region = np.array([rng.choice(m, p=true[i]) for i in study])
    return q, study, region


def test_levels_of_peaks_drawn_from_the_prediction_are_uniform():
    rng = np.random.default_rng(0)
    q, study, region = sample(rng, m=2000, n_studies=200)
    levels = peak_levels(q, q, study, region)
    for share in (0.25, 0.5, 0.9):
        assert np.mean(levels < share) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_regions_of_calibrated_mass_hold_their_share(power):
    rng = np.random.default_rng(1)
    calibration = None
    for _ in range(2):  # calibrated on one sample, tried on another
        q, study, region = sample(rng, power=power)
        levels = peak_levels(q, q, study, region)
        if calibration is None:
            calibration = calibrate(levels, study)
            assert (np.diff(calibration) >= 0).all()
            continue
        for share in (0.5, 0.8, 0.95):
            held = np.mean(levels < mass_for(share, calibration))
            assert held == pytest.approx(share, abs=0.05)
            if power == 0.5:
                assert mass_for(share, calibration) > share


def test_each_study_weighs_the_same():
    levels = np.array([0.1] * 100 + [0.9])
    study = np.array([0] * 100 + [1])
    assert mass_for(0.51, calibrate(levels, study)) > 0.5


def test_uncovered_peaks_are_in_no_region():
    q = np.array([[0.5, 0.5]])
    assert peak_levels(q, q, np.array([0, 0]), np.array([-1, 0])).tolist() == [1.0, 0.0]
