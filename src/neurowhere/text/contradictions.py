"""Contradictions: where a report says left of a lesion, and elsewhere right of the same.

What the places of a report say is sorted by lobe (``lobes.csv``) and side: in a conclusion C or in
the findings F before it, of a lesion, or in F of a lobe that is normal, N. Only a
side that the sentence itself gives to the place counts. With s a side and o the other one, a lobe
is contradictory if

1. C has a lesion on s and none on o, and F has it on o and not, or less surely, on s;
2. C or F has a lesion on s, N has all of s, and C or F a lesion on o;
3. F has a lesion on s, N has all of s, and neither has anything on o.

So is that of the last lesion if the text says that it gave the wrong side.

A lobe with a lesion on both sides is left alone. So are places that are old, pressed, compared or
only near, and sides of the body: see the roles in `neurowhere.text.findings`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Literal, NamedTuple

from neurowhere.text.findings import FLUID, Finding, Place, document_of
from neurowhere.text.reading.document import Document, Side
from neurowhere.text.reading.mentions import Span
from neurowhere.text.reading.tables import TEXT, Column, Row, read_table, split
from neurowhere.text.roles import Role

OneSide = Literal["left", "right"]
OTHER: dict[OneSide, OneSide] = {"left": "right", "right": "left"}
# How sure a role is that a lesion is in the place; 0 for a place that is normal.
SURE = 1.0
OF_ROLE: dict[Role, float] = {
    "seat": SURE,
    "extension": 0.6,
    "edema": 0.6,
    "satellite": 0.6,
    "mentioned": 0.5,
    "spared": 0.0,
}
BEYOND: tuple[Role, ...] = ("extension", "edema", "satellite")  # may be on the other side
COLUMNS: dict[str, Column] = {"id": TEXT, "whole": TEXT, "stems": TEXT}
_SUFFIX = re.compile(r" (?:lobes?|cortex|cortices|hemispheres?|regions?)$")
# What is said of a lobe beside its lesion: "otherwise normal", "no second lesion".
_BESIDE = re.compile(
    r"\b(?:rest|remainder|remaining|otherwise|elsewhere|apart|except|(?:no|without)(?: \w+)? "
    r"(?:second|other|further|additional|more|new|recurren\w+|residual))\b",
    re.I,
)
_OLD = re.compile(r"\b(?:old(?:er)?|previous(?:ly)?|prior|former|earlier)\b", re.I)
_EXTRA_AXIAL = re.compile(r"[ -]+(?:\w+[ -]+)?(?:extra-?axial|subdural|extradural|epidural)", re.I)
_SIDES = re.compile(r"\b(?:left|right|bilateral|both|L|R)\b")
# An addendum that takes a side back.
_TELLING = r"(?:stated|given|reported|named|dictated|described|recorded)"
_CORRECTED = re.compile(
    rf"\b(?:side|laterality) (?:\w+ )?{_TELLING}[^.\n]{{0,60}}\b(?:incorrect|wrong|error|mistaken)"
    rf"|\bwrong side (?:was|is|had been) {_TELLING}"
    rf"|\b(?:left|right),? (?:and )?not (?:the )?(?:left|right),? as (?:\w+ )?{_TELLING}",
    re.I,
)
_CELL = re.compile(r"[|\t]")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sentences of a report about a lobe, or a deep part, one of which has the wrong side."""

    lobe: str
    side: OneSide  # of the lesion in one sentence
    where: Span
    other_side: OneSide | None  # None if the other sentence calls the lobe normal on `side`
    other_where: Span


class _Said(NamedTuple):
    """What a sentence says of a lobe on a side."""

    lobe: str
    side: Side
    sure: float  # as in `OF_ROLE`
    is_concluded: bool
    is_whole: bool  # whether it is said of the whole lobe
    where: Span
    is_old: bool  # whether the sentence may tell of an earlier scan
    is_given: bool  # whether the sentence gives the side; else it is that of its finding


def find_contradictions(text: str, findings: Sequence[Finding]) -> list[Contradiction]:
    r"""Find where a report contradicts itself on the side of a lesion, at most once for a lobe.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.reading.mentions import read_mentions
    >>> from neurowhere.text.findings import find_findings
    >>> counter = TermCounter(Vocabulary(["insula"]))
    >>> text = "FINDINGS: Mass in the left insula.\n\nIMPRESSION: Right insula glioma."
    >>> (found,) = find_contradictions(text, find_findings(text, read_mentions(text, counter)))
    >>> found.lobe, found.side, text[slice(*found.other_where)]
    ('insula', 'left', 'IMPRESSION: Right insula glioma')
    """
    document = document_of(text)
    said = list(_said(document, findings))
    found = []
    for lobe in dict.fromkeys(each.lobe for each in said):
        if pair := _pair([each for each in said if each.lobe == lobe]):
            first, other = pair
            if other.sure and other.where < first.where:
                first, other = other, first
            other_side = other.side if other.sure else None
            found.append(Contradiction(lobe, first.side, first.where, other_side, other.where))  # type: ignore[arg-type]
    return found or [*_corrected(document, said)]


def _corrected(document: Document, said: Sequence[_Said]) -> Iterator[Contradiction]:
    """Yield the side of the last lesion in a text that takes back the side that it gave."""
    match = _CORRECTED.search(document.text)
    where = match and _sentence(document, match.start())
    lesions = [each for each in said if each.sure == SURE and each.where != where]
    for each in lesions[-1:] if where else ():
        if each.side in OTHER:
            yield Contradiction(each.lobe, each.side, each.where, OTHER[each.side], where)  # type: ignore[arg-type]


