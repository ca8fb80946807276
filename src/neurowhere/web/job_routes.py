"""Job routes: under /api/v1/jobs, long work is started, watched, fetched and cancelled."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from neurowhere.web import schemas
from neurowhere.web.api import BINARY, JSON, NIFTI, PREFIX, with_limits
from neurowhere.web.collections import collection_named
from neurowhere.web.errand import STAGES
from neurowhere.web.errors import ApiError
from neurowhere.web.jobs import Job, Jobs, encode_all
from neurowhere.web.lines import LINES
from neurowhere.web.pool import Pool
from neurowhere.web.service import to_json
from neurowhere.web.settings import Settings

__all__ = ["make_job_routes"]

POLL_SECONDS = "1"  # after which a client may look again
LOCATION = {"Location": {"description": "Of the job.", "schema": {"type": "string"}}}
RETRY_AFTER = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
ERRORS = {
    HTTPStatus.NOT_FOUND: "There is no such job or collection, or its time is over.",
    HTTPStatus.REQUEST_TIMEOUT: "The body did not come in time.",
    HTTPStatus.CONFLICT: "The job is not finished, or has no such result.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The request is not as expected.",
    HTTPStatus.TOO_MANY_REQUESTS: "There are too many jobs.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The job took too long, or a worker ended.",
}
STARTING = (
    HTTPStatus.NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
)
FETCHING = (
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)


def make_job_routes(settings: Settings, pool: Pool, jobs: Jobs) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix=f"{PREFIX}/jobs")
    _add_starts(router, settings, pool, jobs)
    _add_watching(router, jobs)
    _add_results(router, jobs)
    return router


def _add_starts(router: APIRouter, settings: Settings, pool: Pool, jobs: Jobs) -> None:
    """Route what starts a job."""

    async def batch(query: BaseModel, request: Request) -> Response:
        checked = schemas.BatchQuery.model_construct(**query.__dict__)
        job = Job("batch", total=len(checked.texts))
        return _accepted(jobs, jobs.start(job, encode_all(pool, checked)), settings)

    async def contrast(query: BaseModel, request: Request) -> Response:
        checked = schemas.ContrastQuery.model_construct(**query.__dict__)
        if checked.collection:  # one that is not here is refused at once
            collection_named(checked.collection, settings.documents)

        async def work(job: Job) -> None:
            def told(stages: int) -> None:
                job.done = stages

            job.forms = await pool.crew.contrast(checked, told)
            job.done = STAGES

        return _accepted(jobs, jobs.start(Job("contrast", total=STAGES), work), settings)

    limits = settings.for_jobs()
    for handle, query, words in (
        (batch, schemas.BatchQuery, "Start to encode many texts"),
        (contrast, schemas.ContrastQuery, "Start to contrast documents"),
    ):
        handle.__annotations__["query"] = with_limits(query, limits)
        responses = _errors(*STARTING)
        responses[int(HTTPStatus.ACCEPTED)] = {"headers": LOCATION | RETRY_AFTER}
        router.add_api_route(
            f"/{handle.__name__}",
            handle,
            methods=["POST"],
            status_code=HTTPStatus.ACCEPTED,
            summary=words,
            operation_id=f"start_{handle.__name__}",
            response_model=schemas.JobAnswer,
            responses=responses,
        )


def _add_watching(router: APIRouter, jobs: Jobs) -> None:
    @router.get(
        "/{name}",
        summary="State and progress of a job",
        operation_id="job",
        response_model=schemas.JobAnswer,
        responses=_errors(HTTPStatus.NOT_FOUND),
    )
    async def watch(name: str) -> Response:
        return Response(_about(jobs, jobs.find(name)), media_type=JSON)

    @router.delete(
        "/{name}",
        summary="Cancel and forget a job",
        operation_id="cancel_job",
        status_code=HTTPStatus.NO_CONTENT,
        responses=_errors(HTTPStatus.NOT_FOUND),
    )
    async def cancel(name: str) -> Response:
        jobs.forget(jobs.find(name).name)
        return Response(status_code=HTTPStatus.NO_CONTENT)


def _add_results(router: APIRouter, jobs: Jobs) -> None:
    @router.get(
        "/{name}/result",
        summary="Result of a job: of a batch as JSON lines, which come while it runs",
        operation_id="job_result",
        response_model=schemas.ContrastAnswer,
        responses=_errors(*FETCHING) | {200: {"content": {LINES: {}}}},
    )
    async def result(name: str) -> Response:
        job = jobs.find(name)
        if job.kind == "batch":
            return StreamingResponse(job.lines(), media_type=LINES)
        return Response(_form(job, "json"), media_type=JSON)

    @router.get(
        "/{name}/result.nii.gz",
        summary="Map of a contrast: the log ratio of its groups, or another image",
        operation_id="job_result_nii_gz",
        response_class=Response,
        responses=_errors(*FETCHING) | {200: {"content": {NIFTI: BINARY}}},
    )
    async def image(
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


def _errors(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    described: dict[int | str, dict[str, Any]] = {
        int(status): {"description": ERRORS[status], "model": schemas.Problem}
        for status in statuses
    }
    for status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        if int(status) in described:
            described[int(status)]["headers"] = RETRY_AFTER
    return described
