"""
Parcellated term maps
=====================

Many analyses need the mean of term maps in each region of an atlas: to correlate them with a
parcellated map of your own, with receptor densities or with gene expression. ``parcellate_terms``
returns such a table for any terms and any atlas.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from nilearn.datasets import load_sample_motor_activation_image
from nilearn.image import resample_to_img

from neurowhere import default_atlas, load_model, parcellate_terms

# %%
# Terms by regions
# ----------------
# Give a list of terms, or none for all terms of the model; on the command line, use
# ``neurowhere term --all --csv -o folder``. The regions are those of AAL3, or of another atlas:
# ``atlas=Atlas("parcels.nii.gz", "labels.csv")``.

model = load_model()
TERMS = [
    "hand movement", "speech production", "reading", "face recognition", "fear", "reward", "pain",
    "working memory", "episodic memory", "visual motion",
]  # fmt: skip
table = parcellate_terms(model, TERMS)
table.iloc[:3, :5].round(2)

# %%
# The two highest regions of each term:

REGIONS = list(dict.fromkeys(np.ravel([table.loc[t].nlargest(2).index for t in TERMS])))
figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
shown = table[REGIONS]
image = axes.imshow(shown, cmap="RdBu_r", vmin=-4, vmax=4, aspect="auto")
axes.set_xticks(range(len(REGIONS)), REGIONS, rotation=50, ha="right")
axes.set_yticks(range(len(TERMS)), TERMS)
figure.colorbar(image, label="mean of the map (log ratio)")

# %%
# Beside a map of your own
# ------------------------
# We take the map that comes with nilearn (button presses with the left hand against the right) and
# compute its mean in the same regions. Terms are correlated with it over the regions of the right
# hemisphere, where it is positive. A correlation says how similar two maps are; for a p-value, use
# a null model that keeps their smoothness, such as a spin test.

atlas = default_atlas()
motor = load_sample_motor_activation_image()
like = atlas.to_img(np.arange(atlas.n_regions))
values = np.asarray(resample_to_img(motor, like).dataobj)
inside = atlas.regions >= 0
totals = np.bincount(atlas.regions[inside], values[inside], atlas.n_regions)
means = totals / np.bincount(atlas.regions[inside], minlength=atlas.n_regions)
right = [k for k, name in enumerate(atlas.names) if name.endswith("_R")]
own = pd.Series(means[right], index=table.columns[right])
similarity = table[own.index].corrwith(own, axis=1).sort_values()

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.barh(similarity.index, similarity, color=np.where(similarity > 0, "#D55E00", "#0072B2"))
axes.axvline(0, color="#333333", linewidth=1)
axes.set_xlabel("correlation over the regions of the right hemisphere")
axes.spines[["top", "right", "left"]].set_visible(False)

plt.show()
