"""Elided: the first of two sides whose noun stands but once, after the second.

"In the right and in the left insula" and "an infarct in the right and a bleed in the left thalamus"
speak of two structures. The first side is read as a match of its own, so that each of them has its
own denial: "in the right but none in the left thalamus". A comma joins them too if how many, or
what else, follows it: "three in the right, one in the left thalamus".
"""

from collections.abc import Mapping, Sequence

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import (
    CONJUNCTIONS,
    NOT_BRAIN,
    OPPOSITE,
    OTHER,
    SIDE_WORDS,
    SIGNS,
)
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.words import fold, word_set

REACH = 12  # tokens from one side to the other
REACH_BACK = 5  # tokens back to what the first side is of
ENDING = frozenset(["at", "on", "to"])  # before a side that ends its phrase: "turned to the right"
LED = word_set("at from in into of on over to with within")
# Words that join two sides, and what may stand beside them.
TYING = CONJUNCTIONS | word_set("along but followed then together well")
BESIDE = LED | word_set("also as by even hemisphere later not only perhaps side sided the yet")
TURNS = CONJUNCTIONS | word_set("but whereas while")
# After a comma that joins: how many, or another one.
COUNTS = lexicon.NUMBERS | word_set("a an another few larger many multiple no none several smaller")
ELSEWHERE = NOT_BRAIN | SIGNS | word_set("clumsy cue numb stimulus target weak")
ELSEWHERE -= {"seizure"}  # "the seizure spread from the left to the right hippocampus"


def find_elided(
    reading: Reading, tokens: Sequence[int], named: Mapping[int, Sequence[int]]
) -> dict[int, list[int]]:
    """Find the sides whose noun follows the other side, each with its structures.

    Parameters
    ----------
    reading : Reading
    tokens : sequence of int
        Sides of the text.
    named : mapping of int to sequence of int
        Matches that each side is of, by its token.

    Examples
    --------
    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> reading = TermCounter(Vocabulary(["insula"])).read("in the right and in the left insula")
    >>> find_elided(reading, [2, 6], {6: [0]})
    {2: [0]}
    """
    found = {}
    for i in tokens:
        j = None if named.get(i) or _is_elsewhere(reading, i) else _other(reading, i)
        names = [number for number in named.get(j or i, ()) if reading.first[number] > (j or i)]
        if j and names and any(is_pair(reading, i, j) for is_pair in PAIRS):
            found[i] = names
    return found


def _other(reading: Reading, i: int) -> int | None:
    """Token of the next side, if it is the opposite one, and no structure is between the two."""
    side = SIDE_WORDS[reading.tokens[i]]
    for j in range(i + 1, min(i + REACH, len(reading.tokens))):
        word, number = reading.tokens[j], reading.begins.get(j)
        if reading.is_sentence_end(j) or (number is not None and reading.is_structure[number]):
            return None
        if word in SIDE_WORDS or word in OTHER:
            is_other = word in OTHER or SIDE_WORDS[word] == OPPOSITE.get(side)
            return j if side in OPPOSITE and is_other else None
    return None


def _is_elsewhere(reading: Reading, i: int) -> bool:
    """Whether the side at token i is of the body or of a stimulus, or none: "he was right"."""
    words = [*reading.tokens[max(i - REACH_BACK, 0) : i], reading.token(i + 1)]
    return reading.token(i - 1) in lexicon.FINITE or any(fold(word) in ELSEWHERE for word in words)


def _is_tied(reading: Reading, i: int, j: int) -> bool:
    """Whether nothing but words that join is between two sides: "from the left to the right"."""
    before, between = _leading(reading, i), reading.tokens[i + 1 : j]
    if before == "from" and between[:1] == ["to"]:
        return len(between) <= len(["to", "the"])
    if before in ENDING and before != _leading(reading, j):
        return False
    return not TYING.isdisjoint(between) and all(
        word in TYING or word in BESIDE or word.endswith("ly") for word in between
    )


def _is_parallel(reading: Reading, i: int, j: int) -> bool:
    """Whether two phrases end alike: "an infarct in the right and a bleed in the left"."""
    before = _leading(reading, i)
    is_led = before in LED - ENDING and _leading(reading, j) in LED
    return (
        is_led
        and _is_turned(reading, i + 1)
        and not any(
            fold(word) in ELSEWHERE or (word in lexicon.FINITE and not word.endswith("ed"))
            for word in reading.tokens[i + 1 : j]
        )
    )


def _is_counted(reading: Reading, i: int, j: int) -> bool:
    """Whether there are so many on each of two sides: "4 left, 2 right"."""
    is_short = j == i + 2 and reading.gap(i + 1) == ", "
    return is_short and all(_is_count(reading.token(k - 1)) for k in (i, j))


def _is_turned(reading: Reading, i: int) -> bool:
    """Whether a second phrase begins at token i: "and a bleed", ", one in"."""
    word = reading.token(i)
    return word in TURNS or (reading.gap(i) == ", " and _is_count(word))


def _is_count(word: str) -> bool:
    return word.isdigit() or word in COUNTS


def _leading(reading: Reading, i: int) -> str:
    """Return the word before token i and its article."""
    return reading.token(i - 1 - (reading.token(i - 1) == "the"))


PAIRS = (_is_tied, _is_parallel, _is_counted)  # how two sides may share a noun
