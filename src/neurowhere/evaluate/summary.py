"""Summary of a comparison: means over folds, and paired differences with their intervals."""

import numpy as np
import pandas as pd

from neurowhere.evaluate.metric import Difference, paired_difference
from neurowhere.evaluate.trial import BASELINES, MEAN

# What the scores of a loss are compared with, on the same partition and folds.
RIVALS = {"mean_map": MEAN, "l2": "l2"}


def summarise(scores: pd.DataFrame, test_share: float) -> pd.DataFrame:
    """Summarise scores in one row per partition and loss, the best partitions first.

    Parameters
    ----------
    scores : DataFrame
        One row per fold, partition and loss.
    test_share : float
        Share of the studies in a test set.

    Returns
    -------
    DataFrame
        partition, loss, folds; mean and standard deviation over folds of the log-likelihood, the
        nats above uniform and the total-variation distance; `minus_mean_map` and, for ℓ1,
        `minus_l2`: the paired difference of log-likelihoods, its 95 % interval (`_low`, `_high`)
        and the share of folds where it is positive (`_wins`); median λ and sharpness, seconds.
    """
    by_model = {
        (str(partition), str(loss)): table.set_index("fold")
        for (partition, loss), table in scores.groupby(["partition", "loss"], sort=False)
    }
    rows = [
        {**_means(partition, loss, table), **_differences(by_model, partition, loss, test_share)}
        for (partition, loss), table in by_model.items()
    ]
    return _in_order(pd.DataFrame(rows))


def _means(partition: str, loss: str, table: pd.DataFrame) -> dict[str, object]:
    means: dict[str, object] = {"partition": partition, "loss": loss, "folds": len(table)}
    for name in ("log_likelihood", "nats_above_uniform", "total_variation"):
        means[name] = table[name].mean()
        means[f"{name}_std"] = table[name].std()
    for name in ("penalty", "sharpness", "seconds"):
        # pandas before 3 warns of a median of nothing.
        means[name] = table[name].median() if table[name].notna().any() else np.nan
    return means


def _differences(
    by_model: dict[tuple[str, str], pd.DataFrame], partition: str, loss: str, test_share: float
) -> dict[str, float]:
    columns: dict[str, float] = {}
    for name, rival in RIVALS.items():
        meaningful = loss not in BASELINES if rival == MEAN else loss == "l1"
        difference = Difference(np.nan, np.nan, np.nan, 0, np.nan)
        if meaningful and (partition, rival) in by_model:
            difference = compare_models(
                by_model[partition, loss], by_model[partition, rival], test_share
            )
        columns |= {
            f"minus_{name}": difference.mean,
            f"minus_{name}_low": difference.low,
            f"minus_{name}_high": difference.high,
            f"minus_{name}_wins": difference.share_above,
        }
    return columns


def compare_models(first: pd.DataFrame, second: pd.DataFrame, test_share: float) -> Difference:
    """Compare the log-likelihoods of two models on the folds that both have.

    Parameters
    ----------
    first, second : DataFrame
        Scores of each model, indexed by fold.
    test_share : float
        Share of the studies in a test set.

    Returns
    -------
    Difference
    """
    both = first.index.intersection(second.index)
    mine, theirs = (table.loc[both, "log_likelihood"] for table in (first, second))
    return paired_difference(mine, theirs, test_share)


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Put the partition with the best model first; within it, the best model first."""
    best = table.groupby("partition")["log_likelihood"].transform("max")
    order = np.lexsort((-table["log_likelihood"], table["partition"], -best))
    return table.iloc[order].reset_index(drop=True)
