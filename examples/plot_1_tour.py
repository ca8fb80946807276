"""
Five-minute tour
================

Text in, brain map out. The model that comes with the package needs no network and no set-up.
"""

import matplotlib.pyplot as plt
from nilearn import plotting

from neurowhere import load_model
from neurowhere.model.algebra import subtract
from neurowhere.model.decoding import decode
from neurowhere.space import default_atlas

model = load_model()

# %%
# A text
# ------
# Any English text will do: a sentence, an abstract, a report. A notebook shows the result as below:
# words that put the map where it is are orange, what the text denies is struck through, sides are
# underlined. The side of the infarct moves the map; the thalamus does not count.

result = model.encode(
    "Infarct in the left MCA territory with Broca's aphasia; no lesion in the thalamus."
)
result

# %%
# What you get
# ------------
# The density is an image in MNI space that integrates to 1. The *log ratio* to the mean map of all
# studies is better to look at: it shows what is special about this text.

style = {"cmap": "RdBu_r", "threshold": 0.5, "vmax": 2.5, "draw_cross": False}
plotting.plot_stat_map(result.log_ratio_img, cut_coords=(-48, 14, 14), **style)

# %%
# How far to trust it? These are the smallest regions that should hold 50 % (dark) and 80 % (light)
# of the peaks of a study with this text, calibrated on studies that the model had not seen.

glass = plotting.plot_glass_brain(None, display_mode="lyrz")
glass.add_contours(result.mass_img(0.8), levels=[0.5], colors="#9ecae1", filled=True)
glass.add_contours(result.mass_img(0.5), levels=[0.5], colors="#08519c", filled=True)
print(result.support)

# %%
# Names of places, with how much likelier each is than in the average study:

result.regions(default_atlas()).head().round(3)

# %%
# And why *here*? What each term adds to the log probability of a place is exact.

result.why((-48, 16, 12))

# %%
# Two texts, and the way back
# ---------------------------
# Texts can be subtracted: what does speaking need that listening does not?

speaking, listening = model.encode("speech production"), model.encode("speech perception")
difference = subtract(speaking, listening)
plotting.plot_stat_map(difference.log_ratio_img, cut_coords=(-50, -10, 36), **style)

# %%
# A place can be turned into words, too. This one is in the left amygdala.

decode(model, (-24, -4, -18)).terms.head(8).round(2)

# %%
# Keep it
# -------
# ``result.save("aphasia", atlas=default_atlas())`` writes images, tables, pictures and a page that
# opens from disk. On the command line the same is
#
# .. code-block:: bash
#
#    neurowhere encode "Infarct in the left MCA territory ..." -o aphasia
#
# Next: :ref:`train a model of your own <sphx_glr_generated_gallery_plot_2_train.py>`, or read how
# the :doc:`model </likelihood>` works and what its :doc:`limits </model_card>` are.

plt.show()
