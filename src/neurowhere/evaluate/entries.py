"""Entries of the open benchmark: what a model has to offer, and every way in.

An entry is any object with a `name` and a method `predict`, which gets a `Corpus` without peaks and
returns one map a study on the grid of the benchmark. It may also have

- `fit(train)`, called for each fold with a `Corpus` of training studies, peaks among them;
- `trained_on`, the ids of the studies that a model without `fit` has seen, () if there are none:
  they are dropped from the test. Without it, tables say "unknown";
- `kinds`, the kinds of text that it predicts from, if not all;
- `masses(studies, share)`, the mass of the region of each study that should hold a share of its
  peaks, if it is calibrated;
- `size_mb`, the size of the model.

A function from texts to maps (`Function`), a command that reads JSON lines (`Command`), a folder of
images or an array (`read_maps`) and a fitted encoder (`Pretrained`) are made into entries here.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices
from neurowhere.corpus import Corpus
from neurowhere.evaluate.protocol import ALL, KINDS, UNKNOWN, Entry, words_of
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
NAMES = {"maps": ALL}  # arrays of a file that are named otherwise than their kind of text
DECLARED = "trained_on"

Seen = Collection[str] | str  # ids, or UNKNOWN


class EncoderEntry:
    """An encoder, fitted anew for each fold with the parameters of the one that is given."""

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
    """A fitted encoder; its training studies are those that it has kept, or that are given."""

    fit = None  # type: ignore[assignment]

    def __init__(
        self, name: str, encoder: Encoder, trained_on: Seen | None = None, *, grid: VoxelGrid
    ) -> None:
        super().__init__(name, encoder)
        if trained_on is None:
            neighbours = encoder.neighbours_
            trained_on = UNKNOWN if neighbours is None else neighbours.ids.tolist()
        self.trained_on, self.grid = trained_on, grid

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the probability of each voxel of the benchmark."""
        return on_grid(super().predict(studies), self.encoder.partition_, self.grid)


