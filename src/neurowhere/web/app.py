"""App: the page and the API of one model, as an ASGI application; nothing comes from elsewhere."""

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.middleware.cors import CORSMiddleware

from neurowhere.model.encoder import Encoder
from neurowhere.space import Atlas
from neurowhere.web.api import About, make_router
from neurowhere.web.errand import contrast_here
from neurowhere.web.errors import add_error_handlers
from neurowhere.web.guard import Guard, Metrics
from neurowhere.web.images import CORTEX, TEMPLATES
from neurowhere.web.jobs import Jobs, make_job_routes
from neurowhere.web.pool import Crew, Local, Pool
from neurowhere.web.service import Service
from neurowhere.web.settings import Settings

__all__ = ["assemble", "create_app", "static_files"]

DESCRIPTION = """Where in the brain does this text point? Text in, brain map out.

All queries are sent by POST, so that no part of a text ends up in an address or a log. Lengths and
offsets in a text count Unicode code points, from 0. Places are in MNI152 mm; left is negative.
For research, not for diagnosis."""
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
REVALIDATE = "no-cache"  # a browser keeps files, but asks whether they changed
NIFTI = ".nii.gz"
PACKED = "gzip"


def create_app(
    model: Encoder, settings: Settings | None = None, atlas: Atlas | None = None
) -> FastAPI:
    """Return the application, whose queries are answered by threads of this process.

    Parameters
    ----------
    model : Encoder
        Fitted.
    settings : Settings, optional
    atlas : Atlas, optional
        Names places; by default AAL3, or the model's own regions if it predicts those of an atlas.

    Returns
    -------
    FastAPI
    """
    settings = settings or Settings()
    service = Service.start(model, settings, atlas)
    local = Local(service.answer)
    contrast = partial(contrast_here, model, service.atlas, settings.documents)
    return assemble(Crew([local] * settings.workers, local, contrast), settings)


def assemble(crew: Crew, settings: Settings) -> FastAPI:
    """Return the application, whose queries are answered by a crew.

    Parameters
    ----------
    crew : Crew
        As many queries are worked on at once as it has workers.
    settings : Settings

    Returns
    -------
    FastAPI
    """
    release = version("neurowhere")
    pool = Pool(crew, settings.max_queue, settings.max_seconds)
    jobs = Jobs(settings)
    metrics = Metrics()
    first = crew.workers[0]
    about = About(release, *(first.answer(name, None) for name in ("model_json", "terms_json")))

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(pool.watch())
        yield
        await jobs.close()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        pool.close()

    app = FastAPI(
        title="neurowhere",
        version=release,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # FastAPI's own pages come from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Accept", "Content-Type"],
        )
    add_error_handlers(app)
    app.include_router(make_router(settings, pool, metrics, about))
    app.include_router(make_job_routes(settings, pool, jobs))
    app.include_router(make_page(pool))
    return app


# ---- the page


def make_page(pool: Pool) -> APIRouter:
    """Return the routes of the page, which are no part of the API."""
    router = APIRouter(include_in_schema=False)
    packed_files()  # before the first request
    templates: dict[str, bytes] = {}

    @router.get("/")
    async def index(request: Request) -> Response:
        return _file(request, "index.html", static_files()["index.html"])

    @router.get("/docs")
    async def documentation(request: Request) -> Response:
        return _file(request, "docs.html", static_files()["docs.html"])

    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        if name.removesuffix(NIFTI) in TEMPLATES:
            if name not in templates:
                templates[name] = await pool.run("template_nifti", name.removesuffix(NIFTI))
            return _file(request, name, templates[name])
        if name == CORTEX:
            if name not in templates:
                templates[name] = await pool.run("cortex_bytes", None)
            return _file(request, name, templates[name])
        if name not in static_files():  # no other name is ever looked up
            raise HTTPException(404, "no such file")
        return _file(request, name, static_files()[name])

    return router


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of each file of the page, by its name."""
    folder = files("neurowhere.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@cache
def packed_files() -> dict[str, bytes]:
    """Return the same, compressed once."""
    return {name: gzip.compress(content, mtime=0) for name, content in static_files().items()}


def _file(request: Request, name: str, content: bytes) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": REVALIDATE, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):  # a proxy that compresses adds W/
        return Response(status_code=304, headers=headers)
    if name in packed_files() and accepts_gzip(request.headers.get("accept-encoding", "")):
        content = packed_files()[name]
        headers |= {"Content-Encoding": PACKED, "ETag": f"W/{tag}"}
    suffix = PurePosixPath(name).suffix
    return Response(
        content, media_type=MEDIA_TYPES.get(suffix, "application/gzip"), headers=headers
    )


def accepts_gzip(header: str) -> bool:
    """Return whether a client takes compressed content.

    >>> accepts_gzip("br, gzip"), accepts_gzip("gzip;q=0"), accepts_gzip("")
    (True, False, False)
    """
    for part in header.lower().replace(" ", "").split(","):
        name, _, quality = part.partition(";q=")
        if name == PACKED:
            return not quality or quality.strip("0.") != ""
    return False
