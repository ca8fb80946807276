"""Ellipsis: what sides without a noun stand for."""

import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def affected(text):
    """Return the sides on which a text affirms structures, and those on which it denies them."""
    found = [m for m in read_mentions(text, COUNTER).found if m.is_structure]
    denied, affirmed = (
        {m.side for m in found if m.is_negated is is_not} for is_not in (True, False)
    )
    return affirmed, denied


@pytest.mark.parametrize(
    ("text", "affirmed", "denied"),
    [
        ("The left hippocampus is normal but the right is atrophic", "right", "left"),
        ("The left hippocampus is normal but the right shows sclerosis.", "right", "left"),
        ("Left amygdala atrophied; the right one is spared.", "left", "right"),
        ("Right hippocampus atrophic, left normal.", "right", "left"),
        ("The insula on the left is normal, on the right it is infarcted.", "right", "left"),
        ("On the right the insula is infarcted, on the left it is normal.", "right", "left"),
        ("The infarct spares the left insula and involves the right.", "right", "left"),
        ("Infarct of the left thalamus, none on the right.", "left", "right"),
        ("The right insula is normal. On the left, there is an infarct.", "left", "right"),
        ("In the left insula there is a bleed; in the right there is none.", "left", "right"),
        ("Thalamus: normal on the left, infarct on the right", "right", "left"),
        ("Thalamus: left normal, right infarct.", "right", "left"),
        ("Thalamus: right: 8 mm lacune; left: no abnormality.", "right", "left"),
        ("Insula: infarct on the left, nothing on the right.", "left", "right"),
        ("The lesion is in the right thalamus, not the left.", "right", "left"),
        ("Haemorrhage in the left and not in the right thalamus.", "left", "right"),
        ("Infarct of the right, not the left, insula", "right", ""),
        ("The left, unlike the right, hippocampus is atrophic.", "left", ""),
        ("The left amygdala is normal but the right is bright on FLAIR.", "right", "left"),
        ("No lesion of the left insula, but a nodule in the right one.", "right", "left"),
        ("The left hippocampus is larger than the right, which is sclerotic.", "right", "left"),
        ("The hippocampi are asymmetric, the right being smaller.", "right", ""),
        ("Of the two caudate nuclei only the left is involved.", "left", ""),
        ("Left side is normal. On the right there is a lacune in the thalamus", "right", ""),
    ],
)
def test_a_side_takes_up_the_structure_of_the_other(text, affirmed, denied):
    assert affected(text) == ({affirmed}, {denied} - {""})


@pytest.mark.parametrize(
    "text",
    [
        "Left insula infarct; the right arm is weak.",
        "Left insula infarct. Power is reduced on the right.",
        "Left insula infarct with a shift of the midline to the right.",
        "Left insula infarct. The patient is right handed.",
        "Left insula infarct. Right now she is stable.",
        "Left insula infarct. EEG is normal on the right.",
        "Left insula infarct. The patient cannot see on the right.",
        "Left insula infarct, catheter on the right.",
        "The left insula is larger than the right.",
        "Left insula infarct.\n\nThe right is normal.",
        "Left insula infarct. Side of onset: right.",
        "Left insula infarct and right meningioma.",
    ],
)
def test_a_side_of_another_thing_takes_up_nothing(text):
    assert affected(text) == ({"left"}, set())


def test_one_on_each_side():
    assert affected("Infarcts, one in the left and the other in the right insula.") == (
        {"left", "right"},
        set(),
    )
