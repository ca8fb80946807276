"""Others: a side alone that takes up the structure whose other side was named.

"The right hippocampus is normal, the left is atrophic" speaks of two hippocampi. The "left" is read
as another match of the same term, with that side.
"""

import re
from bisect import bisect_right
from dataclasses import replace

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import (
    LESION,
    LETTERS,
    NOT_BRAIN,
    OPPOSITE,
    SIDE_WORDS,
    TURNS,
    Sides,
)
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

REACH = 30  # tokens back to the other side, or ahead to a name
APART = re.compile(r"[\n\t|]")  # lines, and cells of a table, which has sides of its own
ONES = word_set("one side")
VERBS = (lexicon.FINITE | lexicon.LINKS | lexicon.OWNING) - word_set("left of out there to with")
OPENING = TURNS | lexicon.ALTHOUGH


def with_others(reading: Reading, sides: Sides) -> Reading:
    """Add the sides that stand for a structure, as matches that have a side in themselves."""
    alone = [i for i in reading.at_words(SIDE_WORDS.keys()) if _is_alone(reading, i)]
    named = _named(reading, sides) if alone else {}
    found = ((i, _taken_up(reading, sides, named, i)) for i in alone)
    taken = {i: number for i, number in found if number is not None}
    if not taken:
        return reading
    added = reading.with_names(
        terms=[*reading.terms, *(reading.terms[number] for number in taken.values())],
        first=[*reading.first, *taken],
        last=[*reading.last, *taken],
        is_structure=[*reading.is_structure, *(True for _ in taken)],
    )
    own = {i: SIDE_WORDS[reading.tokens[i]] for i in taken}
    return replace(added, sided={**reading.sided, **own})


def _is_alone(reading: Reading, i: int) -> bool:
    """Whether the side at token i is a subject: "the left is", "the right one", "Left:"."""
    if i in reading.inner or (reading.tokens[i] in LETTERS and reading.written(i).islower()):
        return False
    first = i - (reading.token(i - 1) == "the")
    is_first = reading.is_sentence_end(first) or not reading.gap(first).isspace()
    if first == 0 or not (is_first or reading.token(first - 1) in OPENING):
        return False
    j = i + 1 + (reading.token(i + 1) in ONES)
    if reading.gap(j).startswith(":"):
        return not _names_place(reading, j)
    if j >= len(reading.tokens) or not reading.gap(j).isspace() or reading.is_sentence_end(j):
        return False
    return reading.tokens[j] in VERBS or _is_said(reading, j)


def _is_said(reading: Reading, j: int) -> bool:
    """Whether one word at token j is all that is said: "(left) normal", "(left) atrophic"."""
    word, after = reading.tokens[j], reading.gap(j + 1)
    is_last = reading.is_sentence_end(j + 1) or not (after.isspace() or after == "-")
    if not is_last or fold(word) in NOT_BRAIN:
        return False
    is_state = lexicon.CUES.at([word], 0) is not None or fold(word) in LESION
    return is_state or bool(lexicon.FINDING.match(word))


def _names_place(reading: Reading, j: int) -> bool:
    """Whether a structure is named from token j to the end of its sentence: "Left: insula"."""
    ends = reading.sentence_ends
    number = bisect_right(ends, j)
    end = ends[number] if number < len(ends) else len(reading.tokens)
    return _has_structure(reading, range(j, min(end, j + REACH)))


def _named(reading: Reading, sides: Sides) -> dict[int, int]:
    """Last match of a term that each side is of, by its first token; `NO_TERM` if it has none."""
    named = {words.first: NO_TERM for _, words in sides.unapplied}
    for number in sorted(sides.applied, key=reading.last.__getitem__):
        is_term = reading.terms[number] != NO_TERM
        named[sides.applied[number].words.first] = number if is_term else NO_TERM
    return named


def _taken_up(reading: Reading, sides: Sides, named: dict[int, int], i: int) -> int | None:
    """Match whose other side was the last to be named before token i, in the same line."""
    number = next((named[j] for j in range(i - 1, i - REACH, -1) if j in named), NO_TERM)
    other = OPPOSITE.get(SIDE_WORDS[reading.tokens[i]])
    if number == NO_TERM or sides.applied[number].side != other or reading.last[number] >= i:
        return None
    between = range(reading.last[number] + 1, i)
    is_far = any(APART.search(reading.gap(j)) for j in (*between, i))
    return None if is_far or _has_structure(reading, between) else number


def _has_structure(reading: Reading, tokens: range) -> bool:
    """Whether the name of a structure begins at one of some tokens."""
    names = (number for j in tokens for number in reading.beginning.get(j, ()))
    return any(reading.is_structure[number] for number in names)
