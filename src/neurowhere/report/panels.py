"""Panels of a picture: an image in slices on the template, or projected on the glass brain."""

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.report.canvas import LABEL_MM, Canvas, Colours, Extent
from neurowhere.space.images import mni152_template, nilearn_file

PIXEL_MM = 1.0  # edge of what is drawn as one pixel
SMOOTH_MM = 2.0  # larger voxels are interpolated before they are drawn
BOX_MM = ((-76.0, 76.0), (-110.0, 79.0), (-74.0, 86.0))  # limits of x, y and z around the brain
ACROSS = ((1, 2), (0, 2), (0, 1))  # axes to the right and up, seen along x, y and z
BACKGROUND = 25  # lowest intensity of the template that is drawn, of 255
GREYS = (80, 0.68)  # darkest grey, and share of the template's intensity that is added
CROSS_COLOUR = "#4c5866"
OUTLINE_OPACITY = 0.7

FILES = ("side", "back", "top")  # seen along x, y and z
# From the units of a file to mm: scale, then offset, to the right and up. They fit the MNI152
# template; nilearn has the same.
SCALES = ((0.38, 0.38), (0.39, 0.39), (0.36, 0.37))
OFFSETS_MM = ((-108.0, -70.0), (-73.0, -73.0), (-71.0, -107.0))
STEPS = np.linspace(0, 1, 7)[1:, None]  # along a curve

Floats = NDArray[np.floating]


class Volume(NamedTuple):
    """An image as arrays, and how values between its voxels are found."""

    data: NDArray[Any]  # (x, y, z)
    affine: NDArray[np.float64]
    is_linear: bool  # or the nearest voxel's value

    @property
    def is_upright(self) -> bool:
        """Whether the axes of the voxels are those of the brain, in either direction."""
        rotation = self.affine[:3, :3]
        return bool((rotation == np.diag(np.diag(rotation))).all())


class Panel(NamedTuple):
    """A view of the brain along one axis, at a place of the canvas."""

    axis: int
    left: float  # in mm of the canvas, as `bottom`
    bottom: float

    @property
    def width(self) -> float:
        """Width in mm."""
        low, high = BOX_MM[ACROSS[self.axis][0]]
        return high - low

    @property
    def height(self) -> float:
        """Height in mm."""
        low, high = BOX_MM[ACROSS[self.axis][1]]
        return high - low

    @property
    def extent(self) -> Extent:
        """Left, right, bottom and top in mm of the canvas."""
        return self.left, self.left + self.width, self.bottom, self.bottom + self.height

    @property
    def corner_mm(self) -> tuple[float, float]:
        """Place in the brain of the lower left corner."""
        right, up = ACROSS[self.axis]
        return BOX_MM[right][0], BOX_MM[up][0]


def add_slice(canvas: Canvas, panel: Panel, volume: Volume, at_mm: float, colours: Colours) -> None:
    """Draw a slice of a map on the template, and write where it is."""
    pixels = _template_slice(panel.axis, at_mm)
    painted = colours.paint(cut(volume, panel.axis, at_mm, BOX_MM))
    share = painted[..., 3:] / 255
    mixed = np.rint(share * painted[..., :3] + (1 - share) * pixels).astype(np.uint8)
    canvas.add_picture(panel.extent, mixed)
    left, _, bottom, _ = panel.extent
    at = f"{'xyz'[panel.axis]} = {at_mm:.0f}".replace("-", "−")
    canvas.write(left + LABEL_MM / 2, bottom + LABEL_MM, at)
    _add_sides(canvas, panel)


def add_glass(canvas: Canvas, panel: Panel, volume: Volume, colours: Colours) -> None:
    """Draw the strongest values seen along an axis, with the outlines of the brain."""
    canvas.add_picture(panel.extent, colours.paint(project(volume, panel.axis, BOX_MM)))
    key = (panel.axis, canvas.scale)
    if key not in _DRAWN:
        lines = [
            (line.points_mm - panel.corner_mm, line.colour, line.width)
            for line in outlines(panel.axis)
        ]
        _DRAWN[key] = canvas.strokes(panel.extent, lines, OUTLINE_OPACITY)
    canvas.add_strokes(panel.extent, _DRAWN[key])
    _add_sides(canvas, panel)


