"""Queries: which documents mention a term, and how often."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
from neurowhere.exceptions import QueryError
from neurowhere.text.words import is_skipped, plain

__all__ = ["Query"]

LONGEST = 20_000  # characters of a query
OPERATORS = ("AND", "OR", "NOT", "(", ")")
_EXPRESSION = re.compile(r"/((?:\\.|[^/\\])+)/(i?)(?=[\s()]|$)")
_TOKEN = re.compile(rf'\s*([()]|{_EXPRESSION.pattern}|"[^"]*"|[^\s()"]+)')


class Query:
    r"""A term to look for in texts: word, phrase, prefix, regular expression, or a boolean of them.

    ``huntington`` and ``primary progressive aphasia`` are found whatever their case, accents,
    hyphens, plurals and British or American spelling; articles and prepositions between the words
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
