import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Atlas, Corpus, Encoder, TermCounter, Vocabulary, VoxelGrid, read_corpus
from neurowhere.corpus import Document
from neurowhere.exceptions import DataWarning, FitError, PartitionError, VocabularyError


def make_atlas(
    *, labels=("amygdala", "visual cortex", "motor cortex", "anterior cingulate cortex")
):
    """Four boxes on a grid of 10 mm that is not the brain's: most of the brain is in none."""
    image = np.zeros((19, 22, 19), dtype=np.uint8)
    affine = np.diag([-10.0, 10.0, 10.0, 1.0])  # x goes from right to left
    affine[:3, 3] = (90, -120, -70)
    image[5:13, 10:13, 3:7] = 7
    image[6:12, 1:5, 5:9] = 130
    image[3:15, 8:12, 11:15] = 131
    image[8:11, 13:15, 8:11] = 201  # misses most peaks of its name
    return Atlas((image, affine), dict(zip([7, 130, 131, 201], labels)))


def encoders():
    yield Encoder(GRID, "l2", vocabulary=TERMS)
    yield Encoder(GRID, "l1", vocabulary=TERMS, lambdas=[3, 1])
    yield Encoder(make_atlas(), "l1", vocabulary=TERMS, brain=GRID)
    yield Encoder(make_atlas(), "l2", constraint="labels", brain=GRID)
    yield Encoder(make_atlas(), text="none", brain=GRID)
    yield Encoder(GRID, text="none")
    yield Encoder(GRID, "likelihood", vocabulary=TERMS, rank=5, repeats=2)
    yield Encoder(make_atlas(), "likelihood", vocabulary=TERMS, rank=3, repeats=1, brain=GRID)


def name_of(encoder):
    kind = "atlas" if isinstance(encoder.partition, Atlas) else "grid"
    return f"{kind} {encoder.loss} {encoder.constraint or encoder.text}"


every_encoder = pytest.mark.parametrize("encoder", list(encoders()), ids=name_of)


def slow_scores(model, corpus):
    """Log-likelihood of each study, peak by peak, from the images and the definitions alone."""
    brain, atlas = GRID.brain, make_atlas()
    to_brain = np.linalg.inv(GRID.affine)
    total = brain.sum() * 12.0**3
    is_grid = isinstance(model.partition, VoxelGrid)
    labels = np.asarray(atlas.image[0]) if not is_grid else None
    to_atlas = np.linalg.inv(atlas.affine)

    def cell(inverse, xyz, shape):
        voxel = tuple(math.floor(v + 0.5) for v in (inverse @ [*xyz, 1])[:3])
        return voxel if all(0 <= v < n for v, n in zip(voxel, shape)) else None

    def in_brain(xyz):
        voxel = cell(to_brain, xyz, brain.shape)
        return voxel is not None and brain[voxel]

    voxels_of = {}
    if is_grid:
        order = {voxel: k for k, voxel in enumerate(map(tuple, np.argwhere(brain)))}
        volume = dict.fromkeys(order.values(), 12.0**3)
    else:
        for voxel in map(tuple, np.argwhere(labels)):
            centre = (atlas.affine @ [*voxel, 1])[:3]
            if in_brain(centre):
                voxels_of.setdefault(int(labels[voxel]), []).append(voxel)
        order = {v: k for k, label in enumerate(sorted(voxels_of)) for v in voxels_of[label]}
        volume = {k: 1000.0 * len(voxels_of[label]) for k, label in enumerate(sorted(voxels_of))}

    scores, n_scored = [], []
    for text, peaks in zip(corpus.texts, corpus.peaks_by_document):
        q = model.predict([text])[0].astype(np.float64)
        logs = []
        for xyz in peaks:
            if in_brain(xyz):
                inverse, shape = (to_brain, brain.shape) if is_grid else (to_atlas, labels.shape)
                region = order.get(cell(inverse, xyz, shape))
                density = 0.0 if region is None else q[region] / volume[region]
                logs.append(math.log(0.5 * (1 / total + density)))
        scores.append(sum(logs) / len(logs) if logs else math.nan)
        n_scored.append(len(logs))
    return np.array(scores), n_scored, total


