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
    "repeated": ("peaks", "that repeat a peak of the same document"),
    "outside": ("peaks", "outside any head"),
    "duplicates": ("documents", "with the id of an earlier one"),
    "voxels": ("documents", "whose coordinates look like voxel indices"),
    "empty": ("documents", "without text or terms"),
    "without_peaks": ("documents", "without peaks"),
    "unknown_space": ("documents", "with peaks in a space that the source does not state"),
}
# Problems that a user may have dropped.
DROPPABLE = tuple(name for name in MEANINGS if name != "unknown_space")

# Field of view of the MNI152 template image, which holds the whole head, in mm.
HEAD_LOW_MM = np.array([-90.0, -126.0, -72.0])
HEAD_HIGH_MM = np.array([91.0, 91.0, 109.0])

# Peaks in mm are on both sides of the origin, which is near the middle of the brain; indices
# into the 1-mm template are whole numbers from 0 to 217. Fewer peaks than these prove nothing.
HIGHEST_VOXEL = 217
MIN_PEAKS_OF_VOXEL_STUDY = 10
MIN_PEAKS_OF_VOXEL_CORPUS = 20

N_EXAMPLES = 3


@dataclass(frozen=True)
class Problem:
    """One kind of oddity in a corpus: how often it occurs, where, and whether it was dropped.

    >>> print(Problem("empty", 12, examples=("9405692", "9990082")))
    12 documents without text or terms (kept): 9405692, 9990082, ...
    """

    name: str
    count: int
    dropped: bool = False
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        unit, meaning = MEANINGS[self.name]
        unit = unit.removesuffix("s") if self.count == 1 else unit
        fate = "dropped" if self.dropped else "kept"
        examples = ", ".join(self.examples) + (", ..." if self.count > len(self.examples) else "")
        return f"{self.count:,} {unit} {meaning} ({fate}): {examples}"

    @classmethod
    def at(cls, name: str, ids: Iterable[Any], *, dropped: bool = False) -> "Problem":
        """Count a problem.

        Parameters
        ----------
        name : str
            One of `MEANINGS`.
        ids : iterable
            Document of each occurrence.
        dropped : bool
            Whether they were dropped.

        Returns
        -------
        Problem
        """
        found = list(ids)
        examples = tuple(dict.fromkeys(map(str, found)))[:N_EXAMPLES]
        return cls(name, len(found), dropped, examples)

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


def check_droppable(names: Iterable[str]) -> frozenset[str]:
    """Check the names of problems to drop.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    frozenset of str
        The same; an unknown name is an error that lists the known ones.
    """
    wanted = frozenset(names)
    unknown = sorted(wanted.difference(DROPPABLE))
    if unknown:
        raise CorpusError(f"cannot drop {', '.join(unknown)}; choose among {', '.join(DROPPABLE)}")
    return wanted


def is_repeated(peaks: pd.DataFrame) -> NDArray[np.bool_]:
    """Peaks whose document has the same peak earlier, in any table."""
    return peaks.duplicated(PEAK_COLUMNS).to_numpy()


def is_outside(peaks: pd.DataFrame) -> NDArray[np.bool_]:
    """Peaks outside the box `HEAD_LOW_MM` to `HEAD_HIGH_MM`."""
    xyz = peaks[XYZ].to_numpy(np.float64)  # (n_peaks, 3)
    return ~_all_axes((xyz >= HEAD_LOW_MM) & (xyz <= HEAD_HIGH_MM))


def is_voxel_like(peaks: pd.DataFrame) -> NDArray[np.bool_]:
    """Peaks that can be voxel indices: whole numbers, none negative, none above the image."""
    xyz = peaks[XYZ].to_numpy(np.float64)  # (n_peaks, 3)
    return _all_axes((xyz >= 0) & (xyz <= HIGHEST_VOXEL) & (xyz == np.floor(xyz)))


def voxel_studies(peaks: pd.DataFrame, rows: NDArray[np.intp], n: int) -> NDArray[np.bool_]:
    """Documents with many peaks, all of them voxel-like.

    Parameters
    ----------
    peaks : DataFrame
        Coordinates x, y, z.
    rows : array of shape (n_peaks,)
        Document of each peak.
    n : int
        Number of documents.

    Raises
    ------
    CorpusError
        If every peak of the corpus is voxel-like, and there are enough of them to tell.
    """
    like = is_voxel_like(peaks)
    if len(like) >= MIN_PEAKS_OF_VOXEL_CORPUS and like.all():
        raise CorpusError(
            f"expected peaks in mm, but the {len(like):,} peaks look like voxel indices (whole "
            "numbers, none negative); convert them with the affine of their image"
        )
    n_peaks = np.bincount(rows, minlength=n)  # (n_documents,)
    n_like = np.bincount(rows[like], minlength=n)
    all_like: NDArray[np.bool_] = n_like == n_peaks
    return all_like & (n_peaks >= MIN_PEAKS_OF_VOXEL_STUDY)


def _all_axes(conditions: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return np.asarray(conditions.all(axis=1))  # (n_peaks, 3) -> (n_peaks,)


# In the order in which they are looked for: a document whose peaks all lie outside the head
# becomes one without peaks when these are dropped.
PEAK_PROBLEMS: dict[str, Callable[[pd.DataFrame], Mask]] = {
    "repeated": is_repeated,
    "outside": is_outside,
}
DOCUMENT_PROBLEMS: dict[str, Callable[["Corpus"], Mask]] = {
    "voxels": lambda corpus: voxel_studies(corpus.peaks, corpus.peak_rows, len(corpus)),
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
        Names among `problems.DROPPABLE`. Duplicates are dropped while reading, not here.

    Returns
    -------
    Corpus
        With its `problems` filled in.
    """
    names = check_droppable(drop)
    looked_for = PEAK_PROBLEMS.keys() | DOCUMENT_PROBLEMS.keys()
    found = [known for known in corpus.problems if known.dropped or known.name not in looked_for]
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
        if problem.name == "voxels" and not problem.dropped:
            warnings.warn(str(problem), DataWarning, stacklevel=3)
    return replace(corpus, problems=tuple(found))
