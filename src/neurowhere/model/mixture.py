r"""Mixture: the map of a report, drawn from its places by their roles.

A study's abstract is one product over its words, as the model has learned it. A report names many
places that are not where its finding is: what is pressed, at which level something is measured,
where oedema reaches. Its map is a mixture over its places,

    q = (1 − ε) Σ_f w_f p_f / Σ_f w_f + ε q_text,

with q_text the product, and for each place f on the side that the report gives it

    p_f = (1 − u) p(f alone) + u (uniform over the region of f).

Seats weigh w_f = ω(role). All others together weigh `REST` of the seats at most, each by its role
and |f|, the number of voxels that p_f spreads over (the exponential of its entropy).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.learn import LogLinear, Predictor
from neurowhere.space import Partition, VoxelGrid, default_atlas
from neurowhere.space.geometry import gazetteer_of, side_of_regions
from neurowhere.text import Vocabulary
from neurowhere.text.findings import Depth, Finding, Place
from neurowhere.text.places import Side
from neurowhere.text.roles import Role

Floats = NDArray[np.floating]
Map = NDArray[np.float32]  # (m,), sums to 1
Key = tuple[tuple[str, ...], Side | None]

OF_ROLE: dict[Role, float] = {
    "seat": 1.0,
    "extension": 0.3,
    "satellite": 0.3,
    "edema": 0.3,
}
REST = 0.2  # of the seats together, all that is no seat
CONCLUDED = 2.5  # times as much, of a seat that the impression names, or a part of such a seat
WEAK = 0.3  # of a seat that has a lesion only somewhere in its sentence
LATER = 0.7  # of a seat that is not the first of its finding
WHOLE_TEXT = 0.03  # ε
FILLED = 0.9  # u
PER_SIZE = 1 / (2 * np.sqrt(5))  # standard deviation along an axis of a ball of diameter 1
LEAST_SIZE_MM = 15.0  # of what spreads beyond the grid and the place's own map
SIZE_STEP_MM = 10.0  # that sizes are rounded to, so that maps are kept
# Layers by the distance from the surface of the brain in mm: where they are, and how wide.
LAYERS_MM: dict[Depth, tuple[float, float]] = {
    "surface": (0.0, 5.0),
    "cortical": (2.0, 6.0),
    "subcortical": (12.0, 6.0),
    "deep": (30.0, 10.0),
}
PERIVENTRICULAR = "periventricular white matter"
LEAST_LAYER = 0.05  # of a layer's weight, that is left elsewhere
# Predicted mass that holds shares of the seats of the open half of the reports of
# benchmarks/reports.py, which prints what it holds of the frozen half.
HELD = (0.0, 0.25, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0)
MASS_THAT_HOLDS = (0.0, 0.332, 0.593, 0.76, 0.88, 0.938, 0.985, 1.0)
TINY = 1e-12
HALF = 0.5  # membership of a region that is in a place
N_MAPS = 256  # that are kept
# Of the mean map, the most that is left of a place that has no finding, but for seats within it.
AT_MOST: dict[Role, float] = {
    "spared": 0.12,
    "compared": 0.2,
    "pressed": 0.3,
    "landmark": 0.4,
    "old": 0.4,
    "mentioned": 0.4,
    "level": 0.4,
}
ONLY_NAMED: tuple[Role, ...] = ("mentioned", "level")  # says nothing of a seat that is there

FINER, PART, REFINED = 0.7, 0.6, 0.3
REACHED = 0.15  # membership of what counts as part of such a place

# Words of places that a vocabulary has no region for, by their stems: "temporo-occipital".
STEMS = {
    "front": "frontal lobe",
    "tempor": "temporal lobe",
    "pariet": "parietal lobe",
    "occipit": "occipital lobe",
    "insul": "insula",
    "cerebell": "cerebellum",
    "thalam": "thalamus",
    "capsul": "internal capsule",
    "opercul": "operculum",
    "striat": "basal ganglia",
    "gangli": "basal ganglia",
}
_STEM = re.compile("|".join(STEMS))
_HEMISPHERE = re.compile("hemispher")
LOBES = ("frontal lobe", "temporal lobe", "parietal lobe", "occipital lobe")
# Parts whose surroundings are of no lobe.
OTHER_PARTS = (
    *("insula", "thalamus", "basal ganglia", "cerebellum", "brainstem", "lateral ventricle"),
    *("corpus callosum", "internal capsule", "cingulate cortex"),
)
IN_WHITE_MATTER, FARTHEST_MM = 0.5, 24.0  # weight beside the cortex; how far beneath it
CEREBRUM = (*list(STEMS.values())[:5], "basal ganglia", "thalamus")


class Component(NamedTuple):
    """A place of a report, its share of the whole mixture, its map and its regions: (m,)."""

    place: Place
    share: float
    map: Map
    inside: NDArray[np.bool_] | None = None  # None where the model does not know them


@dataclass(frozen=True, eq=False)
class Mixture:
    """A map that is the sum of those of its places, times their shares, and of that of the text.

    Attributes
    ----------
    components : list of Component
    whole : array of shape (m,)
        Map of the whole text; its share is what the components leave.
    """

    components: list[Component]
    whole: Map

    @property
    def share_of_whole(self) -> float:
        """Share of the map of the whole text."""
        return 1 - sum(component.share for component in self.components)

    @cached_property
    def probabilities(self) -> Map:
        """The mixture: (m,), sums to 1."""
        total: Map = np.float32(self.share_of_whole) * self.whole
        for component in self.components:
            total += np.float32(component.share) * component.map
        return total

    def shares(self, weights: Floats) -> NDArray[np.float64]:
        """Return what part of a weighted sum of the map each component has, the text's last.

        Parameters
        ----------
        weights : array of shape (m,)

        Returns
        -------
        array of shape (n_components + 1,)
            They sum to 1.
        """
        parts = [component.share * (component.map @ weights) for component in self.components]
        parts.append(self.share_of_whole * (self.whole @ weights))
        return np.array(parts) / max(sum(parts), TINY)

    def times(self, kept: Map) -> "Mixture":
        """Multiply the map by a factor of each region, and rescale it to sum to 1."""
        total = float(self.probabilities @ kept)
        return Mixture(
            [_scaled(component, kept, total) for component in self.components],
            self.whole * kept / max(float(self.whole @ kept), TINY),
        )

    def blended(self, gate: float, other: Map) -> "Mixture":
        """Give another map of the text the share 1 − γ of the whole."""
        whole = gate * self.share_of_whole * self.whole + (1 - gate) * other
        return Mixture(
            [each._replace(share=gate * each.share) for each in self.components],
            (whole / whole.sum()).astype(np.float32),
        )


def _scaled(component: Component, kept: Map, total: float) -> Component:
    own = float(component.map @ kept)
    return component._replace(
        share=component.share * own / total, map=component.map * kept / max(own, TINY)
    )


@dataclass(frozen=True, eq=False)
class Report:
    """A text that is drawn as a report.

    Attributes
    ----------
    gate : float
        How far it is one, from 0 to 1; the map as a study has the rest.
    findings : tuple of Finding
    is_normal : bool
        Whether it says that nothing is wrong: no seat, and no sign that points to one.
    """

    gate: float
    findings: tuple[Finding, ...]
    is_normal: bool = False


class PlaceMaps:
    """Maps of places on their sides, made by a model.

    Parameters
    ----------
    predictor : LogLinear or Linear
    vocabulary : Vocabulary
    partition : VoxelGrid or Atlas
    """

    def __init__(
        self, predictor: Predictor, vocabulary: Vocabulary, partition: Partition, n_terms: int
    ) -> None:
        self.predictor = predictor
        self.mean_map = predictor.mean_map
        self._vocabulary = vocabulary
        self._partition = partition
        self._n_terms = n_terms
        self._sides = _sides(partition)
        self._made: dict[tuple[Any, ...], Map | None] = {}

    def of(self, place: Place) -> Map | None:
        """Return the map of a place; None if its names say nothing of where."""
        size = SIZE_STEP_MM * round((place.size_mm or 0) / SIZE_STEP_MM)
        key = names_of(place), place.side, place.depth, size
        if key not in self._made:
            if len(self._made) >= N_MAPS:
                self._made.clear()
            self._made[key] = self._make(*key)
        return self._made[key]

    def _make(
        self, names: tuple[str, ...], side: Side | None, depth: Depth | None, size_mm: float
    ) -> Map | None:
        columns = list(dict.fromkeys(self._columns(names)))
        if not columns:
            return None
        ones = np.ones(len(columns), np.float32)
        alone = sparse.csr_matrix(
            (ones, columns, np.arange(len(columns) + 1)), shape=(len(columns), self._n_terms)
        )
        q = self._on_side(self.predictor.predict(alone).mean(axis=0, dtype=np.float64), side)
        inside = self._membership(columns)
        if inside is not None:
            volumes = self._partition.volumes_mm3 * inside
            q = (1 - FILLED) * q + FILLED * self._on_side(volumes, side)
        if depth is not None and isinstance(self._partition, VoxelGrid):
            q = q * self._layer(self._partition, depth)
        if _diameter_mm(q, self._partition) < size_mm >= LEAST_SIZE_MM:
            q = self._on_side(_smoothed(q, self._partition, PER_SIZE * size_mm), side)
        map_: Map = (q / q.sum()).astype(np.float32)
        return map_

    def _layer(self, grid: VoxelGrid, depth: Depth) -> Floats:
        """Return the weight of each voxel in a layer of the brain, from `LEAST_LAYER` to 1."""
        if depth == "periventricular":
            inside = self._membership(list(self._columns([PERIVENTRICULAR])))
            return np.ones(1) if inside is None else np.maximum(inside, LEAST_LAYER)
        at, width = LAYERS_MM[depth]
        near = np.exp(-(((_depth_mm(grid) - at) / width) ** 2))
        if depth == "deep":
            near[_depth_mm(grid) > at] = 1
        weights: Floats = np.maximum(near, LEAST_LAYER)
        return weights

    def membership(self, place: Place) -> Floats | None:
        """Return how far each region is in a place on its side, (m,), where the model knows it."""
        side = place.side
        inside = self._membership(list(self._columns(names_of(place))))
        if inside is None or side not in ("left", "right"):
            return inside
        sign = 1 if side == "left" else -1
        half: Floats = inside * (sign * self._sides >= 0)
        return half

    def inside(self, place: Place) -> NDArray[np.bool_] | None:
        """Return which regions are in a place on its side, (m,), where the model knows it."""
        membership = self.membership(place)
        return None if membership is None else membership >= HALF

    def _on_side(self, values: Floats, side: Side | None) -> Floats:
        sign = {"left": 1.0, "right": -1.0}.get(side or "", 0.0)
        kept = values * np.clip(sign * self._sides, 0, 1) if sign else values
        total = kept.sum()
        moved: Floats = kept / total if total > TINY else values / values.sum()
        return moved

    def _columns(self, names: Iterable[str]) -> Iterator[int]:
        for name in names:
            own = self._indices([name])
            is_known = bool(own) and self._membership(own) is not None
            yield from own if is_known else self._indices(_stems(name)) or own

    def _indices(self, names: Iterable[str]) -> list[int]:
        return [self._vocabulary.index(name) for name in names if name in self._vocabulary]

    def _membership(self, columns: Sequence[int]) -> Floats | None:
        prior = self.predictor.prior if isinstance(self.predictor, LogLinear) else None
        if prior is None:
            return None
        known = [inside for c in columns if (inside := prior.membership(c)) is not None]
        if not known:
            return None
        beneath = [self._white_matter[c] for c in columns if c in self._white_matter]
        widest: Floats = np.max([*known, *beneath], axis=0)
        return widest

    @cached_property
    def _white_matter(self) -> dict[int, Floats]:
        """What lies beneath the cortex of each lobe, nearer to it than to any other part: (m,)."""
        prior = self.predictor.prior if isinstance(self.predictor, LogLinear) else None
        if prior is None or not isinstance(self._partition, VoxelGrid):
            return {}
        names = [name for name in (*LOBES, *OTHER_PARTS) if name in self._vocabulary]
        columns = [self._vocabulary.index(name) for name in names]
        far = {c: _distance_mm(self._partition, prior.region_of(c)) for c in columns}
        nearest = np.min(list(far.values()), axis=0)
        return {
            c: IN_WHITE_MATTER * ((far[c] <= nearest) & (far[c] <= FARTHEST_MM))
            for c, name in zip(columns, names, strict=True)
            if name in LOBES
        }


class _Weighed(NamedTuple):
    """A place, its weight among the seats or among the others, and its map."""

    place: Place
    weight: float
    map: Map


def mix(findings: Sequence[Finding], maps: PlaceMaps, whole: Map) -> Mixture | None:
    """Mix the maps of the places of a report; None if it has no seat.

    Parameters
    ----------
    findings : sequence of Finding
    maps : PlaceMaps
    whole : array of shape (m,)
        Map of the whole text.

    Returns
    -------
    Mixture or None
    """
    seats = _heaviest(_weighed(findings, maps, of_seats=True))
    if not seats:
        return None
    others = _heaviest(_weighed(findings, maps, of_seats=False))
    parts = _balanced(_concluded(_refined(seats, maps), maps), others)
    norm = (1 - WHOLE_TEXT) / sum(each.weight for each in parts)
    mixed = Mixture(
        [
            Component(each.place, norm * each.weight, each.map, maps.inside(each.place))
            for each in parts
        ],
        whole,
    )
    return mixed.times(_kept(findings, maps, mixed.probabilities))


def _balanced(seats: dict[Key, _Weighed], others: dict[Key, _Weighed]) -> list[_Weighed]:
    """Return the seats, and what is no seat with at most `REST` of their weight."""
    total = sum(each.weight for each in seats.values())
    density = total / sum(_spread(each.map) for each in seats.values())
    beside = [each for key, each in others.items() if key not in seats]
    extra = density * sum(each.weight for each in beside)
    scale = density * min(1.0, REST * total / max(extra, TINY))
    return [*seats.values(), *(each._replace(weight=scale * each.weight) for each in beside)]


def _weighed(findings: Sequence[Finding], maps: PlaceMaps, *, of_seats: bool) -> Iterator[_Weighed]:
    """Yield the seats of findings, or their other places, with their weights and maps."""
    for finding in findings:
        for n_before, place in enumerate(finding.places):
            weight = OF_ROLE.get(place.role, 0.0) * place.weight
            if (place.role == "seat") is not of_seats or weight <= 0:
                continue
            if (map_ := maps.of(place)) is None:
                continue
            if of_seats:
                weight *= (LATER if n_before else 1) * (WEAK if place.is_weak else 1)
            else:
                weight *= _spread(map_)
            yield _Weighed(place, weight, map_)


def _heaviest(found: Iterable[_Weighed]) -> dict[Key, _Weighed]:
    """Return the heaviest of the places of the same names and side."""
    heaviest: dict[Key, _Weighed] = {}
    for each in found:
        key = names_of(each.place), each.place.side
        if key not in heaviest or heaviest[key].weight < each.weight:
            heaviest[key] = each
    return heaviest


def _stems(name: str) -> Sequence[str]:
    """Return the structures of a place that the vocabulary has no region for."""
    stems = [STEMS[match[0]] for match in _STEM.finditer(name.lower())]
    return CEREBRUM if not stems and _HEMISPHERE.search(name) else stems


def _distance_mm(grid: VoxelGrid, inside: NDArray[np.bool_] | None) -> Floats:
    """Return how far each voxel is from a region: (m,)."""
    from scipy import ndimage

    outside = np.ones(grid.brain.shape, bool)
    outside[grid.brain] = ~inside if inside is not None else True
    if outside.all():
        return np.full(int(grid.brain.sum()), np.inf)
    distance: Floats = ndimage.distance_transform_edt(outside, sampling=grid.voxel_sizes_mm)
    return distance[grid.brain]


@lru_cache(maxsize=4)
def _sides(partition: Partition) -> Floats:
    """Return the side of each region: (m,). It is 0 where the atlas has that of the other label.

    Regions of the atlas cross the midline: a fifth of its left cuneus is right of it.
    """
    gazetteer = gazetteer_of(default_atlas(), partition)
    sign = np.array(
        [name.endswith("_L") - 1.0 * name.endswith("_R") for name in gazetteer.atlas.names]
    )
    sides, labelled = side_of_regions(partition), gazetteer.shared_mm3.T @ sign
    kept: Floats = np.where(sides * labelled < 0, 0, sides)
    return kept


@lru_cache(maxsize=4)
def _depth_mm(grid: VoxelGrid) -> Floats:
    """Return how far each voxel is from the surface of the brain: (m,)."""
    from scipy import ndimage

    distance: Floats = ndimage.distance_transform_edt(
        np.pad(grid.brain, 1), sampling=grid.voxel_sizes_mm
    )
    return distance[1:-1, 1:-1, 1:-1][grid.brain]


def _diameter_mm(q: Floats, partition: Partition) -> float:
    """Return the diameter of a ball of the volume that a map spreads over."""
    volume = _spread(q / q.sum()) * float(partition.volumes_mm3.mean())
    return float((6 * volume / np.pi) ** (1 / 3))


def _smoothed(q: Floats, partition: Partition, sigma_mm: float) -> Floats:
    """Smooth a map on a grid within the brain; that of an atlas stays as it is."""
    from scipy import ndimage

    if not isinstance(partition, VoxelGrid):
        return q
    volume = np.zeros(partition.brain.shape)
    volume[partition.brain] = q
    smoothed: Floats = ndimage.gaussian_filter(volume, sigma_mm / partition.voxel_sizes_mm)
    return smoothed[partition.brain]


def mass_for_seats(share: float) -> float:
    """Return the mass of a report's map that should hold a share of its seats.

    >>> mass_for_seats(0.5), mass_for_seats(1)
    (0.593, 1.0)
    """
    return float(np.interp(share, HELD, MASS_THAT_HOLDS))


def names_of(place: Place) -> tuple[str, ...]:
    """Return the structures of a place; those of "temporo-occipital" are two lobes."""
    stems = tuple(STEMS[match[0]] for match in _STEM.finditer(place.words.lower()))
    return stems if len(stems) > 1 and len(place.words.split()) == 1 else place.names


def _concluded(seats: dict[Key, _Weighed], maps: PlaceMaps) -> dict[Key, _Weighed]:
    """Raise the weight of the seats that the impression names, and of those in or around them."""
    inside = {key: maps.membership(each.place) for key, each in seats.items()}
    named = [key for key, each in seats.items() if each.place.is_concluded]
    return {
        key: each._replace(weight=CONCLUDED * each.weight)
        if any(_overlap(inside[key], inside[other]) for other in named) or key in named
        else each
        for key, each in seats.items()
    }


def _is_within(part: NDArray[Any], whole: NDArray[Any]) -> bool:
    return float(np.minimum(part, whole).sum()) > PART * float(part.sum())


def _overlap(one: Floats | None, other: Floats | None) -> bool:
    if one is None or other is None:
        return False
    return _is_within(one, other) or _is_within(other, one)


def is_refined(outer: NDArray[Any] | None, others: Iterable[NDArray[Any] | None]) -> bool:
    """Whether another place is a part of one, and clearly smaller: a gyrus of its lobe."""
    return outer is not None and any(
        part is not None and part.sum() < FINER * outer.sum() and _is_within(part, outer)
        for part in others
    )


def _refined(seats: dict[Key, _Weighed], maps: PlaceMaps) -> dict[Key, _Weighed]:
    """Lower the weight of a seat that another one makes more precise."""
    inside = {key: maps.membership(each.place) for key, each in seats.items()}
    return {
        key: each._replace(weight=REFINED * each.weight)
        if is_refined(inside[key], inside.values())
        else each
        for key, each in seats.items()
    }


def _kept(findings: Sequence[Finding], maps: PlaceMaps, q: Map) -> Map:
    """Return by how much what the report says of places without a finding lowers each region."""
    places = {_key(place): place for each in findings for place in each.places}.values()
    finest = _finest([maps.membership(place) for place in places if place.role == "seat"])
    empty = [place for place in places if place.role in AT_MOST]
    kept = np.ones_like(q)
    for place in sorted(empty, key=lambda place: -AT_MOST[place.role]):
        if (own := _empty(place, maps, finest)) is not None:
            most = AT_MOST[place.role] * maps.mean_map[own].sum()
            kept[own] *= most / max((q * kept)[own].sum(), most, TINY)
    return kept


def _finest(seats: Sequence[Floats | None]) -> list[Floats]:
    """Return the seats that no other one makes more precise."""
    return [each for each in seats if each is not None and not is_refined(each, seats)]


def _key(place: Place) -> tuple[Key, Role]:
    return (names_of(place), place.side), place.role


def _empty(place: Place, maps: PlaceMaps, seats: Sequence[Floats]) -> NDArray[np.bool_] | None:
    """Return which regions of a place without a finding are of no seat: (m,)."""
    if (inside := maps.membership(place)) is None:
        return None
    own = inside >= REACHED
    for seat in seats:
        if place.role in ONLY_NAMED or _is_within(seat, inside):
            own &= seat < HALF
    return own


def _spread(q: Floats) -> float:
    """Return the number of regions that a map spreads over: exp of its entropy."""
    positive = q[q > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))
