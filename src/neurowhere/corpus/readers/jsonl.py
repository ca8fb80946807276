"""JSON lines: one document per line, with or without coordinates; plain, gz or xz; in shards."""

import json
from collections.abc import Iterator
from pathlib import Path

from neurowhere._tools.files import open_text
from neurowhere.corpus.document import Document
from neurowhere.corpus.readers.record import document_from_record
from neurowhere.corpus.readers.shards import Skipped, find_shards, iter_shards

NAME = "jsonl"
SUFFIXES = (".jsonl", ".ndjson")


def detects(path: Path) -> bool:
    """Whether the file, or a file of the folder, is named as JSON lines."""
    return bool(find_shards(path, SUFFIXES))


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a file or of a folder of shards; bad lines are skipped."""
    yield from iter_shards(path, SUFFIXES, _read_lines)


def _read_lines(path: Path, skipped: Skipped) -> Iterator[Document]:
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            try:
                document = document_from_record(json.loads(line), fallback_id=place)
            except (ValueError, RecursionError) as error:
                skipped.add(place, error)
            else:
                yield document
