"""Pairs: two sides next to each other, which are of one place or of two.

"Left, right and midline" are three sides of one thing. In "weak on the left, right thalamic bleed"
the first side ends a phrase of its own, and the second begins another. Of a structure that is named
on both sides, one may have more: "right putamen > left putamen".
"""

import re
from collections.abc import Iterator, Mapping

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import (
    ADJECTIVE,
    COMPARATIVES,
    CONJUNCTIONS,
    DEGREES,
    FILLERS,
    LESSER,
    NOT_BRAIN,
    OPPOSITE,
    SIDE_WORDS,
    Attached,
    is_lesion_word,
    tells_how,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold, word_set

TIED = re.compile(r"[/+<>]|^-$")  # "infarct left > right occipital"
APART = re.compile(r"[;:)\]\n]")
BEFORE_LAST = frozenset(["at", "on", "to"])  # before a side that ends a phrase: "on the left"
# After these a side begins a phrase: "in the left, right insula".
BEFORE_FIRST = (
    lexicon.DETERMINERS | lexicon.PREPOSITIONS | lexicon.FINITE | lexicon.CONJUNCTIONS | FILLERS
) - BEFORE_LAST
LARGER = frozenset(["bigger", "greater", "larger", "stronger", "worse"])  # "…, left larger"
SIGN = re.compile("[<>]")
LED = frozenset(["in", "of", "on", "the"])  # between "than" and what something is compared with
REACH = 12  # tokens between two structures that are compared
# What compares the findings on two sides; a smaller structure may be the only one that is affected.
MORE = LESSER | frozenset(["greater", "more", "stronger", "worse"])
EXTENT = frozenset(["degree", "extent"])
ONES = frozenset(["one", "side"])
BEING = frozenset(["being", "is", "was"])
# From one side to another that it is set against: "right compared with the left insula".
AGAINST = re.compile(
    r"(?:sided )?(?:(?:when )?(?:compared|in comparison|relative) (?:to|with) |versus |vs "
    r"|(?:and |but |or )?(?P<lesser>to a (?:much )?lesser (?:degree|extent) |(?:much )?less so ))"
    r"(?:in |of |on |within )?(?:the )?"
)
CHANGED = word_set("decreased diminished elevated enhanced increased reduced")
CHANGED |= COMPARATIVES - {"lower"}
LONGEST_AGAINST = 10  # tokens
REACH_THAN = 3  # tokens from "more" to "than"
REACH_NOUN = 7  # tokens from one side of a noun to the other
ARTICLES = frozenset(["a", "an", "the"])


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
        if TIED.search(reading.gap(j)):
            return True
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


def compared_with(reading: Reading, i: int) -> int | None:
    """Find the other side that the side at token i is set against: "right relative to left".

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["insula"])).read
    >>> compared_with(read("the right and, to a lesser extent, the left insula"), 1)
    8
    """
    other = OPPOSITE.get(SIDE_WORDS[reading.tokens[i]])
    found = _against(reading, i) if other else None
    if not found:
        return None
    j = i + 1 + found[0].count(" ")
    return j if SIDE_WORDS.get(reading.token(j)) == other else None


def is_set_against(reading: Reading, i: int, j: int) -> bool:
    """Whether of two sides the first has more, or is where something changed.

    "Lesser" says so by itself, and else a word near by: "increased in the right compared with".
    """
    found = _against(reading, i)
    if not found or found["lesser"]:
        return bool(found)
    return not CHANGED.isdisjoint(reading.tokens[max(i - REACH, 0) : j + REACH])


def _against(reading: Reading, i: int) -> re.Match[str] | None:
    """Match the words after token i that set it against something."""
    return AGAINST.match(" ".join(reading.tokens[i + 1 : i + 1 + LONGEST_AGAINST]))


def second_of_noun(reading: Reading, i: int) -> int | None:
    """Find the other side of the noun that the side at token i is of: "acute left and old right".

    Nothing but adjectives that say how, numbers, articles and a conjunction is between the two.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["insula"])).read
    >>> second_of_noun(read("Acute left and old right insula infarcts"), 1)
    4
    >>> second_of_noun(read("Weak on the left and old right insula infarct"), 3)
    """
    is_first = reading.is_sentence_end(i) or i == 0 or _describes(reading, i - 1)
    if not is_first or reading.token(i - 2) in BEFORE_LAST:
        return None
    is_joined = False
    for j in range(i + 1, min(i + REACH_NOUN, len(reading.tokens))):
        word = reading.tokens[j]
        if reading.gap(j) not in (" ", "-") or word in SIDE_WORDS:
            is_other = SIDE_WORDS.get(word) == OPPOSITE.get(SIDE_WORDS[reading.tokens[i]])
            return j if is_joined and is_other and reading.gap(j) == " " else None
        if not (word in CONJUNCTIONS or _describes(reading, j)):
            return None
        is_joined |= word in CONJUNCTIONS
    return None


def _describes(reading: Reading, i: int) -> bool:
    """Whether token i is an article, a number, or an adjective that says nothing of where."""
    word, number = reading.tokens[i], reading.begins.get(i)
    if number is not None and reading.is_structure[number]:
        return False
    is_number = word in lexicon.NUMBERS or word.isdigit()
    return is_number or word in ARTICLES or tells_how(word)


def compared_pairs(reading: Reading, sides: Mapping[int, Attached]) -> dict[int, Attached]:
    """Find the structures that are compared with those of the other side, and which has more.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.clinical.mentions import read_mentions
    >>> counter = TermCounter(Vocabulary(["insula"]))
    >>> mentions = read_mentions("right insula > left insula", counter)
    >>> [(mention.side, mention.dominant) for mention in mentions]
    [('bilateral', 'right'), ('bilateral', 'right')]
    """
    if not ("than" in reading.where or SIGN.search(reading.text)):
        return {}
    found: dict[int, Attached] = {}
    for number, own in sides.items():
        start = own.words.first
        while reading.token(start - 1) in LED and not SIGN.search(reading.gap(start)):
            start -= 1
        sign = SIGN.search(reading.gap(start)) if start else None
        if own.side not in OPPOSITE or not (sign or reading.token(start - 1) == "than"):
            continue
        for other in _before(reading, number, own.words.first):
            if other not in sides or sides[other].side != OPPOSITE[own.side]:
                continue
            words = reading.tokens[max(reading.first[other] - REACH, 0) : start]
            word = next((each for each in reversed(words) if each in COMPARATIVES), "")
            is_less = sign[0] == "<" if sign else word in LESSER
            dominant = own.side if is_less else sides[other].side
            if sign or (word and word != "lower"):
                mark = sides[other]._replace(side="bilateral", dominant=dominant)
                found |= {other: mark, number: mark}
    return found


def compared_alone(
    reading: Reading, i: int, sides: Mapping[int, Attached]
) -> tuple[int, Attached] | None:
    """Find the structure whose other side is compared with the side at token i, which is alone.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.clinical.mentions import read_mentions
    >>> counter = TermCounter(Vocabulary(["insula"]))
    >>> (mention,) = read_mentions("atrophy of the right insula more than the left", counter)
    >>> mention.side, mention.dominant
    ('bilateral', 'right')
    """
    side = SIDE_WORDS[reading.tokens[i]]
    compared = _comparison(reading, i) if _is_last(reading, i) else None
    if compared is None or side not in OPPOSITE:
        return None
    start, is_less = compared
    for j in range(start - 1, max(start - REACH, -1), -1):
        if reading.is_sentence_end(j + 1):
            return None
        number = reading.finishes.get(j)
        if number is not None and reading.is_structure[number]:
            own = sides.get(number)
            if own is None or own.side != OPPOSITE[side]:
                return None
            dominant = own.side if is_less else side
            return number, own._replace(side="bilateral", dominant=dominant)
    return None


def more_of_both(
    reading: Reading, i: int, sides: Mapping[int, Attached]
) -> tuple[int, Attached] | None:
    """Find the pair before the side at token i that has more: "…, the left being smaller".

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.clinical.mentions import read_mentions
    >>> counter = TermCounter(Vocabulary(["insula"]))
    >>> (mention,) = read_mentions("The insulae are atrophic, the left more so.", counter)
    >>> mention.side, mention.dominant
    ('bilateral', 'left')
    """
    side = SIDE_WORDS[reading.tokens[i]]
    if side not in OPPOSITE or not _has_more(reading, i):
        return None
    for j in range(i - 1, max(i - REACH, -1), -1):
        number = reading.finishes.get(j)
        if number is not None and reading.is_structure[number]:
            own = sides.get(number, Attached("bilateral", Tokens(i, i)))
            is_pair = number in sides or fold(reading.tokens[j]) != reading.tokens[j]
            is_pair = is_pair and own.side == "bilateral"
            return (number, own._replace(dominant=side)) if is_pair else None
        if reading.is_sentence_end(j + 1) or fold(reading.tokens[j]) in NOT_BRAIN:
            return None
    return None


def _has_more(reading: Reading, i: int) -> bool:
    """Whether all that is said of the side at token i is that it has more: "more so", "worse"."""
    first = i - (reading.token(i - 1) == "the")
    is_first = reading.token(first - 1) in ("but", "with") or "," in reading.gap(first)
    j = i + 1 + (reading.token(i + 1) in ONES)
    j += reading.token(j) in BEING
    j += reading.token(j).endswith("ly")
    is_more = reading.token(j) in LARGER | {"more", "smaller"}
    end = j + 1 + (reading.token(j + 1) in DEGREES)
    is_last = end >= len(reading.tokens) or not reading.gap(end).isspace()
    return is_first and is_more and (is_last or reading.token(end) == "and")


def _comparison(reading: Reading, i: int) -> tuple[int, bool] | None:
    """Find the first token that compares the side at token i, and whether that side has less.

    "More than the left", "less so on the left", "to a lesser extent the left", "> left".
    """
    if sign := SIGN.search(reading.gap(i)):
        return i, sign[0] == ">"
    start = i
    while reading.token(start - 1) in LED:
        start -= 1
    before = reading.token(start - 1)
    if before == "than":
        words = range(start - 2, max(start - 2 - REACH_THAN, -1), -1)
        more = next((j for j in words if reading.tokens[j] in MORE), None)
        return None if more is None else (more, reading.tokens[more] not in LESSER)
    if before == "so" and reading.token(start - 2) in ("less", "more"):
        return start - 2, reading.tokens[start - 2] == "less"
    if before in EXTENT and reading.token(start - 2) in ("greater", "lesser"):
        return start - 2, reading.tokens[start - 2] == "lesser"
    return None


def _is_last(reading: Reading, i: int) -> bool:
    """Whether no noun follows the side at token i."""
    i += 1 + (reading.token(i + 1) in ONES)
    is_end = i >= len(reading.tokens) or not reading.gap(i).isspace()
    return is_end or reading.tokens[i] in lexicon.AFTER_PREDICATE


def _before(reading: Reading, number: int, i: int) -> Iterator[int]:
    """Yield the structure before token i, if it is the same as a match."""
    for j in range(i - 1, max(i - REACH, -1), -1):
        if reading.is_sentence_end(j + 1):
            return
        other = reading.finishes.get(j)
        if other is not None and reading.is_structure[other]:
            if reading.terms[other] == reading.terms[number] and other != number:
                yield other
            return
