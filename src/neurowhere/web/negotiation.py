"""Negotiation: the media type of an answer, chosen by the Accept header of the request."""

from collections.abc import Sequence
from http import HTTPStatus

from neurowhere.web.errors import ApiError

__all__ = ["choose"]

ANYTHING = "*/*"


def choose(accept: str, offered: Sequence[str]) -> str:
    """Return the media type that a client prefers; of equals, the first on offer.

    Parameters
    ----------
    accept : str
        The header.
    offered : sequence of str
        Media types.

    Returns
    -------
    str

    Examples
    --------
    >>> choose("image/png, application/json;q=0.5", ["application/json", "image/png"])
    'image/png'
    >>> choose("", ["application/json", "image/png"])
    'application/json'
    """
    ranges = [_read(part) for part in (accept or ANYTHING).split(",")]
    qualities = {name: _quality(name, ranges) for name in offered}
    best = max(offered, key=qualities.__getitem__)
    if qualities[best] > 0:
        return best
    raise ApiError(
        HTTPStatus.NOT_ACCEPTABLE,
        "not_acceptable",
        f"expected an Accept header that allows one of {', '.join(offered)}",
    )


def _read(part: str) -> tuple[str, float]:
    """Return a range of media types and its quality."""
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return name, float(parameter[2:])
            except ValueError:
                return name, 0.0
    return name, 1.0


def _quality(name: str, ranges: list[tuple[str, float]]) -> float:
    """Return the quality of the narrowest range that contains a media type."""
    widening = (name, name.split("/")[0] + "/*", ANYTHING)
    for wanted in widening:
        for pattern, quality in ranges:
            if pattern == wanted:
                return quality
    return 0.0
