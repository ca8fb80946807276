"""The paper's box plot: voxels and atlases, all losses, mean map and uniform, on the same folds.

    python benchmarks/paper_figure.py [--image docs/images/study-atlases.png]

Drawn from the scores of `benchmarks/paper_study.sh` in docs/results: voxels and atlases have the
same corpus, features, brain and seed, so that a fold of one is that of the other; this is checked.
Folds that one of them lacks are left out, and their number is in the title. Prints a table of the
same folds: mean of each model, and its paired difference from ℓ1 on voxels.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere.evaluate.trial import BASELINES
from neurowhere.report.comparison import box_plot
from neurowhere.report.maps import write_png
from setting import print_table

RESULTS = Path(__file__).parents[1] / "docs" / "results"
TABLES = ("voxels", "atlases")
SAME = ("seed", "test_share", "studies", "corpus_sha256", "features_sha256", "brain_sha256")
BEST = ("voxels 4 mm", "l1")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    image = RESULTS.parent / "images" / "study-atlases.png"
    parser.add_argument("--image", type=Path, default=image, help="picture to write")
    arguments = parser.parse_args()
    scores, regions = read_results()
    n_folds = scores["fold"].nunique()
    uniform = scores.loc[scores["loss"] == "uniform", "log_likelihood"].mean()
    figure = box_plot(scores, regions, uniform)
    figure.suptitle(f"The same {n_folds} folds for all models; in brackets, regions", fontsize=10)
    write_png(figure, arguments.image)
    print(f"{n_folds} folds\n")
    print_table(["partition", "loss", "nats above uniform", "below l1 on voxels"], rows_of(scores))


def read_results():
    """Read the scores of all tables in the folds that they share, and numbers of regions."""
    about = [json.loads((RESULTS / name / "info.json").read_text()) for name in TABLES]
    settings = [{key: each["settings"][key] for key in SAME} for each in about]
    assert settings[0] == settings[1], f"not the same study: {settings}"
    tables = [pd.read_csv(RESULTS / name / "scores.csv") for name in TABLES]
    shared = set.intersection(*(set(table["fold"]) for table in tables))
    scores = pd.concat([table[table["fold"].isin(shared)] for table in tables], ignore_index=True)
    by_fold = scores[scores["loss"] == "uniform"].groupby("fold")["log_likelihood"]
    assert np.allclose(by_fold.max(), by_fold.min(), atol=1e-9), "the folds differ"
    regions = {
        name: partition["regions"]
        for each in about
        for name, partition in each["partitions"].items()
    }
    return scores, regions


def rows_of(scores):
    """Return the mean of each model and its difference from the best, by fold."""
    wide = scores.pivot_table("nats_above_uniform", "fold", ["partition", "loss"])
    for partition, loss in wide.mean().sort_values(ascending=False).index:
        if loss in BASELINES and partition != BEST[0]:
            continue
        values = wide[partition, loss]
        gap = wide[BEST] - values
        yield [partition, loss, spread(values), spread(gap)]


def spread(values):
    return f"{values.mean():.3f} ± {values.std():.3f}"


if __name__ == "__main__":
    main()
