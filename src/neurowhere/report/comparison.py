"""The report of a comparison: tables, box plot, example predictions, and one page with all."""

import math
import shutil
import tempfile
from pathlib import Path

from neurowhere._tools.locks import sole_writer
from neurowhere._tools.progress import track
from neurowhere.evaluate import Comparison
from neurowhere.exceptions import OutputError
from neurowhere.report.figures import box_plot, draw_example, write_svg
from neurowhere.report.maps import write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import (
    HEADER,
    LOSS_NAMES,
    Cells,
    summary_cells,
    to_markdown,
    write_csv,
)

__all__ = ["write_report"]

TEMPORARY = ".report-"
LEGEND = (
    "Log-likelihood: mean over test studies of the mean log of the half-uniform predicted density "
    "(per mm³) at the study's peaks, mean ± standard deviation over folds. Differences are paired "
    "by fold; in brackets, the 95 % interval corrected for overlapping training sets (Nadeau and "
    "Bengio), and the share of folds in which the difference is positive. Total variation "
    "compares models on one partition only."
)


def write_report(comparison: Comparison) -> Path:
    """Write summary.csv, summary.md, the figures and report.html into the comparison's folder.

    Each file is whole or is the one before: they are written elsewhere in the folder first.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    Path
        Of report.html.
    """
    folder = comparison.folder
    with sole_writer(folder):
        for leftover in folder.glob(f"{TEMPORARY}*"):  # of a process that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=folder) as temporary:
                _write_files(comparison, Path(temporary))
                for old in folder.glob("prediction-*.png"):  # perhaps of another model
                    old.unlink()
                for file in Path(temporary).iterdir():
                    file.replace(folder / file.name)
            comparison.ledger.seal()
        except OSError as error:
            raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder / "report.html"


def _write_files(comparison: Comparison, folder: Path) -> None:
    write_csv(comparison.summary, folder / "summary.csv")
    cells = summary_cells(comparison.summary)
    table = to_markdown(HEADER, cells)
    (folder / "summary.md").write_text(f"# Summary\n\n{table}\n{LEGEND}\n", "utf-8")
    plot = _write_box_plot(comparison, folder)
    examples = _write_examples(comparison, folder)
    text = render_page(
        "comparison.html",
        settings=comparison.ledger.settings,
        n_partitions=len(comparison.ledger.partitions),
        n_folds=comparison.summary["folds"].max(),
        plot=plot,
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


def _write_box_plot(comparison: Comparison, folder: Path) -> Path:
    regions = {name: about["regions"] for name, about in comparison.ledger.partitions.items()}
    figure = box_plot(comparison.scores, regions, -math.log(comparison.brain_volume_mm3))
    write_svg(figure, folder / "scores.svg")
    write_png(figure, folder / "scores.png")
    return folder / "scores.png"


def _write_examples(comparison: Comparison, folder: Path) -> list[tuple[Path, str]]:
    """Draw each example to a file, and return the files with their captions."""
    examples = comparison.examples
    scale = comparison.brain_volume_mm3 / comparison.partition.volumes_mm3  # V/v_k
    drawn = []
    for index in track(range(len(examples.row)), "drawing maps"):
        document = comparison.documents.iloc[examples.row[index]]
        name = f"prediction-{examples.why[index].replace(' ', '-')}-{document['id']}.png"
        path = folder / _safe(name)
        truth, prediction = (
            comparison.partition.to_img(maps[index] * scale)
            for maps in (examples.truth, examples.prediction)
        )
        write_png(draw_example(truth, prediction), path)
        study = f"{document['title'] or 'study'} (id {document['id']})"
        caption = f"{examples.why[index]}: {study}, {examples.nats[index]:+.2f} nats above uniform"
        drawn.append((path, caption[:1].upper() + caption[1:]))
    return drawn


def _safe(name: str) -> str:
    """Replace what a file system may not take in a name.

    >>> _safe("prediction-10.1/ab.png")
    'prediction-10.1_ab.png'
    """
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name)
