"""NeuroQuery as an entry of the open benchmark: FOLDER, or FOLDER TEXTS.

Runs in an environment of `neuroquery_requirements.txt`. The first form fits the studies of a folder
as `neuroquery_fit.py` describes it, and keeps the model there. The second predicts the texts of
another folder (``counts_SECTION.npz``), and writes ``maps.npy`` to it: a map for each text, the
mean of the training studies for one without a known term.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
from neuroquery.smoothed_regression import SmoothedRegression
from neuroquery_fit import Words, brain_maps, check_shortcuts, shortcuts


def fit(folder):
    """Fit the studies of a folder, and keep the model."""
    check_shortcuts()
    with shortcuts():
        maps = brain_maps(folder)
        train = np.flatnonzero(maps.any(axis=1))
        words = Words(folder).fit(train)
        regression = SmoothedRegression().fit(words.transform(train).toarray(), maps[train])
    regression.to_data_dir(folder / "model")
    mean = maps[train].mean(axis=0)
    np.savez(folder / "words.npz", kept=words.kept, shares=words.shares, mean=mean)


def predict(folder, texts):
    """Predict the texts of a folder with the model of another."""
    about = np.load(folder / "words.npz")
    words = Words(folder, counted_in=texts)
    words.kept, words.shares = about["kept"], about["shares"]
    X = words.transform(slice(None)).toarray()
    maps = SmoothedRegression.from_data_dir(folder / "model").predict(X).astype(np.float32)
    maps[~X.any(axis=1)] = about["mean"]
    np.save(texts / "maps.npy", maps)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    home, *others = map(Path, sys.argv[1:])
    predict(home, *others) if others else fit(home)
