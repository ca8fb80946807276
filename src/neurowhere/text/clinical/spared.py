"""Spared: structures that a name points to and that the text denies.

What a text denies, or a whole that it is part of (``parts.csv``), is not implied on that side:
"left MCA infarct sparing the basal ganglia" says nothing of the putamen.
"""

from collections.abc import Iterable, Mapping, Set
from functools import cache

from neurowhere._tools.files import shipped_table
from neurowhere.text.clinical.implied import Implied
from neurowhere.text.clinical.places import Side
from neurowhere.text.clinical.rules import split_names


@cache
def _wholes() -> dict[str, frozenset[str]]:
    """Names of the wholes that each structure of the table is part of."""
    wholes: dict[str, set[str]] = {}
    for row in shipped_table(__package__, "parts.csv"):
        for part in split_names(row["parts"]):
            wholes.setdefault(part, set()).update(split_names(row["whole"]))
    return {part: frozenset(names) for part, names in wholes.items()}


Spared = Mapping[str, Set[Side | None]]  # names, and the sides on which they are denied


def sides_of_spared(spared: Iterable[tuple[str, Side | None]]) -> Spared:
    """Join what a text denies by its name: a side, or None for both.

    >>> sides_of_spared([("insula", "bilateral"), ("pons", "left")])
    {'insula': {None}, 'pons': {'left'}}
    """
    sides: dict[str, set[Side | None]] = {}
    for name, side in spared:
        sides.setdefault(name, set()).add(None if side == "bilateral" else side)
    return sides


def without_spared(structures: Iterable[Implied], spared: Spared) -> tuple[Implied, ...]:
    """Leave out the structures that a text denies, or that are part of what it denies.

    Parameters
    ----------
    structures : iterable of Implied
    spared : mapping of str to set of Side or None
        Names of what is denied, and on which sides; None for both.

    Examples
    --------
    >>> putamen = Implied("putamen", "left", 0.5)
    >>> without_spared([putamen], {"basal ganglia": {None}})
    ()
    >>> without_spared([putamen], {"basal ganglia": {"right"}}) == (putamen,)
    True
    """
    return tuple(
        each
        for each in structures
        if not any(
            {None, each.side} & spared.get(name, set())
            for name in (each.term, *_wholes().get(each.term, ()))
        )
    )
