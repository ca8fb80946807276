"""Controls: how a group differs in kind, and documents of its kind that do not belong to it.

Articles that mention a disease differ from others in more than the disease: they are about
patients, or about mice, full texts or abstracts. What is counted here names no place in the brain
and no disease, so that it tells kinds of documents apart and nothing else.
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.contrast.matching import KIND_WORDS, Ints, kind_sums
from neurowhere.contrast.selection import ByTerm, Found, Group, Member
from neurowhere.exceptions import CorpusError

__all__ = [
    "LENGTH",
    "Compared",
    "Matching",
    "compare_groups",
    "compare_kinds",
    "kind_features",
    "match_controls",
    "match_nearest",
    "propensity",
    "unlike",
]

Counts = NDArray[np.uint32]
Array = NDArray[np.floating]

LENGTH = "words"  # name of the length of a document among its kinds

DIFFERENT = 0.5  # standard deviations, from which groups differ in kind
STILL_DIFFERENT = 0.25  # the same where controls were matched
LENGTHS = 2.0  # ratio of lengths, below which they do not differ, however little they vary
N_NAMED = 5  # kinds in a warning


def kind_features(counts: Counts) -> NDArray[np.float32]:
    """Return log(1 + count) of each kind and of the length: (n, n_kinds + 1)."""
    return np.log1p(counts, dtype=np.float32)


def compare_kinds(group: Array, reference: Array, named: Sequence[str] = ()) -> pd.DataFrame:
    r"""Compare two groups of documents by kind.

    Parameters
    ----------
    group, reference : arrays
        Of `kind_sums`.
    named : sequence of str
        Kinds that the query itself asks for, which are left out.

    Returns
    -------
    DataFrame
        kind; share of the documents that have it, in the group and in the reference (of
        ``words``: the geometric mean of the length); difference, the standardised difference of
        the means. The largest first.

    Notes
    -----
    The standardised difference of two shares p and r is (p − r) / √((p(1 − p) + r(1 − r)) / 2).
    """
    (share, variance), (usual, usual_variance) = _moments(group), _moments(reference)
    scale = np.sqrt((variance + usual_variance) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(scale > 0, (share - usual) / scale, 0.0)
    share[-1], usual[-1] = np.expm1(share[-1]), np.expm1(usual[-1])
    table = pd.DataFrame(
        {
            "kind": [*KIND_WORDS, LENGTH],
            "share": share,
            "share_reference": usual,
            "difference": difference,
        }
    )
    table = table[~table["kind"].isin(list(named))]
    order = table["difference"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _moments(sums: Array) -> tuple[Array, Array]:
    """Mean and variance of each kind and of the log of the length."""
    _, *shares = sums[:-2] / sums[0]
    mean, square = sums[-2:] / sums[0]
    p = np.array(shares)
    return np.append(p, mean), np.append(p * (1 - p), max(square - mean**2, 0.0))


def unlike(kinds: pd.DataFrame, *, matched: bool) -> str:
    """Name the kinds in which two groups differ, "" where they are alike.

    Parameters
    ----------
    kinds : DataFrame
        Of `compare_kinds`.
    matched : bool
        Whether controls were matched, of which more is asked.

    Returns
    -------
    str
    """
    limit = STILL_DIFFERENT if matched else DIFFERENT
    ratio = np.abs(np.log((1 + kinds["share"]) / (1 + kinds["share_reference"])))
    near = (kinds["kind"] == LENGTH) & (ratio < np.log(LENGTHS))
    far = kinds[(kinds["difference"].abs() >= limit) & ~near].head(N_NAMED)
    return ", ".join(_in_words(row) for row in far.to_dict("records"))


def _in_words(row: dict[Hashable, Any]) -> str:
    if row["kind"] == LENGTH:
        return f"{row['share']:,.0f} words against {row['share_reference']:,.0f}"
    return f'"{row["kind"]}" {row["share"]:.0%} against {row["share_reference"]:.0%}'


# ---- controls


FEW = 20  # documents, below which a map is a hint
CONTROLS = 4  # at most, for each document: more would narrow an interval by a tenth at best
CALIPER = 0.2  # standard deviations of the log odds between a document and its control
RIDGE = 10.0  # λ of the penalty λ/2 ‖β‖²
MOST_CANDIDATES = 50_000  # documents among which controls are looked for
MOST_PARTS = 50  # parts of the sources that are told apart


class Compared(NamedTuple):
    """A group beside what it is contrasted with, by kind.

    Attributes
    ----------
    found : sequence of Found
        The documents that are contrasted; with controls, those that have one, and the controls.
    kinds : DataFrame
        From `compare_kinds`.
    hints : list of str
        In which kinds they differ.
    alone, candidates : int
        As in `Matching`; 0 without controls.
    """

    found: Sequence[Found]
    kinds: pd.DataFrame
    hints: list[str]
    alone: int = 0
    candidates: int = 0


def compare_groups(
    groups: Sequence[Group], found: Sequence[Found], *, matched: bool, weighted: bool, seed: int
) -> Compared:
    """Compare a group by kind with the second one, with all documents, or with its controls.

    Parameters
    ----------
    groups : sequence of Group
    found : sequence of Found
    matched : bool
        Whether to look for controls.
    weighted, seed
        As in `match_controls`.

    Returns
    -------
    Compared
    """
    named = _kinds_named(groups)
    kinds = _compare(found, named)
    if not matched:
        return Compared(found, kinds, list(_differences(groups[0], found, kinds)))
    matching = match_controls(found, named, seed, weighted=weighted)
    kinds = _compare_matched(matching.found, kinds, named, weighted)
    hints = _differences(groups[0], matching.found, kinds, matched=True)
    return Compared(matching.found, kinds, list(hints), matching.alone, matching.candidates)


def _kinds_named(groups: Sequence[Group]) -> list[str]:
    """Kinds that the queries ask for themselves."""
    queries = [group.query for group in groups if isinstance(group, ByTerm)]
    named = [query.has_words(KIND_WORDS) for query in queries]
    return [word for word, *some in zip(KIND_WORDS, *named, strict=True) if any(some)]


def _compare(found: Sequence[Found], named: Sequence[str]) -> pd.DataFrame:
    """Compare the group with the second one, or with all documents."""
    sums = np.sum([each.kinds for each in found], axis=0)
    everyone, group, *second = sums
    return compare_kinds(group, second[0] if second else everyone, named)


def _compare_matched(
    found: Sequence[Found], before: pd.DataFrame, named: Sequence[str], weighted: bool
) -> pd.DataFrame:
    """Compare the group with its controls, beside how it differed before."""
    sums = [
        np.sum([_kinds_of(each, group, weighted) for each in found], axis=0) for group in (0, 1)
    ]
    after = compare_kinds(sums[0], sums[1], named)
    earlier = before.set_index("kind")["difference"]
    return after.assign(difference_before=after["kind"].map(earlier))


def _kinds_of(found: Found, group: int, weighted: bool) -> Any:
    shard, rows, weights = found.rows_of(group, weighted=weighted)
    return kind_sums(shard.kinds()[rows], weights)


def _differences(
    group: Group, found: Sequence[Found], kinds: pd.DataFrame, *, matched: bool = False
) -> Iterator[str]:
    """Say in which kinds a group differs from what it is contrasted with."""
    n_documents = sum(len(each.groups[0]) for each in found)
    different = unlike(kinds, matched=matched) if n_documents >= FEW else ""
    if different and matched:
        yield f"controls differ still from the documents that {group}: {different}"
    elif different:
        yield (
            f"documents that {group} differ in kind from the reference: {different}; "
            "--matched contrasts them with documents of the same kind"
        )


class Matching(NamedTuple):
    """A group and its controls.

    Attributes
    ----------
    found : list of Found
        With two groups: the documents that have a control, and the controls.
    alone : int
        Documents of the group that have none, and are left out.
    candidates : int
    """

    found: list[Found]
    alone: int
    candidates: int


def match_controls(
    found: Sequence[Found], named: Sequence[str], seed: int, *, weighted: bool = False
) -> Matching:
    r"""Match each document of the first group with the most similar others by kind.

    Parameters
    ----------
    found : sequence of Found
        With one group, whose controls are any other documents; or with two, whose controls are
        taken from the second.
    named : sequence of str
        Kinds that the query itself asks for; documents are not matched by them.
    seed : int
    weighted : bool
        Whether documents of the group are weighted by their mentions, and their controls as they.

    Returns
    -------
    Matching

    Notes
    -----
    The propensity of a document x is the probability that it belongs to the group, as far as its
    kind tells: e(x) = 1 / (1 + exp(−β₀ − βᵀx)), with x the logs of the counts of `KIND_WORDS`, the
    log of the length, and the part of the sources that it comes from. Among documents of equal
    propensity, the group and the others have the same distribution of x (Rosenbaum and Rubin,
    Biometrika, 1983). Each document of the group gets the nearest others in log odds, each used
    once, within 0.2 standard deviations (Austin, Pharmaceutical Statistics, 2011).
    """
    rng = np.random.default_rng(seed)
    inside, outside = _places(found, rng)
    kept = [column for column, word in enumerate(KIND_WORDS) if word not in named]
    columns = [*kept, len(KIND_WORDS)]
    n_parts = 1 + max(each.shard.part for each in found)
    x = np.concatenate([_features(found, each, columns, n_parts) for each in (inside, outside)])
    is_inside = np.arange(len(x)) < len(inside)
    odds = propensity(x, is_inside)
    pairs = match_nearest(odds[is_inside], odds[~is_inside], CALIPER * odds.std(), rng)
    if not any(pairs):
        raise CorpusError(
            f"expected documents of the same kind, but none of {len(outside):,} is like one of the "
            f"{len(inside):,} of the group; give more documents, or contrast without matching"
        )
    groups = _members(found, inside, outside, pairs, weighted)
    alone = sum(not each for each in pairs)
    return Matching(groups, alone, len(outside))


def _places(found: Sequence[Found], rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return shard and row of each document of the group, and of a sample of the others."""
    inside, outside = [], []
    for number, each in enumerate(found):
        members = np.array([member.row for member in each.groups[0]], dtype=np.intp)
        if len(each.groups) > 1:
            others = np.array([member.row for member in each.groups[1]], dtype=np.intp)
        else:
            others = np.setdiff1d(each.known, members)
        inside += [(number, row) for row in members]
        outside += [(number, row) for row in others]
    pool = np.array(outside, dtype=np.intp).reshape(-1, 2)
    if len(pool) > MOST_CANDIDATES:
        pool = pool[np.sort(rng.choice(len(pool), MOST_CANDIDATES, replace=False))]
    return np.array(inside, dtype=np.intp).reshape(-1, 2), pool


