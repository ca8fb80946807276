"""A loss that a user adds: one class and one line in the table, and everything knows it."""

import numpy as np
import pytest
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, Vocabulary, load_model, save_model
from neurowhere.evaluate import Candidate, compare
from neurowhere.exceptions import FitError
from neurowhere.learn import Linear
from neurowhere.model.losses import LOSSES, Loss, find_loss
from neurowhere.model.training import TrainingData, TrainingOptions, TrainingResult
from neurowhere.report.tables import summary_cells


class TermMeans(Loss):
    """Move towards the mean density of the studies that mention each term."""

    name = "term-means"
    title = "means of terms"
    lambdas = ()

    def fit(self, data: TrainingData, options: TrainingOptions) -> TrainingResult:
        mentions = data.features.toarray() > 0  # (n_studies, n_terms)
        densities = data.targets.rows(slice(None))
        means = mentions.T @ densities / np.maximum(mentions.sum(axis=0), 1)[:, None]
        coefficients = np.where(mentions.any(axis=0)[:, None], means - densities.mean(axis=0), 0)
        centre = np.zeros(len(means))
        return TrainingResult(Linear(data.mean_target, coefficients.astype(np.float32), centre))


@pytest.fixture
def new_loss(monkeypatch):
    monkeypatch.setitem(LOSSES, TermMeans.name, TermMeans())
    return TermMeans.name


def test_an_encoder_learns_by_a_new_loss_and_is_saved(new_loss, tmp_path):
    train, test = make_corpus(60), make_corpus(30, seed=1)
    model = Encoder(GRID, new_loss, vocabulary=TERMS).fit(train)
    scores = model.score_documents(test)
    assert scores["log_likelihood"].mean() > scores["mean_map"].mean() + 0.1
    assert np.isnan(model.penalty_)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.loss == new_loss
    np.testing.assert_array_equal(again.predict(test), model.predict(test))


def test_a_comparison_runs_a_new_loss_in_other_processes(new_loss, tmp_path):
    comparison = compare(
        make_corpus(60),
        tmp_path / "comparison",
        [Candidate("voxels", GRID)],
        vocabulary=Vocabulary(TERMS),
        losses=[new_loss],
        folds=2,
        brain=GRID,
        n_jobs=2,
    )
    nats = comparison.summary.set_index("loss")["nats_above_uniform"]
    assert nats[new_loss] > nats["mean"] > nats["uniform"]
    assert comparison.examples.loss == new_loss
    assert TermMeans.title in {model for _, model, *_ in summary_cells(comparison.summary)}


def test_without_registration_it_is_unknown():
    with pytest.raises(FitError, match=r"expected loss among 'l1', .*, got 'term-means'"):
        find_loss(TermMeans.name)


@pytest.mark.parametrize("name", LOSSES)
def test_each_loss_is_found_by_its_parameters(name):
    assert find_loss(**LOSSES[name].parameters) is LOSSES[name]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_path_of_penalties_is_positive_and_decreasing(loss):
    path = loss.path(TrainingOptions())
    assert min(path) > 0
    assert path == sorted(path, reverse=True)
    assert loss.path(TrainingOptions(lambdas=[3, 1])) == [3.0, 1.0]
