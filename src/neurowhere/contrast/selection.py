"""Selection: the documents of a library that match a query, or have a value in a column."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.parallel import Workers, track
from neurowhere.contrast.library import Library
from neurowhere.contrast.query import Counts, Ints, Query
from neurowhere.contrast.shard import Shard, vectors_kind
from neurowhere.corpus.readers.files import Skipped
from neurowhere.exceptions import CorpusError
from neurowhere.text import TermExtractor

Array = NDArray[np.floating]

FEW = 20  # documents, below which a map is a hint
N_VALUES = 8  # of a column, named where one is looked for in vain
FEW_SHARDS = 64  # searched sooner here than workers start, once their words are indexed


# ---- groups: a rule that decides which documents belong together


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


Group = ByTerm | ByColumn

# ---- the search


class Found(NamedTuple):
    """What was found in a shard, for its n documents with a term that the model knows."""

    shard: Shard
    rows: Ints  # (n,): rows of the documents; repeated ones are left out
    terms: Ints  # (n,): number of different terms of the model in each
    changed: NDArray[np.bool_]  # (n,): whether a document has a term that is left out
    mentions: Counts  # (n_groups, n): mentions in the whole text
    about: NDArray[np.bool_]  # (n_groups, n): whether a document is about what it mentions
    silent: Ints  # (n_groups,): documents without a term that the model knows; they are in none
    table: dict[int, dict[str, Any]]  # row, and what the source says of it, where it mentions any


def search(
    library: Library,
    groups: Sequence[Group],
    extractor: TermExtractor,
    left_out: Ints,
    workers: Workers,
) -> list[Found]:
    """Look for groups in all shards; those that cannot be read are left out, named and counted.

    The terms of some columns of the extractor are left out.
    """
    wanted = groups, extractor, left_out
    calls = [(wanted, (shard, library.repeated(shard))) for shard in library.shards]
    kinds = ("words", "front", vectors_kind(extractor))
    made = all(shard.file(kind).exists() for shard in library.shards for kind in kinds)
    few = made and len(calls) <= FEW_SHARDS
    searched = workers.for_calls(1 if few else len(calls)).run(search_shard, calls)
    results, skipped = [], Skipped("shards")
    for shard, result in track(searched, "searching", len(calls)):
        if isinstance(result, str):
            skipped.add(shard.name, result)
        else:
            results.append(result)
    skipped.report(len(results))
    return sorted(results, key=lambda found: found.shard.name)


def search_shard(
    wanted: tuple[Sequence[Group], TermExtractor, Ints], task: tuple[Shard, Ints]
) -> tuple[Shard, Found | str]:
    """Search a shard, or say why it cannot be read; make what is not yet made of its texts."""
    groups, extractor, left_out = wanted
    shard, repeated = task
    opened = replace(shard)  # keeps what it reads, but no longer than the search
    try:
        n_terms = opened.vectors(extractor).getnnz(axis=1)
        n_left = opened.vectors_without(extractor, left_out).getnnz(axis=1)
        mentions = np.array([group.mentions(opened) for group in groups])  # (n_groups, n)
        about = np.array([group.is_about(opened) for group in groups])
        known, unread = n_terms > 0, n_left == 0
        known[repeated] = unread[repeated] = False
        silent = np.count_nonzero(mentions[:, unread], axis=1)
        mentions[:, unread] = 0
        rows = np.flatnonzero(known)
        members = rows[(mentions[:, rows] > 0).any(axis=0)].tolist()
        table = opened.table() if members else []
        _ = opened.front.sizes
    except CorpusError as error:
        return shard, str(error)
    return shard, Found(
        shard,
        rows,
        n_terms[rows],
        (n_left < n_terms)[rows],
        mentions[:, rows],
        (about & (mentions > 0))[:, rows],
        silent,
        {row: table[row] for row in members},
    )


# ---- which of the documents that were found are contrasted


class Selected(NamedTuple):
    """Weights of all N documents in a group, and in a second one; what was left out."""

    first: Array
    second: Array | None
    mentions: Ints
    in_passing: int
    in_both: int
    alone: int = 0

    def counts(self) -> dict[str, int | None]:
        """Return numbers of documents, as `Contrast.about` has them."""
        second = None if self.second is None else int(np.count_nonzero(self.second))
        return {
            "documents_in_group": int(np.count_nonzero(self.first)),
            "documents_in_passing": self.in_passing,
            "documents_in_second_group": second,
            "documents_in_both": self.in_both,
            "documents_without_a_control": self.alone,
        }

    @property
    def weights(self) -> list[Array]:
        """Weights of the groups that there are."""
        return [self.first] if self.second is None else [self.first, self.second]


def select(found: Sequence[Found], *, unadjusted: bool, weighted: bool) -> Selected:
    """Weigh the documents of groups; those in both are in none."""
    mentions = np.concatenate([each.mentions for each in found], axis=1)
    chosen = mentions > 0
    if not unadjusted:
        chosen = np.concatenate([each.about for each in found], axis=1)
    both = chosen.sum(axis=0) > 1
    in_passing = int(np.count_nonzero((mentions[0] > 0) & ~chosen[0]))
    chosen &= ~both
    counted = mentions if weighted else np.ones_like(mentions)
    weights = [
        np.where(inside, count, 0) / max(count[inside].mean() if inside.any() else 1, 1)
        for inside, count in zip(chosen, counted, strict=True)
    ]
    second = weights[1] if len(weights) > 1 else None
    return Selected(weights[0], second, mentions, in_passing, int(both.sum()))


def check(
    selected: Selected, groups: Sequence[Group], found: Sequence[Found], n_known: int
) -> Iterator[str]:
    """Refuse groups that cannot be compared; say which are small."""
    for number, (group, inside) in enumerate(zip(groups, selected.weights, strict=True)):
        n = np.count_nonzero(inside)
        silent = sum(int(each.silent[number]) for each in found)
        passing = int(np.count_nonzero(selected.mentions[number]))
        if not n:
            but = f" (but for {silent:,} without any term that the model knows)" if silent else ""
            but += f" but for {passing:,} in passing" if passing else ""
            raise CorpusError(
                f"expected documents that {group}, but none of the {n_known:,} does{but}; "
                f"{group.advice(found[0].shard)}"
            )
        if len(groups) == 1 and n == n_known:
            raise CorpusError(
                f"all {n_known:,} documents {group}, so that nothing is left to contrast with; "
                "give more documents, or ask for more mentions"
            )
        if n < FEW:
            yield f"documents that {group}: only {n}; take the map as a hint, nothing is tested"
