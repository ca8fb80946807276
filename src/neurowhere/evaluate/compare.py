"""The paper's study on any corpus: partitions and losses compared by cross-validation."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere._tools.parallel import Workers, hired, track
from neurowhere._tools.replacement import sole_writer
from neurowhere.corpus import Corpus
from neurowhere.evaluate.ledger import Ledger, describe_material, describe_problem
from neurowhere.evaluate.problem import (
    Candidate,
    Material,
    Problem,
    prepare_material,
    prepare_problems,
    restricted,
)
from neurowhere.evaluate.summary import summarise
from neurowhere.evaluate.trial import (
    BASELINES,
    MEAN,
    TEST_SHARE,
    Examples,
    ExampleTrial,
    Score,
    Task,
    Trial,
    paper_rows,
)
from neurowhere.exceptions import ConvergenceWarning, FitError
from neurowhere.model.losses import LOSSES
from neurowhere.space import Partition, VoxelGrid
from neurowhere.text import Vocabulary
from neurowhere.text.building.anatomy import builtin_anatomy

FOLDS = 100
MIN_STUDIES = 20  # two to test on, and two of the rest to choose λ on
# A fit of more regions has enough blocks to keep all cores busy by itself.
WIDE = 2000


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of a comparison.

    Attributes
    ----------
    ledger : Ledger
        The folder, and what was compared.
    scores : DataFrame
        One row per fold, partition and loss.
    summary : DataFrame
        One row per partition and loss, see `summarise`.
    examples : Examples
    documents : DataFrame
        The studies, to which `examples.row` refers.
    partition : VoxelGrid or Atlas
        That of the examples.
    brain_volume_mm3 : float
        V; the log-likelihood of the uniform density is −log V.
    """

    ledger: Ledger
    scores: pd.DataFrame
    summary: pd.DataFrame
    examples: Examples
    documents: pd.DataFrame
    partition: Partition
    brain_volume_mm3: float

    @property
    def folder(self) -> Path:
        """Folder that holds the results."""
        return self.ledger.folder

    def save(
        self, folder: str | os.PathLike[str] | None = None, *, overwrite: bool = False
    ) -> None:
        """Write the report: summary.csv, summary.md, figures and report.html.

        Parameters
        ----------
        folder : path, optional
            A new folder, written whole or not at all, with scores.csv too. By default the folder
            of the comparison, beside its scores: there, each file is whole or is the one before.
        overwrite : bool
            Whether to replace a folder that exists.
        """
        from neurowhere.report.comparison import write_comparison

        write_comparison(self, folder, overwrite=overwrite)

    def __repr__(self) -> str:
        best = self.summary.iloc[int(self.summary["nats_above_uniform"].argmax())]
        return (
            f"Comparison: {len(self.summary)} models, up to {self.summary['folds'].max()} folds; "
            f"best {best['loss']} on {best['partition']}, "
            f"{best['nats_above_uniform']:.3f} nats above uniform"
        )

    def _repr_html_(self) -> str:
        return self.summary.to_html(index=False, float_format="{:.3f}".format)


def compare(
    corpus: Corpus,
    folder: str | os.PathLike[str],
    candidates: Sequence[Candidate],
    *,
    vocabulary: Vocabulary | None = None,
    losses: Sequence[str] = ("l1", "l2", "labels"),
    folds: int = FOLDS,
    brain: VoxelGrid | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    cluster: str | None = None,
) -> Comparison:
    """Compare partitions and losses on random training and test sets of a corpus.

    Parameters
    ----------
    corpus : Corpus
    folder : path
        Folder to write. Finished trials are kept: the same call resumes where it stopped, and
        more folds, partitions and losses may be added to a comparison of the same corpus.
    candidates : sequence of Candidate
        The partitions; each has to cover some of the peaks.
    vocabulary : Vocabulary, optional
        Terms to learn from; by default the names of the brain's parts that the package knows.
    losses : sequence of str
        Names of `neurowhere.model.losses.LOSSES`. Label-constrained ones are for atlases with
        labels. The mean map and the uniform density are always compared too.
    folds : int
        Number of random test sets, of a tenth of the studies each.
    brain : VoxelGrid, optional
        Says which peaks are learned from and scored, on every partition; by default of 4 mm.
    seed : int
        Seed of the folds.
    n_jobs : int
        Cores to use, −1 for all.
    cluster : str, optional
        Address of a Dask scheduler, to use its workers instead.

    Returns
    -------
    Comparison
    """
    _check(losses, folds, candidates)
    with _runner(Trial(seed=seed), n_jobs, cluster) as runner:
        needs_labels = [LOSSES[loss].needs_labels for loss in losses]
        if vocabulary is None and not all(needs_labels):
            vocabulary = builtin_anatomy()
        material = prepare_material(corpus, brain or VoxelGrid(), vocabulary)
        _check_size(material, folds)
        problems = prepare_problems(material, candidates, labels=any(needs_labels))
        finest = max(candidates, key=lambda each: problems[each.name].regions.n_regions)
        with sole_writer(Path(folder)):
            ledger = _open_ledger(folder, seed, material, problems)
            _run(runner, problems, _tasks(problems, losses, folds), ledger)
            examples = _examples(runner, problems[finest.name], losses, material, ledger)
            ledger.tidy()
            scores = ledger.read()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said before, when the partitions were prepared
        partition = restricted(finest.partition, material.brain)
    return Comparison(
        ledger,
        scores,
        summarise(scores, TEST_SHARE),
        examples,
        material.corpus.documents,
        partition,
        material.brain.total_volume_mm3,
    )


