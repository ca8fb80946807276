"""NeuroQuery on the folds of our comparisons: nats above uniform and above the mean map.

    python benchmarks/neuroquery_rival.py --neuroquery-python PATH [--folder DIR] [-o scores.csv]

The option names the Python of an environment of ``rivals/neuroquery_requirements.txt``. Each fold
is fitted by ``rivals/neuroquery_fit.py``. How its maps become densities is chosen once, by another
fit to a part of fold 0's training studies, scored on the rest of them. With --folder, finished fits
are kept there and not repeated.

What is done in NeuroQuery's favour:

- It learns on the voxels that are scored, which is the mask that its code makes by default; none of
  its maps has to be resampled, and no scored peak lies outside of them.
- It rounds coordinates down, which shifts its maps by half a voxel; it is given peaks half a voxel
  up, so that each falls into the voxel whose cell contains it.
- Its maps are no densities. Two ways to make them so compete, with all their parameters and with a
  share w of our mean map mixed in: `clipped`, its prediction with a sharper deviation from its
  mean, cut at zero, and `tilted`, our mean map times the exponential of its z map.

"as it is" is its prediction cut at zero and rescaled, with nothing chosen.
"""

import argparse
import itertools
import json
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
from scipy import sparse

from neurowhere.corpus import read_corpus
from neurowhere.evaluate.trial import prepare_material
from neurowhere.exceptions import DataWarning
from neurowhere.learn import Peaks, score_studies, shuffle_split, to_probabilities
from neurowhere.space import VoxelGrid, make_targets
from setting import DATA, print_table