def on_grid(
    probabilities: NDArray[np.floating], partition: Partition, grid: VoxelGrid
) -> NDArray[np.floating]:
    """Return the density of a partition at the centre of each voxel, times the voxel's volume.

    Takes (n, n_regions), and returns (n, n_voxels).
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


# ---- ways in for models of others


def row_of(given: Any, grid: VoxelGrid, name: str = "a text") -> NDArray[np.floating]:
    """Return a map as a row of the grid: from a row, an image, or the path of one.

    Images are interpolated linearly at the centres of the voxels, and are 0 beyond their edges.
    """
    is_path = isinstance(given, str | os.PathLike)
    if not (is_path or isinstance(given, tuple) or hasattr(given, "get_fdata")):
        row = np.asarray(given)
        if row.shape != (grid.n_regions,):
            raise CorpusError(
                f"expected maps of {grid.n_regions:,} voxels, the grid of the benchmark; got "
                f"{row.shape} for {name}: give images, or resample them"
            )
        return row
    from scipy.ndimage import map_coordinates

    values, affine = read_volume(Path(given) if is_path else given, f"the map of {name}")
    values = np.squeeze(values)
    if values.ndim != 3:
        raise CorpusError(f"expected one 3-D map of {name}, got shape {values.shape}")
    voxels = transform_points(np.linalg.inv(affine), grid.centers_mm)  # (n_voxels, 3)
    clean = np.nan_to_num(values.astype(np.float64))
    return np.asarray(map_coordinates(clean, voxels.T, order=1, cval=0.0))


class Function:
    """A function from a list of texts to maps: an array (n, n_voxels), images, or their paths.

    Its attribute `trained_on` says which studies its model has seen, and `kinds` what it reads.
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        *,
        grid: VoxelGrid,
        name: str | None = None,
    ) -> None:
        self.function, self.grid = function, grid
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.trained_on: Seen = getattr(function, DECLARED, UNKNOWN)
        self.kinds: Sequence[str] = getattr(function, "kinds", KINDS)

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the maps of the words of studies."""
        texts = words_of(studies)
        maps = self.answers(studies, texts)
        if len(maps) != len(texts):
            raise FitError(f"expected {len(texts):,} maps from {self.name}, got {len(maps):,}")
        if isinstance(maps, np.ndarray):
            return maps
        named = zip(maps, studies.documents["id"].astype(str), strict=True)
        return np.stack([row_of(each, self.grid, name) for each, name in named])

    def answers(self, studies: Corpus, texts: list[str]) -> Any:
        """Return what the function answers."""
        return self.function(texts)


class Command(Function):
    """A command that reads a JSON object a line, and answers with one a line, in any order.

    It is given {"id", "kind", "text"} and answers {"id", "map"}: a list of the values of the grid's
    voxels, or the path of an image.
    """

    def __init__(self, name: str, command: str, *, grid: VoxelGrid, trained_on: Seen = UNKNOWN):
        super().__init__(lambda texts: texts, grid=grid, name=name)
        self.command, self.trained_on = shlex.split(command), trained_on

    def answers(self, studies: Corpus, texts: list[str]) -> Any:
        """Return the maps that the command prints."""
        ids, kind = studies.documents["id"].astype(str).tolist(), studies.origin["kind"]
        asked = [
            json.dumps({"id": name, "kind": kind, "text": text})
            for name, text in zip(ids, texts, strict=True)
        ]
        try:
            done = subprocess.run(
                self.command, input="\n".join(asked) + "\n", capture_output=True, text=True
            )
            if done.returncode:
                raise ValueError((done.stderr.strip().splitlines() or ["no message"])[-1])
            answers = (json.loads(line) for line in done.stdout.splitlines() if line.strip())
            maps = {str(each["id"]): each["map"] for each in answers}
            return [maps[name] for name in ids]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FitError(
                f"expected a JSON line with id and map for each of {len(ids):,} texts from "
                f"{self.name} ({shlex.join(self.command)}): {type(error).__name__} {error}"
            ) from error


class Maps:
    """Maps that were made elsewhere: by kind of text, and then by PubMed id.

    Each is a row of the grid, an image, or the path of one, see `row_of`. Studies without a map are
    dropped from the test.
    """

    def __init__(
        self,
        name: str,
        maps: Mapping[str, Mapping[str, Any]],
        *,
        grid: VoxelGrid,
        trained_on: Seen = UNKNOWN,
    ) -> None:
        self.name, self.maps, self.grid = name, maps, grid
        self.kinds, self.trained_on = tuple(maps), trained_on

    def known(self, kind: str) -> Collection[str]:
        """Return the ids of the studies that have a map for a kind of text."""
        return self.maps[kind].keys()

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the maps of studies."""
        maps = self.maps[studies.origin["kind"]]
        ids = studies.documents["id"].astype(str)
        return np.stack([row_of(maps[name], self.grid, name) for name in ids])


def read_maps(
    path: str | os.PathLike[str],
    grid: VoxelGrid,
    name: str | None = None,
    trained_on: Seen | None = None,
) -> Maps:
    """Read maps: a folder of images named by PubMed id, or an array file.

    The folder has ``PMID.nii.gz`` or ``PMID.nii``, for kinds of text other than all in folders
    within it, such as ``title``. An ``.npz`` file has the array ``ids`` and one named by each kind
    of text (or ``maps``, for all), of shape (n, n_voxels), or (n, i, j, k) with ``affine``; an
    ``.npy`` file has such rows, with the ids in a text file beside it. The ids of the studies that
    the model has seen are given, or in ``trained_on.txt``, or in the array ``trained_on``.
    """
    source = Path(path)
    if not source.exists():
        raise CorpusError(f"expected maps, but there is no file or folder {source}")
    maps, seen = (_read_images if source.is_dir() else _read_arrays)(source, grid)
    declared = seen if trained_on is None else trained_on
    name = name or source.name.removesuffix(".npz").removesuffix(".npy")
    return Maps(name, maps, grid=grid, trained_on=declared)


def _read_images(folder: Path, grid: VoxelGrid) -> tuple[dict[str, Any], Seen]:
    found = {
        kind: {
            file.name.removesuffix(suffix): file
            for suffix in SUFFIXES
            for file in sorted((folder / ("" if kind == ALL else kind)).glob(f"*{suffix}"))
        }
        for kind in KINDS
    }
    maps = {kind: images for kind, images in found.items() if images}
    if not maps:
        raise CorpusError(f"expected images named by PubMed id in {folder}, but there are none")
    declared = folder / f"{DECLARED}.txt"
    return maps, declared.read_text("utf-8").split() if declared.exists() else UNKNOWN


