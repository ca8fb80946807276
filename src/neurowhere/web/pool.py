"""Pool: answers queries outside the event loop, with a limited number of workers and a queue."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from queue import SimpleQueue
from typing import Any, Protocol

from neurowhere.web.errors import ApiError, too_slow

__all__ = ["Answerer", "Pool"]


class Answerer(Protocol):
    """A `Service` in this process, or a `Worker` for one in another process."""

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query by the method of a `Service` that has this name."""


class Pool:
    """A crew with a bounded queue; used from one event loop only.

    Parameters
    ----------
    crew : sequence of Answerer
        Each answers one query at a time.
    max_queue : int
        Number of queries that may wait; further ones are refused.
    max_seconds : float
        Time after which a caller gives up. Its query keeps its worker until it is done.
    """

    def __init__(self, crew: Sequence[Answerer], max_queue: int, max_seconds: float) -> None:
        self.workers = len(crew)
        self.capacity = self.workers + max_queue
        self.max_seconds = max_seconds
        self.pending = 0
        self._free: SimpleQueue[Answerer] = SimpleQueue()
        for answerer in crew:
            self._free.put(answerer)
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="answer")

    @property
    def waiting(self) -> int:
        """Number of queries that wait for a worker."""
        return max(self.pending - self.workers, 0)

    async def run(self, name: str, query: Any) -> bytes:
        """Return the answer to a query, or raise an `ApiError` that says to try again later.

        Parameters
        ----------
        name : str
            Of the method of `Service` that answers.
        query : object
            Its argument.

        Returns
        -------
        bytes
        """
        if self.pending >= self.capacity:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"the server is busy: {self.pending} requests are being answered or waiting",
                "try again after the number of seconds in the Retry-After header",
            )
        loop = asyncio.get_running_loop()
        future = self._threads.submit(self._answer, name, query)
        self.pending += 1
        future.add_done_callback(lambda done: self._leave(loop, done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.max_seconds)
        except TimeoutError as error:
            raise too_slow(self.max_seconds) from error

    def close(self) -> None:
        """Finish the queries that run, and drop those that wait."""
        self._threads.shutdown(cancel_futures=True)

    def _answer(self, name: str, query: Any) -> bytes:
        answerer = self._free.get()  # there are as many as threads
        try:
            return answerer.answer(name, query)
        finally:
            self._free.put(answerer)

    def _leave(self, loop: asyncio.AbstractEventLoop, done: "Future[Any]") -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._forget)

    def _forget(self) -> None:
        self.pending -= 1
