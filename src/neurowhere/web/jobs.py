"""Jobs: long work that is started, watched, fetched and cancelled by later requests.

Jobs live in the memory of the server: neither texts nor results are on a disk, and a server that
stops has forgotten them. Whoever knows the name of a job may fetch it; no name can be guessed.
"""

import asyncio
import secrets
import zlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from neurowhere.web import Settings, schemas
from neurowhere.web.api import BINARY, JSON, LINES, NIFTI, PREFIX, with_limits
from neurowhere.web.documents import STAGES, collection_of, private_folder
from neurowhere.web.errors import RETRY_AFTER, ApiError, failure, last_line, may_fail, too_slow
from neurowhere.web.pool import Pool
from neurowhere.web.schemas import to_json

NAME_BYTES = 18
PAUSE_SECONDS = 0.1  # between two looks of a reader that is faster than the work
POLL_SECONDS = "1"  # a client may look again after this time
RETRY_SECONDS = 60  # when there are too many jobs
LEVEL = 1  # level of compression: results shrink to a seventh, at little cost

LOCATION = {"Location": {"description": "Of the job.", "schema": {"type": "string"}}}
STARTING = (403, 404, 408, 413, 422, 429)  # statuses of what may go wrong
FETCHING = (404, 409, 422, 503)

Progress = Literal["waiting", "running", "done", "failed"]


