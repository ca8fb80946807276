"""Counts of one vocabulary, with the terms within longer ones, and the features made of them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from tests.text.counting import count_mentions

from neurowhere.exceptions import CorpusError, VocabularyError
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.features import TfIdf, combine_sections, term_frequency
from neurowhere.text.reading.mentions import read_mentions


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    matrix = rng.poisson(0.7, (40, 9))
    matrix[3] = 0  # a text without a term
    matrix[:, 5] = 0  # a term without a text
    return sparse.csr_matrix(matrix.astype(np.int32))


def test_term_frequency_is_the_share_of_terms(counts):
    frequencies = term_frequency(counts)
    assert frequencies.dtype == np.float32
    expected = normalize(counts.astype(float), norm="l1")
    np.testing.assert_allclose(frequencies.toarray(), expected.toarray(), rtol=1e-6)


def test_tf_idf_is_that_of_scikit_learn(counts):
    train, test = counts[:30], counts[30:]
    oracle = TfidfTransformer(sublinear_tf=True).fit(train)
    ours = TfIdf().fit(train)
    np.testing.assert_allclose(ours.idf_, oracle.idf_, rtol=1e-6)
    features = ours.transform(test)
    assert features.dtype == np.float32
    assert sparse.isspmatrix_csr(features)
    assert features.nnz == test.nnz
    np.testing.assert_allclose(features.toarray(), oracle.transform(test).toarray(), atol=1e-6)


def test_a_text_without_terms_stays_zero(counts):
    features = TfIdf().fit_transform(counts)
    assert features[3].nnz == 0
    assert np.isfinite(features.data).all()


def test_weights_that_were_kept_give_the_same_features(counts):
    fitted = TfIdf().fit(counts)
    kept = TfIdf.from_idf(fitted.idf_)
    assert (kept.transform(counts) != fitted.transform(counts)).nnz == 0


def test_counts_are_not_changed(counts):
    before = counts.copy()
    TfIdf().fit_transform(counts)
    term_frequency(counts)
    assert (counts != before).nnz == 0


def test_fractional_counts_grow_without_a_jump():
    column = np.array([[0.25], [0.5], [1.0], [2.0]])
    counts = sparse.csr_matrix(np.hstack([column, np.ones_like(column)]))
    transformer = TfIdf.from_idf(np.ones(2))
    ratio = transformer.transform(counts).toarray()
    assert (np.diff(ratio[:, 0] / ratio[:, 1]) > 0).all()
    assert ratio[0, 0] / ratio[0, 1] == pytest.approx(0.25)


def test_features_of_another_vocabulary_are_refused(counts):
    with pytest.raises(VocabularyError, match="expected counts of 9 terms, but these have 4"):
        TfIdf().fit(counts).transform(counts[:, :4])


def test_sections_are_weighted_and_added(counts):
    total = combine_sections({"title": counts, "body": counts}, {"title": 2.5, "keywords": 9.0})
    assert total.dtype == np.float32
    np.testing.assert_allclose(total.toarray(), 3.5 * counts.toarray())
    assert combine_sections({"title": counts}).nnz == counts.nnz


def test_sections_must_have_one_shape(counts):
    with pytest.raises(CorpusError, match="one shape"):
        combine_sections({"title": counts, "body": counts[:2]})
    with pytest.raises(CorpusError, match="one shape"):
        combine_sections({})


TERMS = ["navigation", "spatial", "spatial navigation", "memory", "visual cortex"]
WORDS = st.sampled_from([*" ".join(TERMS).split(), "the", "left", "no", "cortex", "."])


@pytest.fixture(scope="module")
def extractor():
    return TermExtractor(Vocabulary(TERMS), nested=True)


def counts_of(extractor, text):
    row = extractor.counts([text]).toarray()[0]
    return {extractor.terms[i]: int(row[i]) for i in np.flatnonzero(row)}


def test_a_longer_term_counts_the_terms_within_it(extractor):
    found = counts_of(extractor, "Spatial navigation and memory, spatial memory")
    assert found == {"spatial navigation": 1, "navigation": 1, "spatial": 2, "memory": 2}
    assert extractor.terms_within == {"spatial navigation": ["navigation", "spatial"]}


def test_by_default_the_longest_term_counts_alone():
    extractor = TermExtractor(Vocabulary(TERMS))
    assert counts_of(extractor, "spatial navigation") == {"spatial navigation": 1}
    assert extractor.terms_within == {}


PLAIN = WORDS.filter(lambda word: word != "left")  # its reach is the reader's


@given(st.lists(PLAIN, max_size=12, unique=True).map(" ".join))
@example("spatial navigation in the left visual cortex")
def test_mentions_are_counted_as_texts_are(text):
    extractor = TermExtractor(Vocabulary(TERMS), sided=["left visual cortex"], nested=True)
    mentions = read_mentions(text, extractor.counter)
    counted = count_mentions(mentions, extractor, with_negated=True)
    np.testing.assert_array_equal(counted.toarray(), extractor.counts([text]).toarray())


def test_what_is_within_a_denied_term_is_denied(extractor):
    mentions = read_mentions("no spatial navigation, but memory", extractor.counter)
    found = count_mentions(mentions, extractor)
    assert [extractor.terms[i] for i in found.indices] == ["memory"]
