"""Nearest studies: the mean density of the training studies whose terms are closest to a text.

With x the tf-idf of a text, x_i those of training studies and ŷ_i their densities,

    q = (1 − w) Σ_i s_i ŷ_i / Σ_i s_i + w ȳ,    s_i = xᵀx_i for the k most similar, else 0

where ȳ is the mean map. The number k is chosen on a tenth of the training studies.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.learn import Peaks, score_studies, shuffle_split
from neurowhere.model.studies import targets_of
from neurowhere.space import Targets, VoxelGrid
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

NUMBERS = (10, 30, 100, 300)
MEAN_SHARE = 0.2  # w
CHUNK = 256


class NearestStudies:
    """Predicts the mean density of the studies with the most similar terms.

    Parameters
    ----------
    vocabulary : Vocabulary
    grid : VoxelGrid
    """

    def __init__(self, vocabulary: Vocabulary, grid: VoxelGrid) -> None:
        self.extractor = TermExtractor(vocabulary, nested=True)
        self.grid = grid

    def fit(self, train: Corpus) -> "NearestStudies":
        """Keep the training studies, and choose how many are averaged."""
        targets = targets_of(train, self.grid, self.grid, bandwidth=1.0, n_jobs=1)
        rows = np.flatnonzero(targets.has_mass)
        counts, targets = self.extractor.counts(train)[rows], targets.select(rows)
        self.weighting_ = TfIdf().fit(counts)
        features = self.weighting_.transform(counts)
        part, held = shuffle_split(train.groups[rows].astype(str))
        self._keep(features[part], targets.select(part))
        scores = [self._validate(features[held], targets.select(held), n) for n in NUMBERS]
        self._keep(features, targets)
        self.n_near_ = NUMBERS[int(np.argmax(scores))]
        return self

    def _keep(self, features: sparse.csr_matrix, targets: Targets) -> None:
        self.features_, self.targets_ = features, targets
        mean = targets.smooth(sparse.csr_matrix(targets.shares.mean(axis=0)))[0]  # type: ignore[misc]
        self.mean_map_: NDArray[np.float32] = mean / mean.sum()

    def _validate(self, features: sparse.csr_matrix, held: Targets, n_near: int) -> float:
        """Return the mean nats above uniform of held-out studies."""
        peaks = Peaks(held.study, held.region, len(held))
        relative = np.full(self.grid.n_regions, float(self.grid.n_regions))
        return float(np.nanmean(score_studies(self._iter(features, n_near), peaks, relative)))

    def _iter(self, features: sparse.csr_matrix, n_near: int) -> Iterator[NDArray[np.float32]]:
        for rows in slices(features.shape[0], CHUNK):
            weights = _nearest(features[rows] @ self.features_.T, n_near)
            bins = sparse.csr_matrix(weights @ self.targets_.shares)
            near = self.targets_.smooth(bins)  # type: ignore[misc]
            share = np.where(weights.sum(axis=1).A1 > 0, MEAN_SHARE, 1.0)[:, None]
            yield (near * (1 - share) + self.mean_map_ * share).astype(np.float32)

    def predict(self, studies: Corpus) -> NDArray[np.float32]:
        """Return the density of each study: (n, n_voxels); the mean map without a known term."""
        features = self.weighting_.transform(self.extractor.counts(studies))
        return np.concatenate(list(self._iter(features, self.n_near_)))


def _nearest(similarities: sparse.csr_matrix, n_near: int) -> sparse.csr_matrix:
    """Keep the highest similarities of each row, rescaled to sum to 1."""
    dense = similarities.toarray()
    n_near = min(n_near, dense.shape[1])
    best = np.argpartition(-dense, n_near - 1, axis=1)[:, :n_near]
    values = np.take_along_axis(dense, best, axis=1)
    totals = values.sum(axis=1, keepdims=True)
    values = values / np.where(totals > 0, totals, 1)
    rows = np.repeat(np.arange(len(dense)), n_near)
    kept = sparse.csr_matrix((values.ravel(), (rows, best.ravel())), shape=dense.shape)
    kept.eliminate_zeros()
    return kept
