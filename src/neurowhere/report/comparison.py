"""The report of a comparison: tables, box plot, example predictions, and one page with all."""

import math
import os
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from neurowhere._tools.files import added_files, new_folder, write_info
from neurowhere._tools.parallel import track
from neurowhere._tools.replacement import sole_writer
from neurowhere.evaluate import Comparison
from neurowhere.evaluate.trial import BASELINES
from neurowhere.report.canvas import Colours, new_figure
from neurowhere.report.maps import (
    DENSITY_COLOURS,
    Row,
    draw_rows,
    smooth,
    strongest_place,
    write_png,
)
from neurowhere.report.page import render_page
from neurowhere.report.tables import (
    HEADER,
    LOSS_NAMES,
    Cells,
    summary_cells,
    to_markdown,
    write_csv,
)

KIND = "report of a comparison"
LEGEND = (
    "Log-likelihood: mean over test studies of the mean log of the half-uniform predicted density "
    "(per mm³) at the study's peaks, mean ± standard deviation over folds. Differences are paired "
    "by fold; in brackets, the 95 % interval corrected for overlapping training sets (Nadeau and "
    "Bengio), and the share of folds in which the difference is positive. Total variation "
    "compares models on one partition only."
)
# Okabe and Ito's colours, which the colour-blind tell apart.
COLOURS = {"l1": "#0072B2", "l2": "#E69F00", "labels": "#009E73", "labels-l1": "#CC79A7"}
SPARE_COLOURS = ("#56B4E9", "#F0E442")  # for other losses, in turn
MEAN_COLOUR = "#333333"
UNIFORM_COLOUR = "#D55E00"
GRID_COLOUR, BAND_COLOUR = "#e3e7eb", "#f6f7f9"
BOX_HEIGHT = 0.8  # share of a row that its losses take
FIGURE_WIDTH, FRAME_HEIGHT, ROW_HEIGHT = 8.5, 1.6, 0.5  # inches
MIN_ROWS = 3
HIGHEST = 100.0  # times the uniform density: the end of the colours of all examples
EXAMPLE_COLOURS = Colours(DENSITY_COLOURS, 0.0, math.log(HIGHEST), 0.0, is_ratio=True, is_open=True)
UNIFORM_UNIT = "× uniform"
LONGEST_TITLE = 130  # characters
# Written into SVG instead of the time of day, so that the same scores give the same file.
SVG_SALT = "neurowhere"


def write_comparison(
    comparison: Comparison, folder: str | os.PathLike[str] | None = None, *, overwrite: bool = False
) -> None:
    """Write the report of a comparison, as `Comparison.save` does: tables, figures and a page."""
    if folder is None:
        home = comparison.folder
        with sole_writer(home):
            with added_files(home, instead_of="prediction-*.png") as temporary:
                _write_files(comparison, temporary)
            comparison.ledger.seal()
        return
    with new_folder(folder, overwrite=overwrite) as temporary:
        _write_files(comparison, temporary)
        write_csv(comparison.scores, temporary / "scores.csv")
        write_info(temporary, {"kind": KIND, "settings": comparison.ledger.settings})


def _write_files(comparison: Comparison, folder: Path) -> None:
    write_csv(comparison.summary, folder / "summary.csv")
    cells = summary_cells(comparison.summary)
    table = to_markdown(HEADER, cells)
    (folder / "summary.md").write_text(f"# Summary\n\n{table}\n{LEGEND}\n", "utf-8")
    regions = {name: about["regions"] for name, about in comparison.ledger.partitions.items()}
    figure = box_plot(comparison.scores, regions, -math.log(comparison.brain_volume_mm3))
    write_svg(figure, folder / "scores.svg")
    write_png(figure, folder / "scores.png")
    examples = _write_examples(comparison, folder)
    methods = comparison.methods()
    methods.write(folder)
    text = render_page(
        "comparison.html",
        methods=methods,
        settings=comparison.ledger.settings,
        n_partitions=len(comparison.ledger.partitions),
        n_folds=comparison.summary["folds"].max(),
        plot=folder / "scores.png",
        header=HEADER,
        rows=_page_rows(cells),
        legend=LEGEND,
        model=LOSS_NAMES[comparison.examples.loss],
        partition=comparison.examples.partition,
        examples=examples,
    )
    (folder / "report.html").write_text(text, "utf-8")


