"""Background: what every contrast of the same documents shares, worked out once and kept.

The mean encoding, the covariates and how encodings follow from them; then, from words that name no
place, how far contrasts go where there is nothing to find. All of it comes from sums over encoded
documents, which need memory that does not grow with their number.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest
from neurowhere._tools.parallel import Workers, slices, track
from neurowhere.contrast.covariates import Covariates, find_covariates
from neurowhere.contrast.query import Ints
from neurowhere.contrast.regression import (
    Fits,
    calibrate,
    fit_groups,
    likely_members,
    log_response,
    orthonormal,
    partial_out,
    share_by_chance,
    stretch,
)
from neurowhere.contrast.selection import Found
from neurowhere.contrast.shard import (
    KEY_LENGTH,
    Arrays,
    Shard,
    extractor_key,
    read_arrays,
    write_arrays,
)
from neurowhere.exceptions import CorpusError
from neurowhere.model.encoder import Encoder

Array = NDArray[np.floating]
Weights = Array | sparse.csr_matrix
Totals = tuple[Array, Array]  # Σ a z for each weight a, and Σ b z² for each weight b

BATCH = 256  # documents encoded at a time
TASK_DOCUMENTS = 4096  # summed by one worker before it reports
N_PLACELESS, PLACELESS_AT_ONCE = 600, 300  # words; of which the fits are in memory
WORDS_AT_ONCE = 20  # whose residuals are held for all documents
LAYOUT = 5  # of the files
KEPT = ("usual", "cross", "square")
FEWEST_PLACELESS = 20  # words, for their quantile to mean anything


# ---- sums over documents


@dataclass(frozen=True, eq=False)
class Responses:
    """What is made of a document.

    Without the mean q̄ over all documents, the responses are the encodings q themselves; with it,
    side by side, log(ε + (1 − ε) q/q̄), q/q̄, the features x, and [x > 0].
    """

    model: Encoder
    shares: sparse.csr_matrix  # (m, n_regions): of a region of the model in those of the atlas
    left_out: Ints  # columns of the counts, terms that are left out of the encoding
    usual: Array | None = None  # (m + n_regions,): q̄
    coefficients: Array | None = None  # (rank, n_responses): of Q, whose fit is subtracted

    def of(self, features: sparse.csr_matrix) -> Array:
        """Encode documents."""
        p = self.model.predict_features(features)  # (n, m)
        q = np.hstack([p, p @ self.shares])
        if self.usual is None:
            return q
        relative = np.divide(q, self.usual, out=np.ones_like(q), where=self.usual > 0)
        x = features.toarray()
        return np.hstack([log_response(relative), relative, x, x > 0], dtype=np.float32)


class Rows(NamedTuple):
    """Documents of a shard, the weights of their responses and of their squares, and Q."""

    shard: Shard
    rows: Ints
    linear: Weights
    square: Weights
    basis: Array | None = None


def rows_of(
    found: Sequence[Found],
    linear: Weights,
    square: Weights,
    basis: Array | None = None,
    active: NDArray[np.bool_] | None = None,
) -> list[Rows]:
    """Cut weights of all documents, (N, ...), into those of shards; of active documents only."""
    parts, start = [], 0
    for each in found:
        rows, here = each.rows, np.arange(start, start + len(each.rows))
        start += len(rows)
        if active is not None:
            rows, here = rows[active[here]], here[active[here]]
        if len(here):
            known = None if basis is None else basis[here]
            parts.append(Rows(each.shard, rows, linear[here], square[here], known))
    return parts


def sum_documents(
    responses: Responses, rows: Sequence[Rows], workers: Workers, what: str
) -> Totals:
    """Encode documents of any number of shards, and sum them up."""
    calls = [(responses, task) for task in _tasks(rows)]
    results = workers.for_calls(len(calls)).run(sum_rows, calls)
    return reduce(_add, track(results, what, len(calls)))


def _tasks(rows: Sequence[Rows]) -> Iterator[list[Rows]]:
    task: list[Rows] = []
    for each in rows:
        task.append(each)
        if sum(len(part.rows) for part in task) >= TASK_DOCUMENTS:
            yield task
            task = []
    if task:
        yield task


def sum_rows(responses: Responses, task: Sequence[Rows]) -> Totals:
    """Encode documents and sum them up."""
    return reduce(_add, (part for each in task for part in _sum_batches(responses, each)))


def _sum_batches(responses: Responses, each: Rows) -> Iterator[Totals]:
    model = responses.model
    counts = each.shard.vectors_without(model.extractor_, responses.left_out)[each.rows]
    for part in slices(max(len(each.rows), 1), BATCH):
        z = responses.of(model.weighting_.transform(counts[part]))
        if each.basis is not None and responses.coefficients is not None:
            z -= each.basis[part].astype(np.float32) @ responses.coefficients
        yield _times(each.linear[part], z), _times(each.square[part], z * z)


def _add(total: Totals, other: Totals) -> Totals:
    for mine, theirs in zip(total, other, strict=True):
        np.add(mine, theirs, out=mine)
    return total


def _times(weights: Weights, z: Array) -> Array:
    """Multiply in single precision; sums of dense weights are added up in double precision."""
    dtype = np.float32 if sparse.issparse(weights) else np.float64
    return np.asarray(weights.T.astype(np.float32) @ z, dtype=dtype)


# ---- what all documents say


@dataclass(frozen=True, eq=False)
class Design:
    """A regression of the responses Z on covariates C."""

    values: Array  # (N, p): C
    cross: Array  # (p, n_responses): CᵀZ
    square: Array  # (n_responses,): Σ z²

    @cached_property
    def _change(self) -> Array:
        return orthonormal(self.values.T @ self.values)

    @cached_property
    def basis(self) -> Array:
        """Q = C T, orthonormal: (N, rank)."""
        return np.asarray(self.values @ self._change)

    @cached_property
    def coefficients(self) -> Array:
        """QᵀZ: (rank, n_responses)."""
        return np.asarray(self._change.T @ self.cross)

    @property
    def variance(self) -> Array:
        """V₀, the residual variance: (n_responses,)."""
        n, rank = self.basis.shape
        left = self.square - (self.coefficients**2).sum(axis=0)
        return np.asarray(np.maximum(left, 0.0) / max(n - rank, 1))


@dataclass(frozen=True, eq=False)
class Background:
    """What all N documents say, and how that follows from the covariates."""

    found: Sequence[Found]
    covariates: Covariates
    usual: Array  # (m + n_regions,): q̄, mean probability of each region of the model and the atlas
    cross: Array  # of `Design`, with all covariates
    square: Array

    @property
    def n_documents(self) -> int:
        """Number N of documents."""
        return len(self.covariates.values)

    def design(self, columns: Sequence[int]) -> Design:
        """Return the regression on some of the covariates."""
        values = self.covariates.values[:, columns].astype(np.float64)
        return Design(values, self.cross[columns], self.square)


def find_background(
    folder: Path, found: Sequence[Found], responses: Responses, workers: Workers
) -> Background:
    """Read the background of documents from a folder, or make it and keep it there."""
    path = folder / f"background-{_key(found, responses)}.npz"
    try:
        return _from_arrays(found, read_arrays(path))
    except (CorpusError, KeyError, ValueError):
        background = _make_background(found, responses, workers)
        write_arrays(path, _to_arrays(background))
        return background


def _make_background(found: Sequence[Found], responses: Responses, workers: Workers) -> Background:
    n = sum(len(each.rows) for each in found)
    ones = np.ones((n, 1))
    total, _ = sum_documents(responses, rows_of(found, ones, ones[:, :0]), workers, "encoding")
    usual = total[0] / n
    covariates = find_covariates(found, responses.model.vocabulary_)
    rows = rows_of(found, covariates.values.astype(np.float64), ones)
    relative = replace(responses, usual=usual)
    cross, square = sum_documents(relative, rows, workers, "fitting to kinds")
    return Background(found, covariates, usual, cross, square[0])


def fit_groups_of(
    design: Design,
    found: Sequence[Found],
    groups: sparse.csc_matrix,
    responses: Responses,
    workers: Workers,
    *,
    adjusted: bool,
    active: NDArray[np.bool_] | None = None,
) -> tuple[Fits, Array]:
    """Fit K groups of any documents at once, which are encoded together; also return Σ g z.

    The groups, (N, K), are the weights g of documents. If adjusted, each has a covariate of its
    own, see `likely_members`. Active documents, (N, 1), are those whose own residuals enter, by
    default those of the group.
    """
    parts, weights = [], []
    for some in slices(groups.shape[1], WORDS_AT_ONCE):
        g = groups[:, some].toarray().astype(np.float64)
        own = likely_members(design.basis, g) if adjusted else None
        parted = partial_out(design.basis, g, g > 0 if active is None else active, own)
        inside, tilde = parted.inside, parted.own_inside
        weighed = (g, parted.own, inside**3, inside**2 * tilde, inside**2)
        weights.append([sparse.csr_matrix(weight) for weight in weighed])  # most are 0
        small = parted._replace(inside=g[:0], own=g[:0], own_inside=g[:0])
        parts.append((small, sparse.csr_matrix(inside), sparse.csr_matrix(tilde)))
    columns = [sparse.hstack(each) for each in zip(*weights, strict=True)]
    linear = sparse.csr_matrix(sparse.hstack(columns[:-1]), dtype=np.float32)
    encoded = np.diff(linear.indptr) > 0
    fitted = replace(responses, coefficients=design.coefficients.astype(np.float32))
    rows = rows_of(found, linear, sparse.csr_matrix(columns[-1]), design.basis, encoded)
    sums, squares = sum_documents(fitted, rows, workers, "asking documents")
    first, shared, cube, mixed = np.split(sums, 4)
    start, fits, totals = 0, [], []
    for small, held, tildes in parts:
        here = slice(start, start := start + len(small.s))
        parted = small._replace(inside=held.toarray(), own_inside=tildes.toarray())
        own_sums = (first[here], shared[here], squares[here], cube[here], mixed[here])
        fits.append(fit_groups(parted, own_sums, design.variance))
        totals.append(first[here] + parted.on_basis.T @ design.coefficients)
    return Fits(*map(np.concatenate, zip(*fits, strict=True))), np.concatenate(totals)


# ---- what nothing looks like


class Chance(NamedTuple):
    """What contrasts of placeless words find."""

    extra: Array  # (n_responses,): τ², which is added to variances
    factor: Array  # (n_responses,): κ², by which they are then multiplied; of voxels, of regions
    words: NDArray[np.intp]  # their number
    share_regions: Array  # share of the words with any discovery among the regions
    share_voxels: Array

    def about(self) -> dict[str, float | None]:
        """Return what is said of the words in `Contrast.about`."""
        regions, voxels = map(float, (self.share_regions, self.share_voxels))
        return {
            "placeless_words": int(self.words),
            "chance_regions": None if np.isnan(regions) else regions,
            "chance_voxels": None if np.isnan(voxels) else voxels,
        }


def find_chance(
    folder: Path,
    background: Background,
    columns: Sequence[int],
    responses: Responses,
    workers: Workers,
    *,
    calibrated: bool,
) -> Chance:
    """Contrast placeless words as a term would be, once for a design, and keep what they find.

    With less than 20 words nothing is calibrated, and the shares are NaN.
    """
    key = _key(background.found, responses)
    path = folder / f"chance-{key}-{len(columns)}-{N_PLACELESS}.npz"
    with suppress(CorpusError, KeyError):
        arrays = read_arrays(path)
        return Chance(*(arrays[name] for name in Chance._fields))
    words = background.covariates.placeless[:, :N_PLACELESS]
    m, m_both = responses.model.partition_.n_regions, len(background.usual)
    extra, factor = np.zeros_like(background.square), np.ones_like(background.square)
    shares = np.full(2, np.nan)
    if words.shape[1] >= FEWEST_PLACELESS:
        design = background.design(columns)
        fits = [
            fit_groups_of(
                design, background.found, words[:, some], responses, workers, adjusted=calibrated
            )[0]
            for some in slices(words.shape[1], PLACELESS_AT_ONCE)
        ]
        effect, variance, n, _ = map(np.concatenate, zip(*fits, strict=True))
        extra = calibrate(effect, variance) if calibrated else extra
        for k, part in enumerate((slice(m, m_both), slice(m))):
            fit = effect[:, part], variance[:, part]
            shares[k] = share_by_chance(*fit, n, calibrated=calibrated)
            if calibrated:
                kappa = stretch(fit[0], fit[1] + extra[part], n)
                factor[part] = factor[m_both:][part] = kappa**2  # of logarithms, and of ratios
    chance = Chance(extra, factor, np.array(words.shape[1]), *map(np.array, shares))
    write_arrays(path, chance._asdict())
    return chance


# ---- on disk


def _key(found: Sequence[Found], responses: Responses) -> str:
    """Return a short digest of a model, of an atlas and of the shards that are summed."""
    model = responses.model
    about = repr([[each.shard.name for each in found], version("neurowhere"), LAYOUT])
    arrays = [model.weighting_.idf_, *model.predictor_.to_arrays().values(), responses.shares.data]
    return digest(extractor_key(model.extractor_), about, *arrays)[:KEY_LENGTH]


def _to_arrays(background: Background) -> Arrays:
    covariates = background.covariates
    return {
        **{name: getattr(background, name) for name in KEPT},
        "values": covariates.values,
        "names": np.frombuffer(json.dumps([covariates.names, covariates.words]).encode(), np.uint8),
        "indices": covariates.placeless.indices,
        "indptr": covariates.placeless.indptr,
    }


def _from_arrays(found: Sequence[Found], arrays: Arrays) -> Background:
    names, words = json.loads(arrays["names"].tobytes())
    shape = (len(arrays["values"]), len(words))
    data = np.ones(len(arrays["indices"]), dtype=bool)
    placeless = sparse.csc_matrix((data, arrays["indices"], arrays["indptr"]), shape=shape)
    covariates = Covariates(arrays["values"], names, placeless, words)
    return Background(found, covariates, **{name: arrays[name] for name in KEPT})
