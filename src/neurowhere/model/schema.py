"""Schema: the plain data that every face of the program renders, with what each name means.

The command line prints it, ``--json`` and HTTP write it as one JSON object, tables and pages show
its rows. `neurowhere.model.summary` makes it; `SCHEMA_VERSION` grows when a name changes its
meaning or goes.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, fields, is_dataclass, replace
from textwrap import shorten
from typing import Any, ClassVar, Literal

from neurowhere.text.findings import Depth
from neurowhere.text.kinds import Kind
from neurowhere.text.roles import Role

SCHEMA_VERSION = 1
LONGEST_QUOTE = 160  # characters of a sentence
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
    """How well, in a word."""
    terms: int
    """Number of known terms that the text affirms, and of names that rules know."""
    words: int
    """Number of words of the text."""
    unknown: int
    """Number of content words that the model does not know."""
    foreign: bool
    """Whether the text does not seem to be in English."""
    nats: float
    """Expected gain in log-likelihood over the mean map, calibrated on unseen studies.

    Those were of the training source; studies of another source gained 0.03 to 0.11 more.
    """
    summary: str
    """The same in a sentence."""
    outside: str | None = None
    """What is affected outside the brain, if nothing in the brain is: "spinal cord"."""
    withheld: str | None = None
    """Why the map is shown only if it is asked for, in one line; null if it is shown."""

    def __str__(self) -> str:
        return self.summary


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
    side_crossed: bool = False
    """Whether the side is one of the body, which the other hemisphere serves: "left hand"."""
    side_dominant: Side | None = None
    """The side that has more, where `side` is bilateral: "left greater than right"."""
    misspelt: bool = False
    """Whether the text has its name with one letter wrong: "hipocampal"."""
    rows: list[str] = field(default_factory=list)
    """Rows of the tables that gave its status and side: "cues:no"."""


@dataclass(frozen=True, slots=True)
class FindingPlace(Schema):
    """A place of a finding."""

    name: str
    """The structure, or the artery or territory; where the text is kept out, what it supplies."""
    names: list[str]
    """Structures that it stands for; several where the text has an artery or a territory."""
    words: str | None
    """The words of the text; null where the text is kept out."""
    where: Span | None
    side: Side | None
    role: Role
    """What the place is to the finding: only the seats, and less what it extends to, are drawn."""
    status: Literal["affirmed", "hedged", "denied"]
    depth: Depth | None
    """Layer of a seat; "surface" for what is outside the tissue, as a subdural haematoma."""
    rule: str
    """Row of the table of roles that says so; empty for a place without a cue."""
    share: float
    """Its share in the map."""


@dataclass(frozen=True, slots=True)
class Finding(Schema):
    """Something that a report says is wrong, and where."""

    kind: str | None
    """The text's word for what it is: "infarct"; null where the text is kept out."""
    size_mm: float | None
    """Its largest size."""
    places: list[FindingPlace]
    """The seats first."""

    def without_text(self, unknown: Collection[str] = ()) -> "Finding":
        """Return the same without the words of the text, and without places that are no terms."""
        places = [  # an artery is named by what it supplies
            replace(place, name=", ".join(place.names), words=None, where=None)
            for place in self.places
            if not set(place.names) <= set(unknown)
        ]
        return replace(self, kind=None, places=places)


@dataclass(frozen=True, slots=True)
class Contradiction(Schema):
    """Two sentences of a report, one of which has the wrong side."""

    lobe: str
    """Lobe, or deep part of the brain, that both are about."""
    side: Literal["left", "right"]
    """Side of the lesion in one sentence."""
    where: Span | None
    """That sentence; null where the text is kept out."""
    words: str | None
    """Its words."""
    other_side: Literal["left", "right"] | None
    """Side of the lesion in the other sentence; null if it calls the lobe normal on that side."""
    other_where: Span | None
    """The other sentence."""
    other_words: str | None
    """Its words."""

    def __str__(self) -> str:
        first, other = map(_quoted, (self.words, self.other_words))
        return f"{self.lobe}: {self.side}{first}, but {self.other_side or 'normal there'}{other}"

    def without_text(self) -> "Contradiction":
        """Return the same without the words of the text."""
        return replace(self, where=None, words=None, other_where=None, other_words=None)


