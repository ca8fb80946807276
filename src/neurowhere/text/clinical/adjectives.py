"""Adjectives: words that a vocabulary has as terms of their own, read as the structures they name.

"Putaminal" is of the putamen. As a term of its own it has few studies, and most of these are of
movement; its map is not that of the place.
"""

from collections.abc import Callable

from neurowhere.text.clinical.reading import Reading

NOUNS = {"putaminal": "putamen"}


def with_nouns(
    reading: Reading, term_of: Callable[[str], str | None], index: Callable[[str], int]
) -> Reading:
    """Read adjectives as the structures that they name.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> vocabulary = Vocabulary(["putamen", "putaminal"])
    >>> counter = TermCounter(vocabulary)
    >>> reading = counter.read("Left putaminal hemorrhage")
    >>> [vocabulary.terms[i] for i in with_nouns(reading, counter.term_of, vocabulary.index).terms]
    ['putamen']
    """
    if not reading.at_words(NOUNS.keys()):
        return reading
    known = {adjective: (term_of(adjective), term_of(noun)) for adjective, noun in NOUNS.items()}
    nouns = {index(old): index(new) for old, new in known.values() if old and new}
    return reading.with_names(
        terms=[nouns.get(term, term) for term in reading.terms],
        first=reading.first,
        last=reading.last,
        is_structure=reading.is_structure,
    )
