"""What a relative has is no finding of the patient."""

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.relatives import find_relatives

COUNTER = TermCounter(Vocabulary(["insula", "parietal"]))


def sections_of(text):
    return {mention.term: mention.section for mention in read_mentions(text, COUNTER)}


@pytest.mark.parametrize(
    "text",
    [
        "Mother had a stroke in the left parietal lobe. The patient has a glioma of the insula.",
        "Her father died of a left parietal glioma. MRI today: infarct of the insula.",
        "Infarct of the insula. Her sister suffered a right parietal stroke.",
        "His maternal aunt was diagnosed with a parietal tumor, and he now has one of the insula.",
        "A man whose brother has a parietal cavernoma presented with bleeding in the insula.",
        "Her mother, who had a parietal stroke, saw her fall; infarct of the insula.",
        "Patient's father had left parietal stroke. Insula infarct.",
    ],
)
def test_what_a_relative_has_is_no_finding(text):
    assert sections_of(text) == {"insula": None, "parietal": "history"}


@pytest.mark.parametrize(
    "text",
    [
        "Her father died of a left parietal glioma.",
        "Family history of left parietal glioma.",
        "Family history is significant for right parietal bleeds.",
        "FHx: left parietal glioma",
        "Fam hx: brother - left parietal cavernoma",
        "Father: left parietal glioma.",
        "Maternal uncle: left parietal infarct.",
        "Mother (72): left parietal infarct.",
        "She has a sister with a left parietal AVM.",
        "A brother with left parietal sclerosis.",
    ],
)
def test_what_a_relative_has_is_no_finding_alone(text):
    assert sections_of(text) == {"parietal": "history"}
    assert sections_of(f"{text.rstrip('.')}. Insula infarct.") == {
        "parietal": "history",
        "insula": None,
    }


def test_what_a_scan_shows_is_of_the_patient():
    text = "Family history positive for parietal glioma, MRI shows an infarct of the insula."
    assert sections_of(text) == {"parietal": "history", "insula": None}


@pytest.mark.parametrize(
    "text",
    [
        "Mothers showed activation of the insula.",
        "Each mother had activation of the insula.",
        "Mother had noticed a droop; infarct of the insula.",
        "Her son has seen her fall on the side of the insula infarct.",
        "A 32-year-old mother had an infarct of the insula.",
        "The mother had an infarct of the insula.",
        "The mother had thicker insula than the father (n = 20 participants).",
        "He lives with his mother, has an infarct of the insula.",
        "Came with her sister with a droop; infarct of the insula.",
        "Mother with preeclampsia developed a bleed in the insula.",
        "Twin pregnancy; infarct of the insula.",
        "Reward and a family history of depression in the insula",
        "Family meeting: glioma of the insula explained.",
    ],
)
def test_what_is_not_of_a_relative_stays_a_finding(text):
    assert not find_relatives(text)
    assert sections_of(text)["insula"] is None