def _features(
    found: Sequence[Found], places: Ints, columns: Sequence[int], n_parts: int
) -> NDArray[np.float32]:
    """Return what the kind of documents is told by: (n, n_features)."""
    parts = []
    for number in np.unique(places[:, 0]).tolist():
        shard, rows = found[number].shard, places[places[:, 0] == number, 1]
        source = np.zeros((len(rows), n_parts if 1 < n_parts <= MOST_PARTS else 0), np.float32)
        if source.shape[1]:
            source[:, shard.part] = 1
        parts.append(np.hstack([kind_features(shard.kinds()[rows])[:, columns], source]))
    return np.concatenate(parts)


def propensity(x: NDArray[np.float32], inside: NDArray[np.bool_]) -> Array:
    """Fit a logistic regression, and return the log odds of belonging to the group.

    Parameters
    ----------
    x : array of shape (n, n_features)
    inside : array of bool of shape (n,)

    Returns
    -------
    array of shape (n,)
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(x)
    fitted = LogisticRegression(C=1 / RIDGE, max_iter=1000).fit(scaled, inside)
    return np.asarray(fitted.decision_function(scaled), dtype=np.float64)


def match_nearest(
    group: Array, others: Array, caliper: float, rng: np.random.Generator
) -> list[list[int]]:
    """Give each of a group its nearest others on a line, each of which is used once.

    In each of `CONTROLS` rounds, everyone in the group takes one, in random order.

    Parameters
    ----------
    group, others : arrays
    caliper : float
        Largest distance.
    rng : numpy.random.Generator

    Returns
    -------
    list of list of int
        Indices of the others, for each of the group.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> match_nearest(np.array([0.0, 5.0]), np.array([5.1, 0.2, 9.0, -0.1]), 1.0, rng)
    [[3, 1], [0]]
    """
    order = np.argsort(others, kind="stable")
    free, names = others[order].tolist(), order.tolist()
    pairs: list[list[int]] = [[] for _ in group]
    for _ in range(CONTROLS):
        for number in rng.permutation(len(group)).tolist():
            place = _nearest(free, group[number])
            if place is not None and abs(free[place] - group[number]) <= caliper:
                pairs[number].append(names.pop(place))
                del free[place]
    return pairs


def _nearest(free: Sequence[float], value: float) -> int | None:
    after = bisect_left(free, value)
    near = [place for place in (after - 1, after) if 0 <= place < len(free)]
    return min(near, key=lambda place: abs(free[place] - value), default=None)


def _members(
    found: Sequence[Found],
    inside: Ints,
    outside: Ints,
    pairs: Sequence[Sequence[int]],
    weighted: bool,
) -> list[Found]:
    """Return what was found with the matched documents of the group and their controls.

    The controls of one document weigh as much as it does together.
    """
    members = [member for each in found for member in each.groups[0]]  # in the order of `inside`
    matched = {tuple(inside[number]) for number, some in enumerate(pairs) if some}
    weights = {
        tuple(outside[one]): member.weigh(weighted) / len(some)
        for member, some in zip(members, pairs, strict=True)
        for one in some
    }
    return [
        each._replace(
            groups=[
                [member for member in each.groups[0] if (number, member.row) in matched],
                list(_controls(each, number, weights)),
            ]
        )
        for number, each in enumerate(found)
    ]


def _controls(found: Found, number: int, weights: dict[tuple[int, ...], float]) -> Iterator[Member]:
    rows = sorted(row for shard, row in weights if shard == number)
    table = found.shard.table() if rows else []
    for row in rows:
        yield Member(row, 0, table[row], weights[number, row])
