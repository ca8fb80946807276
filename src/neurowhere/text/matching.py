"""Match names in sequences of word ids."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from neurowhere.text.words import fold, is_short_form, is_skipped

# Ids of tokens that are no words of the vocabulary; those that may be abbreviations have their own.
UNKNOWN, SKIPPED, UNKNOWN_SHORT_FORM = 0, 1, 2
FIRST_WORD = 3

# "rIFG", "ldlPFC" or "rV5", where "IFG" is known, and "rIFG" is not or says less.
SIDED = re.compile(r"[lr](?:[a-z]{0,2}[A-Z]{3,}|[a-z]{1,2}[A-Z]{2,}|[A-Z]{1,2}\d{1,2})")

# "bithalamic", where "thalamic" is known; not "bilingual" nor "bioptic".
BOTH = re.compile(
    "bi(?:prefront|front|pariet|tempor|occipit|thalam|hemispher|hippocamp|cerebell|insul|pallid"
    "|striat|opercul)[a-z]+"
)
SIDES = frozenset("LR")  # part names, as other single letters do not
REMEMBERED_TOKENS = 1 << 18  # memory stays bounded however many distinct tokens a corpus has
NO_TERM = -1


class TokenIds(dict[str, int]):
    """Ids of tokens: one for each word of a vocabulary, shared by the other forms of the word.

    A word with capitals is found only as it is written, others in any case. A letter for the side
    is taken off what is unknown, or among the words of `generic` terms: "rIFG" is "IFG". So is "bi"
    of an adjective: "bithalamic" is "thalamic".

    >>> ids = TokenIds(["MS", "gyri", "gyrus", "lobe"])
    >>> ids.of(["MS", "ms", "gyri", "Gyrus", "LOBES", "of", "unheard"])
    [3, 0, 4, 5, 6, 1, 0]
    """

    def __init__(self, words: Iterable[str], generic: Container[str] = ()) -> None:
        self.words = sorted(words)
        self._words = frozenset(self.words)
        self._generic = generic
        super().__init__({word: FIRST_WORD + i for i, word in enumerate(self.words)})
        self.n_ids = FIRST_WORD + len(self.words)
        self._forms: dict[str, list[int]] = {}
        self._with_capitals: dict[str, list[int]] = {}
        for word in self.words:
            self._forms.setdefault(fold(word), []).append(self[word])
            if word != word.lower():
                self._with_capitals.setdefault(word.lower(), []).append(self[word])

    def __missing__(self, token: str) -> int:
        number = self._of_small(token) if token == token.lower() else self._of_capitals(token)
        if len(self) < REMEMBERED_TOKENS:
            self[token] = number
        return number

    def _of_small(self, token: str) -> int:
        """Find the id of a token in small letters."""
        if is_skipped(token):
            return SKIPPED
        number = self._forms.get(fold(token), [UNKNOWN])[0]
        is_both = number == UNKNOWN and token.startswith("bi") and BOTH.fullmatch(token)
        return self[token[2:]] if is_both else number

    def _of_capitals(self, token: str) -> int:
        """Find the id of a token with capitals."""
        number = self[token.lower()]
        if token in SIDES and number == SKIPPED:
            number = UNKNOWN  # "thalami: R pulvinar"
        elif not token[1:].islower():  # not the first word of a sentence
            number = self._of_short_form(token, number)
        return UNKNOWN_SHORT_FORM if number == UNKNOWN and is_short_form(token) else number

    def _of_short_form(self, token: str, number: int) -> int:
        if self.side_of(token):
            return self[token[1:]]
        if number != UNKNOWN:
            return UNKNOWN_SHORT_FORM if self._is_chance(token) else number
        is_plural = token[-1] == "s" and token[:-1].isupper()  # "PCAs"
        return self[token[:-1]] if is_plural else UNKNOWN

    def side_of(self, token: str) -> str:
        """Letter by which an abbreviation is of a side: "l", "r", or "" where it has none."""
        if not SIDED.fullmatch(token) or self[token[1:]] < FIRST_WORD:
            return ""
        if self.get(token, self[token[1:]]) != self[token[1:]]:  # a word of its own
            return ""
        lower = token.lower()
        return token[0] if self[lower] == UNKNOWN or lower in self._generic else ""

    def _is_chance(self, token: str) -> bool:
        """Whether an abbreviation looks like the plural of a generic word: "PRES" is no "pre"."""
        lower = token.lower()
        is_plural = fold(lower) != lower and lower not in self._words
        return is_plural and token.isupper() and fold(lower) in self._generic

    def of(self, tokens: Sequence[str]) -> list[int]:
        """Ids of a sequence of tokens."""
        return list(map(self.__getitem__, tokens))

    def forms(self, word: str) -> list[int]:
        """Ids of the vocabulary's words that are forms of this one, with capitals or without."""
        return [*self._forms[fold(word)], *self._with_capitals.get(word, [])]

    def knows(self, token: str) -> bool:
        """Whether a token is a form of one of the words."""
        return self[token] >= FIRST_WORD


