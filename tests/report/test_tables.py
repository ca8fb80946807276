import numpy as np
import pandas as pd

from neurowhere.report.tables import HEADER, summary_cells, to_markdown


def row(**values):
    blank = {
        name: np.nan
        for rival in ("mean_map", "l2")
        for name in (f"minus_{rival}", *(f"minus_{rival}_{x}" for x in ("low", "high", "wins")))
    }
    means = {"log_likelihood": -14.0, "nats_above_uniform": 0.4, "total_variation": 0.7}
    spreads = {f"{name}_std": 0.01 for name in means}
    return {"partition": "aal", "loss": "l1", "folds": 3} | blank | means | spreads | values


def test_numbers_become_text():
    difference = {"minus_l2": 0.05, "minus_l2_low": -0.01, "minus_l2_high": 0.11}
    summary = pd.DataFrame([row(**difference, minus_l2_wins=2 / 3), row(loss="mean")])
    first, second = summary_cells(summary)
    assert first == [
        "aal",
        "ℓ1",
        "3",
        "-14.0000 ± 0.0100",
        "0.4000 ± 0.0100",
        "0.7000 ± 0.0100",
        "",
        "+0.0500 [-0.0100, +0.1100], 67% of folds",
    ]
    assert second[1] == "mean map"
    assert second[-2:] == ["", ""]
    assert len(first) == len(HEADER)


def test_one_fold_has_neither_spread_nor_interval():
    summary = pd.DataFrame([row(folds=1, log_likelihood_std=np.nan, minus_mean_map=0.2)])
    cells = summary_cells(summary)[0]
    assert cells[3] == "-14.0000"
    assert cells[6] == "+0.2000"


def test_markdown_has_as_many_bars_in_every_line():
    lines = to_markdown(["a", "b"], [["1", "2"], ["3", "4"]]).splitlines()
    assert {line.count("|") for line in lines} == {3}


def test_what_only_rules_point_to_is_marked(shipped):
    from neurowhere import summarise
    from neurowhere.report.tables import encoding_tables

    terms = encoding_tables(summarise(shipped.encode("left PCA infarct")))["terms.csv"]
    implied = dict(zip(terms["term"], terms["implied"]))
    assert implied["cuneus"]
    assert not implied["infarction"]
