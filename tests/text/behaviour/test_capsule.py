"""The limbs of the internal capsule are no limbs of the body."""

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

POSTERIOR = "posterior limb internal capsule"
STRUCTURES = ["caudate", "internal capsule", POSTERIOR, "putamen"]
VOCABULARY = Vocabulary([*STRUCTURES, "limb"], {}, dict.fromkeys(STRUCTURES, "anatomy"))
COUNTER = TermCounter(VOCABULARY)


def read(text):
    return [(each.term, each.side, each.is_crossed) for each in read_mentions(text, COUNTER)]


@pytest.mark.parametrize(
    ("text", "terms", "side"),
    [
        ("caudate and anterior limb on the left", ["caudate", "internal capsule"], "left"),
        ("Hemorrhage in the posterior limb on the right", [POSTERIOR], "right"),
        ("MRI: bright posterior limb on the left", [POSTERIOR], "left"),
        ("Infarct of the left putamen and posterior limb", ["putamen", POSTERIOR], "left"),
        ("Infarct, posterior limb of the left internal capsule", ["internal capsule"], "left"),
    ],
)
def test_a_limb_beside_structures_and_lesions_is_of_the_capsule(text, terms, side):
    assert read(text) == [(term, side, False) for term in terms]


@pytest.mark.parametrize("text", ["Rats moved the posterior limb", "left limb weakness"])
def test_other_limbs_are_of_the_body(text):
    assert [term for term, *_ in read(text)] == ["limb"]
