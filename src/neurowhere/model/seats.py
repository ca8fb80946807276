"""Seats: where the findings of a report are, a row each, and as one region of the brain."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neurowhere.learn import highest_density
from neurowhere.model.encoding import Encoding
from neurowhere.model.mixture import Component, is_refined
from neurowhere.model.schema import Contradiction, Finding, Schema, Side
from neurowhere.model.summary import contradictions_of, findings_of
from neurowhere.space import Partition

FILE = "seats.json"  # in the folder of a text
HOLDING = 0.8  # of the map of a place, the share that its region holds


@dataclass(frozen=True, slots=True)
class Seat(Schema):
    """A place that a finding of a report is in."""

    region: str
    """Names of the place."""
    side: Side | None
    what: str | None
    """The text's word for the finding: "infarct"; null where the text is kept out."""
    size_mm: float | None
    """Its largest size."""
    share: float
    """Share of the place in the map."""
    status: Literal["affirmed", "hedged"]


@dataclass(frozen=True, slots=True)
class Seats(Schema):
    """The seats of a report, and where in the brain they are."""

    seats: list[Seat]
    runs: list[tuple[int, int]]
    """The region of all seats: first region of the partition of each run, and the one after it."""
    contradictions: list[Contradiction] = field(default_factory=list)
    """Where the report gives the same lesion different sides."""


def write_seats(seats: Seats, folder: Path) -> None:
    """Write the seats of a report into its folder, for the overlay of many."""
    (folder / FILE).write_text(json.dumps(asdict(seats), ensure_ascii=False) + "\n", "utf-8")


def read_seats(folder: Path) -> Seats | None:
    """Read the seats of a report from its folder; None for the folder of a study."""
    try:
        found = json.loads((folder / FILE).read_bytes())
    except FileNotFoundError:
        return None
    return Seats(
        [Seat(**each) for each in found["seats"]],
        [(first, end) for first, end in found["runs"]],
        [Contradiction(**each) for each in found["contradictions"]],
    )


def seats_of(encoding: Encoding, *, with_text: bool = True) -> Seats | None:
    """Return the seats of a report; None for a study.

    Parameters
    ----------
    encoding : Encoding
    with_text : bool
        Whether words of the text may be in it.

    Returns
    -------
    Seats or None
    """
    if encoding.kind == "study":
        return None
    findings, contradictions = findings_of(encoding), contradictions_of(encoding)
    if not with_text:
        findings = [each.without_text() for each in findings]
        contradictions = [each.without_text() for each in contradictions]
    runs = _runs(seat_region(encoding))
    return Seats(list(_merged(findings)), runs, contradictions)


def _merged(findings: Iterable[Finding]) -> Iterable[Seat]:
    """Return the seats of findings, those of the same place and side as one."""
    seats: dict[tuple[str, Side | None], Seat] = {}
    for finding in findings:
        for place in finding.places:
            if place.role != "seat":
                continue
            key = place.name, place.side
            old = seats.get(key, Seat(*key, None, None, 0.0, "hedged"))
            sizes = [size for size in (old.size_mm, finding.size_mm) if size is not None]
            is_affirmed = "affirmed" in (old.status, place.status)
            seats[key] = Seat(
                *key,
                old.what or finding.kind,
                max(sizes, default=None),
                old.share + place.share,
                "affirmed" if is_affirmed else "hedged",
            )
    return seats.values()


def seat_region(encoding: Encoding) -> NDArray[np.bool_]:
    """Return the region of the seats of a report: (m,).

    It joins the regions of the places. A place that the model has no regions for, such as the
    territory of an artery, has the smallest region that holds `HOLDING` of its map. A seat that
    another one makes more precise, such as a lobe beside its gyrus, is left out.
    """
    mixture = encoding.mixture
    parts = [part for part in mixture.components if part.place.role == "seat"] if mixture else []
    regions = [_region(part, encoding.partition) for part in parts]
    joined = np.zeros(len(encoding.mean_map), bool)
    for region in regions:
        if not is_refined(region, regions):
            joined |= region
    return joined


def _region(part: Component, partition: Partition) -> NDArray[np.bool_]:
    if part.inside is not None and part.inside.any():
        return part.inside
    return highest_density(part.map, part.map / partition.volumes_mm3, HOLDING)


def _runs(inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs of a mask begin and end.

    >>> _runs(np.array([False, True, True, False, True]))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]
