"""A picture to which images, lines and words are added, in mm from its lower left corner.

Pillow draws what matplotlib, which takes half a second to import, draws in five times the time.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

__all__ = ["DPI", "INK", "LARGE", "MEDIUM", "SMALL", "Canvas"]

DPI = 120
WIDTH_PIXELS = 1560
FONT = "mpl-data/fonts/ttf/DejaVuSans.ttf"  # within matplotlib
SMALL, MEDIUM, LARGE = 9.0, 10.0, 12.0  # of letters, in points
INK = "#1d2733"
FINER = 3  # lines are drawn so many times as large: Pillow's have no smooth edges

Extent = tuple[float, float, float, float]  # left, right, bottom and top in mm
Stroke = tuple[NDArray[np.floating], str, float]  # points (n, 2) in mm, colour, width in points


class Canvas:
    """A white picture.

    Parameters
    ----------
    width_mm, height_mm : float
        Its size in mm of the brain.
    """

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

        Parameters
        ----------
        extent : (left, right, bottom, top)
            Of the drawing in mm, whose left and bottom the points count from.
        lines : sequence of (points, colour, width)
        opacity : float

        Returns
        -------
        PIL.Image.Image
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