_DRAWN: dict[tuple[int, float], Any] = {}  # outlines, the same in every picture


def add_cross(canvas: Canvas, panel: Panel, place_mm: tuple[float, float, float]) -> None:
    """Draw lines through a place."""
    right, up = ACROSS[panel.axis]
    left, end, bottom, top = panel.extent
    x = left + place_mm[right] - BOX_MM[right][0]
    y = bottom + place_mm[up] - BOX_MM[up][0]
    canvas.add_line([(x, bottom), (x, top)], CROSS_COLOUR)
    canvas.add_line([(left, y), (end, y)], CROSS_COLOUR)


def _add_sides(canvas: Canvas, panel: Panel) -> None:
    """Write L and R, if the panel shows both sides."""
    if panel.axis != 0:
        left, right, _, top = panel.extent
        canvas.write(left + LABEL_MM, top - LABEL_MM, "L", anchor="la")
        canvas.write(right - LABEL_MM, top - LABEL_MM, "R", anchor="ra")


@lru_cache(maxsize=32)
def _template_slice(axis: int, at_mm: float) -> NDArray[np.uint8]:
    """Return a slice of the template in greys on white: (n_up, n_right, 3)."""
    data, affine = mni152_template()
    values = cut(Volume(data, affine, is_linear=False), axis, at_mm, BOX_MM)
    darkest, share = GREYS
    grey = np.where(values > BACKGROUND, darkest + share * values, 255).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


class Outline(NamedTuple):
    """A line of the drawing."""

    points_mm: NDArray[np.float64]  # (n, 2), to the right and up
    colour: str
    width: float  # in points


@cache
def outlines(axis: int) -> tuple[Outline, ...]:
    """Read the outlines of the brain seen along an axis."""
    file = nilearn_file(f"plotting/glass_brain_files/brain_schematics_{FILES[axis]}.json")
    lines = json.loads(file.read_text("utf-8"))["paths"]
    return tuple(outline for line in lines for outline in _outlines(line, axis))


def _outlines(line: dict[str, Any], axis: int) -> list[Outline]:
    """Join the pieces of a line where one begins at the end of the last."""
    strokes: list[list[NDArray[np.float64]]] = []
    for piece in line["items"]:
        points = np.array(piece["pts"]) * SCALES[axis] + OFFSETS_MM[axis]
        if not strokes or (strokes[-1][-1][-1] != points[0]).any():
            strokes.append([points[:1]])
        strokes[-1].append(bezier(points))
    style = line["edgecolor"], float(line["linewidth"])
    return [Outline(np.concatenate(stroke), *style) for stroke in strokes]


