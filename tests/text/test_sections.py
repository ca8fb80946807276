"""Sections of articles and of reports, and how much sentences say of where."""

import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.sentences import small_vocabulary

from neurowhere.model import reading
from neurowhere.model.reading import place_weights
from neurowhere.text import TermCounter, sections
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.sections import Section, read_sections, section_cuts

FILLER = "We write one more sentence to fill the page. " * 40
ARTICLE = (
    f"Brains. Abstract We scanned the insula. 1. Introduction {FILLER}The thalamus is known. "
    f"2. Materials and Methods {FILLER}We drew the putamen. "
    f"3. Results {FILLER}The left amygdala responded (Figure 2). "
    f"Discussion {FILLER}The hippocampus matters. References The cerebellum."
)


def section_at(text, word):
    place = text.index(word)
    return max(cut for cut in section_cuts(text) if cut[0] <= place)[1]


@pytest.mark.parametrize(
    ("word", "section"),
    [
        ("insula", Section.FRONT),
        ("thalamus", Section.INTRODUCTION),
        ("putamen", Section.METHODS),
        ("amygdala", Section.RESULTS),
        ("hippocampus", Section.DISCUSSION),
        ("cerebellum", Section.BACK),
    ],
)
def test_headings_in_running_text_begin_sections(word, section):
    assert section_at(ARTICLE, word) == section


def test_headings_of_a_structured_abstract_do_not():
    abstract = "Background We ask. Methods We scan. Results The insula. Conclusions Yes. "
    text = f"{abstract}Introduction {FILLER}Results {FILLER} The amygdala. "
    assert section_at(text, "insula") == Section.FRONT
    assert section_at(text, "amygdala") == Section.RESULTS


def test_a_caption_ends_and_its_section_goes_on():
    text = f"Introduction {FILLER}Results {FILLER}Figure 1. The insula.\nThe amygdala. {FILLER}"
    assert section_at(text, "The insula") == Section.CAPTION
    assert section_at(text, "The amygdala") == Section.RESULTS


@pytest.mark.parametrize("before", ["As shown in\n ", "The task (see\n", "It is active (\n "])
def test_a_figure_at_the_start_of_a_line_within_a_sentence_is_no_caption(before):
    text = f"Introduction {FILLER}Results {FILLER}{before}Figure 1 C), the insula is. {FILLER}"
    assert section_at(text, "insula") == Section.RESULTS
    ended = text.replace(before, "It is so.\n")
    assert section_at(ended, "insula") == Section.CAPTION


def weight_of(sentence, word="insula"):
    start = np.array([sentence.index(word)])
    return place_weights(sentence, start, np.array([0]), np.array([True]))[0]


@pytest.mark.parametrize(
    ("sentence", "weight"),
    [
        ("The insula.", 0.0),
        ("We found the insula.", 0.4),
        ("The insula (Figure 3).", 0.8),
        ("The insula (Smith et al., 2004).", -1.2),
        ("Not the insula.", -1.05),
        ("The insula. We did not find it.", 0.0),
    ],
)
def test_a_sentence_weighs_by_what_it_says(sentence, weight):
    assert weight_of(sentence) == pytest.approx(weight)


def test_three_structures_in_a_sentence_weigh_more_than_one_named_thrice():
    text = "Here aa bb cc. There dd dd dd."
    starts = np.array([text.index(word) for word in ("aa", "bb", "cc", "dd")] + [24, 27])
    terms, structures = np.array([0, 1, 2, 3, 3, 3]), np.ones(6, bool)
    np.testing.assert_allclose(
        place_weights(text, starts, terms, structures), [0.5] * 3 + [0.0] * 3
    )


def test_nothing_is_asked_of_a_text_without_mentions():
    nothing = np.zeros(0, int)
    assert place_weights(ARTICLE, nothing, nothing, nothing.astype(bool)).shape == (0,)


@pytest.mark.parametrize(
    "unit",
    [
        "Results (",
        "( A",
        "[1, ",
        "Figure 1. ",
        "\n \n",
        "\n",
        "MRI: it typically affects. ",
        "p ",
        "1.1 ",
        "University ",
        "Plan: Unit, ",
    ],
)
def test_time_grows_linearly_with_a_hostile_text(unit):
    def seconds(n):
        text = unit * n
        start = time.process_time()
        place_weights(text, np.array([0]), np.array([0]), np.array([True]))
        read_sections(text)
        return time.process_time() - start

    small, large = (min(seconds(n) for _ in range(3)) for n in (4000, 40000))
    assert large < 40 * max(small, 2e-3)


