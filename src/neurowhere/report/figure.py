"""Figures for papers: a map on white, without title or crosshair, at the width of a column.

Slices are drawn as contours, so that SVG and PDF hold shapes and letters and no pixels; the cortex
is a picture of 300 dots per inch in either.
"""

import io
import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import OutputError
from neurowhere.model.encoding import Encoding
from neurowhere.report.canvas import INK, Colours
from neurowhere.report.maps import (
    DENSITY_UNIT,
    PERCENT_PER_CM3,
    RATIO_UNIT,
    colours_of,
)
from neurowhere.report.panels import BOX_MM, Volume, cut, volume_of
from neurowhere.space.images import mni152_template

__all__ = ["FORMATS", "Format", "Layout", "Quantity", "draw_figure", "figure_bytes"]

Layout = Literal["mosaic", "surface"]
Quantity = Literal["ratio", "density"]
Format = Literal["svg", "pdf", "png"]
FORMATS: tuple[Format, ...] = ("svg", "pdf", "png")

DPI = 300
MM_PER_INCH = 25.4
NARROWEST_MM, WIDEST_MM = 40.0, 400.0
HEIGHTS_MM = (-32.0, -20.0, -8.0, 4.0, 16.0, 28.0, 40.0, 52.0)  # of the axial slices
NARROW_MM = 120.0  # a figure of less has its slices in two rows
FONT_POINTS = 7.0
FOOT_MM, HEAD_MM, GAP_MM = 11.0, 3.5, 1.0  # for the colour bar, for letters, between slices
BAR_MM = (55.0, 2.0)  # width and height of the colour bar, at most
GREY_LEVELS = (25, 70, 110, 145, 256)  # of the template's intensity
GREYS = ("#9a9a9a", "#b4b4b4", "#cdcdcd", "#e4e4e4")
COARSE = 2  # every second pixel of 1 mm is enough for contours of the brain
N_SHADES = 12  # of the map's colours
TICKS = 5

Floats = NDArray[np.floating]


class Map(NamedTuple):
    """What is drawn, and how."""

    image: Any
    colours: Colours
    unit: str


def draw_figure(
    encoding: Encoding,
    *,
    quantity: Quantity = "ratio",
    layout: Layout = "mosaic",
    width_mm: float = 174.0,
) -> Any:
    """Draw the map of a text for a paper.

    Parameters
    ----------
    encoding : Encoding
    quantity : "ratio" or "density"
        The ratio to the average study, or the share of the peaks per cm³.
    layout : "mosaic" or "surface"
        Axial slices, or the inflated cortex.
    width_mm : float
        85 for a column and 174 for a page are usual.

    Returns
    -------
    matplotlib.figure.Figure
    """
    if not NARROWEST_MM <= width_mm <= WIDEST_MM:
        raise OutputError(
            f"expected a width from {NARROWEST_MM:g} to {WIDEST_MM:g} mm, got {width_mm:g}; "
            "a column has 85 mm and a page 174 mm"
        )
    shown = _map_of(encoding, quantity)
    return (_draw_mosaic if layout == "mosaic" else _draw_surface)(shown, width_mm)


def figure_bytes(figure: Any, format: Format) -> bytes:
    """Return a figure as a file; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    format : "svg", "pdf" or "png"
        PNG has 300 dots per inch.

    Returns
    -------
    bytes
    """
    from matplotlib import rc_context

    undated: dict[str, dict[str, Any]] = {
        "svg": {"Date": None},
        "pdf": {"CreationDate": None},
        "png": {"Software": None},
    }
    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "neurowhere"}):
        figure.savefig(stream, format=format, dpi=DPI, metadata=undated[format])
    return stream.getvalue()


def _map_of(encoding: Encoding, quantity: Quantity) -> Map:
    if quantity == "ratio" and not encoding.is_mean_map:
        image, unit = encoding.log_ratio_img, RATIO_UNIT
    else:
        image = encoding.partition.to_img(encoding.density * PERCENT_PER_CM3)
        unit = DENSITY_UNIT
    colours = colours_of(np.asarray(image.dataobj), signed=unit == RATIO_UNIT)
    return Map(image, colours._replace(palette="Greys") if encoding.is_mean_map else colours, unit)


def _new_figure(width_mm: float, height_mm: float) -> Any:
    from matplotlib.figure import Figure

    return Figure((width_mm / MM_PER_INCH, height_mm / MM_PER_INCH), dpi=DPI, facecolor="white")


