from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neurowhere.contrast.query import WordIndex
from neurowhere.text.words import plain

TEXTS = st.lists(st.text(st.sampled_from("abcé -.\nβ"), max_size=30), max_size=6)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_every_word_is_counted_and_found(texts):
    index = WordIndex.of(texts)
    expected = [Counter(plain(text).split()) for text in texts]
    words = {word for counts in expected for word in counts}
    assert index.counts.shape == (len(texts), len(words))
    assert index.counts.sum() == sum(map(Counter.total, expected))
    for word in words:
        columns = index.forms_of(word)  # too short to have other forms
        if len(word) < 4 or not word.isalpha():
            assert index.total(columns).tolist() == [counts[word] for counts in expected]
        starting = [
            sum(n for other, n in counts.items() if other.startswith(word)) for counts in expected
        ]
        assert index.total(index.starting(word)).tolist() == starting


def test_neighbouring_forms_are_all_found():
    index = WordIndex.of(["tumor tumour tumors tumours stumor tumorous"])
    assert len(index.forms_of("tumour")) == 4
    assert len(index.starting("tumo")) == 5
    assert not len(index.forms_of("tumo"))


def test_no_texts_have_no_words():
    index = WordIndex.of([])
    assert index.total(index.forms_of("a")).tolist() == []
    assert WordIndex.of([""]).total(np.array([], np.intp)).tolist() == [0]
