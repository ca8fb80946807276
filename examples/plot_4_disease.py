"""
Map a disease from text
=======================

Most articles about a disease report no coordinates, but many name a location: "the caudate nucleus
degenerates". Encode them all, and contrast those that mention the disease with the rest.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from nilearn import plotting

from neurowhere import contrast_documents

# %%
# Documents
# ---------
# You would usually have a folder of articles or a table of abstracts; see :doc:`/contrast`. This
# example uses 150 short random texts. Each names a disease, a typical finding in its patients (or
# sometimes a finding of another disease), and something uninformative.

OFTEN = {
    "Huntington": ["atrophy of the caudate nucleus", "striatal degeneration", "chorea"],
    "aphasia": [
        "lesions of the inferior frontal gyrus",
        "impaired speech",
        "poor sentence reading",
    ],
    "amnesia": [
        "hippocampal sclerosis",
        "impaired episodic memory",
        "loss of medial temporal volume",
    ],
}
ANYTHING = ["age and sex were recorded", "patients gave consent", "scans were read twice"]
rng = np.random.default_rng(0)


def write_text():
    """Generate one document."""
    disease = rng.choice(list(OFTEN))
    told = disease if rng.random() < 0.8 else rng.choice(list(OFTEN))
    return f"Patients with {disease} showed {rng.choice(OFTEN[told])}; {rng.choice(ANYTHING)}."


texts = [write_text() for _ in range(150)]
print("\n".join(texts[:3]))

# %%
# Contrast
# --------
# The name of the disease is left out of the texts before they are encoded. The map reflects what
# else the documents say, beside what is expected of documents of their kind.

with tempfile.TemporaryDirectory() as folder:
    for number, text in enumerate(texts):
        Path(folder, f"{number:03}.txt").write_text(text, encoding="utf-8")
    maps = {disease: contrast_documents(folder, disease, keep=False, n_jobs=1) for disease in OFTEN}
maps["Huntington"]

# %%
# Where do documents about each disease point more than expected? The maps are thresholded at a
# false-discovery rate of 5 %.

figure = plt.figure(figsize=(9, 7))
for row, (disease, contrast) in enumerate(maps.items()):
    plotting.plot_glass_brain(
        contrast.threshold_img,
        figure=figure,
        axes=(0, 0.67 - row / 3, 1, 0.28),
        display_mode="lyrz",
        cmap="RdBu_r",
        plot_abs=False,
        threshold=0.2,
        vmax=1,
        colorbar=False,
    )
    figure.text(0.02, 0.96 - row / 3, disease, fontsize="large")

# %%
# Regions, with intervals, t, p and q:

maps["Huntington"].regions().head(8).round(3)

# %%
# The terms behind the contrast:

maps["Huntington"].terms.head(6).round(3)

# %%
# On the command line, for any number of documents (they are streamed):
#
# .. code-block:: bash
#
#    neurowhere contrast articles --term huntington -o huntington

plt.show()