RIVALS = Path(__file__).parent / "rivals"
VOCABULARY = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
SYNONYMS = "neuroquery_voc_mapping_identity.json"
TEXTS = "rawtext_linked_dev.jsonl.gz"
ENCODED_TEXTS = 20
FOLDS = 5
SHARPNESS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
SLOPES = (0.15, 0.2, 0.25, 0.3, 0.4)
CAPS = (6.0, 8.0, 10.0, 13.0)
MIXTURES = (0.0, 0.1, 0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neuroquery-python", required=True)
    parser.add_argument("--folder", type=Path, help="where fits are kept")
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("-o", "--output", type=Path, help="table of the nats of each study")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        folder = arguments.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        rival = Rival(folder, arguments.neuroquery_python)
        rows, tables = [], []
        for fold in range(arguments.folds):
            table, fit = rival.score_fold(fold)
            tables.append(table)
            rows.append(row_of(fold, table, rival.density, fit))
            print(" | ".join(rows[-1]), flush=True)
        table = pd.concat(tables, ignore_index=True)
        rows.append(row_of("mean", table.groupby("fold").mean(numeric_only=True)))
        print_table(HEADER, rows)
        if arguments.output:
            table.to_csv(arguments.output, index=False, float_format="%.6f")
        whole, only_map = rival.time_encoding()
        print(f"one warm encode of an abstract: {whole:.0f} ms, of which the map {only_map:.0f} ms")


class Rival:
    """NeuroQuery in its own environment, and the studies that it learns from and is scored on."""

    def __init__(self, folder, python):
        self.folder, self.python, self.grid = folder, python, VoxelGrid(4)
        corpus = read_corpus(DATA / "corpus", format="neuroquery")
        self.material = prepare_material(corpus, self.grid, None)
        self.corpus, self.groups = self.material.corpus, self.material.groups
        self.targets = make_targets(
            self.grid, self.grid, self.material.xyz_mm, self.corpus.peak_rows, len(self.corpus)
        )
        self.write()

    def write(self):
        """Write what the fits read: peaks, mask, terms and their counts."""
        write_studies(self.folder, self.corpus, self.grid)

    def score_fold(self, fold):
        """Nats above uniform of each test study, and the fit."""
        train, test = shuffle_split(self.groups, fold)
        fit = self.fit(f"fold{fold}", train, test)
        mean = self.mean_map(train)
        table = {
            "fold": fold,
            "id": self.corpus.documents["id"].to_numpy()[test],
            "mean_map": self.nats(np.broadcast_to(mean, (len(test), len(mean))), test),
            "as_it_is": self.nats(AS_IT_IS(fit, mean), test),
            "neuroquery": self.nats(self.density(fit, mean), test),
        }
        return pd.DataFrame(table), fit

    @cached_property
    def density(self):
        """The way to densities with the best validation score in fold 0."""
        train, _ = shuffle_split(self.groups, 0)
        part, held = shuffle_split(self.groups[train])
        trial = self.fit("fold0_validation", train[part], train[held])
        mean = self.mean_map(train[part])
        return max(CANDIDATES, key=lambda each: self.nats(each(trial, mean), train[held]).mean())

    def fit(self, name, train, test):
        """Predictions of NeuroQuery, trained on some studies, for others."""
        file = self.folder / f"{name}_predictions.npz"
        if not file.exists():
            np.savez(self.folder / f"{name}.npz", train=train, test=test)
            self.run("neuroquery_fit.py", self.folder, name, "--model")
        fit = dict(np.load(file))
        # Without a known term NeuroQuery gives the map of its intercept: the mean is better.
        fit["predicted"][~fit["known"]], fit["z"][~fit["known"]] = fit["mean"], 0
        return fit

    def run(self, script, *arguments):
        """Run a script in NeuroQuery's environment and return what it prints."""
        command = [self.python, RIVALS / script, *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def mean_map(self, rows):
        """Mean density of studies: (n_voxels,)."""
        shares = self.targets.shares[rows[self.targets.has_mass[rows]]]
        return self.targets.smooth(sparse.csr_matrix(shares.mean(axis=0)))[0]

    def nats(self, densities, rows):
        """Nats above uniform of studies under their densities."""
        seen, grid = self.targets.select(rows), self.grid
        peaks = Peaks(seen.study, seen.region, len(rows))
        return score_studies([densities], peaks, grid.total_volume_mm3 / grid.volumes_mm3)

    def time_encoding(self):
        """Milliseconds of one encoding of an abstract, and of its map alone."""
        documents = pd.read_json(DATA / "corpus" / TEXTS, lines=True)
        texts = documents["abstract"].dropna().head(ENCODED_TEXTS).tolist()
        (self.folder / "texts.json").write_text(json.dumps(texts))
        model = self.folder / "fold0_model"
        printed = self.run("neuroquery_encode.py", model, self.folder / "texts.json")
        return map(float, printed.split())


def write_studies(folder, corpus, grid):
    """Write what NeuroQuery reads of studies: peaks, mask, terms and their counts."""
    peaks = corpus.peaks[["x", "y", "z"]] + grid.affine[:3, :3].sum(axis=1) / 2
    peaks.assign(study=corpus.peak_rows).to_csv(folder / "peaks.csv", index=False)
    nibabel.save(grid.to_img(np.ones(grid.n_regions)), folder / "mask.nii.gz")
    terms = known_terms(corpus)
    (folder / "terms.txt").write_text("\n".join(terms))
    (folder / "synonyms.json").write_text((DATA / "vocabulary" / SYNONYMS).read_text())
    write_counts(folder, corpus, terms)


def write_counts(folder, corpus, terms):
    """Write the counts of terms by section."""
    column = {term: i for i, term in enumerate(corpus.terms)}
    columns = [column[term] for term in terms]
    for section, counts in corpus.counts.items():
        sparse.save_npz(folder / f"counts_{section}.npz", sparse.csr_matrix(counts[:, columns]))


def known_terms(corpus):
    """Return the terms of NeuroQuery's vocabulary that a corpus counts."""
    counted = set(corpus.terms)
    terms = (DATA / "vocabulary" / VOCABULARY).read_text().splitlines()
    return [term for term in terms if term in counted]


@dataclass(frozen=True)
class Clipped:
    """Mean of NeuroQuery plus a sharper deviation, cut at zero; a share w of our mean map."""

    sharpness: float
    w: float

    def __call__(self, fit, mean):
        """Densities of the studies of a fit."""
        q = to_probabilities(fit["mean"], fit["predicted"] - fit["mean"], self.sharpness)
        return (1 - self.w) * q + self.w * mean


@dataclass(frozen=True)
class Tilted:
    """Our mean map times exp(slope · min(z, cap)), rescaled; a share w of our mean map."""

    slope: float
    cap: float
    w: float

    def __call__(self, fit, mean):
        """Densities of the studies of a fit."""
        q = mean * np.exp(self.slope * np.minimum(fit["z"], self.cap))
        q /= q.sum(axis=1, keepdims=True)
        return (1 - self.w) * q + self.w * mean


AS_IT_IS = Clipped(1.0, 0.0)
CANDIDATES = [
    *itertools.starmap(Clipped, itertools.product(SHARPNESS, MIXTURES)),
    *itertools.starmap(Tilted, itertools.product(SLOPES, CAPS, MIXTURES)),
]


HEADER = [
    "fold",
    "mean map",
    "NeuroQuery as it is",
    "NeuroQuery",
    "above mean map",
    "density",
    "terms",
    "selected",
    "fit s",
]


def row_of(fold, table, chosen="", fit=None):
    means = table[["mean_map", "as_it_is", "neuroquery"]].mean()
    above = means["neuroquery"] - means["mean_map"]
    numbers = [f"{value:.4f}" for value in (*means, above)]
    about = (
        []
        if fit is None
        else [f"{float(fit[key]):.0f}" for key in ("terms", "selected", "seconds")]
    )
    return [str(fold), *numbers, str(chosen), *(about or ["", "", ""])]


if __name__ == "__main__":
    main()
