import html
import re

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.report.page import Note, markup, notes_on
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.reading.mentions import read_mentions

TERMS = ["insula", "thalamus", "hippocampus", "weakness"]


def marked(text, **contributions):
    """Highlighted text where each term has this contribution."""
    mentions = read_mentions(text, TermCounter(Vocabulary(TERMS)))
    where = {name: [] for name in contributions}
    for mention in mentions.present:
        for name in {mention.term, f"{mention.side} {mention.term}"} & set(where):
            where[name].append((mention.start, mention.end))
    values = list(contributions.values())
    terms = pd.DataFrame({"contribution": values, "where": list(where.values())})
    return markup(text, notes_on(mentions, terms, "nats"))


def test_terms_have_a_hue_for_the_direction_and_a_strength():
    page = marked("Insula, thalamus; hippocampus", insula=2.0, thalamus=-1.0, hippocampus=0.01)
    assert '<mark class="raises strength-5" title="insula: +2 nats">Insula</mark>' in page
    assert '<mark class="lowers strength-3" title="thalamus: -1 nats">thalamus</mark>' in page
    assert '<mark class="raises strength-1" title="hippocampus: +0.01 nats">' in page


def test_a_side_that_was_learned_adds_to_its_term():
    page = marked("left insula", **{"insula": 1.0, "left insula": -3.0})
    assert '<mark class="lowers strength-5" title="insula: -2 nats">insula</mark>' in page


def test_what_is_denied_is_struck_through():
    page = marked("No lesion in the thalamus, but the insula.", insula=1.0)
    assert '<s class="denied" title="thalamus: negated here, not counted">thalamus</s>' in page
    assert 'class="denies"' in page
    assert ">insula</mark>" in page


def test_sides_are_underlined_and_those_not_applied_are_marked():
    page = marked("Left insula infarct with right ear pain", insula=1.0, pain=0.5)
    assert '<u class="side left" title="left: side of insula">Left</u>' in page
    assert re.search('<u class="side unapplied" title="right: [^"]*not applied">right</u>', page)


def test_a_place_without_a_term_is_shown():
    page = marked("Left PICA stroke near the insula", insula=1.0)
    assert '<span class="place" title="PICA: ' in page


HOSTILE = "<img src=x onerror=alert(1)> insula \"'&</mark><script>"


def test_the_text_is_escaped():
    page = marked(HOSTILE, insula=1.0)
    assert "<img" not in page
    assert "<script" not in page
    assert html.unescape(re.sub("<[^>]*>", "", page)) == HOSTILE


@given(
    st.text(min_size=1, max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10), st.sampled_from("sum"))),
)
def test_any_notes_leave_the_text_as_it_is(text, spans):
    tags = {"s": "s", "u": "u", "m": "mark"}
    notes = [
        Note(start, min(start + length, len(text)), tags[tag], "c", text)
        for start, length, tag in spans
        if start < len(text)
    ]
    page = markup(text, notes)
    assert html.unescape(re.sub('<[^<>"]*("[^"]*"[^<>"]*)*>', "", page)) == html.unescape(
        html.escape(text)
    )
    assert page.count("</") == page.count(" class=")
