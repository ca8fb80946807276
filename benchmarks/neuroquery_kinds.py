"""NeuroQuery's own method by kind of text, on the folds of kinds_of_text.py.

    python benchmarks/neuroquery_kinds.py -o DIR --neuroquery-python PATH --folder WORK [--folds 5]

The option names the Python of an environment of ``rivals/neuroquery_requirements.txt``. Each fold
is fitted by ``rivals/neuroquery_fit.py``, kept in WORK, and predicts the test studies from title,
abstract and keywords, the title, the keywords, one keyword, and the article without its tables. DIR
gets neuroquery-FOLD.json beside the tables of kinds_of_text.py, which prints them together
(--versions plain neuroquery shipped). Finished folds are not repeated.

What is done in NeuroQuery's favour:

- It learns on the voxels that are scored, which is the mask that its code makes by default; none of
  its maps has to be resampled, and no scored peak lies outside of them.
- It rounds coordinates down, which shifts its maps by half a voxel; it is given peaks half a voxel
  up, so that each falls into the voxel whose cell contains it.
- Its maps are no densities. Two ways to make them so compete, with all their parameters and with a
  share w of our mean map mixed in: `clipped`, its prediction with a sharper deviation from its
  mean, cut at zero, and `tilted`, our mean map times the exponential of its z map. The way is
  chosen once, by the test studies of fold 0.

"as it is" is its prediction cut at zero and rescaled, with nothing chosen.
"""

import argparse
import itertools
import json
import subprocess
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nibabel
import numpy as np
from scipy import sparse

from kinds_of_text import articles_of, kinds, peaks_by_study
from neurowhere.corpus import read_corpus
from neurowhere.evaluate.trial import prepare_material
from neurowhere.learn import Peaks, score_studies, shuffle_split, to_probabilities
from neurowhere.space import VoxelGrid, make_targets
from neurowhere.text import TermExtractor, Vocabulary
from neurowhere.text.building.anatomy import build_full
from setting import DATA, print_table

RIVALS = Path(__file__).parent / "rivals"
VOCABULARY = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
SYNONYMS = "neuroquery_voc_mapping_identity.json"
FOLDS = 5
SHARPNESS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
SLOPES = (0.15, 0.2, 0.25, 0.3, 0.4)
CAPS = (6.0, 8.0, 10.0, 13.0)
MIXTURES = (0.0, 0.1, 0.2)
SECTION_OF = {"title": "title", "keywords": "keywords", "one keyword": "keywords"}


