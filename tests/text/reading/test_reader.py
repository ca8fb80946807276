"""The new reader: sentences of each level, recorded sets by their totals, and its time."""

import time

import pytest
from tests.text import passages
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


def read(text):
    """Return the status and the side of each structure."""
    found = [m for m in read_mentions(text, COUNTER).found if m.is_structure]
    return {text[m.start : m.end].lower(): (m.status, m.side) for m in found}


def statuses(text):
    return {name: status for name, (status, _) in read(text).items()}


def sides(text):
    return {name: side for name, (_, side) in read(text).items()}


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("No infarct in the pons, thalamus or insula.", {"pons", "thalamus", "insula"}),
        ("No infarct in the pons, and the thalamus is bright.", {"pons"}),
        ("The infarct spared the thalamus but not the putamen.", {"thalamus"}),
        ("The lesion spares the insula but not the amygdala.", {"insula"}),
        ("Signal change of the pons is absent.", {"pons"}),
        ("The insula is involved, the putamen is spared.", {"putamen"}),
        ("Thalamus, caudate and putamen: normal signal.", {"thalamus", "caudate", "putamen"}),
        ("Pons: no lesion. Insula: infarct.", {"pons"}),
        ("Uptake was normal in the insula and reduced in the thalamus.", {"insula"}),
        ("All regions except the putamen and the insula responded.", {"putamen", "insula"}),
        ("No abnormality except a cyst in the pons.", set()),
        ("It is not true that the insula was unaffected.", set()),
        ("No growth of the left thalamus glioma.", set()),
        ("The amygdala responded, whereas the insula did not.", {"insula"}),
        ("Patients without neglect had lesions of the insula.", set()),
        ("The insula showed no difference between groups.", {"insula"}),
        ("Lesions of the pons and the insula. None showed an effect.", set()),
        ("The pons is not swollen but infarcted.", set()),
        ("The pons is small and the midline is shifted.", set()),
        ("No part of the insula is spared.", set()),
        ("The lesion spares neither the pons.", set()),
        ("A lesion in the pons, which does not enhance.", set()),
        ("The pons was active in regions that were not modulated by load.", set()),
        ("Activity in the pons did not correlate with the thalamus.", {"thalamus"}),
        ("A possible lesion of the pons, artefactual.", set()),
        ("Activity of the pons, but this mechanism is not known.", set()),
        ("?Lesion of the pons on CT. MRI does not confirm this.", {"pons"}),
        ("Query tumour of the pons; there is no evidence of this.", {"pons"}),
        ("CT suggested a lesion of the pons. This was artefact.", {"pons"}),
        ("?Lesion of the pons on CT. MRI: this was not confirmed.", {"pons"}),
        ("Lesion of the pons. There was no evidence of this on the earlier scan.", set()),
        ("Cyst of the pons. This was not confirmed as a tumour.", set()),
        ("[ ] Insula [x] Pons [ ] Thalamus", {"insula", "thalamus"}),
        ("☐ Insula ☒ Pons", {"insula"}),
        ("There is everything wrong with the pons.", set()),
        ("Four sharply demarcated lesions in the pons.", set()),
        ("Normal signal in the pons.", {"pons"}),
        ("Participants with normal vision activated the left insula.", set()),
        ("Atrophy of the (R) insula, (L) thalamus normal.", {"thalamus"}),
        ("Glioma sparing the thalamus, located in the left putamen.", {"thalamus"}),
        ("Infarct sparing the insula, involving the putamen.", {"insula"}),
        ("A lesion that spares the thalamus, centred in the putamen", {"thalamus"}),
        ("Sparing the thalamus, the lesion occupies the amygdala.", {"thalamus"}),
        ("Oedema, sparing the thalamus, in the left insula.", {"thalamus"}),
        ("The tumour spares the insula and sits in the amygdala.", {"insula"}),
        ("Glioma not involving the thalamus, located in the insula", {"thalamus"}),
        ("Sparing of the pons, seen in the insula", {"pons"}),
        ("Mass without extension to the thalamus, located in the insula", {"thalamus"}),
        ("Infarct sparing the insula, putamen and pons.", {"insula", "putamen", "pons"}),
        ("Not involving the insula, thalamus or pons.", {"insula", "thalamus", "pons"}),
        ("Normal in the insula, infarct in the pons.", {"insula"}),
    ],
)
def test_denials(text, denied):
    assert {name for name, status in statuses(text).items() if status == "denied"} == denied


