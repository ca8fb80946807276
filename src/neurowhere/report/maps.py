"""Maps as pictures: slices through the strongest place and the glass brain."""

import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import new_folder, write_info
from neurowhere.model.encoding import Encoding
from neurowhere.model.term_maps import TermMap
from neurowhere.report.canvas import DPI, INK, LARGE, Canvas
from neurowhere.report.panels import (
    BAR_WIDTH_MM,
    Colours,
    Panel,
    add_bar,
    add_cross,
    add_glass,
    add_slice,
)
from neurowhere.report.sampling import SMOOTH_MM, Volume, volume_of

__all__ = [
    "DENSITY_COLOURS",
    "DPI",
    "RATIO_UNIT",
    "SIGNED_COLOURS",
    "TITLE_COLOUR",
    "draw_encoding",
    "draw_map",
    "smooth",
    "strongest_place",
    "write_png",
    "write_term",
]

ROW_MM, TITLE_MM, MARGIN_MM = 189.0, 30.0, 6.0  # height of panels and of their title
TITLE_FOOT_MM, BAR_FOOT_MM = 10.0, 5.0
GAP_MM, MIDDLE_MM, BAR_MM = 4.0, 16.0, 66.0  # between panels, between their kinds, for the bar
SLICES_MM = (-40.0, -24.0, -8.0, 8.0, 24.0, 40.0, 56.0)  # the same for all maps: they compare
SHOWN, SIGNED_SHOWN = 0.05, 0.1  # share of the voxels, the strongest ones, that get a colour
JUST_BELOW = 0.9  # of the maximum; nearer to it, no colour bar can be drawn
SIGNED_COLOURS, DENSITY_COLOURS = "RdBu_r", "YlOrRd"  # the latter pale where a density is low
TITLE_COLOUR = INK
UNIFORM_UNIT, RATIO_UNIT = "× uniform", "log ratio"
COMPRESSION = 4  # of PNG, of 9: a tenth larger than by default, in half of the time

VIEWS_MM = sum(Panel(axis, 0, 0).width for axis in range(3)) + 2 * GAP_MM
CANVAS_MM = 2 * VIEWS_MM + MIDDLE_MM + BAR_MM + 2 * MARGIN_MM


