"""Retrieval in a space that texts and coordinates share, for kinds_of_text.py."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurowhere.evaluate.metrics import likelihood_matrix, recalls
from neurowhere.model.text_model import unit_rows
from neurowhere.space import VoxelGrid, make_targets, place_peaks

DIMENSIONS = 200  # of the space in which densities are compared
CANDIDATES = 1000  # studies among which one is looked for
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


def combine(*scores):
    """Add scores of shape (n_texts, n_studies), each standardised over the texts."""
    return sum(
        (each - each.mean(axis=0)) / np.where((s := each.std(axis=0)) > 0, s, 1) for each in scores
    )


def without_hubs(scores, nearest=10):
    """Subtract from each score the mean of the best scores of its text and of its study.

    Some points are close to everything. This is cross-domain similarity local scaling (Conneau et
    al. 2018), with its usual ten neighbours, of scores of shape (n_texts, n_studies).
    """
    best_texts = np.sort(scores, axis=0)[-nearest:].mean(axis=0)  # (n_studies,)
    best_studies = np.sort(scores, axis=1)[:, -nearest:].mean(axis=1)  # (n_texts,)
    return 2 * scores - best_texts - best_studies[:, None]


def retrieval(model, training, held):
    """Find the text of coordinates, and the coordinates of a text, among 1,000 studies."""
    some = held.select(np.arange(CANDIDATES))
    study, region = peaks_of(model, some)
    maps = np.vstack(list(model.iter_predict(some)))
    likelihood = likelihood_matrix(maps, study, region, model.partition_.n_regions)
    fitted = Matcher.fit(features(model, training), coarse_densities(training))
    cosines = fitted.scores(features(model, some), coarse_densities(some))
    alone = {f"{name} (likelihood alone)": value for name, value in recalls(likelihood).items()}
    return recalls(without_hubs(combine(likelihood, cosines))) | {
        name: value for name, value in alone.items() if "recall at 10 " in name
    }


def features(model, corpus):
    """Weighted terms of texts."""
    return model.transform(corpus).toarray()


def coarse_densities(corpus):
    """Densities on an 8-mm grid."""
    grid = VoxelGrid(8)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    return make_targets(grid, grid, xyz, corpus.peak_rows, len(corpus)).rows(slice(None))


def peaks_of(model, corpus):
    """Study and region of the peaks that are scored."""
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    return place_peaks(model.partition_, model.brain_, xyz, corpus.peak_rows)
