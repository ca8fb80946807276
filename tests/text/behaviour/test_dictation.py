"""Notes without commas, where what is normal stands right after what is not."""

import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def structures(text):
    """Structures of a text, with their sides and whether they are denied."""
    found = read_mentions(text, COUNTER).found
    return [(m.term, m.side, m.status) for m in found if m.is_structure]


@pytest.mark.parametrize(
    "text",
    [
        "mri shows acute left insula infarct no hemorrhage ventricles normal",
        "left insular infarct no midline shift basal cisterns patent",
        "small acute infarct left insula basilar patent",
        "left insular contusion noted cisterns are patent",
        "left insular lacune ventricles normal in size",
        "left insular lacune and the ventricles are normal",
        "mri shows atrophy of left insula rest of the brain normal",
        "left insular infarct remainder of the exam unremarkable",
        "left insular glioma sinuses clear",
        "left insular infarct otherwise normal",
        "ventricles normal left insular lacune",
        # after a comma
        "No bleed, left insular infarct",
        "No bleed, left acute insular infarct",
        "No neglect or aphasia, left insular infarct",
        "no stenosis on the right, left insula atrophic",
        # the place of a lesion, and the next place
        "bleed in left insula thalamus spared",
        "mri shows infarct in the left insula thalamus not involved",
        "there is an infarct of the left insula thalamus and hippocampus are normal",
        "infarct in left insula thalamus shows no lesion",
        "hemorrhage into the left insula thalamus spared",
        "restricted diffusion in left insula thalamus is not affected",
        # a place that has none of it, and the next
        "thalamus no signal change, left insula bright",
        "thalamus no enhancement, acute left insula lesion",
        "thalamus without enhancement, left insula lesion",
        "thalamus no mass, no bleed, left insula infarct",
    ],
)
def test_a_finding_is_not_denied_with_what_is_normal_beside_it(text):
    found = read_mentions(text, COUNTER)
    assert [(m.term, m.side) for m in found.present if m.term == "insula"] == [("insula", "left")]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("right hippocampus small and bright left hippocampus normal", ["right", "left"]),
        ("right hippocampus infarct left hippocampus unremarkable", ["right", "left"]),
        ("left hippocampus normal right hippocampus infarcted", ["right", "left"]),
    ],
)
def test_each_side_has_its_own_predicate(text, sides):
    found = {(side, status) for _, side, status in structures(text)}
    assert found == set(zip(sides, ["affirmed", "denied"], strict=True))


def test_the_next_structure_is_another_subject():
    assert structures("old left insular lacune right thalamus unremarkable") == [
        ("insula", "left", "affirmed"),
        ("thalamus", "right", "denied"),
    ]
    assert structures("left insular tumor hippocampus normal") == [
        ("insula", "left", "affirmed"),
        ("hippocampus", None, "denied"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "insula and thalamus normal",
        "insula thalamus hippocampus spared",
        "insula no signal change",
        "insula no change in signal",
        "insula no bleed, edema, mass",
        "insula no edema, thalamic bleed or mass",
        "the infarct of the insula has resolved",
        "left insular infarct is not seen",
        "the signal of the lesion in the insula is normal",
        "no infarct, left insular bleed or mass",
        "no infarct, hemorrhage, left insular mass or edema",
        "no acute infarct, left insular lesion, or right thalamic mass",
        "no lesion in the left insula, right thalamus",
        "No right thalamic lesion, left insular infarct or mass",
    ],
)
def test_what_else_is_denied_stays_denied(text):
    assert {status for *_, status in structures(text)} == {"denied"}