@every_encoder
def test_score_is_that_of_a_slow_computation_over_peaks(encoder):
    train, test = make_corpus(40), make_corpus(15, seed=1)
    model = clone(encoder).fit(train)
    expected, n_scored, total = slow_scores(model, test)
    scores = model.score_documents(test)
    np.testing.assert_allclose(scores["log_likelihood"], expected, rtol=0, atol=1e-6)
    assert model.score(test) == pytest.approx(np.nanmean(expected), abs=1e-6)
    np.testing.assert_allclose(
        scores["nats_above_uniform"], expected + math.log(total), rtol=0, atol=1e-6
    )
    assert scores["peaks"].tolist() == n_scored
    assert (scores["peaks"] + scores["peaks_outside"]).tolist() == test.n_peaks.tolist()
    uncovered = model.partition.region_of(test.peaks[["x", "y", "z"]]) == -1
    is_atlas = isinstance(model.partition, Atlas)
    assert (uncovered.sum() > scores["peaks_outside"].sum()) == is_atlas
    mean = Encoder(model.partition, text="none", brain=GRID).fit(train)
    np.testing.assert_allclose(scores["mean_map"], mean.score_documents(test)["log_likelihood"])


@every_encoder
def test_predictions_are_densities(encoder):
    model = clone(encoder).fit(make_corpus())
    predicted = model.predict(["the amygdala", "visual cortex", "nothing known", ""])
    assert predicted.dtype == np.float32
    assert predicted.shape == (4, model.partition.n_regions)
    assert (predicted >= 0).all()
    np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-5)
    mean = model.mean_map_ / model.mean_map_.sum()
    np.testing.assert_allclose(predicted[2:], np.stack([mean, mean]), atol=1e-6)


def test_an_atlas_is_cut_to_the_brain_and_the_model_says_so():
    model = Encoder(make_atlas(), "l2", vocabulary=TERMS, brain=GRID).fit(make_corpus())
    assert model.partition is model.partition_
    assert model.partition.total_volume_mm3 < make_atlas().total_volume_mm3
    other = VoxelGrid(8)
    model.set_params(partition=other)
    assert model.partition is other
    assert model.fit(make_corpus()).partition is other


def test_the_text_says_where():
    model = Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus(60))
    for term, place in {
        "visual cortex": (0, -92, 2),
        "anterior cingulate cortex": (0, 32, 22),
    }.items():
        highest = model.partition.centers_mm[model.predict([f"the {term}"])[0].argmax()]
        assert np.linalg.norm(highest - place) < 18


def test_scikit_learn_takes_it_with_lists_of_texts_and_peaks():
    corpus = make_corpus(40)
    X, y = corpus.texts, corpus.peaks_by_document
    encoder = Encoder(GRID, "l2", vocabulary=TERMS)
    copy = clone(encoder)
    assert copy.get_params() == encoder.get_params()
    scores = cross_val_score(encoder, X, y, cv=3)
    assert (scores > -math.log(GRID.total_volume_mm3)).all()
    baseline = cross_val_score(Encoder(GRID, text="none"), X, y, cv=3)
    assert (scores > baseline).all()
    search = GridSearchCV(encoder, {"bandwidth": [0.5, 2.0], "loss": ["l1", "l2"]}, cv=2).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(search.predict(X[:3]), search.best_estimator_.predict(X[:3]))
    refitted = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(refitted.predict(X), search.predict(X))


def test_lists_and_a_corpus_are_the_same():
    corpus = make_corpus()
    by_corpus = Encoder(GRID, "l2", vocabulary=TERMS).fit(corpus)
    by_lists = Encoder(GRID, "l2", vocabulary=TERMS).fit(corpus.texts, corpus.peaks_by_document)
    np.testing.assert_array_equal(by_corpus.predict(corpus), by_lists.predict(corpus.texts))
    assert by_lists.score(corpus.texts, corpus.peaks_by_document) == by_corpus.score(corpus)


def without_texts(corpus, terms=TERMS):
    counts = {"abstract": TermCounter(Vocabulary(terms)).count(corpus.texts)}
    return Corpus(corpus.documents, corpus.peaks, None, counts, list(terms))


@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_a_corpus_of_counts_is_the_corpus_of_texts(loss):
    train, test = make_corpus(), make_corpus(10, seed=1)
    encoder = Encoder(GRID, loss, vocabulary=TERMS, lambdas=[3, 1])
    by_texts, by_counts = clone(encoder).fit(train), clone(encoder).fit(without_texts(train))
    np.testing.assert_array_equal(by_texts.predict(test), by_counts.predict(without_texts(test)))
    assert by_texts.score(test) == by_counts.score(without_texts(test))


def test_counts_in_another_order_with_other_names_and_columns():
    train, test = make_corpus(), make_corpus(10, seed=1)
    names = [
        "liver",
        "anterior cingulate cortices",
        "Visual Cortex",
        "amygdaloid body",
        "motor-cortex",
    ]
    shuffled = without_texts(test, [*TERMS, "liver"])
    order = [4, 3, 1, 0, 2]
    counts = {"abstract": shuffled.counts["abstract"][:, order]}
    renamed = Corpus(test.documents, test.peaks, None, counts, names)
    vocabulary = Vocabulary(TERMS, {"amygdaloid body": "amygdala"})
    model = Encoder(GRID, "l2", vocabulary=vocabulary).fit(train)
    np.testing.assert_array_equal(model.predict(renamed), model.predict(test))


