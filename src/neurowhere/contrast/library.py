"""Libraries: the documents of any source, cut once into shards on disk.

Each part of a source, a file or some small ones, is read by one worker, which writes shards as it
goes; memory does not grow with the source. What was written is not written again.
"""

import importlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurowhere._tools.files import bare_suffix, digest, expanded, replaced, sha256
from neurowhere._tools.parallel import Workers, track
from neurowhere._tools.replacement import recover
from neurowhere.contrast.query import Ints
from neurowhere.contrast.shard import KEY_LENGTH, Shard
from neurowhere.corpus import Corpus, Document, iter_documents, read_corpus
from neurowhere.corpus.read import READERS, find_format
from neurowhere.corpus.readers.files import Skipped
from neurowhere.exceptions import CorpusError, DamageWarning, DataWarning, OutputError

PART_BYTES = 4_000_000  # smaller files are read together
SPLIT_FORMATS = ("jsonl", "table", "text", "jats")  # a folder of files, each of which can be read
COUNTED_FORMATS = ("folder", "neuroquery")  # may have counts of terms where there is no text
# Stands after each term of a document that is known by its counts alone. It is a letter of no
# word, so that no phrase reaches across it.
TERM_BREAK = " \N{MODIFIER LETTER VERTICAL LINE} "
KEY_DIGITS = 16  # hexadecimal, of 64 bits
SHARD_CHARACTERS = 16_000_000  # some 350 full texts
SHARD_DOCUMENTS = 8192


@dataclass(frozen=True)
class Library:
    """Documents in shards."""

    folder: Path
    shards: list[Shard]
    repeats: dict[str, Ints]  # rows of shards, by name, whose document came before
    n_documents: int  # without the repeated ones
    problems: tuple[str, ...]  # what could not be read, counted
    damaged: str = ""  # which files, or lines of files, could not be read

    def repeated(self, shard: Shard) -> Ints:
        """Return the rows of a shard whose document came before."""
        return self.repeats.get(shard.name, np.empty(0, np.intp))


def open_library(
    sources: Sequence[str | os.PathLike[str]],
    cache: str | os.PathLike[str],
    *,
    format: str | None = None,
    keep_going: bool = True,
    workers: Workers,
) -> Library:
    """Find the library of sources in a cache, or cut it there.

    Each library is a folder in the cache, named after a fingerprint of the names and the contents
    of the files. It holds a compressed copy of the texts. Of documents with the same id, the first
    is used. What can be read of damaged files is used if it keeps going; else they are an error.
    """
    parts = find_parts(list(map(expanded, sources)), format)
    folder = expanded(cache) / fingerprint(parts)
    recover(folder)
    make_folder(folder)
    done = [note for part in parts for note in _read_note(folder, part)]
    finished = {report.part for report in done}
    calls = [(folder, part) for part in parts if part.number not in finished]
    results = workers.for_calls(max(len(calls), 1)).run(cut, calls)
    done += track(results, "reading documents", len(calls))
    library = _collect(folder, sorted(done))
    if library.damaged and not keep_going:
        raise CorpusError(f"{library.damaged}; mend that, or --keep-going with what can be read")
    for problem in library.problems if calls else ():  # else they were told before
        warnings.warn(problem, DataWarning, stacklevel=2)
    return library


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there; it holds copies of texts, which are for its owner alone."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror}") from error


# ---- sources, in parts that can be read side by side


class Part(NamedTuple):
    """Files that one worker reads."""

    number: int
    files: tuple[Path, ...]
    format: str


def find_parts(sources: Sequence[Path], format: str | None = None) -> list[Part]:
    """Cut sources into parts that can be read side by side."""
    parts: list[Part] = []
    for source in sources:
        name = find_format(source, format)
        splits = source.is_dir() and name in SPLIT_FORMATS
        for files in _grouped(_files(source, name)) if splits else [(source,)]:
            parts.append(Part(len(parts), files, name))
    return parts


def fingerprint(parts: Iterable[Part]) -> str:
    """Return a short digest of files as they are now: their paths and what is in them."""
    said: list[bytes] = []
    with ThreadPoolExecutor() as threads:  # a digest lets other threads work
        for part in parts:
            files = [file for root in part.files for file in _files_at(root)]
            for file, content in zip(files, threads.map(_sha256, files), strict=True):
                said.append(b"%s\0%s\n" % (os.fsencode(file.absolute()), content))
            said.append(part.format.encode())
    return digest(*said)[:KEY_LENGTH]


def _files_at(root: Path) -> list[Path]:
    return [file for file in sorted(root.rglob("*")) if file.is_file()] if root.is_dir() else [root]


def _sha256(file: Path) -> bytes:
    try:
        return sha256(file).encode()
    except OSError:  # told where it is read
        return b""


def _files(folder: Path, format: str) -> list[Path]:
    suffixes = importlib.import_module(f"neurowhere.corpus.{READERS[format]}").SUFFIXES
    found = folder.rglob("*") if format == "jats" else folder.glob("*")
    return sorted(
        file
        for file in found
        if bare_suffix(file) in suffixes and file.is_file() and not file.name.startswith(".")
    )


