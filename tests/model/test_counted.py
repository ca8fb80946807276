"""Long texts that are read in pieces."""

from functools import partial

import numpy as np
import pytest
from tests.studies import GRID, TERMS, make_corpus
from tests.text.counting import count_mentions

from neurowhere import Encoder, Vocabulary
from neurowhere.model.counted import RowCounter, joined, read_in_pieces, rows_of
from neurowhere.model.summary import summarise
from neurowhere.report.page import highlight
from neurowhere.text import TermCounter, TermExtractor
from neurowhere.text.reading.mentions import read_mentions
from neurowhere.text.words import cuts

SENTENCES = (
    "Left amygdala infarct, possibly of the visual cortex.",
    "No lesion in the motor cortex.",
    "Weakness of the right arm; the left PICA is occluded.",
    "A left MCA infarct.",
)


def story(n_cases, between=" "):
    """Return the sentences of some patients; none is a copy of another, which would count once."""
    cases = [sentence[:-1] + f" of case {n}." for n in range(n_cases) for sentence in SENTENCES]
    return between.join(cases)


READ = partial(read_mentions, counter=TermCounter(Vocabulary(TERMS)), hedge_weight=0.5)


@pytest.mark.parametrize("between", [" ", "\n", "\n\n"])
@pytest.mark.parametrize("piece", [60, 100, 333])
def test_pieces_give_the_mentions_of_the_whole(between, piece):
    text = story(7, between)
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


@pytest.fixture(scope="module")
def model():
    return Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus(60))


@pytest.fixture
def in_pieces(monkeypatch):
    """Read in pieces of a sentence or two, and list the mentions of the first few."""
    pieces = partial(read_in_pieces, piece=100)
    monkeypatch.setattr("neurowhere.model.reading.read_in_pieces", pieces)
    monkeypatch.setattr("neurowhere.model.reading.LISTED", 400)


TEXT = story(7) + " An unheard quokka."


@pytest.fixture
def both(model, request):
    """A text read at once, and in pieces."""
    whole = model.encode(TEXT)
    request.getfixturevalue("in_pieces")
    return whole, model.encode(TEXT)


def test_what_is_not_listed_counts_all_the_same(both):
    whole, cut = both
    np.testing.assert_array_equal(cut.probabilities, whole.probabilities)
    assert whole.listed is None
    assert {name: use.count for name, use in cut.uses.items()} == {
        name: use.count for name, use in whole.uses.items()
    }


def test_mentions_and_unknown_words_are_listed_up_to_a_limit_that_is_told(both):
    whole, cut = both
    assert 400 <= cut.listed < len(TEXT)
    assert cut.mentions.found == whole.mentions.found[: len(cut.mentions.found)]
    listed = [span for use in cut.uses.values() for span in use.where]
    assert 0 < max(end for _, end in listed) <= cut.listed
    assert "quokka" in [word.word for word in whole.unknown]
    assert "quokka" not in [word.word for word in cut.unknown]
    told = f"mentions are listed for the first {cut.listed} of {len(TEXT):,} characters"
    assert summarise(cut).support.summary.endswith(told)
    assert "quokka" not in highlight(cut)
    assert f"{len(TEXT) - cut.listed} more characters were read" in highlight(cut)


def test_a_sum_with_a_text_that_is_not_listed_whole_is_limited_too(both):
    whole, cut = both
    assert (whole + whole).listed is None
    assert (whole + cut).listed == len(TEXT) + len("\n+ ") + cut.listed


@pytest.mark.parametrize("sided", [(), ["left amygdala", "right motor cortex"]])
def test_rows_are_counted_as_mentions_are(sided):
    extractor = TermExtractor(Vocabulary(TERMS), sided=sided, nested=True)
    texts = [READ(text) for text in (*SENTENCES, "Right motor cortex, left amygdala.", "nothing")]
    rows = [rows_of(each.found, extractor) for each in texts]
    number = np.repeat(np.arange(len(rows)), list(map(len, rows)))
    counts = RowCounter(np.concatenate(rows), number, len(rows), extractor).count()
    expected = np.vstack([count_mentions(each, extractor).toarray() for each in texts])
    np.testing.assert_array_equal(counts.toarray(), expected)
    assert expected.sum() > 0
