import numpy as np
import pytest

from neurowhere.evaluate.problem import prepare_material, prepare_problems
from neurowhere.evaluate.trial import Task, Trial
from neurowhere.model.encoder import Encoder
from neurowhere.model.losses import LOSSES

PLACES = {"voxels": 0, "blocks": 1, "plain blocks": 2}


@pytest.fixture(scope="module")
def problems(corpus, brain, vocabulary, candidates):
    return prepare_problems(prepare_material(corpus, brain, vocabulary), candidates)


def slow_total_variation(model, corpus, truth):
    """Loop over studies and regions; the background is what is left."""
    distances = []
    for p, q in zip(truth, model.predict(corpus)):
        terms = [abs(float(p[k]) - float(q[k])) for k in range(len(p))]
        background = abs((1 - float(p.sum())) - (1 - float(q.sum())))
        distances.append((sum(terms) + background) / 2)
    return np.mean(distances)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("voxels", "l1"),
        ("voxels", "l2"),
        ("voxels", "mean"),
        ("blocks", "l1"),
        ("blocks", "l2"),
        ("blocks", "labels"),
        ("blocks", "labels-l1"),
        ("plain blocks", "mean"),
    ],
)
def test_a_trial_is_fit_and_score_of_the_encoder(
    problems, candidates, corpus, brain, vocabulary, name, loss
):
    trial = Trial(seed=3)
    score = trial(problems[name], Task(2, name, loss))
    train, test = trial.split(problems[name], 2)
    options = {"text": "none"} if loss == "mean" else LOSSES[loss].parameters
    partition = candidates[PLACES[name]].partition
    model = Encoder(partition, brain=brain, vocabulary=vocabulary, seed=3, n_jobs=1, **options)
    model.fit(corpus.select(train))
    expected = model.score_documents(corpus.select(test))
    assert score.nats_above_uniform == pytest.approx(expected["nats_above_uniform"].mean(), 1e-5)
    assert score.log_likelihood == pytest.approx(expected["log_likelihood"].mean(), 1e-5)
    assert (score.studies, score.peaks) == (len(test), expected["peaks"].sum())
    truth = problems[name].targets.rows(test)
    distance = slow_total_variation(model, corpus.select(test), truth)
    assert score.total_variation == pytest.approx(distance, abs=1e-5)
    if loss == "mean":
        assert np.isnan([score.penalty, score.sharpness]).all()
    else:
        assert (score.penalty, score.sharpness) == (model.penalty_, model.sharpness_)


@pytest.mark.parametrize("name", PLACES)
def test_uniform_is_zero_on_every_partition(problems, brain, name):
    score = Trial()(problems[name], Task(0, name, "uniform"))
    assert score.nats_above_uniform == pytest.approx(0, abs=1e-12)
    assert score.log_likelihood == pytest.approx(-np.log(brain.total_volume_mm3))
    assert 0.5 < score.total_variation < 1


def test_text_beats_the_mean_map_which_beats_uniform(problems):
    scores = {
        loss: Trial()(problems["voxels"], Task(0, "voxels", loss)).nats_above_uniform
        for loss in ("uniform", "mean", "l1", "l2")
    }
    assert 0 == scores["uniform"] < scores["mean"] < min(scores["l1"], scores["l2"])


def test_the_order_of_the_studies_does_not_matter(problems):
    problem = problems["blocks"]
    trial = Trial()
    train, test = trial.split(problem, 0)
    first, again = (
        np.concatenate(list(trial.fit(problem, "l2", rows).predict(test)))
        for rows in (train, train[::-1])
    )
    np.testing.assert_allclose(first, again, atol=1e-6)
