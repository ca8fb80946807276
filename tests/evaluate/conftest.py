"""A small world to compare models in: three structures, and studies that speak of them."""

import numpy as np
import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.evaluate import Candidate
from neurowhere.space import Atlas, VoxelGrid
from neurowhere.text import Vocabulary

PLACES_MM = {
    "visual cortex": (8, -88, 4),
    "motor cortex": (-36, -24, 56),
    "amygdala": (-24, -4, -18),
}
EDGE_MM = 12.0


def make_corpus(n_studies: int, seed: int = 0) -> Corpus:
    """Studies that mention one or two structures and report peaks near them."""
    rng = np.random.default_rng(seed)
    names = list(PLACES_MM)
    documents = []
    for number in range(n_studies):
        chosen = rng.choice(names, size=rng.integers(1, 3), replace=False)
        centres = np.repeat([PLACES_MM[name] for name in chosen], 3, axis=0)
        peaks = centres + rng.normal(0, 6, size=(len(centres), 3))
        text = f"We saw the {' and the '.join(chosen)} in {number} people."
        documents.append(Document(str(1000 + number), {"abstract": text}, peaks, "MNI"))
    return Corpus.from_documents(documents)


def make_atlas(labels: dict[int, str] | None) -> Atlas:
    """Blocks around the three structures; most of the brain is left uncovered."""
    brain = VoxelGrid(EDGE_MM)
    image = np.zeros(brain.shape, dtype=np.int16)
    centres = np.indices(brain.shape).reshape(3, -1).T @ brain.affine[:3, :3].T
    centres += brain.affine[:3, 3]
    for value, place in zip((3, 130, 7), PLACES_MM.values()):
        near = (np.abs(centres - place) < 20).all(axis=1).reshape(brain.shape)
        image[near] = value
    return Atlas((image, brain.affine), labels)


@pytest.fixture(scope="session")
def brain() -> VoxelGrid:
    return VoxelGrid(EDGE_MM)


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return make_corpus(60)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary([*PLACES_MM, "hippocampus"])


@pytest.fixture(scope="session")
def labelled() -> Candidate:
    names = {3: "Visual_Cortex_R", 130: "Motor_Cortex_L", 7: "Amygdala_L"}
    return Candidate("blocks", make_atlas(names))


@pytest.fixture(scope="session")
def candidates(brain: VoxelGrid, labelled: Candidate) -> list[Candidate]:
    return [Candidate("voxels", brain), labelled, Candidate("plain blocks", make_atlas(None))]
