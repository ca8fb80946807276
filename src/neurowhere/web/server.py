"""Server: the application of one model, and uvicorn with limits on what it takes.

The application is the page and the API; nothing comes from elsewhere. uvicorn waits for the head of
a request for ever, and takes connections until no file descriptor is left: a few hundred half-open
connections silence it (slowloris). Here a connection whose head does not come in time is closed,
and beyond the limit the longest idle one makes room for the next.
"""

import asyncio
import contextlib
import gzip
import hashlib
import json
import logging
import re
import socket
import time
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from http import HTTPStatus
from importlib.metadata import version
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

import h11
import uvicorn
from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from neurowhere.model.encoder import Encoder
from neurowhere.space import Atlas
from neurowhere.web import Settings
from neurowhere.web.api import PACKED, About, accepts_gzip, make_router
from neurowhere.web.bundle import bundle, digest, with_hashes
from neurowhere.web.documents import contrast_here
from neurowhere.web.errors import PROBLEM, ApiError, add_error_handlers, problem
from neurowhere.web.guard import Guard, Metrics
from neurowhere.web.images import CORTEX, DATA
from neurowhere.web.jobs import Jobs, make_job_routes
from neurowhere.web.pool import Crew, Local, Pool
from neurowhere.web.service import Service
from neurowhere.web.worker import Memory

__all__ = ["Bounded", "assemble", "create_app", "make_server", "set_up_log", "static_files"]

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
KEPT = "public, max-age=31536000, immutable"  # of files with their hash in the name: a year
HASHED = re.compile(r"([\w-]+)\.([0-9a-f]{12})\.([\w.]+)")
BUNDLED = ("app", "docs")
NIFTI = ".nii.gz"

BACKLOG = 1024  # connections that wait in the kernel to be taken
TAKEN_AT_ONCE = 16  # connections, so that those over the limit are closed before more are taken
SPARE_FILES = 64  # descriptors for other things than connections: pipes, workers, those just taken
FEWEST_CONNECTIONS = 8
MAX_HEAD_BYTES = 16_384
KEEP_ALIVE_SECONDS = 5
GRACE_SECONDS = 5  # a stopping server waits this much longer than a request may take
LINES_PER_MINUTE = 20  # of the log, of one kind
MAX_KINDS = 100  # of lines that are remembered
MINUTE = 60.0

INVALID = ApiError(HTTPStatus.BAD_REQUEST, "invalid_http", "the request is not valid HTTP/1.1")


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

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(pool.watch())
        yield
        await jobs.close()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
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
    app.include_router(make_page(pool, about))
    return app


# ---- the page