def main():
    """Fit and score the folds, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--neuroquery-python", required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where fits are kept")
    parser.add_argument("--folds", type=int, default=FOLDS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in (arguments.output, arguments.folder):
        folder.mkdir(parents=True, exist_ok=True)
    rival, tables = KindsOfText(arguments.folder, arguments.neuroquery_python), []
    for fold in range(arguments.folds):
        file = arguments.output / f"neuroquery-{fold}.json"
        if not file.exists():
            file.write_text(json.dumps(rival.measure(fold), indent=1))
            print(file.read_text(), flush=True)
        tables.append(json.loads(file.read_text()))
    rows = [[name, *(f"{table[name]:.4f}" for table in tables)] for name in tables[0]]
    print(f"density: {rival.density}")
    print_table(["", *(f"fold {fold}" for fold in range(len(tables)))], rows)


class KindsOfText:
    """NeuroQuery in its own environment, given the test studies of all folds as texts."""

    def __init__(self, folder, python):
        self.folder, self.python, self.grid = folder, python, VoxelGrid(4)
        corpus = read_corpus(DATA / "corpus", format="neuroquery")
        self.material = prepare_material(corpus, self.grid, None)
        self.corpus, self.groups = self.material.corpus, self.material.groups
        self.targets = make_targets(
            self.grid, self.grid, self.material.xyz_mm, self.corpus.peak_rows, len(self.corpus)
        )
        write_studies(self.folder, self.corpus, self.grid)
        self.write_texts()

    def write_texts(self):
        """Add a row for each text that is no whole study to what the fits read."""
        self.terms = (self.folder / "terms.txt").read_text().splitlines()
        column = {term: i for i, term in enumerate(self.corpus.terms)}
        self.columns = [column[term] for term in self.terms]
        self.articles = dict(self._articles())
        more = {section: [] for section in self.corpus.counts}
        self.rows, n_rows = {}, len(self.corpus)
        for fold in range(FOLDS):
            for name, section, counts, _ in self.texts(fold):
                n_texts = counts.shape[0]
                self.rows[fold, name] = np.arange(n_rows, n_rows + n_texts)
                n_rows += n_texts
                for each, parts in more.items():
                    parts.append(counts if each == section else sparse.csr_matrix(counts.shape))
        for section, parts in more.items():
            file = self.folder / f"counts_{section}.npz"
            whole = sparse.vstack([sparse.load_npz(file), *parts], format="csr")
            sparse.save_npz(file, whole)

    def _articles(self):
        """Yield the counts of NeuroQuery's terms in articles, by study."""
        extractor = TermExtractor(Vocabulary(self.terms))
        for study, text in articles_of(DATA, self.corpus):
            yield study, extractor.counts([text])

    def texts(self, fold):
        """Yield kinds of text: name, the section they stand in, counts, and their studies."""
        _, test = shuffle_split(self.groups, fold)
        for name, counts, studies in kinds(self.corpus, test, build_full(DATA / "vocabulary")):
            if name in SECTION_OF:
                yield name, SECTION_OF[name], counts[:, self.columns], studies
        studies = np.array([study for study in self.articles if study in set(test.tolist())])
        counts = sparse.vstack([self.articles[study] for study in studies], format="csr")
        yield "article", "abstract", counts, studies

    @cached_property
    def density(self):
        """Return the way to densities with the best score of fold 0's test studies."""
        train, test = shuffle_split(self.groups, 0)
        fit, mean = self.predict_texts(0)[0], self.mean_map(train)
        part = {key: fit[key][: len(test)] for key in ("predicted", "z")} | {"mean": fit["mean"]}
        return max(CANDIDATES, key=lambda each: self.nats(each(part, mean), test).mean())

    def predict_texts(self, fold):
        """Return the predictions of all texts of a fold, whole studies first, and their studies."""
        train, test = shuffle_split(self.groups, fold)
        studies, rows = {"title, abstract, keywords": test}, [test]
        for name, _, _, own in self.texts(fold):
            studies[name] = own
            rows.append(self.rows[fold, name])
        return self.fit(f"fold{fold}", train, np.concatenate(rows)), studies

    def measure(self, fold):
        """Return the gain over the mean map of each kind of text of a fold."""
        fit, studies = self.predict_texts(fold)
        mean = self.mean_map(shuffle_split(self.groups, fold)[0])
        peaks, table, start = peaks_by_study(self.corpus), {}, 0
        for name, own in studies.items():
            some = slice(start, start + len(own))
            start += len(own)
            part = {key: fit[key][some] for key in ("predicted", "z")} | {"mean": fit["mean"]}
            for before, density in (("", self.density), ("as it is, ", AS_IT_IS)):
                table[before + name] = gain(density(part, mean), mean, peaks, own)
        return table | {"processor seconds to fit": float(fit["seconds"])}

    def fit(self, name, train, test):
        """Predictions of NeuroQuery, trained on some studies, for others."""
        file = self.folder / f"{name}_predictions.npz"
        if not file.exists():
            np.savez(self.folder / f"{name}.npz", train=train, test=test)
            command = [self.python, RIVALS / "neuroquery_fit.py", self.folder, name, "--model"]
            subprocess.run(command, check=True)
        fit = dict(np.load(file))
        # Without a known term NeuroQuery gives the map of its intercept: the mean is better.
        fit["predicted"][~fit["known"]], fit["z"][~fit["known"]] = fit["mean"], 0
        return fit

    def mean_map(self, rows):
        """Mean density of studies: (n_voxels,)."""
        shares = self.targets.shares[rows[self.targets.has_mass[rows]]]
        return self.targets.smooth(sparse.csr_matrix(shares.mean(axis=0)))[0]

    def nats(self, densities, rows):
        """Nats above uniform of studies under their densities."""
        seen, grid = self.targets.select(rows), self.grid
        peaks = Peaks(seen.study, seen.region, len(rows))
        return score_studies([densities], peaks, grid.total_volume_mm3 / grid.volumes_mm3)


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


def gain(q, mean, peaks, studies):
    """Return the mean over studies of the gain of maps over the mean map."""
    m = len(mean)
    ratio = np.log1p(q * m) - np.log1p(mean * m)
    return float(np.mean([own[peaks[i]].mean() for own, i in zip(ratio, studies, strict=True)]))


if __name__ == "__main__":
    main()
