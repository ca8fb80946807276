"""App: the page and the API of one model, as an ASGI application."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from neurowhere.model.encoder import Encoder
from neurowhere.space import Atlas
from neurowhere.web.api import About, make_router
from neurowhere.web.errand import contrast_here
from neurowhere.web.errors import add_error_handlers
from neurowhere.web.guard import Guard, Metrics
from neurowhere.web.jobs import Jobs, make_job_routes
from neurowhere.web.page import make_page
from neurowhere.web.pool import Crew, Local, Pool
from neurowhere.web.service import Service
from neurowhere.web.settings import Settings

__all__ = ["assemble", "create_app"]

DESCRIPTION = """Where in the brain does this text point? Text in, brain map out.

All queries are sent by POST, so that no part of a text ends up in an address or a log. Lengths and
offsets in a text count Unicode code points, from 0. Places are in MNI152 mm; left is negative.
For research, not for diagnosis."""


def create_app(
    model: Encoder, settings: Settings | None = None, atlas: Atlas | None = None
) -> FastAPI:
    """Return the application, whose queries are answered by threads of this process.

    Parameters
    ----------
    model : Encoder
        Fitted.
    settings : Settings, optional
    atlas : Atlas, optional
        Names places; by default AAL3, or the model's own regions if it predicts those of an atlas.

    Returns
    -------
    FastAPI
    """
    settings = settings or Settings()
    service = Service.start(model, settings, atlas)
    local = Local(service.answer)
    contrast = partial(contrast_here, model, service.atlas, settings.documents)
    return assemble(Crew([local] * settings.workers, local, contrast), settings)


def assemble(crew: Crew, settings: Settings) -> FastAPI:
    """Return the application, whose queries are answered by a crew.

    Parameters
    ----------
    crew : Crew
        As many queries are worked on at once as it has workers.
    settings : Settings

    Returns
    -------
    FastAPI
    """
    release = version("neurowhere")
    pool = Pool(crew, settings.max_queue, settings.max_seconds)
    jobs = Jobs(settings)
    metrics = Metrics()
    first = crew.workers[0]
    about = About(release, *(first.answer(name, None) for name in ("model_json", "terms_json")))

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(pool.watch())
        yield
        await jobs.close()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        pool.close()

    app = FastAPI(
        title="neurowhere",
        version=release,
        description=DESCRIPTION,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # FastAPI's own pages come from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Accept", "Content-Type"],
        )
    add_error_handlers(app)
    app.include_router(make_router(settings, pool, metrics, about))
    app.include_router(make_job_routes(settings, pool, jobs))
    app.include_router(make_page(pool))
    return app
