"""One document of a corpus, as a reader yields it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Space = Literal["MNI", "TAL", "unknown"]

# The parts of a document whose terms can be weighted apart, in reading order.
SECTIONS = ("title", "abstract", "keywords", "body")


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
