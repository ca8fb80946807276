"""Summary: what an encoding says, and where two differ, as the plain data of the schema."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere.corpus.documents import XYZ
from neurowhere.model.algebra import subtract
from neurowhere.model.encoding import Encoding, RegionOrder
from neurowhere.model.regions import (
    N_REGIONS,
    as_point,
    by_whole,
    landmark_names,
    landmarks_of,
    reasons_for,
    regions_of,
)
from neurowhere.model.schema import (
    SCHEMA_VERSION,
    Contradiction,
    Difference,
    DifferingRegion,
    Finding,
    FindingPlace,
    ImpliedStructure,
    Mention,
    Peak,
    Place,
    Rule,
    Study,
    Summary,
    Term,
    UnappliedSide,
    Unknown,
)
from neurowhere.space import Atlas
from neurowhere.space.geometry import Gazetteer
from neurowhere.text.kinds import signs_of_kind
from neurowhere.text.reading import mentions as clinical

N_REASONS = 20
N_UNKNOWN = 20


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
            Unknown(word, (start, end), encoding.source.suggest(word))
            for word, start, end in encoding.unknown[:N_UNKNOWN]
        ],
        regions=regions_of(encoding, gazetteer, n_regions, n_explained, sort),
        peaks=_peaks(encoding, gazetteer),
        similar=studies_of(encoding.similar),
        kind=encoding.kind,
        kind_signs=signs_of_kind(encoding.text)[encoding.kind] if encoding.report else [],
        findings=findings_of(encoding),
        contradictions=contradictions_of(encoding),
        place=None if at is None else _place(encoding, gazetteer, at),
        problem=encoding.problem,
    )
    return summary if with_text else summary.without_text()


def _terms(encoding: Encoding) -> list[Term]:
    added = by_whole(encoding, encoding.terms["contribution"])
    return [
        Term(name, use.count, use.weight, added[name], use.where, use.implied)
        for name, use in encoding.uses.items()
        if name in added
    ]


def contradictions_of(encoding: Encoding) -> list[Contradiction]:
    """Return where a report gives the same lesion different sides, with its words."""
    return [
        Contradiction(
            each.lobe,
            each.side,
            each.where,
            encoding.text[slice(*each.where)],
            each.other_side,
            each.other_where,
            encoding.text[slice(*each.other_where)],
        )
        for each in encoding.contradictions
    ]


def findings_of(encoding: Encoding) -> list[Finding]:
    """Return what a report says is wrong, with the share of each place in the map."""
    shares: dict[tuple[int, int], float] = {}
    if encoding.mixture is not None:
        for component in encoding.mixture.components:
            shares[component.place.span] = component.share
    return [
        Finding(
            finding.kind,
            finding.size_mm,
            [
                FindingPlace(
                    place.name,
                    list(place.names),
                    place.words,
                    place.span,
                    place.side,
                    place.role,
                    place.status,
                    place.depth,
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
    """Return training studies as plain data."""
    rows = [] if table is None else _rows(table, "id", "similarity", "link", "title")
    return [Study(*row) for row in rows]


def compare_texts(
    first: Encoding,
    second: Encoding,
    atlas: Atlas | None = None,
    *,
    n_regions: int = N_REGIONS,
    n_explained: int = 0,
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
    n_explained : int
        Number of regions of the difference with the terms that raise or lower them.

    Returns
    -------
    Difference
    """
    there, back = subtract(first, second), subtract(second, first)
    return Difference(
        text=summarise(first, atlas, n_regions=n_regions),
        other=summarise(second, atlas, n_regions=n_regions),
        distance=float(np.abs(first.probabilities - second.probabilities).sum()) / 2,
        difference=summarise(there, atlas, n_regions=n_regions, n_explained=n_explained),
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
        rows=list(mention.rows),
    )


def _peaks(encoding: Encoding, gazetteer: Gazetteer) -> list[Peak]:
    table = encoding.peaks
    places = table[XYZ].to_numpy(np.float64)  # (n, 3)
    names = _names_at(encoding, gazetteer, places)
    return [
        Peak(as_point(place), density, _or_none(ratio), *name)
        for place, name, (density, ratio) in zip(
            places, names, _rows(table, "density", "ratio"), strict=True
        )
    ]


def _place(encoding: Encoding, gazetteer: Gazetteer, at: ArrayLike) -> Place:
    why = reasons_for(encoding, at, N_REASONS)  # refuses a point outside of the brain
    point: NDArray[np.float64] = np.asarray(at, dtype=np.float64)
    here = int(encoding.partition.region_of(point[None])[0])
    ((label, name),) = _names_at(encoding, gazetteer, point[None])
    return Place(
        as_point(point),
        label,
        name,
        density=float(encoding.density[here]),
        ratio=_ratio(encoding.probabilities[here], encoding.mean_map[here]),
        why=why,
    )


def _names_at(
    encoding: Encoding, gazetteer: Gazetteer, places: NDArray[np.float64]
) -> list[tuple[str, str] | tuple[None, None]]:
    """Return label and name of the region at each place, first of landmarks that the text names."""
    landmarks = landmarks_of(encoding, gazetteer).items()
    ours = encoding.partition.region_of(places).tolist()
    return [
        next((landmark_names(name) for name, place in landmarks if own in place.regions), None)
        or _named(gazetteer, region)
        for own, region in zip(ours, gazetteer.regions_at(places), strict=True)
    ]


def _named(gazetteer: Gazetteer, region: int | None) -> tuple[str, str] | tuple[None, None]:
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
