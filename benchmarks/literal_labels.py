"""The literal label-constrained model, by what it predicts for a text that mentions no label.

    python benchmarks/literal_labels.py CORPUS [--folds 5] [--atlases aal hammersmith destrieux]

CORPUS is neuroquery_dev as `neurowhere corpus import` wrote it. A region is as probable as its
label is frequent in the text, times a factor of its own (`labels-literal` of `neurowhere compare`).
Where no label is mentioned, this says nothing. Three ways to go on are scored in nats above
uniform: the mean map, as our model does; the uniform density; and no density at all, which leaves
only the uniform half of the score. Also printed: the share of the test studies that mention no
label, and the score of the others alone.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from neurowhere.corpus import read_corpus
from neurowhere.evaluate import Candidate
from neurowhere.evaluate.trial import Trial, prepare_material, prepare_problems, score_model
from neurowhere.exceptions import DataWarning
from neurowhere.space import Atlas, VoxelGrid
from setting import DATA, print_table

LOSS = "labels-literal"
NOTHING = float(np.log(0.5))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--atlases", nargs="+", default=["aal", "hammersmith", "destrieux"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    material = prepare_material(read_corpus(arguments.corpus), VoxelGrid(), None)
    rows = []
    for name in arguments.atlases:
        folder = DATA / "atlases"
        atlas = Atlas(folder / f"{name}.nii.gz", folder / f"{name}_labels.csv")
        problem = prepare_problems(material, [Candidate(name, atlas)])[name]
        scores = [score_fold(problem, fold) for fold in range(arguments.folds)]
        columns = zip(*scores, strict=True)
        rows.append([name, *(f"{np.mean(x):.3f} ± {np.std(x, ddof=1):.3f}" for x in columns)])
    header = ["atlas", "mean map", "uniform", "nothing", "without a label", "with one alone"]
    print_table(header, rows)


def score_fold(problem, fold):
    """Score one fold in each way."""
    trial = Trial()
    train, test = trial.split(problem, fold)
    nats, _ = score_model(trial.fit(problem, LOSS, train), problem, test)
    is_silent = problem.labels.counts[test].getnnz(axis=1) == 0
    fallbacks = (np.where(is_silent, other, nats).mean() for other in (0.0, NOTHING))
    return (nats.mean(), *fallbacks, is_silent.mean(), nats[~is_silent].mean())


if __name__ == "__main__":
    main()
