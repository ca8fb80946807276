"""Slices: three sections through the brain as one picture, in milliseconds, without a plotter.

::

    +------------+----------+
    |  sagittal  | coronal  |     1 mm a pixel; left is left. Outside of the brain the picture
    +----------+-+----------+     is transparent, so that it fits any page.
    |  axial   |
    +----------+
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Pixels = NDArray[np.uint8]  # (height, width, 4): red, green, blue, opacity

# Anchors of the colour maps at equal distances; the page gives the same ones to NiiVue.
COLOUR_MAPS: dict[str, list[tuple[int, int, int]]] = {
    "ember": [(60, 9, 60), (150, 24, 70), (225, 70, 48), (250, 150, 40), (255, 240, 150)],
    "ice": [(10, 24, 80), (20, 80, 170), (40, 150, 215), (120, 215, 235), (225, 250, 255)],
    "viridis": [(68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37)],
}
NEGATIVE = "ice"  # of what lies below zero
BRIGHTEST_GREY = 0.85  # of the template, so that colours stand out
OPAQUE = 255

Colours = Literal["ember", "ice", "viridis"]


@dataclass(frozen=True)
class Look:
    """How values become colours.

    Attributes
    ----------
    low, high : float
        Magnitudes that get the first and the last colour; what is below the first gets none.
    colours : str
        Of what is above zero.
    opacity : float
    """

    low: float
    high: float
    colours: Colours = "ember"
    opacity: float = 0.9

    def paint(self, values: Floats, grey: Floats) -> Pixels:
        """Colour values over the greys of a template."""
        magnitude = np.abs(values)
        share = np.clip((magnitude - self.low) / ((self.high - self.low) or 1), 0, 1)
        colour = np.where(
            values[..., None] < 0, lookup(NEGATIVE, share), lookup(self.colours, share)
        )  # (a, b, 3)
        shown = self.opacity * ((magnitude >= self.low) & (magnitude > 0))[..., None]
        mixed = shown * colour + (1 - shown) * BRIGHTEST_GREY * grey[..., None]
        inside = np.where((grey > 0) | (shown[..., 0] > 0), OPAQUE, 0)
        return np.dstack([mixed, inside]).astype(np.uint8)


def draw_slices(img: Any, template: Any, at_mm: tuple[float, float, float], look: Look) -> bytes:
    """Draw a map over a template, cut through a point, as PNG.

    Parameters
    ----------
    img : NIfTI image
        Map; between its voxels values are interpolated.
    template : NIfTI image
        In whole numbers up to 255, with axes along those of the brain.
    at_mm : (x, y, z)
        Where the sections meet.
    look : Look
    """
    panels = [
        look.paint(values, grey).swapaxes(0, 1)[::-1]  # the top of the head, or its front, is up
        for values, grey in _sections(img, template, at_mm)
    ]
    return to_png(_arrange(panels))


def _sections(
    img: Any, template: Any, at_mm: tuple[float, float, float]
) -> Iterator[tuple[Floats, Floats]]:
    """Values of the map, and greys of the template, in the planes through a point."""
    from scipy.ndimage import map_coordinates

    map_values = np.asarray(img.dataobj, dtype=np.float32)
    brain = np.asarray(template.dataobj)
    to_map = np.linalg.inv(img.affine) @ template.affine  # from voxels of the template
    cut = np.rint(np.linalg.inv(template.affine) @ [*at_mm, 1])[:3]
    for axis, place in enumerate(np.clip(cut, 0, np.array(brain.shape) - 1).astype(int)):
        grey = np.take(brain, place, axis)  # (a, b)
        voxels = np.insert(np.indices(grey.shape).reshape(2, -1), axis, place, axis=0)  # (3, ab)
        places = to_map[:3, :3] @ voxels + to_map[:3, 3:]
        yield map_coordinates(map_values, places, order=1).reshape(grey.shape), grey


def lookup(name: str, share: Floats) -> Floats:
    """Colour of each number between 0 and 1: red, green, blue up to 255.

    >>> lookup("ember", np.array([0.0, 1.0])).astype(int).tolist()
    [[60, 9, 60], [255, 240, 150]]
    """
    anchors = np.array(COLOUR_MAPS[name], dtype=np.float32)
    places = np.linspace(0, 1, len(anchors))
    return np.stack([np.interp(share, places, channel) for channel in anchors.T], axis=-1)


def _arrange(panels: list[Pixels]) -> Pixels:
    sagittal, coronal, axial = panels
    top = np.hstack([sagittal, coronal])
    bottom = np.zeros((axial.shape[0], top.shape[1], 4), np.uint8)
    bottom[:, : axial.shape[1]] = axial
    return np.vstack([top, bottom])


def to_png(pixels: Pixels) -> bytes:
    """Write pixels as PNG: a header, the compressed rows, an end.

    >>> to_png(np.zeros((2, 3, 4), np.uint8))[1:4]
    b'PNG'
    """
    height, width = pixels.shape[:2]
    rows = np.insert(pixels.reshape(height, -1), 0, 0, axis=1)  # each begins with: no filter
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)  # 8 bits, with opacity
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
