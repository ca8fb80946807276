"""What the ridge of the recipe of the shipped model gains, on outer folds.

    python benchmarks/recipe_variants.py -o DIR --vocabulary FILE [--folds 0 1 2 3 4] [--quick]

For each fold, the recipe is fitted to the training studies, one fit where the shipped model
averages two, and scored on the test studies with its ridge (`neurowhere/learn/blend.py`) and
without. Printed are nats above the mean map without it and the paired difference that it makes:
for each fold ± standard error over studies, then the mean ± standard deviation over folds, and in
how many folds it is ahead.
`--quick` leaves out what takes most of the time, the refinement for short texts. Fits and scores
are kept in DIR, and finished ones are not made again.
"""

import argparse
import pickle
import sys
import time
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from neurowhere.learn import shuffle_split
from neurowhere.text import TfIdf, Vocabulary
from setting import DATA, print_table

sys.path.insert(0, str(Path(__file__).parents[1]))
from recipe import Recipe, read_material
from recipe.fitting import known_counts, known_names, reweighted
from recipe.views import PredictedTexts, kinds_of_text, score_texts

SHARPNESS = 1.6  # of the plain part, which is that of the shipped model
KINDS = ("title, abstract, keywords", "title", "keywords", "one keyword", "article")
PLAIN, SHIPPED = "without the ridge", "with it"


def main():
    """Fit and score what is not there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--folds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
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
    folds = [run(material, fold, arguments) for fold in arguments.folds]
    for fold, scores in zip(arguments.folds, folds, strict=True):
        print(f"\nfold {fold}")
        print_results([scores])
    if len(folds) > 1:
        print("\nall folds")
        print_results(folds)


def run(material, fold, arguments):
    """Return the gains on the test studies of a fold, without the ridge and with it."""
    folder = arguments.output / f"fold-{fold}"
    folder.mkdir(exist_ok=True)
    train, test = shuffle_split(material.corpus.groups.astype(str), fold, seed=0)
    recipe = Recipe(seeds=1, n_jobs=arguments.jobs)

    def fit_and_score():
        fit = fitted(recipe, material, train, folder)
        models = {PLAIN: replace(fit.predictor, blend=None), SHIPPED: fit.predictor}
        return {name: score(fit, model, test) for name, model in models.items()}

    return kept(folder / "scores.pkl", fit_and_score)


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


def score(fit, predictor, test):
    """Return the gain over the mean map of each text of the test studies, by kind."""
    fit = replace(fit, predictor=predictor)
    seen = np.flatnonzero(np.isin(fit.material.articles.study, test))
    studies = fit.material.articles.study[seen]
    articles = PredictedTexts(fit.predict(fit.article_counts()[seen]), seen, studies)
    texts = [*islice(kinds_of_text(fit, test), len(KINDS) - 1), articles]
    return {kind: score_texts(fit, each).gain for kind, each in zip(KINDS, texts, strict=True)}


def print_results(folds):
    """Print the gains without the ridge, and what it adds to them, in 0.0001 nats."""
    row = []
    for kind in KINDS:
        base = np.mean([scores[PLAIN][kind].mean() for scores in folds])
        moved = [1e4 * (scores[SHIPPED][kind] - scores[PLAIN][kind]) for scores in folds]
        means = np.array([each.mean() for each in moved])
        spread, ahead = moved[0].std() / np.sqrt(len(moved[0])), ""
        if len(folds) > 1:
            spread, ahead = means.std(ddof=1), f", {(means > 0).sum()} of {len(means)}"
        row.append(f"{base:.4f}, {means.mean():+.0f} ± {spread:.0f}{ahead}")
    print_table(KINDS, [row])


if __name__ == "__main__":
    main()
