"""Sides: move a distribution over the brain to one hemisphere."""

from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neurowhere.space.partition import OUTSIDE, Partition

FLIP = np.array([-1.0, 1.0, 1.0])


def fold(
    partition: Partition, probabilities: NDArray[np.floating], side: Literal["left", "right"]
) -> NDArray[np.float32]:
    """Give every region on the other side's probability to its mirror image on this side.

    Left is x < 0; what lies on the midplane stays. A region whose mirror image is outside the
    brain loses its probability, and the rest is rescaled to sum to 1.

    Examples
    --------
    >>> from neurowhere.space import VoxelGrid
    >>> affine = np.diag([4.0, 4.0, 4.0, 1.0])
    >>> affine[0, 3] = -4
    >>> row = VoxelGrid(mask=(np.ones((3, 1, 1)), affine))  # x = −4, 0, 4
    >>> fold(row, np.array([0.1, 0.3, 0.6]), "left").round(2)
    array([0.7, 0.3, 0. ], dtype=float32)
    """
    place = _destinations(partition, side)
    kept = place != OUTSIDE
    folded = np.bincount(place[kept], weights=probabilities[kept], minlength=len(place))
    total = folded.sum()
    return (folded / total if total else probabilities).astype(np.float32)


def move_to_sides(
    partition: Partition, probabilities: NDArray[np.float32], left: float, right: float
) -> NDArray[np.float32]:
    """Mix a map with the same map folded to each side; `left` and `right` are their shares."""
    moved: NDArray[np.float32] = np.float32(1 - left - right) * probabilities
    if left:
        moved += np.float32(left) * fold(partition, probabilities, "left")
    if right:
        moved += np.float32(right) * fold(partition, probabilities, "right")
    return moved


def mirror(partition: Partition) -> NDArray[np.intp]:
    """Region that holds the mirror image of each region's centre; itself where none does."""
    mirrored = partition.region_of(partition.centers_mm * FLIP)
    return np.where(mirrored == OUTSIDE, np.arange(len(mirrored)), mirrored)


@lru_cache(maxsize=8)
def _destinations(partition: Partition, side: str) -> NDArray[np.intp]:
    """Region to which each region's probability goes; −1 if to none."""
    centers = partition.centers_mm  # (m, 3)
    x = centers[:, 0] if side == "left" else -centers[:, 0]
    place = np.arange(len(centers))
    away = np.flatnonzero(x > 0)
    mirrored = partition.region_of(centers[away] * FLIP)
    place[away] = np.where(x[mirrored] <= 0, mirrored, OUTSIDE)
    return place
