"""Lexicon: the classes of words, by the table of words; no level compares words themselves.

A word has the classes of its rows, or those of its singular. A row may have endings: "*ly".
"""

from functools import cache

from neurowhere.text.reading.tables import TEXT, Column, read_table
from neurowhere.text.words import fold

Classes = frozenset[str]
WORDS: dict[str, Column] = {"class": TEXT, "words": TEXT}
REMEMBERED = 1 << 17  # words
SHORTEST_STEM = 3  # letters before an ending


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
        self._endings = endings

    def __missing__(self, word: str) -> Classes:
        classes = self._known.get(word) or self._known.get(fold(word)) or self._by_ending(word)
        if len(self) < REMEMBERED:
            self[word] = classes
        return classes

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
