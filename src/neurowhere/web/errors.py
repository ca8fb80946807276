"""Errors of the API: all of one shape, which repeats nothing of what the user wrote."""

import logging
import traceback
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from neurowhere.exceptions import NeurowhereError

__all__ = ["ApiError", "add_error_handlers", "answer", "failure", "refusal", "too_slow"]

RETRY_SECONDS = 1
DOCUMENTATION = "see /docs"

logger = logging.getLogger("neurowhere")


class ApiError(HTTPException):
    """A request that cannot be answered.

    Parameters
    ----------
    status : HTTPStatus
    code : str
        For programs.
    message : str
        For people: what was expected, and what came.
    hint : str
        What to do.
    """

    def __init__(
        self, status: HTTPStatus, code: str, message: str, hint: str = DOCUMENTATION
    ) -> None:
        busy = status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)
        super().__init__(status, message, {"Retry-After": str(RETRY_SECONDS)} if busy else None)
        self.code = code
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep all attributes when pickled, as on the way from a worker."""
        return ApiError, (HTTPStatus(self.status_code), self.code, self.detail, self.hint)


def answer(error: HTTPException) -> JSONResponse:
    """Return the response that reports an error."""
    status = HTTPStatus(error.status_code)
    code = getattr(error, "code", status.phrase.lower().replace(" ", "_"))
    hint = getattr(error, "hint", DOCUMENTATION)
    content = {"error": {"code": code, "message": error.detail, "hint": hint}}
    return JSONResponse(content, status, dict(error.headers or {}))


def refusal(error: NeurowhereError) -> ApiError:
    """Return the error for input that the package refuses, in the package's words."""
    kind = type(error).__name__.removesuffix("Error").lower()
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, f"invalid_{kind}", str(error))


def failure(error: BaseException) -> ApiError:
    """Return the error for a failure of the server, and log where it happened.

    The message of the exception is left out: it may hold a part of a patient's text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:][::-1])
    logger.error("%s at %s", type(error).__name__, where)
    return ApiError(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal_error",
        f"the server failed ({type(error).__name__})",
        "this is a bug in neurowhere; its log says where",
    )


def too_slow(max_seconds: float) -> ApiError:
    """Return the error for a request that took too long."""
    return ApiError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "timeout",
        f"no answer within {max_seconds:g} s",
        "send a shorter text, or try again when the server is less busy",
    )


def add_error_handlers(app: FastAPI) -> None:
    """Give all errors of an application the same shape."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(NeurowhereError, _refused)


def _http(request: Request, error: Any) -> JSONResponse:
    return answer(error)


def _invalid(request: Request, error: Any) -> JSONResponse:
    """Return which field is wrong, and what was expected there."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"] if part != "body") or "body"
    message = f"{field}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return answer(ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", message))


def _refused(request: Request, error: Any) -> JSONResponse:
    return answer(refusal(error))
