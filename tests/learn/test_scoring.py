import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.learn import Peaks, PeakScorer, nats_above_uniform, score_studies

VOLUMES, BRAIN = np.array([1.0, 2.0, 5.0]), 10.0  # 2 of it uncovered


def test_half_uniform_density_integrates_to_one():
    volumes = np.array([10.0, 30.0, 5.0])
    total = 60.0  # 15 of it uncovered, where the probability is 0
    probability = np.array([0.5, 0.2, 0.3])
    relative = np.append(probability / volumes, 0.0) * total
    log_density = nats_above_uniform(relative, np.arange(4), 4) - np.log(total)
    assert np.exp(log_density) @ np.append(volumes, 15.0) == pytest.approx(1)


def test_a_study_without_peaks_has_no_score():
    scores = nats_above_uniform(np.ones(3), np.array([0, 0, 2]), 3)
    np.testing.assert_array_equal(scores, [0, np.nan, 0])


@given(seed=st.integers(0, 10**6), chunk=st.integers(1, 9))
def test_scores_are_those_of_a_loop_over_peaks_in_any_order_and_any_chunks(seed, chunk):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(3), 8)
    peaks = Peaks(rng.integers(0, 8, 20), rng.integers(-1, 3, 20), 8)
    logs = [[] for _ in q]
    for study, region in zip(peaks.study, peaks.region):
        density = q[study, region] / VOLUMES[region] if region >= 0 else 0.0
        logs[study].append(np.log(BRAIN * (1 / BRAIN + density) / 2))
    expected = [np.mean(each) if each else np.nan for each in logs]
    stream = (q[start : start + chunk] for start in range(0, 8, chunk))
    np.testing.assert_allclose(score_studies(stream, peaks, BRAIN / VOLUMES), expected)


def test_the_uniform_density_scores_zero_everywhere():
    peaks = Peaks(np.zeros(4, int), np.array([0, 1, 2, -1]), 1)
    scorer = PeakScorer(peaks, BRAIN / VOLUMES, uncovered=1.0)
    scorer.add(np.array([VOLUMES / BRAIN]))
    assert scorer.nats == pytest.approx([0])
