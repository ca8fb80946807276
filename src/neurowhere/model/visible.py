"""Visible: how the structures that a text names are made visible in its map.

What belongs to a structure, on the side that a text gives it, is computed once for a model: the
core, which gives it a share, and its region, whose probability is raised to that of the mean map.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear
from neurowhere.learn.exponent import Core, give_shares
from neurowhere.space import Partition
from neurowhere.space.geometry import side_of_regions
from neurowhere.text import TermExtractor, Vocabulary

__all__ = ["Extent", "Shown", "Structure", "VisibleStructures"]

Regions = NDArray[np.intp]
Step = tuple[Regions, NDArray[np.float32]]  # what is added there, or what was there before
N_KEPT = 512  # structures, some 50 kB each


class Shown(NamedTuple):
    """Structures of one text that are to be seen in its map.

    Attributes
    ----------
    entries : array of shape (k,)
        Their places in the features of the text.
    structures : list of Structure
    shares : array of shape (k,)
        Share of each in the map.
    balance : array of shape (k,)
        d of each, between −1 (right) and 1 (left).
    """

    entries: NDArray[np.intp]
    structures: "list[Structure]"
    shares: NDArray[np.floating]
    balance: NDArray[np.floating]


class VisibleStructures:
    """Makes structures visible in the maps of texts.

    Parameters
    ----------
    predictor : LogLinear
    extractor : TermExtractor
    vocabulary : Vocabulary
    partition : VoxelGrid or Atlas
    """

    def __init__(
        self,
        predictor: LogLinear,
        extractor: TermExtractor,
        vocabulary: Vocabulary,
        partition: Partition,
    ) -> None:
        self.predictor = predictor
        self._extractor, self._vocabulary = extractor, vocabulary
        self._sides = side_of_regions(partition)
        self._kept: dict[int, Structure] = {}  # what was last used is last

    def show(self, q: NDArray[np.float32], shown: Shown) -> None:
        """Give structures their share in a map, (m,), in place; none is below the mean map."""
        for regions, share in self._shares(shown):
            np.add.at(q, regions, share)
        q /= q.sum()
        for _ in self._raise(q, shown):
            pass

    def added(self, q: NDArray[np.float32], shown: Shown) -> sparse.csr_matrix:
        """Do the same, and return what each of the structures adds to the exponent: (k, m)."""
        numbers, regions, added = [np.empty(0, int)], [np.empty(0, int)], [np.empty(0, np.float32)]
        steps = chain(enumerate(give_shares(q, self._shares(shown))), self._raise(q, shown))
        for number, (here, before) in steps:
            numbers.append(np.full(len(here), number))
            regions.append(here)
            added.append(np.log(q[here] / before))
        places = np.concatenate(numbers), np.concatenate(regions)
        shape = len(shown.structures), len(q)
        return sparse.csr_matrix((np.concatenate(added), places), shape=shape)

    def place_of(self, column: int) -> int:
        """Return the term that tells where a structure is: "occipital" is the occipital lobe."""
        lobe = f"{self._extractor.terms[column]} lobe"
        return self._vocabulary.index(lobe) if lobe in self._vocabulary else column

    def find(self, columns: NDArray[np.integer]) -> "list[Structure]":
        """Return the structures of terms; those that are not known are made in few products.

        A server that reads for weeks meets all, and keeps the last.
        """
        asked = columns.tolist()
        known = dict(self._kept)
        places = {column: self.place_of(column) for column in asked if column not in known}
        cores = self.predictor.cores(np.array(list(places.values()), dtype=np.intp))
        for (column, place), core in zip(places.items(), cores, strict=True):
            known[column] = Structure(core, self.region_of(place))
        found = {column: known[column] for column in asked}
        for column, structure in found.items():
            self._kept.pop(column, None)
            self._kept[column] = structure
        while len(self._kept) > N_KEPT:
            self._kept.pop(next(iter(self._kept)), None)
        return [found[column] for column in asked]

    def region_of(self, place: int) -> Regions:
        """Return the regions of a place; none where the model does not know them."""
        prior = self.predictor.prior
        inside = None if prior is None else prior.region_of(place)
        return np.empty(0, np.intp) if inside is None else np.flatnonzero(inside)

    def _shares(self, shown: Shown) -> Iterator[Step]:
        """Yield the core of each structure, and what is added to the probabilities there."""
        shares = shown.shares.astype(np.float32)
        for structure, side, share in zip(
            shown.structures, shown.balance.tolist(), shares, strict=True
        ):
            core = structure.core_on(side, self._sides)
            yield core.regions, share * core.probabilities

    def _raise(self, q: NDArray[np.float32], shown: Shown) -> Iterator[tuple[int, Step]]:
        """Raise the region of each structure to what the mean map has there, in place.

        Names multiply, and one may lower what another points to. Yields the number of each
        structure that is raised, its region, and what that had.
        """
        for number, (structure, side) in enumerate(
            zip(shown.structures, shown.balance.tolist(), strict=True)
        ):
            regions, expected = structure.region_on(side, self._sides, self.predictor.mean_map)
            before = q[regions]
            found = before.sum()
            if 0 < found < expected:
                q[regions] = before * np.float32(expected / found)
                yield number, (regions, before)
        q /= q.sum()


@dataclass(frozen=True, eq=False)
class Extent:
    """Where a named place is: the regions of the partition that belong to it.

    Attributes
    ----------
    regions : array of shape (n,)
    """

    regions: Regions

    @cached_property
    def key(self) -> bytes:
        """The same for places of the same regions."""
        return self.regions.tobytes()

    def weights(self, n_regions: int) -> NDArray[np.float64]:
        """Return 1 in the regions of the place, and 0 in others."""
        weights = np.zeros(n_regions)
        weights[self.regions] = 1
        return weights


class Structure:
    """Where a structure is: its core and its region, and both on each side."""

    def __init__(self, core: Core, region: Regions) -> None:
        self._core, self._region = core, region
        self._cores: dict[float, Core] = {0.0: core}
        self._regions: dict[float, tuple[Regions, float]] = {}

    def core_on(self, side: float, sides: NDArray[np.float32]) -> Core:
        """Return the core, with what is on the other side moved over."""
        if (known := self._cores.get(side)) is not None:
            return known
        core = self._core._replace(probabilities=self._core.on_side(side, sides))
        if abs(side) == 1:  # others are too many
            self._cores[side] = core
        return core

    def region_on(
        self, side: float, sides: NDArray[np.float32], mean_map: NDArray[np.floating]
    ) -> tuple[Regions, float]:
        """Return the region, or its half if all is on one side, and its share in the mean map."""
        half = side if abs(side) == 1 else 0.0
        if half not in self._regions:
            region = self._region[half * sides[self._region] >= 0]
            self._regions[half] = region, float(mean_map[region].sum())
        return self._regions[half]