def _check(losses: Sequence[str], folds: int, candidates: Sequence[Candidate]) -> None:
    if not losses or any(loss not in LOSSES for loss in losses):
        raise FitError(f"expected losses among {', '.join(LOSSES)}; got {', '.join(losses)!r}")
    if folds < 1:
        raise FitError(f"expected at least one fold; got {folds}")
    if not candidates:
        raise FitError("expected at least one partition to compare; got none")


def _check_size(material: Material, folds: int) -> None:
    n_studies, needed = len(np.unique(material.groups)), max(folds, MIN_STUDIES)
    if n_studies < needed:
        raise FitError(
            f"expected at least {needed} studies with peaks in the brain for {folds} folds; "
            f"got {n_studies}: give more studies, or ask for fewer folds"
        )


def _open_ledger(
    folder: str | os.PathLike[str], seed: int, material: Material, problems: dict[str, Problem]
) -> Ledger:
    settings = {"seed": seed, "test_share": TEST_SHARE, **describe_material(material)}
    described = {name: describe_problem(problem) for name, problem in problems.items()}
    return Ledger(folder, settings, described)


def _tasks(problems: dict[str, Problem], losses: Sequence[str], folds: int) -> list[Task]:
    """All trials, fold after fold, so that an early end leaves whole folds."""
    return [
        Task(fold, name, loss)
        for fold in range(folds)
        for name, problem in problems.items()
        for loss in (*BASELINES, *losses)
        if loss in BASELINES or problem.suits(LOSSES[loss])
    ]


@dataclass(frozen=True)
class _Runner:
    """Runs trials on the cores of this machine, or on a cluster."""

    trial: Trial
    workers: Workers

    def scores(self, calls: list[tuple[Problem, Task]]) -> Iterator[Score]:
        """Yield the scores of trials as they finish."""
        if self.workers.client is not None:
            yield from self.workers.run(self.trial, calls)
            return
        narrow = [call for call in calls if call[0].regions.n_regions <= WIDE]
        wide = [call for call in calls if call[0].regions.n_regions > WIDE]
        yield from self.workers.run(self.trial, narrow)
        yield from self.workers.run(self._threaded, wide, at_once=1)

    def examples(self, problem: Problem, loss: str, rows: list[int]) -> Examples:
        """Make the examples of one model."""
        trial = self.trial if self.workers.client is not None else self._threaded
        return next(self.workers.run(ExampleTrial(trial), [(problem, (loss, rows))], at_once=1))

    @property
    def _threaded(self) -> Trial:
        return replace(self.trial, n_jobs=self.workers.n_jobs)


@contextmanager
def _runner(trial: Trial, n_jobs: int, cluster: str | None) -> Iterator[_Runner]:
    with hired(n_jobs, cluster) as workers:
        yield _Runner(trial, workers)


def _run(runner: _Runner, problems: dict[str, Problem], tasks: list[Task], ledger: Ledger) -> None:
    """Run the trials that are not finished, and keep their scores as they come."""
    finished = ledger.finished()
    calls = [(problems[task.partition], task) for task in tasks if task not in finished]
    complaints = []
    for score in track(runner.scores(calls), "comparing", len(calls)):
        ledger.add(score)
        if score.warning:
            complaints.append(score.warning)
    if complaints:
        warnings.warn(
            f"{len(complaints):,} of {len(calls):,} fits: {complaints[0]}",
            ConvergenceWarning,
            stacklevel=3,
        )


def _examples(
    runner: _Runner, problem: Problem, losses: Sequence[str], material: Material, ledger: Ledger
) -> Examples:
    """Find the examples of a partition in the folder, or make them and keep them there."""
    loss = next((loss for loss in losses if problem.suits(LOSSES[loss])), MEAN)
    found = Examples.load(ledger.folder, problem.name, loss)
    if found is None:
        found = runner.examples(problem, loss, paper_rows(material.corpus))
        found.save(ledger.folder)
    return found
