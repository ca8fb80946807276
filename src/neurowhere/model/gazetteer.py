"""Gazetteer: the regions of an atlas beside those that a model predicts, with names in words."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.coordinates import transform_points
from neurowhere.space import Atlas, Partition
from neurowhere.space.geometry import overlap_mm3
from neurowhere.space.partition import OUTSIDE
from neurowhere.text import words_of_label

Floats = NDArray[np.floating]

ROMAN = re.compile(r"\b[ivx]+\b")  # numbers of lobules


@dataclass(frozen=True, eq=False)
class Gazetteer:
    """An atlas beside the regions of a model.

    Attributes
    ----------
    atlas : Atlas
        Names the regions.
    partition : Partition
        Regions that the model predicts.
    """

    atlas: Atlas
    partition: Partition

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name in words of each region of the atlas, such as "left superior frontal gyrus"."""
        return tuple(region_names(self.atlas.names).values())

    def shares(self, density: Floats) -> Floats:
        """Return the probability of each region of the atlas under a density on the model's."""
        if self.atlas is self.partition:
            shares: Floats = density * self.partition.volumes_mm3
        else:
            shares = self.shared_mm3 @ density
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
        places = [self._densest(padded, row) for row in rows]
        return np.array(places, dtype=np.float64).reshape(-1, 3)

    def _densest(self, padded: Floats, row: int) -> NDArray[np.float64]:
        xyz_mm = transform_points(self.atlas.affine, self._voxels[row])
        values = padded[self.partition.region_of(xyz_mm)]
        distance = np.linalg.norm(xyz_mm - self.atlas.centers_mm[row], axis=1)
        place: NDArray[np.float64] = xyz_mm[np.lexsort((distance, -values))[0]]
        return place

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


def region_names(labels: Iterable[str]) -> dict[str, str]:
    """Return the name of each region in words, its side first.

    A label whose words are unknown stays as it is; where two names would be alike, the label
    follows.

    >>> region_names(["Amygdala_L", "Cerebellum_6_R", "OFCmed_L", "OFCant_L", "7"])
    {'Amygdala_L': 'left amygdala',
     'Cerebellum_6_R': 'right cerebellar lobule VI',
     'OFCmed_L': 'left orbitofrontal cortex (OFCmed_L)',
     'OFCant_L': 'left orbitofrontal cortex (OFCant_L)',
     '7': '7'}
    """
    names = {label: _in_words(label) for label in labels}
    alike = Counter(names.values())
    return {k: f"{name} ({k})" if alike[name] > 1 else name for k, name in names.items()}


def _in_words(label: str) -> str:
    name, side = words_of_label(label)
    if not name:
        return label
    return " ".join(filter(None, [side, ROMAN.sub(lambda found: found[0].upper(), name)]))
