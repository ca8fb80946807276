"""Signs of the face and of speech, which point to the motor cortex and to that of language."""

import pytest
from tests.text.counting import implied_structures
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def implied(text):
    """Strongest structures of a text, with their sides."""
    found = implied_structures(read_mentions(text, COUNTER))
    return {(each.term, each.side) for each in found if each.weight == 1}


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Right facial droop.", "left"),
        ("right-sided facial droop, unable to speak", "left"),
        ("droop of the right face", "left"),
        ("left lower facial weakness", "right"),
        ("drooping of the left corner of the mouth", "right"),
        ("Left central facial palsy", "right"),
        ("Right face, arm and leg weakness", "left"),
        ("facial droop", None),
        ("Epilepsia partialis continua of the right face", "left"),
        ("Clonic jerks of the left face and arm", "right"),
        ("Focal motor seizures of the left hand", "right"),
    ],
)
def test_a_droop_of_the_face_is_of_the_other_motor_cortex(text, side):
    assert ("precentral gyrus", side) in implied(text)


@pytest.mark.parametrize(
    "text",
    [
        "No facial droop.",
        "Left facial droop, consistent with Bell's palsy",
        "left peripheral facial palsy",
        "left lower motor neuron facial weakness",
        "drooping of the left eyelid",
        "Left facial droop; left pontine infarct",
    ],
)
def test_a_face_that_a_nerve_or_a_named_place_explains_is_not_of_the_motor_cortex(text):
    assert not implied(text)


@pytest.mark.parametrize(
    "text",
    [
        "Right facial droop.",
        "droop of the right face",
        "face droop",
        "clonic jerks of the left face",
        "focal motor seizures of the left face",
    ],
)
def test_a_droop_is_no_perception_of_faces(text):
    assert not [*read_mentions(text, TermCounter(Vocabulary(["face", "facial"])))]


@pytest.mark.parametrize("text", ["She is unable to speak", "Inability to speak", "Cannot speak."])
def test_who_cannot_speak_has_a_sign_of_language(text):
    assert implied(text) == {("inferior frontal gyrus", "left")}
