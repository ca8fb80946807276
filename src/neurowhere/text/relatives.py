"""Relatives in running text: what a patient's mother has, the patient has not.

"Mother had a stroke in the left parietal lobe" is no finding, alone or beside one, nor is "Family
history of glioma" or "Aunt: glioma". It is read so of one relative who had, suffered or died of
something. "Her mother had noticed a droop" tells of the patient, "a 30-year-old mother" is the
patient, and texts of research are read whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

Span = tuple[int, int]
SENTENCE = re.compile(r"[^.!?;\n]+(?:\.(?=\d)[^.!?;\n]*)*")
RESEARCH = re.compile(
    r"\b(?:participants?|controls|volunteers|cohort|groups?|fmri|meta-analys\w+|we (?:aim|examin"
    r"|investigat|recruit|scann|stud|test)\w*|p ?[<=]|n ?= ?\d)",
    re.IGNORECASE,
)


COMMON = (" participants", " controls", " fMRI", " group")  # which are found faster


def sentences_of(text: str) -> list[Span]:
    """Return the sentences of a text."""
    return [match.span() for match in SENTENCE.finditer(text)]


@lru_cache(maxsize=4)  # the levels of one text ask
def is_research(text: str) -> bool:
    """Whether a text is about research rather than about a patient."""
    return any(word in text for word in COMMON) or RESEARCH.search(text) is not None


_RELATIVE = (
    r"(?:(?:grand|step|half[- ])?(?:mother|father|sister|brother|son|daughter|parent)|aunt|uncle"
    r"|cousin|niece|nephew|mum|mom|dad|sibling|twin)"
)
_FAMILY = r"(?:fam(?:ily|\.)?(?: medical)? ?(?:history|hx)|fhx?)"
# Of this a relative has it; "a family history of depression" may be the subject of a study.
_WRONG = r"(?:left|right|infarct|stroke|bleed|lesion|tumou?r|\w+oma|\w*ha?emorr|\w+itis|epilep)"
FAMILY = re.compile(rf"\b(?:family|{_FAMILY}|{_RELATIVE})\b", re.IGNORECASE)  # tells of others
# What is done with a patient is not what a relative has: "mother had noticed", "has to lift him".
_DOING = (
    r"(?!\w+ed\b|been (?!diagnosed|treated|found to have)|(?:seen|found|brought|told|heard|taken"
    r"|given|gone|come|to|him|her|concerns?|not|no|never|left (?:the|him|her|home|for|it))\b)"
)
_ADVERB = r"(?:also|previously|recently|reportedly|once|later|apparently)"
_HAVING = (
    rf"(?:(?:had|has)(?: {_ADVERB})?(?: had)? {_DOING}|suffered (?:from )?|suffers from "
    r"|died (?:of|from|after|with) |(?:was|is|has been|had been) (?:diagnosed with|treated for) "
    r"|developed |underwent |with (?!him\b|her\b|concern))"
)
_SUBJECT = re.compile(
    rf"\b{_RELATIVE}(?: \(\w+\)|, (?:aged )?\d+,)?(?P<who>,? who)?(?: {_ADVERB})? {_HAVING}"
    rf"|\b(?P<label>{_FAMILY}(?: (?:is|was))?(?: (?:positive|significant|notable|remarkable))?"
    rf" ?(?:of\b|for\b|with\b|[:–-]|includ\w+)(?=[^.;]{{0,60}}\b{_WRONG})"
    rf"|(?<![\w ] )(?:(?:his|her|maternal|paternal|older|younger) )*{_RELATIVE}(?: \(\w+\))?"
    r" ?[:–-] )",
    re.IGNORECASE,
)
# Before a relative who is the patient, no person at all, or no subject.
_OTHER = re.compile(
    r"(?:\b(?:year[- ]old|yo|y/o|this|young|pregnant|postpartum|each|every|either|neither)"
    r"|\b(?:by|with|to|from|for|per)(?: [\w']+){0,2}) $",
    re.IGNORECASE,
)
_THE = re.compile(r"(?:^|[.;]\s*)the $", re.IGNORECASE)  # "the mother" alone is the patient
_GIVING_BIRTH = re.compile(r"mother with $", re.IGNORECASE)  # so is one who begins a sentence
_TURN = re.compile(
    r"(?:,|\band|\bbut|\bwhile|\bwhereas)(?: and| but)? (?=(?:he|she|the patient|patient|pt|now"
    r"|today|our|mri?|ct|eeg|pet|imaging|scan)\b)"
    r"|(?<= )(?=(?:presents|presented|presenting|is admitted|was admitted)\b)",
    re.IGNORECASE,
)
_BEFORE = 40  # characters that tell who a relative is


def find_relatives(text: str) -> list[Span]:
    """Find the parts of a text that tell what a relative of the patient has.

    >>> text = "Mother had a left parietal stroke. She has a frontal glioma."
    >>> [text[start:end] for start, end in find_relatives(text)]
    ['Mother had a left parietal stroke']
    >>> find_relatives("Her mother had noticed a droop."), find_relatives("Mothers had strokes.")
    ([], [])
    """
    if is_research(text) or not _SUBJECT.search(text):  # an article has its first word soon
        return []
    sentences = sentences_of(text)
    is_alone = len(sentences) == 1
    return [span for sentence in sentences for span in _parts(text, sentence, is_alone)]


def _parts(text: str, sentence: Span, is_alone: bool) -> Iterator[Span]:
    """Yield the parts of a sentence that are of a relative."""
    free, end = sentence
    for mark in _SUBJECT.finditer(text, *sentence):
        if mark.start() < free or _is_other(text, mark, is_alone):
            continue
        turn = text.find(",", mark.end(), end) if mark["who"] else -1
        if turn < 0:
            match = _TURN.search(text, mark.end(), end)
            turn = match.start() if match else end
        yield mark.start(), turn
        free = turn


def _is_other(text: str, mark: re.Match[str], is_alone: bool) -> bool:
    """Whether a relative is the patient, or not the one who has something."""
    before = text[max(mark.start() - _BEFORE, 0) : mark.start()]
    is_first = not before.rstrip() or before.rstrip()[-1] in ".;"
    if (is_alone and _THE.search(before)) or (is_first and _GIVING_BIRTH.fullmatch(mark[0])):
        return True
    return not (mark["who"] or mark["label"]) and _OTHER.search(before) is not None