# What signs and headings are made of, and what may fool them.
BITS = (
    *(
        "No ",
        "not",
        "non-significant",
        "ſcoreſ ",
        "İ ",
        "ı",
        "RTs",
        "Fig. 3",
        "table s2",
        " p < .05",
    ),
    *(
        "t(3)",
        " r =",
        "p\n>",
        "et al",
        "(Smith. Foo 2010)",
        "[12, 13]",
        "\n",
        ". ",
        "? ",
        "A ",
        "B",
    ),
    *("1. Introduction ", "METHODS AND MATERIALS ", "RESULTS AND DISCUSSION ", "Figure 3. A"),
    *("Results and discussion A", "Methods\n", "Participants and procedures  (", "Figure 12"),
    *("2.1 Supplementary materials\n", "previous  study", "prior work. Left", "responſe times"),
    *("activating. ", "deactivates", "FWE", "(", "=", "Fig", "Author contributions X"),
    *("é", "_", "–", "İno", "rt", "nor", "e", "peak"),
)


def signs_in(text):
    small = reading._small(text)
    begun = reading._STEMS.find(small)
    pairs = zip(reading._SIGNS, begun, strict=True)
    return [list(sign.places(text, small, words)) for sign, words in pairs]


@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_signs_and_headings_are_found_as_their_expressions_find_them(text):
    small = reading._small(text)
    assert len(small) == len(text)
    for sign, found in zip(reading._SIGNS, signs_in(text), strict=True):
        assert found == [match.start() for match in sign.pattern.finditer(text)]
    expected = [
        (match.end(), Section[match.lastgroup])
        for match in sections._HEADING.finditer(text)
        if not (match["CAPTION"] and sections._is_in_sentence(text, match))
    ]
    assert list(sections._headings(text)) == expected


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_the_number_of_a_figure_within_a_sentence_is_no_caption(gap):
    known = "Title. Introduction We ask. Methods We scan. Results We see it "
    text = f"{known}(see{gap}Figure 2{gap}). It is in{gap}Figure 3{gap}for all. Then we"
    assert section_cuts(text) == section_cuts(f"{known}(see). It is in all. Then we")
    caption = f"{known}here.{gap}Figure 2{gap}The left insula. And more."
    assert Section.CAPTION in [section for _, section in section_cuts(caption)]


# ---- reports

HEADING_BITS = (
    *("Findings", "FINDINGS: ", "1. ", "2) ", "** ", "•", "-", " - ", " – ", "\t", ":", "*:", "\r"),
    *("\n", ". ", ";", "?", "é", "x-ray", " of a", "(b)", "history", "'s ", ", ", "a" * 40),
)


@given(st.lists(st.sampled_from(HEADING_BITS), max_size=9).map("".join))
def test_headings_of_reports_are_those_of_the_whole_expression(text):
    pattern = sections._REPORT_HEADING.pattern.replace(sections._MAY_BE_HEADING, "")
    whole = re.compile(pattern, sections._REPORT_HEADING.flags)
    starts = range(len(text) + 1)
    found = [sections._REPORT_HEADING.match(text, start) for start in starts]
    expected = [whole.match(text, start) for start in starts]
    assert [match and match.span("end") for match in found] == [
        match and match.span("end") for match in expected
    ]


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


