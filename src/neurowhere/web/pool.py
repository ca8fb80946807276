"""Pool: answers queries outside the event loop, by workers that share a bounded queue.

Drawings have a queue of their own: a figure waits for other figures, not for texts, and no burst of
texts keeps figures out. Each queue is first come, first served.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

from neurowhere.web.errors import ApiError, too_slow

__all__ = ["Answerer", "Crew", "Local", "Pool", "State"]

LOOK_SECONDS = 1.0  # between two looks after the workers
TRIES = 5  # of a query that can wait, when workers die
PAUSE_SECONDS = 0.2  # between two looks at a full queue
# Ends of the names of what loads plotting libraries.
DRAWN = ("_html", "_png")
DRAWINGS = 4  # times as long as a text takes a figure: so many fewer may wait


class State(NamedTuple):
    """How a worker is: ready, busy, starting, dead, or asleep until something is to be drawn."""

    state: str
    memory_mb: float | None = None
    restarts: int = 0


class Answerer(Protocol):
    """Something that answers one query at a time: `Local`, or a `Worker` in another process."""

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query by the method of a `Service` that has this name."""

    def look_after(self) -> None:
        """Restart what has died."""

    def state(self) -> State:
        """Return how it is; called from any thread."""


class Local:
    """Answers in this process.

    Parameters
    ----------
    answer : callable
        `Service.answer`.
    """

    def __init__(self, answer: Callable[[str, Any], bytes]) -> None:
        self._answer = answer

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query."""
        return self._answer(name, query)

    def look_after(self) -> None:
        """Do nothing."""

    def state(self) -> State:
        """Return that it is ready."""
        return State("ready")


class Crew(NamedTuple):
    """Who answers.

    Attributes
    ----------
    workers : sequence of Answerer
    artist : Answerer
        One more that draws, so that no worker loads what drawing takes.
    contrast : coroutine function
        Contrasts documents, apart from workers: it takes long. See `worker.contrast_apart`.
    """

    workers: Sequence[Answerer]
    artist: Answerer
    contrast: Callable[[Any, Callable[[int], None]], Awaitable[dict[str, bytes]]]


class Lane:
    """Answerers that share a bounded queue; used from one event loop only.

    Parameters
    ----------
    answerers : sequence of Answerer
        Each answers one query at a time.
    max_queue : int
        Number of queries that may wait.
    """

    def __init__(self, answerers: Sequence[Answerer], max_queue: int) -> None:
        self.size = len(answerers)
        self.capacity = self.size + max_queue
        self.pending = 0
        self._free: SimpleQueue[Answerer] = SimpleQueue()
        for answerer in answerers:
            self._free.put(answerer)
        self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="answer")

    @property
    def waiting(self) -> int:
        """Number of queries that wait for an answerer."""
        return max(self.pending - self.size, 0)

    @property
    def is_full(self) -> bool:
        """Whether the next query would be one too many."""
        return self.pending >= self.capacity

    def submit(self, name: str, query: Any) -> "Future[bytes]":
        """Put a query into the queue."""
        loop = asyncio.get_running_loop()
        future = self._threads.submit(self._answer, name, query)
        self.pending += 1
        future.add_done_callback(lambda done: self._leave(loop))
        return future

    def look_after(self) -> None:
        """Restart those that have died, of the ones that are free."""
        with suppress(Empty):
            for _ in range(self.size):  # each comes back at the end of the queue
                answerer = self._free.get_nowait()
                try:
                    answerer.look_after()
                finally:
                    self._free.put(answerer)

    def close(self) -> None:
        """Finish the queries that run, and drop those that wait."""
        self._threads.shutdown(cancel_futures=True)

    def _answer(self, name: str, query: Any) -> bytes:
        answerer = self._free.get()  # there are as many as threads
        try:
            return answerer.answer(name, query)
        finally:
            self._free.put(answerer)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._forget)

    def _forget(self) -> None:
        self.pending -= 1


class Pool:
    """A crew with its queues; used from one event loop only.

    Parameters
    ----------
    crew : Crew
        Each of it answers one query at a time.
    max_queue : int
        Number of queries that may wait; further ones are refused. A quarter as many drawings may
        wait beside them.
    max_seconds : float
        Time after which a caller gives up. Its query keeps its worker until it is done.
    """

    def __init__(self, crew: Crew, max_queue: int, max_seconds: float) -> None:
        self.crew = crew
        self.max_seconds = max_seconds
        self.queries = Lane(crew.workers, max_queue)
        self.drawings = Lane([crew.artist], max_queue // DRAWINGS)

    @property
    def pending(self) -> int:
        """Number of queries that are answered or wait."""
        return self.queries.pending + self.drawings.pending

    @property
    def waiting(self) -> int:
        """Number of queries that wait."""
        return self.queries.waiting + self.drawings.waiting

    @property
    def capacity(self) -> int:
        """Number of queries that may be answered or wait at once."""
        return self.queries.capacity + self.drawings.capacity

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
        lane = self._lane(name)
        if lane.is_full:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"the server is busy: {lane.pending} requests are being answered or waiting",
                "try again after the number of seconds in the Retry-After header",
            )
        future = lane.submit(name, query)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.max_seconds)
        except TimeoutError as error:
            raise too_slow(self.max_seconds) from error

    async def run_patiently(self, name: str, query: Any) -> bytes:
        """Return the answer to a query that can wait: behind others, and for a new worker."""
        for _ in range(TRIES - 1):
            while self._lane(name).is_full:
                await asyncio.sleep(PAUSE_SECONDS)
            try:
                return await self.run(name, query)
            except ApiError as error:
                if error.status_code != HTTPStatus.SERVICE_UNAVAILABLE or error.code == "timeout":
                    raise
        return await self.run(name, query)

    async def watch(self) -> None:
        """Look after the crew, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self.drawings.look_after)
            await asyncio.to_thread(self.queries.look_after)

    def states(self) -> list[State]:
        """Return how each worker is."""
        return [answerer.state() for answerer in self.crew.workers]

    def close(self) -> None:
        """Finish the queries that run, and drop those that wait."""
        self.queries.close()
        self.drawings.close()

    def _lane(self, name: str) -> Lane:
        return self.drawings if name.endswith(DRAWN) else self.queries
