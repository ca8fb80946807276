"""
Train on your own corpus
========================

A model is trained on studies that have both a text and coordinates. They may come from a table,
from JSON lines, from pubget or from NIMADS; :doc:`/corpus` lists all formats. This example uses
twelve made-up studies in one file: enough to show every step, not enough to learn much. Run it from
the folder ``examples``, which contains the file.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from nilearn import plotting

from neurowhere import Encoder, VoxelGrid, load_model, read_corpus, save_model

print(Path("studies.jsonl").read_text(encoding="utf-8").splitlines()[0])

# %%
# Read
# ----
# The format is detected, Talairach peaks are converted, and odd data are counted.

corpus = read_corpus("studies.jsonl")
corpus

# %%
# All peaks of all studies:

plotting.plot_markers(
    [1] * len(corpus.peaks),
    corpus.peaks[["x", "y", "z"]].to_numpy(),
    node_cmap="autumn",
    node_size=25,
    display_mode="lyrz",
    colorbar=False,
)

# %%
# Fit
# ---
# An encoder is a scikit-learn estimator. This is the one of *Text to brain*: total variation on
# voxels, with the penalty chosen on held-out studies. Terms that fewer than three studies mention
# are left out; for a real corpus keep the default of five.

model = Encoder(VoxelGrid(6), loss="l1", min_studies=3, validation=0.2).fit(corpus)
print(model.vocabulary_.terms)
print(f"within {model.certificate_.relative_gap:.4f} of the optimum, which the dual certifies")

# %%
# Inspect
# -------
# What did the model learn about a term? Mentioning it adds probability in red and removes it in
# blue.

figure = plt.figure(figsize=(8, 7))
for row, term in enumerate(["amygdala", "visual cortex", "precentral gyrus"]):
    plotting.plot_glass_brain(
        model.term_img(term),
        figure=figure,
        axes=(0, 0.67 - row / 3, 1, 0.28),
        display_mode="lyrz",
        cmap="RdBu_r",
        plot_abs=False,
        threshold=1e-5,
        vmax=8e-5,
        colorbar=False,
    )
    figure.text(0.02, 0.96 - row / 3, term, fontsize="large")

# %%
# Save
# ----
# A model is a folder of plain files with checksums; it contains no code. A loaded model predicts
# exactly what the saved one did.

with tempfile.TemporaryDirectory() as folder:
    save_model(model, Path(folder) / "model")
    again = load_model(Path(folder) / "model")

text = "Fear raised activity in the amygdala."
print((again.predict([text]) == model.predict([text])).all())
again.encode(text)

# %%
# The same on the command line:
#
# .. code-block:: bash
#
#    neurowhere corpus import studies.jsonl -o corpus
#    neurowhere fit corpus -o model --partition voxels:6 --min-studies 3
#    neurowhere encode "Fear raised activity in the amygdala." --model model -o fear

plt.show()
