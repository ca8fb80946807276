"""Figures for papers: a map on white, without title or crosshair, at the width of a column.

Slices are drawn as contours, so that SVG and PDF hold shapes and letters and no pixels; the cortex
is a picture of 300 dots per inch in either.
"""

import io
import math
import re
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import OutputError
from neurowhere.model.algebra import subtract
from neurowhere.model.encoding import Encoding
from neurowhere.model.methods import MethodsText, write_methods
from neurowhere.report.canvas import INK, Colours, new_figure
from neurowhere.report.maps import DENSITY_UNIT, PERCENT_PER_CM3, RATIO_UNIT, colours_of
from neurowhere.report.panels import BOX_MM, Volume, cut, volume_of
from neurowhere.space.images import mni152_template

Layout = Literal["mosaic", "surface"]
Quantity = Literal["ratio", "density", "difference"]
Format = Literal["svg", "pdf", "png"]
FORMATS: tuple[Format, ...] = ("svg", "pdf", "png")

DPI = 300
MM_PER_INCH = 25.4
NARROWEST_MM, WIDEST_MM = 40.0, 400.0
HEIGHTS_MM = (-32.0, -20.0, -8.0, 4.0, 16.0, 28.0, 40.0, 52.0)  # z of the axial slices
NARROW_MM = 120.0  # a figure of less has its slices in two rows
FONT_POINTS = 7.0
LETTER_POINTS = 9.0  # size of the letters a and b
FOOT_MM, HEAD_MM, GAP_MM = 11.0, 3.5, 1.0  # for the colour bar, for letters, between slices
BETWEEN_MM = 2.0  # between two maps
BAR_MM = (55.0, 2.0)  # width and height of the colour bar, at most
GREY_LEVELS = (25, 70, 110, 145, 256)  # intensities of the template
GREYS = ("#9a9a9a", "#b4b4b4", "#cdcdcd", "#e4e4e4")
COARSE = 2  # every second pixel of 1 mm is enough for contours of the brain
N_SHADES = 12  # shades of a map
TICKS = 5
TENTHS = 10  # lines of SVG are rounded to tenths of a point (0.035 mm)
LINES = re.compile(rb' d="([^"CQ]*)"')
CORNER = re.compile(rb"[ML] (\S+ \S+)")
STRAIGHT = 0.8  # tenths of a point that a corner left out is from the line
DIFFERENCE_UNIT = "× the average: more in the second ← 1 → more in the first"

SHOWN_CAPTIONS: dict[Quantity, str] = {
    "ratio": "How many times as likely as in the average study a study with such a text reports "
    "peaks; the strongest tenth of the brain is coloured, warm is more and cold is less.",
    "density": "Share of the peaks per cm³ that a study with such a text reports; the strongest "
    "tenth of the brain is coloured.",
    "difference": "Where the first text points more than the second (warm) and less (cold); the "
    "strongest tenth of the brain is coloured.",
}
AVERAGE_CAPTION = "The text says nothing of where: density of the peaks of all studies."
LAYOUT_CAPTIONS: dict[Layout, str] = {
    "mosaic": "Axial slices, z in mm of MNI152 space; left is left.",
    "surface": "Inflated cortex (fsaverage5); what lies deep is not seen.",
}

Floats = NDArray[np.floating]


class Map(NamedTuple):
    """A map to draw, with its colours and unit; a letter tells two maps apart."""

    letter: str
    image: Any
    colours: Colours
    unit: str


def draw_figure(
    encoding: Encoding,
    other: Encoding | None = None,
    *,
    quantity: Quantity = "ratio",
    layout: Layout = "mosaic",
    width_mm: float = 174.0,
) -> Any:
    """Draw the map of a text, or those of two on one scale, for a paper.

    The quantity is the ratio to the average study, the share of the peaks per cm³, or the
    difference of the texts; the layout is axial slices, or the inflated cortex.
    """
    if not NARROWEST_MM <= width_mm <= WIDEST_MM:
        raise OutputError(
            f"expected a width from {NARROWEST_MM:g} to {WIDEST_MM:g} mm, got {width_mm:g}; "
            "a column has 85 mm and a page 174 mm"
        )
    if quantity == "difference" and other is None:
        raise OutputError("expected a second text for a difference, got one; choose the ratio")
    maps = _maps_of(encoding, other, quantity)
    return (_draw_mosaic if layout == "mosaic" else _draw_surface)(maps, width_mm)


