"""One trial of a comparison: the learning problem of a partition, a model of it, and its scores.

Features and targets are made once for each partition, and shared by all folds and losses.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.parallel import slices, track
from neurowhere.corpus import Corpus
from neurowhere.evaluate.metrics import total_variation
from neurowhere.exceptions import (
    ConvergenceWarning,
    CorpusError,
    DataWarning,
    FitError,
    VocabularyError,
)
from neurowhere.learn import Choice, Peaks, PeakScorer, shuffle_split
from neurowhere.model.losses import LOSSES, LabelTerms, Loss, MeanMap
from neurowhere.model.training import CHUNK, CountModel, TrainingOptions, no_counts
from neurowhere.space import Atlas, Partition, Targets, VoxelGrid, make_targets
from neurowhere.space.density import place_peaks
from neurowhere.space.images import OUTSIDE
from neurowhere.text import TermExtractor, Vocabulary

Rows = NDArray[np.intp]

UNIFORM, MEAN = "uniform", MeanMap.name
BASELINES = (UNIFORM, MEAN)
TEST_SHARE = 0.1  # share of the studies in a test set


@dataclass(frozen=True)
class Candidate:
    """A partition that takes part in a comparison.

    Attributes
    ----------
    name : str
        Name in tables and figures.
    partition : VoxelGrid or Atlas
    bandwidth : float
        Standard deviation of the kernel density, in voxels; only for grids.
    """

    name: str
    partition: Partition
    bandwidth: float = 1.0

    @property
    def has_labels(self) -> bool:
        """Whether the regions have names that a text could mention."""
        return isinstance(self.partition, Atlas) and self.partition.labels is not None


@dataclass(frozen=True, eq=False)
class Regions:
    """What learning needs to know of a partition: names and volumes, but no voxels."""

    names: tuple[str, ...]
    volumes_mm3: NDArray[np.float64]

    @property
    def n_regions(self) -> int:
        """Number of regions m."""
        return len(self.volumes_mm3)

    @property
    def total_volume_mm3(self) -> float:
        """Volume of all regions together."""
        return float(self.volumes_mm3.sum())


class Labels(NamedTuple):
    """The labels of an atlas as terms, and how often each study mentions them."""

    terms: LabelTerms
    counts: sparse.csr_matrix  # (n_studies, n_terms)


@dataclass(frozen=True, eq=False)
class Material:
    """What the text of a corpus and the brain give to every problem of a comparison."""

    corpus: Corpus  # studies with a peak in the brain
    brain: VoxelGrid  # says which peaks are learned from and scored, and the uniform density
    vocabulary: Vocabulary | None  # terms that occur in the corpus
    counts: sparse.csr_matrix | None  # (n_studies, n_terms): of the longest terms, for every loss
    left_out: int  # studies without a peak in the brain

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Number of the group of each study, which no fold divides."""
        return np.unique(self.corpus.groups.astype(str), return_inverse=True)[1]

    @cached_property
    def xyz_mm(self) -> NDArray[np.float64]:
        """All peaks, (n_peaks, 3)."""
        return self.corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)


@dataclass(frozen=True, eq=False)
class Problem:
    """Features and targets of all studies on one partition."""

    name: str
    regions: Regions
    brain_mm3: float  # V, the volume of the brain
    targets: Targets
    counts: sparse.csr_matrix | None  # (n_studies, n_terms); None where no loss needs terms
    labels: Labels | None  # for losses that need labels
    groups: NDArray[np.intp]  # (n_studies,)

    def __len__(self) -> int:
        return len(self.targets)

    def suits(self, loss: Loss) -> bool:
        """Tell whether a loss has what it needs."""
        return self.labels is not None or not loss.needs_labels

    def counts_for(self, loss: Loss) -> sparse.csr_matrix:
        """Return the counts of all studies that a loss learns from: (n_studies, n_terms)."""
        if not loss.needs_terms:
            return no_counts(len(self))
        counts = self._given_labels.counts if loss.needs_labels else self.counts
        assert counts is not None  # `compare` counts terms where a loss needs them
        return counts

    @property
    def label_selector(self) -> sparse.csr_matrix:
        """A one where a term is the label of a region: (n_terms, n_regions)."""
        return self._given_labels.terms.selector

    @property
    def _given_labels(self) -> Labels:
        assert self.labels is not None  # `suits` was asked before
        return self.labels

    def summary(self) -> dict[str, Any]:
        """Describe the partition in plain values."""
        covered = self.targets.region != OUTSIDE
        density = self.targets.density
        return {
            "regions": self.regions.n_regions,
            "volume_mm3": self.regions.total_volume_mm3,
            "bandwidth": None if density is None else density.bandwidth,
            "share_of_peaks_covered": float(covered.mean()),
            "labels_in_corpus": None
            if self.labels is None
            else int(np.count_nonzero(self.labels.counts.getnnz(axis=0))),
        }


