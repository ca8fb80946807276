"""Background: what every contrast of the same documents shares, worked out once and kept.

The mean encoding, the covariates and how encodings follow from them; then, from words that name no
place, how far contrasts go where there is nothing to find.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import digest
from neurowhere._tools.parallel import Workers, slices
from neurowhere.contrast.covariates import Covariates, Documents, find_covariates
from neurowhere.contrast.regression import (
    calibrate,
    fit_groups,
    orthonormal,
    partial_out,
    share_by_chance,
    stretch,
)
from neurowhere.contrast.shard import (
    KEY_LENGTH,
    Rows,
    Summing,
    extractor_key,
    read_arrays,
    sum_documents,
    write_arrays,
)
from neurowhere.exceptions import CorpusError

__all__ = [
    "Background",
    "Chance",
    "Design",
    "find_background",
    "find_chance",
    "fit_words",
    "rows_of",
]

Array = NDArray[np.floating]
Weights = Array | sparse.csr_matrix

N_PLACELESS = 300  # words
WORDS_AT_ONCE = 20  # whose residuals are held for all documents
LAYOUT = 3  # of the files
KEPT = ("usual", "cross", "square")
FEWEST_PLACELESS = 20  # words, for their quantile to mean anything


@dataclass(frozen=True, eq=False)
class Background:
    """What all documents say, and how that follows from the covariates.

    Attributes
    ----------
    documents : sequence of Documents
    covariates : Covariates
    usual : array of shape (m',)
        q̄, mean probability of each region of the model, then of the atlas.
    cross : array of shape (p, n_responses)
        CᵀZ, with the responses Z of `Summing`.
    square : array of shape (n_responses,)
        Σ z².
    """

    documents: Sequence[Documents]
    covariates: Covariates
    usual: Array
    cross: Array
    square: Array

    @property
    def n_documents(self) -> int:
        """Number N of documents."""
        return len(self.covariates.values)

    def design(self, columns: Sequence[int]) -> "Design":
        """Return the regression on some of the covariates."""
        values = self.covariates.values[:, columns].astype(np.float64)
        return Design(values, self.cross[columns], self.square)


@dataclass(frozen=True, eq=False)
class Design:
    """A regression of the responses Z on covariates C.

    Attributes
    ----------
    values : array of shape (N, p)
        C.
    cross : array of shape (p, n_responses)
        CᵀZ.
    square : array of shape (n_responses,)
        Σ z².
    """

    values: Array
    cross: Array
    square: Array

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


class Chance(NamedTuple):
    """What contrasts of placeless words find.

    Attributes
    ----------
    extra : array of shape (n_responses,)
        τ², which is added to variances.
    factor : array of shape (n_responses,)
        κ², by which they are then multiplied: one for the voxels, one for the regions.
    words, share_regions, share_voxels : arrays of shape ()
        Number of words, and share of them with any discovery among regions and among voxels.
    """

    extra: Array
    factor: Array
    words: NDArray[np.intp]
    share_regions: Array
    share_voxels: Array


def find_background(
    folder: Path, documents: Sequence[Documents], summing: Summing, workers: Workers
) -> Background:
    """Read the background of documents from a folder, or make it and keep it there."""
    path = folder / f"background-{_key(documents, summing)}.npz"
    try:
        return _from_arrays(documents, read_arrays(path))
    except (CorpusError, KeyError, ValueError):
        background = _make_background(documents, summing, workers)
        write_arrays(path, _to_arrays(background))
        return background


def _make_background(
    documents: Sequence[Documents], summing: Summing, workers: Workers
) -> Background:
    n = sum(len(each.rows) for each in documents)
    ones = np.ones((n, 1))
    total = sum_documents(summing, rows_of(documents, ones, ones[:, :0]), workers, "encoding")
    usual = total.linear[0] / n
    covariates = find_covariates(documents, summing.model.vocabulary_)
    relative = Summing(summing.model, summing.shares, summing.left_out, usual)
    rows = rows_of(documents, covariates.values.astype(np.float64), ones)
    sums = sum_documents(relative, rows, workers, "fitting to kinds")
    return Background(documents, covariates, usual, sums.linear, sums.square[0])


def rows_of(
    documents: Sequence[Documents],
    linear: Weights,
    square: Weights,
    basis: Array | None = None,
    active: NDArray[np.bool_] | None = None,
) -> list[Rows]:
    """Cut weights of all documents, (N, ...), into those of shards; of active documents only."""
    parts, start = [], 0
    for shard, rows, _ in documents:
        here = np.arange(start, start + len(rows))
        start += len(rows)
        if active is not None:
            rows, here = rows[active[here]], here[active[here]]
        if len(here):
            parts.append(
                Rows(
                    shard, rows, linear[here], square[here], None if basis is None else basis[here]
                )
            )
    return parts


def find_chance(
    folder: Path,
    background: Background,
    columns: Sequence[int],
    summing: Summing,
    workers: Workers,
    *,
    calibrated: bool,
) -> Chance:
    """Contrast placeless words as a term would be, once for a design, and keep what they find.

    With less than 20 words nothing is calibrated, and the shares are NaN.
    """
    path = folder / f"chance-{_key(background.documents, summing)}-{len(columns)}.npz"
    with suppress(CorpusError, KeyError):
        arrays = read_arrays(path)
        return Chance(*(arrays[name] for name in Chance._fields))
    words = background.covariates.placeless[:, :N_PLACELESS]
    m, m_both = summing.model.partition_.n_regions, len(background.usual)
    extra, factor = np.zeros_like(background.square), np.ones_like(background.square)
    shares = np.full(2, np.nan)
    if words.shape[1] >= FEWEST_PLACELESS:
        design = background.design(columns)
        effect, variance, n = fit_words(design, background.documents, words, summing, workers)
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


def fit_words(
    design: Design,
    documents: Sequence[Documents],
    words: sparse.csc_matrix,
    summing: Summing,
    workers: Workers,
) -> tuple[Array, Array, Array]:
    """Fit K groups of any documents at once, without leaving out terms.

    Returns effects and variances of shape (K, n_responses), and the sizes n.
    """
    parts, insides = [], []
    for some in slices(words.shape[1], WORDS_AT_ONCE):
        groups = words[:, some].toarray().astype(np.float64)
        parted = partial_out(design.basis, groups, groups > 0)
        insides.append(sparse.csr_matrix(parted.inside))
        parts.append(parted._replace(inside=parted.inside[:0]))  # most are 0
    inside = sparse.csr_matrix(sparse.hstack(insides))
    active = np.diff(inside.indptr) > 0
    linear = sparse.csr_matrix(sparse.hstack([words.astype(np.float32), inside.power(3)]))
    fitted = replace(summing, coefficients=design.coefficients.astype(np.float32))
    rows = rows_of(documents, linear, inside.power(2), design.basis, active)
    sums = sum_documents(fitted, rows, workers, "asking words without a place")
    first, cube = np.split(sums.linear, 2)
    start, fits = 0, []
    for part, own in zip(parts, insides, strict=True):
        here = slice(start, start := start + len(part.s))
        dense = part._replace(inside=own.toarray())
        fits.append(
            fit_groups(dense, (first[here], sums.square[here], cube[here]), design.variance)
        )
    effect, variance = (np.concatenate(each) for each in zip(*fits, strict=True))
    return effect, variance, np.concatenate([part.n for part in parts])


# ---- on disk


def _key(documents: Sequence[Documents], summing: Summing) -> str:
    """Return a short digest of a model, of an atlas and of the shards that are summed."""
    model = summing.model
    about = repr([[each.shard.name for each in documents], version("neurowhere"), LAYOUT])
    arrays = [model.weighting_.idf_, *model.predictor_.to_arrays().values(), summing.shares.data]
    return digest(extractor_key(model.extractor_), about, *arrays)[:KEY_LENGTH]


def _to_arrays(background: Background) -> dict[str, NDArray[Any]]:
    covariates = background.covariates
    return {
        **{name: getattr(background, name) for name in KEPT},
        "values": covariates.values,
        "names": np.frombuffer(json.dumps([covariates.names, covariates.words]).encode(), np.uint8),
        "indices": covariates.placeless.indices,
        "indptr": covariates.placeless.indptr,
    }


def _from_arrays(documents: Sequence[Documents], arrays: dict[str, NDArray[Any]]) -> Background:
    names, words = json.loads(arrays["names"].tobytes())
    shape = (len(arrays["values"]), len(words))
    data = np.ones(len(arrays["indices"]), dtype=bool)
    placeless = sparse.csc_matrix((data, arrays["indices"], arrays["indptr"]), shape=shape)
    covariates = Covariates(arrays["values"], names, placeless, words)
    return Background(documents, covariates, **{name: arrays[name] for name in KEPT})
