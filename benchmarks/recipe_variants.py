"""The ridge of the recipe of the shipped model, with several strengths, on outer folds.

    python benchmarks/recipe_variants.py -o DIR --vocabulary FILE [--folds 5] [--mixtures]

For each fold, the recipe is fitted to the training studies, one fit where the shipped model
averages two, and scored on the test studies with and without its ridge
(`neurowhere/learn/blend.py`): as title, abstract and keywords, title, keywords, and article.
Printed are nats above the mean map without the ridge and paired differences to them, mean ±
standard deviation over folds, and in how many folds it is ahead. `--mixtures` scores several c and
u of the ridge. `--quick` leaves out what takes most of the time, the refinement for short texts.
Fits and scores are kept in DIR, and finished ones are not made again.
"""

import argparse
import pickle
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from neurowhere._tools.parallel import slices
from neurowhere.learn import shuffle_split
from neurowhere.text import TfIdf, Vocabulary
from setting import DATA, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe import Recipe, read_material
from recipe.fitting import known_counts, known_names, reweighted

SHARPNESS = 1.6  # of the plain part, which is that of version 5
CHUNK = 200  # texts predicted at a time
MIXTURES = [(c, u) for c in (0.3, 0.45, 0.6) for u in (0.65, 0.8)]
KINDS = ("title, abstract, keywords", "title", "keywords", "article")


def main():
    """Fit and score what is not there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--folds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--mixtures", action="store_true", help="score other c and u of the ridge")
    parser.add_argument(
        "--quick", action="store_true", help="keep the first loadings of short texts"
    )
    parser.add_argument("--jobs", type=int, default=-1)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    if arguments.quick:
        Recipe._refine_short = lambda self, fit, rows: fit.predictor
    warnings.simplefilter("ignore")
    material = kept(
        arguments.output / "material.pkl",
        lambda: read_material(DATA, known_names(Vocabulary.load(arguments.vocabulary))),
    )
    mixtures = MIXTURES if arguments.mixtures else []
    rows = [
        (fold, kind, mixture, gains)
        for fold in arguments.folds
        for (kind, mixture), gains in run(material, fold, mixtures, arguments).items()
    ]
    print_results(rows)


def run(material, fold, mixtures, arguments):
    """Fit the recipe to the training studies of a fold, and score it on the others."""
    train, test = shuffle_split(material.corpus.groups.astype(str), fold, seed=0)
    recipe = Recipe(seeds=1, n_jobs=arguments.jobs)
    folder = arguments.output / f"fold-{fold}"
    folder.mkdir(exist_ok=True)
    return kept(
        folder / "scores.pkl",
        lambda: score(fitted(recipe, material, train, folder), test, mixtures),
    )


def kept(file, make):
    """Return what a file holds, made first if it is not there."""
    if not file.exists():
        file.write_bytes(pickle.dumps(make()))
    return pickle.loads(file.read_bytes())  # written by this script


def fitted(recipe, material, train, folder):
    """Fit the recipe to the training studies of a fold."""
    start = time.process_time()
    part, _ = recipe._split(material, train, 0)
    weights = kept(folder / "weights.pkl", lambda: recipe.weigh(material, part)[1])
    weighting = reweighted(TfIdf().fit(known_counts(material)[train]), weights)
    plain = kept(folder / "plain.pkl", lambda: recipe.fit_plain(material, train, weighting))
    fit = recipe.refine(material, train, weighting, plain.sharpened(SHARPNESS))
    print(f"{folder.name}: {time.process_time() - start:.0f} s", file=sys.stderr)
    return fit


def texts(fit, test):
    """Yield kinds of texts of studies: name, features, study of each."""
    material, weighting = fit.material, fit.weighting
    yield KINDS[0], weighting.transform(material.counts[test]), test
    yield KINDS[1], weighting.transform(material.sections["title"][test]), test
    keywords = material.sections["keywords"][test]
    some = np.flatnonzero(np.diff(keywords[:, : material.n_known].indptr))
    yield KINDS[2], weighting.transform(keywords[some]), test[some]
    seen = np.flatnonzero(np.isin(material.articles.study, test))
    studies = material.articles.study[seen]
    yield KINDS[3], weighting.transform(fit.article_counts()[seen]), studies


def score(fit, test, mixtures):
    """Return the gain over the mean map of each test text, without a ridge and with it."""
    targets, m = fit.material.targets, fit.material.grid.n_regions
    bounds = np.searchsorted(targets.study, np.arange(len(targets) + 1))
    model = fit.predictor
    mean = np.log1p(model.mean_map * m)
    own = (model.blend.strength, model.blend.kept)
    blends = {None: None} | {
        (c, u): replace(model.blend, strength=c, kept=u) for c, u in (own, *mixtures)
    }
    scores = {}
    for mixture, blend in blends.items():
        variant = replace(model, blend=blend)
        for kind, X, studies in texts(fit, test):
            gains = []
            for some in slices(X.shape[0], CHUNK):
                ratios = np.log1p(variant.predict(X[some]) * m) - mean
                for row, study in zip(ratios, studies[some], strict=True):
                    gains.append(row[targets.region[slice(*bounds[study : study + 2])]].mean())
            scores[kind, mixture] = np.array(gains)
    return scores


def print_results(rows):
    """Print gains without the ridge, and paired differences to them, over folds."""
    found = {mixture: {} for _, _, mixture, _ in rows}
    for fold, kind, mixture, gains in rows:
        found[mixture][fold, kind] = gains
    base, table = found[None], []
    for mixture, gains in found.items():
        row = ["" if mixture is None else "c = {}, u = {}".format(*mixture)]
        for kind in KINDS:
            folds = [fold for fold, name in gains if name == kind]
            if gains is base:
                row.append(f"{np.mean([base[fold, kind].mean() for fold in folds]):.4f}")
                continue
            moved = [1e4 * (gains[fold, kind] - base[fold, kind]).mean() for fold in folds]
            spread = f" ± {np.std(moved, ddof=1):.0f}" if len(moved) > 1 else ""
            ahead = sum(value > 0 for value in moved)
            row.append(f"{np.mean(moved):+.0f}{spread}, {ahead} of {len(moved)}")
        table.append(row)
    print_table(["ridge (differences in 1e-4 nats)", *KINDS], table)


if __name__ == "__main__":
    main()
