"""Prediction: the maps of texts as a model reads them, with sides, visible places and reports."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear, Predictor
from neurowhere.learn.predictor import Structures
from neurowhere.model.mixture import Mixture, PlaceMaps, Report, mix
from neurowhere.model.reading import Readings
from neurowhere.model.visible import Extent, Shown, VisibleStructures
from neurowhere.space import Partition
from neurowhere.space.geometry import move_to_sides, served_side_of_regions, side_of_regions
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.findings import (
    affirms_wrong,
    concludes_normal,
    concludes_nothing,
    find_findings,
)

LONG = 0.95  # of the long gate; such a text has too many structures to show each of them
LEAST_GATE = 0.01  # of a text that is drawn as a report at all
FAINT = 0.2  # of the strongest structure; one without a side that weighs less pulls at no side
N_EXTENTS = 1024  # of named places, that are kept: 10 kB each
CROSSED = 0.6  # how far a side of the body moves what a text says

Added = tuple[NDArray[np.integer], NDArray[np.float32] | sparse.csr_matrix]  # entries; maps


class Drawn(NamedTuple):
    """What a report says, and the parts of its map; a text that has no place has none."""

    report: Report
    mixture: Mixture | None

    @property
    def names(self) -> frozenset[str] | None:
        """The structures that it is drawn from; None for a study."""
        if self.mixture is None or self.report.gate <= 0.5:
            return None
        places = (component.place for component in self.mixture.components)
        return frozenset(name for place in places for name in place.names)


class Predicted(NamedTuple):
    """Maps of some texts, (n, m), and what reports among them say."""

    probabilities: NDArray[np.float32]
    reports: list[Drawn | None]


@dataclass(frozen=True, eq=False)
class MapMaker:
    """Makes the maps of texts.

    Attributes
    ----------
    predictor : LogLinear or Linear
    extractor : TermExtractor
    vocabulary : Vocabulary
    partition : VoxelGrid or Atlas
    """

    predictor: Predictor
    extractor: TermExtractor
    vocabulary: Vocabulary
    partition: Partition

    def predict(self, texts: Sequence[str], readings: Readings, *, sides: bool) -> Predicted:
        """Predict the maps of texts.

        Parameters
        ----------
        texts : sequence of str
        readings : Readings
            Of these texts.
        sides : bool
            Whether each structure is on the side that the text gives it.

        Returns
        -------
        Predicted
        """
        q = self._plain(readings, sides)
        gates = enumerate(readings.gates)
        wholes = {row: q[row].copy() for row, gate in gates if gate >= LEAST_GATE}
        for row, shown in self._shown(readings, sides):
            self.visible.show(q[row], shown)
        if sides:
            self._move_whole(q, readings)
        reports: list[Drawn | None] = [None] * len(q)
        for row, whole in wholes.items():
            reports[row] = drawn = self._draw(texts[row], readings, row, whole, q[row])
            if drawn.mixture is not None:
                q[row] = drawn.mixture.probabilities
            elif drawn.report.is_normal:
                q[row] = self.predictor.mean_map
        return Predicted(q, reports)

    def _move_whole(self, q: NDArray[np.float32], readings: Readings) -> None:
        """Move the whole maps of texts that are about a side: "left MCA", "left hemisphere"."""
        shares_of = [] if readings.counted is None else readings.counted.fold_shares()
        known = np.diff(readings.features.indptr) > 0  # of a text without a term nothing is moved
        for row, shares in enumerate(shares_of):
            if shares.neither < 1 and known[row]:
                q[row] = move_to_sides(self.partition, q[row], shares.left, shares.right)

    def _draw(
        self,
        text: str,
        readings: Readings,
        row: int,
        whole: NDArray[np.float32],
        study: NDArray[np.float32],
    ) -> Drawn:
        """Mix the map of a report; `study` is its map as a study, with the rest of the gate."""
        gate, mentions = readings.gates[row], readings.mentions[row]
        findings = tuple(find_findings(text, mentions))
        mixture = mix(findings, self.places, whole)
        is_normal = (
            gate > 0.5
            and mixture is None
            and any(mention.is_negated for mention in mentions.found)
            and (concludes_normal(text, mentions) or not affirms_wrong(mentions))
            and (
                concludes_nothing(text, mentions)
                or not any(mention.is_present for mention in mentions.rule_based)
            )
        )
        return Drawn(Report(gate, findings, is_normal), mixture and mixture.blended(gate, study))

    @cached_property
    def places(self) -> PlaceMaps:
        """Maps of the places of reports."""
        n_terms = len(self.extractor.terms)
        return PlaceMaps(self.predictor, self.vocabulary, self.partition, n_terms)

    @cached_property
    def visible(self) -> VisibleStructures:
        """Where structures are that are to be seen in maps."""
        assert isinstance(self.predictor, LogLinear)
        return VisibleStructures(self.predictor, self.extractor, self.vocabulary, self.partition)

    @cached_property
    def _kinds_of_sides(self) -> NDArray[np.float32]:
        """Sides of the brain, and of the body that the regions serve: (2, m)."""
        return np.stack([side_of_regions(self.partition), served_side_of_regions(self.partition)])

    def _plain(self, readings: Readings, sides: bool) -> NDArray[np.float32]:
        """Predict, with each term on the side that the text gives it: (n, m)."""
        structures = self._sided(readings) if sides else None
        return self.predictor.predict(readings.features, structures, self._kinds_of_sides)

    def _sided(self, readings: Readings) -> Structures | None:
        """Return the structures of the texts in which any has a side, but for faint ones."""
        features, counted = readings.features, readings.counted
        if counted is None:
            return None
        limbs = self._limb_gates(features)
        entries, balance = counted.balance(features, limbs)
        texts = np.searchsorted(features.indptr, entries, side="right") - 1
        balance[:, 1] *= limbs[texts]
        is_sided, weights = balance.any(axis=1), features.data[entries]
        heaviest = np.zeros(len(readings), features.dtype)
        np.maximum.at(heaviest, texts, weights)
        heard = np.isin(texts, texts[is_sided]) & (is_sided | (weights >= FAINT * heaviest[texts]))
        return Structures(texts[heard], entries[heard], balance[heard])

    def _limb_gates(self, features: sparse.csr_matrix) -> NDArray[np.float32]:
        """Return κ g: how far a side of the body moves what each text says, less in a long one."""
        if getattr(self.predictor, "gates", None) is None:
            return np.full(features.shape[0], CROSSED, np.float32)
        assert isinstance(self.predictor, LogLinear)
        gated: NDArray[np.float32] = np.float32(CROSSED) * self.predictor.opening(features).short
        return gated

    def _shown(self, readings: Readings, sides: bool) -> Iterator[tuple[int, Shown]]:
        """Yield the structures that texts name, which are to be seen in their maps, by text."""
        predictor, features, counted = self.predictor, readings.features, readings.counted
        if counted is None or not isinstance(predictor, LogLinear) or predictor.gates is None:
            return
        long = predictor.opening(features).long
        entries, weights, balance = counted.named(features, self._limb_gates(features))
        balance = balance if sides else np.zeros_like(balance)
        structures = self.visible.find(features.indices[entries])
        texts = np.searchsorted(features.indptr, entries, side="right") - 1
        of_places = np.where(self.extractor.is_of_place[features.indices], features.data, 0) ** 2
        about_places = np.append(0, np.cumsum(of_places, dtype=float))
        for row in np.unique(texts[long[texts] <= LONG]).tolist():
            here = slice(*np.searchsorted(texts, [row, row + 1]))
            first, end = features.indptr[row : row + 2]
            about = about_places[end] - about_places[first]
            shares = (1 - long[row]) * about * weights[here] / max(1.0, weights[here].sum())
            yield row, Shown(entries[here] - first, structures[here], shares, balance[here])

    # ---- one text

    def added_beside(self, readings: Readings, *, sides: bool) -> Iterator[Added]:
        """Yield what the sides of structures add to the exponent of one text, and their shares."""
        structures = self._sided(readings) if sides else None
        if structures is not None and len(structures.entries):
            _, places, balance = structures
            shifts = self.predictor.lateral(
                readings.features, places, balance, self._kinds_of_sides
            )
            yield places[balance.any(axis=1)], shifts
        for _, shown in self._shown(readings, sides):
            q = self._plain(readings, sides)[0]
            yield shown.entries, self.visible.added(q, shown)

    def named(
        self, readings: Readings, drawn: frozenset[str] | None, *, sides: bool
    ) -> dict[str, Extent]:
        """Return the extents of the structures that one text names, where the model has a prior.

        The heaviest first; one that the text puts on one side only is that half of it. Of a report,
        these are those that it is drawn from, `drawn`.
        """
        prior = self.predictor.prior if isinstance(self.predictor, LogLinear) else None
        if prior is None or readings.counted is None:
            return {}
        features, terms = readings.features, self.extractor.terms
        entries, _, balance = readings.counted.named(features, np.zeros(1))
        order = np.lexsort((features.indices[entries], -features.data[entries]))
        columns = features.indices[entries[order]].tolist()
        named = {}
        for column, side in zip(columns, balance[order].tolist(), strict=True):
            if drawn is not None and terms[column] not in drawn:
                continue
            half = {1: "left ", -1: "right "}.get(side if sides else 0, "")
            place = self.visible.place_of(column)
            if prior.has(place):
                named[half + terms[place]] = self._extent(place, side if half else 0)
        return named

    def _extent(self, place: int, side: float) -> Extent:
        """Return the extent of a place, or of its half on a side."""
        if (known := self._extents.get((place, side))) is not None:
            return known
        regions = self.visible.region_of(place)
        if side:
            regions = regions[side * self._kinds_of_sides[0][regions] > 0]
        if len(self._extents) >= N_EXTENTS:
            self._extents.clear()
        extent = self._extents[place, side] = Extent(regions)
        return extent

    @cached_property
    def _extents(self) -> dict[tuple[int, float], Extent]:
        return {}
