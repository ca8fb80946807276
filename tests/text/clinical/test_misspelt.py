import pytest
from tests.text.sentences import small_vocabulary

from neurowhere.text import TermCounter
from neurowhere.text.clinical.mentions import read_mentions
from neurowhere.text.clinical.misspelt import SPELT
from neurowhere.text.clinical.places import SIDE_WORDS

COUNTER = TermCounter(small_vocabulary())


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("rigth insular infarct", "right"),
        ("Rihgt-sided glioma of the insula", "right"),
        ("insular infarct lefft", "left"),
        ("letf insula bleed", "left"),
        ("bilatral insular atrophy", "bilateral"),
        ("atrophy of the insula bilateraly", "bilateral"),
    ],
)
def test_misspelt_sides_are_read(text, side):
    found = read_mentions(text, COUNTER)
    assert [m.side for m in found if m.term == "insula"] == [side]


def test_a_misspelt_side_of_a_limb_is_crossed():
    mentions = read_mentions("weakness of the lefft hand", COUNTER)
    assert [(m.side, m.is_crossed) for m in mentions if m.term == "hand"] == [("left", True)]


def test_other_words_are_no_sides():
    assert not read_mentions("She letf the clinic. Memory was good.", COUNTER).unapplied
    assert not SIDE_WORDS.keys() & SPELT.keys()
    assert {*SPELT.values()} <= SIDE_WORDS.keys()
