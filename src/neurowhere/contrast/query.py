"""Queries: how often texts hold the words, phrases and expressions that are asked for."""

import itertools
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.exceptions import QueryError
from neurowhere.text.words import NUMBERS, SKIPPED, fold, is_skipped, plain

Ints = NDArray[np.intp]
Counts = NDArray[np.int64]

LONGEST = 20_000  # characters of a query
OPERATORS = ("AND", "OR", "NOT", "(", ")")
_EXPRESSION = re.compile(r"/((?:\\.|[^/\\])+)/(i?)(?=[\s()]|$)")
_TOKEN = re.compile(rf'\s*([()]|{_EXPRESSION.pattern}|"[^"]*"|[^\s()"]+)')
# What may stand between the words of a phrase, as in the names of a vocabulary: single letters, and
# skipped words. Where "a" was both, a text with many of them would be gone through in 2^n ways.
_SKIPPED_WORDS = "|".join(sorted(word for word in SKIPPED if len(word) > 1))
_BETWEEN = rf"(?: (?:{_SKIPPED_WORDS}|[^\s{''.join(sorted(NUMBERS))}]))* "

# A text gets so many seconds of the processor, thirty times what an ordinary expression takes.
SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-6
MOST_UNROLLED = 100_000  # parts of an expression whose counted repeats are written out
_REPEAT = re.compile(r"(?P<group>[\s)]?)\{(?P<least>\d+)")
# A brace that begins no count is a brace to Python, but more to the package `regex`.
_BRACE = re.compile(r"(\\N\{[^}]*\}|\\.)|\{(?!\d*,?\d*\})", re.DOTALL)


# ---- words


@dataclass(frozen=True, eq=False)
class WordIndex:
    r"""Counts of each word in each text, to answer without reading the texts.

    Words and their forms, which singular and plural, British and American share, are lines of
    bytes, each after a line break.

    >>> index = WordIndex.of(["Tumours of the pons", "a tumor; aphasic, aphasia"])
    >>> index.counts[:, index.forms_of("tumor")].sum(axis=1).A1.tolist()
    [1, 1]
    >>> len(index.starting("aphasi"))
    2
    """

    words: bytes  # lower-case
    forms: bytes
    counts: sparse.csc_matrix  # (n_texts, n_words)

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
        """Return the columns of a word and of its other forms."""
        return _line_numbers(self.forms, fold(word).encode("ascii").__eq__)

    def starting(self, prefix: str) -> Ints:
        """Return the columns of the words with a prefix."""
        return _line_numbers(self.words, lambda word: word.startswith(prefix.encode("ascii")))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of words of each text: (n_texts,)."""
        lengths: NDArray[np.int64] = self.counts.astype(np.int64).sum(axis=1).A1
        return lengths

    def total(self, columns: Ints) -> NDArray[np.int64]:
        """Count the mentions of some words in each text: (n_texts,)."""
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


def _line_numbers(lines: bytes, fits: Callable[[bytes], bool]) -> Ints:
    """Return the numbers of lines that fit, of lines with a break before and after each."""
    every = lines.split(b"\n")[1:-1]
    return np.array([number for number, line in enumerate(every) if fits(line)], dtype=np.intp)


# ---- parts of a query


class Searchable(Protocol):
    """Texts that a query can be put to."""

    def __len__(self) -> int:
        """Return the number of texts."""

    @property
    def words(self) -> WordIndex:
        """Index of the words in each text."""

    def read_texts(self, rows: Ints) -> list[str]:
        """Return some of the texts."""


class Node:
    """A part of a query, which may have parts itself."""

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Count mentions in some of the texts: (n_rows,)."""
        raise NotImplementedError

    def leaves(self) -> "list[Node]":
        """Return the parts that are looked for, not those that must be absent."""
        return [self]


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
    """A regular expression on texts as they are written.

    Its language is that of Python's `re`. It runs on the package `regex`, which can be given a time
    limit: with ``(a+)+b``, a text of 40 letters can take longer than anyone waits.
    """

    text: str  # as the user wrote it
    pattern: Any  # regex.Pattern

    @classmethod
    def compile(cls, text: str, pattern: str, *, ignore_case: bool = False) -> "Expression":
        r"""Compile an expression; a ValueError says what is wrong with it.

        >>> Expression.compile(r"/\bHD\b/", r"\bHD\b").count("HD, HDL, hd")
        1
        """
        import regex

        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python reads in two ways is refused
            try:
                re.compile(pattern)
                if _unrolled(pattern) > MOST_UNROLLED:
                    raise ValueError("it repeats something too often")
                literal = _BRACE.sub(lambda found: found[1] or r"\{", pattern)
                flags = regex.VERSION0 | (regex.IGNORECASE if ignore_case else 0)
                compiled = regex.compile(literal, flags)
            except (re.error, regex.error, OverflowError, Warning) as error:
                raise ValueError(str(error)) from error
        return cls(text, compiled)

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Count the matches, which do not overlap."""
        counts = map(self.count, source.read_texts(rows))
        return np.fromiter(counts, dtype=np.int64, count=len(rows))

    def count(self, text: str) -> int:
        """Count the matches in a text, unless that takes too long."""
        seconds = SECONDS + SECONDS_PER_CHARACTER * len(text)
        try:
            return sum(1 for _ in self.pattern.finditer(text, timeout=seconds))
        except (TimeoutError, MemoryError) as error:
            raise QueryError(
                f"the regular expression {self.text} was stopped after {seconds:.0f} seconds on a "
                f"text of {len(text):,} characters (catastrophic backtracking); repeat nothing "
                "that repeats or has alternatives itself, as in (a+)+ and a*a*"
            ) from error


def _unrolled(pattern: str) -> int:
    r"""Bound the size of an expression whose counted repeats are written out, as `regex` does.

    >>> _unrolled("((a{90}){90}){90}") > MOST_UNROLLED > _unrolled(r"(\d{1,3}\.){3}.{0,200}")
    True
    """
    size, times = len(pattern), 1
    for repeat in _REPEAT.finditer(pattern):
        if repeat["group"]:
            times *= max(1, int(repeat["least"]))
        else:
            size += int(repeat["least"])
    return size * times


@dataclass(frozen=True)
class AllOf(Node):
    """Texts that have each of some parts, and none of others."""

    required: tuple[Node, ...]
    excluded: tuple[Node, ...]

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Add up the mentions of the required parts; a text that fails one is not read again."""
        counts = np.zeros(len(rows), dtype=np.int64)
        left = np.arange(len(rows))
        for node in sorted(self.required, key=_reads_texts):
            found = node.mentions(source, rows[left])
            counts[left] += found
            left = left[found > 0]
        for node in sorted(self.excluded, key=_reads_texts):
            left = left[node.mentions(source, rows[left]) == 0]
        kept = np.zeros_like(counts)
        kept[left] = counts[left]
        return kept

    def leaves(self) -> list[Node]:
        """Return the leaves of the required parts."""
        return [leaf for node in self.required for leaf in node.leaves()]


