"""Studies: what a model takes from them, how it scores on them, the close ones and their titles."""

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import FitError
from neurowhere.learn import Peaks, score_studies
from neurowhere.model.reading import as_texts
from neurowhere.space import Partition, VoxelGrid, make_targets, place_peaks
from neurowhere.space.density import Targets

PUBMED = "https://pubmed.ncbi.nlm.nih.gov/{}/"
DIMENSIONS = 64  # of the strongest of a model, in which closeness is measured

TITLES = Path(__file__).parents[1] / "data" / "titles.tsv.gz"  # id, tab, title


def as_corpus(X: Corpus | Sequence[str], y: Sequence[ArrayLike] | None = None) -> Corpus:
    """Make a corpus of texts, and of their peaks if there are any."""
    if isinstance(X, Corpus):
        return X
    texts = list(as_texts(X))
    if y is None:
        y = [np.empty((0, 3))] * len(texts)
    if len(texts) != len(y):
        raise FitError(f"expected peaks for each text, got {len(texts)} texts and {len(y)} peaks")
    return Corpus.from_documents(
        Document(str(i), {"body": text}, np.asarray(peaks, dtype=np.float64).reshape(-1, 3), "MNI")
        for i, (text, peaks) in enumerate(zip(texts, y, strict=True))
    )


def targets_of(
    corpus: Corpus, partition: Partition, brain: VoxelGrid, *, bandwidth: float, n_jobs: int
) -> Targets:
    """Return the densities of the studies of a corpus, which a model learns to predict."""
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    rows, n_studies = corpus.peak_rows, len(corpus)
    return make_targets(
        partition, brain, xyz_mm, rows, n_studies, bandwidth=bandwidth, n_jobs=n_jobs
    )


def score_corpus(
    corpus: Corpus,
    predictions: Iterable[NDArray[np.floating]],
    mean_map: NDArray[np.floating],
    partition: Partition,
    brain: VoxelGrid,
) -> pd.DataFrame:
    """Score predictions, and the mean map, by the likelihood of the peaks of each study.

    Parameters
    ----------
    corpus : Corpus
    predictions : iterable of arrays of shape (n, m)
        Probability of each region, for consecutive chunks of the studies.
    mean_map : array of shape (m,)
    partition : Partition
    brain : VoxelGrid

    Returns
    -------
    DataFrame
        One row per study; see `Encoder.score_documents`.
    """
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy(np.float64)
    study, region = place_peaks(partition, brain, xyz_mm, corpus.peak_rows)
    peaks = Peaks(study, region, len(corpus))
    relative_volume = brain.total_volume_mm3 / partition.volumes_mm3  # V/v_k
    nats = score_studies(predictions, peaks, relative_volume)
    same = np.broadcast_to(mean_map, (len(corpus), len(mean_map)))
    mean_nats = score_studies([same], peaks, relative_volume)
    scored = np.bincount(study, minlength=len(corpus))
    return pd.DataFrame(
        {
            "id": corpus.documents["id"],
            "log_likelihood": nats - np.log(brain.total_volume_mm3),
            "nats_above_uniform": nats,
            "mean_map": mean_nats - np.log(brain.total_volume_mm3),
            "peaks": scored,
            "peaks_outside": corpus.n_peaks - scored,
        }
    )


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Training studies as points: no titles, no texts.

    Attributes
    ----------
    ids : array of shape (n_studies,)
        PubMed ids, as text.
    vectors : array of shape (n_studies, r)
        Texts in the dimensions of the model, of unit norm.
    """

    ids: NDArray[np.str_]
    vectors: NDArray[np.float32]

    @classmethod
    def from_projections(
        cls, ids: NDArray[np.str_], projections: NDArray[np.float32]
    ) -> "Neighbours":
        """Keep the strongest dimensions of the projections of texts."""
        return cls(ids, unit_rows(projections[:, :DIMENSIONS]))

    def nearest(self, projection: NDArray[np.float32], n: int = 10) -> pd.DataFrame:
        """Find the studies closest to one text: id, similarity (a cosine), link to PubMed."""
        vector = unit_rows(projection[None, : self.vectors.shape[1]])[0]
        similarity = self.vectors @ vector
        n_near = n if vector.any() else 0  # to a text without a known term nothing is close
        best = np.argsort(-similarity, kind="stable")[:n_near]
        ids = self.ids[best]
        return pd.DataFrame(
            {
                "id": ids,
                "similarity": similarity[best].round(4),
                "link": [PUBMED.format(name) if name.isdecimal() else "" for name in ids],
            }
        )


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to unit norm; rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    scaled: NDArray[np.float32] = vectors / norms
    return scaled


def title_of(study: str) -> str | None:
    """Return the title of a study, None if it is not known.

    >>> title_of("9405692")
    'Role of left inferior prefrontal cortex in retrieval of semantic knowledge: A reevaluation'
    """
    return _titles().get(study)


@cache
def _titles() -> dict[str, str]:
    lines = gzip.decompress(TITLES.read_bytes()).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)
