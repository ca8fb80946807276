"""Pool: computations run beside the event loop, so few at once and so many waiting."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, TypeVar

from neurowhere.web.errors import ApiError

Result = TypeVar("Result")


class Pool:
    """Threads with a bounded queue.

    NumPy and SciPy release the interpreter's lock in their products, so that threads share the
    cores; the model exists once. Used from one event loop only.

    Parameters
    ----------
    workers, max_queue : int
        Computations that run, and that wait, at once. One more is refused.
    max_seconds : float
        Until a caller gives up. What runs cannot be stopped: it keeps its place until it is done.
    """

    def __init__(self, workers: int, max_queue: int, max_seconds: float) -> None:
        self.workers = workers
        self.capacity = workers + max_queue
        self.max_seconds = max_seconds
        self.pending = 0
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="encode")

    @property
    def waiting(self) -> int:
        """Computations that wait for a worker."""
        return max(self.pending - self.workers, 0)

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Await the result of a computation, or an `ApiError` that says to come back later."""
        if self.pending >= self.capacity:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"{self.pending} requests are under way, which is all that the server takes",
                "try again after the seconds of the Retry-After header",
            )
        loop = asyncio.get_running_loop()
        future = self._threads.submit(work, *arguments)
        self.pending += 1
        future.add_done_callback(lambda done: self._leave(loop, done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.max_seconds)
        except TimeoutError as error:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "timeout",
                f"no answer within {self.max_seconds:g} s",
                "send a shorter text, or try again when the server is less busy",
            ) from error

    def close(self) -> None:
        """Finish what runs; drop what waits."""
        self._threads.shutdown(cancel_futures=True)

    def _leave(self, loop: asyncio.AbstractEventLoop, done: "Future[Any]") -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._forget)

    def _forget(self) -> None:
        self.pending -= 1
