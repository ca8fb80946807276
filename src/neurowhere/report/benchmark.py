"""The report of the open benchmark: a table and a figure, one page, and a file for each entry."""

import json
import math
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere._tools.files import added_files
from neurowhere._tools.replacement import sole_writer
from neurowhere.evaluate import Benchmark
from neurowhere.report.canvas import new_figure
from neurowhere.report.comparison import name_rows, write_svg
from neurowhere.report.maps import write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import Cells, to_markdown, write_csv

ALL, RANDOM, NEWEST = "all", "random", "newest"
# Metrics of the table, in order: what they are called, and how many digits they get.
METRICS = {
    "nats": ("nats above uniform", 3),
    "nats_above_mean_map": ("above the mean map", 3),
    "coverage_50": ("peaks in the 50 % region", 3),
    "coverage_80": ("peaks in the 80 % region", 3),
    "coverage_95": ("peaks in the 95 % region", 3),
    "text_auc": ("text to coordinates, AUC of recall at k", 3),
    "text_recall_1": ("text to coordinates, recall at 1", 3),
    "text_recall_10": ("text to coordinates, recall at 10", 3),
    "text_recall_100": ("text to coordinates, recall at 100", 3),
    "text_mix_match": ("text to coordinates, mix and match", 3),
    "coordinates_auc": ("coordinates to text, AUC of recall at k", 3),
    "coordinates_recall_1": ("coordinates to text, recall at 1", 3),
    "coordinates_recall_10": ("coordinates to text, recall at 10", 3),
    "coordinates_recall_100": ("coordinates to text, recall at 100", 3),
    "coordinates_mix_match": ("coordinates to text, mix and match", 3),
    "pool": ("candidates of retrieval", 0),
    "pearson": ("Pearson correlation", 3),
    "dice": ("Dice of the top 10 %", 3),
    "term_auc": ("AUC of terms", 3),
    "term_auc_null": ("AUC of terms, 95 % of the null", 3),
    "terms_above_null": ("share of terms above the null", 3),
    "fit_seconds": ("seconds to fit", 0),
    "milliseconds": ("ms per study", 1),
    "megabytes": ("MB", 1),
    "studies": ("test studies per fold", 0),
}
LEGEND = (
    "Mean ± standard deviation over random folds. Nats: mean over test studies of the mean log of "
    "the half-uniform density at the study's peaks, above the uniform density. Retrieval is among "
    "as many candidates for every entry, from one query alone."
)
IMPOSSIBLE = "impossible: better than the other peaks of each study"
KIND_COLOURS = {
    "all": "#0072B2",
    "abstract": "#56B4E9",
    "title": "#E69F00",
    "keywords": "#009E73",
    "article": "#CC79A7",
}
WIDTH, FRAME, ROW = 8.5, 1.5, 0.6  # inches
SPREAD = 0.6  # share of a row that the kinds take


def write_benchmark(results: Benchmark) -> None:
    """Write the report of a benchmark into its folder, and ENTRY.json for each entry."""
    with sole_writer(results.folder), added_files(results.folder) as folder:
        write_csv(results.scores, folder / "scores.csv")
        write_csv(results.summary, folder / "summary.csv")
        write_csv(results.differences, folder / "differences.csv")
        for name, scores in results.scores.groupby("entry"):
            content = json.dumps(entry_file(scores, results.settings), indent=1)
            (folder / f"{name}.json").write_text(content + "\n", "utf-8")
        text = [
            "# Open benchmark\n",
            tables_of(results.scores, results.summary),
            "\n## Paired differences\n",
            to_markdown(PAIR_HEADER, difference_cells(results.differences)),
        ]
        (folder / "summary.md").write_text("\n".join(text), "utf-8")
        results.methods().write(folder)
        _write_page(results, folder)