def make_page(pool: Pool, about: About) -> APIRouter:
    """Return the routes of the page, which are no part of the API."""
    router = APIRouter(include_in_schema=False)
    packed_files()  # before the first request
    data: dict[str, bytes] = {}
    # Data come from the model and from installed packages; they change with either.
    source = (files("neurowhere.web") / "images.py").read_bytes()
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
    """Return the content of each file of the page as it is written, by its name."""
    folder = files("neurowhere.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@cache
def page_files() -> dict[str, bytes]:
    """Return the same as they are sent: with all modules in the scripts that need them."""
    sources = {name: text.decode() for name, text in static_files().items() if name.endswith("js")}
    return static_files() | {f"{name}.js": bundle(name, sources).encode() for name in BUNDLED}


@cache
def packed_files() -> dict[str, bytes]:
    """Return the same, compressed once."""
    return {name: gzip.compress(content, mtime=0) for name, content in page_files().items()}


def _file(request: Request, name: str, content: bytes, *, kept: bool = False) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": KEPT if kept else REVALIDATE}
    headers["Vary"] = "Accept-Encoding"
    if tag in request.headers.get("if-none-match", ""):  # a proxy that compresses adds W/
        return Response(status_code=304, headers=headers)
    suffix = PurePosixPath(name).suffix
    if suffix in MEDIA_TYPES and accepts_gzip(request.headers.get("accept-encoding", "")):
        own = content is page_files().get(name)
        content = packed_files()[name] if own else gzip.compress(content, mtime=0)
        headers |= {"Content-Encoding": PACKED, "ETag": f"W/{tag}"}
    return Response(
        content, media_type=MEDIA_TYPES.get(suffix, "application/gzip"), headers=headers
    )


# ---- uvicorn


def make_server(app: ASGIApp, settings: Settings) -> uvicorn.Server:
    """Return the server of an application, with its limits.

    Parameters
    ----------
    app : ASGI application
    settings : Settings

    Returns
    -------
    uvicorn.Server
    """
    config = uvicorn.Config(
        app,
        http=_protocol(settings),
        ws="none",
        loop="asyncio",
        access_log=False,
        server_header=False,
        log_config=None,
        backlog=TAKEN_AT_ONCE,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=int(settings.max_seconds) + GRACE_SECONDS,
    )
    return Server(config)


class Server(uvicorn.Server):
    """A server that lets more connections wait than it takes at once, and gives memory back."""

    memory: Memory

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        for door in sockets or []:
            door.listen(BACKLOG)  # asyncio has one number for both, and takes so many in a row
        self.memory = Memory()

    async def on_tick(self, counter: int) -> bool:
        """Give memory back now and then; uvicorn calls this ten times a second."""
        if self.memory.is_late:
            await asyncio.to_thread(self.memory.release)
        return await super().on_tick(counter)


def connection_limit(wanted: int) -> int:
    """Return how many connections may be open, within the file descriptors of this process."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE_FILES
    if soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(min(wanted, soft - SPARE_FILES), FEWEST_CONNECTIONS)


# ---- connections


def _protocol(settings: Settings) -> type[H11Protocol]:
    """Return a protocol class with these limits; uvicorn makes its objects."""
    limits = {
        "limit": connection_limit(settings.max_connections),
        "head_seconds": settings.max_header_seconds,
        "reading_seconds": settings.max_seconds,
    }
    return type("LimitedConnection", (Connection,), limits)


class Connection(H11Protocol):
    """A connection that has to send the head of a request, and to read the answer, in time."""

    limit: int
    head_seconds: float
    reading_seconds: float
    _head_timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    since = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether no request is being received or answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; beyond the limit, the longest idle connection is closed."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect_head()
        if len(self.connections) > self.limit:
            mine: list[Any] = list(self.connections)  # all are of this class
            idle = (each for each in mine if each.is_idle)  # this one among them
            min(idle, key=lambda each: each.since).hang_up()

    def data_received(self, data: bytes) -> None:
        """Take bytes; those of a head are on the clock from the first to the last."""
        super().data_received(data)
        if not self.is_idle:
            self._forget_head()
        elif self._head_timer is None and not self.transport.is_closing():
            self._expect_head()

    def on_response_complete(self) -> None:
        """Wait for the next request, which may have come already."""
        self.since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Stop sending to a client that does not read; it has to go on in time."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(self.reading_seconds, self.hang_up)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        if self._reading_timer is not None:
            self._reading_timer.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget_head()
        if self._reading_timer is not None:
            self._reading_timer.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP in the form of all errors."""
        headers = [
            ("content-type", PROBLEM),
            ("connection", "close"),
            ("cache-control", "no-store"),
        ]
        body = json.dumps(problem(INVALID)).encode()
        events: list[Any] = [
            h11.Response(status_code=HTTPStatus.BAD_REQUEST, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def hang_up(self) -> None:
        """Close at once, whatever is still to be sent."""
        self.connections.discard(self)  # now: the transport tells so only later
        self.transport.abort()

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(self.head_seconds, self.hang_up)

    def _forget_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


# ---- log


class Bounded(logging.Filter):
    """Lets through so many lines of one kind a minute, and then says how many were left out.

    Lines are of one kind if their logger and their words before formatting are the same.

    Parameters
    ----------
    per_minute : int
    clock : callable
        Returns seconds.
    """

    def __init__(
        self, per_minute: int = LINES_PER_MINUTE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.per_minute, self._clock = per_minute, clock
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}  # since, lines

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is written."""
        kind, now = (record.name, str(record.msg)), self._clock()
        since, lines = self._kinds.get(kind, (now, 0))
        if now - since >= MINUTE:
            left_out = lines - self.per_minute
            if left_out > 0:
                record.msg = f"{record.msg} (and {left_out:,} more lines like this)"
            since, lines = now, 0
        if kind not in self._kinds and len(self._kinds) >= MAX_KINDS:
            self._kinds.clear()
        self._kinds[kind] = since, lines + 1
        return lines < self.per_minute


def set_up_log() -> None:
    """Write warnings to standard error: without tracebacks, which may quote a text, and bounded."""
    handler = logging.StreamHandler()
    handler.addFilter(Bounded())
    handler.setFormatter(Plain("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class Plain(logging.Formatter):
    """Writes one line for each record: of an exception its type alone."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        error = record.exc_info[0] if record.exc_info else None
        return self.formatMessage(record) + (f" ({error.__name__})" if error else "")
