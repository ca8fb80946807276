"""Jobs: long work that is started, watched, fetched and cancelled by later requests.

Jobs live in the memory of the server: neither texts nor results are on a disk, and a server that
stops has forgotten them. Whoever knows the name of a job may fetch it; no name can be guessed.
"""

import asyncio
import secrets
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from neurowhere.web.errors import ApiError, failure, too_slow
from neurowhere.web.lines import last_line, patiently, pieces
from neurowhere.web.pool import Pool
from neurowhere.web.schemas import BatchQuery
from neurowhere.web.settings import Settings

__all__ = ["Job", "Jobs", "encode_all"]

NAME_BYTES = 18
PAUSE_SECONDS = 0.1  # between two looks of a reader that is faster than the work
RETRY_SECONDS = 60  # when there are too many jobs
LEVEL = 1  # of compression: results are a seventh of their size, at little cost

Progress = Literal["waiting", "running", "done", "failed"]


@dataclass(eq=False)
class Job:
    """Long work, and what has come of it so far.

    Attributes
    ----------
    kind : str
    total : int
        Steps of the work: texts of a batch, stages of a contrast.
    done : int
        Steps that are finished.
    name : str
        Unguessable.
    state : str
    error : ApiError or None
        Why it failed.
    parts : list of bytes
        Finished JSON lines, compressed.
    forms : dict of str to bytes
        Finished result, by media type.
    finished : float or None
        Time of the event loop's clock.
    """

    kind: Literal["batch", "contrast"]
    total: int
    done: int = 0
    name: str = field(default_factory=lambda: secrets.token_urlsafe(NAME_BYTES))
    state: Progress = "waiting"
    error: ApiError | None = None
    parts: list[bytes] = field(default_factory=list)
    forms: dict[str, bytes] = field(default_factory=dict)
    finished: float | None = None
    task: "asyncio.Task[None] | None" = None

    def add_lines(self, lines: bytes) -> None:
        """Keep some lines of the result."""
        self.parts.append(zlib.compress(lines, LEVEL))

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of the result as they come, until the work is finished."""
        sent = 0
        while True:
            over = self.finished is not None  # before the look: no part comes after it
            for part in self.parts[sent:]:
                yield zlib.decompress(part)
                sent += 1
            if over:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        if self.error:
            yield last_line(self.error)


class Jobs:
    """All jobs of a server.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self.max_jobs = settings.max_jobs
        self.max_seconds = settings.max_job_seconds
        self.keep_seconds = settings.keep_seconds
        self._jobs: dict[str, Job] = {}
        # Others wait, so that half of the workers are left to short queries.
        self._slots = asyncio.Semaphore(max(1, settings.workers // 2))

    def start(self, job: Job, work: Callable[[Job], Awaitable[None]]) -> Job:
        """Start a job, or raise an error if there are too many.

        Parameters
        ----------
        job : Job
        work : coroutine function
            Adds to the job what comes of it.

        Returns
        -------
        Job
        """
        if len(self._jobs) >= self.max_jobs:
            raise ApiError(
                HTTPStatus.TOO_MANY_REQUESTS,
                "too_many_jobs",
                f"the server keeps {self.max_jobs} jobs at once",
                "delete one that you no longer need, or try again later",
                retry_seconds=RETRY_SECONDS,
            )
        self._jobs[job.name] = job
        job.task = asyncio.create_task(self._run(job, work))
        return job

    def find(self, name: str) -> Job:
        """Return a job by its name."""
        if name not in self._jobs:
            raise ApiError(
                HTTPStatus.NOT_FOUND,
                "no_such_job",
                "there is no such job",
                f"results are kept for {self.keep_seconds:g} s; start it again",
            )
        return self._jobs[name]

    def forget(self, name: str) -> None:
        """Stop a job if it runs, and drop all that it holds."""
        job = self._jobs.pop(name, None)
        if job and job.task:
            job.task.cancel()

    def seconds_left(self, job: Job) -> float | None:
        """Return the time that a finished job is still kept."""
        if job.finished is None:
            return None
        age = asyncio.get_running_loop().time() - job.finished
        return max(0.0, self.keep_seconds - age)

    async def close(self) -> None:
        """Stop all jobs."""
        tasks = [job.task for job in self._jobs.values() if job.task]
        for name in list(self._jobs):
            self.forget(name)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: Job, work: Callable[[Job], Awaitable[None]]) -> None:
        async with self._slots:
            job.state = "running"
            try:
                async with asyncio.timeout(self.max_seconds):
                    await work(job)
                job.state = "done"
            except TimeoutError:
                self._fail(job, too_slow(self.max_seconds))
            except ApiError as error:
                self._fail(job, error)
            except Exception as error:
                self._fail(job, failure(error))
        loop = asyncio.get_running_loop()
        job.finished = loop.time()
        loop.call_later(self.keep_seconds, self.forget, job.name)

    def _fail(self, job: Job, error: ApiError) -> None:
        job.state, job.error = "failed", error


def encode_all(pool: Pool, query: BatchQuery) -> Callable[[Job], Awaitable[None]]:
    """Return the work that encodes a batch."""

    async def work(job: Job) -> None:
        for piece in pieces(query):
            job.add_lines(await patiently(pool, "batch_lines", piece))
            job.done += len(piece.texts)

    return work
