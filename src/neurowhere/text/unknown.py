"""Unknown words: what a text says that its reader did not understand."""

import re
from functools import cache

from neurowhere.text.abbreviations import definitions
from neurowhere.text.counter import TermCounter
from neurowhere.text.lists import shipped_lines
from neurowhere.text.words import fold, is_skipped

FEWEST_LETTERS = 3  # of a word, unless it is written in capitals
_WORD = re.compile(r"[^\W\d_]")


@cache
def common_words() -> frozenset[str]:
    """Return the words, folded, that say nothing of a text's subject, as "the" and "however"."""
    return frozenset(map(fold, shipped_lines(__package__, "common.txt")))


def unknown_words(text: str, counter: TermCounter) -> list[str]:
    """Return the content words of a text that are part of no term, each once, in their order.

    Common words, numbers and single letters are not content; abbreviations that the text defines
    are as well known as what they stand for.

    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["amygdala", "fear"]))
    >>> unknown_words("However, 12 wombats feared the left amygdala; a wombat had XQ.", counter)
    ['wombats', 'feared', 'XQ']
    """
    reading = counter.read(text)
    within = {
        i
        for first, last in zip(reading.first, reading.last, strict=True)
        for i in range(first, last + 1)
    }
    defined = {definition.short for definition in definitions(text)}
    unknown: dict[str, str] = {}
    for i, token in enumerate(reading.tokens):
        written = reading.written(i)
        if i not in within and written not in defined and _is_content(token, written):
            unknown.setdefault(fold(token), written)
    return list(unknown.values())


def content_words(text: str, counter: TermCounter) -> int:
    """Count the content words of a text, each once, known or not."""
    reading = counter.read(text)
    pairs = ((token, reading.written(i)) for i, token in enumerate(reading.tokens))
    return len({fold(token) for token, written in pairs if _is_content(token, written)})


def _is_content(token: str, written: str) -> bool:
    if is_skipped(token) or not _WORD.search(written) or fold(token) in common_words():
        return False
    return len(written) >= FEWEST_LETTERS or (len(written) > 1 and written.isupper())
