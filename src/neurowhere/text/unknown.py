"""Unknown words: the content words of a text that a model does not understand."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from neurowhere.text.abbreviations import definitions
from neurowhere.text.lists import shipped_lines
from neurowhere.text.vocabulary import generic_words
from neurowhere.text.words import fold

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
SHORTEST = 3  # letters of a content word, unless it is written in capitals


@cache
def common_words() -> frozenset[str]:
    """Return the words, folded, that say nothing of a text's subject, as "the" and "however"."""
    return frozenset(map(fold, shipped_lines(__package__, "common.txt")))


class UnknownWord(NamedTuple):
    """A word, and where it stands: ``text[start:end]``."""

    word: str
    start: int
    end: int


def unknown_words(text: str, known: Iterable[tuple[int, int]]) -> list[UnknownWord]:
    """Find the content words of a text that are part of no name that was read.

    Parameters
    ----------
    text : str
    known : iterable of (int, int)
        Where the names are that were read.

    Returns
    -------
    list of UnknownWord
        In the order of the text, each word once. Little words, numbers, words that say nothing of
        where by themselves, and abbreviations that the text defines are left out.

    Examples
    --------
    >>> text = "The amygdala of a quokka, and another quokka in 2019"
    >>> [word for word, *_ in unknown_words(text, [(4, 12)])]
    ['quokka']
    """
    defined = {definition.short for definition in definitions(text)}
    found: dict[str, UnknownWord] = {}
    for word in _outside(text, sorted(known)):
        if word.word not in defined and _is_content(word.word):
            found.setdefault(fold(word.word.lower()), word)
    return list(found.values())


def _outside(text: str, known: list[tuple[int, int]]) -> Iterator[UnknownWord]:
    """Yield the words that overlap with none of the known places."""
    place = 0
    for match in WORD.finditer(text):
        while place < len(known) and known[place][1] <= match.start():
            place += 1
        if place == len(known) or known[place][0] >= match.end():
            yield UnknownWord(match[0], match.start(), match.end())


def _is_content(word: str) -> bool:
    plain = fold(word.lower().removesuffix("'s").removesuffix("’s"))
    if len(word) < SHORTEST and not (len(word) > 1 and word.isupper()):
        return False
    return plain not in common_words() and plain not in generic_words()
