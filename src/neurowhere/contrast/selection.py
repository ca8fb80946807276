"""Selection: the documents of a library that match a query, or have a value in a column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import Workers, track
from neurowhere.contrast.library import Library
from neurowhere.contrast.matching import (
    AllOf,
    AnyOf,
    Counts,
    Expression,
    Ints,
    Node,
    Phrase,
    Searchable,
    WordIndex,
)
from neurowhere.contrast.shard import Shard, vectors_kind
from neurowhere.corpus.readers.files import Skipped
from neurowhere.exceptions import CorpusError, QueryError
from neurowhere.text import TermExtractor
from neurowhere.text.words import is_skipped, plain

__all__ = ["ByColumn", "ByTerm", "Found", "Group", "Query", "Search", "search"]

LONGEST = 20_000  # characters of a query
OPERATORS = ("AND", "OR", "NOT", "(", ")")
_EXPRESSION = re.compile(r"/((?:\\.|[^/\\])+)/(i?)(?=[\s()]|$)")
_TOKEN = re.compile(rf'\s*([()]|{_EXPRESSION.pattern}|"[^"]*"|[^\s()"]+)')
N_VALUES = 8  # of a column, named where one is looked for in vain
FEW_SHARDS = 64  # searched sooner here than workers start, once their words are indexed


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
        leaves = [
            part
            for leaf in self._tree.leaves()
            for part in (
                [Phrase((word,)) for word in leaf.words] if isinstance(leaf, Phrase) else [leaf]
            )
        ]
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
        tokens = []
        while self.tokens and self.tokens[0] not in OPERATORS:
            tokens.append(self.tokens.pop(0))
        if any(token.startswith("/") for token in tokens):
            if len(tokens) > 1:
                raise self._error("join a regular expression to other terms by AND or OR")
            return self._expression(tokens[0])
        words = [word for token in tokens for word in self._words(token)]
        if not words:
            raise self._error("a term is missing")
        return Phrase(tuple(words))

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


# ---- groups


class Group(Protocol):
    """Decides which documents belong together."""

    def mentions(self, shard: Shard) -> Counts:
        """Count what speaks for the group in each document of a shard, 0 outside of it: (n,)."""

    @property
    def about_words(self) -> str:
        """What the documents that are about it have in common."""

    def is_about(self, shard: Shard) -> NDArray[np.bool_]:
        """Return whether each document is about it, and does not mention it in passing: (n,)."""

    def advice(self, shard: Shard) -> str:
        """Advise what to do where no document is in the group, after a look at a shard."""


@dataclass(frozen=True)
class ByTerm:
    """Documents that mention a term.

    Attributes
    ----------
    text : str
        See `Query`.
    min_mentions : int
        Minimum number of mentions per document.
    """

    text: str
    min_mentions: int = 1

    def __post_init__(self) -> None:
        _ = self.query  # one that cannot be read is refused at once

    @property
    def query(self) -> Query:
        """Query that the text stands for; read anew, because workers are sent the text."""
        return Query(self.text)

    def mentions(self, shard: Shard) -> Counts:
        """Count the mentions; too few are none."""
        found = self.query.mentions(shard)
        return np.where(found >= self.min_mentions, found, 0)

    def is_about(self, shard: Shard) -> NDArray[np.bool_]:
        """Return whether title, abstract or keywords mention it."""
        return self.query.mentions(shard.front) > 0

    def advice(self, shard: Shard) -> str:
        """Advise what else to look for."""
        return "check how it is written, or look for a prefix such as 'aphasi*'"

    @property
    def about_words(self) -> str:
        """What the documents that are about it have in common."""
        return str(self).replace("mention", "are about", 1)

    def __str__(self) -> str:
        least = f" at least {self.min_mentions} times" if self.min_mentions > 1 else ""
        return f"mention {self.text}{least}"


@dataclass(frozen=True)
class ByColumn:
    """Documents that have a value in a column.

    Attributes
    ----------
    column, value : str
        Column of the table of documents, and the value that it has to hold.
    """

    column: str
    value: str

    def mentions(self, shard: Shard) -> Counts:
        """Count 1 for a document with the value."""
        cells = [str(row.get(self.column, "")) for row in shard.table()]
        return np.array([cell == self.value for cell in cells], dtype=np.int64)

    def is_about(self, shard: Shard) -> NDArray[np.bool_]:
        """Return whether each document has the value."""
        return self.mentions(shard) > 0

    def advice(self, shard: Shard) -> str:
        """Name columns, or some values of the column."""
        rows = shard.table()
        columns = dict.fromkeys(name for row in rows for name in row)
        if self.column not in columns:
            return f"the columns are {', '.join(columns)}"
        values = list(dict.fromkeys(str(row[self.column]) for row in rows if self.column in row))
        return f"it holds {', '.join(values[:N_VALUES])}" + ", ..." * (len(values) > N_VALUES)

    @property
    def about_words(self) -> str:
        """What the documents have in common."""
        return str(self)

    def __str__(self) -> str:
        return f"have {self.value} in the column {self.column}"


class Found(NamedTuple):
    """What was found in a shard, for its n documents with a term that the model knows.

    Attributes
    ----------
    shard : Shard
    rows : array of shape (n,)
        Rows of the documents; repeated ones are left out.
    terms : array of shape (n,)
        Number of different terms in each.
    changed : array of bool of shape (n,)
        Whether a document has a term that is left out.
    mentions : array of shape (n_groups, n)
        Mentions in the whole text.
    about : array of bool of shape (n_groups, n)
        Whether a document is about what it mentions.
    silent : array of shape (n_groups,)
        Documents of each group without a term that the model knows; they are in none.
    table : dict
        Row, and what the source says of each document with a mention.
    problem : str
        Why the shard cannot be read, "" if it can.
    """

    shard: Shard
    rows: Ints
    terms: Ints
    changed: NDArray[np.bool_]
    mentions: Counts
    about: NDArray[np.bool_]
    silent: Ints
    table: dict[int, dict[str, Any]]
    problem: str = ""


class Search(NamedTuple):
    """What is looked for: groups of documents, and terms of a model but for some columns."""

    groups: Sequence[Group]
    extractor: TermExtractor
    left_out: Ints


def search(library: Library, wanted: Search, workers: Workers) -> list[Found]:
    """Look through all shards; those that cannot be read are left out, named and counted."""
    calls = [(wanted, (shard, library.repeated(shard))) for shard in library.shards]
    kinds = ("words", "front", vectors_kind(wanted.extractor))
    made = all(shard.file(kind).exists() for shard in library.shards for kind in kinds)
    few = made and len(calls) <= FEW_SHARDS
    searched = workers.for_calls(1 if few else len(calls)).run(search_shard, calls)
    results = sorted(track(searched, "searching", len(calls)), key=lambda found: found.shard.name)
    skipped = Skipped("shards")
    for found in results:
        if found.problem:
            skipped.add(found.shard.name, found.problem)
    readable = [found for found in results if not found.problem]
    skipped.report(len(readable))
    return readable


def search_shard(wanted: Search, task: tuple[Shard, Ints]) -> Found:
    """Find the documents of each group in a shard, and make what is not yet made of its texts."""
    shard, repeated = task
    opened = replace(shard)  # keeps what it reads, but no longer than the search
    try:
        n_terms = opened.vectors(wanted.extractor).getnnz(axis=1)
        n_left = opened.vectors_without(wanted.extractor, wanted.left_out).getnnz(axis=1)
        mentions = np.array([group.mentions(opened) for group in wanted.groups])  # (n_groups, n)
        about = np.array([group.is_about(opened) for group in wanted.groups]) & (mentions > 0)
        known = n_terms > 0
        known[repeated] = False
        unread = n_left == 0
        unread[repeated] = False
        silent = np.count_nonzero(mentions[:, unread], axis=1)
        mentions[:, unread] = 0
        rows = np.flatnonzero(known)
        members = rows[(mentions[:, rows] > 0).any(axis=0)].tolist()
        table = opened.table() if members else []
        _ = opened.front.sizes
    except CorpusError as error:
        nothing = np.empty(0, np.intp)
        none = nothing.astype(bool)
        return Found(shard, nothing, nothing, none, nothing, none, nothing, {}, str(error))
    return Found(
        shard,
        rows,
        n_terms[rows],
        (n_left < n_terms)[rows],
        mentions[:, rows],
        (about & (mentions > 0))[:, rows],
        silent,
        {row: table[row] for row in members},
    )
