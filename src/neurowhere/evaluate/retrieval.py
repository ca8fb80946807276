"""Retrieval: find the text of a study among many from its coordinates, and the reverse.

A pair of text and coordinates is scored in two ways: by the likelihood of the peaks under the map
that is predicted from the text, and by how close both are as vectors of one space (`Matcher`).
Both scores are standardised over the texts, so that coordinates that are likely under any text
gain nothing, and added. Texts and coordinates that are close to many others are then penalised
(`without_hubs`).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.model.studies import unit_rows

RANKS = (1, 10, 100)
DIMENSIONS = 200  # of the space in which densities are compared
PENALTY, SHRINKAGE = 10.0, 0.3  # of the regression on texts, and of its residual covariance


@dataclass(frozen=True, eq=False)
class Matcher:
    """Place texts and coordinates in one space, close if they belong to the same study.

    Square roots of densities are reduced to their principal components g. A ridge regression
    predicts g from the text, ĝ, and both are whitened by the covariance C of what it leaves
    unexplained: dimensions that texts do not predict count little. The score of a pair is the
    cosine of C^(−½)ĝ and C^(−½)g.
    """

    mean: NDArray[np.floating]  # (m,) of the square roots
    components: NDArray[np.floating]  # (m, k), whitened
    text_mean: NDArray[np.floating]  # (d,)
    coefficients: NDArray[np.floating]  # (d, k), whitened

    @classmethod
    def fit(cls, texts: NDArray[np.floating], densities: NDArray[np.floating]) -> Self:
        """Learn from training studies.

        Parameters
        ----------
        texts : array of shape (n, d)
            Features of their texts.
        densities : array of shape (n, m)
            Their densities on a grid.

        Returns
        -------
        Matcher
        """
        roots = np.sqrt(np.maximum(densities, 0))
        mean = roots.mean(axis=0)
        roots = roots - mean
        components = np.linalg.eigh(roots.T @ roots)[1][:, : -DIMENSIONS - 1 : -1]
        places = roots @ components
        text_mean = texts.mean(axis=0)
        texts = texts - text_mean
        gram = texts.T @ texts + PENALTY * np.eye(texts.shape[1])
        coefficients = np.linalg.solve(gram, texts.T @ places)
        covariance = np.cov((places - texts @ coefficients).T)
        size = np.trace(covariance) / len(covariance)
        covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * size * np.eye(len(covariance))
        whiten = np.linalg.cholesky(np.linalg.inv(covariance))
        return cls(mean, components @ whiten, text_mean, coefficients @ whiten)

    def scores(
        self, texts: NDArray[np.floating], densities: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """Compute the cosine of every text with every density.

        Parameters
        ----------
        texts : array of shape (n_texts, d)
        densities : array of shape (n_densities, m)

        Returns
        -------
        array of shape (n_texts, n_densities)
        """
        guessed = unit_rows((texts - self.text_mean) @ self.coefficients)
        seen = unit_rows((np.sqrt(np.maximum(densities, 0)) - self.mean) @ self.components)
        cosines: NDArray[np.floating] = guessed @ seen.T
        return cosines


def combine(*scores: NDArray[np.floating]) -> NDArray[np.floating]:
    """Add scores, each standardised over the texts.

    Parameters
    ----------
    *scores : arrays of shape (n_texts, n_studies)

    Returns
    -------
    array of shape (n_texts, n_studies)
    """
    total: NDArray[np.floating] = sum(
        (each - each.mean(axis=0)) / _positive(each.std(axis=0)) for each in scores
    )
    return total


def _positive(deviations: NDArray[np.floating]) -> NDArray[np.floating]:
    """Replace zeros by one: scores that are the same for all texts stay zero."""
    return np.where(deviations > 0, deviations, 1)


def without_hubs(scores: NDArray[np.floating], nearest: int = 10) -> NDArray[np.floating]:
    """Subtract from each score the mean of the best scores of its text and of its study.

    Some points are close to everything. This is cross-domain similarity local scaling (Conneau et
    al. 2018), with its usual ten neighbours.

    Parameters
    ----------
    scores : array of shape (n_texts, n_studies)
    nearest : int
        Number of best scores to average.

    Returns
    -------
    array of shape (n_texts, n_studies)
    """
    best_texts = np.sort(scores, axis=0)[-nearest:].mean(axis=0)  # (n_studies,)
    best_studies = np.sort(scores, axis=1)[:, -nearest:].mean(axis=1)  # (n_texts,)
    scaled: NDArray[np.floating] = 2 * scores - best_texts - best_studies[:, None]
    return scaled


def likelihood_matrix(
    probabilities: NDArray[np.floating],
    study: NDArray[np.integer],
    region: NDArray[np.integer],
    scale: NDArray[np.floating] | float,
) -> NDArray[np.float32]:
    """Score the peaks of every study under the map of every text.

    Parameters
    ----------
    probabilities : array of shape (n_texts, m)
    study, region : arrays of shape (n_peaks,)
        Study and region of each peak; every region is ≥ 0.
    scale : array of shape (m,) or float
        V/v_k; the number of voxels on a grid.

    Returns
    -------
    array of shape (n_texts, n_studies)
        Mean nats above uniform.
    """
    n_studies = int(study.max()) + 1
    weights = 1 / np.bincount(study, minlength=n_studies)[study]
    shape = (probabilities.shape[1], n_studies)
    shares = sparse.csr_matrix((weights.astype(np.float32), (region, study)), shape=shape)
    nats = np.log(0.5 + 0.5 * probabilities * np.float32(scale))
    scores: NDArray[np.float32] = np.asarray((shares.T @ nats.T).T, dtype=np.float32)
    return scores


def recalls(scores: NDArray[np.floating]) -> dict[str, float]:
    """Compute recall at 1, 10 and 100, mix-and-match, and the AUC, in both directions.

    Mix-and-match is the chance that a study's own text scores higher on its coordinates than the
    text of a random other study. The AUC is the area under recall at k against k/n, k = 1..n. Of
    equal scores any may come first: each order is as likely.

    Parameters
    ----------
    scores : array of shape (n, n)
        Scores of texts × studies, each text in the row of its own study.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> recalls(np.eye(3))["coordinates to text, recall at 1"]
    1.0
    >>> round(recalls(np.zeros((4, 4)))["text to coordinates, recall at 1"], 2)
    0.25
    """
    table = {}
    for name, matrix in {
        "coordinates to text": scores.T,
        "text to coordinates": scores,
    }.items():
        n = matrix.shape[1]
        own = np.diagonal(matrix)[:, None]
        better = (matrix > own).sum(axis=1)  # rivals ranked before
        equal = (matrix == own).sum(axis=1)  # itself among them
        for rank in RANKS:
            found = np.clip((rank - better) / equal, 0, 1)
            table[f"{name}, recall at {rank}"] = float(found.mean())
        before = float((better + (equal - 1) / 2).mean())
        table[f"{name}, mix and match"] = 1 - before / max(n - 1, 1)
        table[f"{name}, AUC"] = 1 - before / n
    return table
