"""Outlines of the glass brain, as nilearn carries them."""

import json
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.space.images import nilearn_file

__all__ = ["Outline", "outlines"]

FILES = ("side", "back", "top")  # seen along x, y and z
# From the units of a file to mm: scale, then offset, to the right and up. They fit the MNI152
# template; nilearn has the same.
SCALES = ((0.38, 0.38), (0.39, 0.39), (0.36, 0.37))
OFFSETS_MM = ((-108.0, -70.0), (-73.0, -73.0), (-71.0, -107.0))
STEPS = np.linspace(0, 1, 7)[1:, None]  # along a curve


class Outline(NamedTuple):
    """A line of the drawing."""

    points_mm: NDArray[np.float64]  # (n, 2), to the right and up
    colour: str
    width: float  # in points


@cache
def outlines(axis: int) -> tuple[Outline, ...]:
    """Read the outlines of the brain seen along an axis.

    Parameters
    ----------
    axis : 0, 1 or 2

    Returns
    -------
    tuple of Outline
    """
    file = nilearn_file(f"plotting/glass_brain_files/brain_schematics_{FILES[axis]}.json")
    lines = json.loads(file.read_text("utf-8"))["paths"]
    return tuple(outline for line in lines for outline in _outlines(line, axis))


def _outlines(line: dict[str, Any], axis: int) -> list[Outline]:
    """Join the pieces of a line where one begins at the end of the last."""
    strokes: list[list[NDArray[np.float64]]] = []
    for piece in line["items"]:
        points = np.array(piece["pts"]) * SCALES[axis] + OFFSETS_MM[axis]
        if not strokes or (strokes[-1][-1][-1] != points[0]).any():
            strokes.append([points[:1]])
        strokes[-1].append(bezier(points))
    style = line["edgecolor"], float(line["linewidth"])
    return [Outline(np.concatenate(stroke), *style) for stroke in strokes]


def bezier(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of a Bézier curve, or of a straight line, without the first one.

    >>> bezier(np.array([[0.0, 0], [0, 4], [4, 4], [4, 0]]))[2]
    array([2., 3.])
    """
    between = list(points)
    while len(between) > 1:  # de Casteljau: between neighbours, until one point is left
        between = [a + STEPS * (b - a) for a, b in pairwise(between)]
    return np.asarray(between[0])
