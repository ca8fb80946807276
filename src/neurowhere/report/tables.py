"""Tables in words: as CSV, Markdown or HTML, and the summary of a comparison as such words."""

import html
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere.model.losses import LOSSES


class LossNames(dict[str, str]):
    """Names of models in tables and figures: a registered loss brings its title."""

    def __missing__(self, loss: str) -> str:
        return LOSSES[loss].title if loss in LOSSES else loss


LOSS_NAMES = LossNames({"mean": "mean map"})
HEADER = (
    "partition",
    "model",
    "folds",
    "log-likelihood",
    "nats above uniform",
    "total variation",
    "minus mean map",
    "minus ℓ2",
)

Cells = list[list[str]]


def summary_cells(summary: pd.DataFrame) -> Cells:
    """Rows of the summary of a comparison as text, under `HEADER`."""
    return [
        [
            row["partition"],
            LOSS_NAMES[row["loss"]],
            f"{row['folds']}",
            _mean_and_spread(row, "log_likelihood"),
            _mean_and_spread(row, "nats_above_uniform"),
            _mean_and_spread(row, "total_variation"),
            _difference(row, "minus_mean_map"),
            _difference(row, "minus_l2"),
        ]
        for row in summary.to_dict("records")
    ]


def _mean_and_spread(row: dict[Hashable, Any], name: str) -> str:
    spread = row[f"{name}_std"]
    return f"{row[name]:.4f}" if pd.isna(spread) else f"{row[name]:.4f} ± {spread:.4f}"


def _difference(row: dict[Hashable, Any], name: str) -> str:
    if pd.isna(row[name]):
        return ""
    if pd.isna(row[f"{name}_low"]):
        return f"{row[name]:+.4f}"
    interval = f"[{row[f'{name}_low']:+.4f}, {row[f'{name}_high']:+.4f}]"
    return f"{row[name]:+.4f} {interval}, {row[f'{name}_wins']:.0%} of folds"


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index; the same bytes on every system."""
    table.to_csv(path, index=False, lineterminator="\n")


def to_markdown(header: Sequence[str], cells: Cells) -> str:
    r"""Write a table in Markdown.

    >>> print(to_markdown(["a", "b"], [["1", "x|y"]]), end="")
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    rows = [header, ["---"] * len(header), *cells]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows
    )


def to_html(header: Sequence[str], cells: Cells) -> str:
    """Write a table in HTML, its text escaped.

    >>> to_html(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
