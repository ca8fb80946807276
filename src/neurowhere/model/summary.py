"""Summary: what an encoding says, and where two differ, as the plain data of the schema."""

import gzip
import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere.corpus.documents import XYZ
from neurowhere.model.algebra import subtract
from neurowhere.model.encoding import Encoding, RegionOrder
from neurowhere.model.schema import (
    SCHEMA_VERSION,
    Difference,
    DifferingRegion,
    Finding,
    FindingPlace,
    ImpliedStructure,
    Mention,
    Peak,
    Place,
    Point,
    Reason,
    Region,
    Rule,
    Study,
    Summary,
    Term,
    UnappliedSide,
    Unknown,
)
from neurowhere.space import Atlas
from neurowhere.space.geometry import Gazetteer, side_of_regions
from neurowhere.text.kinds import signs_of_kind
from neurowhere.text.reading import mentions as clinical

N_REGIONS = 12
N_REASONS = 20
N_REGION_REASONS = 6
N_UNKNOWN = 20
LEAST_PART = 0.3  # of one side of a place, that the largest of its regions has
COVERED = 0.5  # share of a region of an atlas in a place that it is part of
SIDES = 2  # of a named place, whose regions are listed
LEAST_EXCESS = 0.0005  # of a region that is listed: less is shown as 0.0 %
TINY = 1e-12
TITLES = Path(__file__).parents[1] / "data" / "titles.tsv.gz"  # id, tab, title


def summarise(
    encoding: Encoding,
    atlas: Atlas | None = None,
    *,
    n_regions: int | None = N_REGIONS,
    n_explained: int = 0,
    sort: RegionOrder = "excess",
    at: ArrayLike | None = None,
    with_text: bool = True,
) -> Summary:
    """Summarise an encoding as plain data.

    Parameters
    ----------
    encoding : Encoding
    atlas : Atlas, optional
        Names the regions; by default the model's own if it predicts those of one, or AAL3.
    n_regions : int or None
        Number of regions, None for all of the atlas.
    n_explained : int
        Number of regions, the first ones, with the terms that raise or lower them.
    sort : "excess", "probability" or "ratio"
        Order of the regions, as in `Encoding.regions`.
    at : (x, y, z) in mm, optional
        A place to explain as well.
    with_text : bool
        Whether the summary may hold words of the text, and where they are.

    Returns
    -------
    Summary
    """
    gazetteer = encoding.gazetteer(atlas)
    summary = Summary(
        schema_version=SCHEMA_VERSION,
        support=encoding.support,
        unit=encoding.unit,
        terms=_terms(encoding),
        mentions=_mentions(encoding),
        unapplied_sides=[
            UnappliedSide(mark.side, (mark.start, mark.end)) for mark in encoding.mentions.unapplied
        ],
        rules=_rules(encoding),
        unknown=[
            Unknown(word, (start, end), encoding.suggest(word))
            for word, start, end in encoding.unknown[:N_UNKNOWN]
        ],
        regions=regions_of(encoding, gazetteer, n_regions, n_explained, sort),
        peaks=_peaks(encoding, gazetteer),
        similar=studies_of(encoding.similar),
        kind=encoding.kind,
        kind_signs=signs_of_kind(encoding.text)[encoding.kind] if encoding.report else [],
        findings=_findings(encoding),
        place=None if at is None else _place(encoding, gazetteer, at),
        problem=encoding.problem,
    )
    return summary if with_text else summary.without_text()


