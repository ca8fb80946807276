"""What a text names and does not find: what became normal, was not seen, or is known of all."""

import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.clinical.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def denied(text):
    """Words of the mentions that are denied."""
    return [text[m.start : m.end].lower() for m in read_mentions(text, COUNTER) if m.is_negated]


# ---- what became normal


@pytest.mark.parametrize(
    "text",
    [
        "Insular hyperactivity normalised with remission.",
        "Before therapy the pons was hyperactive; its response returned to normal afterwards.",
        "Patients had a larger insula than controls, which had normalized by the second visit.",
        "They showed an excess in the thalamus that returned to baseline once they slept.",
        "Normalization of thalamic blood flow predicts recovery.",
    ],
)
def test_what_became_normal_was_not_so(text):
    assert denied(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "The swelling of the insula has normalised since May.",
        "Signal in the insula is now back to normal.",
        "Diffusion in the insula and the pons has returned to normal.",
        "Interval normalisation of the insula.",
        "The insula is normal after treatment.",
        "Activity of the insula had normalised, whereas the pons stayed hyperactive.",
        "The oedema of the insula resolved after treatment.",
    ],
)
def test_what_is_normal_now_is_denied(text):
    assert "insula" in denied(text)


# ---- what could not be assessed


@pytest.mark.parametrize(
    "text",
    [
        "Beam hardening precludes reliable assessment of the pons and the left insula.",
        "The insula could not be adequately evaluated owing to movement.",
        "Coverage of the posterior fossa and insula was incomplete.",
        "Insula: not assessed.",
        "The caudate is normal; the insula is partly imaged.",
        "Metal artefact overlying the left insula. Infarct in the pons.",
        "Streaks from the clip obscure the insula.",
        "The right insula is marred by susceptibility artefact.",
        "The insula is not within the field of view.",
    ],
)
def test_what_could_not_be_assessed_is_no_finding(text):
    assert "insula" in denied(text)
    assert "infarct" not in denied(text)


@pytest.mark.parametrize(
    "text",
    [
        "The infarct of the insula is not well seen on CT.",
        "Evaluation of the insular lesion is limited.",
        "Assessment of the insula is limited, and a small infarct could be missed.",
        "The insula is obscured by a hemorrhage.",
        "The insula is distorted by the tumor.",
        "The lesion is limited to the insula.",
        "Involvement of the insula could not be assessed.",
        "Evaluation of the insula was not limited.",
        "The role of the insula has not been assessed.",
        "Poor evaluation of fear in the insula.",
        "Possible artefact in the insula.",
        "Changes in the insula were assessed with MRI.",
    ],
)
def test_findings_that_are_seen_badly_are_not_denied(text):
    assert denied(text) == []
