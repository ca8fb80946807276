"""Values of an image at the points of a grid: slices of it, and projections through it."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["PIXEL_MM", "SMOOTH_MM", "Volume", "at_points", "cut", "project", "steps", "volume_of"]

PIXEL_MM = 1.0  # edge of what is drawn as one pixel
SMOOTH_MM = 2.0  # larger voxels are interpolated before they are drawn

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


def volume_of(img: Any) -> Volume:
    """Return an image ready to be sampled: large voxels of numbers are interpolated.

    Parameters
    ----------
    img : NIfTI image

    Returns
    -------
    Volume
    """
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
    """Sample a slice across an axis.

    Parameters
    ----------
    volume : Volume
    axis : 0, 1 or 2
    at_mm : float
        Where the slice is.
    box_mm : three pairs of float
        What to show of each axis.

    Returns
    -------
    (n_up, n_right)
        Rows from the lowest to the highest mm.
    """
    points = [np.array([at_mm]) if k == axis else steps(*box_mm[k]) for k in range(3)]
    return _sample(volume, points).squeeze(axis).T


def project(volume: Volume, axis: int, box_mm: Sequence[tuple[float, float]]) -> Floats:
    """Return the value farthest from zero along an axis, seen from its end.

    Parameters
    ----------
    volume, axis, box_mm
        As in `cut`.

    Returns
    -------
    (n_up, n_right)
    """
    # A linear interpolation is highest at a voxel's centre: none is needed along the axis.
    points = [_centres(volume, k, box_mm[k]) if k == axis else steps(*box_mm[k]) for k in range(3)]
    values = _sample(volume, points)
    high, low = values.max(axis=axis), values.min(axis=axis)
    farthest: Floats = np.where(high >= -low, high, low).T
    return farthest


def at_points(volume: Volume, points_mm: Floats) -> Floats:
    """Sample an image at points; 0 beyond it.

    Parameters
    ----------
    volume : Volume
    points_mm : (n, 3)

    Returns
    -------
    (n,)
    """
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
        return _sample_oblique(volume, points_mm)
    values = volume.data
    order = np.argsort([len(points) / values.shape[k] for k, points in enumerate(points_mm)])
    for axis in order.tolist():  # the axis that shrinks most is first, so that little is left
        voxels = (points_mm[axis] - volume.affine[axis, 3]) / volume.affine[axis, axis]
        values = _along(values, axis, voxels, volume.is_linear)
    return values


def _along(values: NDArray[Any], axis: int, voxels: Floats, is_linear: bool) -> NDArray[Any]:
    """Sample one axis at fractions of voxels."""
    shape = [1, 1, 1]
    shape[axis] = len(voxels)
    # Unlike take, an index does not copy an array in Fortran order, such as the template.
    parts = [
        values[(slice(None),) * axis + (at,)] * weights.reshape(shape).astype(np.float32)
        for at, weights in _neighbours(voxels, values.shape[axis], is_linear)
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


def _sample_oblique(volume: Volume, points_mm: Sequence[Floats]) -> Floats:
    grid = np.stack(np.meshgrid(*points_mm, indexing="ij"), axis=-1)  # (n_x, n_y, n_z, 3)
    return at_points(volume, grid.reshape(-1, 3)).reshape(grid.shape[:3])