def regions_of(
    encoding: Encoding,
    gazetteer: Gazetteer,
    n_regions: int | None,
    n_explained: int = 0,
    sort: RegionOrder = "excess",
) -> list[Region]:
    """Return the first regions of the atlas by their excess, probability or ratio.

    Each of a few places that the text names has one of its regions among them, if the text raises
    it. By excess, regions of these places come first: a small nucleus that is named has less
    probability than its large neighbours. Places that are no region of the atlas, such as the pons
    in AAL3, are marked as landmarks. Fewer regions are listed where the text raises no more.
    """
    if n_regions == 0:
        return []
    named = encoding.find_named()
    landmarks = [
        _landmark(encoding, name, inside, n_explained)
        for name, inside in _distinct(named).items()
        if _is_lacking(gazetteer, inside)
    ]
    table = encoding.regions(gazetteer.atlas, sort=sort)
    is_few = n_regions is not None and 2 * len(named) <= n_regions
    if n_regions is not None:
        if sort != "probability" and not encoding.is_mean_map:
            table = table[table["excess"] > LEAST_EXCESS]
        n_rows = n_regions - len(landmarks) if is_few else n_regions
        table = table.iloc[_first_rows(gazetteer, table, named if is_few else {}, n_rows)]
    rows = [gazetteer.atlas.names.index(label) for label in table["region"]]
    places = gazetteer.densest_mm(encoding.density, rows)
    is_named = _parts_of(gazetteer, rows, named.values())
    why = _reasons(encoding, gazetteer, table["region"].head(n_explained).tolist())
    columns = ("region", "name", "probability", "ratio", "excess")
    regions = [
        Region(
            label,
            name,
            probability,
            _or_none(ratio),
            excess,
            part,
            as_point(place),
            why.get(label, []),
        )
        for (label, name, probability, ratio, excess), part, place in zip(
            _rows(table, *columns), is_named.tolist(), places, strict=True
        )
    ]
    if landmarks:
        regions = sorted([*regions, *landmarks], key=lambda row: -(getattr(row, sort) or 0.0))
    if is_few and sort == "excess":
        regions.sort(key=lambda row: not row.named)
    return regions[:n_regions]


def _distinct(named: dict[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.bool_]]:
    """Return places by their first name: "cerebellum" is "cerebellar hemispheres"."""
    names = {inside.tobytes(): name for name, inside in reversed(named.items())}
    return {name: named[name] for name in reversed(names.values())}


def _first_rows(
    gazetteer: Gazetteer, table: pd.DataFrame, named: dict[str, NDArray[np.bool_]], n_regions: int
) -> list[int]:
    """Return the first rows of a table of regions, with up to two for each named place."""
    n_regions = max(n_regions, 0)
    rows = [gazetteer.atlas.names.index(label) for label in table["region"]]
    is_raised = (table["excess"] > 0).to_numpy()
    own = [
        np.flatnonzero(_parts_of(gazetteer, rows, [inside]) & is_raised)[:SIDES].tolist()
        for inside in named.values()
    ]
    kept = sorted({row for some in own for row in some})[:n_regions]
    others = [row for row in range(len(rows)) if row not in set(kept)]
    return sorted([*kept, *others[: n_regions - len(kept)]])