def test_permuting_studies_changes_nothing_but_the_split():
    corpus = make_corpus()
    order = np.random.default_rng(0).permutation(len(corpus))
    encoder = Encoder(GRID, "l2", vocabulary=TERMS, lambdas=[10])
    first, second = clone(encoder).fit(corpus), clone(encoder).fit(corpus.select(order))
    np.testing.assert_allclose(
        first.predictor_.coefficients, second.predictor_.coefficients, atol=1e-8
    )


def test_label_constrained_model_moves_only_the_region_of_the_label():
    model = Encoder(make_atlas(), "l2", constraint="labels", brain=GRID).fit(make_corpus())
    assert model.vocabulary_.terms == tuple(sorted(TERMS))
    rows, columns = np.nonzero(model.predictor_.coefficients)
    assert [model.vocabulary_.terms[i] for i in rows] == [model.partition.names[k] for k in columns]
    base, moved = model.predict(["", "the amygdala"]).astype(float)
    assert moved.argmax() == model.partition.names.index("amygdala")
    assert moved[0] > base[0]


def test_two_regions_may_share_a_label():
    labels = ("Amygdala_L", "Amygdala_R", "Motor_Cortex", "")
    model = Encoder(make_atlas(labels=labels), "l2", constraint="labels", brain=GRID)
    model.fit(make_corpus())
    assert model.vocabulary_.terms == ("amygdala", "motor cortex")
    assert np.count_nonzero(model.predictor_.coefficients[0]) == 2
    assert np.isfinite(model.score(make_corpus(10, seed=1)))


def test_the_default_vocabulary_names_parts_of_the_brain():
    model = Encoder(GRID, "l2").fit(make_corpus())
    assert {"amygdala", "visual cortex", "motor cortex"} <= set(model.vocabulary_)


def test_lateral_terms_are_learned_from_texts_that_have_them():
    corpus = make_corpus(160, lateral=True)
    model = Encoder(GRID, "l2", vocabulary=TERMS, laterality=True).fit(corpus)
    names = model.extractor_.terms
    assert {"left amygdala", "right amygdala"} <= set(names)
    assert len(model.predictor_.coefficients) == len(names)
    x_mm = model.partition.centers_mm[:, 0]
    left, right = model.predict(["the left amygdala", "amygdala (right)"])
    assert left @ x_mm < -8 < 8 < right @ x_mm
    assert model.score(corpus) > Encoder(GRID, "l2", vocabulary=TERMS).fit(corpus).score(corpus)
    for side, sign in {"left": -1, "right": 1}.items():
        found = model.term_map(f"{side} amygdala")
        assert (found.term, found.side, found.method) == ("amygdala", side, "learned")
        assert sign * x_mm[found.effect.argmax()] > 0


@pytest.mark.filterwarnings("ignore::neurowhere.exceptions.DataWarning")
def test_real_texts_teach_the_sides_of_the_amygdala(data):
    corpus = read_corpus(data / "corpus" / "rawtext_linked_dev.jsonl.gz")
    mentioned = np.array(["amygdala" in text.lower() for text in corpus.texts])
    mentioned[::4] = True  # and some of those that do not
    model = Encoder(VoxelGrid(8), "l2", laterality=True).fit(corpus.select(mentioned))
    x_mm = model.partition.centers_mm[:, 0]
    for side, sign in {"left": -1, "right": 1}.items():
        found = model.term_map(f"{side} amygdala")
        assert found.method == "learned"
        centre = model.partition.centers_mm[found.effect.argmax()]
        assert np.linalg.norm(centre - [sign * 22, -4, -18]) < 12
        positive = np.maximum(found.effect, 0)
        assert positive[sign * x_mm > 0].sum() > positive[sign * x_mm < 0].sum()


def test_lateral_terms_need_texts():
    counts = without_texts(make_corpus(160, lateral=True))
    model = Encoder(GRID, "l2", vocabulary=TERMS, laterality=True).fit(counts)
    assert model.extractor_.terms == tuple(TERMS)
    assert model.term_map("left amygdala").method == "restricted"


def test_counts_under_lateral_names_reach_a_lateral_model():
    model = Encoder(GRID, "l2", vocabulary=TERMS, laterality=True)
    model.fit(make_corpus(160, lateral=True))
    texts = ["the left amygdala, left amygdala", "motor cortex"]
    by_text = Corpus.from_documents(
        Document(str(i), {"title": text}) for i, text in enumerate(texts)
    )
    names = ["left amygdala", *TERMS]
    by_name = without_texts(by_text, names)
    np.testing.assert_array_equal(model.predict(by_name), model.predict(by_text))


