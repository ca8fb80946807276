"""Worker: processes with the model, so that requests use all cores and can be stopped.

Some answer queries one after the other, one draws, and each contrast of documents has its own.
"""

import asyncio
import ctypes
import gc
import logging
import mmap
import multiprocessing
import re
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http import HTTPStatus
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any

from neurowhere.exceptions import NeurowhereError
from neurowhere.model.store import load_model
from neurowhere.space import Atlas, default_atlas
from neurowhere.web import Collection, Settings
from neurowhere.web.documents import (
    Collections,
    Forms,
    Told,
    collection_of,
    contrast,
    private_folder,
)
from neurowhere.web.errors import ApiError, failure, refusal, too_slow
from neurowhere.web.pool import Crew, State
from neurowhere.web.schemas import ContrastQuery
from neurowhere.web.service import Service

__all__ = ["Artist", "Memory", "Worker", "contrast_apart", "hire"]

END_SECONDS = 5.0  # that a process may take to end by itself
RESTART_SECONDS = 5.0  # between two starts of a process that dies by itself
IDLE_SECONDS = 300.0  # after which the process that draws is ended
SLACK_MB = 8  # that a process may grow by before it gives memory back to the system,
PAUSE_SECONDS = 0.5  # after this time without a query,
RELEASE_SECONDS = 30.0  # or at least so often,
MUCH_MB = 24  # or at once, if it has grown by so much
M_MMAP_THRESHOLD = -3  # of glibc's mallopt: blocks of this size go back to the system when freed,
LARGE_BLOCK = 2**20  # where glibc would else raise it with the largest array that it has seen
M_ARENA_MAX = -8  # of the same: number of heaps,
HEAPS = 2  # where glibc would else have eight for each core
MB = 2**20

# Started afresh, not forked: nothing is inherited but one end of its pipe, which therefore closes
# as soon as the server is gone, however it went; and it works on every platform.
START = multiprocessing.get_context("spawn")

logger = logging.getLogger("neurowhere")


@contextmanager
def hire(model: Path | None, settings: Settings) -> Iterator[Crew]:
    """Start the workers of a server, and stop them at the end.

    Parameters
    ----------
    model : path, optional
        Folder, which each worker reads; by default the model in the package.
    settings : Settings

    Yields
    ------
    Crew
        The artist leaves when nothing is drawn for some time, and comes back when it is needed.
    """
    workers = [Worker(model, settings) for _ in range(settings.workers)]
    artist = Artist(model, settings)
    artist.wake()  # the page needs a template of the brain first of all
    try:
        for worker in workers:
            worker.wait()
        yield Crew(workers, artist, partial(contrast_apart, model, settings.documents))
    finally:
        artist.end()
        for worker in workers:
            worker.end()


