"""The paper's models to the letter, against direct computation."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from tests.evaluate.conftest import make_atlas, make_corpus

from neurowhere import Encoder, VoxelGrid, load_model, save_model
from neurowhere.evaluate import Candidate, compare
from neurowhere.exceptions import FitError
from neurowhere.model.losses import LOSSES, find_loss
from neurowhere.space import make_targets, place_peaks

GRID = VoxelGrid(12)
TERMS = ["visual cortex", "motor cortex", "amygdala"]
NAMES = {3: "Visual_Cortex_R", 130: "Motor_Cortex_L", 7: "Amygdala_L"}
LITERAL = {"features": "tf", "sharpness": 1.0}


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(80)


def counts_of(corpus):
    return np.array([[text.count(term) for term in TERMS] for text in corpus.texts], float)


def frequencies(corpus):
    counts = counts_of(corpus)
    return counts / counts.sum(axis=1, keepdims=True)


def test_features_are_the_shares_of_terms(corpus):
    model = Encoder(GRID, "l2", vocabulary=TERMS, **LITERAL).fit(corpus)
    order = [model.extractor_.terms.index(term) for term in TERMS]
    np.testing.assert_allclose(
        model.transform(corpus).toarray()[:, order], frequencies(corpus), rtol=1e-6
    )


def test_ridge_is_the_direct_solution_cut_and_rescaled(corpus):
    lam = 2.0
    model = Encoder(GRID, "l2", vocabulary=TERMS, lambdas=[lam], **LITERAL).fit(corpus)
    assert model.sharpness_ == 1
    x = frequencies(corpus)
    y = Encoder(GRID, text="none").fit(corpus)  # only to place the peaks
    study, _ = place_peaks(GRID, GRID, corpus.peaks[["x", "y", "z"]], corpus.peak_rows)
    assert len(np.unique(study)) == len(corpus)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(GRID, GRID, xyz, corpus.peak_rows, len(corpus)).rows(slice(None))
    mean, centred = targets.mean(axis=0), x - x.mean(axis=0)
    beta = np.linalg.solve(centred.T @ centred + lam * np.eye(3), centred.T @ (targets - mean))
    q = np.maximum(mean + centred @ beta, 0)
    np.testing.assert_allclose(
        model.predict(corpus), q / q.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-6
    )
    assert y.mean_map_ == pytest.approx(mean / mean.sum(), abs=1e-6)


def test_without_an_intercept_ridge_goes_through_zero(corpus):
    """Against scikit-learn: voxels are what the terms add, cut and rescaled."""
    lam = 2.0
    model = Encoder(GRID, "l2", vocabulary=TERMS, lambdas=[lam], intercept=False, **LITERAL)
    model.fit(corpus)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    y = make_targets(GRID, GRID, xyz, corpus.peak_rows, len(corpus)).rows(slice(None))
    fitted = Ridge(lam, fit_intercept=False).fit(frequencies(corpus), y)
    q = np.maximum(frequencies(corpus) @ fitted.coef_.T, 0)
    assert not np.allclose(q.sum(axis=1), 1, atol=0.02)
    np.testing.assert_allclose(
        model.predict_features(model.transform(corpus)),
        q / q.sum(axis=1, keepdims=True),
        rtol=1e-3,
        atol=1e-6,
    )
    np.testing.assert_allclose(model.predict(["nothing known"])[0], model.mean_map_, rtol=1e-5)


def label_model(corpus, lam, **options):
    atlas = make_atlas(NAMES)
    return Encoder(atlas, "l2", constraint="labels", brain=GRID, lambdas=[lam], **options).fit(
        corpus
    )


def test_without_an_intercept_a_region_is_as_probable_as_its_label_is_frequent(corpus):
    lam = 0.5
    model = label_model(corpus, lam, intercept=False, **LITERAL)
    names = [name.lower().replace("_", " ")[:-2] for name in model.partition.names]
    x = frequencies(corpus)[:, [TERMS.index(name) for name in names]]
    xyz = corpus.peaks[["x", "y", "z"]]
    study, region = place_peaks(model.partition, GRID, xyz, corpus.peak_rows)
    y = np.zeros(x.shape)
    np.add.at(y, (study[region >= 0], region[region >= 0]), 1)
    y /= np.bincount(study, minlength=len(y))[:, None]
    slope = (x * y).sum(axis=0) / ((x * x).sum(axis=0) + lam)
    q = x * slope
    np.testing.assert_allclose(
        model.predict_features(model.transform(corpus)),
        q / q.sum(axis=1, keepdims=True),
        rtol=1e-4,
        atol=1e-6,
    )


def test_without_a_label_the_prediction_is_the_mean_map(corpus):
    model = label_model(corpus, 0.5, intercept=False)
    np.testing.assert_allclose(model.predict(["nothing known"])[0], model.mean_map_, rtol=1e-5)


def test_an_intercept_gives_regions_that_are_not_named_some_probability(corpus):
    with_one, without = (label_model(corpus, 100.0, intercept=each) for each in (True, False))
    text = ["the amygdala"]
    assert (with_one.predict(text) > 0).sum() > 1
    assert (without.predict(text) > 0).sum() == 1


@pytest.mark.parametrize("options", [{"intercept": False}, LITERAL, {"features": "tf"}])
def test_literal_models_are_saved_and_read(corpus, tmp_path, options):
    model = label_model(corpus, 0.5, **options)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(corpus), model.predict(corpus))
    assert again.get_params()["features"] == options.get("features", "tfidf")


@pytest.mark.parametrize("name", ["l1-literal", "l2-literal", "labels-literal"])
def test_a_comparison_knows_the_literal_losses(corpus, tmp_path, name):
    found = compare(
        corpus,
        tmp_path / "out",
        [Candidate("blocks", make_atlas(NAMES))],
        losses=[name],
        folds=2,
        brain=GRID,
        n_jobs=1,
    )
    scores = found.scores[found.scores["loss"] == name]
    assert len(scores) == 2
    assert (scores["sharpness"] == 1).all()
    assert find_loss(**LOSSES[name].parameters) is LOSSES[name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "counts"}, "expected features among 'tfidf', 'tf'"),
        ({"sharpness": 0.0}, "expected a sharpness above 0"),
        (
            {"loss": "l1", "intercept": False},
            "expected loss='l2' or constraint='labels' for intercept=False, got 'l1'",
        ),
        ({"loss": "likelihood", "features": "tf"}, "expected l1 or l2 for features"),
    ],
)
def test_options_that_do_not_fit_are_refused(corpus, options, message):
    with pytest.raises(FitError, match=message):
        Encoder(GRID, **{"loss": "l2", "vocabulary": TERMS, **options}).fit(corpus)
