"""Server: the application of one model, and uvicorn that serves it from its own files alone."""

import contextlib
import gzip
import hashlib
import logging
import re
from collections.abc import AsyncIterator
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import PurePosixPath

import uvicorn
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from neurowhere.model.encoder import Encoder
from neurowhere.report.bundle import bundle, digest, with_hashes
from neurowhere.space import Atlas
from neurowhere.web import Settings
from neurowhere.web.api import PACKED, About, accepts_gzip, make_router
from neurowhere.web.errors import add_error_handlers
from neurowhere.web.guard import Guard, Metrics
from neurowhere.web.images import CORTEX, DATA
from neurowhere.web.jobs import Jobs, make_job_routes
from neurowhere.web.pool import Pool, in_threads
from neurowhere.web.service import Service

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
KEPT = "public, max-age=31536000, immutable"  # for a year, files with their hash in the name
HASHED = re.compile(r"([\w-]+)\.([0-9a-f]{12})\.([\w.]+)")
BUNDLED = ("app", "docs")
NIFTI = ".nii.gz"

GRACE_SECONDS = 5  # a stopping server waits this much longer than a request may take


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
    return assemble(in_threads(Service.start(model, settings, atlas)), settings)


def assemble(pool: Pool, settings: Settings) -> FastAPI:
    """Return the application, whose queries are answered by a pool."""
    release = version("neurowhere")
    jobs = Jobs(settings)
    metrics = Metrics(pool)
    first = pool.queries.workers[0]
    told = [first.submit(name, None).result() for name in ("model_json", "terms_json")]
    about = About(release, *told)

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.close()
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
    app.include_router(make_page(pool, about))
    return app


# ---- the page


def make_page(pool: Pool, about: About) -> APIRouter:
    """Return the routes of the page, which are no part of the API."""
    router = APIRouter(include_in_schema=False)
    packed_files()  # before the first request
    data: dict[str, bytes] = {}
    # Data come from the model and from installed packages; they change with either.
    source = b"".join(
        files(f"neurowhere.{room}").joinpath(f"{name}.py").read_bytes()
        for room, name in (("report", "volumes"), ("web", "images"))
    )
    key = digest(about.card + about.version.encode() + version("nilearn").encode() + source)

    def hash_of(name: str) -> str:
        return digest(page_files()[name]) if name in page_files() else key

    pages = {
        name: with_hashes(page_files()[name].decode(), hash_of).encode()
        for name in ("index.html", "docs.html")
    }

    @router.get("/")
    async def index(request: Request) -> Response:
        return _file(request, "index.html", pages["index.html"])

    @router.get("/docs")
    async def documentation(request: Request) -> Response:
        return _file(request, "docs.html", pages["docs.html"])

    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        found = HASHED.fullmatch(name)
        name = f"{found[1]}.{found[3]}" if found else name
        if name in page_files():  # no other name is ever looked up
            content = page_files()[name]
        elif name == CORTEX or name.removesuffix(NIFTI) in DATA:
            if name not in data:
                asked = ("cortex_bytes", None) if name == CORTEX else ("data_nifti", name[:-7])
                data[name] = await pool.run(*asked)
            content = data[name]
        else:
            raise HTTPException(404, "no such file")
        kept = found is not None and found[2] == hash_of(name)
        return _file(request, name, content, kept=kept)

    return router


@cache
def static_files() -> dict[str, bytes]:
    """Return the source files of the page by their names."""
    folders = files("neurowhere.report") / "assets", files("neurowhere.web") / "static"
    return {file.name: file.read_bytes() for folder in folders for file in folder.iterdir()}


@cache
def page_files() -> dict[str, bytes]:
    """Return the files as they are sent: scripts and style bundled."""
    own = static_files()
    sources = {name: text.decode() for name, text in own.items() if name.endswith("js")}
    style = own["viewer.css"] + own["style.css"]
    scripts = {f"{name}.js": bundle(name, sources).encode() for name in BUNDLED}
    return own | scripts | {"style.css": style}


@cache
def packed_files() -> dict[str, bytes]:
    """Return these files compressed."""
    return {name: gzip.compress(content, mtime=0) for name, content in page_files().items()}


def _file(request: Request, name: str, content: bytes, *, kept: bool = False) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": KEPT if kept else REVALIDATE}
    headers["Vary"] = "Accept-Encoding"
    if tag in request.headers.get("if-none-match", ""):  # a proxy that compresses adds W/
        return Response(status_code=304, headers=headers)
    suffix = PurePosixPath(name).suffix
    if suffix in MEDIA_TYPES and accepts_gzip(request):
        own = content is page_files().get(name)
        content = packed_files()[name] if own else gzip.compress(content, mtime=0)
        headers |= {"Content-Encoding": PACKED, "ETag": f"W/{tag}"}
    return Response(
        content, media_type=MEDIA_TYPES.get(suffix, "application/gzip"), headers=headers
    )


# ---- uvicorn


def make_server(app: ASGIApp, settings: Settings) -> uvicorn.Server:
    """Return the server of an application; it waits for requests that run when it is stopped."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        access_log=False,
        server_header=False,
        log_config=None,
        proxy_headers=False,
        timeout_graceful_shutdown=int(settings.max_seconds) + GRACE_SECONDS,
    )
    return uvicorn.Server(config)


# ---- log


def set_up_log() -> None:
    """Write warnings to standard error, without tracebacks, which may quote a text."""
    handler = logging.StreamHandler()
    handler.setFormatter(Plain("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class Plain(logging.Formatter):
    """Writes one line for each record, with only the type of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        error = record.exc_info[0] if record.exc_info else None
        return self.formatMessage(record) + (f" ({error.__name__})" if error else "")
