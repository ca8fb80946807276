"""What a query is made of: phrases, regular expressions, and their combinations."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from neurowhere.contrast.words import Ints, WordIndex
from neurowhere.text.tokens import plain
from neurowhere.text.words import NUMBERS, SKIPPED

Counts = NDArray[np.int64]

# What may stand between the words of a phrase, as in the names of a vocabulary: single letters, and
# skipped words. Where "a" was both, a text with many of them would be gone through in 2^n ways.
_SKIPPED_WORDS = "|".join(sorted(word for word in SKIPPED if len(word) > 1))
_BETWEEN = rf"(?: (?:{_SKIPPED_WORDS}|[^\s{''.join(sorted(NUMBERS))}]))* "


class Searchable(Protocol):
    """Texts that a query can be put to."""

    def __len__(self) -> int:
        """Count the texts."""

    @property
    def words(self) -> WordIndex:
        """Which words are in which texts."""

    def read_texts(self, rows: Ints) -> list[str]:
        """Give some of the texts."""


class Node(ABC):
    """A part of a query, which may have parts itself."""

    @abstractmethod
    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Count mentions in some of the texts: (n_rows,)."""

    def leaves(self) -> "list[Node]":
        """Give the parts that are looked for, not those that must be absent."""
        return [self]

    @property
    def reads_all(self) -> bool:
        """Whether every text has to be read, because the index of words does not help."""
        return False


@dataclass(frozen=True)
class Phrase(Node):
    """Words in a row; one that ends in * is a prefix."""

    words: tuple[str, ...]

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Add up what the index has of one word; read the texts that have all of several."""
        index = source.words
        columns = [_columns(index, word) for word in self.words]
        each = np.stack([index.total(found)[rows] for found in columns])  # (n_words, n_rows)
        if len(self.words) == 1:
            return np.asarray(each[0])
        counts = np.zeros(len(rows), dtype=np.int64)
        has_all = np.flatnonzero((each > 0).all(axis=0))
        if len(has_all):
            pattern = self._pattern(index, columns)
            texts = source.read_texts(rows[has_all])
            counts[has_all] = [len(pattern.findall(" ".join(plain(t).split()))) for t in texts]
        return counts

    def _pattern(self, index: WordIndex, columns: list[Ints]) -> re.Pattern[str]:
        known = index.words.decode("ascii").split("\n")[1:]
        choices = [
            rf"{re.escape(word[:-1])}\S*"
            if word.endswith("*")
            else "|".join(re.escape(known[i]) for i in found)
            for word, found in zip(self.words, columns, strict=True)
        ]
        return re.compile(rf"(?<!\S)(?:{f'){_BETWEEN}(?:'.join(choices)})(?!\S)")


@dataclass(frozen=True)
class Expression(Node):
    """A regular expression on texts as they are written."""

    pattern: re.Pattern[str]

    @property
    def reads_all(self) -> bool:
        """True: no index knows what an expression matches."""
        return True

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Count the matches, which do not overlap."""
        texts = source.read_texts(rows)
        matches = (sum(1 for _ in self.pattern.finditer(text)) for text in texts)
        return np.fromiter(matches, dtype=np.int64, count=len(rows))


@dataclass(frozen=True)
class AllOf(Node):
    """Texts that have each of some parts, and none of others."""

    required: tuple[Node, ...]
    excluded: tuple[Node, ...]

    @property
    def reads_all(self) -> bool:
        """Whether no required part narrows the texts down."""
        return all(node.reads_all for node in self.required)

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Add up the mentions of the required parts; a text that fails one is not read again."""
        counts = np.zeros(len(rows), dtype=np.int64)
        left = np.arange(len(rows))
        for node in sorted(self.required, key=lambda node: node.reads_all):
            found = node.mentions(source, rows[left])
            counts[left] += found
            left = left[found > 0]
        for node in sorted(self.excluded, key=lambda node: node.reads_all):
            left = left[node.mentions(source, rows[left]) == 0]
        kept = np.zeros_like(counts)
        kept[left] = counts[left]
        return kept

    def leaves(self) -> list[Node]:
        """Give the leaves of the required parts."""
        return [leaf for node in self.required for leaf in node.leaves()]


@dataclass(frozen=True)
class AnyOf(Node):
    """Texts that have one of some parts."""

    nodes: tuple[Node, ...]

    @property
    def reads_all(self) -> bool:
        """Whether one part does."""
        return any(node.reads_all for node in self.nodes)

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Add up the mentions of all parts."""
        counts = [node.mentions(source, rows) for node in self.nodes]
        return np.asarray(np.sum(counts, axis=0, dtype=np.int64))

    def leaves(self) -> list[Node]:
        """Give the leaves of all parts."""
        return [leaf for node in self.nodes for leaf in node.leaves()]


def _columns(index: WordIndex, word: str) -> Ints:
    return index.starting(word[:-1]) if word.endswith("*") else index.forms_of(word)