def caption_of(encodings: Sequence[Encoding], **drawn: Any) -> str:
    """Write the caption of a figure of one or two encodings; options as for `write_caption`."""
    origin, kinds = encodings[0].source.origin(), {each.kind for each in encodings}
    kind = encodings[0].kind if len(kinds) == 1 else None
    methods = write_methods(origin, origin.get("reading", {}), kind)
    is_mean = all(each.is_mean_map for each in encodings)
    return write_caption(methods, n_texts=len(encodings), is_mean_map=is_mean, **drawn)


def write_caption(
    methods: MethodsText,
    *,
    quantity: Quantity = "ratio",
    layout: Layout = "mosaic",
    n_texts: int = 1,
    is_mean_map: bool = False,
) -> str:
    """Write the caption of a figure: what it shows, how it came about, and what to cite."""
    shown = AVERAGE_CAPTION if is_mean_map else SHOWN_CAPTIONS[quantity]
    if n_texts > 1 and quantity != "difference":
        shown += " a, first text; b, second text, on one scale."
    return f"{shown} {LAYOUT_CAPTIONS[layout]} {methods.text}"


def figure_bytes(figure: Any, format: Format, caption: str = "") -> bytes:
    """Return a figure as a file; the same figure gives the same bytes.

    The caption is kept in the file's description.
    """
    from matplotlib import rc_context

    told: dict[str, dict[str, Any]] = {
        "svg": {"Date": None, "Description": caption},
        "pdf": {"CreationDate": None, "Subject": caption},
        "png": {"Software": None, "Description": caption},
    }
    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "neurowhere"}):
        figure.savefig(stream, format=format, dpi=DPI, metadata=told[format])
    content = stream.getvalue()
    return LINES.sub(_shortened, content) if format == "svg" else content


def _shortened(match: re.Match[bytes]) -> bytes:
    """Write the lines of a path as steps in tenths of a point, a fifth of the bytes."""
    words: list[str] = []
    for part in re.split(rb"(?=M)", match[1]):
        corners = np.array([pair.split() for pair in CORNER.findall(part)], float)
        if not len(corners):
            continue
        first, *others = _corners(np.rint(TENTHS * corners).astype(int).tolist())
        words.append(f"M{first[0] / TENTHS:g} {first[1] / TENTHS:g}")
        for (x, y), (p, q) in pairwise([first, *others]):
            words.append(f"l{(p - x) / TENTHS:g} {(q - y) / TENTHS:g}")
        words.append("z" * (b"z" in part))
    path = re.sub(r"(?<!\d)0\.| (?=-)", lambda found: found[0].strip(" 0"), "".join(words))
    return b' d="' + path.encode() + b'"'


def _corners(points: list[list[int]]) -> list[list[int]]:
    """Drop the points of a line that lie on its straight parts."""
    kept, passed = points[:1], list[list[int]]()
    for point, following in pairwise(points[1:]):
        passed.append(point)
        if any(_distance(each, kept[-1], following) > STRAIGHT for each in passed):
            kept.append(point)
            passed.clear()
    return [*kept, points[-1]] if points[1:] else kept


def _distance(point: list[int], start: list[int], end: list[int]) -> float:
    """Return how far a point is from the line between two others."""
    (x, y), (a, b) = start, end
    along, up = a - x, b - y
    share = ((point[0] - x) * along + (point[1] - y) * up) / (along**2 + up**2 or 1)
    share = min(max(share, 0.0), 1.0)
    return math.hypot(point[0] - x - share * along, point[1] - y - share * up)


def _maps_of(encoding: Encoding, other: Encoding | None, quantity: Quantity) -> list[Map]:
    """Return the maps to draw, all with the same colours."""
    both = [encoding] if other is None else [encoding, other]
    is_mean = all(map(attrgetter("is_mean_map"), both))
    if quantity == "ratio" and is_mean:
        quantity = "density"
    unit = {"difference": DIFFERENCE_UNIT, "ratio": RATIO_UNIT, "density": DENSITY_UNIT}[quantity]
    shown = [subtract(*both)] if quantity == "difference" else both
    images = [_image(each, quantity) for each in shown]
    values = np.stack([np.asarray(image.dataobj) for image in images])
    colours = colours_of(values, signed=quantity != "density")
    if is_mean:
        colours = colours._replace(palette="Greys")
    letters = "ab" if len(images) > 1 else [""]
    return [Map(*each, colours, unit) for each in zip(letters, images, strict=True)]


