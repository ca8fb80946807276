"""Match names in sequences of word ids: arrays in, arrays out."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.words import ESCAPE, fold, is_short_form, is_skipped

Ints = NDArray[np.intp]

# Ids of tokens that are no words of the vocabulary; those that may be abbreviations have their own.
# The boundary parts texts that are matched together: no text yields its token, since the escape is
# always followed by a code.
UNKNOWN, SKIPPED, BOUNDARY, UNKNOWN_SHORT_FORM = 0, 1, 2, 3
BOUNDARY_TOKEN = ESCAPE
FIRST_WORD = 4

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
    >>> ids.of(["MS", "ms", "gyri", "Gyrus", "LOBES", "of", "unheard"]).tolist()
    [4, 0, 5, 6, 7, 1, 0]
    """

    def __init__(self, words: Iterable[str], generic: Container[str] = ()) -> None:
        self.words = sorted(words)
        self._words = frozenset(self.words)
        self._generic = generic
        super().__init__({word: FIRST_WORD + i for i, word in enumerate(self.words)})
        self[BOUNDARY_TOKEN] = BOUNDARY
        self.n_ids = FIRST_WORD + len(self.words)
        self._forms: dict[str, list[int]] = {}
        self._with_capitals: dict[str, list[int]] = {}
        for word in self.words:
            self._forms.setdefault(fold(word), []).append(self[word])
            if word != word.lower():
                self._with_capitals.setdefault(word.lower(), []).append(self[word])

    def __missing__(self, token: str) -> int:
        lower = token.lower()
        if lower != token:
            number = self[lower]
            if token in SIDES and number == SKIPPED:
                number = UNKNOWN  # "thalami: R pulvinar"
            elif token[1:].islower():  # the first word of a sentence
                pass
            elif self.side_of(token):
                number = self[token[1:]]
            elif token[-1] == "s" and token[:-1].isupper() and number == UNKNOWN:
                number = self[token[:-1]]  # "PCAs"
            elif number != UNKNOWN and self._is_chance(token):
                number = UNKNOWN_SHORT_FORM
            if number == UNKNOWN and is_short_form(token):
                number = UNKNOWN_SHORT_FORM
        elif is_skipped(token):
            number = SKIPPED
        else:
            number = self._forms.get(fold(token), [UNKNOWN])[0]
            if number == UNKNOWN and BOTH.fullmatch(token):
                number = self[token[2:]]
        if len(self) < REMEMBERED_TOKENS:
            self[token] = number
        return number

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

    def of(self, tokens: Sequence[str]) -> Ints:
        """Ids of a sequence of tokens."""
        return np.fromiter(map(self.__getitem__, tokens), dtype=np.intp, count=len(tokens))

    def forms(self, word: str) -> list[int]:
        """Ids of the vocabulary's words that are forms of this one, with capitals or without."""
        return [*self._forms[fold(word)], *self._with_capitals.get(word, [])]

    def knows(self, token: str) -> bool:
        """Whether a token is a form of one of the words."""
        return self[token] >= FIRST_WORD


