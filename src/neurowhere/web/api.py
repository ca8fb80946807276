"""API: the routes under /api/v1, and the forms that their answers take."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple, cast

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, create_model

from neurowhere.model.schema import Difference, Summary
from neurowhere.web import Settings, schemas
from neurowhere.web.errors import ApiError, last_line, may_fail
from neurowhere.web.guard import MEDIA_TYPE, Metrics
from neurowhere.web.pool import Pool
from neurowhere.web.schemas import EXAMPLES, AtlasName, to_json

PREFIX = "/api/v1"
ANYTHING = "*/*"
JSON, NIFTI, PNG, HTML = "application/json", "application/gzip", "image/png", "text/html"
LINES, PARTS = "application/x-ndjson", "multipart/form-data"
SVG, PDF = "image/svg+xml", "application/pdf"
SUFFIXES = {NIFTI: ".nii.gz", PNG: ".png", HTML: ".html", LINES: ".jsonl", PARTS: ".form"} | {
    SVG: ".svg",
    PDF: ".pdf",
}
PACKED = "gzip"
WORTH_PACKING = 4_000  # bytes of an answer
FASTEST = 1  # level of gzip; it takes a tenth of the bytes of a long answer
OCTETS = "application/octet-stream"
BINARY = {"schema": {"type": "string", "format": "binary"}}
SUMMARY = EXAMPLES["summary"]
QUERY_ERRORS = (403, 408, 413, 422, 503)


class Offer(NamedTuple):
    """A query, and the forms of its answers, each of which a method of `Service` gives."""

    name: str
    summary: str
    query: type[BaseModel]
    answer: type | None
    own_forms: Mapping[str, str] = {}
    own_example: Mapping[str, Any] = {}
    errors: tuple[int, ...] = ()  # statuses that other queries do not have

    @property
    def forms(self) -> Mapping[str, str]:
        """Method that answers, by media type."""
        return self.own_forms or {JSON: f"{self.name}_json"}

    @property
    def example(self) -> Mapping[str, Any]:
        """Example of an answer."""
        return self.own_example or EXAMPLES.get(self.name, {})


class About(NamedTuple):
    """The server's version, and the model card and all terms as JSON."""

    version: str
    card: bytes
    terms: bytes


def _maps(name: str) -> dict[str, str]:
    return {
        form: f"{name}_{end}" for form, end in {JSON: "json", NIFTI: "nifti", PNG: "png"}.items()
    }


OFFERS = [
    Offer(
        "encode",
        "Text to map",
        schemas.EncodeQuery,
        Summary,
        {**_maps("encode"), HTML: "encode_html", PARTS: "encode_parts"},
        SUMMARY | EXAMPLES["encode"],
    ),
    Offer(
        "batch",
        "Many texts at once",
        schemas.BatchQuery,
        schemas.BatchAnswer,
        {JSON: "batch_json", LINES: "batch_lines"},
        {"results": [SUMMARY]},
    ),
    Offer(
        "difference",
        "Difference of two texts",
        schemas.DifferenceQuery,
        Difference,
        _maps("difference"),
        {"text": SUMMARY, "other": SUMMARY, "difference": SUMMARY} | EXAMPLES["difference"],
    ),
    Offer("term", "Map of one term", schemas.TermQuery, schemas.TermAnswer, _maps("term")),
    Offer("related", "Related terms of a text", schemas.RelatedQuery, schemas.RelatedAnswer),
    Offer(
        "figure",
        "Map for a paper",
        schemas.FigureQuery,
        None,
        {PNG: "figure_png", SVG: "figure_svg_png", PDF: "figure_pdf_png"},
    ),
    Offer(
        "methods", "How maps came about, for a paper", schemas.MethodsQuery, schemas.MethodsAnswer
    ),
    Offer(
        "region",
        "Mask of a region",
        schemas.RegionQuery,
        schemas.RegionAnswer,
        {JSON: "region_json", NIFTI: "region_nifti"},
    ),
    Offer("decode", "Places to terms and studies", schemas.DecodeQuery, schemas.DecodeAnswer),
    Offer(
        "document",
        "Document of a collection, by its PubMed id or DOI",
        schemas.FindQuery,
        schemas.FoundAnswer,
        {JSON: "found_json"},
        EXAMPLES["found"],
        (404,),
    ),
]


def make_router(settings: Settings, pool: Pool, metrics: Metrics, about: About) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix=PREFIX, generate_unique_id_function=lambda route: route.name)
    for offer in OFFERS:
        _add_query(router, offer, pool, settings)
    _add_uploads(router, pool)
    _add_telling(router, pool, metrics, about)
    return router


