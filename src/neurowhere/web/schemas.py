"""Schemas: what requests and answers hold, with examples for the documentation."""

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from neurowhere.model.encoding import RegionOrder
from neurowhere.model.regions import N_REGIONS
from neurowhere.model.schema import Finding, Mention, Study, Summary, to_plain
from neurowhere.text.kinds import Kind

FARTHEST_MM = 200.0
FINEST_MM, COARSEST_MM = 1.0, 20.0
MOST_REGIONS = 1000
TEXTS_AT_ONCE = 10  # texts in a piece of a batch
BOUNDARY = "neurowhere-5b0c8e1f7a2d4936"  # between the parts of an answer

# One answer of each kind, its lists cut short; none has a null, which FastAPI would leave out.
EXAMPLES: dict[str, Any] = json.loads(
    (files("neurowhere.web") / "examples.json").read_text("utf-8")
)

# What the page shows of a mention and of a place of a finding, beside where it is.
MARKED = ("term", "status", "section", "misspelt", "side_crossed", "side_dominant")
TOLD = ("name", "side", "role", "status")

Millimetres = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM, allow_inf_nan=False)]
Point = tuple[Millimetres, Millimetres, Millimetres]
Text = Annotated[str, Field(min_length=1, description="In English.")]
Span = Annotated[
    tuple[int, int], Field(description="Start and end in the text, in Unicode code points.")
]
Side = Literal["left", "right", "bilateral"]
DocumentKind = Literal["pdf", "docx", "html", "txt"]
AtlasName = Literal["default", "hcpex"]
ImageName = Literal["density", "log_ratio", "mass"]
ContrastImage = Literal["log_ratio", "density", "significant"]


