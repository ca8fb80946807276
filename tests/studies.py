"""A small made-up corpus whose peaks follow from its words, for the tests of models."""

from functools import lru_cache

import numpy as np

from neurowhere import Corpus, Encoder, VoxelGrid
from neurowhere.corpus import Document

PLACES = {  # mm
    "amygdala": [(-22, -4, -18), (22, -4, -18)],
    "visual cortex": [(8, -92, 2), (-8, -92, 2)],
    "motor cortex": [(-38, -24, 56), (38, -24, 56)],
    "anterior cingulate cortex": [(0, 32, 22)],
}
TERMS = list(PLACES)
GRID = VoxelGrid(12)


def make_corpus(n_studies=40, *, lateral=False, seed=0):
    """Studies that mention one or two places, and report peaks there; on one side if `lateral`."""
    rng = np.random.default_rng(seed)
    documents = []
    for number in range(n_studies):
        chosen = rng.choice(TERMS, size=1 + number % 2, replace=False)
        words, peaks = [], []
        for term in chosen:
            side = ["left", "right"][rng.integers(2)] if lateral else ""
            words += [f"the {side} {term}"] * int(rng.integers(1, 4))
            places = [xyz for xyz in PLACES[term] if not side or (xyz[0] <= 0) == (side == "left")]
            peaks += [np.add(xyz, rng.normal(0, 4, 3)) for xyz in places or PLACES[term]]
        peaks += [[0, 0, 200]] * (number % 5 == 0)  # outside the brain
        text = f"We saw {' and '.join(words)} respond."
        documents.append(Document(str(number), {"abstract": text}, np.array(peaks), "MNI"))
    return Corpus.from_documents(documents, origin={"format": "made up"})


@lru_cache
def small_model(loss="l2"):
    """A model of these studies, fitted once in a process; tests do not change it."""
    return Encoder(GRID, loss, vocabulary=TERMS, repeats=1, rank=8).fit(make_corpus())
