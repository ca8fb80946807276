"""Groups: which documents are contrasted, with which weights, and with which controls."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.contrast.background import Background
from neurowhere.contrast.covariates import match_nearest, propensity
from neurowhere.contrast.matching import KIND_WORDS, Ints
from neurowhere.contrast.selection import ByTerm, Found, Group
from neurowhere.exceptions import CorpusError

__all__ = ["FEW", "Selected", "check_groups", "kinds_named", "select", "with_controls"]

Array = NDArray[np.floating]

FEW = 20  # documents, below which a map is a hint


def kinds_named(groups: Sequence[Group]) -> list[str]:
    """Kinds that the queries ask for themselves."""
    queries = [group.query for group in groups if isinstance(group, ByTerm)]
    named = [query.has_words(KIND_WORDS) for query in queries]
    return [word for word, *some in zip(KIND_WORDS, *named, strict=True) if any(some)]


class Selected(NamedTuple):
    """Weights of all N documents in a group, and in a second one; what was left out."""

    first: Array
    second: Array | None
    mentions: Ints
    in_passing: int
    in_both: int
    alone: int = 0

    @property
    def n_members(self) -> int:
        """Number of documents in the first group."""
        return int(np.count_nonzero(self.first))

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


def check_groups(
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


def with_controls(selected: Selected, background: Background, named: Sequence[str]) -> Selected:
    """Put the nearest documents by propensity in the place of the second group.

    The propensity of a document is the probability that it belongs to the group, as far as its kind
    tells. Among documents of equal propensity, the group and the others have the same distribution
    of kinds (Rosenbaum and Rubin, Biometrika, 1983).
    """
    covariates = background.covariates
    kept = [column for column, name in enumerate(covariates.names) if name not in named]
    inside = selected.first > 0
    others = selected.mentions[0] == 0 if selected.second is None else selected.second > 0
    pool = np.flatnonzero(inside | others)
    odds = np.zeros(len(inside))
    odds[pool] = propensity(covariates.values[pool][:, kept], inside[pool])
    members, candidates = np.flatnonzero(inside), np.flatnonzero(others & ~inside)
    pairs = match_nearest(odds[members], odds[candidates])
    if not any(pairs):
        raise CorpusError(
            f"expected documents of the same kind, but none of {len(candidates):,} is like one of "
            f"the {len(members):,} of the group; give more documents, or contrast without matching"
        )
    first, second = np.zeros_like(selected.first), np.zeros_like(selected.first)
    for member, some in zip(members, pairs, strict=True):
        if some:
            first[member] = selected.first[member]
            second[candidates[some]] = 1.0
    return selected._replace(first=first, second=second, alone=sum(not each for each in pairs))
