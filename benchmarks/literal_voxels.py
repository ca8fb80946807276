"""The paper's ridge on voxels, read to the letter in each of the places that leave a choice.

    python benchmarks/literal_voxels.py CORPUS -o docs/results/literal/readings.csv [--folds 3]

CORPUS is neuroquery_dev as `neurowhere corpus import` wrote it; the vocabulary is the built-in one.
Readings: with an intercept or without; term frequencies among the known terms of a text, or among
all of its words; what is predicted rescaled to a probability, or as it comes (cut at zero: its mass
is then not 1); and the metric as we write it, with a uniform density of mass 1, beside the formula
that the paper prints, whose uniform term Σ 1_k/v_k has mass m. Means over the test studies of each
fold. λ is chosen on validation studies by our metric, for each reading of the features by itself.
Folds that the table has are not run again; it is written after each.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from neurowhere.corpus import read_corpus
from neurowhere.evaluate import Candidate
from neurowhere.evaluate.trial import Trial, prepare_material, prepare_problems
from neurowhere.exceptions import DataWarning
from neurowhere.model.losses import find_loss
from neurowhere.model.training import TrainingData, TrainingOptions
from neurowhere.space import VoxelGrid
from neurowhere.text.building.anatomy import builtin_anatomy
from setting import print_table

LAMBDAS = np.geomspace(300, 3e-5, 6).tolist()
NAME = "voxels"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True, help="table to write")
    parser.add_argument("--folds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    material = prepare_material(read_corpus(arguments.corpus), VoxelGrid(), builtin_anatomy())
    problem = prepare_problems(material, [Candidate(NAME, VoxelGrid())])[NAME]
    readings = {
        "known terms": frequencies(problem.counts, problem.counts.sum(axis=1).A1),
        "all words": frequencies(problem.counts, words_of(material.corpus)),
    }
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(arguments.output) if arguments.output.exists() else pd.DataFrame()
    for fold in sorted(set(range(arguments.folds)) - set(table.get("fold", ()))):
        rows = [
            {"fold": fold, "frequencies among": name, "intercept": intercept, **row}
            for name, features in readings.items()
            for intercept in (True, False)
            for row in score_fold(problem, features, fold, intercept)
        ]
        table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
        table.to_csv(arguments.output, index=False, float_format="%.6g")
    keys = ["frequencies among", "intercept", "predicted"]
    groups = table.drop(columns="fold").groupby(keys, sort=False)
    print(f"{table['fold'].nunique()} folds\n")
    means, spreads = groups.mean().round(4), groups.std().round(4)
    cells = [
        [*key, *(f"{mean} ± {spread}" for mean, spread in zip(row, spreads.loc[key], strict=True))]
        for key, row in zip(means.index, means.values.tolist(), strict=True)
    ]
    print_table([*keys, *means], cells)


def words_of(corpus):
    """Count all words of each study: terms of one word, in all sections."""
    single = np.array([" " not in term for term in corpus.terms])
    return sum(counts[:, single].sum(axis=1).A1 for counts in corpus.counts.values())


def frequencies(counts, lengths):
    """Divide counts by lengths; rows without a word are zero."""
    scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return sparse.csr_matrix(sparse.diags(scale) @ counts, dtype=np.float32)


def score_fold(problem, features, fold, intercept):
    """Fit on a fold, and score what is predicted as it comes and rescaled, by both formulas."""
    train, test = Trial().split(problem, fold)
    train = train[problem.targets.has_mass[train]]
    about = (problem.regions.volumes_mm3, problem.brain_mm3)
    data = TrainingData(
        features[train], problem.targets.select(train), problem.groups[train], *about
    )
    loss = find_loss("l2", sharpness=1.0, intercept=intercept)
    found = loss.fit(data, replace(TrainingOptions(), n_jobs=1, lambdas=LAMBDAS))
    model, x = found.predictor, features[test]
    q = x @ model.coefficients
    if intercept:
        q += model.mean - model.centre @ model.coefficients
    raw = np.maximum(q, 0)
    peaks = problem.targets.select(test)
    for name, predicted in (("as it comes", raw), ("rescaled", model.predict(x))):
        ours, printed = scores(predicted, peaks, problem)
        yield {
            "predicted": name,
            "median mass": float(np.median(predicted.sum(axis=1))),
            "nats above uniform": ours,
            "by the printed formula": printed,
            "λ": found.choice.penalty,
        }


def scores(predicted, peaks, problem):
    """Mean over studies of the mean log of q' at their peaks, minus that of the uniform density.

    Ours: q' = ½ (1/V + q). As printed: q' = ½ (Σ_k 1_k/v_k + q), with 1/v_k at a peak in region k.
    """
    inside = peaks.region >= 0
    study, region = peaks.study[inside], peaks.region[inside]
    v, brain = problem.regions.volumes_mm3[region], problem.brain_mm3
    q = predicted[study, region] / v
    for background in (1 / brain, 1 / v):
        uniform = np.log((background + 1 / brain) / 2)
        nats = np.log((background + q) / 2) - uniform
        sums, sizes = np.bincount(study, nats), np.bincount(study)
        yield float(np.mean(sums[sizes > 0] / sizes[sizes > 0]))


if __name__ == "__main__":
    main()
