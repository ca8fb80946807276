"""Tables of the open benchmark: means over folds, and paired differences between entries."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neurowhere.evaluate.protocol import ALL, N_FOLDS
from neurowhere.evaluate.summary import paired_difference

TEST_SHARE = 1 / N_FOLDS


def rows_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return rows of the table of scores, one for each kind of text; terms are with "all".

    Parameters
    ----------
    result : dict
        From `run_entry`.

    Returns
    -------
    list of dict
    """
    common = {name: result[name] for name in ("entry", "fold", "fit_seconds", "megabytes")}
    return [
        {
            **common,
            "kind": kind,
            **each["metrics"],
            **(result.get("terms", {}) if kind == ALL else {}),
        }
        for kind, each in result["kinds"].items()
    ]


def mean_over_folds(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the mean and the standard deviation over folds of every metric.

    Parameters
    ----------
    scores : DataFrame
        One row per fold, entry and kind.

    Returns
    -------
    DataFrame
        entry, kind, metric, folds, mean, std.
    """
    keys = ["entry", "kind"]
    long = scores.melt([*keys, "fold"], var_name="metric").dropna(subset="value")
    long["value"] = long["value"].astype(float)
    grouped = long.groupby([*keys, "metric"], sort=False)["value"]
    table = grouped.agg(folds="count", mean="mean", std="std").reset_index()
    order = scores[scores["kind"] == ALL].groupby("entry")["nats"].mean()
    return table.sort_values(
        "entry",
        key=lambda names: -names.map(order).fillna(-np.inf),
        kind="stable",
        ignore_index=True,
    )


def compare_entries(results: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Compare every two entries on the folds and on the studies that both have.

    Parameters
    ----------
    results : sequence of dict
        From `run_entry`.

    Returns
    -------
    DataFrame
        kind, first, second; mean difference of nats with its interval over folds (`low`, `high`),
        share of the folds and of the studies in which the first is better, folds, studies.
    """
    nats = {
        (result["entry"], kind, result["fold"]): pd.Series(
            each["studies"]["nats"], each["studies"]["id"]
        )
        for result in results
        for kind, each in result["kinds"].items()
    }
    names = list(dict.fromkeys(name for name, _, _ in nats))
    kinds = list(dict.fromkeys(kind for _, kind, _ in nats))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    rows = [_compare(nats, kind, *pair) for kind in kinds for pair in pairs]
    return pd.DataFrame([row for row in rows if row["folds"]])


def _by_study(studies: dict[str, list[Any]]) -> "pd.Series[float]":
    return pd.Series(studies["nats"], studies["id"])


def _compare(
    nats: dict[tuple[str, str, int], "pd.Series[float]"], kind: str, first: str, second: str
) -> dict[str, Any]:
    differences = []
    for (name, other, fold), mine in nats.items():
        theirs = nats.get((second, kind, fold))
        if (name, other) == (first, kind) and theirs is not None:
            both = mine.index.intersection(theirs.index)
            differences.append((mine[both] - theirs[both]).to_numpy())
    differences = [each for each in differences if len(each)]
    means = [each.mean() for each in differences]
    found = paired_difference(means, np.zeros(len(means)), TEST_SHARE)
    every = np.concatenate(differences) if differences else np.empty(0)
    return {
        "kind": kind,
        "first": first,
        "second": second,
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
        "folds": found.folds,
        "folds_above": found.share_above,
        "studies": len(every),
        "studies_above": float((every > 0).mean()) if len(every) else np.nan,
    }