class Schema(BaseModel):
    """Base of all schemas: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


def told(words: str, default: Any = ..., **limits: Any) -> Any:
    """Return a field with its description, its default and its limits."""
    return Field(default, description=words, **limits)


def example(**fields: Any) -> ConfigDict:
    """Configure a schema with an example."""
    return ConfigDict(extra="forbid", json_schema_extra={"example": fields})


# ---- requests


class Naming(Schema):
    """How places are named."""

    atlas: AtlasName = told(
        "Atlas that names regions: AAL3 or the model's own, or HCPex with 426 regions.", "default"
    )


class How(Naming):
    """How texts are read."""

    negation: bool = told("Leave out what the text denies.", True)
    sides: bool = told("Move the map to the sides that the text gives.", True)
    findings: bool = told(
        "Leave out sections of a report that hold no findings: technique, indication, history, "
        "comparison, plan, affiliations.",
        True,
    )
    hedge_weight: float = told("Weight of what the text leaves open.", 1.0, ge=0, le=1)
    kind: Kind | None = told(
        "Formula of the map: a report is drawn from the places of its findings, a study from all "
        "its words. By default the words of the text decide.",
        None,
    )


class Reading(How):
    """How texts are read, and regions listed."""

    sort: RegionOrder = told(
        "Order of regions: by their excess over the mean map, probability or ratio.", "excess"
    )
    regions: int = told(
        "Rows of the table of regions, the likeliest first.", N_REGIONS, ge=0, le=MOST_REGIONS
    )


class Imaging(Schema):
    """What images show; it has no effect on JSON."""

    resolution_mm: float | None = told(
        "Voxels of a NIfTI image; by default the model's.", None, ge=FINEST_MM, le=COARSEST_MM
    )


class EncodeQuery(Reading, Imaging):
    """A text to encode."""

    model_config = example(text=EXAMPLES["text"])

    text: Text
    at: Point | None = told(
        "A place in MNI mm: the answer tells what the text says of it, and why.", None
    )
    sentences: bool = told(
        "Also encode each sentence by itself, up to as many as a batch may hold; in an answer of "
        "several parts, the sentences alone.",
        False,
    )
    explain: bool = told(
        "In an answer of several parts, also tell the terms that raise or lower each region most "
        "(`why`), related terms (`related`), and the first regions in each order.",
        False,
    )
    image: ImageName = told(
        "What an image shows: the density in mm⁻³; its log ratio to the mean map; or mass, the "
        "smallest regions that should hold 50, 80 and 95 % of the peaks (3, 2, 1).",
        "density",
    )


class BatchQuery(Reading):
    """Texts to encode."""

    model_config = example(texts=["Fear and the amygdala.", "Reading words aloud."])

    texts: list[Text] = Field(min_length=1)

    def pieces(self) -> Iterator[Self]:
        """Yield the batch a few texts at a time, so that other queries get their turn."""
        for start in range(0, len(self.texts), TEXTS_AT_ONCE):
            texts = self.texts[start : start + TEXTS_AT_ONCE]
            yield self.model_construct(**{**self.__dict__, "texts": texts})


class DifferenceQuery(Reading, Imaging):
    """Two texts to compare."""

    model_config = example(text="speech production", other="speech perception")

    text: Text
    other: Text
    explain: bool = told("Also tell the terms that raise or lower each region most.", False)


class TermQuery(Imaging):
    """A term whose map is wanted."""

    model_config = example(name="left amygdala")

    name: str = told("Term of the model, with a side or not.", min_length=1, max_length=200)


class ContrastDocument(Schema):
    """A document to contrast."""

    id: str | None = told("By default its number.", None, max_length=200)
    text: Text


class ContrastQuery(Naming):
    """Documents, and the term whose documents are contrasted with all or with others."""

    model_config = example(
        documents=[{"text": "Fear and the amygdala."}, {"text": "Reading words aloud."}],
        term="fear",
    )

    documents: list[ContrastDocument] = told(
        "Documents; none where a collection is named.", [], min_length=2
    )
    collection: str | None = told(
        "Collection of the server, instead of documents.", None, max_length=200
    )
    term: str = told(
        "Query: a word, a phrase, a prefix (aphasi*), or AND, OR, NOT of them.",
        min_length=1,
        max_length=1000,
    )
    against: str | None = told("Query of a second group; by default all.", None, max_length=1000)
    min_mentions: int = told("Least number in a document.", 1, ge=1)
    by_mentions: bool = told("Weight documents by their mentions.", False)
    unadjusted: bool = told(
        "Contrast all documents that mention the term with all, whatever their kind.", False
    )
    without_term: bool = told("Leave the term out of an unadjusted encoding, too.", False)
    without: list[str] = told("Leave these out too.", [], max_length=20)
    matched: bool = told(
        "Contrast with the nearest documents of the same kind instead of adjusting.", False
    )
    min_ratio: float = told(
        "Smallest ratio, or its inverse, of what counts as significant.",
        1.0,
        ge=1,
        allow_inf_nan=False,
    )
    regions: int = told("Rows of the table.", 20, ge=0, le=MOST_REGIONS)

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if bool(self.documents) == bool(self.collection):
            raise ValueError("expected documents, or the name of a collection")
        if self.unadjusted and self.matched:
            raise ValueError("expected unadjusted or matched, not both")
        return self


class DecodeQuery(Naming):
    """Places whose terms and studies are wanted."""

    model_config = example(points=[[-24, -4, -18]])

    points: list[Point] = told("In MNI mm.", min_length=1)
    each: bool = told("Also decode each of the first 100 points by itself.", False)
    n: int = told("Rows of each table.", 20, ge=1, le=200)
    regions: int = told("Rows of the table of regions.", 10, ge=0, le=MOST_REGIONS)


class RelatedQuery(Reading):
    """A text, or a term, whose related terms are wanted."""

    model_config = example(text="working memory")

    text: Text
    n: int = told("Number of terms.", 12, ge=1, le=100)


class Drawing(Schema):
    """What a figure for a paper shows."""

    quantity: Literal["ratio", "density", "difference"] = told(
        "Ratio to the average study, share of the peaks per cm³, or where the first of two texts "
        "points more than the second, and less.",
        "ratio",
    )
    layout: Literal["mosaic", "surface"] = told("Axial slices, or the inflated cortex.", "mosaic")


class FigureQuery(Reading, Drawing):
    """A text whose map is drawn for a paper."""

    model_config = example(text=EXAMPLES["text"], width_mm=85)

    text: Text
    other: Text | None = told("A second text, drawn on the same scale.", None)
    width_mm: float = told("Width: a column has 85 mm, a page 174 mm.", 174, ge=40, le=400)


class MethodsQuery(How, Drawing):
    """How texts were read and maps drawn that are to be described; no text is needed."""

    model_config = example(kind="report")

    n_texts: Literal[1, 2] = told("Texts in the figure.", 1)


class RegionQuery(Naming):
    """A region of the atlas whose mask is wanted."""

    model_config = example(region="Amygdala_L")

    region: str = told("Label in the atlas.", max_length=200)


class MapQuery(Naming):
    """An image whose terms and studies are wanted."""

    image: bytes
    threshold: float | None
    negative: bool
    n: int


class FindQuery(Schema):
    """A document of a collection whose text is wanted."""

    model_config = example(id="21195295")

    id: str = told("PubMed id, DOI, or the source's.", min_length=1, max_length=300)


class DocumentQuery(Schema):
    """A document whose text is wanted."""

    content: bytes
    kind: DocumentKind


# ---- answers


class BatchAnswer(Schema):
    """One summary for each text, in order."""

    results: list[Summary]


class TermAnswer(Schema):
    """What a model associates with a term."""

    name: str
    term: str = told("Term of the vocabulary that it stands for.")
    side: Side | None
    method: Literal["learned", "restricted"]
    unit: Literal["probability", "log probability"]
    peaks: list[Point] = told("Where it adds most, in mm.")


class DocumentAnswer(Schema):
    """The text of a document."""

    model_config = example(**EXAMPLES["document"])

    text: str = told("Its prose, up to the limit of a text.")
    characters: int = told("Length of all of its prose.")


class FoundAnswer(DocumentAnswer):
    """A document of a collection."""

    model_config = example(**EXAMPLES["found"])

    id: str
    title: str
    collection: str = told("Name of the collection that has it.")


class RelatedTerm(Schema):
    """A term close to a text."""

    term: str
    closeness: float = told("Between 0 and 1.")


class RegionAnswer(Schema):
    """A region of the atlas."""

    region: str
    name: str = told("Name in words.")
    at: Point = told("Its centre, in mm.")
    volume_mm3: float


class RelatedAnswer(Schema):
    """Terms that are related to a text."""

    terms: list[RelatedTerm]


class MethodsAnswer(Schema):
    """How maps came about, for a paper."""

    text: str = told("A paragraph.")
    bibtex: str = told("What it cites.")
    caption: str = told("Caption of a figure, which ends with the paragraph.")


class TermsAnswer(Schema):
    """The names that a model knows."""

    model_config = example(**EXAMPLES["terms"])

    terms: list[str]


class DecodedTerm(Schema):
    """A term associated with a place."""

    term: str
    score: float = told("Correlation with the map of the term, discounted if rare.")
    ratio: float = told("How much likelier a study half about the term is there.")


class DecodedRegion(Schema):
    """A region of the atlas, and how much of what was decoded lies in it."""

    region: str = told("Label in the atlas.")
    name: str = told("Name in words.")
    probability: float = told("Share of the points, or of the values of a map.")
    ratio: float | None = told("Ratio to the mean map; null where that is zero.")
    at: Point = told("Its densest place, in mm.")


class DecodedPoint(Schema):
    """A point, decoded by itself."""

    at: Point
    inside: bool = told("Whether it is in the brain.")
    region: str | None = told("Label of the region of the atlas around it.")
    name: str | None = told("Its name in words.")
    terms: list[str] = told("The best ones.")


class DecodeAnswer(Schema):
    """Terms and studies associated with places."""

    terms: list[DecodedTerm]
    studies: list[Study]
    regions: list[DecodedRegion]
    outside: int = told("Points outside of the brain, which were left out.")
    threshold: float | None = told(
        "Values of a map above this were counted; null for points.", None
    )
    notes: list[str] = told("What is odd about a map.", [])
    points: list[DecodedPoint] = told("One by one, if asked for.", [])


class ModelAnswer(Schema):
    """The model card."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"example": EXAMPLES["model"]})

    version: str
    terms: int
    atlas: str | None
    limits: dict[str, float]


