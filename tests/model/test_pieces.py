"""Long texts that are read in pieces."""

from functools import partial

import pytest
from tests.studies import TERMS

from neurowhere import Vocabulary
from neurowhere.model.pieces import joined, read_in_pieces
from neurowhere.text import TermCounter
from neurowhere.text.clinical.mentions import read_mentions
from neurowhere.text.cuts import cuts

SENTENCES = (
    "Left amygdala infarct, possibly of the visual cortex.",
    "No lesion in the motor cortex.",
    "Weakness of the right arm; the left PICA is occluded.",
    "A left MCA infarct.",
)
READ = partial(read_mentions, counter=TermCounter(Vocabulary(TERMS)), hedge_weight=0.5)


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
@pytest.mark.parametrize("piece", [60, 100, 333])
def test_pieces_give_the_mentions_of_the_whole(between, piece):
    text = between.join(SENTENCES * 7)
    pieces = list(read_in_pieces(text, READ, piece=piece))
    assert len(pieces) > 1
    assert joined([mentions for _, mentions in pieces]) == READ(text)
    assert len(READ(text).rule_based) > 0


@pytest.mark.parametrize("text", ["", "a", "no end at all" * 9, "word " * 50, "x" * 200])
def test_cuts_cover_the_text_and_none_is_too_long(text):
    pieces = list(cuts(text, 20))
    assert "".join(text[start:end] for start, end in pieces) == text
    assert all(end - start <= 20 for start, end in pieces)


def test_a_short_text_is_read_at_once():
    seen = []
    assert list(read_in_pieces("short", lambda text: seen.append(text) or READ(text)))
    assert seen == ["short"]
