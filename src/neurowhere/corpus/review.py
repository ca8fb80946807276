"""A look over a whole corpus: what is odd is counted, and dropped where that is asked for."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.problems import (
    Problem,
    check_droppable,
    is_outside,
    is_repeated,
    voxel_studies,
)
from neurowhere.exceptions import CorpusError, DataWarning

Mask = NDArray[np.bool_]

# In the order in which they are looked for: a document whose peaks all lie outside the head
# becomes one without peaks when these are dropped.
PEAK_PROBLEMS: dict[str, Callable[[pd.DataFrame], Mask]] = {
    "repeated": is_repeated,
    "outside": is_outside,
}
DOCUMENT_PROBLEMS: dict[str, Callable[[Corpus], Mask]] = {
    "voxels": lambda corpus: voxel_studies(corpus.peaks, corpus.peak_rows, len(corpus)),
    "empty": lambda corpus: corpus.is_empty,
    "without_peaks": lambda corpus: corpus.n_peaks == 0,
    "unknown_space": lambda corpus: (
        (corpus.documents["space"] == "unknown").to_numpy() & (corpus.n_peaks > 0)
    ),
}


def review(corpus: Corpus, drop: Iterable[str] = ()) -> Corpus:
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