def prepare_material(corpus: Corpus, brain: VoxelGrid, vocabulary: Vocabulary | None) -> Material:
    """Keep the studies with a peak in the brain, and count the terms in their texts, if any."""
    if not len(corpus.peaks):
        raise CorpusError(
            f"expected coordinates to learn from and to score, but there are none ({corpus!r})"
        )
    inside = brain.region_of(corpus.peaks[["x", "y", "z"]]) != OUTSIDE
    kept = np.bincount(corpus.peak_rows[inside], minlength=len(corpus)) > 0
    if not kept.any():
        raise CorpusError("no peak of the corpus lies in the brain; check the space of its peaks")
    left_out = int(np.count_nonzero(~kept))
    if left_out:
        warnings.warn(
            f"{left_out:,} of {len(corpus):,} studies have no peak in the brain and are left out",
            DataWarning,
            stacklevel=3,
        )
    material = Material(corpus.select(kept), brain, None, None, left_out)
    return material if vocabulary is None else _with_counts(material, vocabulary)


def _with_counts(material: Material, vocabulary: Vocabulary) -> Material:
    counts = TermExtractor(vocabulary).counts(material.corpus)
    # A term in no study has a coefficient of zero, and costs as much as any other.
    is_present = counts.getnnz(axis=0) > 0
    if not is_present.any():
        raise VocabularyError(
            f"none of the {len(vocabulary):,} terms of the vocabulary occurs in the "
            f"{len(material.corpus):,} studies; give a vocabulary that fits the corpus"
        )
    terms = vocabulary.subset(compress(vocabulary.terms, is_present))
    return replace(material, vocabulary=terms, counts=sparse.csr_matrix(counts[:, is_present]))


def prepare_problems(
    material: Material, candidates: Sequence[Candidate], *, labels: bool = True
) -> dict[str, Problem]:
    """Make the problem of each partition; count the labels of atlases if a loss needs them."""
    names = [candidate.name for candidate in candidates]
    if repeated := [name for i, name in enumerate(names) if name in names[:i]]:
        raise FitError(f"expected partitions of different names, but two are {repeated[0]!r}")
    return {
        candidate.name: _prepare(material, candidate, labels)
        for candidate in track(candidates, "preparing partitions")
    }


def restricted(partition: Partition, brain: VoxelGrid) -> Partition:
    """Cut an atlas to the brain; a grid stays as it is."""
    return partition.restrict(brain) if isinstance(partition, Atlas) else partition


def _prepare(material: Material, candidate: Candidate, labels: bool) -> Problem:
    partition = restricted(candidate.partition, material.brain)
    regions = Regions(partition.names, partition.volumes_mm3)
    targets = _targets(material, partition, candidate.bandwidth)
    if not (targets.region != OUTSIDE).any():
        raise FitError(
            f"none of the {len(targets.region):,} peaks in the brain lies in a region of "
            f"{candidate.name}; check its image and the space of the peaks"
        )
    return Problem(
        candidate.name,
        regions,
        material.brain.total_volume_mm3,
        targets,
        material.counts,
        _labels(material, candidate.name, regions) if labels and candidate.has_labels else None,
        material.groups,
    )


def _targets(material: Material, partition: Partition, bandwidth: float) -> Targets:
    """Targets on the partition; what is scored are the peaks in the brain, on every partition."""
    xyz_mm, rows = material.xyz_mm, material.corpus.peak_rows
    own_brain = partition if isinstance(partition, VoxelGrid) else material.brain
    targets = make_targets(
        partition, own_brain, xyz_mm, rows, len(material.corpus), bandwidth=bandwidth
    )
    study, region = place_peaks(partition, material.brain, xyz_mm, rows)
    return replace(targets, study=study, region=region)


def _labels(material: Material, name: str, regions: Regions) -> Labels | None:
    labels = None
    with suppress(VocabularyError), warnings.catch_warnings():
        # That many labels are in no text is what the label-constrained model suffers from.
        warnings.simplefilter("ignore", DataWarning)
        terms = LabelTerms.from_labels(regions.names)
        labels = Labels(terms, TermExtractor(terms.vocabulary).counts(material.corpus))
    if labels is None or not labels.counts.nnz:
        warnings.warn(
            f"no label of {name} occurs in the corpus: no label-constrained model for it",
            DataWarning,
            stacklevel=4,
        )
        return None
    return labels


