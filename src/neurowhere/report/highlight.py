"""Highlight a text as HTML, with what its terms, sides and negations did to the map."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from neurowhere.model.encoding import Encoding
from neurowhere.report.page import render
from neurowhere.text.clinical.mentions import Mention, Mentions

__all__ = ["Note", "highlight", "markup", "notes_on"]

N_STRENGTHS = 5  # shades of a hue; `.strength-1` to `.strength-5` of the style sheet
TAGS = ("s", "mark", "u", "span")  # the first one that applies to a part of the text


class Note(NamedTuple):
    """A remark on ``text[start:end]``, and how it is marked."""

    start: int
    end: int
    tag: str
    classes: str
    words: str


class Part(NamedTuple):
    """A part of the text, and the element around it, if any."""

    words: str
    tag: str
    classes: str
    title: str


def highlight(encoding: Encoding) -> Markup:
    """Return the text of an encoding as HTML; all of the text is escaped.

    Terms are ``<mark>``, in the hue of what they did and the strength of how much; what the text
    negates is ``<s>``; sides are ``<u>``. The title of each tells why.

    Parameters
    ----------
    encoding : Encoding

    Returns
    -------
    Markup
    """
    return markup(encoding.text, notes_on(encoding.mentions, encoding.terms, encoding.unit))


def notes_on(mentions: Mentions, terms: pd.DataFrame, unit: str) -> Iterator[Note]:
    """Yield what became of each mention of a term, of each side and of each negation.

    Parameters
    ----------
    mentions : Mentions
        Of the text.
    terms : DataFrame
        Where each term is in the text, and what it contributes: where, contribution.
    unit : str
        Of the contributions.

    Yields
    ------
    Note
    """
    added = _by_place(terms)
    strongest = max(map(abs, added.values()), default=0.0)
    for mention in mentions:
        if not mention.is_present:
            yield _ignored(mention)
        elif _span(mention) in added:
            yield _term(mention, added[_span(mention)], strongest, unit)
        yield from _cues(mention)
    for place in mentions.places:
        words = f"{place.term}: a place without a term in the model; only its side counts"
        yield Note(*_span(place), "span", "place", words) if place.is_present else _ignored(place)
        yield from _cues(place)
    known = set(map(_span, mentions))
    for rule in mentions.rule_based:
        if rule.is_present and _span(rule) in added.keys() - known:
            structures = ", ".join(structure.term for structure in rule.implied)
            classes = _hue(added[_span(rule)], strongest)
            yield Note(*_span(rule), "mark", classes, f"points by rule to {structures}")
    for mark in mentions.unapplied:
        words = f"{mark.side}: of a limb, visual field or symptom, not of the brain; not applied"
        yield Note(mark.start, mark.end, "u", "side unapplied", words)


def _by_place(terms: pd.DataFrame) -> dict[tuple[int, int], float]:
    """Return what each place in a text adds: its term, and those within it or on its side."""
    added: dict[tuple[int, int], float] = {}
    for places, contribution in zip(terms["where"], terms["contribution"], strict=True):
        for place in places:
            added[place] = added.get(place, 0.0) + contribution
    return added


def _term(mention: Mention, value: float, strongest: float, unit: str) -> Note:
    words = f"{mention.term}: {value:+.3g} {unit}"
    return Note(*_span(mention), "mark", _hue(value, strongest), words)


def _hue(value: float, strongest: float) -> str:
    """Return the classes of a mark: direction and strength."""
    direction = "raises" if value >= 0 else "lowers"
    return f"{direction} strength-{strength(value, strongest)}"


def _ignored(mention: Mention) -> Note:
    why = f"in the section {mention.section}" if mention.section else "negated here"
    return Note(*_span(mention), "s", "denied", f"{mention.term}: {why}, not counted")


def _cues(mention: Mention) -> Iterator[Note]:
    """Yield the words that give the mention its side, and those that negate it."""
    if mention.side_span:
        words = f"{mention.side}: side of {mention.term}"
        yield Note(*mention.side_span, "u", f"side {mention.side}", words)
    if mention.negation_span:
        yield Note(*mention.negation_span, "span", "denies", f"negates {mention.term}")


def _span(mention: Mention) -> tuple[int, int]:
    return mention.start, mention.end


def strength(value: float, strongest: float) -> int:
    """Return the shade of a value: from 1, hardly any, to `N_STRENGTHS`, the strongest.

    >>> [strength(value, 2.0) for value in (0.0, 0.1, -1.0, 2.0)]
    [1, 1, 3, 5]
    """
    share = abs(value) / strongest if strongest else 0.0
    return 1 + min(int(share * N_STRENGTHS), N_STRENGTHS - 1)


def markup(text: str, notes: Iterable[Note]) -> Markup:
    """Return a text as HTML with notes, which may overlap: it is cut where one begins or ends.

    Parameters
    ----------
    text : str
    notes : iterable of Note

    Returns
    -------
    Markup

    Examples
    --------
    >>> notes = [Note(0, 5, "s", "denied", "not so"), Note(3, 10, "u", "left", 'a "side"')]
    >>> for part in str(markup("no <3 here", notes)).replace("><", ">|<").split("|"):
    ...     print(part)
    <s class="denied" title="not so">no </s>
    <s class="denied left" title="not so; a &#34;side&#34;">&lt;3</s>
    <u class="left" title="a &#34;side&#34;"> here</u>
    """
    return render("highlight.html", parts=_parts(text, notes))


def _parts(text: str, notes: Iterable[Note]) -> Iterator[Part]:
    starting = sorted(dict.fromkeys(notes), key=lambda note: note.start, reverse=True)
    cuts = sorted({0, len(text), *(cut for note in starting for cut in (note.start, note.end))})
    open_notes: list[Note] = []
    for start, end in pairwise(cuts):
        open_notes = [note for note in open_notes if note.end > start]
        while starting and starting[-1].start == start:
            open_notes.append(starting.pop())
        yield _part(text[start:end], open_notes)


def _part(words: str, notes: list[Note]) -> Part:
    """Return a part of the text with all that is to be said about it, in one element."""
    return Part(
        words,
        tag=min((note.tag for note in notes), key=TAGS.index, default=""),
        classes=" ".join(dict.fromkeys(note.classes for note in notes)),
        title="; ".join(dict.fromkeys(note.words for note in notes)),
    )
