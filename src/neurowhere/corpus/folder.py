"""Read and write the project's own format: a folder of plain files, described by info.json.

::

    info.json           what made it, from what, how many documents and peaks, checksums
    documents.csv       one row per document: id, title, space, source_space, ...
    peaks.csv           one row per peak: id, x, y, z in mm, table where known
    texts.jsonl.gz      one line per document, in the order of documents.csv: id and sections
    counts_<section>.npz    sparse term counts (SciPy), one row per document
    terms.txt           one term per column of the counts

Texts and counts are there where the corpus has them.
"""

import csv
import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import sparse

from neurowhere._tools.files import INFO_NAME, new_folder, open_text, read_info, write_info
from neurowhere._tools.parallel import track
from neurowhere.corpus.corpus import Corpus, join_documents
from neurowhere.corpus.documents import (
    DOCUMENT_COLUMNS,
    PEAK_COLUMNS,
    Document,
    documents_table,
    load_matrix,
    peaks_table,
    read_table,
)
from neurowhere.corpus.review import Problem
from neurowhere.exceptions import CorpusError

NAME = "folder"
KIND = "corpus"
FORMAT_VERSION = 1
REMEDY = "import it again"

DOCUMENTS_NAME = "documents.csv"
PEAKS_NAME = "peaks.csv"
TEXTS_NAME = "texts.jsonl.gz"
TERMS_NAME = "terms.txt"


def detects(path: Path) -> bool:
    """Return whether the path is a folder with info.json and a table of documents."""
    return (path / INFO_NAME).is_file() and (path / DOCUMENTS_NAME).is_file()


def write(corpus: Corpus, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a corpus as a folder, whole or not at all."""
    with new_folder(folder, overwrite=overwrite) as temporary:
        write_files(corpus, temporary)


def write_files(corpus: Corpus, folder: Path) -> None:
    """Write the files of a corpus into an empty folder."""
    _write_table(corpus.documents, folder / DOCUMENTS_NAME)
    _write_table(corpus.peaks, folder / PEAKS_NAME)
    if corpus.sections is not None:
        _write_texts(corpus, folder / TEXTS_NAME)
    if corpus.counts is not None:
        _write_counts(corpus, folder)
    write_info(folder, _describe(corpus))


def read(path: Path) -> Corpus:
    """Read a folder that `write` made, after checking its version and checksums."""
    info = _read_info(path)
    with _whole(path):
        documents = _read_documents(path)
        has_texts, has_counts = info["sections"] is not None, info["counts"] is not None
        terms = _read_terms(path) if has_counts else []
        return Corpus(
            documents=documents,
            peaks=_read_peaks(path),
            sections=_read_sections(path, info["sections"], documents) if has_texts else None,
            counts=_read_counts(path, info["counts"], (len(documents), len(terms)))
            if has_counts
            else None,
            terms=terms if has_counts else None,
            origin=info["origin"],
            problems=tuple(Problem.from_dict(problem) for problem in info["problems"]),
        )


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield the documents one by one; only the tables are held in memory."""
    info = _read_info(path)
    if info["sections"] is None:
        raise CorpusError(f"{path} holds term counts but no texts; read it with read_corpus")
    with _whole(path):
        tables = Corpus(_read_documents(path), _read_peaks(path))
        yield from join_documents(tables.documents, tables.peaks_by_document, _iter_texts(path))


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Turn any error of a file with a correct checksum into one line."""
    try:
        yield
    except (CorpusError, OSError):
        raise
    except Exception as error:  # forged files fail in many ways
        raise CorpusError(f"{path} is not a whole corpus ({error}); {REMEDY}") from error


def _read_info(path: Path) -> dict[str, Any]:
    """Read info.json and check that the folder is a corpus, of a known version, and unchanged."""
    info = read_info(path, KIND, FORMAT_VERSION, CorpusError, REMEDY)
    missing = [key for key in ("sections", "counts", "origin", "problems") if key not in info]
    if missing:
        raise CorpusError(f"{path / INFO_NAME} does not say {', '.join(missing)}; {REMEDY}")
    return info


def _describe(corpus: Corpus) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format_version": FORMAT_VERSION,
        "documents": len(corpus),
        "peaks": len(corpus.peaks),
        "sections": None if corpus.sections is None else list(corpus.sections),
        "counts": None if corpus.counts is None else list(corpus.counts),
        "terms": None if corpus.terms is None else len(corpus.terms),
        "origin": corpus.origin,
        "problems": [asdict(problem) for problem in corpus.problems],
    }


def _write_table(table: pd.DataFrame, path: Path) -> None:
    # Text is quoted, so that any character in it survives.
    table.to_csv(
        path, index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n", errors="replace"
    )


def _write_texts(corpus: Corpus, path: Path) -> None:
    ids, sections = corpus.documents["id"], corpus.sections or {}
    # Without name and time in the gzip header, the same texts give the same checksum.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
        for row, document_id in enumerate(track(ids, "writing texts")):
            texts = {name: texts[row] for name, texts in sections.items() if texts[row]}
            line = json.dumps({"id": document_id, **texts}, ensure_ascii=False)
            stream.write(f"{line}\n".encode("utf-8", "replace"))


def _write_counts(corpus: Corpus, folder: Path) -> None:
    for name, matrix in (corpus.counts or {}).items():
        sparse.save_npz(folder / _counts_name(name), matrix)
    terms = corpus.terms or []
    broken = [term for term in terms if "\n" in term or "\r" in term]
    if broken:
        raise CorpusError(f"expected terms on one line, but {broken[0]!r} has a line break")
    (folder / TERMS_NAME).write_text("".join(f"{term}\n" for term in terms), "utf-8", "replace")


def _read_documents(path: Path) -> pd.DataFrame:
    return documents_table(read_table(path / DOCUMENTS_NAME, DOCUMENT_COLUMNS))


def _read_peaks(path: Path) -> pd.DataFrame:
    try:
        return peaks_table(read_table(path / PEAKS_NAME, PEAK_COLUMNS))
    except ValueError as error:
        raise CorpusError(f"{path / PEAKS_NAME}: {error}; {REMEDY}") from error


def _read_sections(path: Path, names: list[str], documents: pd.DataFrame) -> dict[str, list[str]]:
    lines = list(_iter_texts(path))
    if [line["id"] for line in lines] != documents["id"].tolist():
        raise CorpusError(f"{path / TEXTS_NAME} does not list the documents in their order")
    return {name: [line.get(name, "") for line in lines] for name in names}


def _read_terms(path: Path) -> list[str]:
    with open_text(path / TERMS_NAME) as stream:
        return stream.read().split("\n")[:-1]


def _read_counts(
    path: Path, names: list[str], shape: tuple[int, int]
) -> dict[str, sparse.csr_matrix]:
    counts = {name: load_matrix(path / _counts_name(name)) for name in names}
    for name, matrix in counts.items():
        if matrix.shape != shape:
            raise CorpusError(
                f"{path / _counts_name(name)} should have {shape[0]:,} documents and "
                f"{shape[1]:,} terms, not {matrix.shape}; {REMEDY}"
            )
    return counts


def _counts_name(section: str) -> str:
    return f"counts_{section}.npz"


def _iter_texts(path: Path) -> Iterator[dict[str, str]]:
    with open_text(path / TEXTS_NAME) as stream:
        yield from map(json.loads, stream)
