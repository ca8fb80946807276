"""Read a corpus from any source: detect its format, convert peaks to MNI, count problems."""

import importlib
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from neurowhere._tools.files import expanded
from neurowhere._tools.parallel import track
from neurowhere.corpus.coordinates import (
    corpus_to_mni,
    document_to_mni,
    fill_spaces,
    read_spaces,
    repair,
)
from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.documents import Document
from neurowhere.corpus.readers.files import Skipped
from neurowhere.corpus.review import CONVERTIBLE, DROPPABLE, DROPPED, check_names, review
from neurowhere.exceptions import CorpusError, DataWarning

# Module of each format's reader, imported when it is needed. A reader has its `NAME`,
# `detects(path)`, and `read(path)`, which returns a Corpus, or `iter_documents(path)`, or both.
READERS = {
    "folder": "folder",
    "pubget": "readers.pubget",
    "neuroquery": "readers.neuroquery",
    "neurosynth": "readers.neurosynth",
    "nimads": "readers.nimads",
    "jats": "readers.jats",
    "jsonl": "readers.jsonl",
    "table": "readers.tables",
    "text": "readers.files",
}
# Formats that a name or a first look tells apart, before those that any file could have: a
# folder of ours or of pubget's also holds tables, and NeuroQuery's vocabulary is a text file.
TIERS = (
    ("folder",),
    ("pubget",),
    ("neuroquery", "neurosynth", "nimads", "jats", "jsonl"),
    ("table",),
    ("text",),
)
COLUMN_FORMATS = ("table", "jsonl")  # formats whose text column may have any name


def read_corpus(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    drop: Iterable[str] = DROPPED,
    convert: Iterable[str] = CONVERTIBLE,
    talairach_to_mni: bool = True,
    spaces: Mapping[str, str] | str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Corpus:
    """Read a corpus from a file or a folder.

    Parameters
    ----------
    path : path
        A file, or a folder of files.
    format : str, optional
        One of `READERS`; by default it is detected. A folder that holds several corpora needs it.
    drop : iterable of str
        Problems whose peaks or documents are dropped, among `review.DROPPABLE`. All problems
        are counted in `Corpus.problems`, dropped or not. Without "duplicates", a second
        document with the id "7" becomes "7#2".
    convert : iterable of str
        Problems whose peaks are put right, among `review.CONVERTIBLE`.
    talairach_to_mni : bool
        Whether peaks that the source says are in Talairach space are converted to MNI. Peaks in
        an unknown space are kept as they are.
    spaces : mapping of str to str, or path of a table with columns id and space, optional
        Space of documents, by id, for those whose source does not state it. Neurosynth's table
        of metadata is such a table, for many studies of NeuroQuery.
    progress : bool
        Whether to show the progress of long reading on a terminal.

    Returns
    -------
    Corpus
        Its `origin` says how it was read, and what the reader warned of.
    """
    source = expanded(path)
    names = check_names(drop, DROPPABLE, "drop")
    converted = check_names(convert, CONVERTIBLE, "convert")
    if spaces is not None and not isinstance(spaces, Mapping):
        spaces = read_spaces(expanded(spaces))
    name = find_format(source, format)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        corpus = _load(source, name, keep_duplicates="duplicates" not in names, progress=progress)
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
    corpus = repair(fill_spaces(corpus, spaces or {}), drop=names, convert=converted)
    if talairach_to_mni:
        corpus = corpus_to_mni(corpus)
    origin = {"format": name, "source": source.name, **corpus.origin}
    if news := _news(caught, corpus):
        origin["warnings"] = news
    return review(replace(corpus, origin=origin), names)


def _news(caught: list[warnings.WarningMessage], corpus: Corpus) -> list[str]:
    """Return the warnings of a reader that are not among the problems of the corpus."""
    known = {str(problem) for problem in corpus.problems}
    said = [str(each.message) for each in caught if issubclass(each.category, DataWarning)]
    return [message for message in said if message not in known]


def iter_documents(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    talairach_to_mni: bool = True,
    column: str | None = None,
) -> Iterator[Document]:
    """Iterate over the documents of a file or a folder one by one; memory does not grow.

    Parameters
    ----------
    path, format, talairach_to_mni
        As in `read_corpus`.
    column : str, optional
        Column of tables, or key of JSON lines, that holds the whole text.

    Returns
    -------
    iterator of Document
        Peaks that are not finite numbers are left out and counted; nothing else is looked for
        or dropped.
    """
    source = expanded(path)
    reader = _reader(find_format(source, format))
    if column is not None and reader.NAME not in COLUMN_FORMATS:
        raise CorpusError(f"expected a table or JSON lines with a column {column}; got {source}")
    with _clear_errors(source):
        if column is not None:
            documents = reader.iter_documents(source, column=column)
        elif hasattr(reader, "iter_documents"):
            documents = reader.iter_documents(source)
        else:
            documents = reader.read(source).iter_documents()
    tidy = _iter_tidy(documents, source)
    return map(document_to_mni, tidy) if talairach_to_mni else tidy


def find_format(source: Path, wanted: str | None = None) -> str:
    """Return the format of a file or a folder, one of `READERS`; a `wanted` one is only checked."""
    if not source.exists():
        raise CorpusError(f"expected a file or a folder, but {source} does not exist")
    if wanted is not None:
        if wanted not in READERS:
            raise CorpusError(f"unknown format {wanted!r}; choose among {', '.join(READERS)}")
        return wanted
    with _clear_errors(source):
        found = detect(source)
    if not found:
        raise CorpusError(f"{source} is in no known format; expected one of {', '.join(READERS)}")
    if len(found) > 1:
        raise CorpusError(f"{source} holds several corpora; choose the format: {', '.join(found)}")
    return found[0]


def detect(path: Path) -> list[str]:
    """Return the formats that a path holds, the most specific ones among `READERS`."""
    for tier in TIERS:
        found = [name for name in tier if _reader(name).detects(path)]
        if found:
            return found
    return []


def _reader(name: str) -> Any:
    return importlib.import_module(f"neurowhere.corpus.{READERS[name]}")


def _load(source: Path, name: str, *, keep_duplicates: bool, progress: bool) -> Corpus:
    reader = _reader(name)
    if hasattr(reader, "read"):
        with _clear_errors(source):
            corpus: Corpus = reader.read(source)
            return corpus
    documents = _iter_tidy(reader.iter_documents(source), source)
    if progress:
        documents = track(documents, f"reading {source.name}")
    return Corpus.from_documents(documents, keep_duplicates=keep_duplicates)


def _iter_tidy(documents: Iterable[Document], source: Path) -> Iterator[Document]:
    """Yield documents with finite peaks only; an error if there is no document at all."""
    skipped = Skipped("peaks")
    n_documents = n_peaks = 0
    with _clear_errors(source):
        for document in documents:
            finite = np.isfinite(document.peaks).all(axis=1)  # (n_peaks,)
            if not finite.all():
                n_bad = np.count_nonzero(~finite)
                skipped.add(f"document {document.id}", "not three finite numbers", n_bad)
                document = replace(document, peaks=document.peaks[finite])
            n_documents, n_peaks = n_documents + 1, n_peaks + len(document.peaks)
            yield document
    if not n_documents:
        raise CorpusError(f"expected documents in {source}, none came; check the path and format")
    skipped.report(n_peaks)


@contextmanager
def _clear_errors(source: Path) -> Iterator[None]:
    """Turn errors of the operating system into one clear line."""
    try:
        yield
    except OSError as error:
        raise CorpusError(
            f"cannot read {error.filename or source}: {error.strerror or error}"
        ) from error
