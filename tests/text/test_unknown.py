import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.unknown import common_words, content_words, unknown_words

COUNTER = TermCounter(
    Vocabulary(["amygdala", "anterior insula", "brown", "lesion", "thalamus"], {"thal": "thalamus"})
)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("the quick brown fox jumps", ["quick", "fox", "jumps"]),
        ("Lesion of the left thalamus, 12 mm", []),
        ("a hypodense lesion; Hypodensities; hypodense", ["hypodense", "Hypodensities"]),
        ("However, patients were significantly compared (p < 0.001).", []),
        ("QX given in the amygdala", ["QX"]),
        ("anterior insula (AI), AI", []),
        ("zorbulous area (ZA); ZA", ["zorbulous", "area"]),
        ("anterior amygdala", ["anterior"]),
        ("мозг и память", ["мозг", "память"]),
        ("", []),
    ],
)
def test_content_words_outside_terms_are_told_once_in_order(text, unknown):
    assert unknown_words(text, COUNTER) == unknown


def test_content_words_are_counted_known_or_not():
    assert content_words("A fox with a lesion of the thalamus; the lesions", COUNTER) == 3
    assert content_words("and the of 12", COUNTER) == 0


def test_common_words_are_no_names():
    assert {"however", "the", "significantly", "with"} <= common_words()
    assert not {"amygdala", "fear", "memory", "tremor", "motor", "pain"} & common_words()
