"""Parallel work on cores or on a Dask cluster, its progress on a terminal, and compiled loops."""

import ctypes
import gc
import io
import logging
import multiprocessing
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from concurrent.futures import CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar

from neurowhere.exceptions import ClusterError, MissingExtraError, NeurowhereWarning

__all__ = [
    "Workers",
    "compiled",
    "connect",
    "hired",
    "run_here",
    "run_in_order",
    "run_on_cluster",
    "slices",
    "track",
]

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")
T = TypeVar("T")

CONNECT_SECONDS = 10.0
POLL_SECONDS, ALIVE_SECONDS = 0.02, 10.0  # seconds between checks for results, and for workers
SHARE_SECONDS = 1.0  # seconds between checks for workers while objects are sent
MOST_IDLE_ROUNDS = 5  # rounds in which a cluster finishes no task
WENT_AWAY = "the cluster went away; start it again, with workers, then run again to go on"
TASKS_EACH = 2  # tasks per worker that run or wait
RETRIES = 3  # retries of a task whose worker died
THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
QUIET_SECONDS = 2.0  # delay before a progress bar appears


def slices(n: int, size: int) -> list[slice]:
    """Cut range(n) into slices of at most `size`.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


@dataclass(frozen=True)
class Workers:
    """Where work is done: the cores of this machine, or a Dask cluster.

    Attributes
    ----------
    n_jobs : int
        Cores of this machine to use, −1 for all.
    client : distributed.Client, optional
        Client of a cluster, to use its workers instead.
    """

    n_jobs: int = 1
    client: Any = None

    def run(
        self,
        work: Callable[[Shared, Task], Result],
        calls: Sequence[tuple[Shared, Task]],
        *,
        at_once: int | None = None,
    ) -> Iterator[Result]:
        """Call ``work(shared, task)`` for every pair; yield results as they finish.

        `at_once` bounds the tasks that run on this machine at the same time, see `run_here`.
        """
        if self.client is not None:
            return run_on_cluster(work, calls, self.client)
        return run_here(work, calls, n_jobs=self.n_jobs, at_once=at_once)

    @property
    def are_here(self) -> bool:
        """Whether this process does the work itself."""
        return self.n_jobs == 1 and self.client is None

    def for_calls(self, n_calls: int) -> "Workers":
        """Return workers for so many calls: one is made in this process, and nothing is sent."""
        return Workers() if n_calls == 1 else self


@contextmanager
def hired(n_jobs: int, cluster: str | None) -> Iterator[Workers]:
    """Yield workers of this machine, or of a cluster, which is let go of in the end."""
    if cluster is None:
        yield Workers(n_jobs)
        return
    with _silent_dask():
        client = connect(cluster)
        try:
            yield Workers(n_jobs, client)
        finally:
            with suppress(*_signs_of_loss()):
                client.close()


@contextmanager
def _silent_dask() -> Iterator[None]:
    """Keep Dask's log from the terminal: what it says of a lost cluster is told in one line."""
    with suppress(ImportError):
        import distributed  # noqa: F401, so that its loggers are there
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    loggers = [logging.getLogger(name) for name in names]
    levels = [each.level for each in loggers]
    try:
        for each in loggers:
            each.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


