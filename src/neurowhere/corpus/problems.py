"""What can be odd about a corpus: looked for, counted, and dropped where that is asked for."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.corpus.frames import PEAK_COLUMNS, XYZ
from neurowhere.exceptions import CorpusError, DataWarning

if TYPE_CHECKING:
    from neurowhere.corpus.corpus import Corpus

Mask = NDArray[np.bool_]

# Name of each problem: what is counted, and what is odd about it.
MEANINGS = {
    "duplicates": ("documents", "with the id of an earlier one"),
    "statistics": ("peaks", "made of statistics, not coordinates"),
    "columns": ("peaks", "in tables with one column read as two"),
    "voxels": ("peaks", "given as voxel indices"),
    "mirrored": ("peaks", "in tables with x and y mirrored"),
    "misplaced": ("peaks", "in tables mostly outside the brain"),
    "repeated": ("peaks", "that repeat a peak of the same document"),
    "outside": ("peaks", "outside any head"),
    "unsigned": ("documents", "whose coordinates are never negative"),
    "empty": ("documents", "without text or terms"),
    "without_peaks": ("documents", "without peaks"),
    "unknown_space": ("documents", "with peaks in a space that the source does not state"),
}
# Problems that a user may have dropped, and that are unless told otherwise.
DROPPABLE = tuple(name for name in MEANINGS if name != "unknown_space")
DROPPED = ("duplicates", "statistics", "columns", "misplaced")
# Problems that can be put right, and are unless told otherwise.
CONVERTIBLE = ("voxels", "mirrored")

# Field of view of the MNI152 template image, which holds the whole head, in mm.
HEAD_LOW_MM = np.array([-90.0, -126.0, -72.0])
HEAD_HIGH_MM = np.array([91.0, 91.0, 109.0])

# Peaks in mm are on both sides of the origin, which is near the middle of the brain; fewer
# peaks than these prove nothing.
MIN_PEAKS_OF_UNSIGNED_STUDY = 10
MIN_PEAKS_OF_UNSIGNED_CORPUS = 20

N_EXAMPLES = 3


@dataclass(frozen=True)
class Problem:
    """One kind of oddity in a corpus: how often it occurs, where, and what was done about it.

    >>> print(Problem("empty", 12, examples=("9405692", "9990082")))
    12 documents without text or terms (kept): 9405692, 9990082, ...
    """

    name: str
    count: int
    dropped: bool = False
    examples: tuple[str, ...] = ()
    converted: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether something was done about it, so that it is not found again."""
        return self.dropped or self.converted

    def __str__(self) -> str:
        unit, meaning = MEANINGS[self.name]
        unit = unit.removesuffix("s") if self.count == 1 else unit
        fate = "dropped" if self.dropped else "converted" if self.converted else "kept"
        examples = ", ".join(self.examples) + (", ..." if self.count > len(self.examples) else "")
        return f"{self.count:,} {unit} {meaning} ({fate}): {examples}"

    @classmethod
    def at(
        cls, name: str, ids: Iterable[Any], *, dropped: bool = False, converted: bool = False
    ) -> "Problem":
        """Count a problem.

        Parameters
        ----------
        name : str
            One of `MEANINGS`.
        ids : iterable
            Document of each occurrence.
        dropped, converted : bool
            Whether they were dropped, or put right.

        Returns
        -------
        Problem
        """
        found = list(ids)
        examples = tuple(dict.fromkeys(map(str, found)))[:N_EXAMPLES]
        return cls(name, len(found), dropped, examples, converted)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Problem":
        """Make a problem again.

        Parameters
        ----------
        fields : dict
            What `dataclasses.asdict`, and perhaps JSON, made of one.

        Returns
        -------
        Problem
        """
        return cls(**{**fields, "examples": tuple(fields["examples"])})


def duplicates_problem(ids: list[str], *, dropped: bool) -> tuple[Problem, ...]:
    """Record and warn of documents with the id of an earlier one.

    Parameters
    ----------
    ids : list of str
    dropped : bool
        Whether they were dropped.

    Returns
    -------
    tuple of Problem
        One, or none if there are no such documents.
    """
    if not ids:
        return ()
    problem = Problem.at("duplicates", ids, dropped=dropped)
    warnings.warn(str(problem), DataWarning, stacklevel=3)
    return (problem,)


def check_names(names: Iterable[str], known: tuple[str, ...], action: str) -> frozenset[str]:
    """Check the names of problems.

    Parameters
    ----------
    names : iterable of str
    known : tuple of str
        Names to choose among.
    action : str
        What is to be done about the problems, such as "drop".

    Returns
    -------
    frozenset of str
        The same; an unknown name is an error that lists the known ones.
    """
    wanted = frozenset(names)
    unknown = sorted(wanted.difference(known))
    if unknown:
        raise CorpusError(f"cannot {action} {', '.join(unknown)}; choose among {', '.join(known)}")
    return wanted


