"""Guard: middleware that checks host, origin and size of each request, and counts it.

The body of a request that is refused by its headers is never read.
"""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neurowhere.web import Settings
from neurowhere.web.errors import ApiError, answer, failure
from neurowhere.web.pool import Pool

# Scripts, styles and data come from this server alone. Pictures that the page makes have data and
# blob addresses.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
NOBODY = "'none'"  # no site may show the page in a frame
JOBS = "/api/v1/jobs/"
NOT_KEPT = "no-store"  # an answer may hold a part of a patient's text

FILE_PATHS = ("/api/v1/decode/map", "/api/v1/text")  # routes that take a file
MEDIA_TYPE = CONTENT_TYPE_LATEST  # Prometheus's text format
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
GAUGES = {
    "pending": "Queries being answered or waiting.",
    "waiting": "Queries waiting for a worker.",
    "capacity": "Queries that may be answered or waiting at once.",
}

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
ANY = "*"
HOST = re.compile(r"(\[[0-9a-f:.]+(?:%\w+)?\]|[\w.-]+)(?::(\d*))?", re.ASCII)
OWN_PAGES = ("same-origin", "none")  # values of Sec-Fetch-Site; none: typed by the user
PORTS = {"http": "80", "https": "443"}
SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change and compute nothing


# ---- metrics


class Metrics:
    """Counts and times of the requests to one application, for Prometheus.

    They are kept in the process that serves, through which all workers answer: there is nothing
    to sum up over processes.
    """

    def __init__(self, pool: Pool) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "neurowhere_requests",
            "Requests, by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "neurowhere_request_seconds",
            "Seconds from a request to its answer.",
            ["route"],
            buckets=BUCKETS,
            registry=self.registry,
        )
        for name, words in GAUGES.items():
            gauge = Gauge(f"neurowhere_{name}", words, registry=self.registry)
            gauge.set_function(partial(getattr, pool, name))

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self.registry)


