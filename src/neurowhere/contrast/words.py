"""Which words are in which texts: an index that answers for a shard without reading its texts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.text.tokens import plain
from neurowhere.text.words import fold

Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class WordIndex:
    r"""How often each word occurs in each text.

    Attributes
    ----------
    words, forms : bytes
        The words, lower-case, each after a line break; and line by line what the forms of a word
        share: singular and plural, British and American.
    counts : csc_matrix (n_texts, n_words)

    Examples
    --------
    >>> index = WordIndex.of(["Tumours of the pons", "a tumor; aphasic, aphasia"])
    >>> index.counts[:, index.forms_of("tumor")].sum(axis=1).A1.tolist()
    [1, 1]
    >>> len(index.starting("aphasi"))
    2
    """

    words: bytes
    forms: bytes
    counts: sparse.csc_matrix

    @classmethod
    def of(cls, texts: Iterable[str]) -> "WordIndex":
        """Index texts; only the distinct words and their counts are held."""
        ids = _Ids()
        columns = [ids.of(plain(text).split()) for text in texts]
        rows = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
        column = np.concatenate([np.empty(0, np.intp), *columns])
        ones = np.ones(len(column), dtype=np.int32)
        counts = sparse.csc_matrix((ones, (rows, column)), shape=(len(columns), len(ids)))
        return cls(_lines(ids), _lines(map(fold, ids)), counts)

    def forms_of(self, word: str) -> Ints:
        """Columns of a word and its other forms."""
        return _line_numbers(self.forms, re.escape(f"\n{fold(word)}") + "(?=\n)")

    def starting(self, prefix: str) -> Ints:
        """Columns of the words that start with some letters."""
        return _line_numbers(self.words, re.escape(f"\n{prefix}"))

    def total(self, columns: Ints) -> NDArray[np.int64]:
        """Mentions of any of the words in each text: (n_texts,)."""
        totals: NDArray[np.int64] = self.counts[:, columns].astype(np.int64).sum(axis=1).A1
        return totals


class _Ids(dict[str, int]):
    """Numbers of words in the order in which they first occur."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number

    def of(self, words: list[str]) -> Ints:
        return np.fromiter(map(self.__getitem__, words), dtype=np.intp, count=len(words))


def _lines(words: Iterable[str]) -> bytes:
    return b"".join(b"\n" + word.encode("ascii") for word in words) + b"\n"


def _line_numbers(lines: bytes, pattern: str) -> Ints:
    """Numbers of the lines that a pattern matches; it starts with the line break before them."""
    numbers, number, counted = [], 0, 0
    for match in re.finditer(pattern.encode("ascii"), lines):
        number += lines.count(b"\n", counted, match.start())
        counted = match.start()
        numbers.append(number)
    return np.array(numbers, dtype=np.intp)
