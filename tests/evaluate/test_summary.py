import numpy as np
import pandas as pd
import pytest

from neurowhere.evaluate.summary import paired_difference, summarise


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    rows = []
    for partition, folds in [("voxels", 3), ("atlas", 5)]:
        for loss, level in [("uniform", 0.0), ("mean", 0.1), ("l2", 0.2), ("l1", 0.3)]:
            for fold in range(folds):
                nats = level + (partition == "voxels") * 0.5 + rng.normal(0, 0.01)
                rows.append((fold, partition, loss, nats - 14, nats, 0.5, np.nan, 2.0, 1.0))
    names = "fold partition loss log_likelihood nats_above_uniform total_variation penalty"
    return pd.DataFrame(rows, columns=[*names.split(), "sharpness", "seconds"])


def test_means_and_spreads_are_those_of_pandas(scores):
    table = summarise(scores, 0.1).set_index(["partition", "loss"])
    expected = scores.groupby(["partition", "loss"])["log_likelihood"].agg(["mean", "std", "size"])
    for model, row in expected.iterrows():
        assert table.loc[model, "log_likelihood"] == pytest.approx(row["mean"])
        assert table.loc[model, "log_likelihood_std"] == pytest.approx(row["std"])
        assert table.loc[model, "folds"] == row["size"]
    assert table["penalty"].isna().all()


def test_differences_are_paired_by_fold(scores):
    shuffled = scores.sample(frac=1, random_state=1)
    table = summarise(shuffled, 0.1).set_index(["partition", "loss"])
    values = scores[scores["partition"] == "atlas"].pivot(
        index="fold", columns="loss", values="log_likelihood"
    )
    expected = paired_difference(values["l1"], values["l2"], 0.1)
    row = table.loc[("atlas", "l1")]
    assert row["minus_l2"] == pytest.approx(expected.mean)
    assert row["minus_l2_low"] == pytest.approx(expected.low)
    assert row["minus_l2_high"] == pytest.approx(expected.high)
    assert row["minus_l2_wins"] == 1
    assert table.loc[("atlas", "l2"), "minus_mean_map"] == pytest.approx(0.1, abs=0.02)
    assert np.isnan(table.loc[("atlas", "l2"), "minus_l2"])
    assert np.isnan(table.loc[("atlas", "mean"), "minus_mean_map"])


def test_only_folds_that_both_models_have_are_compared(scores):
    gone = (scores["partition"] == "atlas") & (scores["loss"] == "mean") & (scores["fold"] < 4)
    table = summarise(scores[~gone], 0.1).set_index(["partition", "loss"])
    assert not np.isnan(table.loc[("atlas", "l1"), "minus_mean_map"])
    assert np.isnan(table.loc[("atlas", "l1"), "minus_mean_map_low"])  # one fold in common


def test_the_best_comes_first(scores):
    table = summarise(scores, 0.1)
    assert table["partition"].tolist() == ["voxels"] * 4 + ["atlas"] * 4
    assert table["loss"].tolist() == ["l1", "l2", "mean", "uniform"] * 2
