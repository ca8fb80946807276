"""Errand: a contrast of documents in a process of its own, which can be stopped at any time."""

import asyncio
import json
import logging
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable
from http import HTTPStatus
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from neurowhere.contrast import ByTerm, Contrast, contrast_documents
from neurowhere.exceptions import NeurowhereError
from neurowhere.model.encoder import Encoder
from neurowhere.model.store import load_model
from neurowhere.space import Atlas, default_atlas
from neurowhere.web.errors import ApiError, failure, refusal
from neurowhere.web.images import to_nifti
from neurowhere.web.schemas import ContrastQuery
from neurowhere.web.service import to_json
from neurowhere.web.worker import START

__all__ = ["STAGES", "contrast_apart", "contrast_here"]

STAGES = 3  # of a contrast: the model is read, the documents are compared, the result is written
SHARED_MEMORY = Path("/dev/shm")  # a folder without a disk
N_TERMS = 50

logger = logging.getLogger("neurowhere")

Told = Callable[[int], None]  # of the stages that are finished
Forms = dict[str, bytes]  # a result, by the end of a method's name: json, nifti


async def contrast_apart(model: Path | None, query: ContrastQuery, told: Told) -> Forms:
    """Contrast documents in another process, which ends with this coroutine, however that ends.

    Parameters
    ----------
    model : path, optional
        Folder; by default the model in the package.
    query : ContrastQuery
    told : callable
        Called with the number of finished stages.

    Returns
    -------
    dict of str to bytes
    """
    folder = _private_folder()
    pipe, other_end = START.Pipe(duplex=False)
    process = START.Process(target=_work, args=(other_end, model, query, folder), daemon=True)
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


async def contrast_here(model: Encoder, atlas: Atlas, query: ContrastQuery, told: Told) -> Forms:
    """Contrast documents in a thread; arguments as those of `contrast_apart`."""
    folder = _private_folder()
    try:
        return await asyncio.to_thread(_contrast, model, atlas, query, folder, told)
    except NeurowhereError as error:
        raise refusal(error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _work(pipe: Connection, model: Path | None, query: ContrastQuery, folder: Path) -> None:
    """Contrast documents, and send stages and the result; this runs in the process."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    outcome: Forms | ApiError
    try:
        encoder = load_model(model)
        own = encoder.partition_ if isinstance(encoder.partition_, Atlas) else None
        outcome = _contrast(encoder, own or default_atlas(), query, folder, pipe.send)
    except NeurowhereError as error:
        outcome = refusal(error)
    except Exception as error:
        outcome = failure(error)
    pipe.send(outcome)


def _contrast(
    model: Encoder, atlas: Atlas, query: ContrastQuery, folder: Path, told: Told
) -> Forms:
    told(1)
    against = None if query.against is None else ByTerm(query.against, query.min_mentions)
    result = contrast_documents(
        _write(query, folder),
        ByTerm(query.term, query.min_mentions),
        against=against,
        model=model,
        weighted=query.by_mentions,
        without_term=query.without_term,
        without=query.without,
        replicates=query.replicates,
        seed=query.seed,
        cache=folder,
        keep=False,
        n_jobs=1,
    )
    told(2)
    return {
        "json": to_json(_summary(result, atlas, query.regions)),
        "nifti": to_nifti(result.log_ratio_img),
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
        "regions": _records(result.regions(atlas).head(n_regions)),
        "terms": _records(result.terms.head(N_TERMS)),
        "documents": _records(result.documents[["group", "id", "mentions", "weight"]]),
    }


def _records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table; what is not a number is null."""
    return [
        {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dict("records")
    ]
