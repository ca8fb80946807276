"""Shards: some hundred documents on disk each, what was made of them once, and sums over them.

::

    NAME.documents.npz      texts by section, compressed one by one; table of the documents
    NAME.words.npz          which words are in which texts
    NAME.kinds-KEY.npz      counts of the words that tell kinds of documents apart
    NAME.vectors-KEY.npz    counts of the terms of one vocabulary

What is made of the documents is made again where it is missing or damaged. Sums of what a model
makes of them need memory that does not grow with their number.
"""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest, replaced
from neurowhere._tools.parallel import Workers, slices, track
from neurowhere.contrast.matching import Ints, WordIndex, count_kinds, kinds_key
from neurowhere.corpus import Corpus, Document
from neurowhere.corpus.documents import SECTIONS
from neurowhere.exceptions import CorpusError
from neurowhere.model.encoder import Encoder
from neurowhere.text import TermExtractor

__all__ = [
    "KEY_LENGTH",
    "Rows",
    "Shard",
    "Summing",
    "Sums",
    "extractor_key",
    "kept_sums",
    "read_arrays",
    "sum_documents",
    "vectors_kind",
    "without_terms",
    "write_arrays",
]

Arrays = dict[str, NDArray[Any]]

FAST = 1  # level of compression: four times as fast as the usual one for a sixth more bytes
KEY_LENGTH = 12
ROUNDING = 1e-4  # a count that is left of a difference, and is less, is none


@dataclass(frozen=True)
class Shard:
    """Documents of one part of a source.

    Attributes
    ----------
    folder : Path
    part, number : int
        It is the `number`-th shard of the `part`-th part.
    """

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

    def write(self, documents: Sequence[Document], keys: Sequence[int]) -> None:
        """Write documents; equal keys are those of the same document."""
        texts = [_compressed(document.sections) for document in documents]
        write_arrays(
            self.file("documents"),
            {
                "texts": np.frombuffer(b"".join(texts), np.uint8),
                "ends": np.cumsum([len(text) for text in texts], dtype=np.int64),
                "table": _to_bytes([_row(document) for document in documents]),
                "keys": np.array(keys, dtype=np.uint64),
            },
        )

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """Keys of the documents: (n,)."""
        return read_arrays(self.file("documents"), "keys")["keys"]

    def __len__(self) -> int:
        return len(self.keys)

    def table(self) -> list[dict[str, Any]]:
        """Read id, title and whatever else the source says of each document."""
        table = read_arrays(self.file("documents"), "table")["table"]
        rows: list[dict[str, Any]] = json.loads(table.tobytes())
        return rows

    def read_texts(self, rows: Ints) -> list[str]:
        """Read the whole texts of some documents."""
        return [
            "\n\n".join(sections[name] for name in SECTIONS if sections.get(name))
            for sections in self._read_sections(rows)
        ]

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
        arrays = self._kept("words", self._index)
        counts = sparse.csc_matrix(*_sparse_from_arrays(arrays))
        return WordIndex(arrays["words"].tobytes(), arrays["forms"].tobytes(), counts)

    def _index(self) -> Arrays:
        index = WordIndex.of(self.read_texts(np.arange(len(self))))
        arrays = _sparse_to_arrays(index.counts)
        most = np.iinfo(np.uint16).max  # of the mentions of a word, and of the rows of a shard
        return {
            **arrays,
            "data": np.minimum(arrays["data"], most).astype(np.uint16),
            "indices": arrays["indices"].astype(np.uint16),
            "words": np.frombuffer(index.words, np.uint8),
            "forms": np.frombuffer(index.forms, np.uint8),
        }

    def kinds(self) -> NDArray[np.uint32]:
        """Count the words that tell kinds of documents apart, (n, n_kinds + 1)."""
        name = f"kinds-{digest(kinds_key())[:KEY_LENGTH]}"
        return self._kept(name, lambda: {"counts": count_kinds(self.words)})["counts"]

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


def without_terms(
    counts: sparse.csr_matrix, extractor: TermExtractor, left_out: Ints
) -> sparse.csr_matrix:
    """Return counts as if some terms had never been mentioned.

    Where the words within a name are counted too, each mention of "multiple sclerosis" is also one
    of "sclerosis", and is taken from there as well. With R the columns that are left out and W the
    terms within terms, C − C_R W_R, and zeros in R. A "sclerosis" that stands alone stays.

    Parameters
    ----------
    counts : csr_matrix of shape (n, n_terms)
        As `TermExtractor.counts` gives them.
    extractor : TermExtractor
    left_out : array of int

    Returns
    -------
    csr_matrix of shape (n, n_terms)
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


# ---- sums

Array = NDArray[np.float64]

BATCH = 256  # documents encoded at a time
TASK_DOCUMENTS = 4096  # summed by one worker before it reports


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over documents i with weights w, encodings p (n, m) and features x (n, d).

    Those of two disjoint sets of documents add up to those of both.

    Attributes
    ----------
    documents : int
    weights : array of shape (3,)
        Σ w, Σ w², Σ w³.
    moments : array of shape (3, m)
        Σ (p − c), and of its squares and cubes, where c is the model's mean map. Not weighted.
    probability : array of shape (m,)
        Σ w p.
    features, presence : arrays of shape (d,)
        Σ w x, and Σ w [x > 0].
    replicates : array of shape (B, m)
        Σ π w p for each replicate of the bootstrap, with π a draw from a Poisson distribution of
        mean 1 for each document.
    replicate_weights : array of shape (B,)
        Σ π w.
    """

    documents: int
    weights: Array
    moments: Array
    probability: Array
    features: Array
    presence: Array
    replicates: NDArray[np.floating]
    replicate_weights: Array

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    @property
    def mean(self) -> Array:
        """Mean encoding: (m,)."""
        return np.asarray(self.probability / self.weights[0])

    @property
    def size(self) -> float:
        """Number of documents of equal weight that would tell as much: (Σ w)² / Σ w²."""
        return float(self.weights[0] ** 2 / self.weights[1])

    @property
    def replicate_means(self) -> NDArray[np.floating]:
        """Mean encoding in each replicate: (B, m); NaN where no document was drawn."""
        with np.errstate(invalid="ignore"):
            means: NDArray[np.floating] = self.replicates / self.replicate_weights[:, None]
        return means


