"""Documents: one, as a reader yields it, and groups of those that no split may divide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Space = Literal["MNI", "TAL", "unknown"]

# The parts of a document whose terms can be weighted apart, in reading order.
SECTIONS = ("title", "abstract", "keywords", "body")
MIN_SHARE = 0.8  # of the peaks of a document that its twin reports too
MIN_SHARED = 5  # peaks: fewer may be at the same place by chance
MAX_DOCUMENTS = 100  # that share a peak; a place that more report shows nothing


def no_peaks() -> NDArray[np.float64]:
    """Return the peaks of a document that reports none: shape (0, 3)."""
    return np.empty((0, 3))


@dataclass(frozen=True, slots=True)
class Document:
    """A text and the peaks that it reports.

    Attributes
    ----------
    id : str
        Identifier, unique in its corpus: the source's own, or else the PubMed id.
    sections : mapping of str to str
        Text by section, a subset of `SECTIONS`; no text stands in two sections.
    peaks : array of shape (n_peaks, 3)
        Coordinates in mm, as printed, in `space`.
    space : "MNI", "TAL" or "unknown"
        Stereotactic space that the source states for the peaks.
    metadata : mapping
        Whatever else the source says, as text, numbers or lists of text: pmid, doi, year,
        journal... It becomes columns of the corpus' table of documents.
    """

    id: str
    sections: Mapping[str, str]
    peaks: NDArray[np.float64] = field(default_factory=no_peaks)
    space: Space = "unknown"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All sections in reading order, a blank line between them."""
        return "\n\n".join(self.sections[name] for name in SECTIONS if self.sections.get(name))


# ---- groups: documents that are one article, or that share their peaks


def group_documents(
    labels: NDArray[np.object_], xyz: NDArray[np.float64], rows: NDArray[np.intp]
) -> NDArray[np.object_]:
    """Join documents that have one label, or that are twins, into groups.

    A document is the twin of another one that reports at least `MIN_SHARE` of its peaks, and at
    least `MIN_SHARED`: a reprint, or a second article about the same data.

    Parameters
    ----------
    labels : (n_documents,)
        Label of each document, such as its PubMed id.
    xyz : (n_peaks, 3)
        Peaks of all documents.
    rows : (n_peaks,)
        Document of each peak.

    Returns
    -------
    (n_documents,)
        Label of the first document of each document's group.

    Examples
    --------
    >>> peaks = np.arange(18.0).reshape(6, 3)
    >>> group_documents(np.array(["a", "b", "c"], dtype=object),
    ...                 np.concatenate([peaks, peaks, -peaks]), np.repeat([0, 1, 2], 6))
    array(['a', 'a', 'c'], dtype=object)
    """
    n = len(labels)
    codes = pd.factorize(labels)[0]
    first_row = np.unique(codes, return_index=True)[1]
    twins, others = find_twins(xyz, rows, n)
    ends = np.concatenate([np.arange(n), twins]), np.concatenate([first_row[codes], others])
    links = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    group = sparse.csgraph.connected_components(links, directed=False)[1]
    return labels[np.unique(group, return_index=True)[1]][group]


def find_twins(
    xyz: NDArray[np.float64], rows: NDArray[np.intp], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find documents that share most of their peaks with another one.

    Parameters
    ----------
    xyz : (n_peaks, 3)
        Peaks of all documents.
    rows : (n_peaks,)
        Document of each peak.
    n : int
        Number of documents.

    Returns
    -------
    twins, others : (n_pairs,)
        A document, and the one that reports its peaks too.
    """
    reports = _reports(xyz, rows, n)
    n_places = np.diff(reports.indptr)
    n_documents = np.bincount(reports.indices, minlength=reports.shape[1])
    common = reports[:, (n_documents > 1) & (n_documents <= MAX_DOCUMENTS)]
    shared = (common @ common.T).tocoo()
    enough = np.maximum(MIN_SHARED, MIN_SHARE * n_places[shared.row])
    found = (shared.row != shared.col) & (shared.data >= enough)
    return shared.row[found].astype(np.intp), shared.col[found].astype(np.intp)


def _reports(xyz: NDArray[np.float64], rows: NDArray[np.intp], n: int) -> sparse.csr_array:
    """Return which document reports which place: 1 in (n_documents, n_places)."""
    place = np.zeros(len(xyz), dtype=np.int64)
    for axis in xyz.T:
        codes, values = pd.factorize(axis)
        place = pd.factorize(place * len(values) + codes)[0]
    n_places = int(place.max(initial=-1)) + 1
    pairs = np.unique(rows * n_places + place) if n_places else place
    ones = np.ones(len(pairs), dtype=np.int32)
    return sparse.csr_array((ones, np.divmod(pairs, max(n_places, 1))), shape=(n, n_places))
