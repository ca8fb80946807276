"""Summary: what an encoding says, as plain data that every face of the program renders.

The command line prints it, ``--json`` and HTTP write it as one JSON object, tables and pages
show its rows. Its classes are the documented schema of that object; `SCHEMA_VERSION` grows when a
name changes its meaning or goes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere.corpus.frames import XYZ
from neurowhere.model.encoding import Encoding, RegionOrder
from neurowhere.model.gazetteer import Gazetteer
from neurowhere.model.titles import title_of
from neurowhere.space import Atlas
from neurowhere.text.clinical import mentions as clinical

SCHEMA_VERSION = 1
N_REGIONS = 10
N_REASONS = 20
N_REGION_REASONS = 6
N_UNKNOWN = 20
DIGITS = 4  # of numbers in JSON that are significant

Span = tuple[int, int]  # start and end in the text, in Unicode code points
Point = tuple[float, float, float]  # in MNI mm
Side = Literal["left", "right", "bilateral"]


class Schema:
    """What the classes of the schema share."""

    __slots__ = ()
    # The HTTP API is documented from the docstrings of the attributes.
    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class Support(Schema):
    """How well the model can tell where the text points."""

    level: Literal["none", "weak", "good"]
    terms: int
    """Number of known terms that the text affirms."""
    words: int
    """Number of words of the text."""
    unknown: int
    """Number of content words that the model does not know."""
    foreign: bool
    """Whether the text does not seem to be in English."""
    nats: float
    """Expected gain in log-likelihood over the mean map."""
    summary: str
    """The same in a sentence."""


@dataclass(frozen=True, slots=True)
class Term(Schema):
    """A term that the text affirms."""

    term: str
    count: int
    weight: float
    """Its feature in the text."""
    contribution: float
    """How far it moved the map to what it is."""
    where: list[Span] | None
    """Its mentions; null where the text is kept out."""
    implied: bool
    """Whether only rules point to it: see `rules`."""


@dataclass(frozen=True, slots=True)
class Mention(Schema):
    """A mention of a term, or of a place that is no term."""

    term: str
    known: bool
    """Whether it is a term of the model."""
    where: Span | None
    side: Side | None
    side_where: Span | None
    """The words that give the side."""
    side_inherited: bool
    """Whether the side stands before an earlier name of a list."""
    status: Literal["affirmed", "hedged", "denied", "not_finding"]
    """What the text says of it; what is denied or no finding does not count."""
    negation_where: Span | None
    """The words that deny it."""
    hedge_where: Span | None = None
    """The words that leave it open."""
    section: str | None = None
    """Section of a report without findings that it is in."""


@dataclass(frozen=True, slots=True)
class ImpliedStructure(Schema):
    """A structure that a rule points to."""

    term: str
    side: Side | None


@dataclass(frozen=True, slots=True)
class Rule(Schema):
    """An artery, a syndrome or a sign, and the structures that it points to by a rule."""

    name: str
    where: Span | None
    applied: bool
    """Whether it counts: the text affirms it."""
    structures: list[ImpliedStructure]


@dataclass(frozen=True, slots=True)
class Unknown(Schema):
    """A content word of the text that the model does not know."""

    word: str
    where: Span
    suggestions: list[str]
    """Known names that are spelt like it."""


@dataclass(frozen=True, slots=True)
class UnappliedSide(Schema):
    """A side that was read and not applied: of a limb, a visual field or a symptom."""

    side: Side
    where: Span | None


@dataclass(frozen=True, slots=True)
class Reason(Schema):
    """What a term adds."""

    term: str
    contribution: float


@dataclass(frozen=True, slots=True)
class Region(Schema):
    """A region of the atlas."""

    region: str
    """Label in the atlas."""
    name: str
    """Name in words."""
    probability: float
    ratio: float | None
    """Ratio to the mean map; null where that is zero."""
    excess: float
    """Probability minus that of the mean map."""
    at: Point
    """Its densest place, in mm."""
    why: list[Reason]
    """Terms that raise or lower it most, where reasons were asked for."""


@dataclass(frozen=True, slots=True)
class Peak(Schema):
    """A maximum of the density."""

    at: Point
    density: float
    """In mm⁻³."""
    ratio: float | None
    """Ratio to the mean map."""
    region: str | None
    """Label of the region of the atlas around it."""
    name: str | None
    """Name of that region in words."""


@dataclass(frozen=True, slots=True)
class Study(Schema):
    """A training study."""

    id: str
    similarity: float
    """Cosine of its text and this one, in the dimensions of the model."""
    link: str
    """Link to PubMed; empty where it has no id there."""
    title: str | None = None
    """Title, where it is known."""


@dataclass(frozen=True, slots=True)
class Place(Schema):
    """What a text says of one place."""

    at: Point
    region: str | None
    name: str | None
    density: float
    ratio: float | None
    why: list[Reason]


@dataclass(frozen=True, slots=True)
class Sentence(Schema):
    """One sentence of the text, encoded by itself."""

    where: Span
    support: Support
    terms: list[str]
    regions: list[Region]


@dataclass(frozen=True, slots=True)
class Summary(Schema):
    """What a model makes of a text."""

    schema_version: int
    support: Support
    unit: Literal["probability", "log probability"]
    """Unit of the contributions of terms."""
    terms: list[Term]
    """The heaviest first."""
    mentions: list[Mention]
    """In the order of the text."""
    unapplied_sides: list[UnappliedSide]
    rules: list[Rule]
    """Arteries, syndromes and signs."""
    unknown: list[Unknown]
    """Content words that the model does not know, the first ones."""
    regions: list[Region]
    peaks: list[Peak]
    """The strongest first."""
    similar: list[Study]
    """Training studies with the closest texts."""
    place: Place | None = None
    sentences: list[Sentence] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, ready for JSON; numbers keep four digits."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def without_text(self) -> "Summary":
        """Return the same without anything of the text but the names of terms."""
        return replace(
            self,
            terms=[replace(term, where=None) for term in self.terms],
            mentions=[
                replace(mention, where=None, side_where=None, negation_where=None, hedge_where=None)
                for mention in self.mentions
                if mention.known  # what is no term is in the words of the text
            ],
            unapplied_sides=[replace(side, where=None) for side in self.unapplied_sides],
            rules=[],  # named in the words of the text
            unknown=[],
            sentences=None,
        )


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
    """Sum up an encoding as plain data.

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
        support=support_of(encoding),
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
        place=None if at is None else _place(encoding, gazetteer, at),
    )
    return summary if with_text else summary.without_text()


