import numpy as np
import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.evaluate import Candidate
from neurowhere.evaluate.trial import Task, Trial, prepare_material, prepare_problems
from neurowhere.exceptions import CorpusError, DataWarning, FitError, VocabularyError
from neurowhere.model.encoder import Encoder
from neurowhere.model.losses import LOSSES
from neurowhere.space import Atlas, VoxelGrid
from neurowhere.text import Vocabulary


def test_all_partitions_are_scored_on_the_same_peaks(corpus, brain, vocabulary, candidates):
    material = prepare_material(corpus, brain, vocabulary)
    others = [*candidates, Candidate("coarse", VoxelGrid(20)), Candidate("fine", VoxelGrid(9))]
    problems = prepare_problems(material, others)
    inside = brain.region_of(corpus.peaks[["x", "y", "z"]]) >= 0
    for problem in problems.values():
        np.testing.assert_array_equal(problem.targets.study, corpus.peak_rows[inside])
        assert problem.brain_mm3 == brain.total_volume_mm3
    coarse = problems["coarse"]
    assert coarse.targets.region.max() < coarse.regions.n_regions == VoxelGrid(20).n_regions


def test_terms_in_no_study_are_dropped(corpus, brain, vocabulary):
    material = prepare_material(corpus, brain, vocabulary)
    assert "hippocampus" in vocabulary
    assert set(material.vocabulary.terms) == set(vocabulary.terms) - {"hippocampus"}
    mentions = [text.count("amygdala") for text in corpus.texts]
    column = material.counts[:, material.vocabulary.index("amygdala")]
    np.testing.assert_array_equal(column.toarray().ravel(), mentions)


def test_labels_are_counted_for_atlases_that_have_them(corpus, brain, vocabulary, candidates):
    problems = prepare_problems(prepare_material(corpus, brain, vocabulary), candidates)
    assert problems["voxels"].labels is problems["plain blocks"].labels is None
    labels = problems["blocks"].labels
    assert labels.terms.names == ("visual cortex", "amygdala", "motor cortex")
    counts = labels.counts[:, labels.terms.vocabulary.index("motor cortex")].toarray().ravel()
    np.testing.assert_array_equal(counts, [text.count("motor cortex") for text in corpus.texts])


def test_studies_outside_the_brain_are_left_out_and_counted(corpus, brain, vocabulary):
    far = Document("far", {"abstract": "amygdala"}, np.array([[0.0, 0, 300]]), "MNI")
    more = Corpus.from_documents([far, *corpus.iter_documents()])
    with pytest.warns(DataWarning, match="1 of 61 studies have no peak in the brain"):
        material = prepare_material(more, brain, vocabulary)
    assert material.corpus.documents["id"].tolist() == corpus.documents["id"].tolist()
    assert material.left_out == 1


def test_groups_follow_the_pubmed_id(brain):
    peak = np.array([[-24.0, -4, -18]])
    documents = [
        Document(name, {"title": "amygdala"}, peak, "MNI", {"pmid": pmid})
        for name, pmid in [("a", "7"), ("b", "8"), ("c", "7")]
    ]
    groups = prepare_material(Corpus.from_documents(documents), brain, None).groups
    assert groups[0] == groups[2] != groups[1]


def test_a_corpus_without_coordinates_is_refused(brain):
    corpus = Corpus.from_documents([Document("1", {"title": "amygdala"}, np.empty((0, 3)), "MNI")])
    with pytest.raises(CorpusError, match="expected coordinates"):
        prepare_material(corpus, brain, None)


def test_peaks_that_are_all_elsewhere_are_refused(brain):
    corpus = Corpus.from_documents([Document("1", {}, np.array([[0.0, 0, 300]]), "MNI")])
    with pytest.raises(CorpusError, match="no peak of the corpus lies in the brain"):
        prepare_material(corpus, brain, None)


def test_a_vocabulary_that_matches_nothing_is_refused(corpus, brain):
    with pytest.raises(VocabularyError, match=r"none of the 1 terms .* occurs in the 60 studies"):
        prepare_material(corpus, brain, Vocabulary(["hippocampus"]))


def test_an_atlas_that_misses_all_peaks_is_refused(corpus, brain, vocabulary):
    image = np.zeros(brain.shape, dtype=np.uint8)
    x, y, z = np.argwhere(brain.brain)[0]
    image[x, y, z] = 200
    corner = Candidate("corner", Atlas((image, brain.affine)))
    with pytest.raises(FitError, match=r"none of the .* peaks in the brain lies in .* corner"):
        prepare_problems(prepare_material(corpus, brain, vocabulary), [corner])


def test_two_partitions_of_one_name_are_refused(corpus, brain, vocabulary, labelled):
    with pytest.raises(FitError, match="two are 'blocks'"):
        prepare_problems(prepare_material(corpus, brain, vocabulary), [labelled, labelled])


@pytest.mark.parametrize("name", ["Unknown", "Cerebellum_Crus1_L"])
def test_labels_that_no_text_mentions_give_a_warning(corpus, brain, vocabulary, labelled, name):
    atlas = Atlas(labelled.partition.image, {3: name, 130: name, 7: name})
    material = prepare_material(corpus, brain, vocabulary)
    with pytest.warns(DataWarning, match="no label of odd occurs in the corpus"):
        problems = prepare_problems(material, [Candidate("odd", atlas)])
    assert problems["odd"].labels is None


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
