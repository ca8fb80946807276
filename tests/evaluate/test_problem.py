import numpy as np
import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.evaluate import Candidate
from neurowhere.evaluate.problem import prepare_material, prepare_problems
from neurowhere.exceptions import CorpusError, DataWarning, FitError, VocabularyError
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
