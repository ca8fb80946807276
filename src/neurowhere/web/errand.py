"""Errand: a contrast of documents in a process of its own, which can be stopped at any time."""

import asyncio
import json
import logging
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Sequence
from http import HTTPStatus
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from neurowhere.contrast import ByTerm, Contrast, contrast_documents
from neurowhere.exceptions import NeurowhereError
from neurowhere.model.encoder import Encoder
from neurowhere.model.store import load_model
from neurowhere.model.summary import as_point
from neurowhere.space import Atlas, default_atlas
from neurowhere.space.geometry import gazetteer_of
from neurowhere.web.collections import collection_named
from neurowhere.web.errors import ApiError, failure, refusal
from neurowhere.web.images import atlas_named, to_nifti
from neurowhere.web.schemas import ContrastQuery
from neurowhere.web.service import to_json
from neurowhere.web.settings import Collection
from neurowhere.web.worker import START

__all__ = ["STAGES", "contrast_apart", "contrast_here"]

STAGES = 3  # of a contrast: the model is read, the documents are compared, the result is written
SHARED_MEMORY = Path("/dev/shm")  # a folder without a disk
N_TERMS = 50

logger = logging.getLogger("neurowhere")

Told = Callable[[int], None]  # of the stages that are finished
Forms = dict[str, bytes]  # a result: json, and images by their names
Collections = Sequence[Collection]


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
    source = _named_source(query, collections)
    folder = _private_folder()
    pipe, other_end = START.Pipe(duplex=False)
    arguments = (other_end, model, query, source, folder)
    process = START.Process(target=_work, args=arguments, daemon=True)
    try:
        process.start()
        other_end.close()
        while isinstance(outcome := await asyncio.to_thread(_receive, pipe), int):
            told(outcome)
    finally:
        process.kill()  # a thread that waits for the pipe sees its end
        process.join()
        shutil.rmtree(folder, ignore_errors=True)
    if isinstance(outcome, ApiError):
        raise outcome
    return outcome


async def contrast_here(
    model: Encoder, atlas: Atlas, collections: Collections, query: ContrastQuery, told: Told
) -> Forms:
    """Contrast documents in a thread; arguments as those of `contrast_apart`."""
    source = _named_source(query, collections)
    folder = _private_folder()
    try:
        return await asyncio.to_thread(_contrast, model, atlas, query, source, folder, told)
    except NeurowhereError as error:
        raise refusal(error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _named_source(query: ContrastQuery, collections: Collections) -> Collection | None:
    return collection_named(query.collection, collections) if query.collection else None


def _private_folder() -> Path:
    """Make a folder that only this user may read, in memory where the system has such a place."""
    place = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    try:
        return Path(tempfile.mkdtemp(prefix="neurowhere-", dir=place))
    except OSError:  # it may be read-only, as in a container
        return Path(tempfile.mkdtemp(prefix="neurowhere-"))


def _receive(pipe: Connection) -> int | Forms | ApiError:
    try:
        received: int | Forms | ApiError = pipe.recv()
    except (EOFError, OSError) as error:
        logger.error("the process of a contrast ended: %s", type(error).__name__)
        return ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE, "interrupted", "the process of the job ended"
        )
    return received


def _work(
    pipe: Connection,
    model: Path | None,
    query: ContrastQuery,
    source: Collection | None,
    folder: Path,
) -> None:
    """Contrast documents, and send stages and the result; this runs in the process."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    outcome: Forms | ApiError
    try:
        encoder = load_model(model)
        own = encoder.partition_ if isinstance(encoder.partition_, Atlas) else None
        outcome = _contrast(encoder, own or default_atlas(), query, source, folder, pipe.send)
    except NeurowhereError as error:
        outcome = refusal(error)
    except Exception as error:
        outcome = failure(error)
    pipe.send(outcome)


def _contrast(
    model: Encoder,
    atlas: Atlas,
    query: ContrastQuery,
    source: Collection | None,
    folder: Path,
    told: Told,
) -> Forms:
    told(1)
    against = None if query.against is None else ByTerm(query.against, query.min_mentions)
    result = contrast_documents(
        source.path if source else _write(query, folder),
        ByTerm(query.term, query.min_mentions),
        against=against,
        model=model,
        weighted=query.by_mentions,
        without_term=query.without_term,
        without=query.without,
        matched=query.matched,
        min_ratio=query.min_ratio,
        replicates=query.replicates,
        seed=query.seed,
        cache=source.cache if source else folder,
        keep=source is not None,
        n_jobs=1,
    )
    told(2)
    named = atlas if query.atlas == "default" else atlas_named(query.atlas)
    return {
        "json": to_json(_summary(result, named, query.regions)),
        "log_ratio": to_nifti(result.log_ratio_img),
        "density": to_nifti(result.density_img),
        "significant": to_nifti(result.threshold_img),
    }


def _write(query: ContrastQuery, folder: Path) -> Path:
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number, document in enumerate(query.documents, start=1):
            record = {"id": document.id or str(number), "text": document.text}
            stream.write(json.dumps(record) + "\n")
    return path


def _summary(result: Contrast, atlas: Atlas, n_regions: int) -> dict[str, Any]:
    about = {
        name: value for name, value in result.about.items() if name not in ("sources", "kept_in")
    }
    return {
        "group": result.group,
        "against": result.against,
        "about": about,
        "significant": int(np.count_nonzero(result.significant())),
        "regions": _regions(result, atlas, n_regions),
        "terms": _records(result.terms.head(N_TERMS)),
        "documents": _records(result.documents[["group", "id", "title", "mentions", "weight"]]),
    }


def _regions(result: Contrast, atlas: Atlas, n_regions: int) -> list[dict[str, Any]]:
    """Return the most raised regions, with their names in words and their most raised places."""
    table = result.regions(atlas).head(n_regions)
    gazetteer = gazetteer_of(atlas, result.partition)
    rows = [atlas.names.index(label) for label in table["region"]]
    places = gazetteer.densest_mm(result.log_ratio, rows)
    return [
        {"name": gazetteer.names[row], "at": as_point(place), **record}
        for row, place, record in zip(rows, places, _records(table), strict=True)
    ]


def _records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table; what is not a number is null."""
    return [
        {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
