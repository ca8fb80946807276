"""Pool: answers queries outside the event loop, with a limited number of workers and a queue."""

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
        Contrasts documents, apart from workers: it takes long. See `errand.contrast_apart`.
    """

    workers: Sequence[Answerer]
    artist: Answerer
    contrast: Callable[[Any, Callable[[int], None]], Awaitable[dict[str, bytes]]]


class Pool:
    """A crew with a bounded queue; used from one event loop only.

    Parameters
    ----------
    crew : Crew
        Each of it answers one query at a time.
    max_queue : int
        Number of queries that may wait; further ones are refused.
    max_seconds : float
        Time after which a caller gives up. Its query keeps its worker until it is done.
    """

    def __init__(self, crew: Crew, max_queue: int, max_seconds: float) -> None:
        self.crew = crew
        self.workers = len(crew.workers)
        self.capacity = self.workers + max_queue
        self.max_seconds = max_seconds
        self.pending = 0
        self._free: SimpleQueue[Answerer] = SimpleQueue()
        for answerer in crew.workers:
            self._free.put(answerer)
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="answer")
        self._studio = ThreadPoolExecutor(1, thread_name_prefix="draw")

    @property
    def waiting(self) -> int:
        """Number of queries that wait for a worker."""
        return max(self.pending - self.workers, 0)

    @property
    def is_full(self) -> bool:
        """Whether the next query would be refused."""
        return self.pending >= self.capacity

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
        if self.is_full:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"the server is busy: {self.pending} requests are being answered or waiting",
                "try again after the number of seconds in the Retry-After header",
            )
        loop = asyncio.get_running_loop()
        future = self._submit(name, query)
        self.pending += 1
        future.add_done_callback(lambda done: self._leave(loop, done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.max_seconds)
        except TimeoutError as error:
            raise too_slow(self.max_seconds) from error

    async def run_patiently(self, name: str, query: Any) -> bytes:
        """Return the answer to a query that can wait: behind others, and for a new worker."""
        for _ in range(TRIES - 1):
            while self.is_full:
                await asyncio.sleep(PAUSE_SECONDS)
            try:
                return await self.run(name, query)
            except ApiError as error:
                if error.status_code != HTTPStatus.SERVICE_UNAVAILABLE or error.code == "timeout":
                    raise
        return await self.run(name, query)

    async def watch(self) -> None:
        """Look after the workers that are free, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.to_thread(self._look_after)

    def states(self) -> list[State]:
        """Return how each worker is."""
        return [answerer.state() for answerer in self.crew.workers]

    def close(self) -> None:
        """Finish the queries that run, and drop those that wait."""
        self._threads.shutdown(cancel_futures=True)
        self._studio.shutdown(cancel_futures=True)

    def _submit(self, name: str, query: Any) -> "Future[bytes]":
        if name.endswith(DRAWN):
            return self._studio.submit(self.crew.artist.answer, name, query)
        return self._threads.submit(self._answer, name, query)

    def _answer(self, name: str, query: Any) -> bytes:
        answerer = self._free.get()  # there are as many as threads
        try:
            return answerer.answer(name, query)
        finally:
            self._free.put(answerer)

    def _look_after(self) -> None:
        self.crew.artist.look_after()
        with suppress(Empty):
            for _ in range(self.workers):  # each comes back at the end of the queue
                answerer = self._free.get_nowait()
                try:
                    answerer.look_after()
                finally:
                    self._free.put(answerer)

    def _leave(self, loop: asyncio.AbstractEventLoop, done: "Future[Any]") -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._forget)

    def _forget(self) -> None:
        self.pending -= 1
