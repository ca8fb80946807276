"""Words: a summary in a line or two, for pages and pictures."""

import math
import re
from collections.abc import Iterable

from neurowhere.model.regions import N_REGIONS
from neurowhere.model.schema import FindingPlace, Region, Summary

N_NAMED = 3  # names that are given
# Places that have no sides; all others are on both where a text gives none.
MIDLINE = re.compile(
    r"brainstem|midbrain|pons|medulla|vermis|callosum|chiasm|hypothal|ventric|pineal"
)
BOTH, POSSIBLY = "both sides", "possibly "
LOBES = frozenset(["frontal", "temporal", "parietal", "occipital"])
ROLES = {  # words before the places of each role, in reading order
    "seat": "in",
    "extension": "extends to",
    "satellite": "satellite in",
    "edema": "edema in",
    "pressed": "presses on",
    "mentioned": "also names",
    "old": "old, in",
    "landmark": "near",
    "level": "measured at",
    "compared": "compared with",
    "spared": "normal",
}


def places_in_words(summary: Summary) -> str:
    """Return where a text points: "Left: insula, putamen".

    Where the text has findings, these are their seats in its own words, and then what is old. Of
    other texts, they are the regions that tell most of it: named regions come first, then those
    with the largest p log(p / p̄), with p the probability of a region and p̄ that of the mean map. A
    small region that is raised far beats a large one that is raised little. Both sides are told
    where the text names both, or the weaker one has at least half of that.
    """
    places = [place for finding in summary.findings for place in finding.places]
    if seats := _seats_in_words(places):
        return seats
    told = {name: _sides_in_words(found) for name, found in [*_sides(summary).items()][:N_NAMED]}
    if len(set(told.values())) == 1 and any(told.values()):
        words = f"{next(iter(told.values()))}: {', '.join(told)}"
    else:
        words = ", ".join(
            f"{name} ({BOTH})" if side == BOTH else f"{side} {name}".strip()
            for name, side in told.items()
        )
    return words[:1].upper() + words[1:]


def _sides(summary: Summary) -> dict[str, dict[str, tuple[bool, float]]]:
    """Return the most informative raised regions by name and side, with their information."""
    sides: dict[str, dict[str, tuple[bool, float]]] = {}
    for region in sorted(summary.regions[:N_REGIONS], key=_information, reverse=True):
        whole = region.name.removesuffix(" (landmark)")
        first, _, rest = whole.partition(" ")
        side, name = (first, rest) if first in ("left", "right") else ("", whole)
        is_told = any(  # "… pars reticulata", or "insula" after "anterior insula"
            name.startswith(f"{other} ") or other.endswith(f" {name}") for other in sides
        )
        if region.excess > 0 and not is_told:
            side = side or ("" if MIDLINE.search(name) else BOTH)
            sides.setdefault(name, {})[side] = _information(region)
    return sides


def _seats_in_words(places: list[FindingPlace]) -> str:
    """Return the seats of findings, and then those of old ones: "Left thalamus; old: pons"."""
    told = {role: dict[str, str]() for role in ("seat", "old")}
    for place in places:
        if place.role in told:
            told[place.role].setdefault(_name(place).removeprefix(POSSIBLY), _name(place))
    seats, old = (", ".join([*names.values()][:N_NAMED]) for names in told.values())
    words = f"{seats}; old: {old}" if seats and old else seats
    return words[:1].upper() + words[1:]


def _sides_in_words(found: dict[str, tuple[bool, float]]) -> str:
    """Return the side of the strongest region, or that there are both."""
    first, *others = found
    is_named, most = found[first]
    both = (found[other] >= (is_named, 0 if is_named else most / 2) for other in others)
    return BOTH if any(both) else first


def _information(region: Region) -> tuple[bool, float]:
    if not region.ratio:  # none in regions that an atlas does not have
        return region.named, 0.0
    return region.named, region.probability * math.log(region.ratio)


def findings_in_words(summary: Summary) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return the findings of a report: the title of each, and (role, cue, places) of its places.

    What is normal comes last, without a title.
    """
    rows = []
    for finding in summary.findings:
        size = "" if finding.size_mm is None else f", {finding.size_mm:g} mm"
        title = finding.kind or "finding"
        roles = _by_role(finding.places, [role for role in ROLES if role != "spared"])
        if roles:
            rows.append((title[:1].upper() + title[1:] + size, roles))
    places = [place for finding in summary.findings for place in finding.places]
    spared = _by_role(places, ["spared"])
    return [*rows, ("", spared)] if spared else rows


def _by_role(places: Iterable[FindingPlace], roles: list[str]) -> list[tuple[str, str, str]]:
    told = []
    for role in roles:
        names = dict.fromkeys(_name(place) for place in places if place.role == role)
        if names:
            told.append((role, ROLES[role], ", ".join(names)))
    return told


def _name(place: FindingPlace) -> str:
    possibly = POSSIBLY if place.status == "hedged" else ""
    kind = " lobe" if place.name in LOBES else " territory" * place.name.endswith("artery")
    return f"{possibly}{f'{place.side} ' if place.side else ''}{place.name}{kind}"
