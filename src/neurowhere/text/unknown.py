"""Unknown words: the content words of a text that a model does not understand."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from neurowhere.text.vocabulary import generic_words
from neurowhere.text.words import fold, word_set

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*[^\W_])?")
SHORTEST = 3  # letters of a content word
# Words that join others, and what reports and articles say whatever they are about.
JOINING = word_set(
    """about above according after again against all along also although among amongst an and
    another any are around as at be because been before being below between both but by can cannot
    could did do does doing done down due during each either even ever every except few for from further
    given had has have having he her here hers him his how however if in including into is it its
    itself just least less like made make many may might more most much must my near neither no
    nor not now of off often on once one ones only onto or other others our out over own per
    perhaps quite rather same several she should since so some somewhat still such than that the
    their them then there therefore these they this those though through thus to together too
    toward towards two three four five under until up upon us use used using very via was we well
    were what when where whereas whether which while who whom whose why will with within without
    would yes yet you your

    able admitted aged ago applied approach based became become case cases clear compared
    consistent day days described developed evidence examination examined exam following found
    general group groups help higher however impression indicate indicated known large larger left
    likely lower man men month months new normal noted note number old part patient patients
    performed period present presented presenting presents previous previously reported report
    result results revealed right same scan scans seen seems shown showed shows small smaller
    studies study suggest suggested suggests symptom symptoms taken test tested tests time times
    week weeks woman women year years"""
)


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
        In the order of the text, each word once. Little words, numbers, and words that say nothing
        of where by themselves are left out.

    Examples
    --------
    >>> text = "The amygdala of a quokka, and another quokka in 2019"
    >>> [word for word, *_ in unknown_words(text, [(4, 12)])]
    ['quokka']
    """
    found: dict[str, UnknownWord] = {}
    for word in _outside(text, sorted(known)):
        if _is_content(word.word):
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
    lower = word.lower().removesuffix("'s").removesuffix("’s")
    if len(lower) < SHORTEST and not word.isupper():
        return False
    return not {lower, fold(lower)} & (JOINING | generic_words()) and len(word) > 1
