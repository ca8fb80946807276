"""Landmarks: places that no atlas region names, by the table ``landmarks.csv`` beside this module.

A row of the table defines a place in one of two ways:

- border: where regions of AAL3 meet. The sulcus between two gyri is what lies within `radius_mm` of
  both. Regions are given by how their labels begin, alternatives by "|".
- points: a chain of points in MNI space, in mm, on both sides of the brain: the place lies within
  `radius_mm` of the line through them. Small nuclei are one point; tracts are several.

The column `source` names a work that says where the structure lies, or the template that it is seen
on. The points are ours, right to within a few millimetres: no atlas was copied.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from neurowhere.space import Atlas
from neurowhere.text.lists import shipped_table

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]

TUBE_MM, BORDER_MM = 1.0, 2.0  # size of the voxels of a landmark
SEPARATOR = ";"


class Region(NamedTuple):
    """Where a name is: voxels, and their affine."""

    mask: Mask
    affine: NDArray[np.float64]


def landmarks(aal3: Atlas | None) -> Iterator[tuple[str, Region]]:
    """Yield the landmarks of the table; those that atlas regions define only with the atlas.

    Parameters
    ----------
    aal3 : Atlas or None

    Yields
    ------
    name : str
    Region
    """
    for row in shipped_table(__package__, "landmarks.csv"):
        parts = [part.strip() for part in row["where"].split(SEPARATOR)]
        radius_mm = float(row["radius_mm"])
        if row["kind"] == "points":
            points = np.array([[float(number) for number in part.split()] for part in parts])
            yield row["name"], tube(points, radius_mm)
        elif aal3 is not None:
            yield row["name"], border(aal3, [tuple(part.split("|")) for part in parts], radius_mm)


def tube(points_mm: Points, radius_mm: float) -> Region:
    """Return what lies close to a chain of points or to its mirror image.

    Parameters
    ----------
    points_mm : array of shape (n, 3)
    radius_mm : float

    Returns
    -------
    Region
    """
    low, high = points_mm.min(axis=0) - radius_mm, points_mm.max(axis=0) + radius_mm
    low[0] = -high[0]  # the mirror image
    axes = [np.arange(*ends, TUBE_MM) for ends in zip(low, high + TUBE_MM, strict=True)]
    affine = np.diag([TUBE_MM, TUBE_MM, TUBE_MM, 1.0])
    affine[:3, 3] = low
    xyz_mm = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    xyz_mm[..., 0] = np.abs(xyz_mm[..., 0])
    chain = points_mm if len(points_mm) > 1 else np.repeat(points_mm, 2, axis=0)
    near = [_distance(xyz_mm, *ends) <= radius_mm for ends in pairwise(chain)]
    return Region(np.any(near, axis=0), affine)


def _distance(xyz_mm: Points, start: Points, end: Points) -> Points:
    """Return how far points are from a segment."""
    way = end - start
    length = way @ way
    along = np.clip((xyz_mm - start) @ way / length, 0, 1) if length else np.zeros(1)
    distance: Points = np.linalg.norm(xyz_mm - start - along[..., None] * way, axis=-1)
    return distance


def border(aal3: Atlas, groups: list[tuple[str, ...]], radius_mm: float) -> Region:
    """Return what lies close to all of some groups of regions.

    Parameters
    ----------
    aal3 : Atlas
    groups : list of tuple of str
        How the labels of the regions of each group begin.
    radius_mm : float

    Returns
    -------
    Region
    """
    size = np.abs(np.diag(aal3.affine)[:3])
    step = max(1, round(BORDER_MM / float(size.max())))
    regions = aal3.regions[::step, ::step, ::step]
    affine = aal3.affine @ np.diag([step, step, step, 1.0])
    near = np.ones(regions.shape, bool)
    for beginnings in groups:
        rows = [row for row, label in enumerate(aal3.names) if label.startswith(beginnings)]
        outside = ~np.isin(regions, rows)
        near &= distance_transform_edt(outside, sampling=size * step) <= radius_mm
    return Region(near, affine)