def support_of(encoding: Encoding) -> Support:
    """Return how well a text is supported."""
    found = encoding.support
    return Support(
        level=found.level,
        terms=found.terms,
        words=found.words,
        unknown=found.unknown,
        foreign=found.foreign,
        nats=found.nats,
        summary=str(found),
    )


def regions_of(
    encoding: Encoding,
    gazetteer: Gazetteer,
    n_regions: int | None,
    n_explained: int = 0,
    sort: RegionOrder = "excess",
) -> list[Region]:
    """Return the first regions of the atlas by their excess, probability or ratio."""
    if n_regions == 0:
        return []
    table = encoding.regions(gazetteer.atlas, sort=sort).head(n_regions or len(gazetteer.names))
    rows = [gazetteer.atlas.names.index(label) for label in table["region"]]
    places = gazetteer.densest_mm(encoding.density, rows)
    why = _reasons(encoding, gazetteer, table["region"].head(n_explained).tolist())
    columns = ("region", "name", "probability", "ratio", "excess")
    return [
        Region(
            label,
            name,
            probability,
            _or_none(ratio),
            excess,
            as_point(place),
            why.get(label, []),
        )
        for (label, name, probability, ratio, excess), place in zip(
            _rows(table, *columns), places, strict=True
        )
    ]


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
        label: reasons_of(encoding.why(shared[row].toarray()[0] / volumes))[:N_REGION_REASONS]
        for row, label in enumerate(labels)
    }


def _terms(encoding: Encoding) -> list[Term]:
    contributions = encoding.terms["contribution"].tolist()
    return [
        Term(name, use.count, use.weight, contribution, use.where, use.implied)
        for (name, use), contribution in zip(encoding.uses.items(), contributions, strict=True)
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


def reasons_of(table: pd.DataFrame) -> list[Reason]:
    """Return what terms add, as `Encoding.why` tells it."""
    return [Reason(*row) for row in _rows(table.head(N_REASONS), *_names(Reason))]


def studies_of(table: pd.DataFrame | None) -> list[Study]:
    """Return training studies, with their titles where they are known."""
    rows = [] if table is None else _rows(table, "id", "similarity", "link")
    return [Study(study, near, link, title_of(study)) for study, near, link in rows]


def as_point(xyz_mm: ArrayLike) -> Point:
    """Return a point as plain numbers, to a tenth of a millimetre."""
    x, y, z = np.round(np.asarray(xyz_mm, dtype=np.float64), 1).tolist()
    return x, y, z


def to_plain(value: Any) -> Any:
    """Return dataclasses as dictionaries, numbers to four digits; what is not finite is null.

    >>> to_plain([Reason("amygdala", 0.123456), float("nan")])
    [{'term': 'amygdala', 'contribution': 0.1235}, None]
    """
    if is_dataclass(value):
        return {name: to_plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, dict):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


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
    why = encoding.why(at)  # refuses a point outside of the brain
    point: NDArray[np.float64] = np.asarray(at, dtype=np.float64)
    here = int(encoding.partition.region_of(point[None])[0])
    return Place(
        as_point(point),
        *_named(gazetteer, gazetteer.regions_at(point[None])[0]),
        density=float(encoding.density[here]),
        ratio=_ratio(encoding.probabilities[here], encoding.mean_map[here]),
        why=reasons_of(why),
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


def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
