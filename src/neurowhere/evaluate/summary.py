"""Summary of a comparison: means over folds, and paired differences with their intervals."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from neurowhere.evaluate.trial import BASELINES, MEAN

# What the scores of a loss are compared with, on the same partition and folds.
RIVALS = {"mean_map": MEAN, "l2": "l2"}
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of two models over folds, with its confidence interval.

    `share_above` is the share of the folds in which the first model is better.
    """

    mean: float
    low: float
    high: float
    folds: int
    share_above: float


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


def paired_difference(
    first: ArrayLike, second: ArrayLike, test_share: float, confidence: float = CONFIDENCE
) -> Difference:
    """Compare the scores of two models on the same shuffle-split folds.

    The training sets of the folds overlap, so their scores are not independent. The variance of
    the mean of J differences dⱼ is therefore taken as (Nadeau & Bengio, Machine Learning 2003)

        (1/J + n_test/n_train) s²,    s² = Σ (dⱼ − d̄)² / (J − 1)

    and the interval is d̄ ± t s √(…), with t the quantile of Student's law with J − 1 degrees.

    Parameters
    ----------
    first, second : arrays of shape (n_folds,)
    test_share : float
        Share of the studies in a test set, which gives n_test/n_train.
    confidence : float
        Level of the interval.

    Returns
    -------
    Difference
        Its interval is NaN with fewer than two folds.
    """
    from scipy.stats import t

    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    n = len(differences)
    mean = float(differences.mean()) if n else np.nan
    above = float((differences > 0).mean()) if n else np.nan
    if n < 2:
        return Difference(mean, np.nan, np.nan, n, above)
    variance = (1 / n + test_share / (1 - test_share)) * differences.var(ddof=1)
    margin = float(t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(variance))
    return Difference(mean, mean - margin, mean + margin, n, above)
