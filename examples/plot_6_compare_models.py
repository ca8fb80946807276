"""
Compare models
==============

Does a model trained on your own studies predict such studies better than the shipped one, and is
the difference more than chance? Score both on the same studies by the likelihood of their peaks,
and compare study by study.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_score

from neurowhere import Encoder, VoxelGrid, load_model, read_corpus

corpus = read_corpus("studies.jsonl")  # twelve made-up studies, in the folder of this script
peaks = corpus.peaks_by_document

# %%
# The shipped model has not seen them
# -----------------------------------
# Scores are in *nats above uniform*: the mean log-likelihood of the peaks of a study under the
# prediction, minus that under the same density everywhere. (The prediction is first mixed with the
# uniform density, half and half.) A model that knows nothing scores 0; ``mean_map`` is the score of
# the average map, which ignores the text.

shipped = load_model()
scores = shipped.score_documents(corpus)
uniform = -np.log(shipped.brain_.total_volume_mm3)
scores.head(3).round(2)

# %%
# Our own model must not see them either
# --------------------------------------
# Each study is predicted by a model that was fitted to the other eleven. An `Encoder` is a
# scikit-learn estimator, so scikit-learn's tools work with it.

own = Encoder(VoxelGrid(4), loss="l2", min_studies=2, validation=0.2)
own_scores = cross_val_score(own, corpus.texts, peaks, cv=LeaveOneOut())

# %%
# Study by study
# --------------

models = {
    "mean map": scores["mean_map"] - uniform,
    "ours, of eleven studies": own_scores - uniform,  # on the same brain, of 4-mm voxels
    "shipped, of 12,100": scores["nats_above_uniform"],
}
colours = ["#999999", "#E69F00", "#0072B2"]
titles = corpus.documents["title"]
order = np.argsort(models["shipped, of 12,100"].to_numpy())

figure, axes = plt.subplots(figsize=(8.5, 4.8), layout="constrained")
for (name, nats), colour in zip(models.items(), colours, strict=True):
    axes.plot(
        np.asarray(nats)[order], range(len(order)), "o", color=colour, label=name, markersize=8
    )
axes.set_yticks(range(len(order)), titles.to_numpy()[order])
axes.axvline(0, color="#D55E00", linewidth=1)
axes.grid(axis="y", color="#eeeeee")
axes.set_axisbelow(True)
axes.set_xlabel("nats above uniform")
axes.spines[["top", "right", "left"]].set_visible(False)
axes.legend(loc="lower right")

# %%
# Studies differ as much as models do, so we look at paired differences.

difference = models["shipped, of 12,100"] - models["ours, of eleven studies"]
error = difference.std(ddof=1) / np.sqrt(len(difference))
print(f"shipped minus ours: {difference.mean():.2f} ± {error:.2f} nats (mean ± standard error)")

# %%
# Our model is ahead. But the twelve studies were made up from the same few regions, so eleven of
# them say much about the twelfth. Real studies are harder to predict.

# %%
# Choose a setting
# ----------------
# Settings are compared in the same way, by the likelihood of held-out studies. How wide should the
# kernel be that turns peaks into a density?

search = GridSearchCV(own, {"bandwidth": [1, 2, 3, 4]}, cv=3).fit(corpus.texts, peaks)
widths = [parameters["bandwidth"] for parameters in search.cv_results_["params"]]
figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
axes.plot(np.multiply(widths, 4), search.cv_results_["mean_test_score"] - uniform, "o-")
axes.set_xlabel("standard deviation of the kernel, mm")
axes.set_ylabel("nats above uniform")
axes.spines[["top", "right"]].set_visible(False)

# %%
# ``neurowhere compare`` compares partitions and losses on random folds, with intervals that account
# for the overlap of the folds: see
# :ref:`the paper's study <sphx_glr_generated_gallery_plot_3_reproduce_the_paper.py>` and
# :doc:`/compare`.

plt.show()
