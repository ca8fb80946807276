import time

import pytest

from neurowhere.exceptions import VocabularyError
from neurowhere.text import Vocabulary
from neurowhere.text.suggestions import NearNames

NAMES = NearNames(["hippocampus", "hypothalamus", "thalamus", "fear", "MS", "Heschl's gyrus"])


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("hipocampus", ["hippocampus"]),
        ("Hippocampsu", ["hippocampus"]),
        ("thalmus", ["thalamus"]),
        ("feer", ["fear"]),
        ("heschls gyrus", ["Heschl's gyrus"]),
        ("ms", ["MS"]),
        ("xyzzy", []),
        ("", []),
    ],
)
def test_the_nearest_spelling_is_suggested(word, names):
    assert NAMES.suggest(word)[:1] == names


def test_suggestions_are_in_order_and_limited():
    near = NearNames(["frontal pole", "frontal lobe", "frontal", "parietal lobe"])
    assert near.suggest("frontal lobe", n=2) == ["frontal lobe", "frontal pole"]


def test_an_error_offers_them():
    with pytest.raises(VocabularyError, match="did you mean amygdala"):
        Vocabulary(["amygdala", "fear"]).index("amigdala")


def test_a_large_vocabulary_is_searched_in_milliseconds():
    near = NearNames(f"name {number:05d} of {number % 97} regions" for number in range(20_000))
    near.suggest("warm up")
    start = time.process_time()
    for number in range(20):
        near.suggest(f"naem {number:05d} of region")
    assert (time.process_time() - start) / 20 < 0.02  # 5 ms on an idle machine
