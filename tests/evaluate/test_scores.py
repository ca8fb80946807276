import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from neurowhere.evaluate.scores import COLUMNS, Ledger, paired_difference, summarise
from neurowhere.evaluate.trial import Score, Task
from neurowhere.exceptions import OutputError

SETTINGS = {"seed": 0, "corpus_sha256": "ab"}
PARTITIONS = {"a, b": {"regions": 3, "sha256": "cd"}}


def score(fold=0, loss="l1", value=-14.123456789012345):
    numbers = dict.fromkeys(COLUMNS[3:], 1.5) | {"studies": 4, "peaks": 12}
    numbers |= {"log_likelihood": value, "penalty": np.nan}
    return Score(fold, "a, b", loss, **numbers, warning="not in the table")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "out", SETTINGS, PARTITIONS)


def test_what_is_added_is_there_to_the_last_digit(ledger):
    ledger.add(score(1))
    ledger.add(score(0))
    table = Ledger(ledger.folder, SETTINGS, PARTITIONS).read()
    assert tuple(table.columns) == COLUMNS
    assert table["fold"].tolist() == [0, 1]
    assert table["log_likelihood"].tolist() == [-14.123456789012345] * 2
    assert table["penalty"].isna().all()
    assert ledger.finished() == {Task(0, "a, b", "l1"), Task(1, "a, b", "l1")}


@pytest.mark.parametrize("lost", range(1, 30, 4))
def test_a_line_that_was_cut_is_dropped(ledger, lost):
    ledger.add(score(0))
    ledger.add(score(1))
    ledger.path.write_bytes(ledger.path.read_bytes()[:-lost])
    again = Ledger(ledger.folder, SETTINGS, PARTITIONS)
    assert again.finished() == {Task(0, "a, b", "l1")}
    again.add(score(1))
    assert again.read()["fold"].tolist() == [0, 1]


def test_a_trial_that_two_runs_finished_counts_once(ledger):
    ledger.add(score(0))
    ledger.add(score(0, value=-1.0))
    ledger.tidy()
    assert ledger.read()["log_likelihood"].tolist() == [-14.123456789012345]
    assert ledger.path.read_text().count("\n") == 2


def test_partitions_may_be_added(ledger):
    ledger.add(score(0))
    Ledger(ledger.folder, SETTINGS, {"c": {"regions": 1, "sha256": "x"}})
    info = json.loads((ledger.folder / "info.json").read_text())
    assert set(info["partitions"]) == {"a, b", "c"}
    assert info["kind"] == "comparison"


def test_another_comparison_is_refused(ledger):
    with pytest.raises(OutputError, match=r"another comparison \(its seed differ\)"):
        Ledger(ledger.folder, SETTINGS | {"seed": 1}, PARTITIONS)
    with pytest.raises(OutputError, match="another partition named 'a, b'"):
        Ledger(ledger.folder, SETTINGS, {"a, b": {"regions": 3, "sha256": "other"}})


def test_other_folders_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="is no folder of a comparison"):
        Ledger(tmp_path, SETTINGS, PARTITIONS)
    (tmp_path / "info.json").write_text('{"kind": "corpus", "format_version": 1}')
    with pytest.raises(OutputError, match="holds no comparison"):
        Ledger(tmp_path, SETTINGS, PARTITIONS)
    (tmp_path / "info.json").write_text("{")
    with pytest.raises(OutputError, match="damaged"):
        Ledger(tmp_path, SETTINGS, PARTITIONS)
    with pytest.raises(OutputError, match=r"cannot write to|no folder of a comparison"):
        Ledger(tmp_path / "notes.txt", SETTINGS, PARTITIONS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["info.json", "notes.txt"]


@pytest.mark.parametrize("fold", ["zero", ""])
def test_a_table_that_was_changed_by_hand_is_named(ledger, fold):
    ledger.path.write_text(",".join(COLUMNS) + f"\n{fold},a,l1,,,,,,,3,5\n")
    with pytest.raises(OutputError, match=r"scores.csv is damaged"):
        ledger.finished()


def test_a_table_that_is_no_text_is_named(ledger):
    ledger.path.write_bytes(b"fold\xff\n")
    with pytest.raises(OutputError, match=r"scores.csv is damaged"):
        Ledger(ledger.folder, SETTINGS, PARTITIONS)


@pytest.mark.parametrize(
    "content",
    [
        '{"kind": "comparison", "format_version": 1e999}',
        '{"kind": "comparison", "format_version": 1, "settings": {}, "partitions": {"a, b": 1}}',
        '{"kind": "comparison", "format_version": 1, "settings": {}, "partitions": [1]}',
        "[" * 100_000,
    ],
    ids=range(4),
)
def test_a_description_that_was_changed_by_hand_is_named(ledger, content):
    (ledger.folder / "info.json").write_text(content)
    with pytest.raises(OutputError, match=r"info.json is damaged|holds another"):
        Ledger(ledger.folder, SETTINGS, PARTITIONS)


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


def test_without_overlap_the_interval_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 9))
    difference = paired_difference(first, second, test_share=0.0)
    expected = stats.ttest_rel(first, second).confidence_interval(0.95)
    assert difference.low == pytest.approx(expected.low)
    assert difference.high == pytest.approx(expected.high)
    assert difference.mean == pytest.approx((first - second).mean())
    assert difference.share_above == np.mean(first > second)


def test_overlapping_training_sets_widen_the_interval_as_nadeau_and_bengio_say():
    differences = np.array([1.0, 2.0, 4.0, 5.0])
    corrected = paired_difference(differences, np.zeros(4), test_share=0.1)
    plain = paired_difference(differences, np.zeros(4), test_share=0.0)
    ratio = (corrected.high - corrected.mean) / (plain.high - plain.mean)
    assert ratio == pytest.approx(np.sqrt((1 / 4 + 1 / 9) / (1 / 4)))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_folds_have_no_interval(n):
    difference = paired_difference(np.ones(n), np.zeros(n), test_share=0.1)
    assert np.isnan([difference.low, difference.high]).all()
    assert difference.folds == n
