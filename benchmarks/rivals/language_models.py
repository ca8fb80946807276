"""Ways into the open benchmark for NeuroVLM, NeuroConText and NiCLIP. Untried with weights.

    export PYTHONPATH=benchmarks/rivals
    neurowhere benchmark -o scores --corpus DIR --ids neuroquery --entries language_models:neurovlm

`neurovlm` follows the quick start of NeuroVLM 0.0.5 and needs that package in the environment. The
other two are given what their own code exports, in files that environment variables name:

- NEUROCONTEXT, an .npz file with `ids`, and for each kind of text the coefficients of the DiFuMo
  atlas that the model decodes, (n, n_components); and `images`, the path of the atlas's 4-D image;
- EMBEDDINGS, an .npz file with `ids`, `images` (n, d) and for each kind of text its embeddings
  (n, d), in the space that texts and images share. NiCLIP draws no maps of texts: an entry is the
  mean map of the training studies whose images are closest to the text.

All were trained on literature that may have the test studies in it. Unless you train them on the
training studies of a fold, what they were trained on is "unknown".
"""

import os
from functools import cached_property

import nibabel
import numpy as np

from neurowhere.evaluate import Protocol
from neurowhere.evaluate.entries import row_of
from neurowhere.space import VoxelGrid

GRID = VoxelGrid(4)
SCALE = 20.0  # of cosines, before the softmax over training studies


def neurovlm(texts):
    """Return the images that NeuroVLM generates from texts."""
    from neurovlm import NeuroVLM

    return NeuroVLM().text(list(texts)).to_brain(head="mse").to_nifti()


neurovlm.trained_on = "unknown"
neurovlm.kinds = ("title", "article")


class Exported:
    """An entry of what a model exports by PubMed id and kind of text."""

    kinds = ("all", "title", "abstract", "article")

    @cached_property
    def arrays(self):
        """Arrays of the file, and the row of each id."""
        arrays = dict(np.load(os.environ[self.variable]))
        return arrays, {name: i for i, name in enumerate(arrays["ids"].astype(str))}

    def known(self, kind):
        """Return the ids that are exported; terms alone are not."""
        return self.arrays[1].keys()

    def rows(self, studies, key):
        """Return an array's rows of some studies."""
        arrays, row_of_id = self.arrays
        return arrays[key][[row_of_id[name] for name in studies.documents["id"].astype(str)]]


class NeuroConText(Exported):
    """Maps of coefficients of the DiFuMo atlas."""

    name, variable, trained_on = "neurocontext", "NEUROCONTEXT", "unknown"

    def predict(self, studies):
        """Return the maps of texts."""
        image = nibabel.load(str(self.arrays[0]["images"]))
        components = np.stack([row_of(each, GRID) for each in nibabel.four_to_three(image)])
        return self.rows(studies, studies.origin["kind"]) @ components


class NiCLIP(Exported):
    """The mean map of the training studies whose images are closest to a text."""

    name, variable = "niclip", "EMBEDDINGS"

    def __init__(self, grid=GRID):
        self.grid = grid

    def fit(self, train):
        """Keep the densities and the embedded images of the training studies."""
        self.targets = Protocol.prepare(train, grid=self.grid).targets
        self.images = unit(self.rows(train, "images"))

    def predict(self, studies):
        """Return the maps of texts."""
        texts = unit(self.rows(studies, studies.origin["kind"]))
        weights = np.exp(SCALE * (texts @ self.images.T - 1))
        weights /= weights.sum(axis=1, keepdims=True)
        return self.targets.smooth(weights @ self.targets.shares)


def unit(rows):
    """Scale rows to unit norm."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
