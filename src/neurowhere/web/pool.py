"""Pool: processes with the model, each of which answers one query at a time.

Drawings have a process and a queue of their own: a figure waits for other figures, not for texts,
and no other process loads what drawing takes. Each queue is first come, first served.
"""

import asyncio
import multiprocessing
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, NamedTuple

from neurowhere.exceptions import NeurowhereError
from neurowhere.model.store import load_model
from neurowhere.web import Settings
from neurowhere.web.errors import ApiError, failure, refusal, too_slow
from neurowhere.web.service import Service

TRIES = 5  # attempts at a query that can wait, when workers die
PAUSE_SECONDS = 0.2  # between two looks at a full queue
IDLE_SECONDS = 300.0  # the process that draws ends after this time without work
DRAWN = ("_html", "_png")  # ends of the names of what loads plotting libraries
DRAWINGS = 4  # times as long as a text takes a figure: so many fewer may wait
# What glibc keeps of freed memory: two heaps, where it would else have eight for each core, and no
# block of 1 MiB, where it would else raise that with the largest array that it has seen.
MEMORY = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(2**20)}

# Started afresh, not forked: nothing is inherited, and it works on every platform.
START = multiprocessing.get_context("spawn")

Prepared = int | str  # process id of a worker that is ready, or why it cannot be


class State(NamedTuple):
    """State of a worker: ready, busy, starting, dead, or asleep until there is work."""

    state: str
    memory_mb: float | None = None
    restarts: int = 0


