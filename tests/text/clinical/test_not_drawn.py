"""What a text names and does not find: places that became normal, unseen, or known of in general."""

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
        "The oedema of the insula resolved after treatment.",
    ],
)
def test_what_is_normal_now_is_denied(text):
    assert "insula" in denied(text)
