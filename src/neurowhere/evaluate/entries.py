"""Entries of the open benchmark: what a model has to offer, those that are shipped, and maps.

An entry is any object with a `name` and a method `predict`, which gets a `Corpus` without peaks and
returns one map a study on the grid of the benchmark. It may also have

- `fit(train)`, called for each fold with a `Corpus` of training studies, peaks among them;
- `trained_on`, ids of studies that a pretrained model has seen: they are dropped from the test.
  A model without `fit` has to say so, with () if it has seen none;
- `kinds`, the kinds of text that it predicts from, if not all;
- `masses(studies, share)`, the mass of the region of each study that should hold a share of its
  peaks, if it is calibrated;
- `size_mb`, the size of the model.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.protocol import ALL, Entry
from neurowhere.exceptions import CorpusError, FitError
from neurowhere.learn import Peaks, score_studies, shuffle_split
from neurowhere.model import Encoder, load_model
from neurowhere.model.estimator import targets_of
from neurowhere.space import Partition, Targets, VoxelGrid
from neurowhere.space.images import read_volume, transform_points
from neurowhere.text import TermExtractor, TfIdf, Vocabulary

MIN_STUDIES = 10  # studies that a term of the full vocabulary needs

NUMBERS = (10, 30, 100, 300)
MEAN_SHARE = 0.2  # w
CHUNK = 256

SUFFIXES = (".nii.gz", ".nii")


class EncoderEntry:
    """An encoder, fitted anew for each fold.

    Parameters
    ----------
    name : str
    encoder : Encoder
        Not fitted; its parameters are used.
    """

    def __init__(self, name: str, encoder: Encoder) -> None:
        self.name, self.encoder = name, encoder

    def fit(self, train: Corpus) -> None:
        """Fit an encoder with these parameters."""
        self.encoder = Encoder(**self.encoder.get_params()).fit(train)

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the probability of each voxel; texts are read as `Encoder.encode` reads them."""
        texts = studies.texts
        return self.encoder.predict(studies if texts is None else texts)

    def masses(self, studies: Corpus, share: float) -> NDArray[np.float64]:
        """Return the mass that should hold a share of the peaks of each study."""
        features = self.encoder.transform(studies)
        masses = [self.encoder.mass_for(row, share) for row in features]
        return np.array(masses, dtype=np.float64)

    @property
    def size_mb(self) -> float:
        """Size of the arrays of the model."""
        arrays = self.encoder.predictor_.to_arrays().values()
        return sum(array.nbytes for array in arrays) / 1e6


class Pretrained(EncoderEntry):
    """A fitted encoder, scored on studies that it has not seen.

    Parameters
    ----------
    name : str
    encoder : Encoder
    trained_on : collection of str, optional
        Ids of its training studies; by default those that the model has kept.
    grid : VoxelGrid
        Of the benchmark.
    """

    fit = None  # type: ignore[assignment]

    def __init__(
        self,
        name: str,
        encoder: Encoder,
        trained_on: Collection[str] | None = None,
        *,
        grid: VoxelGrid,
    ) -> None:
        super().__init__(name, encoder)
        if trained_on is None:
            if encoder.neighbours_ is None:
                raise FitError(
                    f"expected the ids of the studies that {name} was trained on, but the model "
                    "has not kept them; give them with trained_on"
                )
            trained_on = encoder.neighbours_.ids.tolist()
        self.trained_on, self.grid = frozenset(map(str, trained_on)), grid

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the probability of each voxel of the benchmark."""
        return on_grid(super().predict(studies), self.encoder.partition_, self.grid)


def on_grid(
    probabilities: NDArray[np.floating], partition: Partition, grid: VoxelGrid
) -> NDArray[np.floating]:
    """Return the density of a partition at the centre of each voxel, times the voxel's volume.

    Parameters
    ----------
    probabilities : array of shape (n, n_regions)
    partition : VoxelGrid or Atlas
    grid : VoxelGrid

    Returns
    -------
    array of shape (n, n_voxels)
    """
    if partition == grid:
        return probabilities
    region = partition.region_of(grid.centers_mm)
    factor = np.where(region >= 0, grid.voxel_volume_mm3 / partition.volumes_mm3[region], 0.0)
    moved: NDArray[np.floating] = probabilities[:, region] * factor.astype(np.float32)
    return moved


class NearestStudies:
    """Predicts the mean density of the training studies whose terms are closest to a text.

    With x the tf-idf of a text, x_i those of training studies and ŷ_i their densities,

        q = (1 − w) Σ_i s_i ŷ_i / Σ_i s_i + w ȳ,    s_i = xᵀx_i for the k most similar, else 0

    where ȳ is the mean map. The number k is chosen on a tenth of the training studies.

    Parameters
    ----------
    vocabulary : Vocabulary
    grid : VoxelGrid
    """

    name = "nearest"

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


class Maps:
    """Maps that were made elsewhere, one for each study.

    Parameters
    ----------
    name : str
    maps : mapping of str to array of shape (n_voxels,), or to a path of an image
        By PubMed id.
    grid : VoxelGrid
        Of the benchmark; images are interpolated at the centres of its voxels.
    trained_on : collection of str
        Ids of studies whose maps come from a model that was trained on them.
    """

    kinds = (ALL,)

    def __init__(
        self,
        name: str,
        maps: Mapping[str, Any],
        *,
        grid: VoxelGrid,
        trained_on: Collection[str] = (),
    ) -> None:
        self.name, self.maps, self.grid = name, maps, grid
        self.trained_on = frozenset(map(str, trained_on))

    @property
    def known(self) -> Collection[str]:
        """Ids of the studies that have a map; others are dropped from the test."""
        return self.maps.keys()

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the maps of studies."""
        return np.stack([self._map(name) for name in studies.documents["id"].astype(str)])

    def _map(self, name: str) -> NDArray[np.floating]:
        found = self.maps[name]
        if isinstance(found, str | os.PathLike):
            return sample_image(Path(found), self.grid)
        found = np.asarray(found)
        if found.shape != (self.grid.n_regions,):
            raise CorpusError(
                f"expected maps of {self.grid.n_regions:,} voxels, the grid of the benchmark; got "
                f"{found.shape} for {name}: give images, or resample them"
            )
        return found


