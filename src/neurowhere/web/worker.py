"""Worker: a process with the model that answers queries, so that requests use all cores."""

import multiprocessing
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from neurowhere.exceptions import NeurowhereError
from neurowhere.model.store import load_model
from neurowhere.web.errors import ApiError, failure, refusal, too_slow
from neurowhere.web.service import Service
from neurowhere.web.settings import Settings

__all__ = ["Worker", "hire"]

END_SECONDS = 5.0  # that a process may take to end by itself

# Started afresh, not forked: nothing is inherited but one end of its pipe, which therefore closes
# as soon as the server is gone, however it went; and it works on every platform.
START = multiprocessing.get_context("spawn")


@contextmanager
def hire(model: Path | None, settings: Settings) -> Iterator[list["Worker"]]:
    """Start the workers of a server, and stop them at the end.

    Parameters
    ----------
    model : path, optional
        Folder, which each worker reads; by default the model in the package.
    settings : Settings

    Yields
    ------
    list of Worker
    """
    crew = [Worker(model, settings) for _ in range(settings.workers)]
    try:
        for worker in crew:
            worker.wait()
        yield crew
    finally:
        for worker in crew:
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
        self._start()

    def _start(self) -> None:
        self._is_ready = False
        self._pipe, other_end = START.Pipe()
        arguments = (other_end, self.model, self.settings)
        self.process = START.Process(target=work, args=arguments, daemon=True)
        self.process.start()
        other_end.close()

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
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    def _ask(self, name: str, query: Any) -> bytes | ApiError:
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
        self._start()

    def end(self) -> None:
        """Let the process finish what it does, then stop it."""
        self._pipe.close()
        self.process.join(END_SECONDS)
        self.process.kill()


def work(pipe: Connection, model: Path | None, settings: Settings) -> None:
    """Answer queries that come through a pipe until it closes; this runs in the process."""
    from threadpoolctl import threadpool_limits

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # which all processes of a terminal or a service get
    warnings.simplefilter("ignore")
    with threadpool_limits(1):  # a core to itself: products of matrices need no threads
        try:
            service = Service.start(load_model(model), settings)
        except NeurowhereError as error:
            pipe.send(str(error))
            return
        pipe.send(None)
        _answer_all(pipe, service)


def _answer_all(pipe: Connection, service: Service) -> None:
    while True:
        try:
            while not pipe.poll(0) and service.use_pause():
                pass
            name, query = pipe.recv()
            pipe.send(_outcome(service, name, query))
        except (EOFError, OSError):  # the server is gone
            return


def _outcome(service: Service, name: str, query: Any) -> bytes | ApiError:
    """Return the answer or the error as plain data: not every exception survives a pipe."""
    try:
        return service.answer(name, query)
    except NeurowhereError as error:
        return refusal(error)
    except Exception as error:
        return failure(error)
