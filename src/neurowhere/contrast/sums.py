"""Sums over documents of what a model makes of them, in memory that does not grow with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.digests import digest
from neurowhere._tools.parallel import Workers, slices
from neurowhere._tools.progress import track
from neurowhere.contrast.matching import Ints
from neurowhere.contrast.shard import KEY_LENGTH, Shard, extractor_key, read_arrays, write_arrays
from neurowhere.exceptions import CorpusError
from neurowhere.model.encoder import Encoder

__all__ = ["Rows", "Summing", "Sums", "kept_sums", "sum_documents"]

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