def _quoted(words: str | None) -> str:
    return "" if words is None else f" in “{shorten(words, LONGEST_QUOTE, placeholder=' …')}”"


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
    """A side that was read and not applied: of a symptom, or of the body."""

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
    """Label in the atlas; "landmark" and its name for a named place that the atlas lacks."""
    name: str
    """Name in words."""
    probability: float
    ratio: float | None
    """Ratio to the mean map; null where that is zero."""
    excess: float
    """Probability minus that of the mean map, or for a difference of what was subtracted."""
    named: bool
    """Whether it is part of a place that the text names."""
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
    """What a model reads in a text and predicts from it."""

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
    kind: Kind = "study"
    """Formula of the map: a report is a mixture of its places, a study a product of its words."""
    kind_signs: list[str] = field(default_factory=list)
    """Words of reports, or of studies, that decided so: rows of the table of kinds."""
    findings: list[Finding] = field(default_factory=list)
    """What a report says is wrong, and where."""
    contradictions: list[Contradiction] = field(default_factory=list)
    """Where a report gives the same lesion different sides."""
    place: Place | None = None
    sentences: list[Sentence] | None = None
    problem: str | None = None
    """Why one of many texts could not be read; the rest is then that of an empty text."""

    def _repr_html_(self) -> str:
        from neurowhere.report.notebook import summary_html

        return summary_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, ready for JSON.

        Returns
        -------
        dict of str to value
            Numbers keep four digits.
        """
        plain: dict[str, Any] = to_plain(self)
        return plain

    def without_text(self) -> "Summary":
        """Return the same without anything of the text but the names of terms.

        Returns
        -------
        Summary
        """
        unknown = {mention.term for mention in self.mentions if not mention.known}
        return replace(
            self,
            terms=[replace(term, where=None) for term in self.terms],
            mentions=[
                replace(mention, where=None, side_where=None, negation_where=None, hedge_where=None)
                for mention in self.mentions
                if mention.known  # what is no term is in the words of the text
            ],
            unapplied_sides=[replace(side, where=None) for side in self.unapplied_sides],
            findings=[each.without_text(unknown) for each in self.findings],
            contradictions=[each.without_text() for each in self.contradictions],
            kind_signs=[],
            rules=[],  # named in the words of the text
            unknown=[],
            sentences=None,
        )


@dataclass(frozen=True, slots=True)
class DifferingRegion(Schema):
    """A region of the atlas in two maps."""

    region: str
    """Label in the atlas."""
    name: str
    """Name in words."""
    probability: float
    """Probability in the map of the first text."""
    other: float
    """Probability in the map of the other text."""
    ratio: float | None
    """The first over the second; null where that is zero."""
    at: Point
    """Where in it the map of the difference is densest, in mm."""


@dataclass(frozen=True, slots=True)
class Difference(Schema):
    """Where two texts differ."""

    text: Summary
    other: Summary
    distance: float
    """Total-variation distance: 0 for the same map, 1 for disjoint ones."""
    difference: Summary
    """What the first text says and the other does not, as ``encode --minus`` gives it."""
    more: list[DifferingRegion]
    """Regions with more probability for the first text, the largest difference first."""
    less: list[DifferingRegion]
    """Regions with more probability for the other text, the largest difference first."""


def to_plain(value: Any) -> Any:
    """Return dataclasses as dictionaries, numbers to four digits; what is not finite is null.

    >>> to_plain([Reason("amygdala", 0.123456), float("nan")])
    [{'term': 'amygdala', 'contribution': 0.1235}, None]
    """
    if is_dataclass(value):
        return {name: to_plain(getattr(value, name)) for name in names_of(type(value))}
    if isinstance(value, dict):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value


def names_of(kind: type) -> tuple[str, ...]:
    """Return the names of the attributes of a class of the schema."""
    return tuple(each.name for each in fields(kind))
