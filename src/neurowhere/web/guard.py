"""Guard: the middleware that every request passes: who may ask, how much, and what is counted.

Of a request whose address, host or length is refused, the body is never read.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
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
from neurowhere.web.visitors import is_allowed, is_foreign

__all__ = ["FILE_PATHS", "MEDIA_TYPE", "Guard", "Metrics"]

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
NOBODY = "'none'"  # of those who may frame the page
JOBS = "/api/v1/jobs/"
NOT_KEPT = "no-store"  # an answer may hold a part of a patient's text

FILE_PATHS = ("/api/v1/decode/map", "/api/v1/text")  # whose body is a file
MEDIA_TYPE = CONTENT_TYPE_LATEST  # of metrics
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
GAUGES = {
    "neurowhere_pending": "Queries being answered or waiting.",
    "neurowhere_waiting": "Queries waiting for a worker.",
    "neurowhere_capacity": "Queries that may be answered or waiting at once.",
}

SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change and compute nothing


# ---- metrics


class Metrics:
    """Counts and times of the requests to one application, for Prometheus.

    They are kept in the process that serves, through which all workers answer: there is nothing
    to sum up over processes.

    >>> metrics = Metrics()
    >>> metrics.add("/health", 200, 0.003)
    >>> metrics.render({"neurowhere_pending": 2}).decode().splitlines()[2]
    'neurowhere_requests_total{route="/health",status="200"} 1.0'
    """

    def __init__(self) -> None:
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
        self._gauges = {
            name: Gauge(name, words, registry=self.registry) for name, words in GAUGES.items()
        }

    def add(self, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def render(self, gauges: Mapping[str, float]) -> bytes:
        """Return all metrics in Prometheus's text format.

        Parameters
        ----------
        gauges : mapping of str to float
            Present values, by the names of `GAUGES`.

        Returns
        -------
        bytes
        """
        for name, value in gauges.items():
            self._gauges[name].set(value)
        return generate_latest(self.registry)


class Guard:
    """Middleware around the whole application.

    Parameters
    ----------
    app : ASGI application
    settings : Settings
    metrics : Metrics
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.max_body, self.max_job_body = settings.max_body, settings.max_job_body
        self.max_map = settings.max_map
        self.max_seconds = settings.max_seconds
        self.names, self.origins = settings.allow_hosts, settings.origins
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
                add_headers(message, self.headers)
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
            scope["root_path"] = self.root_path  # which routes leave off, if a proxy did not
            await self.app(scope, self._limited(receive, self._max_body(scope)), send)

    def _max_body(self, scope: Scope) -> int:
        """Return how many bytes a body may have; files, and what starts a job, may have more."""
        path = scope["path"].removeprefix(self.root_path)
        if path in FILE_PATHS:
            return self.max_map
        return self.max_job_body if path.startswith(JOBS) else self.max_body

    def _refusal(self, scope: Scope) -> ApiError | None:
        """Return why a request is refused by its head alone, if it is."""
        headers = Headers(scope=scope)
        if not is_allowed(headers.get("host", ""), self.names):
            return ApiError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "unknown_host",
                "this server is not addressed by that name",
                "serve with --allow-host and the name",
            )
        if scope["method"] not in SAFE and is_foreign(headers, self.origins):
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
        """Return a `receive` that limits time and bytes of a body, whatever was declared."""
        received = 0
        deadline = asyncio.get_running_loop().time() + self.max_seconds

        async def limited() -> Message:
            nonlocal received
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as error:
                raise self._too_late() from error
            received += len(message.get("body", b""))
            if received > limit:
                raise self._too_large(limit)
            return message

        return limited

    def _too_late(self) -> ApiError:
        return ApiError(
            HTTPStatus.REQUEST_TIMEOUT,
            "body_too_slow",
            f"expected the whole body within {self.max_seconds:g} s",
            "send it faster, or serve with a larger --max-seconds",
        )

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
    }


def add_headers(message: Message, common: Mapping[str, str]) -> None:
    """Add the headers that every answer has, unless a route has set its own."""
    headers = MutableHeaders(scope=message)
    for name, value in common.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", NOT_KEPT)