def run_here(
    work: Callable[[Shared, Task], Result],
    calls: Sequence[tuple[Shared, Task]],
    *,
    n_jobs: int = -1,
    at_once: int | None = None,
) -> Iterator[Result]:
    """Call ``work(shared, task)`` for every pair, in processes, and yield results as they finish.

    `work` is a function of a module, so that other processes find it. Large arrays in `shared` are
    mapped into memory once. `at_once` tasks run at the same time, by default one on each core; with
    1, a task may use all cores by threads of its own.
    """
    from joblib import Parallel, cpu_count, delayed, parallel_config

    cores = cpu_count() if n_jobs == -1 else max(1, n_jobs)
    if cores == 1 or not calls:
        yield from (work(shared, task) for shared, task in calls)
        return
    running = min(at_once or cores, cores)
    threads = {"inner_max_num_threads": max(1, cores // running)}
    pool = Parallel(
        n_jobs=cores, pre_dispatch=running, batch_size=1, return_as="generator_unordered"
    )
    try:
        with _taking_workers_along(), parallel_config(backend="loky", **threads):
            yield from pool(delayed(_quietly)(work, shared, task) for shared, task in calls)
    except BrokenProcessPool as error:
        raise ClusterError(
            "a worker process was killed, perhaps for want of memory; "
            "run the same command again, with fewer jobs, and it goes on where it stopped"
        ) from error


@contextmanager
def _taking_workers_along() -> Iterator[None]:
    """Let SIGTERM end the worker processes too, as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run_in_order(
    work: Callable[[Shared, Task], Result], shared: Shared, tasks: Iterable[Task], workers: Workers
) -> Generator[Result, None, None]:
    """Call ``work(shared, task)`` for tasks as they come, and yield the results in their order.

    `work` is a function of a module, so that other processes find it; each process gets `shared`
    once. Tasks are taken as they are needed: a few for each worker are held at a time.
    """
    if workers.are_here:
        yield from (work(shared, task) for task in tasks)
        return
    from joblib import cpu_count

    cores = cpu_count() if workers.n_jobs == -1 else max(1, workers.n_jobs)
    errand = _Errand(work, shared)
    if workers.client is None:
        yield from _in_processes(errand, tasks, cores)
    else:
        yield from _in_cluster(errand, tasks, workers.client)


@dataclass(frozen=True)
class _Errand:
    """What each worker gets once: a function, and what all its calls share."""

    work: Callable[[Any, Any], Any]
    shared: Any


def _in_processes(errand: _Errand, tasks: Iterable[Any], cores: int) -> Iterator[Any]:
    from joblib.externals.loky import ProcessPoolExecutor

    # A copy of this process begins at once, with the model that it has; of threads there is none.
    is_copied = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(
        cores,
        context=multiprocessing.get_context("fork") if is_copied else None,
        initializer=_begin,
        initargs=(errand, gc.get_threshold(), is_copied),
        env=dict.fromkeys(THREADS, "1"),
    )
    try:  # nothing is cancelled: the thread of the pool gives up what waits, and ends the workers
        yield from _ordered(lambda task: pool.submit(_go_on, task), tasks, cores, deque())
    except BrokenProcessPool as error:
        raise ClusterError(
            "a worker process was killed, perhaps for want of memory; "
            "run the same command again, with fewer jobs, and it goes on where it stopped"
        ) from error
    finally:
        pool.shutdown(wait=False, kill_workers=True)


def _in_cluster(errand: _Errand, tasks: Iterable[Any], client: Any) -> Iterator[Any]:
    import distributed

    sent = client.scatter(errand, hash=False)
    n_threads = max(1, sum(client.nthreads().values()))
    waiting: deque[Any] = deque()
    try:
        yield from _ordered(
            lambda task: client.submit(_run, sent, task, pure=False, retries=RETRIES),
            tasks,
            n_threads,
            waiting,
        )
    except distributed.KilledWorker as error:
        raise ClusterError(
            "workers of the cluster died again and again on the same task, perhaps for want of "
            "memory; give them more, then run again to go on"
        ) from error
    except _signs_of_loss() as error:
        raise ClusterError(WENT_AWAY) from error
    finally:
        with suppress(*_signs_of_loss()):
            for future in waiting:
                future.cancel()


def _ordered(
    submit: Callable[[Any], Any], tasks: Iterable[Any], cores: int, waiting: deque[Any]
) -> Iterator[Any]:
    """Yield results in order; `waiting` has the futures of tasks that are not done."""
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) > TASKS_EACH * cores:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_errands: list[_Errand] = []  # the task that this worker process runs


def _begin(errand: _Errand, thresholds: tuple[int, int, int], is_copied: bool) -> None:
    """Take an errand, and leave Ctrl-C to the process that collects the results."""
    gc.set_threshold(*thresholds)  # garbage is looked for as rarely as in the process that asks
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if is_copied:
        from threadpoolctl import threadpool_limits

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)  # ends with its parent
        threadpool_limits(1)
    _errands[:] = [errand]


def _go_on(task: Any) -> Any:
    return _run(_errands[0], task)


def _run(errand: _Errand, task: Any) -> Any:
    return _quietly(errand.work, errand.shared, task)


def run_on_cluster(
    work: Callable[[Shared, Task], Result], calls: Sequence[tuple[Shared, Task]], client: Any
) -> Iterator[Result]:
    """Call ``work(shared, task)`` for every pair on a cluster; yield results as they finish.

    Each shared object is sent to every worker once. The work of a worker that dies is done again
    by another; each result is yielded once. Dask itself does again what it can. What it gives up,
    because the shared object died with the worker, is sent again as long as a worker is there.
    """
    import distributed

    left, n_idle = list(calls), 0
    try:
        while left:
            n_before = len(left)
            left = yield from _run_once(work, left, client)
            n_idle = n_idle + 1 if len(left) == n_before else 0
            if left and (n_idle == MOST_IDLE_ROUNDS or not _wait_for_worker(client)):
                raise ClusterError(WENT_AWAY)
    except distributed.KilledWorker as error:
        raise ClusterError(
            "workers of the cluster died again and again on the same task, perhaps for want of "
            "memory; give them more, then run again to go on"
        ) from error


def _run_once(
    work: Callable[[Shared, Task], Result], calls: list[tuple[Shared, Task]], client: Any
) -> Generator[Result, None, list[tuple[Shared, Task]]]:
    """Send calls once and yield the results; return the calls that were lost with a worker."""
    signs = _signs_of_loss()
    futures: dict[Any, tuple[Shared, Task]] = {}
    try:
        try:
            futures = dict(zip(_submit(work, calls, client), calls, strict=True))
        except signs:
            return calls
        lost = []
        for future in _iter_finished(client, list(futures)):
            failed = future.status == "error"  # the work itself, with whatever kind of error
            try:
                result = future.result()
            except signs:
                if failed:
                    raise
                lost.append(futures[future])
            else:
                yield result
            future.release()
        return lost
    finally:
        with suppress(*signs):
            client.cancel(list(futures))


def _submit(
    work: Callable[[Shared, Task], Result], calls: Sequence[tuple[Shared, Task]], client: Any
) -> list[Any]:
    distinct = {id(shared): shared for shared, _ in calls}
    sent = dict(zip(distinct, _share(list(distinct.values()), client), strict=True))
    return [client.submit(work, sent[id(shared)], task, pure=False) for shared, task in calls]


def _share(objects: list[Any], client: Any) -> list[Any]:
    """Send objects to all workers; Dask waits without end for one that dies meanwhile."""
    import asyncio  # late, because it takes a while

    before = client.run_on_scheduler(_names_of_workers)
    sending = asyncio.run_coroutine_threadsafe(
        client.scatter(objects, broadcast=True, hash=False, asynchronous=True),
        client.loop.asyncio_loop,
    )
    while not wait([sending], SHARE_SECONDS).done:
        if not before <= client.run_on_scheduler(_names_of_workers):
            sending.cancel()
            raise OSError("a worker died")
    scattered: list[Any] = sending.result()
    return scattered


def _iter_finished(client: Any, futures: Sequence[Any]) -> Iterator[Any]:
    """Yield futures as they finish; a cluster that has had no worker for a while is lost."""
    import distributed

    finished = distributed.as_completed(futures, loop=client.loop)
    n_left, seen_alive = len(futures), time.monotonic()
    while n_left:
        if finished.has_ready():
            n_left -= 1
            yield next(finished)
        elif time.monotonic() - seen_alive < ALIVE_SECONDS:
            time.sleep(POLL_SECONDS)
        elif _has_worker(client):
            seen_alive = time.monotonic()
        else:
            raise ClusterError(WENT_AWAY)


def _wait_for_worker(client: Any) -> bool:
    """Return whether a worker is there, or comes within a while: one that died may be replaced."""
    end = time.monotonic() + ALIVE_SECONDS
    while not (found := _has_worker(client)) and client.status == "running":
        if time.monotonic() > end:
            break
        time.sleep(POLL_SECONDS)
    return found


def _has_worker(client: Any) -> bool:
    with suppress(*_signs_of_loss()):
        return client.status == "running" and bool(client.run_on_scheduler(_names_of_workers))
    return False


def _names_of_workers(dask_scheduler: Any = None) -> set[str]:
    return set(dask_scheduler.workers)


def _signs_of_loss() -> tuple[type[BaseException], ...]:
    """Return what Dask raises where a scheduler or workers are gone."""
    import asyncio  # late, because it takes a while

    return OSError, TimeoutError, CancelledError, asyncio.CancelledError


def connect(address: str, timeout_seconds: float = CONNECT_SECONDS) -> Any:
    """Return a client of the Dask scheduler at an address such as ``tcp://10.0.0.1:8786``."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("cluster", "running on a Dask cluster") from error
    try:
        return Client(address, timeout=timeout_seconds, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r}; start one with `dask scheduler`, or give "
            "the address that it prints"
        ) from error


def _quietly(work: Callable[[Any, Any], Any], shared: Any, task: Any) -> Any:
    """Do the work without bars of progress: whoever collects the results shows one for all."""
    with redirect_stderr(io.StringIO()):
        return work(shared, task)


# ---- progress


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; when the work is long, show how many are done and the time left.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    if total is None and isinstance(items, Sized):
        total = len(items)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(description, total=total)
    start = time.monotonic()
    try:
        for item in items:
            yield item
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - start > QUIET_SECONDS:
                bar.start()
    finally:
        bar.stop()


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that compiles a function at its first call, which also imports numba.

    The options are those of `numba.njit`. Without numba, which is an extra, the function says so
    when it is called.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @cache
        def compile_once() -> Callable[..., Any]:
            try:
                from numba import njit
            except ModuleNotFoundError as error:
                raise MissingExtraError("fit", "fitting a model") from error
            try:
                compiled: Callable[..., Any] = njit(cache=True, **options)(function)
            except RuntimeError:  # neither the package's folder nor the user's cache is writable
                _warn_once()
                compiled = njit(**options)(function)
            return compiled

        return wraps(function)(lambda *arguments: compile_once()(*arguments))

    return decorate


@cache
def _warn_once() -> None:
    warnings.warn(
        "no folder to keep compiled code in, so each fit compiles it again, which takes some "
        "seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        NeurowhereWarning,
        stacklevel=3,
    )
