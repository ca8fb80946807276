import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.clinical.assertions import read_sections
from neurowhere.text.clinical.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())
REPORT = """\
INDICATION: Seizures, ?insula.
TECHNIQUE: Axial T2. Voxel in the putamen.
COMPARISON: MRI of 2019 with a lesion of the caudate.

FINDINGS: Lesion of the thalamus. The pons is normal.
"""


def names(text):
    return [section.name for section in read_sections(text)]


def test_sections_of_a_report_are_no_findings():
    status = {mention.term: mention.status for mention in read_mentions(REPORT, COUNTER)}
    assert status["insula"] == status["putamen"] == "not_finding"
    assert status["caudate nucleus"] == "not_finding"
    assert (status["thalamus"], status["pons"]) == ("affirmed", "denied")


def test_a_mention_tells_its_section():
    section = {mention.term: mention.section for mention in read_mentions(REPORT, COUNTER)}
    assert section["insula"] == "indication"
    assert section["putamen"] == "technique"
    assert section["caudate nucleus"] == "comparison"
    assert section["thalamus"] is None


def test_all_sections_are_read_if_asked_to():
    mentions = read_mentions(REPORT, COUNTER, sections=False)
    assert not any(mention.section for mention in mentions)
    assert "putamen" in [mention.term for mention in mentions.present]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("History: stroke.\nFindings: normal.", ["history"]),
        ("PMH: stroke.\nImaging today: normal.", ["history"]),
        ("Reason for exam: stroke.\nImpression: normal.", ["indication"]),
        ("Clinical details: ?stroke. Findings: normal.", ["indication"]),
        ("Comparison (12/2019): stroke.\nReport: normal.", ["comparison"]),
        ("## Technique\nAxial.\n\nCoronal.\n\n## Findings\nNormal.", ["technique"]),
        ("**History:** stroke\n**Findings:** normal", ["history"]),
        ("Operation: frontal approach.\nFindings: tumor.", ["technique"]),
        ("Plan: MRI. Impression: stroke.", ["plan"]),
        ("Background: stroke.\nFindings: normal.", ["history"]),
        # no headings
        ("History of stroke. Normal.", []),
        ("Comparison with controls showed activation.", []),
        ("He has a history: it is long.", []),
        # nothing else to read
        ("Indication: stroke.", []),
        # structured abstracts
        ("Background: memory.\nMethods: fMRI.\nResults: insula.", []),
        ("BACKGROUND\nMemory.\nRESULTS\nInsula.", []),
        ("Background: a. Methods: b. Findings: c. Interpretation: d.", []),
        ("Objective: memory.\nHistory: none.\nFindings: insula.", []),
    ],
)
def test_headings(text, expected):
    assert names(text) == expected


def test_a_section_beside_its_heading_ends_at_an_empty_line():
    text = "Indication: stroke.\n\nThe thalamus is swollen."
    (section,) = read_sections(text)
    assert text[section.start : section.end].strip() == "stroke."


@given(st.text(alphabet="History:FindgsTecnqu \n.-#*1", max_size=80))
def test_sections_are_parts_of_the_text_in_order(text):
    sections = read_sections(text)
    bounds = [bound for section in sections for bound in (section.start, section.end)]
    assert bounds == sorted(bounds)
    assert all(0 <= bound <= len(text) for bound in bounds)


@pytest.mark.parametrize(
    "text",
    [
        "A brief history of the hippocampus",
        "Brief history of the hippocampus\n\nThe hippocampus was named in 1587.",
        "The thalamus is a relay, and has long been called so.\n\nHistory\nThe insula was named.",
    ],
)
def test_history_is_a_word_as_well(text):
    assert read_sections(text) == []
    assert all(mention.status == "affirmed" for mention in read_mentions(text, COUNTER))


def test_headings_alone_on_their_lines_are_those_of_reports_with_several():
    text = "HISTORY\nStroke of the insula.\nFINDINGS\nAtrophy of the thalamus and the pons."
    assert names(text) == ["history"]
    assert names("History: stroke.\n\nAtrophy of the thalamus.") == ["history"]
