"""Panels of a picture: slices on the template, the glass brain, and the bar of their colours."""

import json
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.report.canvas import SMALL, Canvas, Extent
from neurowhere.report.sampling import Volume, cut, project
from neurowhere.space.images import mni152_template, nilearn_file

__all__ = [
    "BOX_MM",
    "Colours",
    "Outline",
    "Panel",
    "add_bar",
    "add_cross",
    "add_glass",
    "add_slice",
    "outlines",
]

BOX_MM = ((-76.0, 76.0), (-110.0, 79.0), (-74.0, 86.0))  # of x, y and z, around brain and outlines
ACROSS = ((1, 2), (0, 2), (0, 1))  # axes to the right and up, seen along x, y and z
BACKGROUND = 25  # of 255: less of the template's intensity is not drawn
GREYS = (80, 0.68)  # darkest grey, and share of the template's intensity that is added
N_COLOURS = 256
NOT_DRAWN = (158, 158, 158, 255)  # in the bar, where values get no colour
CROSS_COLOUR = "#4c5866"
OUTLINE_OPACITY = 0.7
BAR_WIDTH_MM, TICK_GAP_MM, LEAST_BETWEEN_TICKS = 9.0, 4.0, 0.09  # the last of the bar's height
LABEL_MM = 4.0  # from the edges of a panel to its words

# Anchors of ColorBrewer's palettes (colorbrewer2.org), which matplotlib has by the same names.
PALETTES = {
    "YlOrRd": "ffffcc ffeda0 fed976 feb24c fd8d3c fc4e2a e31a1c bd0026 800026",
    "RdBu_r": "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
}

FILES = ("side", "back", "top")  # seen along x, y and z
# From the units of a file to mm: scale, then offset, to the right and up. They fit the MNI152
# template; nilearn has the same.
SCALES = ((0.38, 0.38), (0.39, 0.39), (0.36, 0.37))
OFFSETS_MM = ((-108.0, -70.0), (-73.0, -73.0), (-71.0, -107.0))
STEPS = np.linspace(0, 1, 7)[1:, None]  # along a curve


class Colours(NamedTuple):
    """How the values of a map are coloured."""

    palette: str
    lowest: float
    highest: float
    threshold: float  # values nearer to zero are not drawn

    def paint(self, values: NDArray[np.floating]) -> NDArray[np.uint8]:
        """Return the colours of values, transparent where they are not drawn: (..., 4)."""
        span = (self.highest - self.lowest) or 1.0
        steps = (values - self.lowest) * (N_COLOURS / span)
        painted = palette(self.palette)[steps.clip(0, N_COLOURS - 1).astype(np.uint8)]
        painted[..., 3] = np.where(np.abs(values) > self.threshold, 255, 0)
        return painted

    @property
    def ticks(self) -> list[float]:
        """Values to write at the bar: its ends, the thresholds, and some between."""
        marks = [self.lowest, self.highest]
        apart = LEAST_BETWEEN_TICKS * (self.highest - self.lowest)
        wanted = [-self.threshold, self.threshold] if self.lowest < 0 else []
        wanted += np.linspace(self.lowest, self.highest, 5)[1:-1].tolist()
        for value in wanted:
            if all(abs(value - mark) > apart for mark in marks):
                marks.append(value)
        return sorted(marks)


@cache
def palette(name: str) -> NDArray[np.uint8]:
    """Return the colours of a palette, opaque: (256, 4).

    >>> palette("YlOrRd")[[0, 255]].tolist()
    [[255, 255, 204, 255], [128, 0, 38, 255]]
    """
    anchors = np.array([list(bytes.fromhex(colour)) for colour in PALETTES[name].split()])
    places = np.linspace(0, 1, len(anchors))
    shades = np.linspace(0, 1, N_COLOURS)
    channels = [np.interp(shades, places, channel) for channel in anchors.T]
    return np.stack([*channels, np.full(N_COLOURS, 255)], axis=1).round().astype(np.uint8)


class Panel(NamedTuple):
    """Where the brain is shown, seen along one of its axes."""

    axis: int
    left: float  # in mm of the canvas, as `bottom`
    bottom: float

    @property
    def width(self) -> float:
        """Width in mm."""
        low, high = BOX_MM[ACROSS[self.axis][0]]
        return high - low

    @property
    def height(self) -> float:
        """Height in mm."""
        low, high = BOX_MM[ACROSS[self.axis][1]]
        return high - low

    @property
    def extent(self) -> Extent:
        """Left, right, bottom and top in mm of the canvas."""
        return self.left, self.left + self.width, self.bottom, self.bottom + self.height

    @property
    def corner_mm(self) -> tuple[float, float]:
        """Place in the brain of the lower left corner."""
        right, up = ACROSS[self.axis]
        return BOX_MM[right][0], BOX_MM[up][0]


