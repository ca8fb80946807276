"""Schemas: what requests and answers hold, with examples for the documentation."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from neurowhere.web import examples
from neurowhere.web.images import Colours

FARTHEST_MM = 200.0
FINEST_MM, COARSEST_MM = 1.0, 20.0
MOST_REGIONS = 1000

Millimetres = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM, allow_inf_nan=False)]
Point = tuple[Millimetres, Millimetres, Millimetres]
Text = Annotated[str, Field(min_length=1, description="In English.")]
Span = Annotated[
    tuple[int, int], Field(description="Start and end in the text, in Unicode code points.")
]
Side = Literal["left", "right", "bilateral"]
ImageName = Literal["density", "log_ratio", "mass"]


class Schema(BaseModel):
    """What all schemas share: a field that is not known is an error."""

    model_config = ConfigDict(extra="forbid")


def example(**fields: Any) -> ConfigDict:
    """Configure a schema with an example."""
    return ConfigDict(extra="forbid", json_schema_extra={"example": fields})


# ---- requests


class Reading(Schema):
    """How texts are read."""

    negation: bool = Field(default=True, description="Leave out what the text denies.")
    laterality: bool = Field(
        default=True, description="Move the map to the sides that the text gives."
    )
    regions: int = Field(
        default=10,
        ge=0,
        le=MOST_REGIONS,
        description="Rows of the table of regions, the likeliest first.",
    )


class Imaging(Schema):
    """What images show; it has no effect on JSON."""

    resolution_mm: float | None = Field(
        default=None,
        ge=FINEST_MM,
        le=COARSEST_MM,
        description="Voxels of a NIfTI image; by default the model's.",
    )
    at: Point | None = Field(
        default=None,
        description="Where the sections of a picture meet, in MNI mm; by default the peak.",
    )
    style: Literal["figure", "slices"] = Field(
        default="figure",
        description="Of a picture: a figure with labels, or three bare sections at 1 mm a pixel.",
    )
    hidden: float = Field(
        default=0.9,
        ge=0,
        lt=1,
        description="Share of the brain, where the map is weakest, left grey.",
    )
    colours: Colours = Field(default="ember", description="Of what is above zero, in slices.")
    opacity: float = Field(default=0.9, ge=0, le=1, description="Of the colours, in slices.")


class EncodeQuery(Reading, Imaging):
    """A text to encode."""

    model_config = example(text=examples.TEXT)

    text: Text
    at: Point | None = Field(
        default=None,
        description="A place in MNI mm: the answer tells what the text says of it, and why; "
        "the sections of a picture meet there.",
    )
    sentences: bool = Field(
        default=False,
        description="Also encode each sentence by itself, up to as many as a batch may hold.",
    )
    image: ImageName = Field(
        default="density",
        description="What an image shows: the density in mm⁻³; its log ratio to the mean map; or "
        "mass, the smallest regions that should hold 50, 80 and 95 % of the peaks (3, 2, 1).",
    )


class BatchQuery(Reading):
    """Texts to encode."""

    model_config = example(texts=["Fear and the amygdala.", "Reading words aloud."])

    texts: list[Text] = Field(min_length=1)


class ContrastQuery(Reading, Imaging):
    """Two texts to compare."""

    model_config = example(text="speech production", other="speech perception")

    text: Text
    other: Text


class TermQuery(Imaging):
    """A term whose map is wanted."""

    model_config = example(name="left amygdala")

    name: str = Field(
        min_length=1, max_length=200, description="Term of the model, with a side or not."
    )


class DecodeQuery(Schema):
    """Places whose terms and studies are wanted."""

    model_config = example(points=[[-24, -4, -18]])

    points: list[Point] = Field(min_length=1, description="In MNI mm.")
    n: int = Field(default=20, ge=1, le=200, description="Rows of each table.")


# ---- answers


class Error(Schema):
    """What went wrong."""

    code: str = Field(description="For programs; does not change.")
    message: str = Field(description="For people; repeats nothing of the text.")
    hint: str = Field(description="What to do about it.")


class ErrorAnswer(Schema):
    """Every answer whose status is 400 or above."""

    model_config = example(**examples.ERROR)

    error: Error


class Support(Schema):
    """How well the model can tell what the text is about."""

    level: Literal["none", "weak", "good"]
    terms: int = Field(description="Known terms that the text affirms.")
    nats: float = Field(description="Expected gain in log-likelihood over the mean map.")


class Term(Schema):
    """A term that the text affirms."""

    term: str
    count: int
    weight: float
    contribution: float = Field(description="How far it moved the map to what it is.")
    where: list[Span]


class Mention(Schema):
    """A mention of a term, or of a place that is no term."""

    term: str
    known: bool = Field(description="Whether it is a term of the model.")
    where: Span
    side: Side | None
    side_where: Span | None = Field(description="The words that give the side.")
    negation_where: Span | None = Field(description="The words that deny it.")


class UnappliedSide(Schema):
    """A side that was seen and not applied: of a limb, a visual field or a symptom."""

    side: Side
    where: Span


class Region(Schema):
    """A region of the atlas."""

    region: str = Field(description="Label in the atlas.")
    name: str = Field(description="In words.")
    probability: float
    ratio: float | None = Field(description="To the mean map; null where that is zero.")
    at: Point = Field(description="Densest place in it, in mm.")


class Peak(Schema):
    """A maximum of the density."""

    at: Point
    density: float = Field(description="In mm⁻³.")
    ratio: float | None
    name: str | None = Field(description="Region of the atlas, in words.")


class Study(Schema):
    """A training study."""

    id: str
    similarity: float = Field(description="Cosine.")
    link: str = Field(description="To PubMed; empty where it has no id there.")


class Reason(Schema):
    """What a term adds."""

    term: str
    contribution: float


class Place(Schema):
    """What a text says of one place."""

    at: Point
    name: str | None = Field(description="Region of the atlas, in words.")
    density: float
    ratio: float | None
    why: list[Reason]


class Sentence(Schema):
    """One sentence, encoded by itself."""

    where: Span
    support: Support
    terms: list[str]
    regions: list[Region]


class EncodeAnswer(Schema):
    """What a model makes of a text."""

    model_config = example(**examples.ENCODE)

    support: Support
    unit: Literal["probability", "log probability"] = Field(description="Of contributions.")
    terms: list[Term]
    mentions: list[Mention]
    unapplied_sides: list[UnappliedSide]
    regions: list[Region]
    peaks: list[Peak]
    similar: list[Study]
    place: Place | None
    sentences: list[Sentence] | None


class Summary(Schema):
    """What a model makes of one text of a batch."""

    support: Support
    terms: list[Reason]
    regions: list[Region]
    peaks: list[Peak]


class BatchAnswer(Schema):
    """One summary for each text, in order."""

    model_config = example(**examples.BATCH)

    results: list[Summary]


class ContrastRegion(Schema):
    """A region of the atlas in two maps."""

    region: str
    name: str
    probability: float
    other: float = Field(description="Probability in the map of the other text.")
    ratio: float | None
    at: Point


class ContrastAnswer(Schema):
    """Where two texts differ; ratios are those of the first to the second."""

    model_config = example(**examples.CONTRAST)

    text: Summary
    other: Summary
    distance: float = Field(description="Total variation: 0 for the same map, 1 for disjoint ones.")
    more: list[ContrastRegion] = Field(description="Regions that the first text raises most.")
    less: list[ContrastRegion] = Field(description="Regions that the other text raises most.")


class TermAnswer(Schema):
    """What a model associates with a term."""

    model_config = example(**examples.TERM)

    name: str
    term: str = Field(description="Term of the vocabulary that it stands for.")
    side: Side | None
    method: Literal["learned", "restricted"]
    unit: Literal["probability", "log probability"]
    peaks: list[Point] = Field(description="Where it adds most, in mm.")


class DecodedTerm(Schema):
    """A term that speaks for a place."""

    term: str
    score: float = Field(description="Log of the ratio.")
    ratio: float = Field(description="How much likelier a study half about the term is there.")


class DecodeAnswer(Schema):
    """Terms and studies that speak for places."""

    model_config = example(**examples.DECODE)

    terms: list[DecodedTerm]
    studies: list[Study]
    outside: int = Field(description="Points outside of the brain, which were left out.")


class ModelAnswer(Schema):
    """The model card."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"example": examples.MODEL})

    version: str
    terms: int
    atlas: str | None
    limits: dict[str, float]


class HealthAnswer(Schema):
    """Whether the server works, and how much waits."""

    model_config = example(**examples.HEALTH)

    status: Literal["ok"]
    version: str
    pending: int
    capacity: int
