"""Sums over documents of what a model makes of them, and what chance would make of these sums.

Memory does not grow with the number of documents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special, stats

from neurowhere._tools.files import digest
from neurowhere._tools.parallel import Workers, slices, track
from neurowhere.contrast.matching import Ints
from neurowhere.contrast.shard import KEY_LENGTH, Shard, extractor_key, read_arrays, write_arrays
from neurowhere.exceptions import CorpusError
from neurowhere.model.encoder import Encoder

__all__ = [
    "Null",
    "Rows",
    "Summing",
    "Sums",
    "kept_sums",
    "permutation_null",
    "sum_documents",
    "upper_tail",
]

Array = NDArray[np.float64]

BATCH = 256  # documents encoded at a time
TASK_DOCUMENTS = 4096  # summed by one worker before it reports
ROUNDING = 1e-9  # a variance smaller than this share of the mean square is none
ALMOST_SYMMETRIC = 1e-4  # a gamma of less skewness is a normal distribution to eight digits


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


# ---- what chance would do


@dataclass(frozen=True, eq=False)
class Null:
    """How far a contrast is from what chance would do, in each region.

    Attributes
    ----------
    z : array of shape (m,)
        (T − E T) / √Var T.
    p_values : array of shape (m,)
        Two-sided.
    q_values : array of shape (m,)
        p-values adjusted to control the false-discovery rate (Benjamini and Hochberg).
    """

    z: Array
    p_values: Array
    q_values: Array


def permutation_null(group: Sums, reference: Sums | None, population: Sums) -> Null:
    r"""Compare the mean of a group with that of random groups of the same size and weights.

    Parameters
    ----------
    group : Sums
    reference : Sums or None
        Second group, disjoint from the first; None contrasts with all documents.
    population : Sums
        All documents among which the weights are permuted.

    Returns
    -------
    Null

    Notes
    -----
    A contrast of mean encodings is, in each region, a linear statistic of the documents,

        T = Σᵢ aᵢ xᵢ,

    where aᵢ = wᵢ/Σw for the documents of the group (minus the same for those of a second group),
    and 0 for all others. If the group had nothing to do with what its documents say, every
    assignment of the weights a to the N documents would be as likely. Over these N! permutations,

        E T = N ā x̄,    Var T = Sₐₐ Sₓₓ / (N − 1),    E (T − E T)³ = N Sₐₐₐ Sₓₓₓ / ((N − 1)(N − 2)),

    with Sₐₐ = Σ (aᵢ − ā)², Sₐₐₐ = Σ (aᵢ − ā)³ and so on. These three moments need sums over
    documents only, no permutation, and are exact; the tail is that of Pearson's type III
    distribution (a shifted gamma) with these moments, as Mielke and Berry propose for permutation
    tests and Winkler et al. (NeuroImage, 2016) for images. Away from the skewness that distribution
    ends, where p-values would be 0 without being certain; there Cornish and Fisher's correction of
    the normal tail is taken wherever it is larger. `benchmarks/contrast_null.py` puts it to the
    test.
    """
    n = population.documents
    a = _scaled(group.weights)  # Σ a, Σ a², Σ a³
    change = group.mean
    if reference is not None:
        a = a - _scaled(reference.weights) * [1, -1, 1]
        change = change - reference.mean
    expected = population.mean if reference is None else 0.0
    a_square, a_cube = _central(a, n)
    x_square, x_cube = _central(population.moments, n)  # (m,)
    variance = a_square * x_square / max(n - 1, 1)
    third = n * a_cube * x_cube / max((n - 1) * (n - 2), 1)
    varies = variance > 0
    scale = np.sqrt(np.where(varies, variance, 1.0))
    z = np.where(varies, (change - expected) / scale, 0.0)
    skewness = np.where(varies, third / scale**3, 0.0)
    p_values = np.minimum(1.0, 2 * np.minimum(upper_tail(z, skewness), upper_tail(-z, -skewness)))
    return Null(z, p_values, stats.false_discovery_control(p_values))


def upper_tail(z: Array, skewness: Array) -> Array:
    """Return the probability above z, for a variable of mean 0, variance 1 and some skewness γ.

    Pearson's type III; for γ < 0 not less than Φ(−w), with w = z − γ (z² − 1) / 6 the first term
    of Cornish and Fisher's expansion, which has no end.

    >>> upper_tail(np.array([1.96, 1.96]), np.array([0.0, 1.0])).round(3)
    array([0.025, 0.045])
    """
    symmetric = np.abs(skewness) < ALMOST_SYMMETRIC
    g = np.where(symmetric, 1.0, skewness)
    shape = 4 / g**2
    place = np.maximum(shape + np.sign(g) * np.sqrt(shape) * z, 0.0)  # a gamma's, from 0
    gamma = np.where(g > 0, special.gammaincc(shape, place), special.gammainc(shape, place))
    endless = special.ndtr(skewness * (z**2 - 1) / 6 - z)
    tail = np.where(g > 0, gamma, np.maximum(gamma, endless))
    return np.where(symmetric, special.ndtr(-z), tail)


def _scaled(weights: Array) -> Array:
    """Σ a, Σ a², Σ a³ for a = w / Σ w."""
    return np.asarray(weights / weights[0] ** np.arange(1, 4))


def _central(sums: Array, n: int) -> tuple[Array, Array]:
    """Σ (x − x̄)² and Σ (x − x̄)³ from Σ x, Σ x², Σ x³."""
    first, second, third = sums
    mean = first / n
    square = second - n * mean**2
    square = np.where(square > ROUNDING * second, square, 0.0)
    return square, third - 3 * mean * second + 2 * n * mean**3
