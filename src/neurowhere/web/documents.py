"""Documents: those that a request sends, and the collections of the server.

A request may read one of them as text, find one by its name, or contrast many of them.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurowhere.exceptions import MissingExtraError, NeurowhereError, TextError
from neurowhere.inputs.apart import document_text
from neurowhere.inputs.prose import SCANNED, TooMuchError
from neurowhere.inputs.sources import read_stream
from neurowhere.model.encoder import Encoder
from neurowhere.model.regions import as_point
from neurowhere.report.volumes import to_nifti
from neurowhere.space import Atlas
from neurowhere.space.geometry import gazetteer_of
from neurowhere.web import Collection
from neurowhere.web.errors import ApiError
from neurowhere.web.images import atlas_named
from neurowhere.web.schemas import ContrastQuery, DocumentQuery, to_json

if TYPE_CHECKING:
    from neurowhere.contrast import Contrast
    from neurowhere.contrast.library import Library
    from neurowhere.contrast.shard import Shard

OCR = "Run text recognition (OCR) on it, or paste its text."
NAME = "the file"  # name in errors, which quote nothing
# What people write before an identifier: "PMID: 123", "https://doi.org/10.1/x".
BEFORE = re.compile(
    r"^\s*(?:https?://)?(?:(?:dx\.)?doi\.org/|pubmed\.ncbi\.nlm\.nih\.gov/|(?:pmid|doi)\s*:?\s*)",
    re.IGNORECASE,
)
ID_KEYS = ("id", "pmid", "pmcid", "doi")
SUFFIX = re.compile(r"(\.(jsonl|ndjson|csv|tsv|txt|xml))?(\.(gz|xz))?$", re.IGNORECASE)
STAGES = 2  # a contrast reads the model, then compares the documents
SHARED_MEMORY = Path("/dev/shm")  # a folder without a disk
N_NAMED = 3  # regions of the headline
N_TERMS = 50

Shelf = dict[str, "tuple[Shard, int]"]  # the place of each document, by its identifiers
Forms = dict[str, bytes]  # a result: json, and images by their names


# ---- a document that a request brings


def read_document(query: DocumentQuery, most: int) -> dict[str, Any]:
    """Return the prose of a document as a `DocumentAnswer`, cut after `most` characters."""
    try:
        text = _read_prose(query.content, query.kind).strip()
    except MissingExtraError as error:
        raise _no_document(
            f"This server cannot read {query.kind} files.", "Paste the text."
        ) from error
    except TooMuchError as error:
        hint = "Save it as text, or in parts."
        raise _no_document("The document takes too much time or memory to read.", hint) from error
    except TextError as error:
        if str(error).endswith(SCANNED):
            raise _no_document(f"The file {SCANNED.partition(';')[0]}.", OCR) from error
        hint = "Check that it is whole and of this format, or paste its text."
        raise _no_document("The document cannot be read.", hint) from error
    return {"text": text[:most], "characters": len(text)}


def _no_document(message: str, hint: str) -> ApiError:
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_document", message, hint)


def _read_prose(content: bytes, kind: str) -> str:
    if kind in ("pdf", "docx"):
        return document_text(kind, content, NAME)
    words = read_stream(BytesIO(content), NAME)
    return document_text(kind, words, NAME) if kind == "html" else words


# ---- collections that the server was started with


@contextmanager
def open_collections(paths: Sequence[Path]) -> Iterator[tuple[Collection, ...]]:
    """Read collections before the first query.

    They are kept in the user's cache, as `contrast_documents` keeps them; where nothing can be
    written there, in a temporary folder until the end.
    """
    with ExitStack() as stack:
        cache = _writable_cache(stack) if paths else Path()
        found = tuple(_open(path, cache) for path in paths)
        names = [each.name for each in found]
        if len(set(names)) < len(names):
            raise NeurowhereError(
                f"expected documents with different names, got {', '.join(names)}; rename one"
            )
        yield found


def _writable_cache(stack: ExitStack) -> Path:
    from neurowhere.contrast.run import default_cache

    cache = default_cache()
    try:
        cache.mkdir(0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=cache).close()
    except OSError:  # a read-only home, as in a container
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="neurowhere-")))
    return cache


def _open(path: Path, cache: Path) -> Collection:
    library = _library(path, cache)
    return Collection(SUFFIX.sub("", path.resolve().name), path, cache, library.n_documents)


@lru_cache(maxsize=8)
def _library(path: Path, cache: Path) -> "Library":
    from neurowhere._tools.parallel import hired
    from neurowhere.contrast.library import open_library

    with hired(1, None) as workers:
        return open_library([path], cache, workers=workers)


def collection_of(query: ContrastQuery, collections: Sequence[Collection]) -> Collection | None:
    """Return the collection that a query names, or None if it sends documents itself."""
    if not query.collection:
        return None
    for each in collections:
        if each.name == query.collection:
            return each
    raise _not_found("this server has no such collection", "see what /api/v1/model lists")


# ---- one document


def find_document(name: str, collections: Sequence[Collection], most: int) -> dict[str, Any]:
    """Find a document by its PubMed id, DOI or other identifier, and return a `FoundAnswer`."""
    wanted = normal_id(name)
    for each in collections:
        if (place := shelf_of(each).get(wanted)) is not None:
            return {"collection": each.name, **_read(*place, most)}
    hint = "check the number, or paste the text" if collections else "serve with --documents"
    raise _not_found("no collection of this server has this document", hint)


def _read(shard: "Shard", row: int, most: int) -> dict[str, Any]:
    about = shard.table()[row]
    (text,) = shard.read_texts(np.array([row]))
    return {
        "id": about["id"],
        "title": about["title"],
        "text": text[:most],
        "characters": len(text),
    }


@lru_cache(maxsize=8)
def shelf_of(collection: Collection) -> Shelf:
    """Return the place of each document of a collection by its identifiers."""
    shelf: Shelf = {}
    for shard in _library(collection.path, collection.cache).shards:
        for row, about in enumerate(shard.table()):
            for key in ID_KEYS:
                if about.get(key):
                    shelf.setdefault(normal_id(str(about[key])), (shard, row))
    return shelf


def normal_id(name: str) -> str:
    """Return an identifier without prefixes such as PMID: or https://doi.org/.

    >>> normal_id("PMID: 21195295 "), normal_id("https://doi.org/10.7554/eLife.53385")
    ('21195295', '10.7554/elife.53385')
    """
    return BEFORE.sub("", name).strip().rstrip("./").lower()


def _not_found(message: str, hint: str) -> ApiError:
    return ApiError(HTTPStatus.NOT_FOUND, "no_such_document", message, hint)


# ---- contrasts


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that only this user may read, in memory if the system allows it."""
    place = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None  # read-only in a container
    with tempfile.TemporaryDirectory("", "neurowhere-", place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def contrast(
    model: Encoder, atlas: Atlas, query: ContrastQuery, source: Collection | None, folder: Path
) -> Forms:
    """Contrast the documents of a query, or those of a collection.

    Files that are needed on the way go into `folder`. Returned are json, and images by their names.
    """
    from neurowhere.contrast import ByTerm, contrast_documents

    against = None if query.against is None else ByTerm(query.against, query.min_mentions)
    named = atlas if query.atlas == "default" else atlas_named(query.atlas)
    result = contrast_documents(
        source.path if source else _write(query, folder),
        ByTerm(query.term, query.min_mentions),
        against=against,
        model=model,
        atlas=named,
        weighted=query.by_mentions,
        unadjusted=query.unadjusted,
        without_term=query.without_term,
        without=query.without,
        matched=query.matched,
        min_ratio=query.min_ratio,
        cache=source.cache if source else folder,
        keep=source is not None,
        n_jobs=1,
    )
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


def _summary(result: "Contrast", atlas: Atlas, n_regions: int) -> dict[str, Any]:
    about = {
        name: value for name, value in result.about.items() if name not in ("sources", "kept_in")
    }
    names = gazetteer_of(atlas, result.partition).names
    raised = result.most_raised()["region"].head(N_NAMED)
    return {
        "group": result.group,
        "against": result.against,
        "outcome": result.outcome,
        "about": about,
        "significant": int(np.count_nonzero(result.significant())),
        "most_raised": [names[atlas.names.index(label)] for label in raised],
        "regions": _regions(result, atlas, n_regions),
        "terms": _records(result.terms.head(N_TERMS)),
        "documents": _records(result.documents[["group", "id", "title", "mentions", "weight"]]),
    }


def _regions(result: "Contrast", atlas: Atlas, n_regions: int) -> list[dict[str, Any]]:
    """Return the most raised regions, with their names in words and their most raised places."""
    table = result.regions().head(n_regions)
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
