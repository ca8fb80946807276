"""
Five-minute tour
================

neurowhere turns text into brain maps. Its built-in model needs no network and no set-up.
"""

import matplotlib.pyplot as plt
from nilearn import plotting

from neurowhere import decode, load_model

model = load_model()

# %%
# A text
# ------
# Any English text can be encoded: a sentence, an abstract, a report. A notebook shows the result as
# below: words that pulled the map to where it is are orange, negated words are struck through, and
# sides are underlined. The side of the infarct shifts the map; the thalamus is ignored, because the
# text says that it has no lesion.

result = model.encode(
    "Infarct in the left MCA territory with Broca's aphasia; no lesion in the thalamus."
)
result

# %%
# The map
# -------
# The density is an image in MNI space that integrates to 1. The *log ratio* to the mean map of all
# studies is easier to read: it shows what is specific to this text.

style = {"cmap": "RdBu_r", "threshold": 0.5, "vmax": 2.5, "draw_cross": False}
plotting.plot_stat_map(result.log_ratio_img, cut_coords=(-48, 14, 14), **style)

# %%
# How certain is the map? These are the smallest regions expected to hold 50 % (dark) and 80 %
# (light) of the peaks of a study with this text. They are calibrated on unseen studies.

glass = plotting.plot_glass_brain(None, display_mode="lyrz")
glass.add_contours(result.mass_img(0.8), levels=[0.5], colors="#9ecae1", filled=True)
glass.add_contours(result.mass_img(0.5), levels=[0.5], colors="#08519c", filled=True)
print(result.support)

# %%
# The regions by name, with the ratio of their probability to that in the average study:

result.regions().head().round(3)

# %%
# Why *here*? The contribution of each term to the log probability of a location is exact.

result.why((-48, 16, 12))

# %%
# Subtract texts, decode locations
# --------------------------------
# Texts can be subtracted. Which regions does speaking involve that listening does not?

speaking, listening = model.encode("speech production"), model.encode("speech perception")
difference = speaking - listening
plotting.plot_stat_map(difference.log_ratio_img, cut_coords=(-50, -10, 36), **style)

# %%
# A location can be decoded to words. This one is in the left amygdala.

decode(model, (-24, -4, -18)).terms.head(8).round(2)

# %%
# Save the result
# ---------------
# ``result.save("aphasia")`` writes images, tables, figures and a page that
# opens from disk. The same on the command line:
#
# .. code-block:: bash
#
#    neurowhere encode "Infarct in the left MCA territory ..." -o aphasia
#
# Next: :ref:`train a model of your own <sphx_glr_generated_gallery_plot_2_train.py>`, or read how
# the :doc:`model </likelihood>` works and what its :doc:`limits </model_card>` are.

plt.show()
