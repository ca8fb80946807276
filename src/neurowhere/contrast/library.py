"""Libraries: the documents of any source, cut once into shards on disk.

Each part of a source, a file or some small ones, is read by one worker, which writes shards as it
goes; memory does not grow with the source. What was written is not written again.
"""

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurowhere._tools.files import expanded
from neurowhere._tools.progress import track
from neurowhere.contrast.arrays import replacement
from neurowhere.contrast.shard import Shard
from neurowhere.contrast.source import Part, find_parts, fingerprint, iter_part
from neurowhere.contrast.words import Ints
from neurowhere.contrast.workers import Workers
from neurowhere.corpus import Document
from neurowhere.corpus.readers.shards import Skipped
from neurowhere.exceptions import CorpusError, DataWarning, OutputError

SHARD_CHARACTERS = 16_000_000  # some 350 full texts
SHARD_DOCUMENTS = 8192
INDEX_NAME = "library.json"


@dataclass(frozen=True)
class Library:
    """Documents in shards.

    Attributes
    ----------
    folder : Path
    shards : list of Shard
    repeats : dict of str to array
        Rows of shards, by name, whose document came before, in another file or source.
    n_documents : int
        Without the repeated ones.
    problems : tuple of str
        What could not be read, counted.
    """

    folder: Path
    shards: list[Shard]
    repeats: dict[str, Ints]
    n_documents: int
    problems: tuple[str, ...]

    def repeated(self, shard: Shard) -> Ints:
        """Rows of a shard whose document came before."""
        return self.repeats.get(shard.name, np.empty(0, np.intp))


def open_library(
    sources: Sequence[str | os.PathLike[str]],
    cache: str | os.PathLike[str],
    *,
    format: str | None = None,
    workers: Workers,
) -> Library:
    """Find the library of sources in a cache, or cut it there.

    Parameters
    ----------
    sources : sequence of paths
        Files or folders in any format of `read_corpus`. Of documents with the same id, the first
        is used.
    cache : path
        Each library is a folder in it, named after a fingerprint: names, sizes and times of the
        files. It holds a compressed copy of the texts.
    format : str, optional
        Of the sources; by default it is detected.
    workers : Workers
    """
    parts = find_parts([expanded(source) for source in sources], format)
    folder = expanded(cache) / fingerprint(parts)
    known = _read_index(folder)
    if known is not None:
        return known
    make_folder(folder)
    calls = [(folder, part) for part in parts]
    reports = sorted(track(workers.run(cut, calls), "reading documents", len(calls)))
    library = _collect(folder, reports)
    for problem in library.problems:
        warnings.warn(problem, DataWarning, stacklevel=2)
    _write_index(library)
    return library


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror}") from error


# ---- cutting, by workers


class Report(NamedTuple):
    """What became of a part."""

    part: int
    n_shards: int
    n_files: int
    unreadable: list[list[str]]  # file and reason
    problems: list[str]


def cut(folder: Path, part: Part) -> Report:
    """Read a part and write its documents as shards, but for those that are already there."""
    note = folder / f"{part.number:05d}.json"
    with suppress(OSError, ValueError, TypeError):  # not finished, or damaged
        return Report(*json.loads(note.read_bytes()))
    unreadable: list[list[str]] = []
    n_shards = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for batch in _batches(iter_part(part, unreadable)):
            shard = Shard(folder, part.number, n_shards)
            n_shards += 1
            if not shard.file("documents").exists():
                shard.write([document for document, _ in batch], [key for _, key in batch])
    problems = [str(each.message) for each in caught if issubclass(each.category, DataWarning)]
    report = Report(part.number, n_shards, len(part.files), unreadable, problems)
    _write_json(note, report)
    return report


def _batches(
    documents: Iterable[tuple[Document, int]],
) -> Iterator[list[tuple[Document, int]]]:
    batch: list[tuple[Document, int]] = []
    size = 0
    for document, key in documents:
        batch.append((document, key))
        size += sum(map(len, document.sections.values()))
        if size > SHARD_CHARACTERS or len(batch) == SHARD_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# ---- what was cut, in one table


def _collect(folder: Path, reports: Sequence[Report]) -> Library:
    files = Skipped("files")
    for report in reports:
        for name, reason in report.unreadable:
            files.add(name, reason)
    shards = [
        Shard(folder, report.part, number)
        for report in reports
        for number in range(report.n_shards)
    ]
    problems = [problem for report in reports for problem in report.problems]
    if not shards:
        raise CorpusError(f"nothing could be read: {files.summary(0)}")
    if files.count:
        n_files = sum(report.n_files for report in reports)
        problems.append(files.summary(n_files - files.count))
    repeats, n_documents = _find_repeats(shards)
    n_repeats = sum(map(len, repeats.values()))
    if n_repeats:
        problems.append(f"{n_repeats:,} documents have the id of an earlier one and are left out")
    return Library(folder, shards, repeats, n_documents, tuple(problems))


def _find_repeats(shards: Sequence[Shard]) -> tuple[dict[str, Ints], int]:
    """Rows of each shard whose key came before, and the number of those whose key is new."""
    keys = [shard.keys for shard in shards]
    repeated = np.ones(sum(map(len, keys)), dtype=bool)
    repeated[np.unique(np.concatenate(keys), return_index=True)[1]] = False
    by_shard = np.split(repeated, np.cumsum([len(each) for each in keys])[:-1])
    repeats = {
        shard.name: np.flatnonzero(rows)
        for shard, rows in zip(shards, by_shard, strict=True)
        if rows.any()
    }
    return repeats, int((~repeated).sum())


def _write_index(library: Library) -> None:
    content = {
        "shards": [[shard.part, shard.number] for shard in library.shards],
        "repeats": {name: rows.tolist() for name, rows in library.repeats.items()},
        "documents": library.n_documents,
        "problems": library.problems,
    }
    _write_json(library.folder / INDEX_NAME, content)


def _read_index(folder: Path) -> Library | None:
    try:
        content: dict[str, Any] = json.loads((folder / INDEX_NAME).read_bytes())
        return Library(
            folder,
            [Shard(folder, part, number) for part, number in content["shards"]],
            {name: np.array(rows, np.intp) for name, rows in content["repeats"].items()},
            content["documents"],
            tuple(content["problems"]),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # not finished, or damaged: what is there is gone through again


def _write_json(path: Path, content: object) -> None:
    with replacement(path) as stream:
        stream.write(json.dumps(content).encode("ascii"))
