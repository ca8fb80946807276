"""What helps the log-linear encoder: variants, scored inside the training studies of each fold.

    python benchmarks/likelihood_study.py -o DIR [--folds 0 1 2 3 4] [--only NAME ...]

The outer folds are those of outer_folds.py. The training studies of each are split again: every
variant is fitted to nine tenths of them and scored on the last, at its best sharpness. No test
study of a fold has a part in what is chosen for it. The gain over the base is a mean over the
held-out studies of a fold; the table has its mean and standard deviation over folds. Finished fits
are kept in DIR.
"""

import argparse
import json
import lzma
import time
import warnings
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import sparse

from neurowhere.corpus import read_corpus
from neurowhere.corpus.coordinates import talairach_to_mni
from neurowhere.exceptions import DataWarning
from neurowhere.learn import (
    LogLinear,
    Schedule,
    average,
    fit_loglinear,
    learn_term_weights,
    nats_above_uniform,
    reweighted,
    shuffle_split,
    softmax,
)
from neurowhere.model.losses import L1
from neurowhere.model.losses.likelihood import to_studies
from neurowhere.model.training import TrainingData, TrainingOptions
from neurowhere.space import VoxelGrid, make_targets
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.building.anatomy import TERM_SYNONYMS, TERMS, build_full, builtin_anatomy
from outer_folds import studies_in_brain
from setting import DATA, print_table

BASE = Schedule()
VOCABULARY = DATA / "vocabulary"
GRID = VoxelGrid(4)
SHARPNESS = (0.8, 0.9, 1.0, 1.15, 1.3, 1.45, 1.6, 1.8)
SECTIONS = ("title", "keywords", "abstract", "body")  # of the unlabelled documents
CHUNK = 128  # studies predicted at a time


# ---- the studies


@cache
def corpus():
    """Give all studies that have a peak in the brain."""
    return studies_in_brain()


@cache
def inner_rows(fold):
    """Give the rows of a fold's training studies to fit on, and those to hold out."""
    groups = corpus().groups.astype(str)
    train, _ = shuffle_split(groups, fold, seed=0)
    fit_rows, held_rows = shuffle_split(groups[train], 0, seed=1)
    return train[fit_rows], train[held_rows]


@cache
def targets(bandwidth=1.0, convert=False):
    """Make the densities of all studies; `convert` takes those labelled so out of Talairach."""
    xyz = corpus().peaks[["x", "y", "z"]].to_numpy(copy=True)
    if convert:
        there = in_talairach()[corpus().peak_rows]
        xyz[there] = talairach_to_mni(xyz[there])
    rows = corpus().peak_rows
    return make_targets(GRID, GRID, xyz, rows, len(corpus()), bandwidth=bandwidth)


@cache
def in_talairach():
    """Tell which studies Neurosynth labels as Talairach; their peaks stay as they were printed."""
    documents = neurosynth().documents
    there = set(documents.loc[documents["source_space"] == "TAL", "id"].astype(str))
    return np.array([name in there for name in corpus().documents["id"].astype(str)])


@cache
def neurosynth():
    """Read Neurosynth's studies: titles and peaks."""
    return read_corpus(DATA / "corpus", format="neurosynth")


# ---- counts of terms


@cache
def words():
    """Count terms, and of the words within longer ones that are terms themselves."""
    return TermExtractor(build_full(VOCABULARY), nested=True).counts(corpus())


@cache
def weighted_sections():
    """Count as the base does, with titles and keywords weighing more."""
    weights = {"title": 3.0, "keywords": 2.0}
    return TermExtractor(build_full(VOCABULARY), weights, nested=True).counts(corpus())


@cache
def from_texts():
    """Count as the base does, from the raw text of the studies that have one."""
    raw = read_corpus(DATA / "corpus" / "rawtext_linked_dev.jsonl.gz")
    row_of = {name: row for row, name in enumerate(raw.documents["id"].astype(str))}
    places = np.array([row_of.get(name, -1) for name in corpus().documents["id"].astype(str)])
    read = TermExtractor(build_full(VOCABULARY), nested=True).counts(raw)
    known = sparse.diags_array((places < 0).astype(np.float32)) @ words()
    return sparse.csr_matrix(known + take_rows(read, places), dtype=np.float32)


