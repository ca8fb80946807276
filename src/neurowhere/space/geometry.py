"""Geometry: strongest places, shared volumes, sides, and an atlas beside the regions of a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.space.atlas import Atlas
from neurowhere.space.images import OUTSIDE, transform_points
from neurowhere.space.partition import Partition, VoxelGrid
from neurowhere.text.labels import region_names

Floats = NDArray[np.floating]

APART_MM = 10.0  # about the width (FWHM) of the default kernel: closer ones are one place
FLIP = np.array([-1.0, 1.0, 1.0])
CEREBELLUM = -35.0, -14.0  # y and z in mm that it lies behind and below, with little else


@lru_cache(maxsize=8)
def overlap_mm3(first: Partition, second: Partition) -> sparse.csr_matrix:
    """Compute the volume that regions share, from the centres of the finer one's voxels.

    The sparse matrix (first.n_regions, second.n_regions) is kept for the next call: do not change
    it.

    >>> fine = VoxelGrid(mask=(np.ones((4, 2, 2)), np.eye(4)))
    >>> coarse = VoxelGrid(mask=(np.ones((2, 1, 1)), np.diag([2.0, 2.0, 2.0, 1.0])))
    >>> overlap_mm3(coarse, fine).sum(axis=1).A1.tolist()  # its first voxel reaches from −1 to 1
    [1.0, 2.0]
    """
    if first.voxel_volume_mm3 < second.voxel_volume_mm3:
        return sparse.csr_matrix(overlap_mm3(second, first).T)
    voxels = np.argwhere(second.regions != OUTSIDE)  # (n_voxels, 3)
    rows = first.region_of(transform_points(second.affine, voxels))
    columns = second.regions[tuple(voxels.T)]
    shared = rows != OUTSIDE
    volumes = np.full(np.count_nonzero(shared), second.voxel_volume_mm3)
    places = (rows[shared], columns[shared])
    return sparse.csr_matrix((volumes, places), shape=(first.n_regions, second.n_regions))


def strongest_regions(
    partition: Partition, values: NDArray[np.floating], n_places: int, apart_mm: float = APART_MM
) -> NDArray[np.intp]:
    """Return the regions where a map (m,) is positive and highest, the strongest first.

    On a grid these are voxels as high as all 26 around them. Of two whose centres are closer than
    `apart_mm`, the lower one is left out.

    >>> grid = VoxelGrid(mask=(np.ones((9, 1, 1)), np.diag([4.0, 4.0, 4.0, 1.0])))
    >>> strongest_regions(grid, np.array([1, 5, 2, 0, 0, 3, 4, 1, 2]), 2)
    array([1, 6])
    """
    candidates = _local_maxima(partition, values) if isinstance(partition, VoxelGrid) else values
    positive = np.flatnonzero(candidates > 0)
    kept: list[int] = []
    for region in positive[np.argsort(-candidates[positive], kind="stable")].tolist():
        distances = np.linalg.norm(
            partition.centers_mm[kept] - partition.centers_mm[region], axis=1
        )
        if (distances >= apart_mm).all():
            kept.append(region)
        if len(kept) == n_places:
            break
    return np.array(kept, dtype=np.intp)


def _local_maxima(grid: VoxelGrid, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the values of voxels as high as all around them, 0 elsewhere: (m,)."""
    padded = np.zeros(np.add(grid.shape, 2), dtype=values.dtype)
    volume = padded[1:-1, 1:-1, 1:-1]
    volume[grid.brain] = values
    highest = padded
    for axis in range(3):  # a whole axis at a time: half the time of scipy's filter
        along = np.moveaxis(highest, axis, 0)
        highest = np.moveaxis(np.maximum(np.maximum(along[:-2], along[1:-1]), along[2:]), 0, axis)
    return np.where(volume == highest, volume, 0)[grid.brain]


def move_to_sides(
    partition: Partition, probabilities: NDArray[np.float32], left: float, right: float
) -> NDArray[np.float32]:
    """Mix a map (m,) with the same map folded to each side; the result sums to 1.

    `left` and `right` are the shares of the map that go to each side; the rest stays as it is.
    """
    moved: NDArray[np.float32] = np.float32(1 - left - right) * probabilities
    if left:
        moved += np.float32(left) * fold(partition, probabilities, "left")
    if right:
        moved += np.float32(right) * fold(partition, probabilities, "right")
    return moved


