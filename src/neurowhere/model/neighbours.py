"""Neighbours: the training studies whose texts are closest to a text, in the model's own terms."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

PUBMED = "https://pubmed.ncbi.nlm.nih.gov/{}/"
DIMENSIONS = 64  # of the strongest of a model, in which closeness is measured


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