def test_score_summary():
    model = Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus())
    test = make_corpus(10, seed=1)
    summary = model.score_summary(test)
    assert summary["log_likelihood"] == model.score(test)
    assert summary["uniform"] == -math.log(GRID.total_volume_mm3)
    assert summary["uniform"] < summary["mean_map"] < summary["log_likelihood"]
    assert (summary["studies"], summary["peaks_outside"]) == (10, 2)
    assert summary["peaks"] + 2 == len(test.peaks)


@pytest.mark.parametrize(
    ("encoder", "corpus", "error", "message"),
    [
        (Encoder(GRID), Corpus.from_documents([Document("1", {"title": "a"})]), FitError,
         "expected coordinates to learn from, but there are none"),
        (Encoder(GRID, vocabulary=["liver"]), make_corpus(), FitError,
         "none of the 1 terms of the vocabulary occurs in at least 5 of the 40 training"),
        (Encoder(GRID, vocabulary=["liver"]), without_texts(make_corpus()), VocabularyError,
         "none of the 4 columns matches one of the 1 terms"),
        (Encoder(GRID, loss="l3"), make_corpus(), FitError,
         "expected loss among 'l1', 'l2', 'likelihood', got 'l3'"),
        (Encoder(GRID, text="words"), make_corpus(), FitError, "expected text among"),
        (Encoder(GRID, constraint="atlas"), make_corpus(), FitError, "expected constraint among"),
        (Encoder(GRID, constraint="labels"), make_corpus(), FitError,
         "needs an atlas with labels"),
        (Encoder(make_atlas(), "likelihood", constraint="labels"), make_corpus(), FitError,
         "expected loss 'l1' or 'l2' for constraint='labels', got 'likelihood'"),
        (Encoder("atlas"), make_corpus(), FitError, "expected a VoxelGrid or an Atlas"),
        (Encoder(GRID, vocabulary="none.csv"), make_corpus(), VocabularyError,
         "cannot read none.csv"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line(encoder, corpus, error, message):
    with pytest.raises(error, match=message) as caught:
        encoder.fit(corpus)
    assert "\n" not in str(caught.value)


def test_an_atlas_that_misses_all_peaks():
    image, affine = np.zeros((19, 22, 19)), make_atlas().affine
    image[9, 10, 13] = 1  # in the brain, and no peak of the corpus comes near
    with pytest.raises(FitError, match="no peak lies in the brain and the partition"):
        Encoder(Atlas((image, affine)), vocabulary=TERMS, brain=GRID).fit(make_corpus())
    image[9, 10, 13], image[0, 0, 0] = 0, 1
    with pytest.raises(PartitionError, match="no region of the atlas has a voxel in the brain"):
        Encoder(Atlas((image, affine)), vocabulary=TERMS, brain=GRID).fit(make_corpus())


def test_peaks_in_voxels_far_from_the_brain():
    with (
        pytest.warns(DataWarning, match="3 of 3 studies have no peak in or near the brain"),
        pytest.raises(FitError, match="no peak lies in the brain"),
    ):
        Encoder(GRID).fit(["amygdala"] * 3, [[[500, 500, 500]]] * 3)


def test_texts_and_peaks_go_together():
    with pytest.raises(FitError, match="got 2 texts and 1 peaks"):
        Encoder(GRID).fit(["a", "b"], [[[0, 0, 0]]])


def test_a_corpus_with_another_vocabulary():
    model = Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus())
    test = make_corpus(10, seed=1)
    with pytest.raises(VocabularyError, match="none of the 1 columns matches one of the 4 terms"):
        model.score(without_texts(test, ["liver"]))
    with pytest.warns(DataWarning, match="1 of 4 terms counted by 1 of 1 columns"):
        model.score(without_texts(test, ["amygdala"]))


def test_nothing_to_score():
    model = Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus())
    with pytest.raises(FitError, match="expected peaks to score"):
        model.score_summary(["amygdala"], [[[0, 0, 300]]])


def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path):
    corpus = make_corpus(60)
    plain = Encoder(GRID, vocabulary=TERMS, n_jobs=1).fit(corpus)
    model = Encoder(GRID, vocabulary=TERMS, n_jobs=1, checkpoint=tmp_path / "blocks").fit(corpus)
    np.testing.assert_array_equal(model.predictor_.coefficients, plain.predictor_.coefficients)
    for stage in ("choice", "fit"):
        kept = sorted((tmp_path / "blocks" / stage).glob("block-*.npz"))
        assert kept
        kept[-1].unlink()  # as if stopped before the last block
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "blocks").rglob("*.npz")}
    again = clone(model).fit(corpus)
    np.testing.assert_array_equal(again.predictor_.coefficients, plain.predictor_.coefficients)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
