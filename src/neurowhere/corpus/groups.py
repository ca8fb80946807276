"""Groups: documents that no split may divide, because they are one article or share their peaks."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

MIN_SHARE = 0.8  # of the peaks of a document that its twin reports too
MIN_SHARED = 5  # peaks: fewer may be at the same place by chance
MAX_DOCUMENTS = 100  # that share a peak; a place that more report shows nothing


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
