"""Surface: a map on the cortex, seen from both sides of each hemisphere.

Values are sampled by nilearn on the fsaverage5 surface that it carries; no network is needed. The
faces are drawn here, as flat polygons from the farthest to the nearest: 3-D axes take ten times as
long.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.report.maps import SIGNED_COLOURS, TITLE_COLOUR, new_figure

__all__ = ["draw_surface"]

Floats = NDArray[np.floating]

MESH = "fsaverage5"
FIGURE_INCHES = (13.0, 2.6)
VIEW_WIDTH = 0.225  # of the figure
BAR_PLACE = (0.945, 0.2, 0.01, 0.6)
VIEWS = (("left", -1), ("left", 1), ("right", -1), ("right", 1))  # hemisphere, side of the eye
SHOWN = 0.15  # share of the vertices, those that change most, that get a colour
GYRUS_GREY, SULCUS_GREY = 0.85, 0.65
LIGHT, SHADE = (0.35, -0.25, 0.9), 0.35  # from above, in front, and how much it darkens


class Hemisphere(NamedTuple):
    """One half of the cortex."""

    vertices: Floats  # (n, 3) of the inflated surface
    faces: NDArray[np.integer]  # (n_faces, 3)
    depth: Floats  # (n,), positive in a sulcus
    values: Floats  # (n,) of the map


def draw_surface(img: Any, unit: str = "") -> Any:
    """Draw a signed map on the inflated cortex: outside and inside of both hemispheres.

    Parameters
    ----------
    img : NIfTI image
    unit : str
        Of the values, written at the colour bar.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(FIGURE_INCHES)
    halves = sample(img)
    absolute = np.abs(np.concatenate([half.values for half in halves.values()]))
    highest = float(absolute.max()) or 1.0
    threshold = float(np.quantile(absolute, 1 - SHOWN))
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
