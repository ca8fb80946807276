"""Homologues: places that are named after those of the other side.

"The right homologue of Broca's area" is on the right, whatever side the place has that it is named
after. The side may also stand after it ("Broca's area homologue in the right hemisphere"), be that
of the place which is called so ("right inferior frontal gyrus, the homologue of Broca's area"), or
the other one ("the contralateral homologue of the left hippocampus").
"""

from collections.abc import Iterator, Mapping

from neurowhere.text.clinical.places import (
    ADJECTIVE,
    CONJUNCTIONS,
    ON_THE,
    OPPOSITE,
    OTHER,
    SIDE_WORDS,
    TRAILING,
    WHOLES,
    Attached,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import word_set

HOMOLOGUES = word_set(
    """
    analog analogue analogues counterpart counterparts homolog homologs homologue homologues
    homotope
    """
)
HOMOLOGOUS = word_set("homologous homotopic")  # "right homologous area of"
AREAS = word_set("area areas cortex region regions site")
OF_SIDE = WHOLES | TRAILING | {"hemispheric"}  # "right-hemisphere homologue"
ARTICLES = word_set("a an its the their")
REACH = 4  # words between a homologue and its place


def of_homologues(
    reading: Reading, sides: Mapping[int, Attached]
) -> Iterator[tuple[int, Attached]]:
    """Yield the places whose homologues are meant, with the sides of these.

    Parameters
    ----------
    reading : Reading
    sides : mapping of int to Attached
        Sides that matches have without regard to this.
    """
    for first in reading.at_words(HOMOLOGUES | HOMOLOGOUS):
        last = first
        if reading.tokens[first] in HOMOLOGOUS:
            last += 1
            if reading.token(last) not in AREAS:
                continue
        names = _names(reading, first, last)
        own = _side(reading, first, last, names, sides) if names else None
        if own:
            yield from ((number, own) for number in names)


def _names(reading: Reading, first: int, last: int) -> list[int]:
    """Return the places after "homologue of", with those of a list, or the one right before."""
    if reading.token(last + 1) not in ("of", "to"):
        number = reading.finishes.get(first - 1)
        if number is None or not reading.is_structure[number] or reading.gap(first) != " ":
            return []
        return [number]
    j = last + 2
    while j < last + 2 + REACH and _place_at(reading, j) is None:
        word = reading.token(j)
        if not (word in ARTICLES or word in SIDE_WORDS or ADJECTIVE.fullmatch(word)):
            return []
        j += 1
    names: list[int] = []
    while (number := _place_at(reading, j)) is not None:
        names.append(number)
        j = reading.last[number] + 1
        j += reading.token(j) == "s"  # "Broca's and Wernicke's areas"
        j += reading.token(j) in CONJUNCTIONS
    return names


def _place_at(reading: Reading, j: int) -> int | None:
    """Return the structure whose name begins at token j."""
    number = reading.begins.get(j)
    return number if number is not None and reading.is_structure[number] else None


def _side(
    reading: Reading, first: int, last: int, names: list[int], sides: Mapping[int, Attached]
) -> Attached | None:
    """Return the side of a homologue: before it, after it, or that of what is called so."""
    i = first - 1
    while reading.token(i) in OF_SIDE:
        i -= 1
    word = reading.token(i)
    if word in OTHER and (own := sides.get(names[0])) and own.side in OPPOSITE:
        return Attached(OPPOSITE[own.side], Tokens(i, i))
    if SIDE_WORDS.get(word) in OPPOSITE:
        return Attached(SIDE_WORDS[word], Tokens(i, i))
    after = last + 3
    is_led = reading.tokens[last + 1 : after] in ON_THE and reading.token(last + 1) != "of"
    if is_led and reading.token(after) in SIDE_WORDS:
        return Attached(SIDE_WORDS[reading.tokens[after]], Tokens(after, after))
    i = first - (reading.token(first - 1) in ARTICLES)
    called = reading.finishes.get(i - 1) if reading.gap(i).strip() in (",", "(") else None
    own = sides.get(called) if called is not None else None
    return own if own and own.side in OPPOSITE else None