class Guard:
    """Middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.settings = settings
        self.root_path = settings.root_path
        self.metrics = metrics
        self.headers = headers_for(settings.embed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        status = 0
        is_head = scope["method"] == "HEAD"
        if is_head:  # answered as GET is, without the content
            scope["method"] = "GET"

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():  # unless a route has set its own
                    headers.setdefault(name, value)
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._pass_on(scope, receive, guarded)
        except Exception as error:
            if status:  # the answer has begun: all that is left is to break off
                raise
            await answer(failure(error))(scope, receive, guarded)
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.add(route, status, time.perf_counter() - begin)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope)
        if refused:
            await answer(refused)(scope, receive, send)
        elif self.root_path and scope["path"] == self.root_path:  # the page's links are relative
            await RedirectResponse(self.root_path + "/")(scope, receive, send)
        else:
            scope["root_path"] = self.root_path  # routes remove it if a proxy did not
            await self.app(scope, self._limited(receive, self._max_body(scope)), send)

    def _max_body(self, scope: Scope) -> int:
        """Return the limit of a body in bytes; files and new jobs may be larger."""
        path = scope["path"].removeprefix(self.root_path)
        if path in FILE_PATHS:
            return self.settings.max_map
        return self.settings.max_job_body if path.startswith(JOBS) else self.settings.max_body

    def _refusal(self, scope: Scope) -> ApiError | None:
        """Return the error of a request that is refused by its headers, if it is."""
        headers = Headers(scope=scope)
        if not is_allowed(headers.get("host", ""), self.settings.allow_hosts):
            return ApiError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "unknown_host",
                "this server is not addressed by that name",
                "serve with --allow-host and the name",
            )
        if scope["method"] not in SAFE and is_foreign(headers, self.settings.origins):
            return ApiError(
                HTTPStatus.FORBIDDEN,
                "other_site",
                "this request comes from a page of another site",
                "serve with --origin and the address of that site",
            )
        declared, limit = headers.get("content-length", ""), self._max_body(scope)
        if declared.isdecimal() and int(declared) > limit:
            return self._too_large(limit)
        return None

    def _limited(self, receive: Receive, limit: int) -> Callable[[], Any]:
        """Return a `receive` that limits time and size of a body."""
        received = 0
        deadline = asyncio.get_running_loop().time() + self.settings.max_seconds

        async def limited() -> Message:
            nonlocal received
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise ApiError(
                    HTTPStatus.REQUEST_TIMEOUT,
                    "body_too_slow",
                    f"expected the whole body within {self.settings.max_seconds:g} s",
                    "send it faster, or serve with a larger --max-seconds",
                ) from error
            received += len(message.get("body", b""))
            if received > limit:
                raise self._too_large(limit)
            return message

        return limited

    def _too_large(self, limit: int) -> ApiError:
        return ApiError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "body_too_large",
            f"expected a body of at most {limit:,} bytes",
            "send less, or serve with a larger --max-body, --max-job-body or --max-map",
        )


def headers_for(sites: Sequence[str]) -> dict[str, str]:
    """Return the headers of every answer, for a page that some sites may show in a frame.

    >>> headers_for(())["X-Frame-Options"]
    'DENY'
    """
    policy = f"{POLICY}; frame-ancestors {' '.join(sites) or NOBODY}"
    return {
        "Content-Security-Policy": policy,
        **HEADERS,
        **({} if sites else {"X-Frame-Options": "DENY"}),
        "Cache-Control": NOT_KEPT,
    }


# ---- visitors: by which names they address the server, and from which pages


def host_name(header: str) -> str:
    """Return the name in a Host header without its port, or nothing if it is malformed.

    >>> host_name("Example.org.:8000"), host_name("[::1]:8000"), host_name("127.0.0.1")
    ('example.org', '[::1]', '127.0.0.1')
    >>> host_name("[::1]evil.example"), host_name("localhost:80@evil.example")
    ('', '')
    """
    return _place(header)[0]


def _place(header: str) -> tuple[str, str]:
    """Return the name and the port in a Host header."""
    found = HOST.fullmatch(header.strip().lower())
    return (found[1].removesuffix("."), found[2] or "") if found else ("", "")


def is_allowed(header: str, names: Sequence[str]) -> bool:
    """Return whether a Host header names this server.

    A page of another site can make its own name point to this machine (DNS rebinding); then the
    browser lets it read what the server answers, but sends that name. Programs that send no name
    at all are no browsers.

    `names` are allowed beside those of this machine; "*" allows any.

    >>> is_allowed("localhost:8000", ()), is_allowed("evil.example", ()), is_allowed("a.b", ["*"])
    (True, False, True)
    """
    if not header:
        return True
    name = host_name(header)
    return bool(name) and (ANY in names or name in {*LOCAL_NAMES, *map(host_name, names)})


def is_foreign(headers: Headers, origins: Sequence[str]) -> bool:
    """Return whether a page of another site has sent a request.

    A browser sends some requests, such as forms and plain text, to any site without asking it, and
    only keeps the answer to itself. It says where each comes from: in Sec-Fetch-Site, or, over
    plain HTTP to another machine, in Origin alone. Other programs send neither.

    `origins` are other sites that are allowed; "*" allows any.

    >>> is_foreign(Headers({"Origin": "https://evil.example", "Host": "localhost"}), ())
    True
    >>> is_foreign(Headers({"Origin": "http://localhost:80", "Host": "localhost"}), ())
    False
    """
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and {origin, ANY} & {*origins}:
        return False
    if site is not None:
        return site not in OWN_PAGES
    return origin is not None and not _is_own(origin, headers.get("host", ""))


def _is_own(origin: str, host: str) -> bool:
    """Return whether an origin is the server itself; some proxies leave the port off the host."""
    scheme, _, place = origin.partition("://")
    (name, port), (wanted, wanted_port) = _place(place), _place(host)
    same_port = not wanted_port or (port or PORTS.get(scheme)) == wanted_port
    return bool(name) and name == wanted and same_port
