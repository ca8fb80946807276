"""Pool: queries answered beside the event loop, so few at once and so many waiting."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from queue import SimpleQueue
from typing import Any, Protocol

from neurowhere.web.errors import ApiError, too_slow


class Answerer(Protocol):
    """Who answers: a `Service` in this process, or a `Worker` for one in another."""

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query as the method of this name of a `Service` does."""


class Pool:
    """Answerers with a bounded queue; used from one event loop only.

    Parameters
    ----------
    crew : sequence of Answerer
        As many queries are worked on at once.
    max_queue : int
        Queries that wait. One more is refused.
    max_seconds : float
        Until a caller gives up. What runs keeps its place until it is done.
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
        """Queries that wait for an answerer."""
        return max(self.pending - self.workers, 0)

    async def run(self, name: str, query: Any) -> bytes:
        """Await an answer, or an `ApiError` that says to come back later."""
        if self.pending >= self.capacity:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"{self.pending} requests are under way, which is all that the server takes",
                "try again after the seconds of the Retry-After header",
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
        """Finish what runs; drop what waits."""
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
