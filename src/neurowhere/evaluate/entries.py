"""Entries of the open benchmark: what a model has to offer, and those that are shipped.

An entry is any object with a `name` and a method `predict`, which gets a `Corpus` without peaks and
returns one map a study on the grid of the benchmark. It may also have

- `fit(train)`, called for each fold with a `Corpus` of training studies, peaks among them;
- `trained_on`, ids of studies that a pretrained model has seen: they are dropped from the test;
- `kinds`, the kinds of text that it predicts from, if not all;
- `masses(studies, share)`, the mass of the region of each study that should hold a share of its
  peaks, if it is calibrated;
- `size_mb`, the size of the model.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from neurowhere.corpus import Corpus
from neurowhere.evaluate.nearest import NearestStudies
from neurowhere.exceptions import FitError
from neurowhere.model import Encoder, load_model
from neurowhere.space import Partition, VoxelGrid
from neurowhere.text import Vocabulary

MIN_STUDIES = 10  # of a term of the full vocabulary


@runtime_checkable
class Entry(Protocol):
    """What every entry has."""

    name: str

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return one map a study: (n_studies, n_voxels)."""
        ...


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
        masses = [self.encoder._mass_for(row, share) for row in features]
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


class Nearest(NearestStudies):
    """The mean of the nearest studies as an entry."""

    name = "nearest"


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
        lambda grid: Nearest(full_vocabulary(), grid),
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