def write_term(
    term: TermMap,
    folder: str | os.PathLike[str],
    *,
    resolution_mm: float | None = None,
    like: Any = None,
    overwrite: bool = False,
) -> None:
    """Write the map of a term as an image and as a picture; whole or not at all.

    Parameters
    ----------
    term : TermMap
    folder : path
    resolution_mm, like
        Grid of the image, as in `Partition.to_img`.
    overwrite : bool
        Whether to replace a folder that exists.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        image = term.to_img(resolution_mm=resolution_mm, like=like)
        image.to_filename(temporary / "map.nii.gz")
        unit = RATIO_UNIT if term.unit == "log probability" else "mm⁻³"
        figure = draw_map(term.img, signed=True, title=term.title, unit=unit)
        write_png(figure, temporary / "map.png")
        about = {"name": term.name, "term": term.term, "side": term.side, "method": term.method}
        write_info(temporary, {"kind": "term map", **about})


def draw_map(img: Any, *, signed: bool = False, title: str = "", unit: str = "") -> Any:
    """Draw slices through the strongest place, the glass brain, and a row of axial slices.

    Parameters
    ----------
    img : NIfTI image
    signed : bool
        Whether the sign matters (coefficients, log ratios), or values are densities.
    title : str
    unit : str
        Of the values, written at the colour bar.

    Returns
    -------
    PIL.Image.Image
    """
    canvas = _new_canvas()
    volume = volume_of(img)
    colours = _colours(volume.data, signed)
    _draw_row(canvas, 1, volume, colours, strongest_place(img), title, unit)
    left = MARGIN_MM
    for z in _slices(img):
        panel = Panel(2, left, MARGIN_MM)
        add_slice(canvas, panel, volume, z, colours)
        left += panel.width + GAP_MM
    return canvas.picture


def draw_encoding(encoding: Encoding, title: str = "") -> Any:
    """Draw the density of an encoding, and its log ratio to the mean map: slices and glass brain.

    Both are cut at the place of the highest density.

    Parameters
    ----------
    encoding : Encoding
    title : str
        Of the density.

    Returns
    -------
    PIL.Image.Image
    """
    relative = encoding.density * encoding.brain.total_volume_mm3
    density = encoding.partition.to_img(relative)
    place = strongest_place(density)
    against = "Against the mean map of all studies"
    canvas = _new_canvas()
    for row, img, signed, words, unit in (
        (1, density, False, f"Density: {title}" if title else "Density", UNIFORM_UNIT),
        (0, encoding.log_ratio_img, True, against, RATIO_UNIT),
    ):
        volume = volume_of(img)
        _draw_row(canvas, row, volume, _colours(volume.data, signed), place, words, unit)
    return canvas.picture


def _new_canvas() -> Canvas:
    """Return a canvas for two rows of panels."""
    return Canvas(CANVAS_MM, 2 * (ROW_MM + TITLE_MM) + MARGIN_MM)


def _colours(data: NDArray[Any], signed: bool) -> Colours:
    """Return how a map is coloured, whatever it is drawn on."""
    if not signed:
        threshold = _threshold(data, SHOWN)
        return Colours(DENSITY_COLOURS, threshold, max(float(data.max()), threshold), threshold)
    absolute = np.abs(data)
    highest = float(absolute.max())
    return Colours(SIGNED_COLOURS, -highest, highest, _threshold(absolute, SIGNED_SHOWN))


def _draw_row(
    canvas: Canvas,
    row: int,
    volume: Volume,
    colours: Colours,
    place: tuple[float, float, float],
    title: str,
    unit: str,
) -> None:
    """Draw orthogonal slices at a place, and the glass brain with the colour bar."""
    bottom = MARGIN_MM + row * (ROW_MM + TITLE_MM)
    left = MARGIN_MM
    for axis in range(3):
        slices = Panel(axis, left, bottom + (ROW_MM - Panel(axis, 0, 0).height) / 2)
        add_slice(canvas, slices, volume, place[axis], colours)
        add_cross(canvas, slices, place)
        glass = slices._replace(left=left + VIEWS_MM + MIDDLE_MM)
        add_glass(canvas, glass, volume, colours)
        left += slices.width + GAP_MM
    right = CANVAS_MM - MARGIN_MM
    bar = (right - BAR_WIDTH_MM, right, bottom + BAR_FOOT_MM, bottom + ROW_MM - 3 * BAR_FOOT_MM)
    add_bar(canvas, bar, colours, unit, digits=2 if colours.lowest < 0 else 3)
    canvas.write(MARGIN_MM, bottom + ROW_MM + TITLE_FOOT_MM, title, size=LARGE)


def strongest_place(img: Any) -> tuple[float, float, float]:
    """Return the centre of the highest voxel.

    Parameters
    ----------
    img : NIfTI image

    Returns
    -------
    (x, y, z) in mm
    """
    data = np.asarray(img.dataobj)
    voxel = np.unravel_index(int(np.argmax(data)), data.shape)
    x, y, z = (img.affine @ [*voxel, 1])[:3].tolist()
    return x, y, z


def _slices(img: Any) -> list[float]:
    """Return heights of axial slices in mm: those within the image, or its strongest place."""
    corners = np.array(list(np.ndindex(2, 2, 2))) * (np.array(img.shape[:3]) - 1)
    heights = corners @ img.affine[2, :3] + img.affine[2, 3]
    reached = [z for z in SLICES_MM if heights.min() <= z <= heights.max()]
    return reached or [strongest_place(img)[2]]


def _threshold(data: NDArray[np.floating], share: float) -> float:
    """Return the value that a share of the voxels exceeds; of a few large regions, at least one."""
    values = data[data != 0]
    if not values.size:
        return 0.0
    return max(min(float(np.quantile(values, 1 - share)), JUST_BELOW * float(values.max())), 0.0)


def smooth(img: Any) -> Any:
    """Interpolate an image of large voxels, for the eye; the strongest place stays.

    Parameters
    ----------
    img : NIfTI image

    Returns
    -------
    NIfTI image
    """
    from nilearn.image import resample_img

    if min(img.header.get_zooms()[:3]) <= SMOOTH_MM:
        return img
    return resample_img(img, np.eye(3) * SMOOTH_MM, interpolation="linear")


def write_png(picture: Any, path: str | os.PathLike[str] | io.BytesIO) -> None:
    """Write a picture as PNG; the same picture gives the same bytes.

    Parameters
    ----------
    picture : PIL.Image.Image or matplotlib.figure.Figure
    path : path or stream
    """
    if hasattr(picture, "savefig"):
        picture.savefig(path, format="png", metadata={"Software": None})
    else:
        picture.save(path, format="png", compress_level=COMPRESSION, dpi=(DPI, DPI))