# ---- a model of a fold


class Task(NamedTuple):
    """Which model to fit, on which fold."""

    fold: int
    partition: str
    loss: str


@dataclass(frozen=True)
class Score:
    """A row of the table of scores: means over the test studies of a fold.

    `penalty` and `sharpness` are NaN for models that have none.
    """

    fold: int
    partition: str
    loss: str
    log_likelihood: float
    nats_above_uniform: float
    total_variation: float
    penalty: float
    sharpness: float
    seconds: float
    studies: int
    peaks: int
    warning: str = ""


@dataclass(frozen=True, eq=False)
class FoldModel:
    """A model fitted on some studies of a problem.

    `predict` gives the probability of each region for some studies, a chunk at a time.
    """

    predict: Callable[[Rows], Iterator[NDArray[np.floating]]]
    choice: Choice | None = None  # penalty and sharpness; None for a baseline
    uncovered: float = 0.0  # density over the uniform one, where there is no region


@dataclass(frozen=True)
class Trial:
    """How the models of a comparison are fitted and scored; called with a problem and a task."""

    seed: int = 0  # of the folds and of the fits
    n_jobs: int = 1  # threads of a fit
    losses: Mapping[str, Loss] = field(default_factory=lambda: dict(LOSSES))  # sent to workers

    def __call__(self, problem: Problem, task: Task) -> Score:
        """Fit the model of a task and score it on the test studies of its fold."""
        start = time.perf_counter()
        train, test = self.split(problem, task.fold)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model = self.fit(problem, task.loss, train)
        nats, distances = score_model(model, problem, test)
        said = [str(each.message) for each in caught if each.category is ConvergenceWarning]
        return Score(
            *task,
            log_likelihood=float(nats.mean() - np.log(problem.brain_mm3)),
            nats_above_uniform=float(nats.mean()),
            total_variation=float(distances.mean()),
            penalty=np.nan if model.choice is None else model.choice.penalty,
            sharpness=np.nan if model.choice is None else model.choice.sharpness,
            seconds=round(time.perf_counter() - start, 3),
            studies=len(test),
            peaks=int(np.isin(problem.targets.study, test).sum()),
            warning=" ".join(said),
        )

    def split(self, problem: Problem, fold: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to test on."""
        return shuffle_split(problem.groups, fold, seed=self.seed, share=TEST_SHARE)

    def fit(self, problem: Problem, loss: str, rows: Rows) -> FoldModel:
        """Fit a loss or a baseline on some studies of a problem."""
        if loss == UNIFORM:
            return FoldModel(partial(_predict_uniform, problem), uncovered=1.0)
        chosen = MeanMap() if loss == MEAN else self.losses[loss]
        counts = problem.counts_for(chosen)
        rows = rows[problem.targets.has_mass[rows]]
        model = CountModel.fit(
            chosen,
            counts[rows],
            problem.targets.select(rows),
            problem.groups[rows],
            volumes_mm3=problem.regions.volumes_mm3,
            brain_mm3=problem.brain_mm3,
            labels=problem.label_selector if chosen.needs_labels else None,
            options=TrainingOptions(seed=self.seed, n_jobs=self.n_jobs),
        )
        return FoldModel(lambda some: model.predict(counts[some]), model.result.choice)


def _predict_uniform(problem: Problem, rows: Rows) -> Iterator[NDArray[np.float64]]:
    """Yield the share of the brain's volume in each region, for each study."""
    shares = problem.regions.volumes_mm3 / problem.brain_mm3
    for chunk in slices(len(rows), CHUNK):
        yield np.broadcast_to(shares, (chunk.stop - chunk.start, len(shares)))


def score_model(
    model: FoldModel, problem: Problem, rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nats above uniform, and total-variation distance, of some studies: (n,) each."""
    targets = problem.targets.select(rows)
    peaks = Peaks(targets.study, targets.region, len(rows))
    relative_volume = problem.brain_mm3 / problem.regions.volumes_mm3
    scorer = PeakScorer(peaks, relative_volume, uncovered=model.uncovered)
    distances = []
    start = 0
    for q in model.predict(rows):  # (chunk, n_regions)
        scorer.add(q)
        distances.append(total_variation(targets.rows(slice(start, start + len(q))), q))
        start += len(q)
    return scorer.nats, np.concatenate(distances)
