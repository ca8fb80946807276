"""The paper's study on any corpus: partitions and losses compared by cross-validation."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import replaced
from neurowhere._tools.parallel import Workers, hired, track
from neurowhere._tools.replacement import sole_writer
from neurowhere.corpus import Corpus
from neurowhere.evaluate.scores import Ledger, describe_material, describe_problem, summarise
from neurowhere.evaluate.trial import (
    BASELINES,
    MEAN,
    TEST_SHARE,
    Candidate,
    Material,
    Problem,
    Score,
    Task,
    Trial,
    prepare_material,
    prepare_problems,
    restricted,
    score_model,
)
from neurowhere.exceptions import ConvergenceWarning, FitError
from neurowhere.model.losses import LOSSES
from neurowhere.model.methods import MethodsText, cite
from neurowhere.space import Partition, VoxelGrid
from neurowhere.text import Vocabulary
from neurowhere.text.building.anatomy import builtin_anatomy

FOLDS = 100
MIN_STUDIES = 20  # two to test on, and two of the rest to choose λ on
# A fit of more regions has enough blocks to keep all cores busy by itself.
WIDE = 2000

EXAMPLES_NAME = "examples.npz"
# The studies that the paper shows: the best, the first quartile and the median of its own test.
PAPER_PMIDS = ("20965262", "22832732", "20619347")
# Of the test studies in order of their scores: how many in a hundred are better.
RANKS = {"best": 0.0, "first quartile": 0.25, "median": 0.5}


@dataclass(frozen=True, eq=False)
class Examples:
    """Studies that took no part in learning, what they report and what was predicted."""

    partition: str  # of the model that predicted
    loss: str
    why: tuple[str, ...]  # each study is shown
    row: NDArray[np.intp]  # (n,): of each study in the corpus
    nats: NDArray[np.float64]  # (n,): above uniform
    truth: NDArray[np.float32]  # (n, n_regions): probability of each region
    prediction: NDArray[np.float32]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the examples into the folder of a comparison."""
        with replaced(Path(folder) / EXAMPLES_NAME) as stream:
            np.savez_compressed(
                stream,
                model=np.array([self.partition, self.loss]),
                why=np.array(self.why),
                row=self.row,
                nats=self.nats,
                truth=self.truth,
                prediction=self.prediction,
            )

    @classmethod
    def load(cls, folder: str | os.PathLike[str], partition: str, loss: str) -> "Examples | None":
        """Read the examples of a model; None where there are none, or those of another."""
        try:
            with np.load(Path(folder) / EXAMPLES_NAME, allow_pickle=False) as arrays:
                if arrays["model"].tolist() != [partition, loss]:
                    return None
                why = tuple(arrays["why"].tolist())
                rest = [arrays[name] for name in ("row", "nats", "truth", "prediction")]
        except (OSError, BadZipFile, EOFError, KeyError, ValueError):
            return None
        return cls(partition, loss, why, *rest)


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
        Partition of the examples.
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

    def methods(self) -> MethodsText:
        """Write how the models were compared: a paragraph and its references, for a paper.

        Returns
        -------
        MethodsText
        """
        about, names = self.ledger.settings, ", ".join(self.ledger.partitions)
        losses = [loss for loss in self.scores["loss"].unique() if loss not in BASELINES]
        return cite(
            f"Models that predict where studies report peaks were compared with neurowhere "
            f"{version('neurowhere')} (The neurowhere developers), as in Dockès et al. (2018): "
            f"partitions ({names}) and losses ({', '.join(losses)}), beside the mean map and the "
            f"uniform density. They were learned from {about['studies']:,} studies with "
            f"{about['peaks']:,} peaks and {about['terms']:,} terms, and scored by the mean "
            f"log-likelihood of the peaks of a random tenth of the studies, which was left out, in "
            f"up to {self.summary['folds'].max()} folds (seed {about['seed']}); λ and sharpness "
            "were chosen on studies of the training set. Intervals of paired differences are "
            "corrected for overlapping training sets (Nadeau and Bengio, 2003).",
            date.today().isoformat(),
        )

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


@dataclass(frozen=True)
class ExampleTrial:
    """Makes the examples of a problem, called with the loss and the rows that must be shown."""

    trial: Trial

    def __call__(self, problem: Problem, task: tuple[str, Sequence[int]]) -> Examples:
        """Fit on what is neither in the first fold's test set nor asked for; predict those."""
        loss, wanted = task
        train, test = self.trial.split(problem, 0)
        asked = np.array(wanted, dtype=np.intp)
        apart = problem.groups[asked]
        train, test = (rows[~np.isin(problem.groups[rows], apart)] for rows in (train, test))
        model = self.trial.fit(problem, loss, train)
        nats, _ = score_model(model, problem, test)
        ranked = by_rank(nats)
        row = np.concatenate([test[list(ranked.values())], asked])
        shown, _ = score_model(model, problem, row)
        return Examples(
            problem.name,
            loss,
            (*ranked, *["in the paper"] * len(asked)),
            row,
            shown,
            problem.targets.rows(row),
            np.concatenate(list(model.predict(row))),
        )


def paper_rows(corpus: Corpus) -> list[int]:
    """Rows of the paper's example studies, those that are in the corpus."""
    groups = corpus.groups.astype(str)
    return [int(row) for pmid in PAPER_PMIDS for row in np.flatnonzero(groups == pmid)]


def by_rank(scores: NDArray[np.float64]) -> dict[str, int]:
    """Index of the best score, and of those that a quarter and a half of the others surpass.

    >>> by_rank(np.array([3.0, 1.0, 5.0, 4.0, 2.0]))
    {'best': 2, 'first quartile': 3, 'median': 0}
    """
    order = np.argsort(-scores, kind="stable")
    return {name: int(order[round(share * (len(order) - 1))]) for name, share in RANKS.items()}
