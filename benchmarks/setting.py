"""What the benchmarks share: the real problem that all of them solve, and a table to print.

The development data is looked for in the folder named by NEUROWHERE_DATA.
"""

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from neurowhere.corpus import Corpus, read_corpus
from neurowhere.model.store import SHIPPED
from neurowhere.space import Targets, VoxelGrid, make_targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.building.anatomy import build_anatomy

DATA = Path(os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Problem:
    """The learning problem of the paper on real data: features and targets of all studies."""

    corpus: Corpus
    vocabulary: Vocabulary
    X: sp.csr_matrix  # (n_studies, n_terms), rows of unit norm
    targets: Targets
    grid: VoxelGrid

    @property
    def n_regions(self):
        """Number of voxels m."""
        return self.grid.n_regions

    def columns(self, regions):
        """Targets of a slice of regions, times m: the scale on which λ is given."""
        return self.targets.columns(regions) * np.float32(self.n_regions)

    def targets_of(self, regions):
        """Targets of scattered regions, times m."""
        return np.concatenate([self.columns(slice(k, k + 1)) for k in regions], axis=1)

    def head(self, n_studies):
        """Cut the problem to a few studies only."""
        rows = np.arange(n_studies)
        parts = (self.corpus.select(rows), self.X[rows], self.targets.select(rows))
        return replace(self, corpus=parts[0], X=parts[1], targets=parts[2])

    @cached_property
    def dense_targets(self):
        """All targets, (n_studies, m): what our own learners never need."""
        return self.targets.rows(slice(None))


def real_problem(*, minimum_studies=5, resolution_mm=4.0):
    """neuroquery_dev, a grid, and the anatomical terms that occur in a few studies at least."""
    corpus = read_corpus(DATA / "corpus", format="neuroquery")
    vocabulary = build_anatomy(DATA / "vocabulary")
    counts = TermExtractor(vocabulary).counts(corpus)
    frequent = np.flatnonzero(counts.getnnz(axis=0) >= minimum_studies)
    grid = VoxelGrid(resolution_mm)
    xyz_mm = corpus.peaks[["x", "y", "z"]].to_numpy()
    targets = make_targets(grid, grid, xyz_mm, corpus.peak_rows, len(corpus))
    terms = Vocabulary([vocabulary.terms[i] for i in frequent])
    return Problem(corpus, terms, TfIdf().fit_transform(counts[:, frequent]), targets, grid)


def peak_memory_gib():
    """Highest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def print_table(header, rows):
    """Print rows under a header, columns aligned, as Markdown; see `keep_table`."""
    rows = [list(row) for row in rows]
    keep_table(header, rows)
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")


_TABLES = []


def keep_table(header, rows):
    """Write the tables of this run to the folder NEUROWHERE_RESULTS, with what made them."""
    folder = os.environ.get("NEUROWHERE_RESULTS")
    if folder is None:
        return
    _TABLES.append([list(header), *rows])
    commit = subprocess.check_output(
        ["git", "describe", "--always", "--dirty", "--abbrev=40"], cwd=Path(__file__).parent
    )
    model = json.loads((SHIPPED / "info.json").read_text("utf-8"))["sha256"]["predictor.npz"]
    made = {"command": sys.argv, "commit": commit.decode().strip(), "model": model}
    path = Path(folder) / f"{Path(sys.argv[0]).stem}.json"
    path.write_text(json.dumps(made | {"tables": _TABLES}, default=str, indent=1) + "\n", "utf-8")