class Worker:
    """A handle on a process, used by one thread at a time.

    A process that dies, or that exceeds the time limit of a request, is replaced.

    Parameters
    ----------
    model : path, optional
        Folder; by default the model in the package.
    settings : Settings
    """

    def __init__(self, model: Path | None, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.restarts = 0
        self._is_busy = False
        self._start()

    def _start(self) -> None:
        self._is_ready = False
        self._started = time.monotonic()
        self._pipe, other_end = START.Pipe()
        arguments = (other_end, self.model, self.settings)
        self.process = START.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        other_end.close()

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended."""
        return bool(wait_for([self.process.sentinel], 0))

    def state(self) -> State:
        """Return how the process is; called from any thread."""
        with suppress(OSError, ValueError):  # it is just being replaced
            if not self.is_dead:
                state = "busy" if self._is_busy else "ready" if self._is_ready else "starting"
                return State(state, memory_mb(self.process.pid), self.restarts)
        return State("dead", None, self.restarts)

    def look_after(self) -> None:
        """Replace the process if it has died, and notice when it is ready."""
        if self.is_dead:
            if time.monotonic() - self._started > RESTART_SECONDS:
                self._replace()
        elif not self._is_ready and self._pipe.poll(0):
            try:
                self.wait()
            except NeurowhereError as error:
                logger.error("a worker cannot start: %s", type(error).__name__)

    def wait(self) -> None:
        """Wait until the process has read the model, or raise an error that says why it cannot."""
        try:
            problem = self._pipe.recv()
        except EOFError as error:
            raise NeurowhereError("a worker died while reading the model; see above") from error
        if problem:
            raise NeurowhereError(problem)
        self._is_ready = True

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query by the method of a `Service` that has this name."""
        self._is_busy = True
        try:
            outcome = self._ask(name, query)
        except TimeoutError as error:
            self._replace()
            raise too_slow(self.settings.max_seconds) from error
        except (EOFError, OSError, NeurowhereError) as error:
            self._replace()
            raise ApiError(
                HTTPStatus.SERVICE_UNAVAILABLE, "interrupted", "a worker died", "try again"
            ) from error
        finally:
            self._is_busy = False
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    def _ask(self, name: str, query: Any) -> bytes | ApiError:
        if self.is_dead:  # while it had nothing to do: no answer is lost
            self._replace()
        if not self._is_ready:
            self.wait()
        self._pipe.send((name, query))
        if not self._pipe.poll(self.settings.max_seconds):
            raise TimeoutError
        outcome: bytes | ApiError = self._pipe.recv()
        return outcome

    def _replace(self) -> None:
        """Start another process; the next query waits until it is ready."""
        self.process.kill()
        self.end()
        self.restarts += 1
        self._start()

    def end(self) -> None:
        """Let the process finish what it does, then stop it."""
        self._pipe.close()
        if self._is_ready:  # else there is nothing to finish
            self.process.join(END_SECONDS)
        self.process.kill()
        self.process.join()


class Artist:
    """A worker that is there while something is drawn, and some minutes longer.

    Plotting libraries and templates take memory that no process gives back. The next drawing in
    that time finds them loaded.

    Parameters
    ----------
    model : path, optional
        Folder; by default the model in the package.
    settings : Settings
    idle_seconds : float
        Time without a drawing after which the process ends.
    """

    def __init__(
        self, model: Path | None, settings: Settings, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self.model, self.settings, self.idle_seconds = model, settings, idle_seconds
        self._worker: Worker | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(0, self.end)

    def wake(self) -> None:
        """Start the process, which is then ready for the first drawing."""
        with self._lock:
            self._worker = self._worker or Worker(self.model, self.settings)
            self._sleep_later()

    def answer(self, name: str, query: Any) -> bytes:
        """Answer a query by the method of a `Service` that has this name."""
        self._timer.cancel()
        with self._lock:
            self._worker = self._worker or Worker(self.model, self.settings)
            try:
                return self._worker.answer(name, query)
            finally:
                self._sleep_later()

    def _sleep_later(self) -> None:
        self._timer = threading.Timer(self.idle_seconds, self.end)
        self._timer.daemon = True
        self._timer.start()

    def look_after(self) -> None:
        """Do as a worker does, unless it draws."""
        if self._lock.acquire(blocking=False):
            try:
                if self._worker:
                    self._worker.look_after()
            finally:
                self._lock.release()

    def state(self) -> State:
        """Return how the process is, or that there is none."""
        worker = self._worker
        return worker.state() if worker else State("asleep")

    def end(self) -> None:
        """Stop the process, if there is one."""
        self._timer.cancel()
        with self._lock:
            if self._worker:
                self._worker.end()
            self._worker = None


# ---- memory


class Memory:
    """Keeps what this process holds near what it needs; made once all of that is loaded.

    Three things grow without being needed. glibc keeps what is freed, in a heap for each thread:
    they share two, blocks of 1 MiB go back at once, and the others when the process has grown.
    Python leaves cycles of objects, such as closed connections, until their number is a quarter of
    all objects: those that are here for good no longer count.
    """

    def __init__(self) -> None:
        with suppress(OSError, AttributeError):  # another C library
            libc = ctypes.CDLL(None)
            libc.mallopt(M_ARENA_MAX, HEAPS)
            libc.mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK)
        self.release()
        gc.freeze()

    @property
    def grown_mb(self) -> float:
        """By how much the process has grown since memory was released."""
        return resident_mb() - self._usual_mb

    @property
    def is_late(self) -> bool:
        """Whether memory was released long ago."""
        return time.monotonic() - self._released > RELEASE_SECONDS

    def release(self) -> None:
        """Give back to the system the memory that has become free."""
        gc.collect()
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        self._usual_mb, self._released = resident_mb(), time.monotonic()


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


def resident_mb() -> float:
    """Return the memory of this process that is not in a file, or 0 if the system does not tell."""
    try:
        _, resident, shared, *_ = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0.0
    return (int(resident) - int(shared)) * mmap.PAGESIZE / MB


# ---- in the process


def work(pipe: Connection, model: Path | None, settings: Settings) -> None:
    """Answer queries that come through a pipe until it closes; this runs in the process."""
    from threadpoolctl import threadpool_limits

    _become_quiet()
    with threadpool_limits(1):  # a core to itself: products of matrices need no threads
        try:
            service = Service.start(load_model(model), settings)
        except NeurowhereError as error:
            pipe.send(str(error))
            return
        memory = Memory()
        pipe.send(None)
        _answer_all(pipe, service, memory)


def _answer_all(pipe: Connection, service: Service, memory: Memory) -> None:
    while True:
        try:
            if memory.grown_mb > SLACK_MB:
                # It takes as long as two texts do: best while there is nothing to do.
                is_urgent = memory.is_late or memory.grown_mb > MUCH_MB
                if is_urgent or not pipe.poll(PAUSE_SECONDS):
                    memory.release()
            name, query = pipe.recv()
            pipe.send(_outcome(service, name, query))
        except (EOFError, OSError):  # the server is gone
            return
        del name, query  # no text is kept until the next one comes


def _outcome(service: Service, name: str, query: Any) -> bytes | ApiError:
    """Return the answer or the error as plain data: not every exception survives a pipe."""
    try:
        return service.answer(name, query)
    except ApiError as error:
        return error
    except NeurowhereError as error:
        return refusal(error)
    except Exception as error:
        return failure(error)


def _become_quiet() -> None:
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # which all processes of a terminal or a service get
    warnings.simplefilter("ignore")


# ---- contrasts


async def contrast_apart(
    model: Path | None, collections: Collections, query: ContrastQuery, told: Told
) -> Forms:
    """Contrast documents in another process, which ends with this coroutine, however that ends.

    Parameters
    ----------
    model : path, optional
        Folder; by default the model in the package.
    collections : sequence of Collection
        From which the query may name one.
    query : ContrastQuery
    told : callable
        Called with the number of finished stages.

    Returns
    -------
    dict of str to bytes
    """
    source = collection_of(query, collections)
    pipe, other_end = START.Pipe(duplex=False)
    with pipe, private_folder() as folder:
        arguments = (other_end, model, query, source, folder)
        process = START.Process(target=_contrast, args=arguments, daemon=True)
        try:
            process.start()
            other_end.close()
            while isinstance(outcome := await asyncio.to_thread(_receive, pipe), int):
                told(outcome)
        finally:
            process.kill()  # a thread that waits for the pipe sees its end
            process.join()
    if isinstance(outcome, ApiError):
        raise outcome
    return outcome


def _receive(pipe: Connection) -> int | Forms | ApiError:
    try:
        received: int | Forms | ApiError = pipe.recv()
    except (EOFError, OSError) as error:
        logger.error("the process of a contrast ended: %s", type(error).__name__)
        return ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE, "interrupted", "the process of the job ended"
        )
    return received


def _contrast(
    pipe: Connection,
    model: Path | None,
    query: ContrastQuery,
    source: Collection | None,
    folder: Path,
) -> None:
    """Contrast documents, and send stages and the result; this runs in the process."""
    _become_quiet()
    outcome: Forms | ApiError
    try:
        encoder = load_model(model)
        own = encoder.partition_ if isinstance(encoder.partition_, Atlas) else None
        outcome = contrast(encoder, own or default_atlas(), query, source, folder, pipe.send)
    except NeurowhereError as error:
        outcome = refusal(error)
    except Exception as error:
        outcome = failure(error)
    pipe.send(outcome)