def bezier(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of a Bézier curve, or of a straight line, without the first one.

    >>> bezier(np.array([[0.0, 0], [0, 4], [4, 4], [4, 0]]))[2]
    array([2., 3.])
    """
    between = list(points)
    while len(between) > 1:  # de Casteljau: between neighbours, until one point is left
        between = [a + STEPS * (b - a) for a, b in pairwise(between)]
    return np.asarray(between[0])


# ---- values of an image at the points of a grid


def volume_of(img: Any) -> Volume:
    """Return an image ready to be sampled: large voxels of numbers are interpolated."""
    affine = np.asarray(img.affine, np.float64)
    edges = np.linalg.norm(affine[:3, :3], axis=0)
    data = np.nan_to_num(np.ascontiguousarray(img.dataobj))
    return Volume(data, affine, bool(edges.min() > SMOOTH_MM))


def steps(low: float, high: float) -> Floats:
    """Return the centres of the pixels from one mm to another.

    >>> steps(-1, 2)
    array([-0.5,  0.5,  1.5])
    """
    n = round((high - low) / PIXEL_MM)
    centres: Floats = low + PIXEL_MM * (np.arange(n) + 0.5)
    return centres


def cut(volume: Volume, axis: int, at_mm: float, box_mm: Sequence[tuple[float, float]]) -> Floats:
    """Sample a slice across an axis, within a box: (n_up, n_right), the lowest row first."""
    points = [np.array([at_mm]) if k == axis else steps(*box_mm[k]) for k in range(3)]
    return _sample(volume, points).squeeze(axis).T


def project(volume: Volume, axis: int, box_mm: Sequence[tuple[float, float]]) -> Floats:
    """Return the value farthest from zero along an axis, seen from its end, as `cut` does."""
    # A linear interpolation is highest at a voxel's centre: none is needed along the axis.
    points = [_centres(volume, k, box_mm[k]) if k == axis else steps(*box_mm[k]) for k in range(3)]
    values = _sample(volume, points)
    farthest: Floats = values.max(axis=axis)
    if volume.data.min() < 0:
        low = values.min(axis=axis)
        farthest = np.where(farthest >= -low, farthest, low)
    return farthest.T


def at_points(volume: Volume, points_mm: Floats) -> Floats:
    """Sample an image at points (n, 3); 0 beyond it: (n,)."""
    inverse = np.linalg.inv(volume.affine)
    voxels = inverse[:3, :3] @ points_mm.T + inverse[:3, 3, None]  # (3, n)
    shape, data = volume.data.shape, volume.data.ravel()
    sides = [_neighbours(at, n, volume.is_linear) for at, n in zip(voxels, shape, strict=True)]
    values: Floats = np.zeros(len(points_mm))
    for (i, u), (j, v), (k, w) in product(*sides):
        values += data[(i * shape[1] + j) * shape[2] + k] * (u * v * w)
    return values


def _neighbours(voxels: Floats, n: int, is_linear: bool) -> list[tuple[NDArray[np.intp], Floats]]:
    """Return the voxels of an axis beside each point, and their weights; 0 beyond the axis."""
    if not is_linear:
        near = np.floor(voxels + 0.5).astype(np.intp)
        return [(near.clip(0, n - 1), ((near >= 0) & (near < n)).astype(float))]
    below = np.floor(voxels).astype(np.intp)
    share = voxels - below
    return [
        (below.clip(0, n - 1), np.where((below >= 0) & (below < n), 1 - share, 0)),
        ((below + 1).clip(0, n - 1), np.where((below >= -1) & (below < n - 1), share, 0)),
    ]


def _centres(volume: Volume, axis: int, ends_mm: tuple[float, float]) -> Floats:
    """Return where the voxels of an axis are, or pixels where its voxels are oblique."""
    if not volume.is_upright:
        return steps(*ends_mm)
    step, first = volume.affine[axis, [axis, 3]]
    centres: Floats = first + step * np.arange(volume.data.shape[axis])
    return centres


def _sample(volume: Volume, points_mm: Sequence[Floats]) -> Floats:
    """Return values at all combinations of x, y and z; 0 beyond the image: (n_x, n_y, n_z)."""
    if not volume.is_upright:
        grid = np.stack(np.meshgrid(*points_mm, indexing="ij"), axis=-1)  # (n_x, n_y, n_z, 3)
        return at_points(volume, grid.reshape(-1, 3)).reshape(grid.shape[:3])
    values = volume.data
    order = np.argsort([len(points) / values.shape[k] for k, points in enumerate(points_mm)])
    for axis in order.tolist():  # the axis that shrinks most is first, so that little is left
        voxels = (points_mm[axis] - volume.affine[axis, 3]) / volume.affine[axis, axis]
        values = _along(values, axis, voxels, volume.is_linear)
    return values


def _along(values: NDArray[Any], axis: int, voxels: Floats, is_linear: bool) -> NDArray[Any]:
    """Sample one axis at fractions of voxels."""
    neighbours = _neighbours(voxels, values.shape[axis], is_linear)
    if len(neighbours) == 1 or len(voxels) == 1:
        shape = [1, 1, 1]
        shape[axis] = len(voxels)
        # Unlike take, an index does not copy an array in Fortran order, such as the template.
        parts = [
            values[(slice(None),) * axis + (at,)] * weights.reshape(shape).astype(np.float32)
            for at, weights in neighbours
        ]
        return np.sum(parts, axis=0) if len(parts) > 1 else parts[0]
    mixed = np.zeros((len(voxels), values.shape[axis]), values.dtype)  # a product, in no time
    for at, weights in neighbours:
        mixed[np.arange(len(voxels)), at] += weights
    return np.moveaxis(np.tensordot(mixed, values, (1, axis)), 0, axis)
