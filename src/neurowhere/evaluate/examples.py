"""Example predictions of a comparison: true map and prediction of a few studies held out."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import replaced
from neurowhere.corpus import Corpus
from neurowhere.evaluate.problem import Problem
from neurowhere.evaluate.trial import Trial, score_model

EXAMPLES_NAME = "examples.npz"
# The studies that the paper shows: the best, the first quartile and the median of its own test.
PAPER_PMIDS = ("20965262", "22832732", "20619347")
# Of the test studies in order of their scores: how many in a hundred are better.
RANKS = {"best": 0.0, "first quartile": 0.25, "median": 0.5}


@dataclass(frozen=True, eq=False)
class Examples:
    """Studies that took no part in learning, what they report and what was predicted.

    Attributes
    ----------
    partition, loss : str
        Model that predicted.
    why : tuple of str
        Why each study is shown.
    row : array of shape (n,)
        Row of each study in the corpus.
    nats : array of shape (n,)
        Nats above uniform of each.
    truth, prediction : arrays of shape (n, n_regions)
        Probability of each region.
    """

    partition: str
    loss: str
    why: tuple[str, ...]
    row: NDArray[np.intp]
    nats: NDArray[np.float64]
    truth: NDArray[np.float32]
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
