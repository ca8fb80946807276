"""Controls: the nearest documents of the same kind, in the place of a second group."""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neurowhere.contrast.covariates import Covariates
from neurowhere.contrast.selection import Selected
from neurowhere.exceptions import CorpusError

Array = NDArray[np.floating]

CONTROLS = 4  # at most, for each document: more would narrow an interval by a tenth at best
CALIPER = 0.2  # standard deviations of the log odds between a document and its control
RIDGE = 10.0  # λ of the penalty λ/2 ‖β‖²


def with_controls(selected: Selected, covariates: Covariates, named: Sequence[str]) -> Selected:
    """Put the nearest documents by propensity in the place of the second group.

    The propensity of a document is the probability that it belongs to the group, as far as its kind
    tells. Among documents of equal propensity, the group and the others have the same distribution
    of kinds (Rosenbaum and Rubin, Biometrika, 1983).
    """
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


def propensity(x: Array, inside: NDArray[np.bool_]) -> Array:
    """Return the log odds of belonging to the group, by a logistic regression on x: (n,)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(x)
    fitted = LogisticRegression(C=1 / RIDGE, max_iter=1000).fit(scaled, inside)
    return np.asarray(fitted.decision_function(scaled), dtype=np.float64)


def match_nearest(group: Array, others: Array) -> list[list[int]]:
    """Give each of a group its nearest others on a line, each of which is used once.

    In each of `CONTROLS` rounds, everyone in the group takes one, in random order, within 0.2
    standard deviations (Austin, Pharmaceutical Statistics, 2011).

    >>> match_nearest(np.array([0.0, 50.0]), np.array([50.1, 0.2, 90.0, -0.1]))
    [[3, 1], [0]]
    """
    caliper = CALIPER * np.concatenate([group, others]).std()
    rng = np.random.default_rng(0)
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
