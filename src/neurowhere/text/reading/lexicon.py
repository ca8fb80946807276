"""Lexicon: the classes of words, by the table of words; no level compares words themselves.

A word has the classes of its rows, or those of its singular. A row may have endings: "*ly".
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, get_args

from neurowhere.text.reading.tables import TEXT, Column, read_table
from neurowhere.text.words import fold

Side = Literal["left", "right", "bilateral"]
SIDES: tuple[Side, ...] = get_args(Side)
Classes = frozenset[str]
# How adjectives of anatomy, names of tumours, and other words for findings look.
ADJECTIVE = re.compile(
    r"(?!pulvinar)[a-z]{3,}(al|ar|ic|ior|ory|oid)|(pre|sensori|psycho)?motor|fusiform"
)
TUMOR = re.compile(r"[a-z]{3,}oma(s|ta)?")
FINDING = re.compile(
    r"(?:hyper|hypo|dys|mal|micro)[a-z]{5,}|[a-z]+(?:oma|omata|omas|itis|osis|ectomy|otomy)$"
    r"|(?:abnorm|abscess|activ|ablat|alter|atroph|bleed|cavit|calcif|chang|compress|contus|cyst"
    r"|damag|deactiv|decreas|defect|deficit|degener|demyel|deterior|differ|dilat|disconn|displac"
    r"|disord|disrupt|dysfunc|edema|oedema|effac|elevat|encephal|engag|enhanc|enlarg|expan|gliosis"
    r"|ha?emorrh|ha?emat|impair|implant|improv|increas|infarct|infiltrat|inflam|injur|invad|invas"
    r"|isch|lacun|lesion|loss|lower|modul|necro|patholog|plaque|recruit|reduc|remov|resect|rupt"
    r"|scar|shrink|shrunk|smaller|larger|stroke|surg|swell|swoll|thicken|thinn|tumou?r|weak|widen)"
)
WORDS: dict[str, Column] = {"class": TEXT, "words": TEXT}
REMEMBERED = 1 << 17  # words
BEFORE_LESION: Classes = frozenset(["kind-of-lesion", "of-place"])
BESIDE = 5  # words between a place and what is wrong with it
NOTHING: Classes = frozenset()
SHORTEST_STEM = 3  # letters before an ending
# Classes that a text is searched for at once have signs, beside those of phrases: bits of a number.
FINITE, TURN, JOINT = 8, 16, 32
SIGNS = {"finite": FINITE, "turn": TURN, "conjunction": JOINT}


def classes(words: str) -> Classes:
    """Return some classes of words.

    >>> sorted(classes("left right"))
    ['left', 'right']
    """
    return frozenset(words.split())


def signs_of(some: Classes) -> int:
    """Return the signs of some classes.

    >>> signs_of(classes("finite lesion")) == FINITE
    True
    """
    return sum(sign for name, sign in SIGNS.items() if name in some)


class Lexicon(dict[str, Classes]):
    """Classes by the word; a word is looked up once.

    >>> lexicon = Lexicon({"cue": {"no"}, "lesion": {"infarct"}}, {"ly": {"adverb"}})
    >>> sorted(lexicon["infarcts"]), sorted(lexicon["slowly"]), sorted(lexicon["the"])
    (['lesion'], ['adverb'], [])
    """

    def __init__(self, words: dict[str, set[str]], endings: dict[str, set[str]]) -> None:
        by_word: dict[str, set[str]] = {}
        for name, some in words.items():
            for word in some:
                by_word.setdefault(word, set()).add(name)
        self._known = {word: frozenset(some) for word, some in by_word.items()}
        self._endings, self._ends = endings, tuple(endings)
        self.numbers: dict[Classes, int] = {}  # of each set of classes that some word has
        self.sets: list[Classes] = []

    def __missing__(self, word: str) -> Classes:
        known = self._known.get(word) or self._known.get(fold(word)) or NOTHING
        if word.endswith(self._ends):
            known |= self._by_ending(word)
        known = self.sets[self.number_of(known)]
        if len(self) < REMEMBERED:
            self[word] = known
        return known

    def number_of(self, some: Classes) -> int:
        """Return the number of a set of classes, by which it is found in `sets`."""
        if some not in self.numbers:
            self.numbers[some] = len(self.sets)
            self.sets.append(some)
        return self.numbers[some]

    def _by_ending(self, word: str) -> Classes:
        return frozenset(
            name
            for ending, names in self._endings.items()
            if word.endswith(ending) and len(word) >= SHORTEST_STEM + len(ending)
            for name in names
        )


@cache
def lexicon() -> Lexicon:
    """Return the lexicon of the package."""
    words: dict[str, set[str]] = {}
    endings: dict[str, set[str]] = {}
    for row in read_table(__package__, "words", WORDS):
        for word in row["words"].split():
            if word.startswith("*"):
                endings.setdefault(word[1:], set()).add(row["class"])
            else:
                words.setdefault(row["class"], set()).add(word)
    return Lexicon(words, endings)


@cache
def words_of(*names: str) -> frozenset[str]:
    """Return the words of some classes."""
    return frozenset(
        word
        for row in read_table(__package__, "words", WORDS)
        if row["class"] in names
        for word in row["words"].split()
    )


def side_of(word: str) -> Side | None:
    """Return the side that a word says."""
    classes = lexicon()[word]
    return next((side for side in SIDES if side in classes), None)


def is_lesion_word(word: str) -> bool:
    """Return whether a word says what is wrong: "infarcts", "glioma"."""
    return "lesion" in lexicon()[word] or bool(TUMOR.fullmatch(word))


def is_beside_lesion(tokens: Sequence[str], first: int, last: int) -> bool:
    """Return whether what is wrong with a place stands right after its name, or leads to it.

    >>> is_beside_lesion("old BG lacunes".split(), 1, 1)
    True
    >>> is_beside_lesion("a new lesion in the right BG".split(), 6, 6)
    True
    >>> is_beside_lesion("the GP saw a man with a stroke".split(), 1, 1)
    False
    """
    after = [word.lower() for word in tokens[last + 1 : last + BESIDE]]
    before = [word.lower() for word in tokens[max(first - 1 - BESIDE, 0) : first]]
    return _begins_with_lesion(after) or _leads_from_lesion(before[::-1])


def _begins_with_lesion(words: Sequence[str]) -> bool:
    """Return whether some words begin with a lesion, past its adjectives."""
    for word in words:
        if is_lesion_word(word):
            return True
        if BEFORE_LESION.isdisjoint(lexicon()[word]) and not ADJECTIVE.fullmatch(word):
            break
    return False


def _leads_from_lesion(words: Sequence[str]) -> bool:
    """Return whether some words, the last first, lead from a lesion to a place."""
    is_led = False
    for word in words:
        if is_lesion_word(word):
            return is_led
        classes = lexicon()[word]
        is_led |= "leading" in classes
        if not (is_led or side_of(word) or "filler" in classes or word == "b"):
            break
    return False
