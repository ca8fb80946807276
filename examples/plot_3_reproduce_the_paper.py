"""
Reproduce the paper on a small scale
====================================

*Text to brain* (Dockès et al., MICCAI 2018) asks which partition of the brain and which loss
predict unseen studies best. :doc:`/benchmarks/paper_study` has the results on 12,093 real studies.
This example runs the same procedure on 150 simulated ones, where the true maps are known.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from nilearn import plotting

from neurowhere import Candidate, Corpus, Document, VoxelGrid, compare, default_atlas, load_model

# %%
# Simulated studies
# -----------------
# Each study names two of eight regions, and its peaks are drawn from the map that the shipped model
# predicts for these words. That model is the ground truth, which the others have to recover.

PLACES = ["amygdala", "hippocampus", "insula", "precentral gyrus", "precuneus", "putamen"]
PLACES += ["superior temporal gyrus", "visual cortex"]

truth = load_model()
rng = np.random.default_rng(0)
texts = [" and ".join(rng.choice(PLACES, size=2, replace=False)) for _ in range(150)]
maps = truth.predict(texts).astype(float)  # (150, voxels)


def draw_peaks(q, n=10):
    """Draw the peaks of one study, in mm."""
    return truth.partition.centers_mm[rng.choice(len(q), size=n, p=q / q.sum())]


corpus = Corpus.from_documents(
    Document(f"simulated-{number}", {"abstract": text}, draw_peaks(q), "MNI")
    for number, (text, q) in enumerate(zip(texts, maps, strict=True))
)
corpus

# %%
# The comparison
# --------------
# We compare voxels with an atlas, and three losses: total variation (ℓ1), least squares (ℓ2), and
# models that see only the labels of the atlas. Each fold holds out a tenth of the studies, and the
# penalty is chosen within the others. After an interruption, the same call continues where it
# stopped.

with tempfile.TemporaryDirectory() as folder:
    comparison = compare(
        corpus,
        folder,
        [Candidate("voxels, 10 mm", VoxelGrid(10)), Candidate("AAL3", default_atlas())],
        losses=["l1", "l2", "labels"],
        folds=3,
        brain=VoxelGrid(8),
        n_jobs=1,
    )
comparison.summary[["partition", "loss", "nats_above_uniform", "minus_mean_map"]].round(3)

# %%
# The score, in *nats above uniform*, is the mean log-likelihood of held-out peaks minus that under
# the same density everywhere; higher is better. Circles are folds.

models = [("voxels, 10 mm", loss) for loss in ("l1", "l2", "mean")]
models += [("AAL3", loss) for loss in ("l1", "l2", "labels", "mean")]
colours = {"l1": "#0072B2", "l2": "#E69F00", "labels": "#009E73", "mean": "#777777"}
names = {"l1": "ℓ1", "l2": "ℓ2", "labels": "labels only", "mean": "mean map"}
scores = comparison.scores.set_index(["partition", "loss"])["nats_above_uniform"].sort_index()

figure, axes = plt.subplots(figsize=(8, 3.8), layout="constrained")
for row, (partition, loss) in enumerate(models):
    folds = scores.loc[(partition, loss)]
    axes.barh(row, folds.mean(), color=colours[loss], alpha=0.8)
    axes.plot(folds, [row] * len(folds), "o", markerfacecolor="white", markeredgecolor="#333333")
axes.set_yticks(range(len(models)), [f"{partition}: {names[loss]}" for partition, loss in models])
axes.invert_yaxis()
axes.set_xlabel("nats above uniform, on held-out studies")
axes.spines[["top", "right"]].set_visible(False)

# %%
# Voxels beat the atlas, and models of labels alone are the worst of those that read the text, as in
# the paper and on real studies. So few studies cannot show which loss is better; on real ones it is
# ℓ1, in each of ten folds.
#
# A prediction beside the true map:

shown = comparison.examples  # the best, the first quartile and the median of held-out studies
text = texts[shown.row[0]]
predicted = comparison.partition.to_img(shown.prediction[0] / comparison.partition.volumes_mm3)
figure = plt.figure(figsize=(8, 5))
for row, (title, image) in enumerate(
    [(f"truth: {text}", truth.encode(text).density_img), ("predicted", predicted)]
):
    plotting.plot_glass_brain(
        image,
        figure=figure,
        axes=(0, 0.5 - row / 2, 1, 0.42),
        display_mode="lyrz",
        cmap="YlOrRd",
        threshold=2e-6,  # per mm³; uniform is 5e-7
        vmin=0,
        vmax=4e-5,
        colorbar=False,
    )
    figure.text(0.02, 0.93 - row / 2, title, fontsize="large")

# %%
# For a corpus of your own, this command runs the comparison and writes the report:
#
# .. code-block:: bash
#
#    neurowhere compare corpus -o comparison --partitions voxels:4,atlas:aal.nii.gz:aal.csv

plt.show()
