"""
Decode a coordinate
===================

Which words and which studies are associated with a location?
"""

import matplotlib.pyplot as plt
from nilearn import plotting
from nilearn.datasets import load_sample_motor_activation_image

from neurowhere import decode, load_model

model = load_model()

# %%
# A point
# -------
# The score of a term is the correlation of the location with the map of the term, both compared
# with the mean map of all studies; terms that few studies mention are discounted. The ratio says
# how much more likely a peak here is in a study that is half about the term than in any study.

amygdala = decode(model, (-24, -4, -18))
amygdala.terms.head(8).round(2)

# %%
# Three locations, and the terms whose maps match them best:

PLACES = {
    "left amygdala": (-24, -4, -18),
    "left fusiform gyrus": (-42, -56, -18),
    "right precentral gyrus": (40, -20, 56),
}
figure = plt.figure(figsize=(9, 8))
for row, (name, point) in enumerate(PLACES.items()):
    terms = decode(model, point, n_terms=8).terms[::-1]
    bottom = 0.72 - 0.32 * row
    brain = plotting.plot_glass_brain(
        None, figure=figure, axes=(0, bottom, 0.42, 0.22), display_mode="xz"
    )
    brain.add_markers([point], marker_color="#D55E00", marker_size=60)
    axes = figure.add_axes((0.72, bottom, 0.26, 0.22))
    axes.barh(terms["term"], terms["score"], color="#0072B2")
    axes.set_xlim(0, 1)
    axes.spines[["top", "right"]].set_visible(False)
    figure.text(0.02, bottom + 0.25, name, fontsize="large")
axes.set_xlabel("score of the term")

# %%
# The training studies whose texts point there most, by PubMed id:

amygdala.studies.head(3)

# %%
# Several peaks, or a map
# -----------------------
# Several peaks are decoded together. In an image, the values above a threshold are decoded. This
# map of real data comes with nilearn: button presses with the left hand against the right.

motor = load_sample_motor_activation_image()
plotting.plot_stat_map(motor, threshold=3, cut_coords=(38, -22, 56), draw_cross=False)
decode(model, motor, threshold=3).terms.head(8).round(2)

# %%
# On the command line:
#
# .. code-block:: bash
#
#    neurowhere decode -24 -4 -18
#    neurowhere decode zmap.nii.gz --threshold 3

plt.show()