class HealthAnswer(Schema):
    """Whether the server works, and how much waits."""

    model_config = example(**EXAMPLES["health"])

    status: Literal["ok"]
    version: str
    pending: int
    capacity: int


class WorkerState(Schema):
    """State of a worker."""

    state: Literal["ready", "busy", "starting", "dead", "asleep"]
    memory_mb: float | None = told("Its share of what it has in common with others.")
    restarts: int = told("Times that it was replaced.")


class ReadyAnswer(Schema):
    """Whether queries are answered."""

    model_config = example(**EXAMPLES["ready"])

    status: Literal["ready"]
    workers: list[WorkerState]
    artist: WorkerState = told("The process that draws; asleep until it is needed.")


class JobAnswer(Schema):
    """A job and its progress."""

    model_config = example(**EXAMPLES["job"])

    id: str = told("Cannot be guessed; who knows it may fetch the result.")
    kind: Literal["batch", "contrast"]
    state: Literal["waiting", "running", "done", "failed"]
    done: int = told("Texts that are encoded, or stages that are finished.")
    total: int
    detail: str | None = told("Why it failed.", None)
    kept_seconds: int | None = told("Time until a finished job is forgotten.", None)


class ContrastAnswer(Schema):
    """Where two groups of documents differ."""

    model_config = example(**EXAMPLES["contrast"])

    group: str
    against: str = told("Empty for all documents.")
    outcome: str = told("What was found, in words.")
    about: dict[str, Any] = told("Numbers of documents, problems, placeless words.")
    significant: int = told("Regions of the model with a false-discovery rate < 5 %.")
    most_raised: list[str] = told("Regions that pass, the largest ratios first.")
    regions: list[dict[str, Any]] = told("Of the atlas, the largest t first.")
    terms: list[dict[str, Any]] = told("That carry the contrast.")
    documents: list[dict[str, Any]] = told("Of the groups: id, mentions, weight.")


