"""Names of structures with one wrong letter, and sides that are typed wrongly."""

import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

COUNTER = TermCounter(small_vocabulary())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left hipocampal sclerosis", ("hippocampus", "left")),
        ("Infarct of the left hipocampus", ("hippocampus", "left")),
        ("rt thalmic bleed", ("thalamus", "right")),
        ("large bleed in the thalmus", ("thalamus", None)),
        ("left acute cerebeller infarct", ("cerebellum", "left")),
        ("no infarct in the left amydgala", ("amygdala", "left")),
        ("atrophy of the rigth hipocampus", ("hippocampus", "right")),
        ("Rihgt thalamus lacune", ("thalamus", "right")),
        ("lfet insula glioma", ("insula", "left")),
        ("Infarct of the letf cerebelum", ("cerebellum", "left")),
    ],
)
def test_one_wrong_letter_beside_a_side_or_a_lesion_is_read_and_told(text, expected):
    (found,) = (each for each in read_mentions(text, COUNTER) if each.is_structure)
    assert (found.term, found.side) == expected
    assert found.is_misspelt
    assert found.is_negated == text.startswith("no")


@pytest.mark.parametrize(
    "text",
    [
        "The thalmic complex was studied.",  # beside nothing
        "l thalmic",  # no side
        "left hipocampl sclerosis",  # two slips
        "left segmental lesion",  # tegmental
        "right follicular lesion",  # collicular
        "left annular lesion",  # angular
        "left fontal lesion",  # short
    ],
)
def test_other_words_are_not_read_as_structures(text):
    assert not any(each.is_structure for each in read_mentions(text, COUNTER))


def test_a_word_between_two_names_is_none_of_them():
    between = "left caudatum lesion"
    two = TermCounter(Vocabulary(["caudatus", "caudatam"]))
    assert not read_mentions(between, two).found
    (found,) = read_mentions(between, TermCounter(Vocabulary(["caudatus", "insula"]))).found
    assert found.is_misspelt


def test_what_is_spelt_well_is_not_misspelt():
    assert not any(each.is_misspelt for each in read_mentions("left hippocampal lesion", COUNTER))