def add_slice(canvas: Canvas, panel: Panel, volume: Volume, at_mm: float, colours: Colours) -> None:
    """Draw a slice of a map on the template, and write where it is.

    Parameters
    ----------
    canvas : Canvas
    panel : Panel
    volume : Volume
        The map.
    at_mm : float
        Where the slice crosses the axis of the panel.
    colours : Colours
    """
    pixels = _template_slice(panel.axis, at_mm).copy()
    painted = colours.paint(cut(volume, panel.axis, at_mm, BOX_MM))
    shown = painted[..., 3] > 0
    pixels[shown] = painted[..., :3][shown]
    canvas.add_picture(panel.extent, pixels)
    left, _, bottom, _ = panel.extent
    canvas.write(left + LABEL_MM / 2, bottom + LABEL_MM, f"{'xyz'[panel.axis]}={at_mm:.0f}")
    _add_sides(canvas, panel)


def add_glass(canvas: Canvas, panel: Panel, volume: Volume, colours: Colours) -> None:
    """Draw the strongest values seen along an axis, with the outlines of the brain.

    Parameters
    ----------
    canvas, panel, volume, colours
        As in `add_slice`.
    """
    canvas.add_picture(panel.extent, colours.paint(project(volume, panel.axis, BOX_MM)))
    key = (panel.axis, canvas.scale)
    if key not in _DRAWN:
        lines = [
            (line.points_mm - panel.corner_mm, line.colour, line.width)
            for line in outlines(panel.axis)
        ]
        _DRAWN[key] = canvas.strokes(panel.extent, lines, OUTLINE_OPACITY)
    canvas.add_strokes(panel.extent, _DRAWN[key])
    _add_sides(canvas, panel)


_DRAWN: dict[tuple[int, float], Any] = {}  # outlines, the same in every picture


def add_cross(canvas: Canvas, panel: Panel, place_mm: tuple[float, float, float]) -> None:
    """Draw lines through a place.

    Parameters
    ----------
    canvas, panel
        As in `add_slice`.
    place_mm : (x, y, z)
    """
    right, up = ACROSS[panel.axis]
    left, end, bottom, top = panel.extent
    x = left + place_mm[right] - BOX_MM[right][0]
    y = bottom + place_mm[up] - BOX_MM[up][0]
    canvas.add_line([(x, bottom), (x, top)], CROSS_COLOUR)
    canvas.add_line([(left, y), (end, y)], CROSS_COLOUR)


def add_bar(
    canvas: Canvas, extent: Extent, colours: Colours, unit: str, *, digits: int = 3
) -> None:
    """Draw the bar of the colours, with its unit above and values to its left.

    Parameters
    ----------
    canvas : Canvas
    extent : (left, right, bottom, top)
    colours : Colours
    unit : str
    digits : int
        Of the values.
    """
    left, right, bottom, top = extent
    painted = colours.paint(np.linspace(colours.lowest, colours.highest, N_COLOURS)[:, None])
    painted[painted[..., 3] == 0] = NOT_DRAWN
    if colours.lowest >= 0:
        painted[0] = painted[1]
    canvas.add_picture(extent, painted[..., :3])
    canvas.add_frame(extent)
    span = (colours.highest - colours.lowest) or 1.0
    for tick in colours.ticks:
        y = bottom + (top - bottom) * (tick - colours.lowest) / span
        words = f"{tick:.{digits}g}".replace("-", "−")
        canvas.write(left - TICK_GAP_MM, y, words, size=SMALL, anchor="rm")
    canvas.write(right, top + 2 * LABEL_MM, unit, anchor="rs")


def _add_sides(canvas: Canvas, panel: Panel) -> None:
    """Write which side is left and which is right, where both are seen."""
    if panel.axis != 0:
        left, right, _, top = panel.extent
        canvas.write(left + LABEL_MM, top - LABEL_MM, "L", anchor="la")
        canvas.write(right - LABEL_MM, top - LABEL_MM, "R", anchor="ra")


@lru_cache(maxsize=32)
def _template_slice(axis: int, at_mm: float) -> NDArray[np.uint8]:
    """Return a slice of the template in greys on white: (n_up, n_right, 3)."""
    data, affine = mni152_template()
    values = cut(Volume(data, affine, is_linear=False), axis, at_mm, BOX_MM)
    darkest, share = GREYS
    grey = np.where(values > BACKGROUND, darkest + share * values, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


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