class NameTree:
    """A tree of names, each a sequence of word ids, that finds the longest ones.

    Single words are looked up in an array. Longer names are paths in a tree whose edges
    (node, word) → node are kept sorted, so that all places of a text walk it together, one
    `searchsorted` per depth.

    Parameters
    ----------
    names : mapping of tuple of int to int
        Term that each sequence of ids stands for.
    n_ids : int
        Ids are below this number.
    """

    def __init__(self, names: Mapping[tuple[int, ...], int], n_ids: int) -> None:
        self._n_ids = n_ids
        self._depth = max(map(len, names))
        self._single = np.full(n_ids, NO_TERM)  # (n_ids,): term of a one-word name
        edges: dict[tuple[int, int], int] = {}
        terms = {}
        for name, term in names.items():
            if len(name) == 1:
                self._single[name[0]] = term
                continue
            node = 0
            for word in name:
                node = edges.setdefault((node, word), len(edges) + 1)
            terms[node] = term
        self._terms = np.full(len(edges) + 1, NO_TERM)  # (n_nodes,): term that ends at a node
        self._terms[list(terms)] = list(terms.values())
        self._roots = np.zeros(n_ids, dtype=np.intp)  # (n_ids,): node of a first word, or 0
        for (node, word), child in edges.items():
            if node == 0:
                self._roots[word] = child
        keys = np.array([node * n_ids + word for node, word in edges], dtype=np.intp)
        order = np.argsort(keys)
        self._edges = np.append(keys[order], np.iinfo(np.intp).max)  # sorted, with a sentinel
        self._children = np.append(np.array(list(edges.values()), dtype=np.intp)[order], 0)

    def alone(self, ids: Ints) -> Ints:
        """Term that each token is the name of by itself, or `NO_TERM`."""
        return self._single[ids]

    def longest(
        self, ids: Ints, alone: Ints | None = None, ends: Ints | None = None
    ) -> tuple[Ints, Ints, Ints]:
        """Find names from left to right, the longest at each place; their words are consumed.

        Parameters
        ----------
        ids : array of shape (n_tokens,)
        alone : array of shape (n_tokens,), optional
            Term of each token that no longer name consumes, by default what `alone` gives.
        ends : array of shape (n_ends,), optional
            Tokens before which a sentence ends, in order: no name goes on there.

        Returns
        -------
        first, last, terms : arrays of shape (n_matches,)
            Indices of the first and last token of each match, and its term.
        """
        kept = np.flatnonzero(ids != SKIPPED)
        words = ids[kept]
        sentences = None if ends is None else np.searchsorted(ends, kept, side="right")
        lengths, phrases = self._phrases(words, sentences)
        starts = _without_overlap(np.flatnonzero(lengths), lengths)
        terms = self._single[words] if alone is None else alone[kept]
        terms[_spans(starts, lengths[starts])] = NO_TERM
        terms[starts] = phrases[starts]
        first = np.flatnonzero(terms != NO_TERM)
        # A rejected overlapping phrase has its length at a consumed word, never in `first`.
        last = first + np.maximum(lengths[first], 1) - 1
        return kept[first], kept[last], terms[first]

    def _phrases(self, words: Ints, sentences: Ints | None) -> tuple[Ints, Ints]:
        """Length in words, and term, of the longest many-word name that starts at each word.

        Words have the numbers of their sentences, or all are of one.
        """
        lengths = np.zeros(len(words), dtype=np.intp)
        terms = np.full(len(words), NO_TERM)
        padded = np.append(words, np.full(self._depth, UNKNOWN))
        places = np.flatnonzero(self._roots[words])
        nodes = self._roots[words[places]]
        for depth in range(2, self._depth + 1):
            keys = nodes * self._n_ids + padded[places + depth - 1]
            slots = np.searchsorted(self._edges, keys)
            found = self._edges[slots] == keys
            if sentences is not None:  # what was found is within the text
                found[found] = sentences[places[found]] == sentences[places[found] + depth - 1]
            places, nodes = places[found], self._children[slots[found]]
            ended = self._terms[nodes] != NO_TERM
            lengths[places[ended]] = depth
            terms[places[ended]] = self._terms[nodes[ended]]
        return lengths, terms


def _without_overlap(starts: Ints, lengths: Ints) -> Ints:
    """Return the starts of the phrases that remain when each, from the left, consumes its words."""
    free, kept = 0, []
    for start, length in zip(starts.tolist(), lengths[starts].tolist(), strict=True):
        if start >= free:
            kept.append(start)
            free = start + length
    return np.array(kept, dtype=np.intp)


def _spans(starts: Ints, lengths: Ints) -> Ints:
    """Return all indices in the spans [start, start + length)."""
    ends = np.cumsum(lengths)
    within: Ints = np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
    return np.repeat(starts, lengths) + within
