from dataclasses import replace

import numpy as np
from tests.studies import GRID, TERMS, make_corpus

from neurowhere.learn import Schedule, fit_loglinear, learn_term_weights, reweighted
from neurowhere.model.losses import Likelihood
from neurowhere.model.losses.likelihood import sharpness_scores, to_studies
from neurowhere.model.training import TrainingData, TrainingOptions
from neurowhere.space import make_targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

# So fast that an epoch in the middle has the best validation score, and a worse one comes before.
SCHEDULE = Schedule(rank=4, epochs=12, rate=0.5, decay=(0.5, 0.0), dropout=0.5)


def made_up_data():
    corpus = make_corpus(60)
    X = TfIdf().fit_transform(TermExtractor(Vocabulary(TERMS)).counts(corpus))
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(GRID, GRID, xyz, corpus.peak_rows, len(corpus))
    groups = np.arange(60).astype(str)
    return TrainingData(X, targets, groups, GRID.volumes_mm3, GRID.total_volume_mm3)


def test_the_epoch_with_the_best_validation_score_is_chosen():
    data = made_up_data()
    options = TrainingOptions(schedule=SCHEDULE, lambdas=[0.5], repeats=1)
    result = Likelihood().fit(data, options)

    part, held = data.split(options)
    *_, weights = learn_term_weights(to_studies(part), SCHEDULE)
    part, held, data = (
        replace(each, features=reweighted(each.features, weights)) for each in (part, held, data)
    )
    epochs = fit_loglinear(to_studies(part), SCHEDULE)
    scores = [max(sharpness_scores(model, held)) for model in epochs]
    best = int(np.argmax(scores))
    assert best < len(scores) - 1, "the last epoch is best; the test shows nothing"
    assert min(np.diff(scores[: best + 1])) < 0, "no worse epoch comes before the best one"
    assert result.choice.score == scores[best]

    *_, model = fit_loglinear(to_studies(data), replace(SCHEDULE, stop=best + 1))
    expected = model.sharpened(result.choice.sharpness).predict(data.features)
    np.testing.assert_allclose(result.predictor.predict(data.features), expected, atol=1e-6)
