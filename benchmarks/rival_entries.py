r"""Entries of the open benchmark that need an environment of their own: NeuroQuery and GC-LDA.

    export NEUROQUERY_PYTHON=PATH NIMARE_PYTHON=PATH
    PYTHONPATH=benchmarks neurowhere benchmark -o scores --corpus CORPUS --folds 3 \
        --entries rival_entries:NeuroQuery,rival_entries:GCLDA

Each variable names the Python of an environment of ``rivals/*_requirements.txt``. A model is fitted
there to the training studies of each fold, and enters with its maps as they are; what is done in
NeuroQuery's favour is told in `neuroquery_rival.py`. GC-LDA samples for GCLDA_SECONDS of processor
time a fold (600): NiMARE's documentation asks for 10,000 iterations.
"""

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import nibabel
import numpy as np
from scipy import sparse

from neuroquery_rival import RIVALS, known_terms, write_counts, write_studies
from neurowhere.evaluate.protocol import Protocol
from neurowhere.space import VoxelGrid
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.features import combine_sections

SECTIONS = ("title", "keywords", "abstract")
LEAST_SHARE = 0.01  # of the training studies, that mention a term of GC-LDA


class RivalEntry:
    """A model that is fitted by a script in an environment of its own."""

    def fit(self, train):
        """Fit the model to the training studies of a fold, in a new folder."""
        self.place = tempfile.TemporaryDirectory(prefix=f"{self.name}-")
        self.folder, self.grid = Path(self.place.name), VoxelGrid(4)
        self.terms = known_terms(train)
        self.fit_studies(train)

    def run(self, script, *arguments):
        """Run a script in the environment of the model."""
        subprocess.run([os.environ[self.python], RIVALS / script, *arguments], check=True)

    def counted(self, studies):
        """Return studies with counts of all sections; texts count as an abstract."""
        if studies.counts is None:
            extractor = TermExtractor(Vocabulary(self.terms))
            counts, terms = {"abstract": extractor.counts(studies)}, extractor.terms
        else:
            counts, terms = studies.counts, studies.terms
        nothing = sparse.csr_matrix((len(studies), len(terms)), dtype=np.float32)
        counts = {section: counts.get(section, nothing) for section in SECTIONS}
        return replace(studies, sections=None, counts=counts, terms=list(terms))

    @property
    def size_mb(self):
        """Size of the files of the model."""
        files = [file for file in (self.folder / "model").rglob("*") if file.is_file()]
        return sum(file.stat().st_size for file in files) / 1e6


class NeuroQuery(RivalEntry):
    """NeuroQuery's own package: tf-idf, smoothing by co-occurrence, selection of terms, ridge."""

    name, python = "neuroquery", "NEUROQUERY_PYTHON"

    def fit_studies(self, train):
        """Fit the model by the recipe of its authors."""
        write_studies(self.folder, train, self.grid)
        self.run("neuroquery_entry.py", self.folder)
        (self.folder / "maps.npy").unlink()

    def predict(self, studies):
        """Return NeuroQuery's maps of texts."""
        with tempfile.TemporaryDirectory() as texts:
            write_counts(Path(texts), self.counted(studies), self.terms)
            self.run("neuroquery_entry.py", self.folder, texts)
            return np.load(Path(texts, "maps.npy"))


class GCLDA(RivalEntry):
    """NiMARE's GC-LDA, of the terms in at least 1 % of the training studies.

    With n_w the raw counts of a text, p(v | text) ∝ Σ_t p(v | t) Σ_w n_w p(t | w), as in the
    package's `gclda_encode`. A text without a known term gets the mean map.
    """

    name, python = "gclda", "NIMARE_PYTHON"

    def fit_studies(self, train):
        """Sample until the time is used up."""
        counts = self.counts_of(train)
        frequent = counts.getnnz(axis=0) >= LEAST_SHARE * len(train)
        self.terms = [term for term, is_frequent in zip(self.terms, frequent) if is_frequent]
        sparse.save_npz(self.folder / "train.npz", counts[:, frequent])
        (self.folder / "terms.txt").write_text("\n".join(self.terms))
        (self.folder / "train_ids.txt").write_text("\n".join(train.documents["id"].astype(str)))
        train.peaks[["id", "x", "y", "z"]].to_csv(self.folder / "peaks.csv", index=False)
        brain = self.grid.to_img(np.ones(self.grid.n_regions))
        nibabel.save(brain, self.folder / "mask.nii.gz")
        seconds = os.environ.get("GCLDA_SECONDS", "600")
        self.run("gclda_fit.py", self.folder, "--seconds", seconds)
        self.model = np.load(self.folder / "model" / "model.npz")
        self.mean = Protocol.prepare(train, grid=self.grid).mean_map(np.arange(len(train)))

    def counts_of(self, studies):
        """Return raw counts of the terms in all sections together."""
        studies = self.counted(studies)
        column = {term: i for i, term in enumerate(studies.terms)}
        columns = [column[term] for term in self.terms]
        return sparse.csr_matrix(combine_sections(studies.counts)[:, columns])

    def predict(self, studies):
        """Return the maps of texts."""
        maps = (self.counts_of(studies) @ self.model["topics"]) @ self.model["voxels"]
        maps[maps.sum(axis=1) == 0] = self.mean
        return maps.astype(np.float32)