def _page_rows(cells: Cells) -> Cells:
    """Return the rows of the page: a partition is named once, and uniform is left out."""
    rows: Cells = []
    name = None
    for partition, model, *numbers in cells:
        if model != LOSS_NAMES["uniform"]:
            short = [number.removesuffix(" of folds") for number in numbers]
            rows.append(["" if partition == name else partition, model, *short])
            name = partition
    return rows


def _write_examples(comparison: Comparison, folder: Path) -> list[tuple[Path, str]]:
    """Draw the examples to files, those of one kind together; return files and captions."""
    examples, drawn = comparison.examples, []
    scale = comparison.brain_volume_mm3 / comparison.partition.volumes_mm3  # V/v_k
    for why in track(list(dict.fromkeys(examples.why)), "drawing maps"):
        studies, captions = [], []
        for index in (i for i, each in enumerate(examples.why) if each == why):
            document = comparison.documents.iloc[examples.row[index]]
            maps = (examples.truth[index], examples.prediction[index])
            title, nats = document["title"] or "study without a title", examples.nats[index]
            images = (comparison.partition.to_img(each * scale) for each in maps)
            studies.append(Example(title, float(nats), *images))
            captions.append(f"{title} (id {document['id']}), {nats:+.2f} nats above uniform")
        file = why if len(studies) > 1 else f"{why}-{document['id']}"
        path = folder / _safe(f"prediction-{file.replace(' ', '-')}.png")
        write_png(draw_examples(studies), path)
        drawn.append((path, f"{why.capitalize()}: {'; '.join(captions)}"))
    return drawn


def _safe(name: str) -> str:
    """Replace what a file system may not take in a name.

    >>> _safe("prediction-10.1/ab.png")
    'prediction-10.1_ab.png'
    """
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name)


# ---- figures


class Example(NamedTuple):
    """A study: title, score in nats, and its true and predicted density over the uniform one."""

    title: str
    nats: float
    truth: Any
    prediction: Any


def box_plot(scores: pd.DataFrame, regions: Mapping[str, int], uniform: float) -> Any:
    """Draw the log-likelihood of each model over folds: partitions in rows, losses in colours.

    `scores` has one row per fold, partition and loss, `regions` the number of regions of each
    partition; `uniform` is the log-likelihood of the uniform density.
    """
    names = _rows(scores)
    colours = _colours(scores)
    size = (FIGURE_WIDTH, FRAME_HEIGHT + ROW_HEIGHT * max(len(names), MIN_ROWS))
    figure = new_figure(size)
    axes = figure.subplots()
    for row, name in enumerate(names):
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color=BAND_COLOUR, zorder=-1, label="band")
        _draw_row(axes, row, scores[scores["partition"] == name], colours)
    axes.axvline(uniform, color=UNIFORM_COLOUR, linewidth=1.2, zorder=0)
    axes.set_xlabel(
        f"mean log-likelihood of the peaks of held-out studies (per mm³), {_folds(scores)}"
    )
    name_rows(axes, [f"{name}  ({regions[name]:,})" for name in names])
    shifts = (lambda x: x - uniform, lambda x: x + uniform)
    axes.secondary_xaxis("top", functions=shifts).set_xlabel("nats above uniform")
    _add_legend(figure, colours)
    return figure


