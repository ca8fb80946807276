r"""Entries of the open benchmark that need an environment of their own: NeuroQuery and GC-LDA.

    export NEUROQUERY_PYTHON=PATH NIMARE_PYTHON=PATH
    PYTHONPATH=benchmarks neurowhere benchmark -o scores --corpus CORPUS --folds 3 \
        --entries rival_entries:NeuroQuery,rival_entries:GCLDA

Each variable names the Python of an environment of ``rivals/*_requirements.txt``. A model is fitted
there to the training studies of each fold, and enters with its maps as they are; what is done in
NeuroQuery's favour is told in `neuroquery_kinds.py`. GC-LDA samples for GCLDA_SECONDS of processor
time a fold (600): NiMARE's documentation asks for 10,000 iterations.
"""

import argparse
import json
import os
import subprocess
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import nibabel
import numpy as np
from scipy import sparse

from neuroquery_kinds import RIVALS, known_terms, write_counts, write_studies
from neurowhere.corpus import read_corpus
from neurowhere.evaluate import Protocol, StudyList
from neurowhere.evaluate.metrics import as_densities
from neurowhere.learn import score_studies
from neurowhere.space import VoxelGrid
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.features import combine_sections
from setting import DATA, print_table

ITERATIONS = (10, 25, 50, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000)
SECTIONS = ("title", "keywords", "abstract")
LEAST_SHARE = 0.01  # of the training studies, that mention a term of GC-LDA


class RivalEntry:
    """A model that is fitted by a script in an environment of its own."""

    def fit(self, train):
        """Fit the model to the training studies of a fold, in a new folder."""
        self.place = tempfile.TemporaryDirectory(prefix=f"{self.name}-")
        self.start(Path(self.place.name))
        self.fit_studies(train)

    def start(self, folder):
        """Work in a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.grid = folder, VoxelGrid(4)

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
        self.terms = known_terms(train)
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

    def __init__(self, iterations=None):
        self.iterations = iterations or [int(os.environ.get("GCLDA_ITERATIONS", "250"))]

    def fit_studies(self, train):
        """Sample, and keep the model of the last iteration."""
        self.write_studies(train)
        if not (self.folder / "model").exists():
            self.run("gclda_fit.py", self.folder, *map(str, self.iterations))
        self.read(self.iterations[-1])
        self.mean = Protocol.prepare(train, grid=self.grid).mean_map(np.arange(len(train)))

    def read(self, iterations):
        """Read the model after some iterations."""
        with np.load(self.folder / "model" / f"{iterations}.npz") as arrays:
            self.model = dict(arrays)

    def write_studies(self, train):
        """Write what the model learns from: counts of frequent terms, peaks and the mask."""
        self.terms = known_terms(train)
        counts = self.counts_of(train)
        frequent = counts.getnnz(axis=0) >= LEAST_SHARE * len(train)
        self.terms = [term for term, is_frequent in zip(self.terms, frequent) if is_frequent]
        sparse.save_npz(self.folder / "train.npz", counts[:, frequent])
        (self.folder / "terms.txt").write_text("\n".join(self.terms))
        (self.folder / "train_ids.txt").write_text("\n".join(train.documents["id"].astype(str)))
        train.peaks[["id", "x", "y", "z"]].to_csv(self.folder / "peaks.csv", index=False)
        brain = self.grid.to_img(np.ones(self.grid.n_regions))
        nibabel.save(brain, self.folder / "mask.nii.gz")

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


def main():
    """Score GC-LDA after more and more iterations, on the test studies of fold 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path, help="folder of the fits")
    parser.add_argument("-o", "--output", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--iterations", type=int, nargs="+", default=ITERATIONS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = read_corpus(DATA / "corpus", format="neuroquery")
    setting = Protocol.prepare(corpus, ids=StudyList.read("neuroquery"))
    train, test = setting.split(0)
    entry = GCLDA(sorted(arguments.iterations))
    entry.start(arguments.work)
    entry.fit_studies(setting.corpus.select(train))
    mean, points = setting.mean_map(train), []
    for iterations in entry.iterations:
        entry.read(iterations)
        point = {"iterations": iterations, "seconds": round(float(entry.model["seconds"]))}
        for kind in ("all", "title"):
            rows = test[setting.has_kind(test, kind)]
            maps = as_densities(entry.predict(setting.given(rows, kind)))
            both = (maps, np.broadcast_to(mean, maps.shape))
            scale = np.full(maps.shape[1], float(maps.shape[1]))
            own, usual = (score_studies([each], setting.peaks(rows), scale) for each in both)
            point[kind] = round(float((own - usual).mean()), 4)
        points.append(point)
    print_table(list(points[0]), [list(point.values()) for point in points])
    about = {"entry": "gclda", "fold": 0, "metric": "nats above the mean map", "points": points}
    arguments.output.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
