import json

import numpy as np
import pytest

from neurowhere.evaluate.ledger import COLUMNS, Ledger
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
    with pytest.raises(OutputError, match=r"info.json is damaged"):
        Ledger(ledger.folder, SETTINGS, PARTITIONS)
