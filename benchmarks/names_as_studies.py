"""Names of places as a prior or as pseudo-studies: which teaches the model more.

    python benchmarks/names_as_studies.py --vocabulary FILE [--fold 0] [--jobs 1]

The first stage of the shipped recipe (a log-linear model of the shipped vocabulary, one fit) is
fitted to the training studies of a fold: alone; alone, with the shipped model's prior added; and
with pseudo-studies beside the studies. A pseudo-study is a name of a place as text, with its
smoothed region as the density of its peaks. It counts as a study of 60 peaks, and stands 1, 4 or 16
times beside them. On the test studies of the fold: nats above the mean map from title, abstract and
keywords, from the title and from one keyword; and the share of the names of atlases that are no
prior whose strongest peak is within 10 mm of their region.
"""

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from kinds_of_text import brodmann_atlas, kinds, names_of_places, peaks_by_study, studies_in_brain
from neurowhere.learn import LogLinear, Prior, fit_loglinear, shuffle_split
from neurowhere.model.losses.likelihood import to_studies
from neurowhere.model.training import TrainingData
from neurowhere.space import VoxelGrid, default_atlas
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.building.anatomy import build_full
from recipe.places import place_densities
from setting import DATA, print_table
from talairach import CHUNK, SHARPNESS, material_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe.fitting import Recipe, resampled

TIMES = (1, 4, 16)  # that a pseudo-study stands beside the studies
PEAKS = 60  # that it counts as
KINDS = ("title, abstract, keywords", "title", "one keyword")
NAMES = ("names within 10 mm, of no prior atlas", "names within 10 mm, all other atlases")


def main():
    """Fit the variants to a fold, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--times", type=int, nargs="*", default=TIMES)
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    vocabulary = Vocabulary.load(arguments.vocabulary)
    material = material_of(studies_in_brain(DATA), vocabulary)
    train, test = shuffle_split(material.corpus.groups.astype(str), arguments.fold, seed=0)
    recipe = Recipe(seeds=1, n_jobs=arguments.jobs)
    weighting, _ = recipe.weigh(material, train)
    names = Names.read(vocabulary, weighting)
    print(f"{len(names.terms)} names of places; {len(test):,} test studies", flush=True)
    rows = []
    for times in (0, *arguments.times):
        start = time.process_time()
        model = fit(recipe, material, train, weighting, names, times).sharpened(SHARPNESS)
        seconds = f"{time.process_time() - start:.0f}"
        versions = {f"pseudo-studies, {times} times": model}
        if not times:
            versions = {"studies alone": model, "prior": with_prior(model, material, train, names)}
        for name, each in versions.items():
            rows.append([name, *measure(Reader(each, weighting, vocabulary), material, test)])
            rows[-1].append(seconds)
            print(" | ".join(rows[-1]), flush=True)
    print_table(["", *KINDS, *NAMES, "seconds"], rows)


@dataclass(frozen=True, eq=False)
class Names:
    """Names of places: their terms, features, and densities on both grids."""

    terms: np.ndarray  # (k,)
    features: sparse.csr_matrix  # (k, n_terms)
    densities: dict[int, np.ndarray]  # (k, m) by the size of voxels in mm, in multiples of uniform

    @classmethod
    def read(cls, vocabulary, weighting):
        """Read the regions of the prior's atlases and landmarks."""
        aal3, brodmann = default_atlas(), brodmann_atlas(DATA)
        found = {mm: place_densities(vocabulary, VoxelGrid(mm), aal3, brodmann) for mm in (4, 8)}
        names = [name for name in found[4] if name in found[8]]
        counts = TermExtractor(vocabulary, nested=True).counts(names)
        return cls(
            np.array([vocabulary.index(name) for name in names]),
            weighting.transform(counts),
            {mm: np.array([some[name] for name in names]) for mm, some in found.items()},
        )


def fit(recipe, material, train, weighting, names, times):
    """Fit studies, and pseudo-studies beside them, from coarse to fine."""
    grids = (material.coarse_grid, material.coarse_targets), (material.grid, material.targets)
    coarse, fine = (
        with_names(studies_of(material, train, weighting, *each), names, mm, times)
        for mm, each in zip((8, 4), grids, strict=True)
    )
    *_, model = fit_loglinear(coarse, recipe.coarse, n_jobs=recipe.n_jobs)
    maps = resampled(model.components, material.coarse_grid, material.grid)
    start = LogLinear(fine.mean, model.loadings, maps)
    *_, model = fit_loglinear(fine, recipe.fine, n_jobs=recipe.n_jobs, start=start)
    return model


def studies_of(material, train, weighting, grid, targets):
    """Return the training studies on a grid."""
    features = weighting.transform(material.counts[train])
    groups = material.corpus.groups.astype(str)[train]
    return to_studies(
        TrainingData(
            features, targets.select(train), groups, grid.volumes_mm3, grid.total_volume_mm3
        )
    )


def with_names(studies, names, mm, times):
    """Add each name so many times as a study."""
    n_studies, n_names = studies.X.shape[0], len(names.terms)
    densities = names.densities[mm] / names.densities[mm].shape[1]

    def targets(rows):
        mixed = np.empty((len(rows), densities.shape[1]), np.float32)
        is_study = rows < n_studies
        mixed[is_study] = studies.targets(rows[is_study])
        mixed[~is_study] = densities[(rows[~is_study] - n_studies) % n_names]
        return mixed

    return replace(
        studies,
        X=sparse.vstack([studies.X, *[names.features] * times], format="csr"),
        targets=targets,
        n_peaks=np.append(studies.n_peaks, np.full(times * n_names, PEAKS)),
    )


def with_prior(model, material, train, names):
    """Add the prior of the shipped model."""
    n_studies = material.counts[train].getnnz(axis=0)[names.terms]
    mean = model.mean_map * material.grid.n_regions
    return replace(model, prior=Prior.make(names.terms, names.densities[4], mean, n_studies))


@dataclass(frozen=True, eq=False)
class Reader:
    """A model that reads texts, as far as names of places need it."""

    model: LogLinear
    weighting: TfIdf
    vocabulary_: Vocabulary

    @cached_property
    def partition_(self):
        """Return the grid of the maps."""
        return VoxelGrid(4)

    @cached_property
    def extractor(self):
        """Return what counts the terms of texts."""
        return TermExtractor(self.vocabulary_, nested=True)

    def predict(self, texts):
        """Predict the maps of texts."""
        return self.model.predict(self.weighting.transform(self.extractor.counts(texts)))


def measure(reader, material, test):
    """Return gains by kind of text, and shares of names near their regions, as words."""
    corpus, peaks = material.corpus, peaks_by_study(material.corpus)
    align = reader.vocabulary_.align(corpus.terms).matrix
    table = []
    for name, counts, studies in kinds(corpus, test, build_full(DATA / "vocabulary")):
        if name in KINDS:
            features = reader.weighting.transform(reader.extractor.weigh({"body": counts @ align}))
            table.append(f"{gain(reader.model, features, peaks, studies):.4f}")
    near = names_of_places(reader)
    return [*table, *(f"{near[name]:.1%}" for name in NAMES)]


def gain(model, features, peaks, studies):
    """Return the mean gain over the mean map."""
    m = len(model.mean_map)
    mean, gains = np.log1p(model.mean_map * m), []
    for start in range(0, len(studies), CHUNK):
        ratios = np.log1p(model.predict(features[start : start + CHUNK]) * m) - mean
        some = studies[start : start + CHUNK]
        gains += [own[peaks[i]].mean() for own, i in zip(ratios, some, strict=True)]
    return np.mean(gains)


if __name__ == "__main__":
    main()
