"""Maps as pictures: slices through the strongest place, and the glass brain."""

import io
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import new_folder, write_info
from neurowhere.model.decoding import TermMap
from neurowhere.model.encoding import Encoding

__all__ = [
    "DENSITY_COLOURS",
    "DPI",
    "RATIO_UNIT",
    "SIGNED_COLOURS",
    "TITLE_COLOUR",
    "draw_encoding",
    "draw_map",
    "new_figure",
    "smooth",
    "strongest_place",
    "write_png",
    "write_term",
]

FIGURE_INCHES, DPI = (13.0, 6.2), 120
TOP_ROW, BOTTOM_ROW = (0.5, 0.43), (0.0, 0.43)  # bottom and height, in shares of the figure
SLICES_WIDTH, GLASS_WIDTH = 0.47, 0.52  # of a row
TITLE_PLACE, UNIT_PLACE = (0.01, 0.94), (0.995, 0.94)  # of a row, above it
SMOOTH_MM = 2.0  # larger voxels are interpolated before they are drawn
SLICES_MM = (-40.0, -24.0, -8.0, 8.0, 24.0, 40.0, 56.0)  # the same for all maps: they compare
SHOWN, SIGNED_SHOWN = 0.05, 0.1  # share of the voxels, the strongest ones, that get a colour
JUST_BELOW = 0.9  # of the maximum; nearer to it, no colour bar can be drawn
SIGNED_COLOURS, DENSITY_COLOURS = "RdBu_r", "YlOrRd"  # the latter pale where a density is low
TITLE_COLOUR, CROSS_COLOUR = "#1d2733", "#4c5866"
UNIFORM_UNIT, RATIO_UNIT = "× uniform", "log ratio"


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
    matplotlib.figure.Figure
        Not registered with pyplot: it draws without a screen and needs no closing.
    """
    from nilearn.plotting import plot_stat_map

    figure = new_figure(FIGURE_INCHES)
    fine = smooth(img)
    options = _options(fine, signed)
    _draw_row(figure, TOP_ROW, fine, strongest_place(img), title, unit, options)
    bottom, height = BOTTOM_ROW
    plot_stat_map(
        fine,
        figure=figure,
        axes=(0, bottom, 1, height),
        display_mode="z",
        cut_coords=_slices(img),
        colorbar=False,
        **options,
    )
    return figure


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
    matplotlib.figure.Figure
        As of `draw_map`.
    """
    figure = new_figure(FIGURE_INCHES)
    relative = encoding.density * encoding.brain.total_volume_mm3
    density = encoding.partition.to_img(relative)
    place = strongest_place(density)
    against = "Against the mean map of all studies"
    for row, img, signed, words, unit in (
        (TOP_ROW, density, False, f"Density: {title}" if title else "Density", UNIFORM_UNIT),
        (BOTTOM_ROW, encoding.log_ratio_img, True, against, RATIO_UNIT),
    ):
        fine = smooth(img)
        _draw_row(figure, row, fine, place, words, unit, _options(fine, signed))
    return figure


def new_figure(inches: tuple[float, float]) -> Any:
    """Return a new figure that is not registered with pyplot."""
    from matplotlib.figure import Figure

    return Figure(figsize=inches, dpi=DPI, facecolor="white")


def _options(img: Any, signed: bool) -> dict[str, Any]:
    """Return how a map is coloured, whatever it is drawn on."""
    data = np.asarray(img.dataobj)
    threshold = _threshold(np.abs(data), SIGNED_SHOWN) if signed else _threshold(data, SHOWN)
    options = {"threshold": threshold, "black_bg": False, "symmetric_cbar": signed}
    if signed:
        return options | {"cmap": SIGNED_COLOURS, "cbar_tick_format": "%.2g"}
    return options | {
        "cmap": DENSITY_COLOURS,
        "vmin": threshold,
        "vmax": float(data.max()),
        "cbar_tick_format": "%.3g",
    }


def _draw_row(
    figure: Any,
    row: tuple[float, float],
    img: Any,
    place: tuple[float, float, float],
    title: str,
    unit: str,
    options: dict[str, Any],
) -> None:
    """Draw orthogonal slices at a place, and the glass brain with the colour bar."""
    from nilearn.plotting import plot_glass_brain, plot_stat_map

    bottom, height = row
    slices = plot_stat_map(
        img,
        figure=figure,
        axes=(0, bottom, SLICES_WIDTH, height),
        cut_coords=place,
        colorbar=False,
        draw_cross=False,
        **options,
    )
    slices.draw_cross(color=CROSS_COLOUR, linewidth=0.8)
    plot_glass_brain(
        img,
        figure=figure,
        axes=(1 - GLASS_WIDTH, bottom, GLASS_WIDTH, height),
        colorbar=True,
        plot_abs=False,
        **options,
    )
    for (x, y), text, align in ((TITLE_PLACE, title, "left"), (UNIT_PLACE, unit, "right")):
        top = bottom + y / 2  # a row is half of the figure
        figure.text(x, top, text, ha=align, va="center", color=TITLE_COLOUR, fontsize="large")


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


def write_png(figure: Any, path: str | os.PathLike[str] | io.BytesIO) -> None:
    """Write a figure as PNG; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : path or stream
    """
    figure.savefig(path, format="png", metadata={"Software": None})
