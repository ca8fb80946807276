"""Groups: which documents of a library mention a term, or have a value in a column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from neurowhere._tools.parallel import Workers
from neurowhere._tools.progress import track
from neurowhere.contrast.library import Library
from neurowhere.contrast.matching import Counts, Ints
from neurowhere.contrast.query import Query
from neurowhere.contrast.shard import Shard, vectors_kind
from neurowhere.contrast.sums import Rows
from neurowhere.corpus.readers.shards import Skipped
from neurowhere.exceptions import CorpusError
from neurowhere.text import TermExtractor

__all__ = ["ByColumn", "ByTerm", "Found", "Group", "Member", "Search", "search"]

N_VALUES = 8  # of a column, named where one is looked for in vain
FEW_SHARDS = 64  # searched sooner here than workers start, once their words are indexed


class Group(Protocol):
    """Decides which documents belong together."""

    def mentions(self, shard: Shard) -> Counts:
        """Count what speaks for the group in each document of a shard, 0 outside of it: (n,)."""

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

    def advice(self, shard: Shard) -> str:
        """Advise what else to look for."""
        return "check how it is written, or look for a prefix such as 'aphasi*'"

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

    def advice(self, shard: Shard) -> str:
        """Name columns, or some values of the column."""
        rows = shard.table()
        columns = dict.fromkeys(name for row in rows for name in row)
        if self.column not in columns:
            return f"the columns are {', '.join(columns)}"
        values = list(dict.fromkeys(str(row[self.column]) for row in rows if self.column in row))
        return f"it holds {', '.join(values[:N_VALUES])}" + ", ..." * (len(values) > N_VALUES)

    def __str__(self) -> str:
        return f"have {self.value} in the column {self.column}"


class Member(NamedTuple):
    """One document of a group: its row in a shard, and what the source says of it."""

    row: int
    mentions: int
    about: dict[str, Any]


class Found(NamedTuple):
    """What was found in a shard.

    Attributes
    ----------
    known : array
        Rows of documents with a term that the model knows, repeated ones left out.
    changed : array
        Rows, repeated ones left out, with a term that is left out.
    groups : list of list of Member
    silent : list of int
        Documents of each group without a term that the model knows.
    in_both : int
        Documents that belong to both groups, and so to none.
    problem : str
        Why the shard cannot be read, "" if it can.
    """

    shard: Shard
    known: Ints
    changed: Ints
    groups: list[list[Member]]
    silent: list[int]
    in_both: int = 0
    problem: str = ""

    def rows_of(self, group: int, *, weighted: bool) -> Rows:
        """Return the members of a group, each of weight 1 or of its mentions."""
        members = self.groups[group]
        weights = np.array([m.mentions for m in members], np.float64) if weighted else None
        return Rows(self.shard, np.array([m.row for m in members], np.intp), weights)


class Search(NamedTuple):
    """What is looked for: groups of documents, and terms of a model but for some columns."""

    groups: Sequence[Group]
    extractor: TermExtractor
    left_out: Ints


def search(library: Library, wanted: Search, workers: Workers) -> list[Found]:
    """Look through all shards; those that cannot be read are left out, named and counted."""
    calls = [(wanted, (shard, library.repeated(shard))) for shard in library.shards]
    kinds = ("words", vectors_kind(wanted.extractor))
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
        fresh = np.ones(len(opened), dtype=bool)
        fresh[repeated] = False
        known = fresh & (n_left > 0)
        changed = fresh & (n_left < n_terms)
        mentions = np.array([group.mentions(opened) for group in wanted.groups])  # (n_groups, n)
        mentions[:, ~fresh] = 0
        silent = np.count_nonzero(mentions[:, ~known], axis=1)
        mentions[:, ~known] = 0
        both = (mentions > 0).sum(axis=0) > 1
        mentions[:, both] = 0
        table = opened.table() if mentions.any() else []
    except CorpusError as error:
        nothing = np.empty(0, np.intp)
        return Found(shard, nothing, nothing, [], [], problem=str(error))
    groups = [
        [Member(row, int(each[row]), table[row]) for row in np.flatnonzero(each).tolist()]
        for each in mentions
    ]
    return Found(
        shard,
        np.flatnonzero(known),
        np.flatnonzero(changed),
        groups,
        silent.tolist(),
        int(both.sum()),
    )
