"""Sources: any files or folders of documents, cut into parts that can be read side by side."""

import hashlib
import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurowhere._tools.files import bare_suffix
from neurowhere.contrast.shard import KEY_LENGTH
from neurowhere.corpus import Corpus, Document, iter_documents, read_corpus
from neurowhere.corpus.read import READERS, find_format
from neurowhere.exceptions import CorpusError

PART_BYTES = 4_000_000  # smaller files are read together
SPLIT_FORMATS = ("jsonl", "table", "text", "jats")  # a folder of files, each of which can be read
COUNTED_FORMATS = ("folder", "neuroquery")  # may have counts of terms where there is no text
# Stands after each term of a document that is known by its counts alone. It is a letter of no
# word, so that no phrase reaches across it.
TERM_BREAK = " \N{MODIFIER LETTER VERTICAL LINE} "


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
    """Short name for files as they are now: their paths, sizes and times of change."""
    digest = hashlib.sha256()
    for part in parts:
        for root in part.files:
            for file in filter(Path.is_file, sorted(root.rglob("*")) if root.is_dir() else [root]):
                stat = file.stat()
                name = os.fsencode(file.absolute())
                digest.update(b"%s\0%d\0%d\n" % (name, stat.st_size, stat.st_mtime_ns))
        digest.update(part.format.encode())
    return digest.hexdigest()[:KEY_LENGTH]


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
    """Hash that documents share if they are the same; one named after its file is no other's."""
    name = document.id
    if name in (file.name, file.stem) or name.startswith(f"{file.name}:"):
        name = f"{file.absolute()}\0{name}"
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest())