class Worker:
    """One process with the model, or one thread; replaced if it dies or takes too long.

    `hire` returns an executor of one process or thread, and the future of its process id.
    """

    def __init__(self, hire: Callable[[], tuple[Executor, "Future[Prepared]"]]) -> None:
        self._hire = hire
        self._executor: Executor | None = None
        self._is_busy = False
        self.restarts = 0

    def start(self) -> "Future[Prepared]":
        """Start the process unless it runs, and return the future of its process id."""
        if self._executor is None:
            self._executor, self.prepared = self._hire()
        return self.prepared

    def submit(self, name: str, query: Any) -> "Future[Any]":
        """Answer a query by the method of a `Service` that has this name."""
        if self.is_dead:
            self.replace()
        self.start()
        assert self._executor is not None
        try:
            future = self._executor.submit(answer, name, query)
        except BrokenProcessPool:  # it has just died: no answer is lost
            self.replace()
            return self.submit(name, query)
        self._is_busy = True
        future.add_done_callback(lambda _: setattr(self, "_is_busy", False))
        return future

    @property
    def pid(self) -> int | None:
        """Process id, once the process is ready; that of the server, if it is a thread."""
        if self._executor is None or not self.prepared.done() or self.prepared.exception():
            return None
        found = self.prepared.result()
        return found if isinstance(found, int) else None

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended by itself."""
        if self._executor is None or not self.prepared.done():
            return False
        alive = {os.getpid(), *(each.pid for each in multiprocessing.active_children())}
        return self.pid not in alive

    def state(self) -> State:
        """Return the state of the process."""
        if self._executor is None:
            return State("asleep", None, self.restarts)
        if self.is_dead:
            return State("dead", None, self.restarts)
        state = "starting" if self.pid is None else "busy" if self._is_busy else "ready"
        return State(state, memory_mb(self.pid), self.restarts)

    def replace(self) -> None:
        """Kill the process, and start another."""
        self.kill()
        self.restarts += 1
        self.start()

    def kill(self) -> None:
        """Kill the process; a thread cannot be killed."""
        pid, executor, self._executor = self.pid, self._executor, None
        if pid not in (None, os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if os.name == "nt" else signal.SIGKILL)
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)


class Lane:
    """Workers that share a bounded queue; used from one event loop only."""

    def __init__(self, workers: list[Worker], max_queue: int) -> None:
        self.workers = workers
        self.capacity = len(workers) + max_queue
        self.pending = 0
        self._free: asyncio.Queue[Worker] = asyncio.Queue()
        for worker in workers:
            self._free.put_nowait(worker)

    @property
    def waiting(self) -> int:
        """Number of queries that wait for a worker."""
        return max(self.pending - len(self.workers), 0)

    async def run(self, name: str, query: Any, max_seconds: float) -> Any:
        """Return the answer to a query, or raise an error that says to try again later."""
        worker = future = None
        self.pending += 1
        try:
            async with asyncio.timeout(max_seconds):
                worker = await self._free.get()
                future = worker.submit(name, query)
                loop = asyncio.get_running_loop()
                future.add_done_callback(partial(self._leave_later, loop, worker))
                outcome = await asyncio.wrap_future(future)
        except TimeoutError as error:
            if worker:
                worker.replace()  # a thread goes on, and its worker stays with it
            raise too_slow(max_seconds) from error
        except BrokenProcessPool as error:
            raise interrupted() from error
        finally:
            if future is None:
                self._leave(worker)
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    def _leave_later(
        self, loop: asyncio.AbstractEventLoop, worker: Worker, future: "Future[Any]"
    ) -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._leave, worker)

    def _leave(self, worker: Worker | None) -> None:
        self.pending -= 1
        if worker:
            self._free.put_nowait(worker)


class Pool:
    """Workers with their queues; used from one event loop only."""

    def __init__(self, make: Callable[[], Worker], settings: Settings) -> None:
        self.make = make
        self.max_seconds = settings.max_seconds
        self.queries = Lane([make() for _ in range(settings.workers)], settings.max_queue)
        self.artist = make()
        self.drawings = Lane([self.artist], settings.max_queue // DRAWINGS)
        self._sleep: asyncio.TimerHandle | None = None

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

    async def run(self, name: str, query: Any) -> Any:
        """Return what a method of `Service` answers, or raise an error that says to try later."""
        lane = self._lane(name)
        if lane.pending >= lane.capacity:
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "busy",
                f"the server is busy: {lane.pending} requests are being answered or waiting",
                "try again after the number of seconds in the Retry-After header",
            )
        try:
            return await lane.run(name, query, self.max_seconds)
        finally:
            if lane is self.drawings:
                self._sleep_later()

    async def run_patiently(self, name: str, query: Any) -> Any:
        """Return the answer to a query that can wait: behind others, and for a new worker."""
        lane = self._lane(name)
        for _ in range(TRIES - 1):
            while lane.pending >= lane.capacity:
                await asyncio.sleep(PAUSE_SECONDS)
            try:
                return await self.run(name, query)
            except ApiError as error:
                if error.code not in ("busy", "interrupted"):
                    raise
        return await self.run(name, query)

    async def run_apart(self, name: str, query: Any, started: Callable[[], None]) -> Any:
        """Return the answer of a new process, which ends with this coroutine."""
        worker = self.make()
        try:
            await asyncio.wrap_future(worker.start())
            started()
            outcome = await asyncio.wrap_future(worker.submit(name, query))
        except BrokenProcessPool as error:
            raise interrupted() from error
        finally:
            worker.kill()
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    def states(self) -> list[State]:
        """Return the state of each worker; a dead one is replaced."""
        found = [worker.state() for worker in self.queries.workers]
        for worker, state in zip(self.queries.workers, found, strict=True):
            if state.state == "dead":
                worker.replace()
        return found

    def close(self) -> None:
        """End all processes; by then the server has answered its requests."""
        for worker in [*self.queries.workers, self.artist]:
            worker.kill()

    def _sleep_later(self) -> None:
        """End the process that draws when nothing is drawn for some time."""
        if self._sleep:
            self._sleep.cancel()
        loop = asyncio.get_running_loop()
        self._sleep = loop.call_later(IDLE_SECONDS, self._sleep_now)

    def _sleep_now(self) -> None:
        if not self.drawings.pending:
            self.artist.kill()

    def _lane(self, name: str) -> Lane:
        return self.drawings if name.endswith(DRAWN) else self.queries


def interrupted() -> ApiError:
    """Return the error for a query whose process has ended."""
    return ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "interrupted", "a worker died", "try again")


@contextmanager
def hire(model: Path | None, settings: Settings) -> Iterator[Pool]:
    """Start the processes of a server, each of which reads the model; stop them at the end."""

    def start_process() -> tuple[Executor, "Future[Prepared]"]:
        executor = ProcessPoolExecutor(1, mp_context=START)
        return executor, executor.submit(prepare, model, settings)

    os.environ.update({name: os.environ.get(name, value) for name, value in MEMORY.items()})
    pool = Pool(lambda: Worker(start_process), settings)
    started = [worker.start() for worker in pool.queries.workers]
    pool.artist.start()  # the page needs a template of the brain first of all
    try:
        for each in started:
            found = each.result()
            if isinstance(found, str):
                raise NeurowhereError(found)
        yield pool
    except BrokenProcessPool as error:
        raise NeurowhereError("a worker died while reading the model; see above") from error
    finally:
        pool.close()


def in_threads(service: Service) -> Pool:
    """Return a pool that answers in threads of this process."""

    def start_thread() -> tuple[Executor, "Future[Prepared]"]:
        executor = ThreadPoolExecutor(1, "answer", _become, (service,))
        return executor, executor.submit(os.getpid)

    return Pool(lambda: Worker(start_thread), service.settings)


def memory_mb(pid: int | None) -> float | None:
    """Return the memory of a process, where the system tells it.

    What it shares with others, such as the code of libraries, is divided among them.
    """
    try:
        roll = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return None
    found = re.search(r"^Pss:\s+(\d+)", roll, re.MULTILINE)
    return int(found[1]) / 1024 if found else None


# ---- in the process or thread

_here = threading.local()  # its service


def _become(service: Service) -> None:
    _here.service = service


def prepare(model: Path | None, settings: Settings) -> Prepared:
    """Read the model, and return the process id, or why it cannot be read."""
    from threadpoolctl import threadpool_limits

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # a terminal sends it to the server too
    warnings.simplefilter("ignore")
    threading.Thread(target=_leave_with_server, daemon=True).start()
    threadpool_limits(1)  # a core to itself: products of matrices need no threads
    try:
        _become(Service.start(load_model(model), settings))
    except NeurowhereError as error:
        return str(error)
    return os.getpid()


def _leave_with_server() -> None:
    """End this process as soon as the server has ended."""
    server = multiprocessing.parent_process()
    if server:
        wait_for([server.sentinel])
        os._exit(1)


def answer(name: str, query: Any) -> Any:
    """Return the answer, or the error as plain data: not every exception survives a pipe."""
    try:
        return _here.service.answer(name, query)
    except ApiError as error:
        return error
    except NeurowhereError as error:
        return refusal(error)
    except Exception as error:
        return failure(error)
