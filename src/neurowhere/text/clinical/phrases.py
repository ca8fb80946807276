"""Phrases: fixed sequences of words, each of a kind, that are looked for among tokens."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

Kind = TypeVar("Kind", bound=str)


class Phrases(Generic[Kind]):
    """Lists of phrases, separated by semicolons, by their kind.

    >>> phrases = Phrases({"cue": "no; no longer"})
    >>> list(phrases.find(["no", "or", "no", "longer"]))
    [(0, 0, 'cue'), (2, 3, 'cue')]
    """

    def __init__(self, lists: Mapping[Kind, str]) -> None:
        self._by_word: dict[str, list[tuple[list[str], Kind]]] = {}
        for kind, phrases in lists.items():
            for phrase in phrases.split(";"):
                words = phrase.split()
                self._by_word.setdefault(words[0], []).append((words, kind))
        for entries in self._by_word.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, tokens: list[str]) -> Iterator[tuple[int, int, Kind]]:
        """First token, last token and kind of the longest phrases, from the left."""
        free = 0
        for i in [i for i, token in enumerate(tokens) if token in self._by_word]:
            found = self.at(tokens, i) if i >= free else None
            if found:
                yield i, *found
                free = found[0] + 1

    def at(self, tokens: list[str], i: int) -> tuple[int, Kind] | None:
        """Last token and kind of the longest phrase that begins at token i."""
        for words, kind in self._by_word.get(tokens[i], ()):
            if tokens[i : i + len(words)] == words:
                return i + len(words) - 1, kind
        return None