def _image(encoding: Encoding, quantity: Quantity) -> Any:
    if quantity == "density":
        return encoding.partition.to_img(encoding.density * PERCENT_PER_CM3)
    return encoding.log_ratio_img


def _add_axes(figure: Any, left: float, bottom: float, width: float, height: float) -> Any:
    """Add axes without a frame, at a place in mm from the lower left corner."""
    whole = figure.get_size_inches() * MM_PER_INCH
    axes = figure.add_axes(
        (left / whole[0], bottom / whole[1], width / whole[0], height / whole[1])
    )
    axes.set_axis_off()
    return axes


def _arranged(
    maps: Sequence[Map], n: int, width_mm: float, shape: float
) -> tuple[Any, list[list[Any]]]:
    """Return a figure, and n axes for each map; `shape` is their height over their width."""
    rows = 2 if width_mm < NARROW_MM else 1
    columns = math.ceil(n / rows)
    edge = (width_mm - GAP_MM * (columns - 1)) / columns
    tall = edge * shape
    block = rows * (tall + HEAD_MM)
    size = (width_mm, FOOT_MM + len(maps) * (block + BETWEEN_MM) - BETWEEN_MM)
    figure = new_figure((size[0] / MM_PER_INCH, size[1] / MM_PER_INCH), dpi=DPI, layout=None)
    axes: list[list[Any]] = []
    for number, shown in enumerate(maps):
        foot = FOOT_MM + (len(maps) - 1 - number) * (block + BETWEEN_MM)
        places = (divmod(k, columns) for k in range(n))
        axes.append(
            [
                _add_axes(
                    figure,
                    column * (edge + GAP_MM),
                    foot + (rows - 1 - row) * (tall + HEAD_MM),
                    edge,
                    tall,
                )
                for row, column in places
            ]
        )
        _write(axes[-1][0], 0, 1.02, shown.letter, ha="left", weight="bold", size=LETTER_POINTS)
    _draw_bar(figure, maps[0], width_mm)
    return figure, axes


def _write(axes: Any, x: float, y: float, words: str, **style: Any) -> None:
    """Write words at a place in axes, whose corners are 0 and 1."""
    style = {"size": FONT_POINTS, "color": INK, "va": "bottom", "ha": "center"} | style
    axes.text(x, y, words, transform=axes.transAxes, **style)


# ---- slices


def _draw_mosaic(maps: Sequence[Map], width_mm: float) -> Any:
    (left, right), (back, front) = BOX_MM[0], BOX_MM[1]
    figure, axes = _arranged(maps, len(HEIGHTS_MM), width_mm, (front - back) / (right - left))
    for shown, mine in zip(maps, axes, strict=True):
        volume = volume_of(shown.image)
        for z, each in zip(HEIGHTS_MM, mine, strict=True):
            _draw_slice(each, volume, z, shown.colours)
            _write(each, 0.5, 1.0, f"z = {z:.0f}".replace("-", "−"))
            _write(each, 0.04, 0.9, "L", ha="left")
            _write(each, 0.96, 0.9, "R", ha="right")
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
    """Return the levels of one sign of a scale, and the colours between them."""
    levels = np.linspace(colours.threshold, colours.highest * (1 + 1e-9), N_SHADES + 1)
    middles = np.append((levels[:-1] + levels[1:]) / 2, levels[-1])
    return levels, colours.paint(sign * middles) / 255


# ---- the cortex


def _draw_surface(maps: Sequence[Map], width_mm: float) -> Any:
    from neurowhere.report.surface import sample, view_pictures

    pictures = [view_pictures(sample(shown.image), shown.colours) for shown in maps]
    tall, wide, _ = pictures[0][0][1].shape
    figure, axes = _arranged(maps, len(pictures[0]), width_mm, tall / wide)
    for views, mine in zip(pictures, axes, strict=True):
        for (words, pixels), each in zip(views, mine, strict=True):
            each.imshow(pixels, origin="lower", interpolation="antialiased")
            _write(each, 0.5, 1.0, words)
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
    _write(axes, 0.5, 1.2, shown.unit)


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