def _add_query(router: APIRouter, offer: Offer, pool: Pool, settings: Settings) -> None:
    """Add the routes of a query: the form is given by the Accept header or by the suffix."""
    files = {form: BINARY for form in offer.forms if form != JSON}
    told = {JSON: {"example": offer.example}} if JSON in offer.forms else {}
    refused = (*QUERY_ERRORS, *offer.errors, *([406] if files else []))
    router.add_api_route(
        f"/{offer.name}",
        _handler(offer, pool, settings),
        methods=["POST"],
        summary=offer.summary,
        name=offer.name,
        response_model=offer.answer,
        response_class=JSONResponse if JSON in offer.forms else Response,
        responses=_responses(told | files, refused),
    )
    for form in files:
        router.add_api_route(
            f"/{offer.name}{SUFFIXES[form]}",
            _handler(offer, pool, settings, form),
            methods=["POST"],
            summary=f"{offer.summary}, as {SUFFIXES[form]}",
            name=offer.name + SUFFIXES[form].replace(".", "_"),
            response_class=Response,
            responses=_responses({form: BINARY}),
        )


def _handler(
    offer: Offer, pool: Pool, settings: Settings, only: str | None = None
) -> Callable[..., Any]:
    """Return a route that answers in one form, or in the form that the client prefers."""

    async def handle(query: BaseModel, request: Request) -> Response:
        form = only or choose(request.headers.get("accept", ""), list(offer.forms))
        checked = offer.query.model_construct(**query.__dict__)  # a class that every process has
        headers = {} if only else {"Vary": "Accept"}
        if form == LINES:
            lines = await _stream_lines(pool, cast(schemas.BatchQuery, checked))
            return StreamingResponse(lines, media_type=form, headers=headers)
        content = await pool.run(offer.forms[form], checked)
        kind = f"{PARTS}; boundary={schemas.BOUNDARY}" if form == PARTS else form
        if form in (JSON, PARTS) and len(content) > WORTH_PACKING:
            headers["Vary"] = "Accept, Accept-Encoding"
            if accepts_gzip(request):
                headers["Content-Encoding"] = PACKED
                content = await asyncio.to_thread(gzip.compress, content, FASTEST)
        return Response(content, media_type=kind, headers=headers)

    # What FastAPI reads and documents.
    handle.__annotations__["query"] = with_limits(offer.query, settings)
    return handle


async def _stream_lines(pool: Pool, query: schemas.BatchQuery) -> AsyncIterator[bytes]:
    """Return the summaries of a batch as they come; if one fails, the last line is its problem.

    The first piece is awaited here, so that a refusal has its own status.
    """
    first, *others = query.pieces()
    lines = await pool.run("batch_lines", first)

    async def stream() -> AsyncIterator[bytes]:
        yield lines
        for piece in others:
            try:
                yield await pool.run_patiently("batch_lines", piece)
            except ApiError as error:
                yield last_line(error)
                return

    return stream()


def _add_uploads(router: APIRouter, pool: Pool) -> None:
    """Add the routes that take an image or a document as the body."""
    body = {"requestBody": {"required": True, "content": {OCTETS: BINARY}}}

    async def decode_map(
        request: Request,
        threshold: Annotated[
            float | None,
            Query(ge=0, allow_inf_nan=False, description="Values up to this do not count."),
        ] = None,
        negative: Annotated[
            bool, Query(description="Decode the negative values, by their magnitude.")
        ] = False,
        n: Annotated[int, Query(ge=1, le=200, description="Rows of each table.")] = 20,
        atlas: Annotated[AtlasName, Query(description="Atlas that names regions.")] = "default",
    ) -> Response:
        image = await request.body()
        query = schemas.MapQuery.model_construct(
            image=image, threshold=threshold, negative=negative, n=n, atlas=atlas
        )
        return Response(await pool.run("decode_map_json", query), media_type=JSON)

    async def text(
        request: Request,
        kind: Annotated[schemas.DocumentKind, Query(description="Format of the document.")],
    ) -> Response:
        content = await request.body()
        query = schemas.DocumentQuery.model_construct(content=content, kind=kind)
        return Response(await pool.run("document_json", query), media_type=JSON)

    decoded = {JSON: {"example": EXAMPLES["decode"]}}
    for path, handle, words, answer, content in (
        ("/decode/map", decode_map, "Image to terms and studies", schemas.DecodeAnswer, decoded),
        ("/text", text, "Document to text", schemas.DocumentAnswer, {}),
    ):
        router.add_api_route(
            path,
            handle,
            methods=["POST"],
            summary=words,
            response_model=answer,
            responses=_responses(content),
            openapi_extra=body,
        )


