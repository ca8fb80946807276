"""Server: uvicorn with limits on connections, on the time of a head, and on its log.

uvicorn waits for the head of a request for ever, and takes connections until no file descriptor
is left: a few hundred half-open connections silence it (slowloris). Here a connection whose head
does not come in time is closed, and beyond the limit the longest idle one makes room for the next.
"""

import asyncio
import contextlib
import json
import logging
import socket
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from neurowhere.web.errors import PROBLEM, ApiError, problem
from neurowhere.web.settings import Settings

__all__ = ["Bounded", "make_server", "set_up_log"]

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
    """A server that lets more connections wait than it takes at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        for door in sockets or []:
            door.listen(BACKLOG)  # asyncio has one number for both, and takes so many in a row


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