def _add_axes(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Add axes without a frame, at a place in mm from the lower left corner."""
    whole = figure.get_size_inches() * MM_PER_INCH
    axes = figure.add_axes(
        (left / whole[0], bottom / whole[1], width / whole[0], height / whole[1])
    )
    axes.set_axis_off()
    return axes


# ---- slices


def _draw_mosaic(shown: Map, width_mm: float) -> Any:
    rows = 2 if width_mm < NARROW_MM else 1
    columns = math.ceil(len(HEIGHTS_MM) / rows)
    (left, right), (back, front) = BOX_MM[0], BOX_MM[1]
    edge = (width_mm - GAP_MM * (columns - 1)) / columns
    tall = edge * (front - back) / (right - left)
    figure = _new_figure(width_mm, FOOT_MM + rows * (tall + HEAD_MM))
    volume = volume_of(shown.image)
    for number, z in enumerate(HEIGHTS_MM):
        row, column = divmod(number, columns)
        bottom = FOOT_MM + (rows - 1 - row) * (tall + HEAD_MM)
        axes = _add_axes(figure, column * (edge + GAP_MM), bottom, edge, tall)
        _draw_slice(axes, volume, z, shown.colours)
        words = f"z = {z:.0f}".replace("-", "−")
        style = {"fontsize": FONT_POINTS, "color": INK, "transform": axes.transAxes}
        axes.text(0.5, 1.0, words, ha="center", va="bottom", **style)
        axes.text(0.04, 0.9, "L", ha="left", va="bottom", **style)
        axes.text(0.96, 0.9, "R", ha="right", va="bottom", **style)
    _draw_bar(figure, shown, width_mm)
    return figure


def _draw_slice(axes: Any, volume: Volume, z: float, colours: Colours) -> None:
    """Draw the brain and the map as filled contours."""
    x, y = (np.arange(low, high) + 0.5 for low, high in BOX_MM[:2])
    brain, affine = mni152_template()
    grey = cut(Volume(brain, affine, is_linear=True), 2, z, BOX_MM)[::COARSE, ::COARSE]
    axes.contourf(x[::COARSE], y[::COARSE], grey, levels=GREY_LEVELS, colors=GREYS)
    values = cut(volume, 2, z, BOX_MM)
    for sign in (1, -1) if colours.lowest < 0 else (1,):
        levels, shades = _shades(colours, sign)
        if (sign * values).max() > levels[0]:
            axes.contourf(x, y, sign * values, levels=levels, colors=shades, extend="max")
    axes.set_aspect("equal")
    axes.set_xlim(*BOX_MM[0])
    axes.set_ylim(*BOX_MM[1])


def _shades(colours: Colours, sign: int) -> tuple[Floats, Floats]:
    """Return the levels of one side of a scale, and the colours between and above them."""
    levels = np.linspace(colours.threshold, colours.highest * (1 + 1e-9), N_SHADES + 1)
    middles = np.append((levels[:-1] + levels[1:]) / 2, levels[-1])
    return levels, colours.paint(sign * middles) / 255


# ---- the cortex


def _draw_surface(shown: Map, width_mm: float) -> Any:
    from neurowhere.report.surface import view_pictures

    rows = 2 if width_mm < NARROW_MM else 1
    pictures = view_pictures(shown.image, shown.colours)
    columns = len(pictures) // rows
    edge = (width_mm - GAP_MM * (columns - 1)) / columns
    tall = edge * pictures[0][1].shape[0] / pictures[0][1].shape[1]
    figure = _new_figure(width_mm, FOOT_MM + rows * (tall + HEAD_MM))
    for number, (words, pixels) in enumerate(pictures):
        row, column = divmod(number, columns)
        bottom = FOOT_MM + (rows - 1 - row) * (tall + HEAD_MM)
        axes = _add_axes(figure, column * (edge + GAP_MM), bottom, edge, tall)
        axes.imshow(pixels, origin="lower", interpolation="antialiased")
        style = {"fontsize": FONT_POINTS, "color": INK, "transform": axes.transAxes}
        axes.text(0.5, 1.0, words, ha="center", va="bottom", **style)
    _draw_bar(figure, shown, width_mm)
    return figure


# ---- the colour bar


def _draw_bar(figure: Any, shown: Map, width_mm: float) -> None:
    """Draw the colours with their values, and the unit beside them."""
    colours = shown.colours
    width, height = min(BAR_MM[0], width_mm * 0.6), BAR_MM[1]
    left, bottom = (width_mm - width) / 2, FOOT_MM - height - 5
    axes = _add_axes(figure, left, bottom, width, height)
    edges = np.linspace(colours.lowest, colours.highest, 2 * N_SHADES + 1)
    painted = colours.paint((edges[:-1] + edges[1:]) / 2) / 255
    share = painted[:, 3:]
    solid = share * painted[:, :3] + (1 - share)  # on white
    if colours.lowest >= 0:
        solid[0] = solid[1]
    axes.bar(edges[:-1], 1, np.diff(edges), align="edge", color=solid, linewidth=0)
    axes.set_xlim(colours.lowest, colours.highest)
    axes.set_ylim(0, 1)
    style = {"fontsize": FONT_POINTS, "color": INK, "ha": "center", "va": "top"}
    for value, words in _few(colours).items():
        axes.text(value, -0.3, words, **style)
    above = {"fontsize": FONT_POINTS, "color": INK, "transform": axes.transAxes}
    axes.text(0.5, 1.2, shown.unit, ha="center", va="bottom", **above)


def _few(colours: Colours) -> dict[float, str]:
    """Return the ticks that fit: both ends, ×1, and others far from these."""
    span = colours.highest - colours.lowest or 1.0
    kept: dict[float, str] = {}
    ends = (colours.lowest, colours.highest, *((0.0,) if colours.lowest < 0 else ()))
    for value in (*ends, *colours.ticks):
        words = colours.ticks.get(value)
        if words and all(abs(value - other) > span / TICKS for other in kept if other != value):
            kept[value] = words
    return kept
