"""The cortex as a picture: a map on the inflated surface, seen from both sides of each hemisphere.

Which face of the surface is under each pixel depends on the view alone. It is found once; a map
is then a weighted sum of the values of three vertices for each pixel.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.report.canvas import BAR_WIDTH_MM, Canvas, Colours, add_bar
from neurowhere.report.maps import BRIGHTEST, RATIO_UNIT, SHOWN, SIGNED_COLOURS
from neurowhere.report.panels import at_points, volume_of
from neurowhere.space.images import nilearn_file

MESH = "datasets/data/fsaverage5/{}_{}.gii.gz"  # kind of surface, hemisphere
SIDES = ("left", "right")
VIEWS = (("left", -1), ("left", 1), ("right", -1), ("right", 1))  # hemisphere, side of the eye
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)  # between the pial surface and the white matter
GYRUS_GREY, SULCUS_GREY = 0.85, 0.65
LIGHT, SHADE = (0.35, -0.25, 0.9), 0.35  # from above, in front, and how much it darkens

VIEW_MM, GAP_MM, LABEL_MM, MARGIN_MM, BAR_MM = (224.0, 156.0), 12.0, 24.0, 6.0, 70.0
BAR_TOP_MM = 28.0  # room for its unit
CANVAS_MM = (4 * VIEW_MM[0] + 3 * GAP_MM + BAR_MM + 2 * MARGIN_MM, VIEW_MM[1] + LABEL_MM)
PIXELS_PER_MM = 2.0  # finer than the picture, which smooths the edges
FACES_AT_ONCE = 2000

Floats = NDArray[np.floating]
Indices = NDArray[np.intp]


class Hemisphere(NamedTuple):
    """One half of the cortex."""

    inflated: Floats  # (n, 3) in mm
    pial: Floats  # (n, 3), outer surface
    white: Floats  # (n, 3), inner surface
    faces: Indices  # (n_faces, 3)
    depth: Floats  # (n,), positive in a sulcus


class View(NamedTuple):
    """The vertices under each pixel of a picture of a hemisphere."""

    pixels: tuple[Indices, ...]  # rows, from below, and columns: (n_pixels,) each
    vertices: Indices  # (n_pixels, 3)
    weights: Floats  # (n_pixels, 3) of these vertices, which sum to 1
    light: Floats  # (n_pixels,), from 0 to 1
    grey: Floats  # (n_pixels,), by the depth


def draw_surface(img: Any, unit: str = "") -> Any:
    """Draw a signed map on the inflated cortex: outside and inside of both hemispheres.

    The surface is the fsaverage5 that nilearn carries; no network is needed.
    """
    canvas = Canvas(*CANVAS_MM)
    halves = sample(img)
    absolute = np.abs(np.concatenate(list(halves.values())))
    highest = float(np.quantile(absolute, BRIGHTEST)) or 1.0
    threshold = float(np.quantile(absolute, 1 - SHOWN))
    colours = Colours(
        SIGNED_COLOURS, -highest, highest, threshold, unit == RATIO_UNIT, is_open=True
    )
    left = MARGIN_MM
    for words, pixels in view_pictures(halves, colours):
        extent = (left, left + VIEW_MM[0], LABEL_MM, LABEL_MM + VIEW_MM[1])
        canvas.add_picture(extent, pixels)
        canvas.write(left + VIEW_MM[0] / 2, LABEL_MM / 2, words, anchor="mm")
        left += VIEW_MM[0] + GAP_MM
    right = CANVAS_MM[0] - MARGIN_MM
    bar = (right - BAR_WIDTH_MM, right, LABEL_MM, CANVAS_MM[1] - BAR_TOP_MM)
    add_bar(canvas, bar, colours, unit)
    return canvas.picture


def view_pictures(
    halves: dict[str, Floats], colours: Colours
) -> list[tuple[str, NDArray[np.uint8]]]:
    """Return pictures of both halves with the names of their views; rows from below."""
    return [
        (
            f"{name}, {'lateral' if (side < 0) == (name == 'left') else 'medial'}",
            _picture(name, side, halves[name], colours),
        )
        for name, side in VIEWS
    ]


def sample(img: Any) -> dict[str, Floats]:
    """Return values of an image at the vertices of both hemispheres, averaged over the depth."""
    volume = volume_of(img)
    return {
        name: at_points(volume, _layers(name)).reshape(len(DEPTHS), -1).mean(axis=0)
        for name in SIDES
    }


@cache
def _layers(name: str) -> Floats:
    """Return points below each vertex, at all depths: (n_depths n, 3)."""
    half = hemisphere(name)
    return np.concatenate([half.pial + depth * (half.white - half.pial) for depth in DEPTHS])


@cache
def hemisphere(name: str) -> Hemisphere:
    """Read the surfaces of a hemisphere."""
    (inflated, faces), (pial, _), (white, _), (depth,) = (
        _read_gifti(kind, name) for kind in ("infl", "pial", "white", "sulc")
    )
    return Hemisphere(inflated, pial, white, faces.astype(np.intp), depth)


def _read_gifti(kind: str, name: str) -> list[NDArray[Any]]:
    import nibabel

    loaded: Any = nibabel.load(nilearn_file(MESH.format(kind, name)))
    return [np.asarray(array.data) for array in loaded.darrays]


def _picture(name: str, side: int, values: Floats, colours: Colours) -> NDArray[np.uint8]:
    """Paint the map where it is strong and greys by the depth elsewhere: (n_up, n_right, 4)."""
    view = _view(name, side)
    under = np.einsum("pv,pv->p", values[view.vertices], view.weights)
    painted = colours.paint(under)
    share = painted[:, 3:] * np.float32(1 / 255)
    colour = share * painted[:, :3] + (1 - share) * view.grey[:, None]
    shape = [round(mm * PIXELS_PER_MM) for mm in reversed(VIEW_MM)]
    picture = np.full((*shape, 4), (255, 255, 255, 0), np.uint8)
    painted[:, :3] = colour * (1 - SHADE * (1 - view.light))[:, None]
    painted[:, 3] = 255
    picture[view.pixels] = painted
    return picture


@cache
def _view(name: str, side: int) -> View:
    """Find the vertices under each pixel, seen from one side of the x axis."""
    half = hemisphere(name)
    flat = half.inflated[:, 1:] * (side, 1)  # y to the right seen from x > 0
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    flat = (flat - middle + np.array(VIEW_MM) / 2) * PIXELS_PER_MM
    normals = face_normals(half.inflated[half.faces])
    seen = np.flatnonzero(normals[:, 0] * side > 0)
    depth = half.inflated[half.faces[seen], 0].mean(axis=1) * side
    seen = seen[np.argsort(depth)]  # the nearest last: it is painted over the others
    shape = tuple(round(mm * PIXELS_PER_MM) for mm in reversed(VIEW_MM))
    face, weights = rasterise(flat[half.faces[seen]], shape)
    pixels = np.nonzero(face >= 0)
    vertices = half.faces[seen[face[pixels]]]
    smooth = _vertex_normals(half, normals)[vertices]  # (n_pixels, 3 vertices, 3)
    direction = np.array(LIGHT) * (side, 1, 1)
    light = smooth @ (direction / np.linalg.norm(direction))
    weights = weights[pixels]
    sulcus = np.einsum("pv,pv->p", half.depth[vertices], weights) > 0
    grey = 255 * np.where(sulcus, SULCUS_GREY, GYRUS_GREY)
    light = np.clip((light * weights).sum(axis=1), 0, 1)
    return View(pixels, vertices, weights, light.astype(np.float32), grey.astype(np.float32))


def rasterise(corners: Floats, shape: tuple[int, ...]) -> tuple[Indices, Floats]:
    """Find which triangle covers the centre of each pixel: the last one, if several do.

    `corners` (n, 3, 2) are to the right and up, in pixels. Returned are the triangles, −1 where
    there is none, and the barycentric coordinates of each pixel in its triangle.

    >>> triangle, weights = rasterise(np.array([[[0.0, 0], [2, 0], [0, 2]]]), (2, 3))
    >>> triangle
    array([[ 0,  0, -1],
           [ 0, -1, -1]])
    >>> weights[0, 0]
    array([0.5 , 0.25, 0.25])
    """
    triangle = np.full(shape, -1, np.intp)
    weights = np.zeros((*shape, 3))
    for start in range(0, len(corners), FACES_AT_ONCE):
        some = corners[start : start + FACES_AT_ONCE]
        which, up, right, shares = _covered(some, shape)
        triangle[up, right] = start + which
        weights[up, right] = shares
    return triangle, weights


def _covered(corners: Floats, shape: tuple[int, ...]) -> tuple[Indices, Indices, Indices, Floats]:
    """List the pixels within each triangle, with the triangle and the barycentric coordinates."""
    low = np.floor(corners.min(axis=1)).astype(int)  # (n, 2)
    width, height = (np.ceil(corners.max(axis=1)).astype(int) - low).max(axis=0)
    a, b, c = (corners[:, k].T[..., None, None] for k in range(3))  # (2, n, 1, 1)
    x = low[:, 0, None, None] + 0.5 + np.arange(width) - a[0]  # (n, 1, width)
    y = low[:, 1, None, None] + 0.5 + np.arange(height)[:, None] - a[1]  # (n, height, 1)
    (bx, by), (cx, cy) = b - a, c - a
    with np.errstate(divide="ignore", invalid="ignore"):  # a triangle seen from its edge
        scale = 1 / (bx * cy - by * cx)
        second = x * (cy * scale) - y * (cx * scale)  # (n, height, width)
        third = y * (bx * scale) - x * (by * scale)
    first = 1 - second - third
    which, up, right = np.nonzero((first >= 0) & (second >= 0) & (third >= 0))
    shares = np.stack([part[which, up, right] for part in (first, second, third)], axis=1)
    up, right = up + low[which, 1], right + low[which, 0]
    shown = (up >= 0) & (up < shape[0]) & (right >= 0) & (right < shape[1])
    return which[shown], up[shown], right[shown], shares[shown]


def face_normals(corners: Floats) -> Floats:
    """Compute the unit normals of triangles.

    >>> face_normals(np.array([[[0.0, 0, 0], [2, 0, 0], [0, 2, 0]]]))
    array([[0., 0., 1.]])
    """
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    scaled: Floats = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    return scaled


def _vertex_normals(half: Hemisphere, normals: Floats) -> Floats:
    """Average the normals of the faces around each vertex: (n, 3)."""
    sums = [
        np.bincount(half.faces.ravel(), np.repeat(normals[:, k], 3), len(half.inflated))
        for k in range(3)
    ]
    summed = np.stack(sums, axis=1)
    averaged: Floats = summed / np.linalg.norm(summed, axis=1, keepdims=True)
    return averaged
