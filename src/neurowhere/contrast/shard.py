"""Shards: some hundred documents on disk each, what was made of them once, and sums over them.

::

    NAME.documents.npz      texts by section, compressed one by one; table of the documents
    NAME.words.npz          which words are in which texts
    NAME.front.npz          the same of titles, abstracts and keywords, with lengths
    NAME.vectors-KEY.npz    counts of the terms of one vocabulary

What is made of the documents is made again where it is missing or damaged.
"""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest, replaced
from neurowhere.contrast.query import Ints, WordIndex
from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.documents import SECTIONS
from neurowhere.exceptions import CorpusError
from neurowhere.text import TermExtractor

Arrays = dict[str, NDArray[Any]]

FAST = 1  # level of compression: four times as fast as the usual one for a sixth more bytes
KEY_LENGTH = 12
BODY = "body"
FRONT = tuple(name for name in SECTIONS if name != BODY)
FRONT_WORDS = 300  # of a text without parts
ROUNDING = 1e-4  # a count that is left of a difference, and is less, is none


@dataclass(frozen=True)
class Shard:
    """Documents of one part of a source, of which it is the `number`-th shard."""

    folder: Path
    part: int
    number: int

    def __reduce__(self) -> tuple[type["Shard"], tuple[Path, int, int]]:
        return Shard, (self.folder, self.part, self.number)  # what was read is not sent along

    @property
    def name(self) -> str:
        """Name that its files begin with."""
        return f"{self.part:05d}-{self.number:05d}"

    def file(self, kind: str) -> Path:
        """Path of one of its files."""
        return self.folder / f"{self.name}.{kind}.npz"

    def write(self, documents: Sequence[Document]) -> None:
        """Write documents."""
        texts = [_compressed(document.sections) for document in documents]
        write_arrays(
            self.file("documents"),
            {
                "texts": np.frombuffer(b"".join(texts), np.uint8),
                "ends": np.cumsum([len(text) for text in texts], dtype=np.int64),
                "table": _to_bytes([_row(document) for document in documents]),
            },
        )

    @cached_property
    def _n_documents(self) -> int:
        return len(read_arrays(self.file("documents"), "ends")["ends"])

    def __len__(self) -> int:
        return self._n_documents

    def table(self) -> list[dict[str, Any]]:
        """Read id, title and whatever else the source says of each document."""
        table = read_arrays(self.file("documents"), "table")["table"]
        rows: list[dict[str, Any]] = json.loads(table.tobytes())
        return rows

    def read_texts(self, rows: Ints) -> list[str]:
        """Read the whole texts of some documents."""
        return [_joined(sections, SECTIONS) for sections in self._read_sections(rows)]

    @cached_property
    def front(self) -> "Front":
        """What says what the documents are about."""
        return Front(self)

    def _read_sections(self, rows: Ints) -> list[dict[str, str]]:
        if not len(rows):
            return []
        arrays = read_arrays(self.file("documents"), "texts", "ends")
        texts, ends = arrays["texts"], arrays["ends"]
        starts = np.append(0, ends[:-1])
        return [
            json.loads(zlib.decompress(texts[starts[row] : ends[row]].tobytes())) for row in rows
        ]

    @cached_property
    def words(self) -> WordIndex:
        """Index of the words in each text."""
        return _index_from_arrays(self._kept("words", lambda: _index_arrays(self)))

    def vectors(self, extractor: TermExtractor) -> sparse.csr_matrix:
        """Count the terms of a model in each document, once: (n, n_terms)."""
        arrays = self._kept(
            vectors_kind(extractor), lambda: _sparse_to_arrays(self._count(extractor))
        )
        return sparse.csr_matrix(*_sparse_from_arrays(arrays))

    def vectors_without(self, extractor: TermExtractor, left_out: Ints) -> sparse.csr_matrix:
        """Return the counts without the terms in some columns, and without the words in them."""
        return without_terms(self.vectors(extractor), extractor, left_out)

    def _count(self, extractor: TermExtractor) -> sparse.csr_matrix:
        sections = enumerate(self._read_sections(np.arange(len(self))))
        documents = (Document(str(row), texts) for row, texts in sections)
        return extractor.counts(Corpus.from_documents(documents))

    def _kept(self, kind: str, make: Callable[[], Arrays]) -> Arrays:
        """Read what was made of the documents, or make it."""
        try:
            return read_arrays(self.file(kind))
        except CorpusError:
            arrays = make()
            write_arrays(self.file(kind), arrays)
            return arrays