def _folds(scores: pd.DataFrame) -> str:
    """Say how many folds the models have, from the fewest to the most."""
    numbers = scores.groupby(["partition", "loss"])["fold"].nunique()
    fewest, most = int(numbers.min()), int(numbers.max())
    return f"{most} folds" if fewest == most else f"{fewest} to {most} folds"


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Label rows, from 0 at the top, with a grid that leads the eye down to the x axis."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="x", color=GRID_COLOUR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _colours(scores: pd.DataFrame) -> dict[str, str]:
    """Colour of each loss, in the order in which they are drawn; baselines are drawn as lines."""
    present = [str(loss) for loss in scores["loss"].unique()]
    others = [loss for loss in present if loss not in (*COLOURS, *BASELINES)]
    known = {loss: colour for loss, colour in COLOURS.items() if loss in present}
    return known | dict(zip(others, cycle(SPARE_COLOURS), strict=False))


def _add_legend(figure: Any, colours: Mapping[str, str]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    boxes = [Patch(facecolor=colours[loss], label=LOSS_NAMES[loss]) for loss in colours]
    mean = Line2D([], [], marker="D", color=MEAN_COLOUR, linestyle="", markersize=4)
    mean.set_label("mean map")
    line = Line2D([], [], color=UNIFORM_COLOUR, label="uniform")
    handles = [*boxes, mean, line]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def _rows(scores: pd.DataFrame) -> list[str]:
    """Return the partitions, from the one with the best model to the worst."""
    medians = scores.groupby(["partition", "loss"])["log_likelihood"].median()
    best = medians.groupby("partition").max().sort_values(ascending=False, kind="stable")
    return [str(name) for name in best.index]


def _draw_row(axes: Any, row: int, scores: pd.DataFrame, colours: Mapping[str, str]) -> None:
    height = BOX_HEIGHT / max(len(colours), 1)
    for place, (loss, colour) in enumerate(colours.items()):
        values = scores.loc[scores["loss"] == loss, "log_likelihood"].to_numpy()
        if not len(values):
            continue
        axes.boxplot(
            values,
            positions=[row + (place + 0.5) * height - BOX_HEIGHT / 2],
            orientation="horizontal",
            widths=0.8 * height,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "edgecolor": colour, "alpha": 0.85},
            medianprops={"color": "white"},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": colour},
        )
    mean_map = scores.loc[scores["loss"] == "mean", "log_likelihood"].mean()
    axes.plot([mean_map], [row], marker="D", color=MEAN_COLOUR, markersize=4, zorder=3)


def write_svg(figure: Any, path: Path) -> None:
    """Write a figure as SVG; the same figure gives the same bytes."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": SVG_SALT}):
        figure.savefig(path, metadata={"Date": None})


def draw_examples(studies: Sequence[Example]) -> Any:
    """Draw true maps above their predictions, both cut at the maximum of the true one.

    All are on one scale: multiples of the uniform density, as logarithms, so that the few high
    values of a true map and the low ones of its prediction are seen together.
    """
    rows = []
    for study in studies:
        place = strongest_place(study.truth)
        rows.append(Row(_cut(study.title), _logarithm(study.truth), place))
        words = f"predicted from its text: {study.nats:+.2f} nats above uniform"
        rows.append(Row(words, _logarithm(study.prediction), place))
    return draw_rows(rows, EXAMPLE_COLOURS, UNIFORM_UNIT)


def _cut(title: str) -> str:
    """Cut a title that is too long for a picture.

    >>> _cut("Where is it? " * 20)[-20:]
    'it? Where is it? ...'
    """
    return (
        title if len(title) <= LONGEST_TITLE else f"{title[:LONGEST_TITLE].rsplit(' ', 1)[0]} ..."
    )


def _logarithm(img: Any) -> Any:
    """Return the logarithm of what is above 1, smooth to the eye; 0 elsewhere."""
    from nibabel.nifti1 import Nifti1Image

    fine = smooth(img)
    values = np.log(np.maximum(np.asarray(fine.dataobj, np.float32), 1))
    return Nifti1Image(values, fine.affine)  # type: ignore[no-untyped-call]
