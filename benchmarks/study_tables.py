"""Tables of finished comparisons: mean ± sd over folds of nats above uniform, as Markdown.

    python benchmarks/study_tables.py FOLDER [FOLDER ...] [--above-mean-map]

Each FOLDER has the scores.csv of `neurowhere compare`, finished or not. Only folds that all losses
of a partition share are counted, so that the columns of a row can be compared; their number is
given. With --above-mean-map, the mean map of the same fold is subtracted.
"""

import argparse
from pathlib import Path

import pandas as pd

from setting import print_table

BASELINES = ("uniform", "mean")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--above-mean-map", action="store_true")
    parser.add_argument("--losses", help="only these, separated by commas")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        scores = pd.read_csv(folder / "scores.csv")
        wanted = arguments.losses and [*arguments.losses.split(","), *BASELINES]
        if wanted:
            scores = scores[scores["loss"].isin(wanted)]
        print(f"\n{folder.name}\n")
        print_table(*table_of(scores, arguments.above_mean_map))


def table_of(scores, above_mean_map):
    """Return header and rows: partitions by the score of their best model, losses in columns."""
    losses = [loss for loss in scores["loss"].unique() if loss != "uniform"]
    rows = []
    for partition, some in scores.groupby("partition"):
        nats = some.pivot_table(index="fold", columns="loss", values="nats_above_uniform").dropna()
        if above_mean_map:
            nats = nats.sub(nats["mean"], axis=0)
        cells = [told(nats[loss]) if loss in nats else "" for loss in losses]
        rows.append((nats.mean().max(), [partition, len(nats), *cells]))
    rows.sort(key=lambda row: -row[0])
    return ["partition", "folds", *losses], [row for _, row in rows]


def told(values):
    """Return mean and standard deviation in words."""
    spread = f" ± {values.std():.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{spread}"


if __name__ == "__main__":
    main()
