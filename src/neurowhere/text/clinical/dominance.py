"""Dominance: the structures of the hemisphere of language, and those of the other one.

"The dominant temporal lobe" is the left one, and "nondominant" is right, unless a text says that
somebody is left-handed or has language on the right. Nothing else that is dominant has a side:
neither a hand, nor a gene, nor the dominant mass in a place.
"""

from collections.abc import Callable, Iterator

from neurowhere.text.clinical.places import (
    ADJECTIVE,
    HANDED,
    LEADING,
    LESION,
    SIDE_WORDS,
    Attached,
    Side,
    is_beside_lesion,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold, word_set

DOMINANT: dict[str, Side] = {"dominant": "left", "nondominant": "right"}
BETWEEN = word_set("hand hemisphere hemispheric language")  # "right hemisphere dominant"
OTHERWISE = word_set("autosomal co") | SIDE_WORDS.keys()  # before "dominant"


def of_dominance(
    reading: Reading, ahead: Callable[[int], list[int]]
) -> Iterator[tuple[int, Attached]]:
    """Yield the matches that are dominant or not, with their sides.

    Parameters
    ----------
    reading : Reading
    ahead : callable
        Returns the matches that an adjective at a token stands before.
    """
    found = reading.at_words(DOMINANT.keys())
    if not found or _is_reversed(reading):
        return
    for i in found:
        is_non = reading.token(i - 1) == "non"
        side = DOMINANT["nondominant" if is_non else reading.tokens[i]]
        for number in ahead(i) if reading.token(i - 1) not in OTHERWISE else ():
            if _is_meant(reading, i, number):
                yield number, Attached(side, Tokens(i - is_non, i))


def _is_meant(reading: Reading, i: int, number: int) -> bool:
    """Whether a match is that of a hemisphere: not "dominant theta", nor "mass in the pons"."""
    first, last = reading.first[number], reading.last[number]
    word = reading.tokens[last]
    is_noun = not ADJECTIVE.fullmatch(word) and fold(word) not in LESION
    is_meant = is_noun or is_beside_lesion(reading.tokens, first, last)
    return is_meant and LEADING.isdisjoint(reading.tokens[i + 1 : first])


def _is_reversed(reading: Reading) -> bool:
    """Whether language is or may be on the right: "left-handed", "right hemisphere dominant"."""
    for i in reading.at_words(HANDED | {"dominant"}):
        before = reading.token(i - 1)
        is_hand = reading.tokens[i] in HANDED or before == "hand"
        before = reading.token(i - 2) if before in BETWEEN else before
        if before == ("left" if is_hand else "right"):
            return True
    return False
