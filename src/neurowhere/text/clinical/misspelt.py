"""Misspelt: names of structures with one wrong letter, and sides that are typed wrongly.

"Left hipocampal sclerosis" is of the hippocampus. A word is read as a structure if it is one slip
from its name, which is long, begins alike and is the only one; if neither the vocabulary nor any
list of common words has it; and if a side stands before it or a lesion beside it. "Rigth" is a
side beside a place or a limb.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from neurowhere.text.clinical.lexicon import MISSPELT_SIDES
from neurowhere.text.clinical.places import (
    BESIDE,
    FILLERS,
    LESION,
    LETTERS,
    LIMBS,
    SIDE_WORDS,
    is_beside_lesion,
    is_lesion_word,
)
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.lookalikes import slips
from neurowhere.text.unknown import says_nothing
from neurowhere.text.words import fold, word_set

if TYPE_CHECKING:
    from neurowhere.text.counter import TermCounter

SHORTEST = 7  # letters of a misspelt name
BEGINNING = 3  # letters at one end of a word that has one slip
LESIONS = LESION | {f"{word}s" for word in LESION}
# Words that are spelt well, each one letter from a name: angular, striatum, radiata, lingual.
OTHER_WORDS = word_set("annular lingula radiate stratum striati")


def find_misspelt(reading: Reading, counter: "TermCounter") -> dict[int, int]:
    """Find the tokens that are misspelt names of structures, and the indices of their terms.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["hippocampus", "insula"]))
    >>> find_misspelt(counter.read("Infarct of the left hipocampus"), counter)
    {4: 0}
    """
    found = {}
    for i in sorted(_candidates(reading)):
        word = reading.token(i)
        if len(word) < SHORTEST or i in reading.covered or not word.isalpha():
            continue
        if word in OTHER_WORDS or counter.knows(word) or says_nothing(word):
            continue
        is_meant = _is_sided(reading, i) or is_beside_lesion(reading.tokens, i, i)
        terms = _near(word, counter.long_structures) if is_meant else set()
        if len(terms) == 1:
            found[i] = terms.pop()
    return found


def with_misspelt(reading: Reading, found: Mapping[int, int]) -> Reading:
    """Add misspelt names to the matches of a reading."""
    if not found:
        return reading
    return reading.with_names(
        terms=[*reading.terms, *found.values()],
        first=[*reading.first, *found],
        last=[*reading.last, *found],
        is_structure=[*reading.is_structure, *(True for _ in found)],
    )


def _candidates(reading: Reading) -> set[int]:
    """Return the tokens that stand near a side or a lesion: few of a text do."""
    after_sides = (range(i + 1, i + 4) for i in reading.at_words(SIDE_WORDS.keys()))
    near_lesions = (range(i - 2, i + BESIDE) for i in reading.at_words(LESIONS))
    return set(chain.from_iterable((*after_sides, *near_lesions)))


def _is_sided(reading: Reading, i: int) -> bool:
    """Whether a side, with no more than a filler between, stands before token i."""
    i -= 1 + (reading.token(i - 1) in FILLERS)
    is_small = reading.token(i) in LETTERS and reading.written(i).islower()
    return reading.token(i) in SIDE_WORDS and not is_small


def _near(word: str, names: Mapping[str, int]) -> set[int]:
    """Return the terms of the names that are one slip from a word."""
    start, end = word[:BEGINNING], word[-BEGINNING:]
    alike = (
        name
        for name in names
        if name[0] == word[0]
        and abs(len(name) - len(word)) <= 1
        and (name.startswith(start) or name.endswith(end))
    )
    return {names[name] for name in alike if slips(word, name) == 1}


# ---- sides

REACH = 4  # tokens between a side and its place


def with_spelt_sides(reading: Reading) -> Reading:
    """Correct the sides of a reading that are typed wrongly.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["insula"])).read
    >>> with_spelt_sides(read("rigth insula")).tokens, with_spelt_sides(read("he letf")).tokens
    (['right', 'insula'], ['he', 'letf'])
    """
    wrong = [i for i in reading.at_words(MISSPELT_SIDES.keys()) if _is_beside(reading, i)]
    if not wrong:
        return reading
    tokens = [*reading.tokens]
    for i in wrong:
        tokens[i] = MISSPELT_SIDES[tokens[i]]
    return replace(reading, tokens=tokens)


def _is_beside(reading: Reading, i: int) -> bool:
    """Whether a structure, a limb or a lesion is near a token in its sentence."""
    sentence = reading.sentence_tokens(reading.sentence_number(i))
    near = range(max(sentence.start, i - REACH), min(sentence.stop, i + REACH + 1))
    names = (reading.begins.get(j) for j in near)
    return any(number is not None and reading.is_structure[number] for number in names) or any(
        fold(reading.tokens[j]) in LIMBS or is_lesion_word(reading.tokens[j]) for j in near
    )
