"""Gazetteer: names of places in words, and the place that stands for a name."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.space import Atlas, Partition
from neurowhere.space.geometry import overlap_mm3
from neurowhere.space.partition import OUTSIDE
from neurowhere.text import words_of_label

Point = tuple[float, float, float]  # in mm
ROMAN = re.compile(r"\b[ivx]+\b")  # numbers of lobules


@dataclass(frozen=True, eq=False)
class Gazetteer:
    """An atlas beside a model.

    Attributes
    ----------
    atlas : Atlas
    partition : Partition
        Regions that the model predicts.
    mean_map : array of shape (m,)
        Their probability over the training studies.
    """

    atlas: Atlas
    partition: Partition
    mean_map: NDArray[np.floating]

    @cached_property
    def words(self) -> dict[str, str]:
        """Name in words of each label: "left superior frontal gyrus"."""
        return {label: in_words(label) for label in self.atlas.names}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {label: row for row, label in enumerate(self.atlas.names)}

    @cached_property
    def _shared_mm3(self) -> sparse.csr_matrix:
        """Volume that regions of atlas and model share: (n_labels, m)."""
        return overlap_mm3(self.atlas, self.partition)

    def shares(self, density: NDArray[np.floating]) -> NDArray[np.floating]:
        """Probability of each region of the atlas under a density in those of the model."""
        probability: NDArray[np.floating] = self._shared_mm3 @ density
        return probability

    @cached_property
    def mean_shares(self) -> NDArray[np.floating]:
        """Probability of each region of the atlas under the mean map."""
        return self.shares(self.mean_map / self.partition.volumes_mm3)

    def names_at(self, xyz_mm: NDArray[np.floating]) -> list[str | None]:
        """Names of the regions around points, (n, 3)."""
        labels, regions = self.atlas.names, self.atlas.region_of(xyz_mm).tolist()
        return [None if region == OUTSIDE else self.words[labels[region]] for region in regions]

    def densest(self, label: str, density: NDArray[np.floating]) -> Point:
        """Place in a region where a density is highest, and the region is not left."""
        shared, row = self._shared_mm3, self._rows[label]
        inside = slice(shared.indptr[row], shared.indptr[row + 1])
        if inside.start == inside.stop:  # outside of what the model predicts
            return as_point(self.atlas.centers_mm[row])
        voxels = shared.indices[inside]
        best = voxels[np.argmax(density[voxels] * shared.data[inside])]
        return as_point(self.partition.centers_mm[best])


def in_words(label: str) -> str:
    """Name that the label of an atlas stands for, with its side; the label itself if none is known.

    >>> in_words("Amygdala_L"), in_words("Cerebellum_6_R"), in_words("7")
    ('left amygdala', 'right cerebellar lobule VI', '7')
    """
    name, side = words_of_label(label)
    if not name:
        return label
    return " ".join(filter(None, [side, ROMAN.sub(lambda found: found[0].upper(), name)]))


def as_point(xyz_mm: NDArray[np.floating]) -> Point:
    """Point as plain numbers, to a tenth of a millimetre."""
    x, y, z = xyz_mm.round(1).tolist()
    return x, y, z
