"""Contradictions: where a report says left of a lesion here, and right of it there.

The places of a report's findings are told apart by lobe (``lobes.csv``), side, and whether they are
in its conclusion. Only a side that the sentence itself gives to the place counts. With B the sides
of a lobe that has a lesion before the conclusion, C those in the conclusion, and N those on which
the whole lobe is said to be normal, a lobe is contradictory if

- C has a side s that B has not, B has the other, and C has not: findings against impression;
- B or C has a side that N has, and another sentence has the lesion on the other side.

A lobe that is affected on both sides in one sentence is left alone, and so is what is old, pressed,
compared, or only near: see the roles in `neurowhere.text.findings`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from neurowhere.text.clinical.mentions import Span
from neurowhere.text.findings import FLUID, Finding, Place, Role, document_of
from neurowhere.text.reading.tables import TEXT, Column, read_table, split

OneSide = Literal["left", "right"]
OTHER: dict[str, OneSide] = {"left": "right", "right": "left"}
# How far a role tells that a lesion is in the place.
AFFECTED: dict[Role, float] = {
    "seat": 1.0,
    "extension": 0.6,
    "edema": 0.6,
    "satellite": 0.6,
    "mentioned": 0.5,
}
COLUMNS: dict[str, Column] = {"id": TEXT, "stems": TEXT}
_WHOLE = re.compile(
    r"(?:the )?\S+(?: (?:lobes?|cortex|cortices|region|hemispheres?|gyri|white matter|cerebri))*"
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences of a report that give a lesion different sides.

    Attributes
    ----------
    lobe : str
        Lobe, or deep part of the brain, that both are about.
    side, other_side : "left" or "right"
    where, other_where : (int, int)
        The sentences, in the order of the text.
    """

    lobe: str
    side: OneSide
    where: Span
    other_side: OneSide
    other_where: Span


class Said(NamedTuple):
    """What a sentence says of a lobe on one side, or on both."""

    lobe: str
    side: str
    weight: float  # how far it tells that a lesion is there; 0 where all is normal
    is_concluded: bool
    where: Span
    place: Place


@cache
def _stems() -> list[tuple[str, re.Pattern[str]]]:
    rows = read_table("neurowhere.text", "lobes", COLUMNS)
    return [
        (row.id.replace("-", " "), re.compile(rf"\b(?:{'|'.join(split(row['stems']))})"))
        for row in rows
    ]


def lobes_of(place: Place) -> set[str]:
    """Return the lobes, or deep parts of the brain, that a place is in."""
    names = [name.lower() for name in place.names]
    return {lobe for lobe, stems in _stems() if any(map(stems.search, names))}


def find_contradictions(text: str, findings: Sequence[Finding]) -> list[Contradiction]:
    said = list(_said(text, findings))
    found = []
    for lobe in dict.fromkeys(each.lobe for each in said):
        own = [each for each in said if each.lobe == lobe]
        if pair := _pair(own):
            first, second = sorted(pair, key=lambda each: each.where)
            found.append(Contradiction(lobe, first.side, first.where, second.side, second.where))
    return found


def _said(text: str, findings: Sequence[Finding]) -> Iterator[Said]:
    document = document_of(text)
    for place in (place for finding in findings for place in finding.places):
        if place.side_where is None or FLUID.search(place.words.lower()):
            continue
        weight = AFFECTED.get(place.role, 0.0)
        if place.role == "spared" and not _WHOLE.fullmatch(place.words.lower()):
            continue
        if weight == 0 and place.role != "spared":
            continue
        where = text.rfind("\n", 0, place.span[0]) + 1, place.span[1]
        for lobe in lobes_of(place):
            yield Said(lobe, place.side, weight, place.is_concluded, where, place)


def _pair(said):
    if any(each.side == "bilateral" and each.weight for each in said):
        return None
    def best(side, is_concluded):
        some = [e for e in said if e.side == side and e.weight and e.is_concluded is is_concluded]
        return max(some, key=lambda each: each.weight, default=None)
    for s, o in OTHER.items():
        normal = [e for e in said if e.side == s and not e.weight]
        c, b = best(s, True), best(s, False)
        co, bo = best(o, True), best(o, False)
        if c and bo and not co and not b:
            return c, bo
        if (c or b) and normal and (co or bo):
            if c and b and not co: continue
            return (c or b), (co or bo)
    return None
