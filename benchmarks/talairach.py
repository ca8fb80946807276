"""Studies in Talairach space, as printed or converted to MNI: what the model gains.

    python benchmarks/talairach.py -o DIR [--folds 3] [--jobs 1]

Neurosynth labels some of NeuroQuery's studies as Talairach. The log-linear model of NeuroQuery's
vocabulary (the first stage of the shipped recipe, one fit) is fitted to the training studies of
each fold twice, with the peaks of these studies as printed and converted by the inverse of
Lancaster's transform; weights of terms are learned once, from peaks as printed. Both are scored at
the same sharpness on the test studies of the fold: those that are not labelled so, whose peaks are
the same for both, and those that are, with their peaks converted and as printed. The table has nats
above uniform, the paired difference with its standard deviation over folds, and what the mean map
of peaks as printed scores. Finished folds are kept in DIR.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse

from neurowhere.learn import shuffle_split
from neurowhere.space import VoxelGrid, place_peaks
from neurowhere.text import TermExtractor
from neurowhere.text.building.anatomy import build_full
from setting import DATA, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe import Material, Recipe
from recipe.sources import XYZ, converted, in_talairach, studies_in_brain

SHARPNESS = 1.3  # that validation chooses in most folds
CHUNK = 200  # studies predicted at a time
FITS = ("printed", "converted")
KINDS = {  # which test studies, and which of their peaks
    "not labelled Talairach": (False, "printed"),
    "Talairach, test peaks converted": (True, "converted"),
    "Talairach, test peaks as printed": (True, "printed"),
}


def main():
    """Fit and score the folds, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    corpus = studies_in_brain(DATA)
    there = in_talairach(DATA, corpus)
    corpora = {"printed": corpus, "converted": converted(corpus, there)}
    vocabulary = build_full(DATA / "vocabulary")
    materials = {name: material_of(each, vocabulary) for name, each in corpora.items()}
    tables = []
    for fold in range(arguments.folds):
        file = arguments.output / f"talairach-{fold}.json"
        rows = shuffle_split(corpus.groups.astype(str), fold, seed=0)
        if not file.exists():
            recipe = Recipe(seeds=1, n_jobs=arguments.jobs)
            file.write_text(json.dumps(run_fold(recipe, materials, there, *rows), indent=1))
        tables.append(json.loads(file.read_text()))
        for name, nats in mean_map_nats(materials, there, *rows):
            tables[-1][name]["mean map"] = nats
    print_results(tables)


def material_of(corpus, vocabulary):
    """Return what the first stage of the recipe learns from: counts of terms, and peaks."""
    extractor = TermExtractor(vocabulary, nested=True)
    alignment = vocabulary.align(corpus.terms).matrix
    sections = {
        name: extractor.weigh({name: counts @ alignment}) for name, counts in corpus.counts.items()
    }
    return Material(vocabulary, len(vocabulary), sections, corpus, None, [], {})


def run_fold(recipe, materials, there, train, test):
    """Return the mean nats of each kind of test studies, by the peaks that were fitted to."""
    table = {}
    weighting, _ = recipe.weigh(materials["printed"], train)
    for fitted_to, material in materials.items():
        model = recipe.fit_plain(material, train, weighting).sharpened(SHARPNESS)
        for name, (is_there, peaks) in KINDS.items():
            rows = test[there[test] == is_there]
            features = weighting.transform(material.counts[rows])
            nats = scores(model, features, peaks_by_study(materials[peaks].corpus), rows)
            table.setdefault(name, {"studies": len(rows)})[fitted_to] = float(np.mean(nats))
    return table


def mean_map_nats(materials, there, train, test):
    """Yield the mean nats of each kind of test studies under the mean map of peaks as printed."""
    targets = materials["printed"].targets.select(train)
    mean = targets.smooth(sparse.csr_matrix(targets.shares[targets.has_mass].mean(axis=0)))[0]
    logs = np.log1p(mean * len(mean)) - np.log(2)
    for name, (is_there, peaks) in KINDS.items():
        own = peaks_by_study(materials[peaks].corpus)
        studies = [own[row] for row in test[there[test] == is_there]]
        yield name, np.mean([logs[region].mean() for region in studies if len(region)])


def peaks_by_study(corpus):
    """Return the voxels of the peaks of each study."""
    grid = VoxelGrid(4)
    study, region = place_peaks(grid, grid, corpus.peaks[XYZ].to_numpy(float), corpus.peak_rows)
    order = np.argsort(study, kind="stable")
    return np.split(region[order], np.searchsorted(study[order], np.arange(1, len(corpus))))


def scores(model, features, peaks, rows):
    """Return the nats above uniform of each study that has a peak in the brain."""
    nats = []
    for start in range(0, len(rows), CHUNK):
        q = model.predict(features[start : start + CHUNK])
        for own, row in zip(q, rows[start : start + CHUNK], strict=True):
            if len(peaks[row]):
                nats.append(np.log1p(own[peaks[row]] * len(own)).mean() - np.log(2))
    return nats


def print_results(tables):
    """Print mean nats of both fits, and their paired difference over folds."""
    rows = []
    for name in KINDS:
        fits = np.array([[table[name][fit] for fit in FITS] for table in tables])
        gains = fits[:, 1] - fits[:, 0]
        spread = f" ± {gains.std(ddof=1):.4f}" if len(gains) > 1 else ""
        studies = f"{np.mean([table[name]['studies'] for table in tables]):.0f}"
        means = [f"{mean:.4f}" for mean in fits.mean(axis=0)]
        better = f"{(gains > 0).sum()} of {len(gains)}"
        mean_map = f"{np.mean([table[name]['mean map'] for table in tables]):.4f}"
        rows.append([name, studies, mean_map, *means, f"{gains.mean():+.4f}{spread}", better])
    header = [
        "test studies",
        "number",
        "mean map",
        "fit to printed",
        "fit to converted",
        "gain ± sd",
    ]
    print_table([*header, "better in"], rows)


if __name__ == "__main__":
    main()