def sample_image(path: Path, grid: VoxelGrid) -> NDArray[np.float64]:
    """Interpolate an image linearly at the centres of the voxels of a grid; 0 beyond its edges.

    Parameters
    ----------
    path : Path
    grid : VoxelGrid

    Returns
    -------
    array of shape (n_voxels,)
    """
    from scipy.ndimage import map_coordinates

    values, affine = read_volume(path, "the map")
    values = np.squeeze(values)
    if values.ndim != 3:
        raise CorpusError(f"expected one 3-D map in {path}, got shape {values.shape}")
    voxels = transform_points(np.linalg.inv(affine), grid.centers_mm)  # (n_voxels, 3)
    clean = np.nan_to_num(values.astype(np.float64))
    return np.asarray(map_coordinates(clean, voxels.T, order=1, cval=0.0))


def read_maps(path: str | os.PathLike[str], grid: VoxelGrid, name: str | None = None) -> Maps:
    """Read maps: a folder of images named by PubMed id, or an array file.

    Parameters
    ----------
    path : path
        A folder of ``PMID.nii.gz`` or ``PMID.nii``; or an ``.npz`` file with the arrays ``ids`` and
        ``maps``, of shape (n, n_voxels), and perhaps ``trained_on``. A text file
        ``trained_on.txt`` in the folder has ids, one a line.
    grid : VoxelGrid
    name : str, optional
        By default that of the file or folder.

    Returns
    -------
    Maps
    """
    source = Path(path)
    name = name or source.name.removesuffix(".npz")
    if not source.exists():
        raise CorpusError(f"expected maps, but there is no file or folder {source}")
    if source.is_dir():
        images = {
            file.name.removesuffix(suffix): file
            for suffix in SUFFIXES
            for file in sorted(source.glob(f"*{suffix}"))
        }
        if not images:
            raise CorpusError(f"expected images named by PubMed id in {source}, but there are none")
        declared = source / "trained_on.txt"
        seen = declared.read_text("utf-8").split() if declared.exists() else []
        return Maps(name, images, grid=grid, trained_on=seen)
    try:
        with source.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            ids, maps = arrays["ids"].astype(str).tolist(), arrays["maps"]
            seen = arrays["trained_on"].astype(str).tolist() if "trained_on" in arrays else []
    except (OSError, ValueError, KeyError, EOFError, TypeError, BadZipFile) as error:
        raise CorpusError(
            "expected a folder of images, or an .npz file with arrays ids and maps, not of Python "
            f"objects; got {source}"
        ) from error
    if maps.shape != (len(ids), grid.n_regions):
        raise CorpusError(
            f"expected one map of {grid.n_regions:,} voxels, the benchmark's grid, for each of "
            f"{len(ids):,} ids in {source}; got shape {maps.shape}: resample them, or give images"
        )
    if repeated := [name for name, n in Counter(ids).items() if n > 1]:
        raise CorpusError(f"expected one map for each id in {source}; {repeated[0]} has several")
    return Maps(name, dict(zip(ids, maps, strict=True)), grid=grid, trained_on=seen)


# ---- shipped entries


class Shipped(NamedTuple):
    """An entry that comes with the package."""

    description: str
    make: Callable[[VoxelGrid], Entry]


def full_vocabulary() -> Vocabulary:
    """Return the known terms of the shipped model, without words chosen by looking at studies.

    Returns
    -------
    Vocabulary
    """
    known = load_model().vocabulary_
    return known.subset(term for term in known.terms if known.categories.get(term) != "extra")


def _encoder(name: str, *, full: bool = False, **parameters: Any) -> Callable[[VoxelGrid], Entry]:
    def make(grid: VoxelGrid) -> Entry:
        if full:
            encoder = Encoder(
                grid, vocabulary=full_vocabulary(), min_studies=MIN_STUDIES, **parameters
            )
            return EncoderEntry(name, encoder)
        return EncoderEntry(name, Encoder(grid, **parameters))

    return make


ENTRIES = {
    "mean": Shipped("mean map of the training studies", _encoder("mean", text="none")),
    "l2": Shipped("ridge, names of the brain's parts", _encoder("l2", loss="l2")),
    "l1": Shipped("total variation, names of the brain's parts", _encoder("l1", loss="l1")),
    "l2-full": Shipped("ridge, full vocabulary", _encoder("l2-full", full=True, loss="l2")),
    "l1-full": Shipped("total variation, full vocabulary", _encoder("l1-full", full=True)),
    "nearest": Shipped(
        "mean of the studies with the most similar terms",
        lambda grid: NearestStudies(full_vocabulary(), grid),
    ),
    "loglinear": Shipped(
        "log-linear model of neurowhere, full vocabulary",
        _encoder("loglinear", full=True, loss="likelihood"),
    ),
}


def find_entries(names: Collection[str], grid: VoxelGrid) -> list[Entry]:
    """Make shipped entries by their names.

    Parameters
    ----------
    names : collection of str
        Names of `ENTRIES`.
    grid : VoxelGrid

    Returns
    -------
    list of Entry
    """
    for name in names:
        if name not in ENTRIES:
            raise FitError(f"expected entries among {', '.join(ENTRIES)}; got {name!r}")
    return [ENTRIES[name].make(grid) for name in names]