def _reads_texts(node: Node) -> bool:
    """Whether a part has an expression, for which texts have to be read: no index knows them."""
    return any(isinstance(leaf, Expression) for leaf in node.leaves())


@dataclass(frozen=True)
class AnyOf(Node):
    """Texts that have one of some parts."""

    nodes: tuple[Node, ...]

    def mentions(self, source: Searchable, rows: Ints) -> Counts:
        """Add up the mentions of all parts."""
        counts = [node.mentions(source, rows) for node in self.nodes]
        return np.asarray(np.sum(counts, axis=0, dtype=np.int64))

    def leaves(self) -> list[Node]:
        """Return the leaves of all parts."""
        return [leaf for node in self.nodes for leaf in node.leaves()]


def _columns(index: WordIndex, word: str) -> Ints:
    return index.starting(word[:-1]) if word.endswith("*") else index.forms_of(word)


# ---- queries


class Query:
    r"""A term to look for in texts: word, phrase, prefix, regular expression, or a boolean of them.

    ``huntington`` and ``primary progressive aphasia`` are found whatever their case, accents,
    hyphens, plurals and British or American spelling; articles and "of" between the words
    do not matter. ``aphasi*`` is any word that starts so. ``/\bHD\b/`` is a regular expression
    of Python's on the text as it is written, ``/.../i`` whatever its case. AND, OR, NOT and
    parentheses combine them; NOT needs a term beside it. Quotes make "AND" a word.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> texts = ["Huntington's disease (HD)", "The disease of Huntington", "Parkinson disease"]
    >>> Query("huntington disease").mentions(texts).tolist()
    [1, 0, 0]
    >>> Query(r"huntington OR /\bHD\b/").mentions(texts).tolist()
    [2, 1, 0]
    >>> Query("diseas* AND NOT (huntington OR alzheimer)").mentions(texts).tolist()
    [0, 0, 1]
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise QueryError(
                f"expected at most {LONGEST:,} characters, the query has {len(text):,}"
            )
        try:
            self._tree = _Parser(text).parse()
        except RecursionError as error:
            raise QueryError(f"the query of {len(text):,} characters is nested too deep") from error

    def mentions(self, texts: Searchable | Sequence[str]) -> Counts:
        """Count mentions in each text: (n_texts,); 0 where the query does not hold.

        AND and OR add up the mentions of what they join.
        """
        source = _Texts(texts) if isinstance(texts, Sequence) else texts
        return self._tree.mentions(source, np.arange(len(source)))

    def names(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each text, such as a term of a vocabulary, has any of what is looked for."""
        source, rows = _Texts(texts), np.arange(len(texts))
        found = [leaf.mentions(source, rows) > 0 for leaf in self._tree.leaves()]
        return np.asarray(np.any(found, axis=0))

    def has_words(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each word is one of those that are looked for, in a phrase or by itself.

        >>> Query("informed consent OR mice").has_words(["consent", "mouse", "rat"]).tolist()
        [True, True, False]
        """
        source, rows = _Texts(words), np.arange(len(words))
        leaves: list[Node] = []
        for leaf in self._tree.leaves():
            own = leaf.words if isinstance(leaf, Phrase) else ()
            leaves += [Phrase((word,)) for word in own] or [leaf]
        return np.asarray(np.any([leaf.mentions(source, rows) > 0 for leaf in leaves], axis=0))

    def __repr__(self) -> str:
        return f"Query({self.text!r})"


@dataclass(frozen=True)
class _Texts:
    """A list of texts, indexed."""

    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def words(self) -> WordIndex:
        return WordIndex.of(self.texts)

    def read_texts(self, rows: Ints) -> list[str]:
        return [self.texts[row] for row in rows]


class _Parser:
    """From text to tree: any := all (OR all)*;  all := [NOT] one (AND [NOT] one)*."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens()

    def parse(self) -> Node:
        if not self.tokens:
            raise QueryError("expected a term to look for, but the query is empty")
        tree = self._any()
        if self.tokens:
            raise self._error("a closing parenthesis has no opening one")
        return tree

    def _tokens(self) -> list[str]:
        """Operators, parentheses, /expressions/, "phrases" and words, in order."""
        tokens, place, text = [], 0, self.text.rstrip()
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise self._error("a quotation mark is not closed")
            tokens.append(match[1])
            place = match.end()
        return tokens

    def _any(self) -> Node:
        nodes = [self._all()]
        while self._take("OR"):
            nodes.append(self._all())
        return nodes[0] if len(nodes) == 1 else AnyOf(tuple(nodes))

    def _all(self) -> Node:
        required: list[Node] = []
        excluded: list[Node] = []
        while True:
            side = excluded if self._take("NOT") else required
            side.append(self._one())
            if not self._take("AND") and not self._follows("NOT"):
                break
        if not required:
            raise self._error("NOT needs a term beside it, as in 'stroke AND NOT aphasia'")
        if len(required) == 1 and not excluded:
            return required[0]
        return AllOf(tuple(required), tuple(excluded))

    def _one(self) -> Node:
        if self._take("("):
            inner = self._any()
            if not self._take(")"):
                raise self._error("a parenthesis is not closed")
            return inner
        tokens = list(itertools.takewhile(lambda token: token not in OPERATORS, self.tokens))
        del self.tokens[: len(tokens)]
        if any(token.startswith("/") for token in tokens):
            if len(tokens) > 1:
                raise self._error("join a regular expression to other terms by AND or OR")
            return self._expression(tokens[0])
        words = tuple(word for token in tokens for word in self._words(token))
        if not words:
            hint = ", because words such as 'the' and 'of' are skipped" if tokens else ""
            raise self._error(f"a term is missing{hint}")
        return Phrase(words)

    def _words(self, token: str) -> list[str]:
        """Words of a token, without those that are skipped in phrases; * stays at a prefix."""
        words = []
        for part in token.strip('"').split():
            *before, last = plain(part.removesuffix("*")).split() or [""]
            if "*" in part[:-1] or (part.endswith("*") and not last):
                raise self._error("* goes at the end of a word, as in 'aphasi*'")
            found = [*before, f"{last}*"] if part.endswith("*") else [*before, last]
            words += [word for word in found if word and not is_skipped(word)]
        return words

    def _expression(self, token: str) -> Expression:
        match = _EXPRESSION.fullmatch(token)
        if match is None:
            raise self._error(f"the regular expression {token} is not closed by a /")
        try:
            expression = Expression.compile(token, match[1], ignore_case=bool(match[2]))
        except ValueError as error:
            raise self._error(f"{token} is no regular expression ({error})") from error
        if expression.count(""):
            raise self._error(f"{token} matches the empty text, so it is everywhere")
        return expression

    def _take(self, operator: str) -> bool:
        """Whether an operator is next; then it is consumed."""
        if self._follows(operator):
            self.tokens.pop(0)
            return True
        return False

    def _follows(self, operator: str) -> bool:
        return bool(self.tokens) and self.tokens[0] == operator

    def _error(self, reason: str) -> QueryError:
        return QueryError(f"cannot read the query {self.text!r}: {reason}")