@pytest.mark.parametrize(
    ("text", "hedged"),
    [
        ("Possible infarct of the pons.", {"pons"}),
        ("An infarct of the pons cannot be excluded.", {"pons"}),
        ("?thalamus lacune. The pons is normal.", {"thalamus"}),
        ("The insula may be normal.", {"insula"}),
        ("If the insula is involved, surgery is risky.", {"insula"}),
        ("In May the pons was bleeding.", set()),
    ],
)
def test_hedges(text, hedged):
    assert {name for name, status in statuses(text).items() if status == "hedged"} == hedged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left insula and putamen", {"insula": "left", "putamen": "left"}),
        ("left thalamus, anterior putamen", {"thalamus": "left", "putamen": "left"}),
        (
            "left insula, posterior putamen and amygdala",
            {"insula": "left", "putamen": "left", "amygdala": "left"},
        ),
        ("insula (R), pons", {"insula": "right", "pons": None}),
        ("the right but not the left insula", {"insula": "right"}),
        ("On the left, the insula and the putamen.", {"insula": "left", "putamen": "left"}),
        ("left thalamus glioma extending into the insula", {"thalamus": "left", "insula": "left"}),
        ("insula and putamen bilaterally", {"insula": "bilateral", "putamen": "bilateral"}),
        ("left hand; contralateral insula", {"insula": "right"}),
        (
            "The insula and the putamen were small on the left and right, respectively.",
            {"insula": "left", "putamen": "right"},
        ),
        (
            "The infarct of the left insula; the putamen of the same side is spared.",
            {"insula": "left", "putamen": "left"},
        ),
    ],
)
def test_sides(text, expected):
    assert sides(text) == expected


def test_tables_have_sides_and_denials():
    text = "Region | Right | Left\nInsula | atrophic | normal\nPons | normal | normal"
    assert read(text) == {"insula": ("affirmed", "right"), "pons": ("denied", "bilateral")}


def test_names_of_rules_imply_structures():
    (mention,) = read_mentions("Left hemianopia.", COUNTER).rule_based
    assert {(each.term, each.side) for each in mention.implied} >= {("occipital lobe", "right")}
    assert mention.rows == ("implied:hemianopia",)


def test_each_answer_has_the_rows_that_made_it():
    mention = read_mentions("No lesion of the left insula.", COUNTER).found[-1]
    assert mention.rows == ("cues:no", "sides:before")


@pytest.mark.parametrize(
    ("name", "least", "precision"), [("third", 594, 0.975), ("fourth", 384, 0.975)]
)
def test_sets_that_nobody_has_looked_at(name, least, precision, monkeypatch):
    monkeypatch.setattr(passages, "read_mentions", read_mentions)
    some = passages.read_passages(name)
    tallies, n_right = passages.score_passages(some, passages.told_counter(some))
    assert n_right >= least
    assert tallies["denied"].precision >= precision


REPEATED = """
no; not; may; if; insula and; left insula; left; neither nor; left contralateral; PCA; left PCA
stroke; right hemiparesis, left hemianopia.; left MCA infarct.; compressed insula; face cortex
"""


@pytest.mark.parametrize("words", [words.strip() for words in REPEATED.split(";")])
def test_a_text_is_read_in_linear_time(words):
    def seconds(length):
        text = (words + " ") * (length // len(words))
        start = time.process_time()
        read_mentions(text, COUNTER)
        return time.process_time() - start

    seconds(1000)
    short, long = min(seconds(2000) for _ in range(3)), min(seconds(16_000) for _ in range(2))
    assert long < 24 * max(short, 0.001)  # eight times as long


@pytest.mark.parametrize(
    "text",
    [
        "Place: Pons, insula\nSide: Right",
        "[ ] Left [x] Right [x] Pons [x] Insula",
        "☒ Pons ☒ Insula. Side: ☐ left ☒ right",
    ],
)
def test_the_side_of_a_form_is_of_its_places(text):
    assert sides(text) == {"pons": "right", "insula": "right"}