@dataclass(eq=False)
class Job:
    """Long work and its results so far."""

    kind: Literal["batch", "contrast"]
    total: int  # steps of the work: texts of a batch, stages of a contrast
    done: int = 0  # steps that are finished
    name: str = field(default_factory=lambda: secrets.token_urlsafe(NAME_BYTES))  # unguessable
    state: Progress = "waiting"
    error: ApiError | None = None  # why it failed
    parts: list[bytes] = field(default_factory=list)  # finished JSON lines, compressed
    forms: dict[str, bytes] = field(default_factory=dict)  # finished result, by media type
    finished: float | None = None  # time of the event loop's clock
    task: "asyncio.Task[None] | None" = None

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
    """All jobs of a server."""

    def __init__(self, settings: Settings) -> None:
        self.max_jobs = settings.max_jobs
        self.max_seconds = settings.max_job_seconds
        self.keep_seconds = settings.keep_seconds
        self._jobs: dict[str, Job] = {}
        # Others wait, so that half of the workers are left to short queries.
        self._slots = asyncio.Semaphore(max(1, settings.workers // 2))

    def start(self, job: Job, work: Coroutine[Any, Any, None]) -> Job:
        """Start a job, to which `work` adds its results, or refuse it if there are too many."""
        if len(self._jobs) >= self.max_jobs:
            work.close()
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

    async def _run(self, job: Job, work: Coroutine[Any, Any, None]) -> None:
        async with self._slots:
            job.state = "running"
            try:
                async with asyncio.timeout(self.max_seconds):
                    await work
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


# ---- what jobs do


async def encode_all(pool: Pool, query: schemas.BatchQuery, job: Job) -> None:
    """Encode a batch."""
    for piece in query.pieces():
        lines = await pool.run_patiently("batch_lines", piece)
        job.parts.append(zlib.compress(lines, LEVEL))
        job.done += len(piece.texts)


async def contrast_all(pool: Pool, query: schemas.ContrastQuery, job: Job) -> None:
    """Contrast documents."""

    def tell() -> None:
        job.done = 1

    with private_folder() as folder:
        job.forms = await pool.run_apart("contrast_forms", (query, folder), tell)
    job.done = STAGES


# ---- routes


def make_job_routes(settings: Settings, pool: Pool, jobs: Jobs) -> APIRouter:
    """Return the routes."""
    router = APIRouter(
        prefix=f"{PREFIX}/jobs", generate_unique_id_function=lambda route: route.name
    )
    _add_starts(router, settings, pool, jobs)
    _add_watching(router, jobs)
    _add_results(router, jobs)
    return router


def _add_starts(router: APIRouter, settings: Settings, pool: Pool, jobs: Jobs) -> None:
    """Add the routes that start a job."""

    async def batch(query: BaseModel, request: Request) -> Response:
        checked = schemas.BatchQuery.model_construct(**query.__dict__)
        job = Job("batch", total=len(checked.texts))
        return _accepted(jobs, jobs.start(job, encode_all(pool, checked, job)), settings)

    async def contrast(query: BaseModel, request: Request) -> Response:
        checked = schemas.ContrastQuery.model_construct(**query.__dict__)
        collection_of(checked, settings.documents)  # one that is not here is refused at once
        job = Job("contrast", total=STAGES)
        return _accepted(jobs, jobs.start(job, contrast_all(pool, checked, job)), settings)

    limits = settings.for_jobs()
    accepted: dict[int | str, Any] = {int(HTTPStatus.ACCEPTED): {"headers": LOCATION | RETRY_AFTER}}
    for handle, query, words in (
        (batch, schemas.BatchQuery, "Start to encode many texts"),
        (contrast, schemas.ContrastQuery, "Start to contrast documents"),
    ):
        handle.__annotations__["query"] = with_limits(query, limits)
        router.add_api_route(
            f"/{handle.__name__}",
            handle,
            methods=["POST"],
            status_code=HTTPStatus.ACCEPTED,
            summary=words,
            name=f"start_{handle.__name__}",
            response_model=schemas.JobAnswer,
            responses=may_fail(*STARTING) | accepted,
        )


def _add_watching(router: APIRouter, jobs: Jobs) -> None:
    """Add the routes that watch and cancel a job; the API has the names of the functions."""
    no_such = may_fail(404)
    words = "State and progress of a job"

    @router.get("/{name}", summary=words, response_model=schemas.JobAnswer, responses=no_such)
    async def job(name: str) -> Response:
        return Response(_about(jobs, jobs.find(name)), media_type=JSON)

    words, gone = "Cancel and forget a job", HTTPStatus.NO_CONTENT
    refused = no_such | may_fail(403)

    @router.delete("/{name}", summary=words, status_code=gone, responses=refused)
    async def cancel_job(name: str) -> Response:
        jobs.forget(jobs.find(name).name)
        return Response(status_code=gone)


def _add_results(router: APIRouter, jobs: Jobs) -> None:
    """Add the routes of the results of a job."""
    lines = may_fail(*FETCHING) | {200: {"content": {LINES: {}}}}
    words = "Result of a job: of a batch as JSON lines, which come while it runs"
    answer = schemas.ContrastAnswer

    @router.get("/{name}/result", summary=words, response_model=answer, responses=lines)
    async def job_result(name: str) -> Response:
        job = jobs.find(name)
        if job.kind == "batch":
            return StreamingResponse(job.lines(), media_type=LINES)
        return Response(_form(job, "json"), media_type=JSON)

    images = may_fail(*FETCHING) | {200: {"content": {NIFTI: BINARY}}}
    words = "Map of a contrast: the log ratio of its groups, or another image"

    @router.get("/{name}/result.nii.gz", summary=words, response_class=Response, responses=images)
    async def job_result_nii_gz(
        name: str,
        image: Annotated[
            schemas.ContrastImage,
            Query(
                description="Log ratio of the groups; mean density of the group in mm⁻³; or the "
                "log ratio where it is significant (false-discovery rate < 5 %)."
            ),
        ] = "log_ratio",
    ) -> Response:
        return Response(_form(jobs.find(name), image), media_type=NIFTI)


def _accepted(jobs: Jobs, job: Job, settings: Settings) -> Response:
    place = f"{settings.root_path}{PREFIX}/jobs/{job.name}"
    return Response(
        _about(jobs, job),
        HTTPStatus.ACCEPTED,
        {"Location": place, "Retry-After": POLL_SECONDS},
        media_type=JSON,
    )


def _about(jobs: Jobs, job: Job) -> bytes:
    left = jobs.seconds_left(job)
    return to_json(
        {
            "id": job.name,
            "kind": job.kind,
            "state": job.state,
            "done": job.done,
            "total": job.total,
            "detail": job.error.detail if job.error else None,
            "kept_seconds": None if left is None else round(left),
        }
    )


def _form(job: Job, name: str) -> bytes:
    if job.error:
        raise job.error
    if name in job.forms:
        return job.forms[name]
    raise ApiError(
        HTTPStatus.CONFLICT,
        "no_result",
        f"the job is {job.state}, and has no such result",
        "wait until its state is done; a batch has JSON lines only",
    )