@dataclass(frozen=True, eq=False)
class Summing:
    """How documents are summed.

    Attributes
    ----------
    model : Encoder
    left_out : array of int
        Columns of the counts, terms that are left out of the encoding.
    replicates : int
        Number B of replicates of the bootstrap.
    seed : int
        Seed of the bootstrap.
    """

    model: Encoder
    left_out: Ints
    replicates: int
    seed: int

    def nothing(self) -> Sums:
        """Return the sums over no document."""
        zeros, B = np.zeros, self.replicates
        m, d = self.model.partition_.n_regions, len(self.model.extractor_.terms)
        replicates = zeros((B, m), np.float32)
        return Sums(0, zeros(3), zeros((3, m)), zeros(m), zeros(d), zeros(d), replicates, zeros(B))


class Rows(NamedTuple):
    """Documents of a shard, and their weights; all of weight 1 where none are given."""

    shard: Shard
    rows: Ints
    weights: NDArray[np.floating] | None = None


def sum_documents(summing: Summing, rows: Sequence[Rows], workers: Workers) -> Sums:
    """Encode documents of any number of shards, and sum them up."""
    calls = [(summing, task) for task in _tasks(rows)]
    results = workers.for_calls(len(calls)).run(sum_rows, calls)
    total = summing.nothing()
    for part in track(results, "encoding", len(calls)):
        total = total + part
    return total


def kept_sums(folder: Path, summing: Summing, rows: Sequence[Rows], workers: Workers) -> Sums:
    """Read the sums over documents from a folder; make them and keep them there if need be."""
    path = folder / f"sums-{_key(summing, rows)}.npz"
    try:
        arrays = read_arrays(path)
        documents = int(arrays.pop("documents"))
        return Sums(documents, **arrays)
    except (CorpusError, TypeError, KeyError):
        total = sum_documents(summing, rows, workers)
        write_arrays(path, {name: np.asarray(value) for name, value in vars(total).items()})
        return total


def _key(summing: Summing, rows: Sequence[Rows]) -> str:
    """Return a short digest of a model, of the bootstrap and of the shards that are summed."""
    model = summing.model
    about = repr([summing.replicates, summing.seed, [each.shard.name for each in rows]])
    arrays = [model.weighting_.idf_, *model.predictor_.to_arrays().values()]
    return digest(extractor_key(model.extractor_), about, *arrays)[:KEY_LENGTH]


def _tasks(rows: Sequence[Rows]) -> Iterator[list[Rows]]:
    task: list[Rows] = []
    for each in rows:
        task.append(each)
        if sum(len(part.rows) for part in task) >= TASK_DOCUMENTS:
            yield task
            task = []
    if task:
        yield task


def sum_rows(summing: Summing, task: Sequence[Rows]) -> Sums:
    """Encode documents and sum them up."""
    total = summing.nothing()
    for shard, rows, weights in task:
        counts = shard.vectors_without(summing.model.extractor_, summing.left_out)[rows]
        w = np.ones(len(rows)) if weights is None else np.asarray(weights, np.float64)
        draws = poisson_draws(summing, shard)[:, rows]
        for part in slices(len(rows), BATCH):
            total = total + _sum_batch(summing.model, counts[part], w[part], draws[:, part])
    return total


def poisson_draws(summing: Summing, shard: Shard) -> NDArray[np.uint8]:
    """Draw how often each document of a shard is in each replicate: (B, n), always the same."""
    rng = np.random.default_rng([summing.seed, shard.part, shard.number])
    return rng.poisson(1.0, (summing.replicates, len(shard))).astype(np.uint8)


def _sum_batch(
    model: Encoder, counts: sparse.csr_matrix, w: Array, draws: NDArray[np.uint8]
) -> Sums:
    features = model.weighting_.transform(counts)  # (n, d)
    p = model.predict_features(features)  # (n, m)
    drawn = (draws * w).astype(np.float32)  # (B, n)
    replicates = drawn @ p  # (B, m)
    probability = w @ p
    p -= model.mean_map_.astype(np.float32)
    square = p * p
    moments = np.stack([each.sum(axis=0, dtype=np.float64) for each in (p, square, square * p)])
    return Sums(
        documents=len(w),
        weights=np.array([w.sum(), (w**2).sum(), (w**3).sum()]),
        moments=moments,
        probability=probability,
        features=w @ features,
        presence=w @ (features > 0),
        replicates=replicates,
        replicate_weights=drawn.sum(axis=1, dtype=np.float64),
    )
