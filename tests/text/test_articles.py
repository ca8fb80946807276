"""Sections of articles, and how much their sentences say of where."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.text import articles
from neurowhere.text.articles import Section, place_weights, section_cuts

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


@pytest.mark.parametrize("unit", ["Results (", "( A", "[1, ", "Figure 1. ", "\n \n", "p ", "1.1 "])
def test_time_grows_linearly_with_a_hostile_text(unit):
    def seconds(n):
        text = unit * n
        start = time.process_time()
        place_weights(text, np.array([0]), np.array([0]), np.array([True]))
        return time.process_time() - start

    small, large = min(seconds(4000) for _ in range(3)), seconds(40000)
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
)


@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_signs_and_headings_are_found_as_their_expressions_find_them(text):
    small = articles._small(text)
    assert len(small) == len(text)
    for sign in articles._SIGNS:
        expected = [match.start() for match in sign.pattern.finditer(text)]
        assert list(sign.places(text, small)) == expected
    matches = articles._HEADING.finditer(text)
    expected = [(match.end(), Section[match.lastgroup]) for match in matches]
    assert list(articles._headings(text)) == expected


def test_signs_are_found_where_a_long_text_is_cut(monkeypatch):
    text = "We found no score of activity in the left insula (Figure 2; p = 0.3, t(4)), et al. " * 5
    whole = [list(sign.places(text, articles._small(text))) for sign in articles._SIGNS]
    for piece in (7, 10, 33):
        monkeypatch.setattr(articles, "PIECE", piece)
        assert [list(sign.places(text, articles._small(text))) for sign in articles._SIGNS] == whole
    assert all(whole)
