import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.learn.problems import random_problem

from neurowhere.learn import (
    Design,
    Peaks,
    choose,
    collect,
    l1_blocks,
    shuffle_split,
    to_probabilities,
)


@given(seed=st.integers(0, 10**6), sharpness=st.floats(0.1, 100))
def test_probabilities_sum_to_one_and_are_not_negative(seed, sharpness):
    rng = np.random.default_rng(seed)
    mean, deviations = rng.random(7), rng.normal(size=(4, 7))
    probabilities = to_probabilities(mean, deviations, sharpness)
    assert probabilities.min() >= 0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


def test_chooses_what_a_slow_computation_scores_best():
    X, Y = random_problem("tall", n_regions=9)
    fit_rows, held = shuffle_split(np.arange(40), share=0.25, seed=1)
    rng = np.random.default_rng(0)
    peaks = Peaks(rng.integers(0, len(held), 50), rng.integers(-1, 9, 50), len(held))
    volumes = rng.uniform(1, 3, 9)
    lambdas, sharpness = [5.0, 0.5], [0.5, 2.0, 8.0]
    design = Design(X[fit_rows])

    def blocks():
        return l1_blocks(design, lambda r: Y[fit_rows, r], 9, lambdas, block_size=4, n_jobs=1)

    choice = choose(blocks(), lambdas, design, X[held], peaks, 25.0 / volumes, sharpness=sharpness)
    slow = np.empty((2, 3))
    for i, j in np.ndindex(2, 3):
        model = collect(blocks(), 9, i)
        moved = (X[held].toarray() - design.mean) @ model.coefficients
        moved[X[held].getnnz(axis=1) == 0] = 0
        q = to_probabilities(model.mean, moved, sharpness[j])
        scores = [[] for _ in held]
        for study, region in zip(peaks.study, peaks.region):
            density = q[study, region] / volumes[region] if region >= 0 else 0.0
            scores[study].append(np.log(25.0 * 0.5 * (1 / 25.0 + density)))
        slow[i, j] = np.mean([np.mean(s) for s in scores if s])
    np.testing.assert_allclose(choice.scores, slow, atol=1e-5)
    best = np.unravel_index(slow.argmax(), slow.shape)
    assert (choice.penalty, choice.sharpness) == (lambdas[best[0]], sharpness[best[1]])
