"""Tables in words: as CSV or Markdown, and the summary of a comparison as such words."""

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.model.losses import LOSSES
from neurowhere.model.schema import Span, Summary

__all__ = [
    "HEADER",
    "LOSS_NAMES",
    "Cells",
    "encoding_tables",
    "summary_cells",
    "to_markdown",
    "write_csv",
]


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
    """Return the summary of a comparison as text.

    Parameters
    ----------
    summary : DataFrame
        Of `Comparison.summary`.

    Returns
    -------
    list of list of str
        Rows, of which `HEADER` names the columns.
    """
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
    """Write a table without its index; the same bytes on every system.

    Parameters
    ----------
    table : DataFrame
    path : path
    """
    table.to_csv(path, index=False, lineterminator="\n")


def to_markdown(header: Sequence[str], cells: Cells) -> str:
    r"""Return a table in Markdown.

    Parameters
    ----------
    header : sequence of str
    cells : list of list of str

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_markdown(["a", "b"], [["1", "x|y"]]), end="")
    | a | b |
    | --- | --- |
    | 1 | x\|y |
    """
    rows = [header, ["---"] * len(header), *cells]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows
    )


def encoding_tables(summary: Summary) -> dict[str, pd.DataFrame]:
    """Return the tables of an encoding by the names of their files.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    dict of str to DataFrame
        terms.csv: term, count, weight, where ("start-end" of each mention, if the summary has the
        text), contribution, implied (whether only rules point to it). peaks.csv: x, y, z, density,
        ratio, region. regions.csv: region, name, probability, ratio, and the x, y, z where it is
        densest. studies.csv: id, similarity, link.
    """
    terms = pd.DataFrame(
        [
            (row.term, row.count, row.weight, _spans(row.where), row.contribution, row.implied)
            for row in summary.terms
        ],
        columns=["term", "count", "weight", "where", "contribution", "implied"],
    )
    with_text = all(row.where is not None for row in summary.terms)
    peaks = pd.DataFrame(
        [(*row.at, row.density, row.ratio, row.region or "") for row in summary.peaks],
        columns=[*XYZ, "density", "ratio", "region"],
    )
    regions = pd.DataFrame(
        [(row.region, row.name, row.probability, row.ratio, *row.at) for row in summary.regions],
        columns=["region", "name", "probability", "ratio", *XYZ],
    )
    tables = {
        "terms.csv": terms if with_text else terms.drop(columns="where"),
        "peaks.csv": peaks,
        "regions.csv": regions,
    }
    if summary.similar:
        tables["studies.csv"] = pd.DataFrame(
            [(row.id, row.similarity, row.link) for row in summary.similar],
            columns=["id", "similarity", "link"],
        )
    return tables


def _spans(where: list[Span] | None) -> str:
    return " ".join(f"{start}-{end}" for start, end in where or ())