def entry_file(scores: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the results of an entry in JSON values: settings of the benchmark, and its scores."""
    rows = [
        {key: value for key, value in row.items() if value == value and value is not None}
        for row in scores.drop(columns=["entry", "trained_on"]).to_dict("records")
    ]
    first = scores.iloc[0]
    about = {
        "entry": first["entry"],
        "trained_on": first["trained_on"],
        "neurowhere": version("neurowhere"),
    }
    return {**about, "settings": settings, "scores": rows}


def tables_of(scores: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Return the tables of a benchmark in Markdown: entries, metrics, and kinds of text."""
    return "\n".join(
        [
            to_markdown(ENTRY_HEADER, entry_cells(scores)),
            "\n## All metrics, from title, keywords and abstract\n",
            to_markdown(*summary_cells(summary)),
            LEGEND,
            "\n## Kinds of text: nats above uniform\n",
            to_markdown(*kind_cells(summary)),
        ]
    )


def _write_page(results: Benchmark, folder: Path) -> None:
    figure = draw_kinds(results.scores)
    write_svg(figure, folder / "nats.svg")
    write_png(figure, folder / "nats.png")
    header, cells = summary_cells(results.summary)
    kind_header, kinds = kind_cells(results.summary)
    page = render_page(
        "benchmark.html",
        methods=results.methods(),
        settings=results.settings,
        folds=sorted(results.scores["fold"].astype(str).unique().tolist()),
        plot=folder / "nats.png",
        entry_header=ENTRY_HEADER,
        entries=entry_cells(results.scores),
        header=header,
        rows=cells,
        kind_header=kind_header,
        kinds=kinds,
        pair_header=PAIR_HEADER,
        pairs=difference_cells(results.differences),
        legend=LEGEND,
    )
    (folder / "report.html").write_text(page, "utf-8")


ENTRY_HEADER = ("entry", "trained on", "random folds", "newest studies", "remark")


def entry_cells(scores: pd.DataFrame) -> Cells:
    """Return what is told of each entry: its training studies, its folds, and impossible scores."""
    cells = []
    for name, own in scores.groupby("entry", sort=False):
        folds = set(own["fold"])
        is_high = "ceiling" in own and bool((own["nats"] > own["ceiling"]).any())
        newest = "yes" if NEWEST in folds else ""
        told = str(own["trained_on"].iloc[0])
        cells.append(
            [str(name), told, str(len(folds - {NEWEST})), newest, IMPOSSIBLE if is_high else ""]
        )
    return cells


def summary_cells(summary: pd.DataFrame) -> tuple[list[str], Cells]:
    """Return the table of title, keywords and abstract: metrics in rows, entries in columns."""
    of_all = summary[summary["kind"] == ALL]
    table, newest = (
        of_all[of_all["split"] == split].set_index(["metric", "entry"])
        for split in (RANDOM, NEWEST)
    )
    table = table if len(table) else newest
    entries = list(dict.fromkeys(table.index.get_level_values("entry")))
    cells = [
        [title, *(_cell(table, metric, entry, digits) for entry in entries)]
        for metric, (title, digits) in METRICS.items()
    ]
    if len(newest):
        last = ["nats above uniform, newest studies"]
        cells.append(last + [_cell(newest, "nats", entry, 3) for entry in entries])
    return ["metric", *entries], [row for row in cells if any(row[1:])]


def kind_cells(summary: pd.DataFrame) -> tuple[list[str], Cells]:
    """Return the nats above uniform of each entry, by kind of text."""
    is_nats = summary["metric"] == "nats"
    split = RANDOM if (summary["split"] == RANDOM).any() else NEWEST
    table = summary[is_nats & (summary["split"] == split)].set_index(["kind", "entry"])
    entries = list(dict.fromkeys(summary["entry"]))
    kinds = [kind for kind in KIND_COLOURS if kind in table.index.get_level_values("kind")]
    cells = [[kind, *(_cell(table, kind, entry, 3) for entry in entries)] for kind in kinds]
    return ["text", *entries], cells


def _cell(table: pd.DataFrame, row: str, entry: str, digits: int) -> str:
    if (row, entry) not in table.index:
        return ""
    mean, deviation = (float(table[name].loc[row, entry]) for name in ("mean", "std"))
    spread = "" if math.isnan(deviation) else f" ± {deviation:.{digits}f}"
    return f"{round(mean, digits) + 0.0:.{digits}f}{spread}"  # no minus before zero


PAIR_HEADER = ("text", "first", "second", "nats", "95 % interval", "folds won", "studies won")


def difference_cells(differences: pd.DataFrame) -> Cells:
    """Return the paired differences as text."""
    return [
        [
            row["kind"],
            row["first"],
            row["second"],
            f"{row['difference']:+.4f}",
            "" if math.isnan(row["low"]) else f"[{row['low']:+.4f}, {row['high']:+.4f}]",
            f"{row['folds_above']:.0%} of {row['folds']}",
            f"{row['studies_above']:.1%} of {row['studies']:,}",
        ]
        for row in differences.to_dict("records")
    ]


def draw_kinds(scores: pd.DataFrame) -> Any:
    """Draw the nats above uniform of each entry and fold, kinds of text in colours."""
    means = scores[scores["kind"] == ALL].groupby("entry")["nats"].mean()
    names = list(means.sort_values(ascending=False).index)
    kinds = [kind for kind in KIND_COLOURS if kind in set(scores["kind"])]
    size = (WIDTH, FRAME + ROW * len(names))
    figure = new_figure(size)
    axes = figure.subplots()
    for place, kind in enumerate(kinds):
        shift = (place - (len(kinds) - 1) / 2) * SPREAD / max(len(kinds), 1)
        here = scores[(scores["kind"] == kind) & scores["entry"].isin(names)]
        rows = here["entry"].map(names.index) + shift
        newest = here["fold"] == NEWEST
        style = {"marker": "o", "linestyle": "", "color": KIND_COLOURS[kind], "alpha": 0.8}
        axes.plot(here["nats"][~newest], rows[~newest], label=kind, **style)
        axes.plot(here["nats"][newest], rows[newest], fillstyle="none", **style)
    axes.axvline(0, color="#D55E00", linewidth=1.2, zorder=0)
    name_rows(axes, names)
    axes.set_xlabel("nats above uniform: each fold, and the newest studies (open)")
    figure.legend(loc="outside lower center", ncols=len(kinds), frameon=False)
    return figure
