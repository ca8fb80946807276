"""Lateralised: functions that a text puts into one hemisphere.

"Language was right-lateralised" and "right language dominance" say as much as "in the right
hemisphere". The word is read as a place without a map of its own, unless its side belongs to a
structure ("right-lateralised insula activation"). Signs and limbs have sides of the body instead
("weakness lateralised to the right").
"""

from collections.abc import Iterator

from neurowhere.text.clinical.places import (
    HANDED,
    LATERALIZED,
    NOT_BRAIN,
    OPPOSITE,
    SIGNS,
    Attached,
    Sides,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold, word_set

SPEAKING = word_set("language speech")
# What the brain does, as texts call it, folded.
FUNCTIONS = SPEAKING | word_set(
    """
    activation activity attention cognition comprehension function language memory naming network
    perception processing production prosody reading recognition representation response semantic
    speech visuospatial
    """
)
OF_BODY = (NOT_BRAIN | SIGNS) - HANDED - word_set("face seizure")


def with_lateralised(reading: Reading, sides: Sides) -> tuple[Reading, Sides]:
    """Add the words that put a function into a hemisphere, as places with that side.

    Parameters
    ----------
    reading : Reading
    sides : Sides
        Those that structures have, and those of nothing.
    """
    found = dict(_found(reading, sides))
    if not found:
        return reading, sides
    numbers = range(len(reading.terms), len(reading.terms) + len(found))
    applied = sides.applied | dict(zip(numbers, found.values(), strict=True))
    return reading.with_matches(list(found)), Sides(applied, sides.unapplied)


def _found(reading: Reading, sides: Sides) -> Iterator[tuple[Tokens, Attached]]:
    """Yield the words that a free side is of: "right-lateralised", "lateralised to the right"."""
    for side, words in sides.unapplied if reading.at_words(LATERALIZED | {"dominance"}) else ():
        i = words.first
        if reading.token(i + 1) in LATERALIZED:
            at = i + 1
        elif reading.token(i + 1) in SPEAKING and reading.token(i + 2) == "dominance":
            at = i + 2
        elif reading.tokens[max(i - 2, 0) : i] == ["to", "the"]:
            at = i - 3
            if reading.token(at) not in LATERALIZED:
                continue
        else:
            continue
        if side in OPPOSITE and _is_function(reading, at):
            yield Tokens(at, at), Attached(side, words)


def _is_function(reading: Reading, i: int) -> bool:
    """Whether the sentence of token i is about what the brain does, and not about the body."""
    sentence = reading.sentence_tokens(reading.sentence_number(i))
    words = {fold(reading.tokens[j]) for j in sentence}
    return not FUNCTIONS.isdisjoint(words) and OF_BODY.isdisjoint(words)
