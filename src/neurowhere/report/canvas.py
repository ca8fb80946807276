"""A picture to which images, lines, words and a colour bar are added.

Places are in mm from its lower left corner. Pillow draws it five times as fast as matplotlib, which
also takes half a second to import.
"""

import logging
import math
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

DPI = 120
FIGURE_DPI = 150  # for figures of matplotlib
WIDTH_PIXELS = 1560
FONT = "mpl-data/fonts/ttf/DejaVuSans.ttf"  # within matplotlib
SMALL, MEDIUM, LARGE = 9.0, 10.0, 12.0  # sizes of letters, in points
INK = "#1d2733"
FINER = 3  # lines are drawn so many times as large: Pillow's have no smooth edges
N_COLOURS = 256
NOT_DRAWN = (158, 158, 158, 255)  # colour in the bar of values that get none
BAR_WIDTH_MM, TICK_GAP_MM, UNIT_MM = 9.0, 4.0, 14.0  # the last from the bar to its unit
LEAST_BETWEEN_TICKS = 0.08  # share of the bar's height
MOST_ROUND_TICKS = 5
RATIOS = (1.5, 2, 3, 5, 10, 20, 50, 100)
FADE = 0.15  # share of the colours, next to the threshold, that fade in
LEAST_FIXED = 1e-3  # numbers of a smaller span are written with an exponent
LABEL_MM = 4.0  # gap between the edge of a panel and its words

# Anchors of ColorBrewer's palettes (colorbrewer2.org), which matplotlib has by the same names.
PALETTES = {
    "YlOrRd": "ffffcc ffeda0 fed976 feb24c fd8d3c fc4e2a e31a1c bd0026 800026",
    "Greys": "ffffff f0f0f0 d9d9d9 bdbdbd 969696 737373 525252 252525 000000",
    "RdBu_r": "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
}

Extent = tuple[float, float, float, float]  # left, right, bottom and top in mm
Stroke = tuple[NDArray[np.floating], str, float]  # points (n, 2) in mm, colour, width in points


class Canvas:
    """A white picture, whose size is given in mm of the brain."""

    def __init__(self, width_mm: float, height_mm: float) -> None:
        self.scale = WIDTH_PIXELS / width_mm
        self.height = round(height_mm * self.scale)
        self.picture = Image.new("RGB", (WIDTH_PIXELS, self.height), "white")
        self._pen = ImageDraw.Draw(self.picture)

    def add_picture(self, extent: Extent, pixels: NDArray[np.uint8]) -> None:
        """Place a picture, whose rows are from below: (n_up, n_right, 3 or 4)."""
        left, top, right, bottom = self._box(extent)
        image = Image.fromarray(np.ascontiguousarray(pixels[::-1]))
        image = image.resize(
            (right - left, bottom - top), Image.Resampling.BILINEAR, reducing_gap=None
        )
        self.picture.paste(image, (left, top), image if image.mode == "RGBA" else None)

    def add_line(self, points_mm: Sequence[tuple[float, float]], colour: str) -> None:
        """Draw a thin line, upright or level."""
        self._pen.line([self._pixel(*point) for point in points_mm], fill=colour, width=1)

    def add_strokes(self, extent: Extent, drawing: Image.Image) -> None:
        """Place what `strokes` drew."""
        left, top, _, _ = self._box(extent)
        self.picture.paste(drawing, (left, top), drawing)

    def strokes(self, extent: Extent, lines: Sequence[Stroke], opacity: float) -> Image.Image:
        """Draw lines with smooth edges, transparent where there are none.

        The points count from the left and the bottom of the extent, in mm.
        """
        left, top, right, bottom = self._box(extent)
        size = (right - left, bottom - top)
        large = Image.new("RGBA", (size[0] * FINER, size[1] * FINER), (255, 255, 255, 0))
        pen = ImageDraw.Draw(large)
        for points, colour, width in lines:
            pixels = points * (self.scale * FINER)
            pixels[:, 1] = large.height - pixels[:, 1]
            thick = max(round(width * DPI / 72 * FINER), 1)
            pen.line(list(map(tuple, pixels.tolist())), colour, thick, joint="curve")
        small = large.reduce(FINER)
        small.putalpha(small.getchannel("A").point(lambda value: value * opacity))
        return small

    def add_frame(self, extent: Extent) -> None:
        """Draw a thin frame."""
        self._pen.rectangle(self._box(extent), outline=INK, width=1)

    def write(
        self, x: float, y: float, words: str, *, size: float = MEDIUM, anchor: str = "ls"
    ) -> None:
        """Write words at a place; `anchor` is Pillow's, two letters for across and up."""
        self._pen.text(self._pixel(x, y), words, fill=INK, font=_font(size), anchor=anchor)

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        return round(x * self.scale), self.height - round(y * self.scale)

    def _box(self, extent: Extent) -> tuple[int, int, int, int]:
        left, right, bottom, top = extent
        return *self._pixel(left, top), *self._pixel(right, bottom)


@cache
def _font(size: float) -> Any:
    """Return matplotlib's font, or Pillow's own where that is missing."""
    pixels = size * DPI / 72
    found = find_spec("matplotlib")
    file = Path(found.origin).parent / FONT if found and found.origin else None
    if file is None or not file.exists():
        return ImageFont.load_default(pixels)
    return ImageFont.truetype(file, pixels, layout_engine=ImageFont.Layout.BASIC)


