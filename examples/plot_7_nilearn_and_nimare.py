"""
With nilearn and NiMARE
=======================

Maps are NIfTI images in MNI space and corpora are tables, so other tools can use both. nilearn
plots maps and measures them in regions; NiMARE runs coordinate-based meta-analyses on the same
studies.
"""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
from nilearn import plotting
from nilearn.datasets import load_sample_motor_activation_image
from nilearn.image import resample_to_img
from nilearn.masking import apply_mask

from neurowhere import load_model, read_corpus

# %%
# nilearn: a region from words
# ----------------------------
# ``mass_img`` returns the smallest region expected to hold a given share of the peaks of studies
# with such a text: a region of interest that was defined before you saw the data. The map comes
# with nilearn: button presses with the left hand against the right, which activate the right motor
# cortex.

model = load_model()
motor = load_sample_motor_activation_image()
TEXTS = ["right motor cortex", "left motor cortex", "primary visual cortex", "hippocampus"]
regions = {text: model.encode(text).mass_img(0.5) for text in TEXTS}

slices = plotting.plot_stat_map(motor, cut_coords=(38, -22, 56), threshold=3, draw_cross=False)
slices.add_contours(regions["right motor cortex"], levels=[0.5], colors="#009E73", linewidths=2)

# %%
# The outline is the region of "right motor cortex". The mean of the map within each region:

coarse = resample_to_img(motor, regions["hippocampus"])  # to the voxels of the model
means = {text: apply_mask(coarse, region).mean() for text, region in regions.items()}
figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
axes.barh(
    list(means),
    list(means.values()),
    color=["#D55E00" if z > 0 else "#0072B2" for z in means.values()],
)
axes.axvline(0, color="#333333", linewidth=1)
axes.invert_yaxis()
axes.set_xlabel("mean z, left − right button press")
axes.spines[["top", "right", "left"]].set_visible(False)

# %%
# On the cortex, with a surface that comes with nilearn:

fear = model.encode("Fear conditioning activated the amygdala and the anterior insula.")
figure, axes = plotting.plot_img_on_surf(
    fear.log_ratio_img,
    surf_mesh="fsaverage5",
    views=["lateral", "medial"],
    hemispheres=["left", "right"],
    cmap="RdBu_r",
    threshold=0.8,
    vmax=2,
    colorbar=False,
)

# %%
# NiMARE: the same studies
# ------------------------
# NiMARE reads studysets in NIMADS, a JSON format. A few lines convert a corpus; ``read_corpus``
# reads such files back.


def to_nimads(corpus):
    """Convert a corpus to a studyset: a dictionary, one study with one analysis per document."""
    return {
        "id": "neurowhere",
        "name": "neurowhere",
        "studies": [
            {
                "id": document.id,
                "name": document.metadata["title"],
                "description": document.sections["abstract"],
                "analyses": [
                    {
                        "id": f"{document.id}-1",
                        "name": document.metadata["title"],
                        "points": [
                            {"coordinates": xyz, "space": "MNI"} for xyz in document.peaks.tolist()
                        ],
                        "conditions": [],
                        "weights": [],
                        "images": [],
                        "metadata": {},
                    }
                ],
            }
            for document in corpus.iter_documents()
        ],
    }


corpus = read_corpus("studies.jsonl")  # twelve made-up studies, in the folder of this script
studyset = to_nimads(corpus)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "studyset.json"
    path.write_text(json.dumps(studyset), encoding="utf-8")
    again = read_corpus(path)
print(again, again.peaks[["x", "y", "z"]].equals(corpus.peaks[["x", "y", "z"]]))

# %%
# If NiMARE is installed, this runs a meta-analysis of the studies that mention the amygdala and
# plots its map beside that of the word. (NiMARE 0.22 needs nilearn before 0.14. If that conflicts
# with neurowhere's, install NiMARE in an environment of its own and pass it the file
# ``studyset.json``.)

if find_spec("nimare"):
    from nimare.meta.cbma import MKDADensity
    from nimare.nimads import Studyset

    mentions = ["amygdala" in text for text in corpus.texts]
    meta = MKDADensity().fit(Studyset(to_nimads(corpus.select(mentions))))
    figure = plt.figure(figsize=(8, 5))
    for row, (title, image, least) in enumerate(
        [
            ("NiMARE: MKDA density, z", meta.get_map("z"), 1.65),
            ('neurowhere: "amygdala", log ratio', model.encode("amygdala").log_ratio_img, 1.0),
        ]
    ):
        plotting.plot_glass_brain(
            image,
            figure=figure,
            axes=(0, 0.5 - row / 2, 1, 0.42),
            display_mode="lyrz",
            cmap="YlOrRd",
            plot_abs=False,
            vmin=0,
            threshold=least,
            colorbar=False,
        )
        figure.text(0.02, 0.93 - row / 2, title, fontsize="large")
else:
    print("pip install nimare, then run this again")

plt.show()
