"""Errors of the API: problem details (RFC 9457) that repeat nothing of what the user wrote."""

import json
import logging
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from neurowhere.exceptions import (
    CorpusError,
    NeurowhereError,
    QueryError,
    ReadingError,
    TextError,
    VocabularyError,
    raised_at,
)
from neurowhere.web.schemas import EXAMPLES, Schema, example

PROBLEM = "application/problem+json"
RETRY_SECONDS = 1
DOCUMENTATION = "See the page /docs of this server."

# For errors of the framework, whose own words are no sentences.
SENTENCES = {
    HTTPStatus.BAD_REQUEST: "The body cannot be read as JSON in UTF-8.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not answer to this method.",
}
# For errors of the package that quote their input, which may be a part of a patient's text.
REFUSALS: dict[type[NeurowhereError], tuple[str, str]] = {
    CorpusError: (
        "These documents cannot be compared: no two groups of them can be told apart.",
        "Send more documents, or ask for another term.",
    ),
    QueryError: ("The query for documents cannot be read.", "Check quotes, parentheses and AND."),
    TextError: ("The text cannot be read.", "Send plain text in English."),
    VocabularyError: (
        "The model does not know this term.",
        "Check its spelling, try another name, or encode it as a text.",
    ),
}

# In the description of the API.
DESCRIPTIONS = {
    403: "The request comes from a page of another site.",
    404: "There is no such job, collection or document.",
    406: "No such form.",
    408: "The body did not come in time.",
    409: "The job is not finished, or has no such result.",
    413: "The body is too large.",
    422: "The request is not as expected.",
    429: "There are too many jobs.",
    503: "Too many requests, too long a time, or a worker ended.",
}
RETRY_AFTER = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
BUSY = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)

logger = logging.getLogger("neurowhere")


class Problem(Schema):
    """Problem details (RFC 9457): the answer to every request that fails."""

    model_config = example(**EXAMPLES["problem"])

    type: str = Field(description="Always about:blank; the code tells problems apart.")
    title: str = Field(description="Name of the status.")
    status: int
    detail: str = Field(description="For people; repeats nothing of the text.")
    code: str = Field(description="For programs; does not change.")
    hint: str = Field(description="What to do about it.")


class ApiError(HTTPException):
    """A request that cannot be answered: a code for programs, a message and a hint for people."""

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        hint: str = DOCUMENTATION,
        retry_seconds: int = RETRY_SECONDS,
    ) -> None:
        headers = {"Retry-After": str(retry_seconds)} if status in BUSY else None
        super().__init__(status, sentence(message), headers)
        self.code = code
        self.hint = sentence(hint)
        self.retry_seconds = retry_seconds

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep all attributes when pickled, as on the way from a worker."""
        status = HTTPStatus(self.status_code)
        return ApiError, (status, self.code, self.detail, self.hint, self.retry_seconds)


def sentence(words: str) -> str:
    """Return words with a capital letter and a full stop.

    >>> sentence("expected a number, got a text")
    'Expected a number, got a text.'
    """
    return f"{words[:1].upper()}{words[1:]}" + "." * (not words.endswith((".", "!", "?")))


def problem(error: HTTPException) -> dict[str, Any]:
    """Return an error as the members of problem details."""
    status = HTTPStatus(error.status_code)
    plain = SENTENCES.get(status, sentence(status.phrase))
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": error.detail if isinstance(error, ApiError) else plain,
        "code": getattr(error, "code", status.phrase.lower().replace(" ", "_")),
        "hint": getattr(error, "hint", DOCUMENTATION),
    }


def answer(error: HTTPException) -> JSONResponse:
    """Return the response that reports an error."""
    headers = dict(error.headers or {})
    return JSONResponse(problem(error), error.status_code, headers, media_type=PROBLEM)


def last_line(error: ApiError) -> bytes:
    """Return an error as the line that ends a stream of JSON lines."""
    return json.dumps(problem(error)).encode() + b"\n"


def may_fail(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of errors that a route may answer with."""
    return {
        int(status): {
            "description": DESCRIPTIONS[status],
            "model": Problem,
            **({"headers": RETRY_AFTER} if status in BUSY else {}),
        }
        for status in statuses
    }


def refusal(error: NeurowhereError) -> ApiError:
    """Return the error for input that the package refuses; it never quotes the input."""
    if isinstance(error, ReadingError):
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", str(error))
    kind = type(error).__name__.removesuffix("Error").lower()
    words, hint = REFUSALS.get(type(error), (str(error), DOCUMENTATION))
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, f"invalid_{kind}", words, hint)


def failure(error: BaseException) -> ApiError:
    """Return the error for a failure of the server, and log where it happened.

    The message of the exception is left out: it may hold a part of a patient's text.
    """
    logger.error("%s at %s", type(error).__name__, raised_at(error))
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
        f"there was no answer within {max_seconds:g} s",
        "send a shorter text, or try again when the server is less busy",
    )


def add_error_handlers(app: FastAPI) -> None:
    """Answer all errors with problem details, and describe them in the API."""
    app.add_exception_handler(HTTPException, lambda _, error: answer(cast(HTTPException, error)))
    app.add_exception_handler(RequestValidationError, lambda _, error: _invalid(error))
    app.add_exception_handler(
        NeurowhereError, lambda _, error: answer(refusal(cast(NeurowhereError, error)))
    )
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        description = describe()
        for methods in description["paths"].values():
            for operation in methods.values():
                _name_problems(operation["responses"])
        return description

    app.openapi = openapi  # type: ignore[method-assign]


def _name_problems(responses: dict[str, Any]) -> None:
    """Set the media type of the errors of an operation."""
    for status, response in responses.items():
        content = response.get("content", {})
        if int(status) >= HTTPStatus.BAD_REQUEST and "application/json" in content:
            content[PROBLEM] = content.pop("application/json")


def _invalid(error: Any) -> JSONResponse:
    """Return which field is wrong, and what was expected there."""
    message = _wrong(error.errors()[0])
    return answer(ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", message))


def _wrong(first: dict[str, Any]) -> str:
    """Describe the first error of a body; the name of an unknown field is not repeated."""
    kind, (_, *places) = first["type"], first["loc"]
    field = f"field {'.'.join(map(str, places))}" if places else "body"
    if kind == "json_invalid":
        return f"the body is not valid JSON from character {places[0] if places else 0} on"
    if kind == "model_attributes_type" and not places:  # as curl -d sends it
        return "expected a JSON object, sent with the header Content-Type: application/json"
    if kind == "missing":
        return f"the {field} is missing"
    if kind == "extra_forbidden":
        return "the body has a field that this address does not know"
    return f"the {field} is not as expected: {first['msg'][:1].lower()}{first['msg'][1:]}"
