"""What helps the log-linear encoder: variants on one split inside the training studies of fold 0.

    python benchmarks/likelihood_study.py -o DIR [--only NAME ...]

Every variant is fitted once to the same studies, and scored on the same held-out ones at its best
sharpness. The gain over the base is a mean over these studies, with the standard error of the
paired difference. Finished variants are kept in DIR.
"""

import argparse
import time
import warnings
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import sparse

from neurowhere.evaluate.folds import shuffle_split
from neurowhere.exceptions import DataWarning
from neurowhere.learn import (
    LogLinear,
    Schedule,
    average,
    fit_loglinear,
    nats_above_uniform,
    softmax,
)
from neurowhere.learning import mean_target
from neurowhere.space import VoxelGrid, make_targets
from neurowhere.space.sides import mirror
from neurowhere.text import TermExtractor, TfIdf, Vocabulary
from neurowhere.text.anatomy import TERM_SYNONYMS, TERMS, build_full
from outer_folds import studies_in_brain
from setting import DATA, print_table

BASE = Schedule()
VOCABULARY = DATA / "vocabulary"
SHARPNESS = (1.0, 1.15, 1.3, 1.45, 1.6, 1.8, 2.0)


def words(corpus, weights):
    """Count terms, and of the words within longer ones that are terms themselves."""
    return TermExtractor(build_full(VOCABULARY), weights, nested=True).counts(corpus)


def longest(corpus, weights):
    """Count the longest terms alone."""
    return TermExtractor(build_full(VOCABULARY), weights).counts(corpus)


def phrases(corpus, weights):
    """Count terms, and of all terms within longer ones."""
    vocabulary = build_full(VOCABULARY)
    column = {tuple(term.split()): i for i, term in enumerate(vocabulary)}
    within = sparse.lil_matrix((len(vocabulary), len(vocabulary)), dtype=np.float32)
    for term, row in column.items():
        for start, end in combinations(range(len(term) + 1), 2):
            if (part := column.get(term[start:end])) is not None:
                within[row, part] += 1  # a term is within itself
    return TermExtractor(vocabulary, weights).counts(corpus) @ within.tocsr()


def whole_list(corpus, weights):
    """Count as the base does, with NeuroQuery's list as it is."""
    vocabulary = Vocabulary.load(VOCABULARY / TERMS, VOCABULARY / TERM_SYNONYMS)
    return TermExtractor(vocabulary, weights, nested=True).counts(corpus)


@cache
def fit(schedule=BASE, *, weights=(), min_studies=10, terms=words, bandwidth=1.0, seed=0):
    """Fit a variant to the inner training studies; return the model and the held-out features."""
    X, fit_rows, held_rows = features(weights, min_studies, terms)
    training = targets(bandwidth).select(fit_rows)
    grid = VoxelGrid(4)
    mean = mean_target(targets(1.0).select(fit_rows))
    scale = np.full(grid.n_regions, float(grid.n_regions))
    *_, model = fit_loglinear(X[fit_rows], training.rows, mean, scale, schedule, seed=seed)
    return model, X[held_rows]


def mixed_seeds():
    """Average of two seeds."""
    models = [fit(seed=seed) for seed in (0, 1)]
    return average([model for model, _ in models]), models[0][1]


def truncated():
    """Average of two seeds, cut to the rank of one."""
    model, X = mixed_seeds()
    return model.truncated(BASE.rank), X


def symmetric(share=0.25):
    """Components drawn towards their mirror image."""
    model, X = fit()
    mirrored = mirror(VoxelGrid(4))
    other = model.components[:, mirrored]
    return LogLinear(model.mean, model.loadings, (1 - share) * model.components + share * other), X


