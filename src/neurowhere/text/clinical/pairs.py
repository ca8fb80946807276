"""Pairs: two sides next to each other, which are of one place or of two.

"Left, right and midline" are three sides of one thing. In "weak on the left, right thalamic bleed"
the first side ends a phrase of its own, and the second begins another.
"""

import re

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import ADJECTIVE, CONJUNCTIONS, FILLERS, is_lesion_word
from neurowhere.text.clinical.reading import Reading

APART = re.compile(r"[;:)\]\n]")
BEFORE_LAST = frozenset(["at", "on", "to"])  # before a side that ends a phrase: "on the left"
# After these a side begins a phrase: "in the left, right insula".
BEFORE_FIRST = (
    lexicon.DETERMINERS | lexicon.PREPOSITIONS | lexicon.FINITE | lexicon.CONJUNCTIONS | FILLERS
) - BEFORE_LAST


def are_joined(reading: Reading, i: int, j: int) -> bool:
    """Whether opposite sides at two tokens, or those at the ends of a comparison, are a pair.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["insula"])).read
    >>> are_joined(read("left, right insula"), 0, 1)
    True
    >>> are_joined(read("weak on the left, right insula"), 3, 4)
    False
    """
    if any(reading.is_sentence_end(k) or ";" in reading.gap(k) for k in range(i + 1, j + 1)):
        return False
    if j == i + 1:
        is_apart = APART.search(reading.gap(j)) or (_ends(reading, i) and _begins(reading, j))
        return not is_apart
    is_and = j == i + 2 and reading.tokens[i + 1] in CONJUNCTIONS
    return not (is_and and _ends(reading, i) and _begins_finding(reading, j))


def _ends(reading: Reading, i: int) -> bool:
    """Whether the side at token i ends a phrase: "weakness left", "shift to the left"."""
    if i == 0 or reading.is_sentence_end(i) or not reading.gap(i).isspace():
        return False
    before = reading.tokens[i - 1]
    if before == "the" and reading.token(i - 2) in BEFORE_LAST:
        return True
    if i - 1 in reading.finishes:
        return True
    return before not in BEFORE_FIRST and not ADJECTIVE.fullmatch(before)


def _begins(reading: Reading, j: int) -> bool:
    """Whether the side at token j begins a phrase: not "left, right and midline"."""
    is_last = j + 1 == len(reading.tokens) or reading.is_sentence_end(j + 1)
    return not is_last and reading.tokens[j + 1] not in CONJUNCTIONS


def _begins_finding(reading: Reading, j: int) -> bool:
    """Whether a lesion in a place follows the side at token j."""
    number = reading.begins.get(j + 1)
    is_place = number is not None and reading.is_structure[number]
    return is_place and is_lesion_word(reading.token(reading.last[number or 0] + 1))
