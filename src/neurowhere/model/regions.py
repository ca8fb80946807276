"""Regions: the places that an encoding points to, named and ordered once for every face."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.exceptions import PartitionError
from neurowhere.model.encoding import REGION_ORDERS, Encoding, RegionOrder, Same, ratios
from neurowhere.model.schema import Point, Reason, Region
from neurowhere.model.visible import Extent
from neurowhere.space.geometry import Gazetteer, side_of_regions

N_REGIONS = 12
N_REASONS = 6  # terms that explain a region
LEAST_PART = 0.3  # of one side of a place, that the largest of its regions has
COVERED = 0.5  # share of a region of an atlas in a place that it is part of
SIDES = 2  # of a named place, whose regions are listed
LEAST_EXCESS = 0.0005  # of a region that is listed: less is shown as 0.0 %
TINY = 1e-12
PLACES_AT_ONCE = 32  # whose reasons are found at once: each takes as much memory as a map
N_KEPT = 4096  # named places that are compared with an atlas once
COLUMNS = ["region", "name", "probability", "ratio", "excess", "named"]

ORDERS: dict[RegionOrder, str] = {
    "excess": "their excess over {usual}",
    "probability": "probability",
    "ratio": "their ratio to the mean map",
}

Mask = NDArray[np.bool_]


def regions_of(
    encoding: Encoding,
    gazetteer: Gazetteer,
    n_regions: int | None,
    n_explained: int = 0,
    sort: RegionOrder = "excess",
) -> list[Region]:
    """Return the regions of an encoding: one list, of which fewer are the first.

    By excess over the mean map, regions of the few places that a text names come first: a small
    nucleus that is named has less probability than its large neighbours. Places that are no region
    of the atlas, such as the pons in AAL3, are listed as landmarks. By probability or ratio, what
    the text names has no advantage.

    Parameters
    ----------
    encoding : Encoding
    gazetteer : Gazetteer
        Of the atlas that names the regions.
    n_regions : int or None
        Most regions; fewer are listed where the text raises no more. With None, all of the atlas.
    n_explained : int
        Number of regions, the first ones, with the terms that raise or lower them; beside these,
        landmarks have them too.
    sort : "excess", "probability" or "ratio"
        Order of the regions, as in `Encoding.regions`.

    Returns
    -------
    list of Region
    """
    if sort not in REGION_ORDERS:
        raise PartitionError(f"expected regions sorted by {', '.join(REGION_ORDERS)}, got {sort!r}")
    if n_regions == 0:
        return []
    listing = _listing(encoding, gazetteer)
    rows = listing.order("probability" if encoding.is_mean_map else sort, n_regions)
    explained = [
        row
        for number, row in enumerate(rows)
        if number < n_explained or (n_explained > 0 and row >= listing.n_atlas)
    ]
    why = dict(zip(explained, listing.reasons(explained), strict=False))
    places = listing.densest(rows)
    return [listing.region(row, places[row], why.get(row, [])) for row in rows]


def reasons_by_region(encoding: Encoding, gazetteer: Gazetteer) -> dict[str, list[Reason]]:
    """Return the terms that raise or lower a region most, for regions that a text changes most.

    What is in no region of the atlas has an empty label.

    Parameters
    ----------
    encoding : Encoding
    gazetteer : Gazetteer
        Of the atlas.

    Returns
    -------
    dict of str to list of Reason
        By label.
    """
    volumes = encoding.partition.volumes_mm3
    excess = gazetteer.shares(encoding.excess / volumes)
    rows = np.argsort(-np.abs(excess), kind="stable")[: PLACES_AT_ONCE - 1]
    shares = sparse.csr_matrix(sparse.csr_matrix(gazetteer.shared_mm3).multiply(1 / volumes))
    rest = sparse.csr_matrix((1 - np.asarray(shares.sum(axis=0))).clip(min=0))
    labels = [*(gazetteer.atlas.names[row] for row in rows.tolist()), ""]
    reasons = _reasons_in(encoding, sparse.vstack([shares[rows], rest]).tocsr())
    return dict(zip(labels, reasons, strict=False))


def usual_in_words(encoding: Encoding) -> str:
    """Return in words what the excess of an encoding is over."""
    return "the mean map" if encoding.contrast is None else "what is subtracted"


def order_in_words(
    regions: list[Region], sort: RegionOrder = "excess", usual: str = "the mean map"
) -> str:
    """Return the order of regions in words, for the head of a table.

    >>> order_in_words([], "ratio")
    'regions, by their ratio to the mean map'
    """
    named = [region.named for region in regions]
    is_first = sort == "excess" and any(named) and named == sorted(named, reverse=True)
    first = ": those that the text names, then others" if is_first else ""
    return f"regions{first}, by {ORDERS[sort].format(usual=usual)}"


def first_region(
    encoding: Encoding, gazetteer: Gazetteer, sort: RegionOrder = "excess"
) -> tuple[str, float, float] | None:
    """Return name, probability and ratio of the first of `regions_of`, which is quick."""
    listing = _listing(encoding, gazetteer)
    for row in listing.order("probability" if encoding.is_mean_map else sort, 1):
        return (
            listing.about(row)[1],
            float(listing.probability[row]),
            float(listing.ratio[row]),
        )
    return None


def region_table(regions: list[Region]) -> pd.DataFrame:
    """Return regions as a table: region, name, probability, ratio, excess, named."""
    rows = [[getattr(region, column) for column in COLUMNS] for region in regions]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"ratio": float})


def landmarks_of(encoding: Encoding, gazetteer: Gazetteer) -> dict[str, Extent]:
    """Return the places that a text names and the atlas lacks, each once."""
    return _lacking(encoding.source.named(), gazetteer)


def _lacking(named: dict[str, Extent], gazetteer: Gazetteer) -> dict[str, Extent]:
    places = _distinct(named).items()
    return {name: extent for name, extent in places if _beside(gazetteer, extent).is_lacking}


def landmark_names(place: str) -> tuple[str, str]:
    """Return the label and the name in words of a place that the atlas lacks.

    >>> landmark_names("left pons")
    ('landmark left pons', 'left pons (landmark)')
    """
    return f"landmark {place}", f"{place} (landmark)"


@dataclass(frozen=True, eq=False)
class _Listing:
    """The regions of an atlas, and then the landmarks of a text, by their rows 0 to n − 1."""

    encoding: Encoding
    gazetteer: Gazetteer

    @cached_property
    def density(self) -> NDArray[np.floating]:
        return self.encoding.density

    @cached_property
    def named(self) -> dict[str, Extent]:
        return self.encoding.source.named()

    @cached_property
    def landmarks(self) -> dict[str, Extent]:
        return _lacking(self.named, self.gazetteer)

    @property
    def n_atlas(self) -> int:
        return len(self.gazetteer.atlas.names)

    def _sums(
        self, probabilities: NDArray[np.floating], shares: NDArray[np.floating] | None = None
    ) -> NDArray[np.floating]:
        """Probability of each row, (n,); those of the atlas may be given."""
        if shares is None:
            shares = _shares(self.gazetteer, probabilities)
        if not self.landmarks:
            return shares
        places = self.landmarks.values()
        return np.append(shares, [probabilities[place.regions].sum() for place in places])

    @cached_property
    def probability(self) -> NDArray[np.floating]:
        return self._sums(self.encoding.probabilities)

    @cached_property
    def mean(self) -> NDArray[np.floating]:
        mean_map = self.encoding.mean_map
        return self._sums(mean_map, _mean_shares(self.gazetteer, Same(mean_map)))

    @cached_property
    def excess(self) -> NDArray[np.floating]:
        if self.encoding.contrast is None:
            return self.probability - self.mean
        return self._sums(self.encoding.excess)

    @cached_property
    def ratio(self) -> NDArray[np.floating]:
        return ratios(self.probability, self.mean)

    @cached_property
    def parts(self) -> Mask:
        """Rows that are part of each named place: (n_named, n)."""
        parts = np.zeros((len(self.named), len(self.probability)), bool)
        for row, extent in zip(parts, self.named.values(), strict=True):
            row[: self.n_atlas] = _beside(self.gazetteer, extent).parts
        return parts

    @cached_property
    def is_landmark(self) -> Mask:
        is_landmark: Mask = np.arange(len(self.probability)) >= self.n_atlas
        return is_landmark

    @cached_property
    def is_named(self) -> Mask:
        """Rows that are part of a place that the text names."""
        is_named: Mask = self.parts.any(axis=0) | self.is_landmark
        return is_named

    def order(self, sort: RegionOrder, n_rows: int | None) -> list[int]:
        """Return the first rows, or all of them."""
        ranked = np.argsort(-getattr(self, sort), kind="stable")  # NaN last
        is_raised = np.full(len(ranked), sort == "probability") | (self.excess > LEAST_EXCESS)
        is_sure = np.zeros(len(ranked), bool)
        if sort == "excess" and 2 * len(self.named) <= N_REGIONS:
            is_sure = self.is_landmark & is_raised
            for here in self.parts:
                is_sure[ranked[(here & is_raised)[ranked]][:SIDES]] = True
        sure = ranked[is_sure[ranked]].tolist()[:N_REGIONS]
        others = ranked[(is_raised & ~is_sure)[ranked]].tolist()
        head = {*sure, *others[: N_REGIONS - len(sure)]}
        first = [row for row in ranked.tolist() if row in head]
        if sure:
            first.sort(key=self.is_named.__getitem__, reverse=True)
        rest = others if n_rows is not None else [*others, *ranked.tolist()]
        return list(dict.fromkeys([*first, *rest]))[:n_rows]

    def reasons(self, rows: list[int]) -> list[list[Reason]]:
        """Return the terms that raise or lower some rows most."""
        if not rows:
            return []
        volumes, places = self.encoding.partition.volumes_mm3, list(self.landmarks.values())
        of_atlas = [row for row in rows if row < self.n_atlas]
        others = [row for row in rows if row >= self.n_atlas]
        shares = [sparse.csr_matrix(self.gazetteer.shared_mm3[of_atlas].multiply(1 / volumes))]
        shares += [
            sparse.csr_matrix(places[row - self.n_atlas].weights(len(volumes))) for row in others
        ]
        found = _reasons_in(self.encoding, sparse.vstack(shares).tocsr())
        reasons = dict(zip([*of_atlas, *others], found, strict=False))
        return [reasons.get(row, []) for row in rows]

    def region(self, row: int, densest: Point, why: list[Reason]) -> Region:
        """Sum up a row."""
        label, name = self.about(row)
        return Region(
            label,
            name,
            float(self.probability[row]),
            float(self.ratio[row]) if np.isfinite(self.ratio[row]) else None,
            float(self.excess[row]),
            bool(self.is_named[row]),
            densest,
            why,
        )

    def about(self, row: int) -> tuple[str, str]:
        """Return label and name."""
        if row < self.n_atlas:
            return self.gazetteer.atlas.names[row], self.gazetteer.names[row]
        return landmark_names(list(self.landmarks)[row - self.n_atlas])

    def densest(self, rows: list[int]) -> dict[int, Point]:
        """Return where each of some rows is densest."""
        of_atlas = [row for row in rows if row < self.n_atlas]
        places = self.gazetteer.densest_mm(self.density, of_atlas).round(1).tolist()
        found: dict[int, Point] = {
            row: (x, y, z) for row, (x, y, z) in zip(of_atlas, places, strict=True)
        }
        for row, place in enumerate(self.landmarks.values(), self.n_atlas):
            if row in rows:
                densest = place.regions[np.argmax(self.density[place.regions])]
                found[row] = as_point(self.encoding.partition.centers_mm[densest])
        return found


def _shares(gazetteer: Gazetteer, probabilities: NDArray[np.floating]) -> NDArray[np.floating]:
    return gazetteer.shares(probabilities / gazetteer.partition.volumes_mm3)


@lru_cache(maxsize=8)
def _mean_shares(gazetteer: Gazetteer, mean_map: Same) -> NDArray[np.floating]:
    return _shares(gazetteer, mean_map.values)


@lru_cache(maxsize=1)
def _listing(encoding: Encoding, gazetteer: Gazetteer) -> _Listing:
    """Return the regions of an encoding, which table, summary and page ask for in turn."""
    return _Listing(encoding, gazetteer)


# ---- named places beside an atlas


class _Beside(NamedTuple):
    """A place beside an atlas: the regions that are parts of it, and whether they lack much."""

    parts: Mask
    is_lacking: bool


@lru_cache(maxsize=N_KEPT)
def _beside(gazetteer: Gazetteer, extent: Extent) -> _Beside:
    """Compare a place with an atlas; texts name the same ones again and again.

    A place is lacking if no region of the atlas is much of it: the pons, or AAL3's thalamus.
    """
    n_regions = gazetteer.partition.n_regions
    every = gazetteer.shares(np.ones(n_regions)).clip(min=TINY)
    shared = gazetteer.shares(extent.weights(n_regions))  # mm³
    parts: Mask = shared / every >= COVERED
    if gazetteer.atlas is gazetteer.partition:
        return _Beside(parts, False)
    volumes = gazetteer.partition.volumes_mm3[extent.regions]
    sides = side_of_regions(gazetteer.partition)[extent.regions]
    one_side = max(volumes[sides > 0].sum(), volumes[sides < 0].sum())
    return _Beside(parts, bool(shared[parts].max(initial=0) < LEAST_PART * one_side))


def _distinct(named: dict[str, Extent]) -> dict[str, Extent]:
    """Return places by their first name: "cerebellum" is "cerebellar hemispheres"."""
    names = {extent.key: name for name, extent in reversed(named.items())}
    return {name: named[name] for name in reversed(names.values())}


# ---- why, and where


def reasons_for(encoding: Encoding, place: ArrayLike, n: int = N_REASONS) -> list[Reason]:
    """Return the terms that raise or lower a place most, as `Encoding.why` tells it."""
    added = by_whole(encoding, encoding.contributions(place))
    strongest = sorted(added.items(), key=lambda pair: -abs(pair[1]))[:n]
    return [Reason(name, contribution) for name, contribution in strongest]


def _reasons_in(encoding: Encoding, shares: sparse.csr_matrix) -> list[list[Reason]]:
    """Return the terms that raise or lower some places most; none for the mean map.

    `shares` has a row for each place, with how much of each region of the model is in it.
    """
    if encoding.is_mean_map:
        return []
    whole = encoding.whole_names
    names = shown_terms(encoding)
    row_of = {name: row for row, name in enumerate(names)}
    found = []
    for few in slices(shares.shape[0], PLACES_AT_ONCE):
        added = np.zeros((len(names), few.stop - few.start))
        contributions = encoding.contributions(shares[few].toarray().T)  # (n_uses, n)
        np.add.at(added, [row_of[name] for name in whole.values()], contributions)
        strongest = np.argsort(-np.abs(added), axis=0, kind="stable")[:N_REASONS].T
        found += [
            [Reason(names[row], float(added[row, place])) for row in rows]
            for place, rows in enumerate(strongest.tolist())
        ]
    return found


def by_whole(encoding: Encoding, contributions: ArrayLike) -> dict[str, float]:
    """Sum what terms add by the names to show, in the order of these."""
    added = dict.fromkeys(encoding.whole_names.values(), 0.0)
    values = np.asarray(contributions).tolist()
    for name, contribution in zip(encoding.whole_names.values(), values, strict=True):
        added[name] += contribution
    return {name: added[name] for name in shown_terms(encoding)}


def shown_terms(encoding: Encoding) -> list[str]:
    """Return the terms that are shown, the heaviest first; see `Encoding.whole_names`."""
    whole = set(encoding.whole_names.values())
    return [name for name in encoding.uses if name in whole]


def as_point(xyz_mm: ArrayLike) -> Point:
    """Return a point as plain numbers, to a tenth of a millimetre."""
    x, y, z = np.round(np.asarray(xyz_mm, dtype=np.float64), 1).tolist()
    return x, y, z
