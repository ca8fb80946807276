"""Signs of the body that something outside of the brain explains."""

import pytest
from tests.text.counting import implied_structures
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def implied(text):
    """Structures that a text implies."""
    return {each.term for each in implied_structures(read_mentions(text, COUNTER))}


@pytest.mark.parametrize(
    "text",
    [
        "Numbness of the left foot from a peroneal neuropathy.",
        "Right leg weakness due to lumbar disc herniation",
        "Right C6 radiculopathy with arm weakness",
        "Weakness of the left arm in Guillain-Barré syndrome",
        "Carpal tunnel syndrome with left hand numbness",
        "Left hand weakness from an ulnar nerve lesion",
    ],
)
def test_a_sign_with_a_cause_outside_of_the_brain_implies_nothing(text):
    assert not implied(text)


@pytest.mark.parametrize(
    "text",
    [
        "Right leg weakness",
        "Right leg weakness without neuropathy",
        "Known neuropathy. Right arm weakness.",
        "Optic neuropathy and right arm weakness",
        "Stroke with right arm weakness, diabetic neuropathy",
        "Right hemiparesis and diabetic neuropathy",
    ],
)
def test_other_signs_are_of_the_brain(text):
    assert "precentral gyrus" in implied(text)


def test_a_limb_counts_nothing_where_its_sign_is_explained():
    text = "Numb right hand from an ulnar neuropathy and a left thalamus infarct. The hand moved."
    found = read_mentions(text, COUNTER)
    weights = [(each.term, each.weight) for each in found if each.term in ("hand", "thalamus")]
    assert weights == [("hand", 0), ("thalamus", 1), ("hand", 1)]