def _read_arrays(file: Path, grid: VoxelGrid) -> tuple[dict[str, Any], Seen]:
    arrays = _load_arrays(file)
    ids, affine = arrays["ids"].astype(str).tolist(), arrays.get("affine")
    if len(set(ids)) < len(ids):
        repeated = max(ids, key=ids.count)
        raise CorpusError(f"expected one map for each id in {file}; {repeated} has several")
    given = {kind: arrays[kind] for kind in KINDS if kind in arrays} or {ALL: np.empty(0)}
    declared = arrays.get(DECLARED)
    seen = UNKNOWN if declared is None else declared.astype(str).tolist()
    return {kind: _by_id(file, ids, rows, affine, grid) for kind, rows in given.items()}, seen


def _by_id(
    file: Path, ids: list[str], rows: NDArray[Any], affine: NDArray[Any] | None, grid: VoxelGrid
) -> dict[str, Any]:
    is_right = rows.shape[1:] == (grid.n_regions,) if affine is None else rows.ndim == 4
    if len(rows) != len(ids) or not is_right:
        raise CorpusError(
            f"expected one map of {grid.n_regions:,} voxels, the benchmark's grid, for each of "
            f"{len(ids):,} ids in {file}; got shape {rows.shape}: resample them, or give 3-D maps "
            "and the array affine"
        )
    return dict(zip(ids, rows if affine is None else [(row, affine) for row in rows], strict=True))


def _load_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, ids among them, by kind of text."""
    try:
        with file.open("rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                ids = file.with_suffix(".txt").read_text("utf-8").split()
                return {"ids": np.array(ids), ALL: loaded}
            return {NAMES.get(key, key): loaded[key] for key in ("ids", *loaded.files)}
    except (OSError, ValueError, KeyError, EOFError, TypeError, BadZipFile) as error:
        raise CorpusError(
            "expected a folder of images, an .npz file with arrays ids and maps, or an .npy file "
            f"with its ids in a .txt file beside it, not of Python objects; got {file}"
        ) from error


# ---- shipped entries


def full_vocabulary() -> Vocabulary:
    """Return the known terms of the shipped model, without words chosen by looking at studies."""
    known = load_model().vocabulary_
    return known.subset(term for term in known.terms if known.categories.get(term) != "extra")


class Shipped(NamedTuple):
    """An entry that comes with the package: what it is, and the parameters of its encoder."""

    description: str
    parameters: dict[str, Any] | None = None  # None for the nearest studies
    is_full: bool = False  # of the full vocabulary

    def make(self, name: str, grid: VoxelGrid) -> Entry:
        """Make the entry."""
        if self.parameters is None:
            return NearestStudies(full_vocabulary(), grid)
        more = dict(self.parameters)
        if self.is_full:
            more |= {"vocabulary": full_vocabulary(), "min_studies": MIN_STUDIES}
        return EncoderEntry(name, Encoder(grid, **more))


ENTRIES = {
    "mean": Shipped("mean map of the training studies", {"text": "none"}),
    "l2": Shipped("ridge, names of the brain's parts", {"loss": "l2"}),
    "l1": Shipped("total variation, names of the brain's parts", {"loss": "l1"}),
    "l2-full": Shipped("ridge, full vocabulary", {"loss": "l2"}, True),
    "l1-full": Shipped("total variation, full vocabulary", {"loss": "l1"}, True),
    "nearest": Shipped("mean of the studies with the most similar terms"),
    "loglinear": Shipped(
        "log-linear model of neurowhere, full vocabulary", {"loss": "likelihood"}, True
    ),
}


def as_entry(given: Any, grid: VoxelGrid) -> Entry:
    """Make an entry of the name of a shipped one, of an object or its class, or of a function."""
    if isinstance(given, str):
        if given not in ENTRIES:
            raise FitError(f"expected entries among {', '.join(ENTRIES)}; got {given!r}")
        return ENTRIES[given].make(given, grid)
    try:
        made = given() if isinstance(given, type) else given
    except TypeError as error:
        raise FitError(
            f"expected an object, or a class that needs no arguments; got {given!r} ({error})"
        ) from error
    if isinstance(made, Entry):
        return made
    if callable(made):
        return Function(made, grid=grid)
    raise FitError(
        f"expected a function, or an entry with a name and a method predict; got "
        f"{type(made).__name__}"
    )
