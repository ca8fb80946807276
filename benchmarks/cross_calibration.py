"""Regions of articles, calibrated by the test articles of other folds.

    python benchmarks/cross_calibration.py DIR [--folds 5]

DIR has the models that kinds_of_text.py fitted. What they calibrate themselves with comes from
models of fewer studies. Here each is calibrated by the articles that the models of the other folds
were tested on, whole and cut short: those are as good as itself. Prints what the regions then hold,
mean ± sd over folds, beside what they hold by the calibration of the model.
"""

import argparse
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kinds_of_text import DATA, SHARES, articles_of, is_known, list_of, peaks_by_study
from neurowhere import load_model
from neurowhere.learn import LengthCalibration, peak_levels, shuffle_split
from recipe.sources import studies_in_brain
from recipe.views import CUTS, _cut
from setting import print_table

LENGTHS = (None, *CUTS)


class Tested(NamedTuple):
    """A test article: known terms, levels of its peaks, expected and true gain."""

    n_terms: int
    levels: np.ndarray
    expected: float
    true: float


def main():
    """Encode the test articles of all folds, and calibrate each by the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = studies_in_brain(DATA)
    peaks, articles = peaks_by_study(corpus), list(articles_of(DATA, corpus))
    models = [load_model(arguments.folder / f"shipped-{fold}") for fold in range(arguments.folds)]
    tested = []
    for fold, model in enumerate(models):
        _, test = shuffle_split(corpus.groups.astype(str), fold, seed=0)
        own = [(peaks[row], text) for row, text in articles if row in set(test.tolist())]
        tested.append({n: [encode(model, _cut(text, n), at) for at, text in own] for n in LENGTHS})
    rows = []
    for n_words in LENGTHS:
        others = [calibrate(tested[:fold] + tested[fold + 1 :]) for fold in range(len(models))]
        for name, calibrations in (("own", [m.calibration_ for m in models]), ("others", others)):
            held = [hold(tests[n_words], each) for tests, each in zip(tested, calibrations)]
            told = (f"{mean:.1%} ± {sd:.1%}" for mean, sd in zip(*spread(held)))
            rows.append([n_words or "all", name, *told])
    print_table(["words", "calibrated by", *(f"{share:.0%} region" for share in SHARES)], rows)


def encode(model, text, at):
    """Encode one text, and see how its map does at the peaks of its study."""
    encoding = model.encode(text)
    q, m = encoding.probabilities, model.partition_.n_regions
    ratio = np.log1p(q * m) - np.log1p(model.mean_map_ * m)
    levels = peak_levels(q[None], q[None], np.zeros(len(at), int), at)
    n_terms = int(is_known(model)[list_of(model, encoding)].sum())
    return Tested(n_terms, levels, float(q @ ratio), float(ratio[at].mean()))


def calibrate(folds):
    """Calibrate by the test articles of some folds."""
    every = [article for fold in folds for articles in fold.values() for article in articles]
    text = np.repeat(np.arange(len(every)), [len(article.levels) for article in every])
    return LengthCalibration.fit(
        np.array([article.n_terms for article in every]),
        np.concatenate([article.levels for article in every]),
        text,
        np.array([article.expected for article in every]),
        np.array([article.true for article in every]),
    )


def hold(articles, calibration):
    """Return the mean share of the peaks of articles in their regions."""
    return [
        np.mean([(a.levels < calibration.mass_for(share, a.n_terms)).mean() for a in articles])
        for share in SHARES
    ]


def spread(held):
    """Return mean and standard deviation over folds."""
    return np.mean(held, axis=0), np.std(held, axis=0, ddof=1)


if __name__ == "__main__":
    main()
