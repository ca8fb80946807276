"""Cerebellar: limbs that are ataxic, which the cerebellum serves on their own side.

"Ataxia of the right arm and leg" is of the right half of the cerebellum, and not of the left motor
cortex. Where nothing else is said of such limbs, they count nothing, and the ataxia has their side.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurowhere.text.clinical.places import LIMB_LETTERS, SIDE_WORDS, SIGNS, Attached, Side
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import Found, read_table
from neurowhere.text.words import fold, word_set

if TYPE_CHECKING:
    from neurowhere.text.clinical.mentions import Mention

ENTRY = "limb ataxia"
ATAXIC = word_set("ataxia ataxic dysmetria dysmetric incoordination uncoordinated")
ATAXIA = f"(?:{'|'.join(sorted(ATAXIC))})"
SIDE = r"(?:left|right|lt|rt|l|r)(?: sided| side)?"
LIMB = (
    r"(?:(?:upper |lower )?(?:arm|leg|hand|foot|limb|extremity|finger|ankle|wrist)s?|extremities"
    r"|feet|rue|lue|rle|lle)"
)
LIMBS = rf"(?:{SIDE} )?{LIMB}(?:(?: and| or)?(?: the)?(?: {SIDE})? {LIMB})*"
ON_SIDE = rf"(?: (?:on|of) the {SIDE}\b)?"
WHOSE = r"(?:the|his|her|both) "
# "ataxia of the right arm and leg", "ataxic left leg", "right arm and leg ataxia", "left arm was
# markedly ataxic", and a side alone: "left-sided ataxia", "ataxia on the right".
PATTERN = re.compile(
    rf"\b(?:{ATAXIA} (?:(?:of|in|affecting|involving) )?(?:{WHOSE})?{LIMBS}{ON_SIDE}"
    rf"|{LIMBS} (?:(?:is|are|was|were) (?:\w+ly )?)?{ATAXIA}{ON_SIDE}"
    rf"|{SIDE} {ATAXIA}"
    rf"|{ATAXIA} on the {SIDE})\b"
)
# Before "ataxia", these tell of another kind of it.
OTHER_KINDS = word_set("friedreich frontal gait optic optical sensory spinocerebellar truncal")
# With these in the sentence, something else is wrong with the limbs too.
OTHER_SIGNS = (SIGNS - {"ataxia", "dysmetria"}) | word_set(
    "hemiparesis hemiplegia hemiparetic numb paralysed paralyzed paretic plegic sensory weak"
)


def ataxic_limbs(reading: Reading) -> Iterator[tuple[Tokens, Attached]]:
    """Yield where a text tells of ataxia on one side of the body, and that side.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["ataxia", "leg"])).read
    >>> [(words, side.side) for words, side in ataxic_limbs(read("Ataxia of the right leg"))]
    [(Tokens(first=0, last=4), 'right')]
    >>> list(ataxic_limbs(read("Optic ataxia of the right arm")))
    []
    """
    for number in sorted({reading.sentence_number(i) for i in reading.at_words(ATAXIC)}):
        here = reading.sentence_tokens(number)
        words = " ".join(reading.tokens[i] for i in here)
        for match in PATTERN.finditer(words):
            first = here.start + words.count(" ", 0, match.start())
            last = first + match[0].count(" ")
            sides = {i: side for i in range(first, last + 1) if (side := _side(reading, i))}
            kinds = {reading.token(i) for i in range(first - 1, last + 1)}
            is_shared = (
                reading.token(first - 1) == "and" and reading.token(first - 2) in OTHER_SIGNS
            )
            is_other = is_shared or not OTHER_KINDS.isdisjoint(kinds)  # "weakness and ataxia of"
            if len(set(sides.values())) == 1 and not is_other:
                i = min(sides)
                yield Tokens(first, last), Attached(sides[i], Tokens(i, i))


def with_ataxia(reading: Reading, found: list[Found]) -> list[Found]:
    """Add the ataxia of limbs to the names of a text; what is named within it has its side."""
    limbs = dict(ataxic_limbs(reading))
    at = {i: words for words in limbs for i in range(words.first, words.last + 1)}
    named = {at[name.tokens.first] for name in found if name.tokens.first in at}
    return [
        name._replace(side=limbs[at[name.tokens.first]]) if name.tokens.first in at else name
        for name in found
    ] + [
        Found(read_table().entries[ENTRY], words, side)
        for words, side in limbs.items()
        if words not in named
    ]


def weigh_ataxic(reading: Reading, mentions: "list[Mention]") -> "list[Mention]":
    """Give no weight to limbs of which a text tells nothing but that they are ataxic."""
    spans = [
        words
        for words, _ in ataxic_limbs(reading)
        if not _has_other_sign(reading, reading.sentence_number(words.first))
    ]
    within = {i for words in spans for i in range(words.first, words.last + 1)}
    if not within:
        return mentions
    return [
        each._replace(weight=0.0)
        if reading.first[number] in within and _is_limb(reading, number)
        else each
        for number, each in enumerate(mentions)
    ]


def _has_other_sign(reading: Reading, number: int) -> bool:
    words = {reading.tokens[i] for i in reading.sentence_tokens(number)}
    return not OTHER_SIGNS.isdisjoint(words)


def _is_limb(reading: Reading, number: int) -> bool:
    words = reading.tokens[reading.first[number] : reading.last[number] + 1]
    return any(re.fullmatch(LIMB, fold(word)) or word in LIMB_LETTERS for word in words)


def _side(reading: Reading, i: int) -> Side | None:
    """Side that token i gives; single letters are capitals."""
    token = reading.tokens[i]
    if token in ("l", "r") and not reading.written(i).isupper():
        return None
    if token in LIMB_LETTERS:
        return LIMB_LETTERS[token][0]
    return SIDE_WORDS.get(token)