@dataclass(frozen=True)
class Front:
    """What says what documents are about: title, abstract and keywords.

    Of a text without these parts, its first words. A query can be put to it.
    """

    shard: Shard

    def __len__(self) -> int:
        return len(self.shard)

    def read_texts(self, rows: Ints) -> list[str]:
        """Read the fronts of some documents."""
        return [
            _joined(sections, FRONT) or " ".join(sections.get(BODY, "").split()[:FRONT_WORDS])
            for sections in self.shard._read_sections(rows)
        ]

    @cached_property
    def _arrays(self) -> Arrays:
        return self.shard._kept("front", lambda: {**_index_arrays(self), "sizes": self._measure()})

    def _measure(self) -> NDArray[np.int64]:
        rows = self.shard._read_sections(np.arange(len(self)))
        has_body = [bool(each.get(BODY)) for each in rows]
        return np.stack([self.shard.words.lengths, has_body], axis=1).astype(np.int64)

    @cached_property
    def words(self) -> WordIndex:
        """Index of the words in each front."""
        return _index_from_arrays(self._arrays)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Words of the whole text, and 1 where it has more than a front: (n, 2)."""
        return self._arrays["sizes"]


def without_terms(
    counts: sparse.csr_matrix, extractor: TermExtractor, left_out: Ints
) -> sparse.csr_matrix:
    """Return counts as if some terms had never been mentioned.

    Where the words within a name are counted too, each mention of "multiple sclerosis" is also one
    of "sclerosis", and is taken from there as well. With R the columns that are left out and W the
    terms within terms, C − C_R W_R, and zeros in R. A "sclerosis" that stands alone stays.
    """
    if not len(left_out):
        return counts
    if extractor.nested:
        counts = sparse.csr_matrix(counts - counts[:, left_out] @ extractor.within[left_out])
    gone = np.isin(counts.indices, left_out) | (counts.data < ROUNDING)
    counts.data[gone] = 0
    counts.eliminate_zeros()
    return counts


def vectors_kind(extractor: TermExtractor) -> str:
    """Return the kind of the file with the counts of an extractor."""
    return f"vectors-{extractor_key(extractor)}"


@lru_cache(maxsize=4)
def extractor_key(extractor: TermExtractor) -> str:
    """Return a short digest of what decides the counts: vocabulary, weights, version."""
    vocabulary = extractor.vocabulary
    settled = [
        list(extractor.terms),
        extractor.nested,
        sorted(vocabulary.synonyms.items()),
        sorted(vocabulary.categories.items()),
        sorted((extractor.section_weights or {}).items()),
        version("neurowhere"),
    ]
    return digest(json.dumps(settled))[:KEY_LENGTH]


def _joined(sections: Mapping[str, str], names: Sequence[str]) -> str:
    return "\n\n".join(sections[name] for name in names if sections.get(name))


def _index_arrays(texts: Shard | Front) -> Arrays:
    index = WordIndex.of(texts.read_texts(np.arange(len(texts))))
    arrays = _sparse_to_arrays(index.counts)
    most = np.iinfo(np.uint16).max  # of the mentions of a word, and of the rows of a shard
    return {
        **arrays,
        "data": np.minimum(arrays["data"], most).astype(np.uint16),
        "indices": arrays["indices"].astype(np.uint16),
        "words": np.frombuffer(index.words, np.uint8),
        "forms": np.frombuffer(index.forms, np.uint8),
    }


def _index_from_arrays(arrays: Arrays) -> WordIndex:
    counts = sparse.csc_matrix(*_sparse_from_arrays(arrays))
    return WordIndex(arrays["words"].tobytes(), arrays["forms"].tobytes(), counts)


def _compressed(sections: Mapping[str, str]) -> bytes:
    return zlib.compress(json.dumps(dict(sections), ensure_ascii=False).encode("utf-8"), FAST)


def _row(document: Document) -> dict[str, Any]:
    """Document as a row of a table: id, title, metadata as text and numbers."""
    about = {name: _cell(value) for name, value in document.metadata.items()}
    title = about.pop("title", "") or _cell(document.sections.get("title", ""))
    return {"id": document.id, "title": title, **about}


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, int | float):
        return value
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


# ---- files of arrays


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to one file, in place of an older one."""
    with replaced(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def read_arrays(path: Path, *names: str) -> Arrays:
    """Read the arrays of a file, or some of them; the file's own checksums are compared."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names or arrays.files}
    except FileNotFoundError as error:
        raise CorpusError(
            f"{path} is missing; workers of a cluster have to see this folder too"
        ) from error
    except (OSError, BadZipFile, EOFError, KeyError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CorpusError(f"{path} is damaged ({reason})") from error


def _to_bytes(content: object) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(content).encode("ascii"), np.uint8)


def _sparse_to_arrays(matrix: sparse.csr_matrix | sparse.csc_matrix) -> Arrays:
    return {
        "data": matrix.data,
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int64),
        "shape": np.array(matrix.shape),
    }


def _sparse_from_arrays(arrays: Arrays) -> tuple[Any, tuple[int, int]]:
    """Return what makes the matrix again: ``csr_matrix(*_sparse_from_arrays(arrays))``."""
    rows, columns = arrays["shape"].tolist()
    indices = arrays["indices"].astype(np.int32)
    return (arrays["data"], indices, arrays["indptr"]), (rows, columns)