VARIANTS = {
    "base": fit,
    "rank 64": lambda: fit(replace(BASE, rank=64)),
    "rank 256": lambda: fit(replace(BASE, rank=256)),
    "7 epochs": lambda: fit(replace(BASE, epochs=7)),
    "14 epochs": lambda: fit(replace(BASE, epochs=14)),
    "decay of loadings 1": lambda: fit(replace(BASE, decay=(1.0, 0.5))),
    "decay of components 1": lambda: fit(replace(BASE, decay=(2.0, 1.0))),
    "dropout 0.4": lambda: fit(replace(BASE, dropout=0.4)),
    "dropout 0.1": lambda: fit(replace(BASE, dropout=0.1)),
    "learning rate 0.02": lambda: fit(replace(BASE, rate=0.02)),
    "title x 3, keywords x 2": lambda: fit(weights=(("title", 3.0), ("keywords", 2.0))),
    "longest terms alone": lambda: fit(terms=longest),
    "all terms within longer ones": lambda: fit(terms=phrases),
    "with phrases that run on": lambda: fit(terms=whole_list),
    "terms in >= 5 studies": lambda: fit(min_studies=5),
    "terms in >= 25 studies": lambda: fit(min_studies=25),
    "targets of bandwidth 0.75": lambda: fit(bandwidth=0.75),
    "targets of bandwidth 1.5": lambda: fit(bandwidth=1.5),
    "mirrored components, 1/4": symmetric,
    "two seeds": mixed_seeds,
    "two seeds, cut to rank 128": truncated,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(VARIANTS))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", DataWarning)
    rows, base = [], None
    for name in arguments.only:
        file = arguments.output / f"{name.replace(' ', '_').replace('/', 'of')}.npz"
        if not file.exists():
            start = time.perf_counter()
            scores = held_out_scores(*VARIANTS[name]())
            best = int(np.nanmean(scores, axis=1).argmax())
            seconds = time.perf_counter() - start
            np.savez(file, nats=scores[best], sharpness=SHARPNESS[best], seconds=seconds)
        kept = np.load(file)
        nats = kept["nats"]
        base = nats if base is None else base
        gain = nats - base
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        rows.append(
            [
                name,
                f"{nats.mean():.4f}",
                f"{gain.mean():+.4f} ± {error:.4f}",
                f"{float(kept['sharpness']):g}",
                f"{float(kept['seconds']):.0f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    print_table(["variant", "nats above uniform", "gain ± s.e.", "sharpness", "s"], rows)


@cache
def corpus_and_rows():
    """Give all studies, and the rows of fold 0's training studies to fit on and to hold out."""
    corpus = studies_in_brain()
    groups = corpus.groups.astype(str)
    train, _ = shuffle_split(groups, 0, seed=0)
    fit_rows, held_rows = shuffle_split(groups[train], 0, seed=1)
    return corpus, train[fit_rows], train[held_rows]


@cache
def features(weights, min_studies, terms):
    """Weighted counts of the terms that enough studies have, as tf-idf."""
    corpus, fit_rows, held_rows = corpus_and_rows()
    counts = terms(corpus, dict(weights))
    counts = counts[:, np.flatnonzero(counts[fit_rows].getnnz(axis=0) >= min_studies)]
    return TfIdf().fit(counts[fit_rows]).transform(counts), fit_rows, held_rows


@cache
def targets(bandwidth):
    """Make the densities of all studies."""
    corpus, *_ = corpus_and_rows()
    grid = VoxelGrid(4)
    xyz = corpus.peaks[["x", "y", "z"]].to_numpy()
    return make_targets(grid, grid, xyz, corpus.peak_rows, len(corpus), bandwidth=bandwidth)


def held_out_scores(model, X):
    """Nats above uniform of each held-out study, for each sharpness."""
    held = targets(1.0).select(corpus_and_rows()[2])
    order = np.argsort(held.study, kind="stable")
    study, region = held.study[order], held.region[order]
    relative = np.zeros((len(SHARPNESS), len(study)))
    for start in range(0, X.shape[0], 128):
        here = slice(*np.searchsorted(study, [start, start + 128]))
        added = model.project(X[start : start + 128]) @ model.components
        for row, sharpness in zip(relative, SHARPNESS, strict=True):
            q = softmax(model.bias + np.float32(sharpness) * added)
            row[here] = q[study[here] - start, region[here]] * q.shape[1]
    return np.array([nats_above_uniform(row, study, len(held)) for row in relative])


if __name__ == "__main__":
    main()
