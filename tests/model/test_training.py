from dataclasses import replace

import numpy as np
from tests.studies import GRID, TERMS, make_corpus

from neurowhere.learn import Schedule, fit_loglinear, learn_term_weights, validation_split
from neurowhere.model.training import Learner, Lesson, _sharpness_scores, learn
from neurowhere.space import make_targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

# So fast that held-out studies like an epoch in the middle best, and a worse one comes before it.
SCHEDULE = Schedule(rank=4, epochs=12, rate=0.5, decay=(0.5, 0.0), dropout=0.5)


def made_up_lesson():
    corpus = make_corpus(60)
    X = TfIdf().fit_transform(TermExtractor(Vocabulary(TERMS)).counts(corpus))
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(GRID, GRID, xyz, corpus.peak_rows, len(corpus))
    return Lesson(X, targets, GRID, GRID.total_volume_mm3)


def test_the_epoch_that_held_out_studies_like_best_is_chosen():
    lesson, groups = made_up_lesson(), np.arange(60).astype(str)
    learner = Learner("likelihood", schedule=SCHEDULE, lambdas=[0.5], repeats=1)
    learned = learn(learner, lesson, groups)

    fit, held = map(lesson.select, validation_split(groups, fraction=0.1, seed=0))
    *_, weights = learn_term_weights(fit.studies, SCHEDULE)
    fit, held, lesson = (each.reweighted(weights) for each in (fit, held, lesson))
    epochs = fit_loglinear(fit.studies, SCHEDULE)
    scores = [max(_sharpness_scores(model, held)) for model in epochs]
    best = int(np.argmax(scores))
    assert best < len(scores) - 1, "the last epoch is best; the test shows nothing"
    assert min(np.diff(scores[: best + 1])) < 0, "no worse epoch comes before the best one"
    assert learned.choice.score == scores[best]

    *_, model = fit_loglinear(lesson.studies, replace(SCHEDULE, stop=best + 1))
    expected = model.sharpened(learned.choice.sharpness).predict(lesson.features)
    np.testing.assert_allclose(learned.predictor.predict(lesson.features), expected, atol=1e-6)
