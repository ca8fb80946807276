"""Findings outside the brain: every row of the table by its example, and texts of the brain."""

import time

import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.outside import BRAIN, find_outside, rows
from neurowhere.text.reading.mentions import Mentions, read_mentions
from neurowhere.text.reading.tables import alternatives, split
from neurowhere.text.words import fold

COUNTER = TermCounter(Vocabulary(["pons", "frontal lobe", "primary somatosensory cortex", "S1"]))
OUTSIDE = [row for row in rows() if row["where"] not in ("", BRAIN)]
VESSEL = "vessel outside the skull"
OTHERS = [row for row in rows() if row["where"] == BRAIN or row["kind"] in ("idle", "normal")]


def where(text):
    found = find_outside(text, read_mentions(text, COUNTER))
    return found and found.where


@pytest.mark.parametrize("row", OUTSIDE, ids=lambda row: row.id)
def test_an_example_is_where_its_row_says_and_by_its_row(row):
    found = find_outside(row["example"], Mentions(()))
    assert (found.where, found.row) == (row["where"], row.name)
    assert row["example"][found.start : found.end] == found.words


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: row.id)
def test_an_example_of_the_brain_is_not_outside(row):
    assert find_outside(row["example"], Mentions(())) is None


def test_each_row_has_a_place_or_needs_none():
    for row in rows():
        if row["kind"] != "exam":  # has one if it is of the brain
            assert bool(row["where"]) == (row["kind"] in ("disease", "effect", "place", "stem")), (
                row.id
            )


def test_a_phrase_is_of_one_row():
    owners = {}
    for row in rows():
        for item in split(row["words"]) if row["kind"] not in ("stem", "ending") else ():
            for phrase in alternatives(item):
                words = " ".join(map(fold, phrase.split()))
                assert owners.setdefault(words, row.id) == row.id, words


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("spinal cord infarct", "spinal cord"),
        ("left carotid stenosis", VESSEL),
        ("Right Bell's palsy", "nerve"),
        ("Compression of the S1 root", "nerve"),
        ("Ulnar neuropathy. The brain MRI is normal.", "nerve"),
        ("Vestibular neuritis; no lesion of the pons", "ear"),
        ("Ultrasound of the neck. A nodule of 22 mm.", "neck"),
        ("Herniated disc, left paracentral", "spine"),
        ("Hemangioma of the right hemisphere of the liver", "other organ"),
        ("The superior canal; the MRI of the brain is normal", "ear"),
        ("The lymph node was taken from the posterior triangle", "neck"),
        ("Perinephritis", "other organ"),
        ("supraglottitis", "neck"),
        ("Insular thyroid carcinoma with nodes", "neck"),
        ("angular vein thrombosis", VESSEL),
        ("Medial temporal canthus swelling of the eyelid", "orbit"),
        ("Indication: stroke. Findings: 80 % stenosis of the right carotid.", VESSEL),
    ],
)
def test_what_is_affected_outside_the_brain_is_told(text, place):
    assert where(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "Carotid occlusion with an infarct of the left frontal lobe",
        "Infarct of the pons; the right carotid is stenosed.",
        "Pons mass, right arm weak, leg normal on the left.",
        "Frontal lobe contusion and a subdural haematoma over the left convexity.",
        "Optic neuritis and a plaque in the pons",
        "Optic neuritis in multiple sclerosis",
        "Functional connectivity after spinal cord injury",
        "The orbit and the carotid arteries are normal",
        "No fracture of the skull",
        "The left carotid artery was catheterised",
        "Ultrasound of the left carotid. Stenosis: none.",
        "History: Bell's palsy. Findings: The ventricles are normal.",
        "stress and heart rate",
        "breathing, diaphragm and lungs",
        "vagus and heart",
        "Diagnosis and prognosis",
        "Ultrasound of the neck. The brain has a nodule.",
        "",
    ],
)
def test_the_brain_a_normal_place_and_one_that_is_only_named_are_not_outside(text):
    assert where(text) is None


@pytest.mark.slow
def test_places_outside_the_brain_are_found_in_time_in_proportion_to_the_length():
    def seconds(n):
        start = time.process_time()
        find_outside("[; " + "not.  kidney. " * n, Mentions(()))
        return time.process_time() - start

    few, many = (min(seconds(n) for _ in range(2)) for n in (400, 3200))
    assert many < 1.4 * 8 * few
