"""Difference: where two texts point apart, as plain data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neurowhere.model.algebra import subtract
from neurowhere.model.encoding import Encoding
from neurowhere.model.summary import N_REGIONS, Point, Schema, Summary, as_point, summarise
from neurowhere.space import Atlas


@dataclass(frozen=True, slots=True)
class DifferingRegion(Schema):
    """A region of the atlas in two maps."""

    region: str
    """Label in the atlas."""
    name: str
    """Name in words."""
    probability: float
    """Probability in the map of the first text."""
    other: float
    """Probability in the map of the other text."""
    ratio: float | None
    """The first over the second; null where that is zero."""
    at: Point
    """Where in it the map of the difference is densest, in mm."""


@dataclass(frozen=True, slots=True)
class Difference(Schema):
    """Where two texts differ."""

    text: Summary
    other: Summary
    distance: float
    """Total-variation distance: 0 for the same map, 1 for disjoint ones."""
    difference: Summary
    """What the first text says and the other does not, as ``encode --minus`` gives it."""
    more: list[DifferingRegion]
    """Regions with more probability for the first text, the largest difference first."""
    less: list[DifferingRegion]
    """Regions with more probability for the other text, the largest difference first."""


def compare_texts(
    first: Encoding, second: Encoding, atlas: Atlas | None = None, *, n_regions: int = N_REGIONS
) -> Difference:
    """Sum up where two texts differ.

    Parameters
    ----------
    first, second : Encoding
        Encodings of one model.
    atlas : Atlas, optional
        Names the regions; by default as in `Encoding.regions`.
    n_regions : int
        Number of regions in each list.

    Returns
    -------
    Difference
    """
    there, back = subtract(first, second), subtract(second, first)
    return Difference(
        text=summarise(first, atlas, n_regions=n_regions),
        other=summarise(second, atlas, n_regions=n_regions),
        distance=float(np.abs(first.probabilities - second.probabilities).sum()) / 2,
        difference=summarise(there, atlas, n_regions=n_regions),
        more=_differing(first, second, there, atlas, 1, n_regions),
        less=_differing(first, second, back, atlas, -1, n_regions),
    )


def _differing(
    first: Encoding,
    second: Encoding,
    difference: Encoding,
    atlas: Atlas | None,
    sign: int,
    n_regions: int,
) -> list[DifferingRegion]:
    gazetteer = difference.gazetteer(atlas)
    ours, theirs = gazetteer.shares(first.density), gazetteer.shares(second.density)
    gain: NDArray[np.floating] = sign * (ours - theirs)
    largest = [
        row for row in np.argsort(-gain, kind="stable")[:n_regions].tolist() if gain[row] > 0
    ]
    places = gazetteer.densest_mm(difference.density, largest)
    return [
        DifferingRegion(
            gazetteer.atlas.names[row],
            gazetteer.names[row],
            float(ours[row]),
            float(theirs[row]),
            float(ours[row] / theirs[row]) if theirs[row] else None,
            as_point(place),
        )
        for row, place in zip(largest, places, strict=True)
    ]
