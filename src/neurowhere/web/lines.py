"""Lines: a batch a few texts at a time, so that answers stream and other queries get their turn."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any

from neurowhere.web.errors import ApiError, problem
from neurowhere.web.pool import Pool
from neurowhere.web.schemas import BatchQuery
from neurowhere.web.service import to_json

__all__ = ["LINES", "last_line", "patiently", "pieces", "stream_lines"]

LINES = "application/x-ndjson"
TEXTS_AT_ONCE = 10
TRIES = 5  # that a piece gets when workers die
PAUSE_SECONDS = 0.2  # between two looks at a full queue


def pieces(query: BatchQuery) -> Iterator[BatchQuery]:
    """Cut a batch into pieces of a few texts."""
    for start in range(0, len(query.texts), TEXTS_AT_ONCE):
        texts = query.texts[start : start + TEXTS_AT_ONCE]
        yield BatchQuery.model_construct(**{**query.__dict__, "texts": texts})


async def stream_lines(pool: Pool, query: BatchQuery) -> AsyncIterator[bytes]:
    """Return the summaries of a batch as JSON lines, as they come.

    The first piece is awaited here, so that a refusal has its own status.

    Parameters
    ----------
    pool : Pool
    query : BatchQuery

    Returns
    -------
    async iterator of bytes
        Some lines each; if a later piece fails, the last line is its problem.
    """
    first, *others = pieces(query)
    lines = await pool.run("batch_lines", first)

    async def stream() -> AsyncIterator[bytes]:
        yield lines
        for piece in others:
            try:
                yield await patiently(pool, "batch_lines", piece)
            except ApiError as error:
                yield last_line(error)
                return

    return stream()


def last_line(error: ApiError) -> bytes:
    """Return an error as the line that ends a stream."""
    return to_json(problem(error)) + b"\n"


async def patiently(pool: Pool, name: str, query: Any) -> bytes:
    """Return the answer to a query that can wait: behind others, and for a new worker."""
    for _ in range(TRIES - 1):
        while pool.is_full:
            await asyncio.sleep(PAUSE_SECONDS)
        try:
            return await pool.run(name, query)
        except ApiError as error:
            if error.status_code != HTTPStatus.SERVICE_UNAVAILABLE or error.code == "timeout":
                raise
    return await pool.run(name, query)
