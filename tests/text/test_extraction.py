"""Counts of one vocabulary, with the terms within longer ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.clinical.mentions import count_mentions, read_mentions

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


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_mentions_are_counted_as_texts_are(text):
    extractor = TermExtractor(Vocabulary(TERMS), sided=["left visual cortex"], nested=True)
    mentions = read_mentions(text, extractor.counter)
    counted = count_mentions(mentions, extractor, with_negated=True)
    np.testing.assert_array_equal(counted.toarray(), extractor.counts([text]).toarray())


def test_what_is_within_a_denied_term_is_denied(extractor):
    mentions = read_mentions("no spatial navigation, but memory", extractor.counter)
    found = count_mentions(mentions, extractor)
    assert [extractor.terms[i] for i in found.indices] == ["memory"]