def test_what_the_family_has_ends_with_its_sentence_if_nothing_else_does():
    mentions = read_mentions("Family history: insula glioma. Left thalamus small.", COUNTER)
    assert [mention.term for mention in mentions.present] == ["thalamus"]


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
        ("Background: stroke.\nEEG: slow.\nImpression: abnormal.", ["history"]),
        ("Background: beta thalassemia.\nFindings: normal.", ["history"]),
        # beside other headings of a line
        ("PMH: stroke of the pons. CT: insula swollen.", ["history"]),
        ("Hx: stroke. HPI: aphasia. MRI brain: insula.", ["history"]),
        ("Indication: ?stroke. CT head w/o contrast: insula.", ["indication"]),
        ("PMH: stroke; O/E: aphasia", ["history"]),
        ("CT: insula. MRI: pons.", []),
        # with dashes
        ("History – stroke of the pons. CT – insula swollen.", ["history"]),
        ("Background - stroke. Findings - insula swollen.", ["history"]),
        ("Indication — ?stroke\nReport — insula", ["indication"]),
        ("Limitations: pons not seen. Findings: insula swollen.", ["technique"]),
        ("Findings: insula swollen, edema. Limitations - poor.", ["technique"]),
        ("We scanned them. History - dependent effects in the insula.", []),
        ("He has a history - stroke - and aphasia.", []),
        ("Background - a. Methods - b. Results - c. Limitations - d.", []),
        ("Limitations of the study were few. Insula.", []),
        # no headings
        ("PMH: stroke. The CT was normal.", []),
        ("History of stroke. Normal.", []),
        ("Comparison with controls showed activation.", []),
        ("He has a history: it is long.", []),
        # nothing else to read
        ("Indication: stroke.", []),
        # nothing else to read, but never of the patient
        ("Family history: mother with stroke.", ["history"]),
        ("FH: stroke", ["history"]),
        ("PMH: stroke. Family Hx: glioma.", ["history"]),
        ("Family history of stroke.", ["history"]),
        # structured abstracts
        ("Background: memory.\nMethods: fMRI.\nResults: insula.", []),
        ("BACKGROUND\nMemory.\nRESULTS\nInsula.", []),
        ("Background: a. Methods: b. Findings: c. Interpretation: d.", []),
        ("Objective: memory.\nHistory: none.\nFindings: insula.", []),
    ],
)
def test_headings(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "institutions"),
    [
        ("At the Pain Clinic, University of Basel, today", ["Pain Clinic", "University of Basel"]),
        (
            "1 Department of Speech and Hearing Science.",
            ["Department of Speech and Hearing Science"],
        ),
        (
            "Memory and Aging Center, Basel University",
            ["Memory and Aging Center", "Basel University"],
        ),
        ("Insula. Institute of Neurology, London. Pons.", ["Institute of Neurology"]),
        (
            "Stroke Unit; Aphasia; Rehabilitation Hospital; Insula",
            ["Stroke Unit", "Rehabilitation Hospital"],
        ),
        ("Helen Wills Neuroscience Institute\nThalamus", ["Helen Wills Neuroscience Institute"]),
        # no institutions
        ("Pain in College Students and University athletes", []),
        ("the speech centre, the pain clinic and the university", []),
        ("PAIN CLINIC, UNIVERSITY HOSPITAL", []),
        ("Hospital Anxiety and Depression Scale", []),
        ("Boston University Aphasia Study: Broca's Area", []),
        ("Hospital Course: Left Thalamic Stroke", []),
        ("Pleasure Center, Nucleus Accumbens", []),
        ("Sleep Laboratory Findings: Thalamus", []),
        ("Memory In Medical School Applicants", []),
        ("", []),
    ],
)
def test_names_of_institutions_are_no_findings(text, institutions):
    found = read_sections(text)
    assert [text[part.start : part.end] for part in found] == institutions
    assert {part.name for part in found} <= {"address"}


def test_a_structure_in_the_name_of_an_institution_is_read():
    text = "Department of Insula Research, pain in the Thalamus Hospital"
    status = {mention.term: mention.status for mention in read_mentions(text, COUNTER)}
    assert status["insula"] == status["thalamus"] == "affirmed"


@pytest.mark.parametrize(
    "text",
    [
        "Pons\n\nAuthor information:\n(1)Insula Lab, Basel.\n\nThe thalamus.",
        "Pons.\nFunding: insula. The thalamus.",
        "The pons. Conflict of interest: insula. The thalamus.",
        "The pons. Acknowledgements: insula.\nThe thalamus.",
    ],
)
def test_affiliations_end_where_a_reader_sees_it(text):
    status = {mention.term: mention.status for mention in read_mentions(text, COUNTER)}
    assert status == {"pons": "affirmed", "insula": "not_finding", "thalamus": "affirmed"}


def test_what_stands_above_an_abstract_is_no_finding():
    text = (
        "Pons\n\nAffiliations\n1 Insula Lab, Basel\n\nAbstract\nThe thalamus.\n\nFunding: putamen"
    )
    status = {mention.term: mention.status for mention in read_mentions(text, COUNTER)}
    assert [term for term in status if status[term] == "affirmed"] == ["pons", "thalamus"]


def test_a_section_beside_its_heading_ends_at_an_empty_line():
    text = "Indication: stroke.\n\nThe thalamus is swollen."
    (section,) = read_sections(text)
    assert text[section.start : section.end].strip() == "stroke."


@pytest.mark.parametrize("row", ["Region | Right", "| Insula | normal |", "Insula\tnormal"])
def test_a_section_beside_its_heading_ends_at_a_table(row):
    text = f"Indication: stroke.\nOf the right arm.\n{row}\nThe thalamus and the pons are swollen."
    (section,) = read_sections(text)
    assert text[section.start : section.end].split() == ["stroke.", "Of", "the", "right", "arm."]


@pytest.mark.parametrize(
    "text",
    [
        "Reason for exam: pons\nBrain MRI\nInfarct of the insula\nImpression\nStroke",
        "Exam: aphasia.\nPlan: pons biopsy. MRI next day: infarct of the insula.",
        # no line of its own, or the findings have a heading
        "Indication: pons.\nThere is concern for stroke of the pons.\nConclusion: insula.",
        "History: fall.\nMRI of the brain showed the pons.\nConclusion: insula normal in size.",
        "History: fall.\nThere is weakness and the pons.\nFindings: insula normal in size.",
        "Indication: pons.\nMRI brain.\nOf the pons.\nFindings: insula normal in size.",
    ],
)
def test_findings_without_a_heading_end_the_history(text):
    sections = {mention.term: mention.section for mention in read_mentions(text, COUNTER)}
    assert sections["insula"] is None
    assert sections["pons"] is not None


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