def is_repeated(peaks: pd.DataFrame) -> Mask:
    """Return which peaks repeat an earlier one of their document, in any table.

    Parameters
    ----------
    peaks : DataFrame
        With columns id, x, y, z.

    Returns
    -------
    (n_peaks,)
    """
    return peaks.duplicated(PEAK_COLUMNS).to_numpy()


def is_outside(peaks: pd.DataFrame) -> Mask:
    """Return which peaks are outside the box `HEAD_LOW_MM` to `HEAD_HIGH_MM`.

    Parameters
    ----------
    peaks : DataFrame
        With columns x, y, z.

    Returns
    -------
    (n_peaks,)
    """
    xyz = peaks[XYZ].to_numpy(np.float64)  # (n_peaks, 3)
    return ~np.asarray(((xyz >= HEAD_LOW_MM) & (xyz <= HEAD_HIGH_MM)).all(axis=1))


def unsigned_studies(peaks: pd.DataFrame, rows: NDArray[np.intp], n: int) -> Mask:
    """Return which documents have many peaks, none of them with a negative coordinate.

    Parameters
    ----------
    peaks : DataFrame
        With columns x, y, z.
    rows : (n_peaks,)
        Document of each peak.
    n : int
        Number of documents.

    Returns
    -------
    (n,)

    Raises
    ------
    CorpusError
        If no peak of the corpus is negative, and there are enough of them to tell.
    """
    unsigned = np.asarray((peaks[XYZ].to_numpy(np.float64) >= 0).all(axis=1))  # (n_peaks,)
    if len(unsigned) >= MIN_PEAKS_OF_UNSIGNED_CORPUS and unsigned.all():
        raise CorpusError(
            f"expected peaks in mm, but none of the {len(unsigned):,} peaks has a negative "
            "coordinate; if they are voxel indices, convert them with the affine of their image"
        )
    n_peaks = np.bincount(rows, minlength=n)  # (n_documents,)
    all_unsigned: Mask = np.bincount(rows[unsigned], minlength=n) == n_peaks
    return all_unsigned & (n_peaks >= MIN_PEAKS_OF_UNSIGNED_STUDY)


# In the order in which they are looked for: a document whose peaks all lie outside the head
# becomes one without peaks when these are dropped.
PEAK_PROBLEMS: dict[str, Callable[[pd.DataFrame], Mask]] = {
    "repeated": is_repeated,
    "outside": is_outside,
}
DOCUMENT_PROBLEMS: dict[str, Callable[["Corpus"], Mask]] = {
    "unsigned": lambda corpus: unsigned_studies(corpus.peaks, corpus.peak_rows, len(corpus)),
    "empty": lambda corpus: corpus.is_empty,
    "without_peaks": lambda corpus: corpus.n_peaks == 0,
    "unknown_space": lambda corpus: (
        (corpus.documents["space"] == "unknown").to_numpy() & (corpus.n_peaks > 0)
    ),
}


def review(corpus: "Corpus", drop: Iterable[str] = ()) -> "Corpus":
    """Look for problems, drop those that are named, and record all that was found.

    Parameters
    ----------
    corpus : Corpus
        What its `problems` say was dropped is kept on record; the rest is looked for anew.
    drop : iterable of str
        Names among `DROPPABLE`. What has to be done before, while reading, is not done here.

    Returns
    -------
    Corpus
        With its `problems` filled in.
    """
    names = check_names(drop, DROPPABLE, "drop")
    looked_for = PEAK_PROBLEMS.keys() | DOCUMENT_PROBLEMS.keys()
    found = [known for known in corpus.problems if known.is_settled or known.name not in looked_for]
    for name, find_peaks in PEAK_PROBLEMS.items():
        bad = find_peaks(corpus.peaks)
        found.append(Problem.at(name, corpus.peaks["id"][bad], dropped=name in names))
        if name in names and bad.any():
            corpus = replace(corpus, peaks=corpus.peaks[~bad].reset_index(drop=True))
    for name, find_documents in DOCUMENT_PROBLEMS.items():
        bad = find_documents(corpus)
        found.append(Problem.at(name, corpus.documents["id"][bad], dropped=name in names))
        if name in names and bad.any():
            corpus = corpus.select(~bad)
    found = [problem for problem in found if problem.count]
    if not len(corpus):
        raise CorpusError(f"no document is left; {'; '.join(map(str, found)) or 'none was there'}")
    for problem in found:
        # The others are common in real corpora; this one is likely an error.
        if problem.name == "unsigned" and not problem.dropped:
            warnings.warn(str(problem), DataWarning, stacklevel=3)
    return replace(corpus, problems=tuple(found))