def _grouped(files: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
    group: list[Path] = []
    size = 0
    for file in files:
        bytes_here = file.stat().st_size
        if group and size + bytes_here > PART_BYTES:
            yield tuple(group)
            group, size = [], 0
        group.append(file)
        size += bytes_here
    if group:
        yield tuple(group)


def iter_part(part: Part, unreadable: list[list[str]]) -> Iterator[tuple[Document, int]]:
    """Yield documents and their keys; a file is left at the place where it is damaged."""
    for file in part.files:
        try:
            for document in iter_source(file, part.format):
                yield document, _key(document, file)
        except CorpusError as error:
            unreadable.append([file.name, str(error).removeprefix(str(file)).lstrip(": ")])


def iter_source(path: Path, format: str) -> Iterator[Document]:
    """Yield the documents of a source; one that is known by counts is the list of its terms."""
    try:
        documents = iter_documents(path, format=format)
        first = next(documents)
    except CorpusError:
        if format not in COUNTED_FORMATS:
            raise
        corpus = read_corpus(path, format=format)  # raises the same if it is not for want of texts
        if corpus.counts is None:
            raise
        yield from _counted_documents(corpus)
    else:
        yield first
        yield from documents


def _counted_documents(corpus: Corpus) -> Iterator[Document]:
    terms = np.array(corpus.terms, dtype=object)
    about = corpus.documents.astype(object).to_dict("records")
    for row, metadata in enumerate(about):
        sections = {}
        for name, counts in (corpus.counts or {}).items():
            here = slice(counts.indptr[row], counts.indptr[row + 1])
            names = np.repeat(terms[counts.indices[here]], counts.data[here].astype(int))
            sections[name] = "".join(term + TERM_BREAK for term in names)
        known = {str(key): value for key, value in metadata.items() if value == value and value}
        yield Document(str(known.pop("id")), sections, metadata=known)


def _key(document: Document, file: Path) -> int:
    """Return what documents share if they are the same; one named after its file is no other's."""
    name = document.id
    if name in (file.name, file.stem) or name.startswith(f"{file.name}:"):
        name = f"{file.absolute()}\0{name}"
    return int(digest(name.encode("utf-8", "replace"))[:KEY_DIGITS], 16)


# ---- cutting, by workers


class Report(NamedTuple):
    """What became of a part."""

    part: int
    keys: list[list[int]]  # of the documents of each shard
    n_files: int
    unreadable: list[list[str]]  # file and reason
    problems: list[str]
    lost: list[str]  # problems that are lines which could not be read


def cut(folder: Path, part: Part) -> Report:
    """Read a part and write its documents as shards, but for those that are already there."""
    unreadable: list[list[str]] = []
    keys: list[list[int]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for batch in _batches(iter_part(part, unreadable)):
            shard = Shard(folder, part.number, len(keys))
            if not shard.file("documents").exists():
                shard.write([document for document, _ in batch])
            keys.append([key for _, key in batch])
    problems = [str(each.message) for each in caught if issubclass(each.category, DataWarning)]
    lost = [str(each.message) for each in caught if issubclass(each.category, DamageWarning)]
    report = Report(part.number, keys, len(part.files), unreadable, problems, lost)
    with replaced(_note(folder, part)) as stream:
        stream.write(json.dumps(report).encode("ascii"))
    return report


def _note(folder: Path, part: Part) -> Path:
    return folder / f"{part.number:05d}.keys.json"


def _read_note(folder: Path, part: Part) -> list[Report]:
    """Return what became of a part; nothing if it is not finished, or the note is damaged."""
    try:
        return [Report(*json.loads(_note(folder, part).read_bytes()))]
    except (OSError, ValueError, TypeError):
        return []


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
    keys = {
        Shard(folder, report.part, number): some
        for report in reports
        for number, some in enumerate(report.keys)
    }
    skipped = _summary_of_files(reports)
    if not keys:
        raise CorpusError(f"nothing could be read: {skipped or 'there are no documents'}")
    problems = [*_said(reports, "problems"), *filter(None, [skipped])]
    lost = [*_said(reports, "lost"), *filter(None, [skipped])]
    repeats, n_documents = _find_repeats(keys)
    if n_repeats := sum(map(len, repeats.values())):
        problems.append(f"{n_repeats:,} documents have the id of an earlier one and are left out")
    return Library(folder, list(keys), repeats, n_documents, tuple(problems), "; ".join(lost))


def _said(reports: Sequence[Report], name: str) -> list[str]:
    return [each for report in reports for each in getattr(report, name)]


def _summary_of_files(reports: Sequence[Report]) -> str:
    """Say how many files could not be read, and why; "" if all were."""
    files = Skipped("files")
    for report in reports:
        for name, reason in report.unreadable:
            files.add(name, reason)
    n_read = sum(report.n_files for report in reports) - files.count
    is_read = any(report.keys for report in reports)
    return files.summary(n_read if is_read else 0) if files.count else ""


def _find_repeats(keys: Mapping[Shard, Sequence[int]]) -> tuple[dict[str, Ints], int]:
    """Return the rows of each shard whose key came before, and the number of different keys."""
    known: set[int] = set()
    repeats = {}
    for shard, some in keys.items():
        rows = []
        for row, key in enumerate(some):
            if key in known:
                rows.append(row)
            known.add(key)
        if rows:
            repeats[shard.name] = np.array(rows, np.intp)
    return repeats, len(known)