def _add_telling(router: APIRouter, pool: Pool, metrics: Metrics, about: About) -> None:
    """Add the routes about the server, which never wait for a worker."""

    async def model() -> Response:
        return Response(about.card, media_type=JSON)

    async def terms() -> Response:
        return Response(about.terms, media_type=JSON)

    async def health() -> Response:
        answer = {
            "status": "ok",
            "version": about.version,
            "pending": pool.pending,
            "capacity": pool.capacity,
        }
        return Response(to_json(answer), media_type=JSON)

    async def ready() -> Response:
        # In a thread: the system takes milliseconds to tell the memory of a process.
        return Response(to_json(await asyncio.to_thread(_readiness, pool)), media_type=JSON)

    async def tell_metrics() -> Response:
        return Response(metrics.render(), media_type=MEDIA_TYPE)

    get = partial(router.add_api_route, methods=["GET"])
    for handle, words, answer in (
        (model, "Model card", schemas.ModelAnswer),
        (terms, "All terms", schemas.TermsAnswer),
        (health, "Whether the server works", schemas.HealthAnswer),
        (ready, "Whether queries are answered, and the state of each worker", schemas.ReadyAnswer),
    ):
        busy = may_fail(503) if handle is ready else {}
        get(f"/{handle.__name__}", handle, summary=words, response_model=answer, responses=busy)
    told = {"text/plain": {"schema": {"type": "string"}, "example": EXAMPLES["metrics"]}}
    get(
        "/metrics",
        tell_metrics,
        summary="Counts and times, for Prometheus",
        name="metrics",
        response_class=Response,
        responses={200: {"content": told}},
    )


def _readiness(pool: Pool) -> dict[str, Any]:
    """Return the state of each worker, or raise an error if none is ready."""
    states = pool.states()
    if not any(each.state in ("ready", "busy") for each in states):
        words = ", ".join(each.state for each in states)
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "not_ready", f"no worker is ready: {words}")
    return {
        "status": "ready",
        "workers": [each._asdict() for each in states],
        "artist": pool.artist.state()._asdict(),
    }


def with_limits(query: type[BaseModel], settings: Settings) -> type[BaseModel]:
    """Return a query with limits on its lengths, which are checked and documented."""
    text = Annotated[schemas.Text, Field(max_length=settings.max_text)]
    kinds = {
        "text": text,
        "other": text,
        "texts": Annotated[list[text], Field(min_length=1, max_length=settings.max_batch)],
        "documents": Annotated[
            list[schemas.ContrastDocument], Field(min_length=2, max_length=settings.max_batch)
        ],
        "points": Annotated[
            list[schemas.Point], Field(min_length=1, max_length=settings.max_batch)
        ],
    }
    fields: dict[str, Any] = {
        name: (kind, query.model_fields[name])
        for name, kind in kinds.items()
        if name in query.model_fields
    }
    return create_model(query.__name__, __base__=query, __doc__=query.__doc__, **fields)


def _responses(
    content: dict[str, Any], refused: Sequence[int] = QUERY_ERRORS
) -> dict[int | str, dict[str, Any]]:
    """Describe the responses of a route."""
    found: dict[int | str, Any] = {200: {"content": content}} if content else {}
    return may_fail(*refused) | found


def choose(accept: str, offered: Sequence[str]) -> str:
    """Return the media type that an Accept header prefers; of equals, the first on offer.

    >>> choose("image/png, application/json;q=0.5", ["application/json", "image/png"])
    'image/png'
    >>> choose("", ["application/json", "image/png"])
    'application/json'
    """
    qualities = {
        name: quality(accept or ANYTHING, name, name.split("/")[0] + "/*", ANYTHING)
        for name in offered
    }
    best = max(offered, key=qualities.__getitem__)
    if qualities[best] > 0:
        return best
    raise ApiError(
        HTTPStatus.NOT_ACCEPTABLE,
        "not_acceptable",
        f"expected an Accept header that allows one of {', '.join(offered)}",
    )


def quality(header: str, *names: str) -> float:
    """Return the quality that a header of preferences gives to the first name in it, or 0.

    >>> quality("br, gzip", "gzip"), quality("gzip;q=0", "gzip"), quality("", "gzip")
    (1.0, 0.0, 0.0)
    """
    qualities = {}
    for part in header.lower().replace(" ", "").split(","):
        name, *parameters = part.split(";")
        given = [each[2:] for each in parameters if each.startswith("q=")]
        is_number = not given or given[0].replace(".", "", 1).isdecimal()
        qualities[name] = float(given[0] if given and is_number else is_number)
    return next((qualities[name] for name in names if name in qualities), 0.0)


def accepts_gzip(request: Request) -> bool:
    """Return whether a client takes compressed content."""
    return quality(request.headers.get("accept-encoding", ""), PACKED) > 0