def shown(summary: Summary) -> dict[str, Any]:
    """Return what the page shows of a summary; it is a tenth as long for a long text.

    Mentions, rules and places of a finding that say the same are one, with all spans. Left out are
    a mention of which there is no more to say than what its term has in `where`, and the `where` of
    a term that only rules point to, which the rules have.
    """
    rules = _Groups()
    for rule in summary.rules:
        rules.add(to_plain(replace(rule, where=None)), rule.where)
    terms = [replace(term, where=[]) if term.implied else term for term in summary.terms]
    return summary.to_dict() | {
        "terms": to_plain(terms),
        "mentions": _shown_mentions(summary),
        "rules": rules.rows,
        "findings": [_shown_finding(each) for each in summary.findings],
    }


def _shown_mentions(summary: Summary) -> list[dict[str, Any]]:
    names: dict[Any, str] = {}  # the longest of those that a place counts for
    for term in summary.terms:
        for where in term.where or ():
            names[where] = max(names.get(where, ""), term.term, key=len)
    for rule in summary.rules:
        names.pop(rule.where, None)
    mentions = _Groups()
    for mention in summary.mentions:
        said, spans = _said(mention)
        is_more = len(said) > 1 or len(spans) > 1
        if is_more or (mention.known and names.get(mention.where) != mention.term):
            mentions.add(said, spans)
    return mentions.rows


def _said(mention: Mention) -> tuple[dict[str, Any], list[Any]]:
    """Return what the page shows of a mention, and the spans of its words."""
    said = {key: value for key in MARKED if (value := getattr(mention, key))}
    if mention.status in ("affirmed", "denied"):  # which the spans say
        del said["status"]
    spans = [mention.where, mention.side_where, mention.negation_where]
    while spans[-1] is None:
        spans.pop()
    return said, spans


def _shown_finding(finding: Finding) -> dict[str, Any]:
    places = _Groups()
    for place in finding.places:
        said = {key: getattr(place, key) for key in TOLD}
        places.add(said, [place.where, place.share] if place.role != "spared" else [])
    return {"kind": finding.kind, "size_mm": finding.size_mm, "places": to_plain(places.rows)}


class _Groups:
    """Rows that say the same, as one row with the places of all."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[str, Any]] = {}

    def add(self, said: dict[str, Any], place: Any) -> None:
        """Add a row."""
        group = self._by_key.setdefault(json.dumps(said), {**said, "at": []})
        group["at"].append(place)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each that is different, in the order of the first."""
        return list(self._by_key.values())


def to_parts(**parts: tuple[str, bytes]) -> bytes:
    """Write contents, each with its type, as the parts of a form, which browsers read.

    >>> b'name="map"' in to_parts(map=("application/gzip", b"..."))
    True
    """
    heads = {
        name: f"--{BOUNDARY}\r\n"
        f'Content-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
        f"Content-Type: {kind}\r\n\r\n"
        for name, (kind, _) in parts.items()
    }
    body = b"".join(heads[name].encode() + parts[name][1] + b"\r\n" for name in parts)
    return body + f"--{BOUNDARY}--\r\n".encode()


def to_json(answer: Any) -> bytes:
    """Write plain data as JSON."""
    return json.dumps(
        to_plain(answer), ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode()
