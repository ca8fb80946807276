import numpy as np

from neurowhere.evaluate.metrics import Matcher, combine, likelihood_matrix, recalls, without_hubs


def test_scores_are_means_over_the_peaks_of_each_study():
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(7), 4)
    study, region = np.array([0, 0, 1, 2, 2, 2, 3]), rng.integers(7, size=7)
    scores = likelihood_matrix(q, study, region, 7.0)
    for i, j in np.ndindex(4, 4):
        expected = np.mean([np.log(0.5 + 0.5 * 7 * q[i, k]) for k in region[study == j]])
        np.testing.assert_allclose(scores[i, j], expected, rtol=1e-5)


def test_recall_counts_the_rivals_before_ones_own():
    scores = np.array([[3.0, 1.0, 0.0], [2.0, 0.5, 0.0], [9.0, 0.0, 1.0]])
    table = recalls(scores)
    assert table["coordinates to text, recall at 1"] == 1 / 3
    assert table["coordinates to text, recall at 10"] == 1.0
    # Three studies: 2, 1 and 0 rivals before their own text.
    assert table["coordinates to text, mix and match"] == 1 - (1 + 1 + 0) / 3 / 2


def test_coordinates_that_any_text_likes_do_not_win():
    scores = np.eye(5) + np.array([9.0, 0, 0, 0, 0])
    assert recalls(scores)["text to coordinates, recall at 1"] == 1 / 5
    assert recalls(combine(scores))["text to coordinates, recall at 1"] == 1.0


def test_hubs_are_set_back():
    scores = np.eye(30) + np.random.default_rng(0).normal(0, 0.05, (30, 30))
    scores[:, 3] += 1.4  # near to every text
    assert recalls(scores)["text to coordinates, recall at 1"] < 0.1
    assert recalls(without_hubs(scores))["text to coordinates, recall at 1"] == 1.0
    other_way = without_hubs(scores.T)
    assert recalls(other_way)["coordinates to text, recall at 1"] == 1.0


def test_a_matcher_finds_what_texts_and_densities_share():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(900, 3))
    texts = np.hstack([shared, rng.normal(size=(900, 4))])
    densities = (shared @ rng.normal(size=(3, 250)) + 8 + rng.normal(size=(900, 250))) ** 2
    matcher = Matcher.fit(texts[:700], densities[:700])
    scores = matcher.scores(texts[700:], densities[700:])
    assert recalls(scores)["coordinates to text, recall at 10"] > 0.9
    shuffled = scores[rng.permutation(200)]
    assert recalls(shuffled)["coordinates to text, recall at 10"] < 0.15


def test_chance_is_one_half_of_mix_and_match():
    scores = np.random.default_rng(0).normal(size=(400, 400))
    table = recalls(scores)
    assert abs(table["text to coordinates, mix and match"] - 0.5) < 0.03
    assert abs(table["text to coordinates, recall at 10"] - 10 / 400) < 0.03