def _said(document: Document, findings: Sequence[Finding]) -> Iterator[_Said]:
    """Yield what the places of findings say of each lobe, where their sentence has a side."""
    for finding in findings:
        seats = filter(attrgetter("side_where"), finding.seats)
        told = {seat.side for seat in seats if not seat.is_concluded}
        for place in filter(attrgetter("side"), finding.places):
            is_beyond = place.role in BEYOND and not place.territory
            is_given = place.side_where is not None and not is_beyond
            if is_given or (place.side in told and not place.is_concluded):
                yield from _of_lobes(document, place, is_given=is_given)


def _of_lobes(document: Document, place: Place, *, is_given: bool) -> Iterator[_Said]:
    """Yield what a place with a side says of each lobe that it is in."""
    sure, where = _sure(place), _sentence(document, place.span[0])
    if sure is None or place.side is None or _is_other(document.text, place, where, sure):
        return
    is_old = bool(_OLD.search(document.text, *where))
    said = place.side, sure, place.is_concluded
    for lobe, is_whole in _lobes_of(place.names):
        yield _Said(lobe, *said, is_whole, where, is_old, is_given)


def _sure(place: Place) -> float | None:
    """Return how sure it is that a lesion is in a place; None if nothing is said of one."""
    is_promoted = place.role == "seat" and (not place.rule or place.rule == "roles:old")
    return OF_ROLE.get("mentioned" if is_promoted else place.role)


def _is_other(text: str, place: Place, sentence: Span, sure: float) -> bool:
    """Whether a sentence speaks of no tissue, of the rest of a lobe, or of both sides at once."""
    if FLUID.search(place.words.lower()) or _EXTRA_AXIAL.match(text, place.span[1]):
        return True
    if not sure:
        return bool(_BESIDE.search(text, *sentence))
    return sure < SURE and len(set(_SIDES.findall(text, *sentence))) > 1


def _sentence(document: Document, at: int) -> Span:
    """Return the sentence around a character, or the row of a table."""
    text = document.text
    line = text.rfind("\n", 0, at) + 1, (text + "\n").find("\n", at)
    if _CELL.search(text, *line):
        return line
    token = bisect_right(document.starts, at) - 1
    return document.span(*document.sentences[document.sentence_of(token)])


def _lobes_of(names: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield the lobes that a place of some names is in, and whether it is the whole of each."""
    names = [name.lower() for name in names]
    for row, stems in _lobes():
        lobe, wholes = row.id.replace("-", " "), split(row["whole"])
        if any(stems.search(name) for name in names):
            yield lobe, any(_SUFFIX.sub("", name) in wholes for name in names)


@cache
def _lobes() -> list[tuple[Row, re.Pattern[str]]]:
    rows = read_table("neurowhere.text", "lobes", COLUMNS)
    return [(row, re.compile(rf"\b(?:{'|'.join(split(row['stems']))})")) for row in rows]


def _pair(said: Sequence[_Said]) -> tuple[_Said, _Said] | None:
    """Return what contradicts each other of what is said of one lobe; see the rules above."""
    given = [each for each in said if each.is_given]
    if _is_sure(_of_side(given, "bilateral")):
        return None
    carried = {each.side for each in said if each.sure and not each.is_given}
    for side, other in OTHER.items():
        pair = _against_findings(given, side, other, is_carried=side in carried)
        if pair := pair or _against_normal(given, side, other):
            return pair
    return None


def _against_findings(
    said: Sequence[_Said], side: OneSide, other: OneSide, *, is_carried: bool
) -> tuple[_Said, _Said] | None:
    """Return a conclusion on a side, and findings on the other: rule 1."""
    concluded, found = _lesions(said, side, True), _lesions(said, side, False)
    other_found = _lesions(said, other, False)
    if not (concluded and other_found) or _is_sure(_lesions(said, other, True)):
        return None
    is_clear = _is_sure(other_found) or (_is_sure(concluded) and not (found or is_carried))
    return (concluded[0], other_found[0]) if is_clear and not _is_sure(found) else None


def _against_normal(
    said: Sequence[_Said], side: OneSide, other: OneSide
) -> tuple[_Said, _Said] | None:
    """Return a lesion on a side, and one on the other or what calls that side normal: rules 2, 3.

    A conclusion that the findings bear out is not doubted.
    """
    normal = list(filter(_is_normal, said))
    elsewhere = [*_lesions(said, other, True), *_lesions(said, other, False)]
    denied = _of_side(normal, side)
    for lesion in _doubted(said, side, other):
        others = [each for each in denied if each.where != lesion.where]
        if others and elsewhere:
            return (lesion, elsewhere[0]) if _is_sure([lesion, *elsewhere]) else None
        if others and denied == normal and not lesion.is_concluded:
            return lesion, others[0]
    return None


def _doubted(said: Sequence[_Said], side: OneSide, other: OneSide) -> list[_Said]:
    """Return the lesions on a side that a normal lobe contradicts, the conclusion's first."""
    found = _lesions(said, side, False)
    is_borne_out = _is_sure(found) or _lesions(said, other, True)
    concluded = [] if is_borne_out else _lesions(said, side, True)
    return [*concluded, *(each for each in found if not each.is_old)]


def _is_normal(said: _Said) -> bool:
    """Whether the findings call the whole of a lobe normal."""
    return said.is_whole and not (said.sure or said.is_concluded)


def _of_side(said: Iterable[_Said], side: Side) -> list[_Said]:
    return [each for each in said if each.side == side]


def _is_sure(lesions: Sequence[_Said]) -> bool:
    return any(each.sure == SURE for each in lesions)


def _lesions(said: Sequence[_Said], side: OneSide, is_concluded: bool) -> list[_Said]:
    """Return what says that a lesion is on a side, the surest first."""
    own = (each for each in _of_side(said, side) if each.is_concluded is is_concluded)
    return sorted(filter(attrgetter("sure"), own), key=lambda each: -each.sure)
