"""
Compare your model in the benchmark
===================================

The open benchmark scores any model that turns text into a brain map, on the same studies, with the
same folds and by the same metrics. A model is any object with a name and a method ``predict``. Here
we compare a ridge regression from scikit-learn with two entries that come with the package.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from neurowhere import Corpus, Document, VoxelGrid, benchmark

# %%
# Studies
# -------
# The benchmark is meant for NeuroQuery's public corpus, which ``neurowhere corpus download
# neuroquery`` fetches. To run offline in seconds, this page makes up 200 studies: each is about
# two of six topics, and reports three peaks near the place of each.

PLACES = {
    "fear and the amygdala": (-22, -4, -18),
    "reading words": (-44, -56, -16),
    "finger tapping": (-38, -24, 56),
    "pain in the insula": (38, 8, 2),
    "checkerboards in visual cortex": (6, -88, 2),
    "monetary reward": (10, 10, -6),
}
rng = np.random.default_rng(0)


def make_study(number):
    """Return a made-up study."""
    topics = rng.choice(list(PLACES), 2, replace=False)
    peaks = np.concatenate([rng.normal(PLACES[topic], 6, (3, 3)) for topic in topics])
    text = f"We studied {topics[0]}, and {topics[1]}."
    return Document(str(number), {"abstract": text}, peaks, "MNI")


corpus = Corpus.from_documents([make_study(number) for number in range(200)])
corpus

# %%
# A model of your own
# -------------------
# ``fit`` gets the studies of nine folds, and ``predict`` gets studies without their peaks. It
# returns one row for each study, over the voxels of the grid. This model regresses Gaussian blobs
# around the peaks on the words of the text.

grid = VoxelGrid(4)


def blobs(peaks, width_mm=8):
    """Return Gaussians around the peaks of a study, on the voxels of the grid."""
    squares = ((grid.centers_mm[:, None] - peaks) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width_mm**2)).mean(axis=1).astype("float32")


class Words:
    """Ridge from words to blobs."""

    name = "words"
    trained_on = ()  # ids of the studies that a pretrained model has seen

    def fit(self, train):
        """Learn the blob of each word."""
        self.words = TfidfVectorizer().fit(train.texts)
        targets = np.stack([blobs(peaks) for peaks in train.peaks_by_document])
        self.ridge = Ridge().fit(self.words.transform(train.texts).toarray(), targets)

    def predict(self, studies):
        """Return the sum of the words' blobs."""
        return self.ridge.predict(self.words.transform(studies.texts).toarray())


# %%
# Scores
# ------
# Finished folds are saved in the folder, which is temporary in this example.

with tempfile.TemporaryDirectory() as folder:
    results = benchmark(corpus, folder, ["mean", "nearest", Words()], folds=2)
scores = results.scores[results.scores["kind"] == "all"]
scores.groupby("entry")[["nats", "coverage_80", "text_recall_1", "pearson", "dice"]].mean()

# %%
# *Nats above uniform*, the gain in log-likelihood over the same density everywhere, with one dot
# for each fold:

figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
for row, (entry, folds) in enumerate(scores.groupby("entry")):
    axes.plot(folds["nats"], np.full(len(folds), row), "o", color="#0072B2")
    axes.text(-0.02, row, entry, ha="right", va="center", transform=axes.get_yaxis_transform())
axes.set(xlabel="nats above uniform", yticks=[], ylim=(-0.5, 2.5))
axes.spines[["top", "right", "left"]].set_visible(False)

# %%
# Differences between entries are paired by study. Their intervals account for the overlap of
# training sets:

results.differences.round(3)

# %%
plt.show()