def fold(
    partition: Partition, probabilities: NDArray[np.floating], side: Literal["left", "right"]
) -> NDArray[np.float32]:
    """Give the probability of every region on the other side to its mirror image on this side.

    Left is x < 0; what lies on the midplane stays. A region whose mirror image is outside the brain
    loses its probability, and the rest is rescaled to sum to 1.

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


@lru_cache(maxsize=8)
def side_of_regions(partition: Partition) -> NDArray[np.float32]:
    """Return the side of each region: 1 on the left, −1 on the right, between them for one across.

    It is the share of the region's voxels on the left, x < 0, minus the share on the right.
    It is kept for the next call: do not change it.

    >>> affine = np.diag([4.0, 4.0, 4.0, 1.0])
    >>> affine[0, 3] = -4
    >>> side_of_regions(VoxelGrid(mask=(np.ones((3, 1, 1)), affine)))  # x = −4, 0, 4
    array([ 1.,  0., -1.], dtype=float32)
    """
    voxels = np.argwhere(partition.regions != OUTSIDE)  # (n_voxels, 3)
    side = -np.sign(transform_points(partition.affine, voxels)[:, 0])
    region = partition.regions[tuple(voxels.T)]
    n_voxels = np.bincount(region, minlength=partition.n_regions)
    balance = np.bincount(region, side, minlength=partition.n_regions) / n_voxels
    return balance.astype(np.float32)


@lru_cache(maxsize=8)
def served_side_of_regions(partition: Partition) -> NDArray[np.float32]:
    """Return the side of the body that each region serves: 1 for the left, −1 for the right.

    The cerebrum serves the other side, the cerebellum its own. It is kept for the next call: do not
    change it.
    """
    _, y, z = partition.centers_mm.T
    is_cerebellum = (y < CEREBELLUM[0]) & (z < CEREBELLUM[1])
    return np.where(is_cerebellum, 1, -1).astype(np.float32) * side_of_regions(partition)


@lru_cache(maxsize=8)
def _destinations(partition: Partition, side: str) -> NDArray[np.intp]:
    """Return the region to which the probability of each region goes; −1 if to none."""
    centers = partition.centers_mm  # (m, 3)
    x = centers[:, 0] if side == "left" else -centers[:, 0]
    place = np.arange(len(centers))
    away = np.flatnonzero(x > 0)
    mirrored = partition.region_of(centers[away] * FLIP)
    place[away] = np.where(x[mirrored] <= 0, mirrored, OUTSIDE)
    return place


@dataclass(frozen=True, eq=False)
class Gazetteer:
    """An atlas, which names regions, beside the partition of a model."""

    atlas: Atlas
    partition: Partition

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name in words of each region of the atlas, such as "left superior frontal gyrus"."""
        return tuple(region_names(self.atlas.names).values())

    def shares(self, density: Floats) -> Floats:
        """Return the probability of each region of the atlas under a density on the model's."""
        is_own = self.atlas is self.partition
        shares: Floats = density * self.atlas.volumes_mm3 if is_own else self.shared_mm3 @ density
        return shares

    @property
    def shared_mm3(self) -> sparse.csr_matrix:
        """Volume that each region of the atlas shares with each of the model: (n_labels, m)."""
        return overlap_mm3(self.atlas, self.partition)

    def regions_at(self, xyz_mm: Floats) -> list[int | None]:
        """Return the index of the atlas's region around each point, None where there is none."""
        regions = self.atlas.region_of(xyz_mm).tolist()
        return [None if region == OUTSIDE else region for region in regions]

    def densest_mm(self, density: Floats, rows: Iterable[int]) -> NDArray[np.float64]:
        """Return the place in each of some regions where a density is highest: (n, 3).

        It is the centre of a voxel of the atlas, so that it lies in the region; of several as
        dense, the one closest to the centre of the region.
        """
        padded = np.append(density, 0.0)  # 0 outside of the model's regions
        places = [xyz_mm[np.argmax(padded[near])] for xyz_mm, near in map(self._places, rows)]
        return np.array(places, dtype=np.float64).reshape(-1, 3)

    def _places(self, row: int) -> tuple[NDArray[np.float64], NDArray[np.integer]]:
        """Return the voxels of a region in mm, the closest to its centre first, and our regions."""
        if row not in self._known_places:
            xyz_mm = transform_points(self.atlas.affine, self._voxels[row])
            distance = np.linalg.norm(xyz_mm - self.atlas.centers_mm[row], axis=1)
            xyz_mm = xyz_mm[np.argsort(distance, kind="stable")]
            regions, first = np.unique(self.partition.region_of(xyz_mm), return_index=True)
            order = np.argsort(first)
            self._known_places[row] = xyz_mm[first[order]], regions[order]
        return self._known_places[row]

    @cached_property
    def _known_places(self) -> dict[int, tuple[NDArray[np.float64], NDArray[np.integer]]]:
        return {}

    @cached_property
    def _voxels(self) -> list[NDArray[np.intp]]:
        """Voxels of each region of the atlas: (n_voxels, 3)."""
        regions = self.atlas.regions
        inside = np.flatnonzero(regions != OUTSIDE)
        labels = regions.ravel()[inside]
        order = inside[np.argsort(labels, kind="stable")]
        ends = np.cumsum(np.bincount(labels, minlength=self.atlas.n_regions))[:-1]
        return [
            np.column_stack(np.unravel_index(part, regions.shape)) for part in np.split(order, ends)
        ]


@lru_cache(maxsize=8)
def gazetteer_of(atlas: Atlas, partition: Partition) -> Gazetteer:
    """Return the gazetteer of an atlas beside a model's partition, made once."""
    return Gazetteer(atlas, partition)
