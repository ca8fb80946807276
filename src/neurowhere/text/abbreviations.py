"""Abbreviations that a text defines: "anterior insula (AI)" makes "AI" the anterior insula.

A definition is a short form beside a long one in parentheses, either way round. The long form is
found from the right, as Schwartz and Hearst do (A simple algorithm for identifying abbreviation
definitions in biomedical text, Pacific Symposium on Biocomputing 2003): each letter or digit of the
short form has to stand in the long one, in order, the first of them at the start of a word. Only
the few words before a parenthesis are looked at, so that the time is linear in the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_SHORT_FORM = 10  # characters
MORE_WORDS = 5  # words that a long form may have beyond the letters of its short form
LONGEST_WORD = 30  # characters, on average, of the words of a long form
LONGEST_INSIDE = 120  # characters of a long form in parentheses

_OPENING = re.compile(
    r"\(\s?(?:(?P<short>[A-Za-z0-9][A-Za-z0-9+/'-]{1,9})(?=\s?[);,:])"
    rf"|(?P<long>[A-Za-z][A-Za-z0-9 ,'-]{{5,{LONGEST_INSIDE}}})\))"
)
_WORD_BEFORE = re.compile(r"(?<![^\s(])([A-Za-z0-9+/-]{2,10})\s?$")
# A long form does not reach across the end of a sentence or another parenthesis.
_BREAKS = ("(", ")", ". ", "; ", ": ", "? ", "! ", "[", "]")


class Definition(NamedTuple):
    """A short form and the words that the text gives for it."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that a text defines, in its order.

    >>> text = "the anterior insula (AI), the AI; 12 patients (six men); MS (multiple sclerosis)"
    >>> [tuple(definition) for definition in definitions(text)]
    [('AI', 'anterior insula'), ('MS', 'multiple sclerosis')]
    """
    seen = set()
    for opening in _OPENING.finditer(text):
        if inside := opening["long"]:
            before = _WORD_BEFORE.search(text, max(0, opening.start() - 12), opening.start())
            short, words = (before[1], inside) if before else ("", "")
        else:
            short, words = opening["short"], ""
        if short in seen or not is_short_form(short):
            continue
        long = _long_form(short, words or _words_before(text, opening.start(), len(short)))
        if long and (not inside or long == inside):  # all of what is in the parentheses
            seen.add(short)
            yield Definition(short, long)


def _words_before(text: str, end: int, n_letters: int) -> str:
    """Return the words before a parenthesis that a long form may be made of."""
    n_words = min(n_letters + MORE_WORDS, 2 * n_letters)
    before = text[max(0, end - LONGEST_WORD * n_words) : end].rstrip()
    words = before[max(map(before.rfind, _BREAKS)) + 1 :].split()
    return " ".join(words[-n_words:])


def _long_form(short: str, words: str) -> str:
    """Return the shortest end of the words that the short form stands for, "" if there is none."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    place, spelt = len(words), words.lower()
    for number, letter in reversed(list(enumerate(letters))):
        place = spelt.rfind(letter, 0, place)
        while number == 0 and place > 0 and spelt[place - 1].isalnum():
            place = spelt.rfind(letter, 0, place)
        if place < 0:
            return ""
    long = words[words.rfind(" ", 0, place + 1) + 1 :]
    return long if len(long) > len(short) and short not in long.split() else ""


def is_short_form(word: str) -> bool:
    """Whether a word may be an abbreviation: up to 10 characters, and not only its first a capital.

    >>> [is_short_form(word) for word in ("AI", "mPFC", "V5", "Left", "left", "2")]
    [True, True, True, False, False, False]
    """
    if not 2 <= len(word) <= LONGEST_SHORT_FORM or not any(map(str.isupper, word)):
        return False
    return word[1:] != word[1:].lower() or any(map(str.isdigit, word))