class NameTree:
    """A tree of the names of terms, each a sequence of word ids, that finds the longest ones."""

    def __init__(self, names: Mapping[tuple[int, ...], int], n_ids: int) -> None:
        self._n_ids = n_ids
        self._single = np.full(n_ids, NO_TERM)  # term of a one-word name
        self._is_first, self._is_second = np.zeros((2, n_ids), bool)  # word of a longer name
        self._begun = np.zeros(n_ids, dtype=np.intp)  # what the second word of one is added to
        self._edges: dict[int, int] = {}  # nodes by the node before and the word
        terms: dict[int, int] = {}
        for name, term in names.items():
            if len(name) == 1:
                self._single[name[0]] = term
                continue
            node = 0
            self._is_first[name[0]] = self._is_second[name[1]] = True
            for word in name:
                node = self._edges.setdefault(node * n_ids + word, len(self._edges) + 1)
            terms[node] = term
            self._begun[name[0]] = self._edges[name[0]] * n_ids
        self._terms = [terms.get(node, NO_TERM) for node in range(len(self._edges) + 1)]

    def longest(
        self, ids: Sequence[int], meant: Mapping[int, int], ends: Container[int] = ()
    ) -> list[tuple[int, int, int]]:
        """Find the first token, the end and the term of names, the longest at each place.

        Names consume their words. Tokens have the terms of `meant` in place of those of their
        words, unless a longer name consumes them. No name goes across one of the `ends`.
        """
        words = np.array(ids, dtype=np.intp)
        terms = self._single[words]
        for i, term in meant.items():
            terms[i] = term
        kept = np.flatnonzero(words != SKIPPED)
        words = words[kept]
        may = np.flatnonzero(self._is_first[words[:-1]] & self._is_second[words[1:]])
        found: list[tuple[int, int, int]] = []
        free = 0
        pairs = self._begun[words[may]] + words[may + 1]
        for first, pair in zip(kept[may].tolist(), pairs.tolist(), strict=True):
            if first >= free and pair in self._edges:
                free, term = self._phrase(ids, first, ends)
                if term != NO_TERM:
                    terms[first:free] = NO_TERM
                    found.append((first, free, term))
        one = np.flatnonzero(terms != NO_TERM)
        single = zip(one.tolist(), (one + 1).tolist(), terms[one].tolist(), strict=True)
        return sorted([*single, *found]) if found else list(single)

    def _phrase(self, ids: Sequence[int], first: int, ends: Container[int]) -> tuple[int, int]:
        """End and term of the longest name of several words that begins at a token."""
        edges, n_ids, node, longest = self._edges, self._n_ids, 0, (first, NO_TERM)
        for i in range(first, len(ids)):
            if i in ends and i > first:
                break
            if ids[i] == SKIPPED:
                continue
            node = edges.get(node * n_ids + ids[i], 0)
            if not node:
                break
            if self._terms[node] != NO_TERM:
                longest = i + 1, self._terms[node]
        return longest