def take_rows(counts, places):
    """Rows of a matrix in other places; none where the place is negative."""
    here = np.flatnonzero(places >= 0)
    shape = (len(places), counts.shape[0])
    return sparse.csr_matrix((np.ones(len(here)), (here, places[here])), shape) @ counts


@cache
def longest():
    """Count the longest terms alone."""
    return TermExtractor(build_full(VOCABULARY)).counts(corpus())


@cache
def phrases():
    """Count terms, and of all terms within longer ones."""
    vocabulary = build_full(VOCABULARY)
    column = {tuple(term.split()): i for i, term in enumerate(vocabulary)}
    within = sparse.lil_matrix((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for term, row in column.items():
        for start, end in combinations(range(len(term) + 1), 2):
            if (part := column.get(term[start:end])) is not None:
                within[row, part] += 1  # a term is within itself
    return TermExtractor(vocabulary).counts(corpus()) @ within.tocsr()


@cache
def whole_list():
    """Count as the base does, with NeuroQuery's list as it is."""
    vocabulary = Vocabulary.load(VOCABULARY / TERMS, VOCABULARY / TERM_SYNONYMS)
    return TermExtractor(vocabulary, nested=True).counts(corpus())


@cache
def all_words():
    """Count as the base does, and every other word of the titles, abstracts and keywords."""
    names, known = corpus().terms, set(build_full(VOCABULARY))
    others = sorted({w for name in names for w in name.split() if w.isalpha()} - known)
    column = {word: i for i, word in enumerate(others)}
    pairs = [
        (row, column[word])
        for row, name in enumerate(names)
        for word in name.split()
        if word in column
    ]
    split = sparse.csr_matrix((np.ones(len(pairs)), np.transpose(pairs)), (len(names), len(others)))
    counts = sum(corpus().counts.values()) @ split
    return sparse.hstack([words(), counts]).tocsr().astype(np.float32)


@cache
def with_associates(share=0.3, near=10, rank=200):
    """Add to each term a share of those that unlabelled texts use alike."""
    from sklearn.utils.extmath import randomized_svd

    texts = []
    for path in sorted((DATA / "unlabelled").glob("*.jsonl.xz")):
        with lzma.open(path, "rt") as lines:
            records = map(json.loads, lines)
            texts += [" ".join(str(r.get(name, "")) for name in SECTIONS) for r in records]
    counts = TermExtractor(build_full(VOCABULARY), nested=True).counts(texts)
    X = TfIdf().fit_transform(counts)
    _, sizes, axes = randomized_svd(X, rank, random_state=0)
    vectors = axes.T * sizes
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, 0)
    alike[alike < -np.partition(-alike, near, axis=1)[:, [near]]] = 0
    return words() + words() @ sparse.csr_matrix(share * alike.astype(np.float32))


# ---- fits


@cache
def tfidf(fold, counts=words, min_studies=10):
    """Give tf-idf of all studies, the terms that enough studies have, and what learned it."""
    fit_rows, _ = inner_rows(fold)
    frequent = np.flatnonzero(counts()[fit_rows].getnnz(axis=0) >= min_studies)
    weighting = TfIdf().fit(counts()[fit_rows][:, frequent])
    return weighting.transform(counts()[:, frequent]), frequent, weighting


@cache
def term_weights(fold, **options):
    """Learn the weights of terms from the studies to fit on."""
    fit_rows, _ = inner_rows(fold)
    X, *_ = tfidf(fold, **options)
    *_, weights = learn_term_weights(studies(X[fit_rows], targets().select(fit_rows)), BASE)
    return weights


def features(fold, trust=1, **options):
    """Give the features of all studies, their terms, and what made them.

    `trust` is that in the learned weights of terms, against the usual one; 0 leaves tf-idf.
    """
    X, frequent, weighting = tfidf(fold, **options)
    if not trust:
        return X, frequent, weighting
    weights = term_weights(fold, **options) ** trust
    return reweighted(X, weights), frequent, TfIdf.from_idf(weighting.idf_ * weights)


def studies(X, training):
    """Give the studies that a log-linear regression is fitted to."""
    return to_studies(training_data(X, training, np.arange(len(training))))


def training_data(X, training, groups):
    """Give the data to learn from some studies."""
    return TrainingData(X, training, groups, GRID.volumes_mm3, GRID.total_volume_mm3)


@dataclass(frozen=True, eq=False)
class Inner:
    """A fold's training studies: those to fit on, those held out, and the fits that were made."""

    fold: int

    @cached_property
    def base(self):
        """The model that variants are compared with: one fit with learned weights of terms."""
        return self.fit()

    def fit(self, schedule=BASE, *, densities=targets, more=None, seed=0, **options):
        """Fit a variant; return the model and the features of the held-out studies."""
        fit_rows, held_rows = inner_rows(self.fold)
        X, frequent, weighting = features(self.fold, **options)
        some = studies(X[fit_rows], densities().select(fit_rows))
        if more is not None:
            some = more(some, frequent, weighting)
        *_, model = fit_loglinear(some, schedule, seed=seed)
        return model, X[held_rows]

    def seeds(self, n):
        """Average of `n` fits, cut to the rank of one."""
        models = [self.base[0], *(self.fit(seed=seed)[0] for seed in range(1, n))]
        return average(models).truncated(BASE.rank), self.base[1]

    def sharper_mean(self, power=1.2):
        """Raise the mean map, from which all texts start, to a power."""
        model, X = self.base
        return LogLinear(model.mean_map**power, model.loadings, model.components), X

    def symmetric(self, share=0.125):
        """Components drawn towards their mirror image."""
        model, X = self.base
        mirrored = GRID.region_of(GRID.centers_mm * [-1, 1, 1])
        other = model.components[:, np.where(mirrored < 0, np.arange(len(mirrored)), mirrored)]
        mixed = (1 - share) * model.components + share * other
        return LogLinear(model.mean, model.loadings, mixed), X

    def smooth(self, bandwidth=0.6):
        """Components smoothed over neighbouring voxels."""
        model, X = self.base
        mass = smoothed(np.ones((1, GRID.n_regions)), bandwidth)  # a kernel's in the brain
        components = smoothed(model.components, bandwidth) / mass
        return LogLinear(model.mean, model.loadings, components.astype(np.float32)), X

    def converted(self):
        """Peaks that Neurosynth says are in Talairach space converted, in the studies fitted to."""
        return self.fit(densities=lambda: targets(convert=True))

    def with_neurosynth(self):
        """Studies that Neurosynth alone has, known by their titles, fitted to as well."""
        known = set(corpus().documents["id"].astype(str))
        ids = neurosynth().documents["id"].astype(str)
        others = neurosynth().select(np.flatnonzero([name not in known for name in ids]))
        xyz = others.peaks[["x", "y", "z"]].to_numpy()
        theirs = make_targets(GRID, GRID, xyz, others.peak_rows, len(others))
        counts = TermExtractor(build_full(VOCABULARY), nested=True).counts(others)

        def extend(some, frequent, weighting):
            new = weighting.transform(counts[:, frequent])
            useful = np.flatnonzero(theirs.has_mass & (new.getnnz(axis=1) > 0))
            added, n = studies(new[useful], theirs.select(useful)), len(some.n_peaks)

            def rows(wanted):
                densities = np.empty((len(wanted), GRID.n_regions), np.float32)
                old = wanted < n
                densities[old] = some.targets(wanted[old])
                densities[~old] = added.targets(wanted[~old] - n)
                return densities

            return replace(
                some,
                X=sparse.vstack([some.X, added.X]).tocsr(),
                targets=rows,
                n_peaks=np.append(some.n_peaks, added.n_peaks),
            )

        return self.fit(more=extend)

    def neighbours(self, near=200, width=0.1):
        """Density of the studies whose features are close to those of each held-out one."""
        fit_rows, held_rows = inner_rows(self.fold)
        training = targets().select(fit_rows)
        X, *_ = features(self.fold)
        cosines = (X[held_rows] @ X[fit_rows].T).toarray()
        nearest = np.argpartition(-cosines, near, axis=1)[:, :near]
        closeness = np.exp(np.take_along_axis(cosines, nearest, axis=1) / width)
        closeness /= closeness.sum(axis=1, keepdims=True)
        pointers = np.arange(0, closeness.size + 1, near)
        mixing = sparse.csr_matrix((closeness.ravel(), nearest.ravel(), pointers), cosines.shape)
        return training.density.smooth(sparse.csr_matrix(mixing @ training.shares))

    def mixed_with_neighbours(self, share=0.2):
        """Mix the log density of the base with that of neighbours, relative to the mean map."""
        model, X = self.base
        near = 0.8 * self.neighbours() + 0.2 * model.mean_map
        return model, X, share * np.log(near / model.mean_map)

    def mixed_with_l1(self, share=0.2, penalty=1.0):
        """Mix the log density of the base with that of the paper's model."""
        model, X = self.base
        fit_rows, held_rows = inner_rows(self.fold)
        counts = TermExtractor(builtin_anatomy()).counts(corpus())
        weighting = TfIdf().fit(counts[fit_rows])
        features = weighting.transform(counts)
        groups = corpus().groups.astype(str)[fit_rows]
        data = training_data(features[fit_rows], targets().select(fit_rows), groups)
        linear = L1().fit(data, TrainingOptions(lambdas=[penalty])).predictor
        near = 0.8 * linear.predict(features[held_rows]) + 0.2 * model.mean_map
        return model, X, share * np.log(near / model.mean_map)


def smoothed(maps, bandwidth):
    """Smooth maps over the voxels of the brain, with nothing beyond it."""
    from scipy.ndimage import gaussian_filter

    out = np.empty_like(maps)
    image = np.zeros(GRID.brain.shape, maps.dtype)
    for row, each in zip(out, maps, strict=True):
        image[GRID.brain] = each
        row[:] = gaussian_filter(image, bandwidth, mode="constant")[GRID.brain]
    return out


VARIANTS = {
    "base": lambda inner: inner.base,
    "terms weigh what their tf-idf does": lambda inner: inner.fit(trust=0),
    "half the trust in learned weights": lambda inner: inner.fit(trust=1 / 2),
    "more trust in learned weights": lambda inner: inner.fit(trust=4 / 3),
    "studies weigh the same": lambda inner: inner.fit(replace(BASE, few_peaks=0)),
    "5 peaks halve a study's weight": lambda inner: inner.fit(replace(BASE, few_peaks=5)),
    "50 peaks halve a study's weight": lambda inner: inner.fit(replace(BASE, few_peaks=50)),
    "two seeds": lambda inner: inner.seeds(2),
    "four seeds": lambda inner: inner.seeds(4),
    "10 epochs": lambda inner: inner.fit(replace(BASE, epochs=10)),
    "20 epochs": lambda inner: inner.fit(replace(BASE, epochs=20)),
    "batches of 256": lambda inner: inner.fit(replace(BASE, batch=256)),
    "dropout 0.1": lambda inner: inner.fit(replace(BASE, dropout=0.1)),
    "dropout 0.3": lambda inner: inner.fit(replace(BASE, dropout=0.3)),
    "rank 64": lambda inner: inner.fit(replace(BASE, rank=64)),
    "rank 256": lambda inner: inner.fit(replace(BASE, rank=256)),
    "decay of loadings 1": lambda inner: inner.fit(replace(BASE, decay=(1.0, 0.5))),
    "decay of loadings 3": lambda inner: inner.fit(replace(BASE, decay=(3.0, 0.5))),
    "decay of components 1": lambda inner: inner.fit(replace(BASE, decay=(2.0, 1.0))),
    "learning rate 0.02": lambda inner: inner.fit(replace(BASE, rate=0.02)),
    "longest terms alone": lambda inner: inner.fit(counts=longest),
    "all terms within longer ones": lambda inner: inner.fit(counts=phrases),
    "with phrases that run on": lambda inner: inner.fit(counts=whole_list),
    "every word of the texts": lambda inner: inner.fit(counts=all_words),
    "terms in >= 5 studies": lambda inner: inner.fit(min_studies=5),
    "terms in >= 25 studies": lambda inner: inner.fit(min_studies=25),
    "title x 3, keywords x 2": lambda inner: inner.fit(counts=weighted_sections),
    "raw texts, where there are": lambda inner: inner.fit(counts=from_texts),
    "associates from unlabelled texts": lambda inner: inner.fit(counts=with_associates),
    "targets of bandwidth 0.75": lambda inner: inner.fit(densities=lambda: targets(0.75)),
    "targets of bandwidth 1.5": lambda inner: inner.fit(densities=lambda: targets(1.5)),
    "sharper mean map": lambda inner: inner.sharper_mean(),
    "mirrored components, 1/8": lambda inner: inner.symmetric(),
    "smoothed components": lambda inner: inner.smooth(),
    "mixed with neighbours, 1/5": lambda inner: inner.mixed_with_neighbours(),
    "mixed with l1, 1/5": lambda inner: inner.mixed_with_l1(),
    "Talairach studies converted": lambda inner: inner.converted(),
    "Neurosynth's other studies": lambda inner: inner.with_neurosynth(),
}
NOT_SCORED = {"Talairach studies converted": in_talairach}


# ---- scores


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--folds", nargs="*", type=int, default=list(range(5)))
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), metavar="NAME")
    parser.add_argument("--table", action="store_true", help="print what there is, fit nothing")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", DataWarning)
    inners = {fold: Inner(fold) for fold in arguments.folds}
    if not arguments.table:
        for name in arguments.only:
            for fold, inner in inners.items():
                run(name, inner, kept_in(arguments.output, name, fold))
    rows = [summary(name, arguments.output, arguments.folds) for name in arguments.only]
    header = ["variant", "nats above uniform", "gain ± sd of folds", "better in", "sharpness"]
    print_table(header, [row for row in rows if row])