def _parts_of(
    gazetteer: Gazetteer, rows: list[int], places: Iterable[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Return which of some regions of the atlas are part of a place."""
    is_part = np.zeros(len(rows), bool)
    for inside in places:
        is_part |= _shares(gazetteer, inside)[rows] >= COVERED
    return is_part


def _is_lacking(gazetteer: Gazetteer, inside: NDArray[np.bool_]) -> bool:
    """Whether no region of the atlas is much of a place: the pons, or the thalamus of AAL3."""
    if gazetteer.atlas is gazetteer.partition:
        return False
    here = np.asarray(gazetteer.shared_mm3[:, inside].sum(axis=1)).ravel()
    own = here[_shares(gazetteer, inside) >= COVERED]
    sides = side_of_regions(gazetteer.partition)
    volumes = gazetteer.partition.volumes_mm3 * inside
    one_side = max(volumes[sides > 0].sum(), volumes[sides < 0].sum())
    return bool(own.max(initial=0) < LEAST_PART * one_side)


def _shares(gazetteer: Gazetteer, inside: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how much of each region of the atlas is in a place."""
    every = gazetteer.shares(np.ones(len(inside))).clip(min=TINY)
    shares: NDArray[np.float64] = gazetteer.shares(inside.astype(np.float64)) / every
    return shares


def _landmark(encoding: Encoding, name: str, inside: NDArray[np.bool_], n_explained: int) -> Region:
    """Sum up a place that the text names and the atlas lacks."""
    probability, mean = (
        float(each[inside].sum()) for each in (encoding.probabilities, encoding.mean_map)
    )
    densest = np.flatnonzero(inside)[np.argmax(encoding.density[inside])]
    why = _strongest(encoding, inside.astype(float)) if n_explained else []
    return Region(
        f"landmark {name}",
        f"{name} (landmark)",
        probability,
        _ratio(probability, mean),
        probability - mean,
        True,
        as_point(encoding.partition.centers_mm[densest]),
        why,
    )


def _reasons(
    encoding: Encoding, gazetteer: Gazetteer, labels: list[str]
) -> dict[str, list[Reason]]:
    """Return the terms that raise or lower each of some regions most."""
    if encoding.is_mean_map or not labels:
        return {}
    rows = [gazetteer.atlas.names.index(label) for label in labels]
    shared = sparse.csr_matrix(gazetteer.shared_mm3[rows])
    volumes = encoding.partition.volumes_mm3
    return {
        label: _strongest(encoding, shared[row].toarray()[0] / volumes)
        for row, label in enumerate(labels)
    }


def _strongest(encoding: Encoding, place: ArrayLike, n: int = N_REGION_REASONS) -> list[Reason]:
    """Return the terms that raise or lower a place most, as `Encoding.why` tells it."""
    added = _by_whole(encoding, encoding.contributions(place))
    strongest = sorted(added.items(), key=lambda pair: -abs(pair[1]))[:n]
    return [Reason(name, contribution) for name, contribution in strongest]


def _by_whole(encoding: Encoding, contributions: ArrayLike) -> dict[str, float]:
    """Sum what terms add by the names to show, in the order of these."""
    added = dict.fromkeys(encoding.whole_names.values(), 0.0)
    values = np.asarray(contributions).tolist()
    for name, contribution in zip(encoding.whole_names.values(), values, strict=True):
        added[name] += contribution
    return {name: added[name] for name in encoding.uses if name in added}


def _terms(encoding: Encoding) -> list[Term]:
    added = _by_whole(encoding, encoding.terms["contribution"])
    return [
        Term(name, use.count, use.weight, added[name], use.where, use.implied)
        for name, use in encoding.uses.items()
        if name in added
    ]


def _findings(encoding: Encoding) -> list[Finding]:
    """Return what a report says is wrong, with the share of each place in the map."""
    shares: dict[tuple[int, int], float] = {}
    if encoding.report is not None and encoding.report.mixture is not None:
        for component in encoding.report.mixture.components:
            shares[component.place.span] = component.share
    return [
        Finding(
            finding.kind,
            finding.size_mm,
            [
                FindingPlace(
                    list(place.names),
                    place.words,
                    place.span,
                    place.side,
                    place.role,
                    place.status,
                    place.rule,
                    shares.get(place.span, 0.0),
                )
                for place in finding.places
            ],
        )
        for finding in encoding.findings
    ]


def _rules(encoding: Encoding) -> list[Rule]:
    text = encoding.text
    return [
        Rule(
            text[rule.start : rule.end],
            (rule.start, rule.end),
            rule.is_present,
            [ImpliedStructure(structure.term, structure.side) for structure in rule.implied],
        )
        for rule in encoding.mentions.rule_based
    ]


def studies_of(table: pd.DataFrame | None) -> list[Study]:
    """Return training studies, with their titles where they are known."""
    rows = [] if table is None else _rows(table, "id", "similarity", "link")
    return [Study(study, near, link, title_of(study)) for study, near, link in rows]


def title_of(study: str) -> str | None:
    """Return the title of a study, None if it is not known.

    >>> title_of("9405692")
    'Role of left inferior prefrontal cortex in retrieval of semantic knowledge: A reevaluation'
    """
    return _titles().get(study)


@cache
def _titles() -> dict[str, str]:
    lines = gzip.decompress(TITLES.read_bytes()).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)


def as_point(xyz_mm: ArrayLike) -> Point:
    """Return a point as plain numbers, to a tenth of a millimetre."""
    x, y, z = np.round(np.asarray(xyz_mm, dtype=np.float64), 1).tolist()
    return x, y, z


def compare_texts(
    first: Encoding, second: Encoding, atlas: Atlas | None = None, *, n_regions: int = N_REGIONS
) -> Difference:
    """Sum up where two texts differ.

    Parameters
    ----------
    first, second : Encoding
        Encodings of one model.
    atlas : Atlas, optional
        Names the regions; by default as in `Encoding.regions`.
    n_regions : int
        Number of regions in each list.

    Returns
    -------
    Difference
    """
    there, back = subtract(first, second), subtract(second, first)
    return Difference(
        text=summarise(first, atlas, n_regions=n_regions),
        other=summarise(second, atlas, n_regions=n_regions),
        distance=float(np.abs(first.probabilities - second.probabilities).sum()) / 2,
        difference=summarise(there, atlas, n_regions=n_regions),
        more=_differing(first, second, there, atlas, 1, n_regions),
        less=_differing(first, second, back, atlas, -1, n_regions),
    )


def _differing(
    first: Encoding,
    second: Encoding,
    difference: Encoding,
    atlas: Atlas | None,
    sign: int,
    n_regions: int,
) -> list[DifferingRegion]:
    gazetteer = difference.gazetteer(atlas)
    ours, theirs = gazetteer.shares(first.density), gazetteer.shares(second.density)
    gain: NDArray[np.floating] = sign * (ours - theirs)
    largest = [
        row for row in np.argsort(-gain, kind="stable")[:n_regions].tolist() if gain[row] > 0
    ]
    places = gazetteer.densest_mm(difference.density, largest)
    return [
        DifferingRegion(
            gazetteer.atlas.names[row],
            gazetteer.names[row],
            float(ours[row]),
            float(theirs[row]),
            float(ours[row] / theirs[row]) if theirs[row] else None,
            as_point(place),
        )
        for row, place in zip(largest, places, strict=True)
    ]


def _mentions(encoding: Encoding) -> list[Mention]:
    """Return what was read, in the order of the text."""
    read = [(mention, True) for mention in encoding.mentions]
    read += [(place, False) for place in encoding.mentions.places]
    return [
        _mention(mention, known) for mention, known in sorted(read, key=lambda pair: pair[0].start)
    ]


def _mention(mention: clinical.Mention, known: bool) -> Mention:
    return Mention(
        term=mention.term,
        known=known,
        where=(mention.start, mention.end),
        side=mention.side,
        side_where=mention.side_span,
        side_inherited=mention.side_inherited,
        status=mention.status,
        negation_where=mention.negation_span,
        hedge_where=mention.hedge_span,
        section=mention.section,
        side_crossed=mention.is_crossed,
        side_dominant=mention.dominant,
        misspelt=mention.is_misspelt,
    )


def _peaks(encoding: Encoding, gazetteer: Gazetteer) -> list[Peak]:
    table = encoding.peaks
    places = table[XYZ].to_numpy(np.float64)  # (n, 3)
    return [
        Peak(as_point(place), density, _or_none(ratio), *_named(gazetteer, region))
        for place, region, (density, ratio) in zip(
            places, gazetteer.regions_at(places), _rows(table, "density", "ratio"), strict=True
        )
    ]


def _place(encoding: Encoding, gazetteer: Gazetteer, at: ArrayLike) -> Place:
    why = _strongest(encoding, at, N_REASONS)  # refuses a point outside of the brain
    point: NDArray[np.float64] = np.asarray(at, dtype=np.float64)
    here = int(encoding.partition.region_of(point[None])[0])
    return Place(
        as_point(point),
        *_named(gazetteer, gazetteer.regions_at(point[None])[0]),
        density=float(encoding.density[here]),
        ratio=_ratio(encoding.probabilities[here], encoding.mean_map[here]),
        why=why,
    )


def _named(gazetteer: Gazetteer, region: int | None) -> tuple[str | None, str | None]:
    """Return the label and the name of a region."""
    if region is None:
        return None, None
    return gazetteer.atlas.names[region], gazetteer.names[region]


def _ratio(probability: Any, mean: Any) -> float | None:
    return float(probability / mean) if mean else None


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rows(table: pd.DataFrame, *names: str) -> Iterator[Any]:
    """Go through the rows of some columns, as plain values; far faster than `itertuples`."""
    return zip(*(table[name].tolist() for name in names), strict=True)