class Colours(NamedTuple):
    """How the values of a map are coloured."""

    palette: str
    lowest: float
    highest: float
    threshold: float  # values nearer to zero are not drawn, and those just beyond it faintly
    is_ratio: bool = False  # values are logarithms of ratios, which are written
    is_open: bool = False  # values beyond the ends have the colours of the ends

    def paint(self, values: NDArray[np.floating]) -> NDArray[np.uint8]:
        """Return the colours of values, transparent where they are not drawn: (..., 4)."""
        span = (self.highest - self.lowest) or 1.0
        steps = (values - self.lowest) * (N_COLOURS / span)
        painted = palette(self.palette)[steps.clip(0, N_COLOURS - 1).astype(np.uint8)]
        beyond = np.abs(values) - self.threshold
        fade = FADE * (self.highest - self.threshold)
        share = beyond / fade if fade > 0 else np.ones_like(beyond)
        painted[..., 3] = np.where(beyond > 0, 255 * share.clip(0, 1), 0)
        return painted

    @property
    def ticks(self) -> dict[float, str]:
        """Values to mark at the bar, as they are written: ends, thresholds and round numbers.

        >>> list(Colours("YlOrRd", 4.55, 47.7, 4.55).ticks.values())
        ['5', '10', '20', '30', '40', '48']
        >>> list(Colours("RdBu_r", -2.73, 2.73, 0.68).ticks.values())
        ['−2.7', '−2.0', '−0.7', '0.0', '0.7', '2.0', '2.7']
        >>> colours = Colours("RdBu_r", -1.6, 1.6, 0.5, is_ratio=True, is_open=True)
        >>> list(colours.ticks.values())
        ['≤ ×0.2', '×0.33', '×0.61', '×1', '×1.6', '×3', '≥ ×5']
        """
        words = self._ratios() if self.is_ratio else self._numbers()
        if self.is_open:
            words[self.highest] = f"≥ {words[self.highest]}"
            if self.is_ratio:
                words[self.lowest] = f"≤ {words[self.lowest]}"
        return words

    def _ratios(self) -> dict[float, str]:
        ratios = [sign * math.log(ratio) for ratio in RATIOS for sign in (1, -1)]
        marks = self._apart([self.lowest, self.highest, 0.0], [*self._thresholds, *ratios])
        return {mark: _times(mark) for mark in marks}

    def _numbers(self) -> dict[float, str]:
        span = (self.highest - self.lowest) or 1.0
        size = 10.0 ** math.floor(math.log10(span / MOST_ROUND_TICKS))
        step = next(size * n for n in (1, 2, 5, 10) if span / (size * n) <= MOST_ROUND_TICKS)
        round_ones = step * np.arange(np.ceil(self.lowest / step), self.highest / step)
        has_gap = self.lowest < 0 and self.threshold > LEAST_BETWEEN_TICKS * span
        others = [*(self._thresholds if has_gap else ()), *round_ones.tolist()]
        form = f".{max(1 - math.floor(math.log10(span)), 0)}f" if span > LEAST_FIXED else ".2g"
        marks = self._apart([self.lowest, self.highest], others)
        return {mark: f"{mark:{form}}".replace("-", "−") for mark in marks}

    @property
    def _thresholds(self) -> tuple[float, float]:
        return self.threshold, -self.threshold

    def _apart(self, marks: list[float], others: list[float]) -> list[float]:
        """Add the values within the ends that are not too near to one that is marked already."""
        apart = LEAST_BETWEEN_TICKS * ((self.highest - self.lowest) or 1.0)
        for value in others:
            is_within = self.lowest < value < self.highest
            if is_within and all(abs(value - mark) > apart for mark in marks):
                marks.append(value)
        return sorted(marks)


def _times(logarithm: float) -> str:
    """Return a ratio as a factor, from its logarithm.

    >>> [_times(math.log(ratio)) for ratio in (0.2, 1, 2.5, 30)]
    ['×0.2', '×1', '×2.5', '×30']
    """
    ratio = math.exp(logarithm)
    return f"×{ratio:.0f}" if ratio >= 10 else f"×{ratio:.2g}"


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


def add_bar(canvas: Canvas, extent: Extent, colours: Colours, unit: str) -> None:
    """Draw the bar of the colours, with its unit above and values to its left."""
    left, right, bottom, top = extent
    painted = colours.paint(np.linspace(colours.lowest, colours.highest, N_COLOURS)[:, None])
    painted[painted[..., 3] == 0] = NOT_DRAWN
    if colours.lowest >= 0:
        painted[0] = painted[1]
    canvas.add_picture(extent, painted[..., :3])
    canvas.add_frame(extent)
    span = (colours.highest - colours.lowest) or 1.0
    for tick, words in colours.ticks.items():
        y = bottom + (top - bottom) * (tick - colours.lowest) / span
        canvas.write(left - TICK_GAP_MM, y, words, size=SMALL, anchor="rm")
    canvas.write(right, top + UNIT_MM, unit, anchor="rs")


def new_figure(
    inches: tuple[float, float],
    *,
    dpi: int = FIGURE_DPI,
    layout: Literal["constrained"] | None = "constrained",
) -> Any:
    """Return an empty white figure of matplotlib."""
    # When it is imported, matplotlib may log that it finds no place for its cache, or that it is
    # looking for fonts. It then does without.
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        from matplotlib.figure import Figure
    finally:
        logger.setLevel(level)
    return Figure(figsize=inches, dpi=dpi, layout=layout, facecolor="white")