def kept_in(folder, name, fold):
    """File of a finished fit."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    return folder / f"fold-{fold}-{plain}.npz"


def run(name, inner, file):
    """Fit a variant unless that was done, and keep the scores of the held-out studies."""
    if file.exists():
        return
    start = time.perf_counter()
    scores = held_out_scores(inner.fold, *VARIANTS[name](inner))
    best = int(np.nanmean(scores, axis=1).argmax())
    nats = scores[best]
    if name in NOT_SCORED:
        nats[NOT_SCORED[name]()[inner_rows(inner.fold)[1]]] = np.nan
    seconds = time.perf_counter() - start
    np.savez(file, nats=nats, sharpness=SHARPNESS[best], seconds=seconds)
    print(f"{name}, fold {inner.fold}: {np.nanmean(nats):.4f}, {seconds:.0f} s", flush=True)


def summary(name, folder, folds):
    """Give a row of the table, of the folds that are done."""
    done = [fold for fold in folds if kept_in(folder, name, fold).exists()]
    if not done:
        return None
    kept = [np.load(kept_in(folder, name, fold)) for fold in done]
    base = [np.load(kept_in(folder, "base", fold))["nats"] for fold in done]
    nats = [np.nanmean(each["nats"]) for each in kept]
    gains = [np.nanmean(each["nats"] - other) for each, other in zip(kept, base, strict=True)]
    spread = f" ± {np.std(gains, ddof=1):.4f}" if len(gains) > 1 else ""
    sharpness = sorted({float(each["sharpness"]) for each in kept})
    return [
        name,
        f"{np.mean(nats):.4f}",
        f"{np.mean(gains):+.4f}{spread}",
        f"{sum(gain > 0 for gain in gains)} of {len(gains)}",
        ", ".join(f"{each:g}" for each in sharpness),
    ]


def held_out_scores(fold, model, X, offset=None):
    """Nats above uniform of each held-out study, for each sharpness."""
    held = targets().select(inner_rows(fold)[1])
    order = np.argsort(held.study, kind="stable")
    study, region = held.study[order], held.region[order]
    relative = np.zeros((len(SHARPNESS), len(study)))
    for start in range(0, X.shape[0], CHUNK):
        here = slice(*np.searchsorted(study, [start, start + CHUNK]))
        added = model.project(X[start : start + CHUNK]) @ model.components
        bias = model.bias if offset is None else model.bias + offset[start : start + CHUNK]
        for row, sharpness in zip(relative, SHARPNESS, strict=True):
            q = softmax((bias + np.float32(sharpness) * added).astype(np.float32))
            row[here] = q[study[here] - start, region[here]] * q.shape[1]
    return np.array([nats_above_uniform(row, study, len(held)) for row in relative])


if __name__ == "__main__":
    main()
