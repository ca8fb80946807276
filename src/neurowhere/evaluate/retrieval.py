"""Retrieval: find the text of a study among many from its coordinates, and the reverse.

With s_ij the mean over the peaks of study j of the log-likelihood under the map predicted from text
i, coordinates look for the text with the highest s_·j. Texts look for coordinates by s_ij less its
mean over texts: coordinates that are likely under any text tell nothing.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

RANKS = (1, 10, 100)


def likelihood_matrix(
    probabilities: NDArray[np.floating],
    study: NDArray[np.integer],
    region: NDArray[np.integer],
    scale: NDArray[np.floating] | float,
) -> NDArray[np.float32]:
    """Mean nats above uniform of the peaks of study j under text i: (n_texts, n_studies).

    Parameters
    ----------
    probabilities : array of shape (n_texts, m)
    study, region : arrays of shape (n_peaks,)
        Study and region of each peak; every region is ≥ 0.
    scale : array of shape (m,) or float
        V/v_k; the number of voxels on a grid.
    """
    n_studies = int(study.max()) + 1
    weights = 1 / np.bincount(study, minlength=n_studies)[study]
    shape = (probabilities.shape[1], n_studies)
    shares = sparse.csr_matrix((weights.astype(np.float32), (region, study)), shape=shape)
    nats = np.log(0.5 + 0.5 * probabilities * np.float32(scale))
    scores: NDArray[np.float32] = np.asarray((shares.T @ nats.T).T, dtype=np.float32)
    return scores


def recalls(scores: NDArray[np.floating]) -> dict[str, float]:
    """Recall at 1, 10 and 100 both ways, and mix-and-match, for scores of texts × studies.

    Mix-and-match is the chance that a study's own text scores higher on its coordinates than the
    text of a random other study.

    >>> recalls(np.eye(3))["coordinates to text, recall at 1"]
    1.0
    """
    relative = scores - scores.mean(axis=0)
    table = {}
    for name, matrix in {
        "coordinates to text": scores.T,
        "text to coordinates": relative,
    }.items():
        own = np.diagonal(matrix)[:, None]
        better = (matrix > own).sum(axis=1)  # rivals ranked before
        for rank in RANKS:
            table[f"{name}, recall at {rank}"] = float(np.mean(better < rank))
        rivals = matrix.shape[1] - 1
        table[f"{name}, mix and match"] = float(1 - better.mean() / max(rivals, 1))
    return table
