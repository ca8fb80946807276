"""
Read a radiology report
=======================

Much of a radiology report says what is *not* there. For each structure or finding that a report
mentions, neurowhere reads from the sentence whether it is denied or left open, on which side it is,
and in which section of the report. Only findings count.
"""

import matplotlib.pyplot as plt
from nilearn import plotting

from neurowhere import load_model, summarise

# %%
# A made-up report
# ----------------

REPORT = """TECHNIQUE: MRI of the brain with attention to the hippocampus.
FINDINGS: Acute infarct in the left insula and the left inferior frontal gyrus.
The thalamus and the cerebellum are spared. No lesion of the right hemisphere.
Possible small lesion of the left putamen. Normal amygdala.
IMPRESSION: Left MCA infarct, no haemorrhage in the brainstem."""

model = load_model()
result = model.encode(REPORT)
summary = summarise(result)

# %%
# What was read
# -------------
# Each mention, as the program understood it. Only those that are affirmed or left open (hedged)
# are part of the map.

for mention in summary.mentions:
    print(f"{mention.term:26} {mention.side or '':6} {mention.status}")

# %%
# The map, beside that of a program that only looks for words. If negation, sides and sections are
# ignored, the side is lost, and places that the report denies draw the map away from the infarct.

naive = model.encode(REPORT, negation=False, sides=False, findings=False)
figure = plt.figure(figsize=(9, 5))
rows = [("as it was read", result), ("every word counted, on both sides", naive)]
for row, (title, encoding) in enumerate(rows):
    plotting.plot_glass_brain(
        encoding.log_ratio_img,
        figure=figure,
        axes=(0, 0.5 - row / 2, 1, 0.42),
        display_mode="lyrz",
        cmap="YlOrRd",
        plot_abs=False,
        vmin=0,
        vmax=4,
        threshold=1.5,
        colorbar=False,
    )
    figure.text(0.02, 0.93 - row / 2, title, fontsize="large")

# %%
# The regions, in words:

result.regions()[["name", "probability", "ratio"]].head(6).round(3)

# %%
# From the command line, with ``--no-text`` so that the report itself is in no file:
#
# .. code-block:: bash
#
#    neurowhere encode report.txt -o report --no-text
#
# neurowhere is for research, not for diagnosis.

plt.show()
