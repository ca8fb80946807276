"""Maps as pictures: slices through the strongest place, the glass brain, and the cortex."""

import io
import os
from typing import Any, NamedTuple

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
    "draw_surface",
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

MESH = "fsaverage5"
SURFACE_INCHES = (13.0, 2.6)
VIEW_WIDTH = 0.225  # of the figure
BAR_PLACE = (0.945, 0.2, 0.01, 0.6)
VIEWS = (("left", -1), ("left", 1), ("right", -1), ("right", 1))  # hemisphere, side of the eye
SHOWN_VERTICES = 0.15  # share of them, those that change most, that get a colour
GYRUS_GREY, SULCUS_GREY = 0.85, 0.65
LIGHT, SHADE = (0.35, -0.25, 0.9), 0.35  # from above, in front, and how much it darkens

Floats = NDArray[np.floating]


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


# ---- the cortex, seen from both sides of each hemisphere


class Hemisphere(NamedTuple):
    """One half of the cortex."""

    vertices: Floats  # (n, 3) of the inflated surface
    faces: NDArray[np.integer]  # (n_faces, 3)
    depth: Floats  # (n,), positive in a sulcus
    values: Floats  # (n,) of the map


def draw_surface(img: Any, unit: str = "") -> Any:
    """Draw a signed map on the inflated cortex: outside and inside of both hemispheres.

    Values are sampled by nilearn on the fsaverage5 surface that it carries; no network is needed.
    The faces are drawn here, as flat polygons from the farthest to the nearest: 3-D axes take ten
    times as long.

    Parameters
    ----------
    img : NIfTI image
    unit : str
        Of the values, written at the colour bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(SURFACE_INCHES)
    halves = sample(img)
    absolute = np.abs(np.concatenate([half.values for half in halves.values()]))
    highest = float(absolute.max()) or 1.0
    threshold = float(np.quantile(absolute, 1 - SHOWN_VERTICES))
    for column, (name, side) in enumerate(VIEWS):
        axes = figure.add_axes((0.01 + column * (VIEW_WIDTH + 0.005), 0.08, VIEW_WIDTH, 0.92))
        axes.add_collection(_polygons(halves[name], side, threshold, highest))
        axes.set_aspect("equal")
        axes.autoscale_view()
        axes.set_axis_off()
        seen = "lateral" if (side < 0) == (name == "left") else "medial"
        axes.set_title(f"{name}, {seen}", y=-0.03, va="top", color=TITLE_COLOUR, fontsize="medium")
    _draw_bar(figure, highest, unit)
    return figure


def sample(img: Any) -> dict[str, Hemisphere]:
    """Return the values of an image on both hemispheres, averaged around each vertex.

    Parameters
    ----------
    img : NIfTI image

    Returns
    -------
    dict of str to Hemisphere
        "left" and "right".
    """
    from nilearn.datasets import load_fsaverage, load_fsaverage_data
    from nilearn.surface import SurfaceImage

    mesh = load_fsaverage(MESH)
    values = SurfaceImage.from_volume(mesh["pial"], img, inner_mesh=mesh["white_matter"])
    depth = load_fsaverage_data(mesh=MESH, data_type="sulcal")
    return {
        name: Hemisphere(
            vertices=part.coordinates,
            faces=part.faces,
            depth=depth.data.parts[name],
            values=np.nan_to_num(values.data.parts[name]),
        )
        for name, part in mesh["inflated"].parts.items()
    }


def _polygons(half: Hemisphere, side: int, threshold: float, highest: float) -> Any:
    """Return the faces that the eye sees from a side of the x axis, the nearest last."""
    from matplotlib.collections import PolyCollection

    corners = half.vertices[half.faces]  # (n_faces, 3 corners, 3)
    normals = face_normals(corners)
    seen = np.flatnonzero(normals[:, 0] * side > 0)
    seen = seen[np.argsort(corners[seen, :, 0].mean(axis=1) * side)]
    flat = corners[seen][:, :, 1:] * (side, 1)  # (n_seen, 3, 2): y to the right seen from x > 0
    light = np.array(LIGHT) * (side, 1, 1)
    shade = 1 - SHADE * (1 - np.clip(normals[seen] @ light / np.linalg.norm(light), 0, 1))
    faces = half.faces[seen]
    depth, values = half.depth[faces].mean(axis=1), half.values[faces].mean(axis=1)
    colours = _colours(depth, values, threshold, highest)
    colours[:, :3] *= shade[:, None]
    return PolyCollection(flat, facecolors=colours, edgecolors=colours, linewidths=0.3)


def face_normals(corners: Floats) -> Floats:
    """Compute the unit normals of triangles.

    >>> face_normals(np.array([[[0.0, 0, 0], [2, 0, 0], [0, 2, 0]]]))
    array([[0., 0., 1.]])
    """
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    scaled: Floats = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return scaled


def _colours(depth: Floats, values: Floats, threshold: float, highest: float) -> Floats:
    """Return the colours of the map above the threshold, elsewhere grey by the sulcal depth."""
    from matplotlib import colormaps

    grey = np.where(depth > 0, SULCUS_GREY, GYRUS_GREY)
    plain = np.stack([grey, grey, grey, np.ones_like(grey)], axis=1)
    painted = colormaps[SIGNED_COLOURS](0.5 + values / highest / 2)
    colours: Floats = np.where((np.abs(values) > threshold)[:, None], painted, plain)
    return colours


def _draw_bar(figure: Any, highest: float, unit: str) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = figure.colorbar(
        ScalarMappable(Normalize(-highest, highest), SIGNED_COLOURS), cax=figure.add_axes(BAR_PLACE)
    )
    bar.outline.set_visible(False)
    bar.ax.set_title(unit, fontsize="medium", color=TITLE_COLOUR)
