"""Collections: documents that the server was started with, contrasted and read by their names."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurowhere.exceptions import NeurowhereError
from neurowhere.web.errors import ApiError
from neurowhere.web.settings import Collection

if TYPE_CHECKING:
    from neurowhere.contrast.library import Library
    from neurowhere.contrast.shard import Shard

__all__ = ["collection_named", "find_document", "open_collections"]

# What people write before an identifier: "PMID: 123", "https://doi.org/10.1/x".
BEFORE = re.compile(
    r"^\s*(?:https?://)?(?:(?:dx\.)?doi\.org/|pubmed\.ncbi\.nlm\.nih\.gov/|(?:pmid|doi)\s*:?\s*)",
    re.IGNORECASE,
)
ID_KEYS = ("id", "pmid", "pmcid", "doi")
SUFFIX = re.compile(r"(\.(jsonl|ndjson|csv|tsv|txt|xml))?(\.(gz|xz))?$", re.IGNORECASE)

Shelf = dict[str, "tuple[Shard, int]"]  # the place of each document, by its identifiers


@contextmanager
def open_collections(paths: Sequence[Path]) -> Iterator[tuple[Collection, ...]]:
    """Read collections, so that the first query does not wait for that.

    They are kept in the user's cache, as `contrast_documents` keeps them; where nothing can be
    written there, in a temporary folder until the end.

    Parameters
    ----------
    paths : sequence of paths
        Files or folders in any format of `read_corpus`.

    Yields
    ------
    tuple of Collection
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


def collection_named(name: str, collections: Sequence[Collection]) -> Collection:
    """Return a collection by its name."""
    for each in collections:
        if each.name == name:
            return each
    raise _not_found("this server has no such collection", "see what /api/v1/model lists")


# ---- one document


def find_document(name: str, collections: Sequence[Collection], most: int) -> dict[str, Any]:
    """Find a document by its PubMed id, DOI or other identifier.

    Parameters
    ----------
    name : str
        Identifier, as people write it.
    collections : sequence of Collection
        They are gone through in order.
    most : int
        Characters of a text.

    Returns
    -------
    dict
        As `FoundAnswer` describes it.
    """
    wanted = normal_id(name)
    for each in collections:
        if (place := shelf_of(each).get(wanted)) is not None:
            return {"collection": each.name, **_read(*place, most)}
    hint = "check the number, or paste the text" if collections else "serve with --documents"
    raise _not_found("no collection of this server has this document", hint)


def _read(shard: "Shard", row: int, most: int) -> dict[str, Any]:
    import numpy as np

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
    """Return where each document of a collection is, by its identifiers."""
    shelf: Shelf = {}
    for shard in _library(collection.path, collection.cache).shards:
        for row, about in enumerate(shard.table()):
            for key in ID_KEYS:
                if about.get(key):
                    shelf.setdefault(normal_id(str(about[key])), (shard, row))
    return shelf


def normal_id(name: str) -> str:
    """Return an identifier without what people write around it.

    >>> normal_id("PMID: 21195295 "), normal_id("https://doi.org/10.7554/eLife.53385")
    ('21195295', '10.7554/elife.53385')
    """
    return BEFORE.sub("", name).strip().rstrip("./").lower()


def _not_found(message: str, hint: str) -> ApiError:
    return ApiError(HTTPStatus.NOT_FOUND, "no_such_document", message, hint)
