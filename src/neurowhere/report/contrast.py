"""The report of a contrast: images, figures, tables, and one page with all."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurowhere._tools.files import new_folder, write_info
from neurowhere.contrast.contrast import FALSE_DISCOVERY_RATE, Contrast
from neurowhere.model.encoding import Encoding
from neurowhere.report.encoding_page import readable_names
from neurowhere.report.figures import name_rows
from neurowhere.report.maps import DPI, RATIO_UNIT, draw_map, strongest_place, write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import Cells, write_csv
from neurowhere.report.viewer import viewer_data
from neurowhere.space import Atlas

KIND = "contrast"
N_REGIONS, N_TERMS, N_DOCUMENTS = 15, 20, 50  # rows on the page
TERM_COLUMNS = ["term", "share", "share_reference", "moves"]
RAISED_COLOUR, UNSURE_COLOUR = "#0072B2", "#9aa5b1"
FIGURE_WIDTH, FRAME_HEIGHT, ROW_HEIGHT = 8.0, 1.0, 0.3  # inches


def write_contrast(
    contrast: Contrast,
    folder: str | os.PathLike[str],
    *,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    titles: bool = True,
    overwrite: bool = False,
) -> None:
    """Write a contrast as a folder, whole or not at all; see `Contrast.save`."""
    with new_folder(folder, overwrite=overwrite) as temporary:
        write_files(
            contrast, temporary, atlas=atlas, resolution_mm=resolution_mm, like=like, titles=titles
        )


def write_files(
    contrast: Contrast,
    folder: Path,
    *,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    titles: bool = True,
) -> None:
    """Write the files of a contrast into an empty folder."""
    documents = contrast.documents if titles else contrast.documents.drop(columns="title")
    if atlas is None and isinstance(contrast.partition, Atlas):
        atlas = contrast.partition
    for name, values in _images(contrast).items():
        image = contrast.to_img(values, resolution_mm=resolution_mm, like=like)
        image.to_filename(folder / f"{name}.nii.gz")
    write_csv(contrast.terms, folder / "terms.csv")
    write_csv(documents, folder / "documents.csv")
    title = f"{contrast.about['documents_in_group']:,} documents that {contrast.group}"
    figure = draw_map(contrast.log_ratio_img, signed=True, title=title, unit=RATIO_UNIT)
    write_png(figure, folder / "map.png")
    regions = None if atlas is None else contrast.regions(atlas)
    if regions is not None:
        write_csv(regions, folder / "regions.csv")
        write_png(draw_regions(regions), folder / "regions.png")
    passing = contrast.significant()
    text = render_page(
        "contrast.html",
        styles=("encoding.css",),
        script="viewer.js",
        title=title,
        against=contrast.against_words,
        about=contrast.about,
        raised=int((passing & (contrast.log_ratio > 0)).sum()),
        lowered=int((passing & (contrast.log_ratio <= 0)).sum()),
        n_model_regions=contrast.partition.n_regions,
        false_discovery_rate=FALSE_DISCOVERY_RATE,
        still=folder / "map.png",
        terms=_cells(contrast.terms[TERM_COLUMNS], N_TERMS),
        regions=None if regions is None else _cells(regions, N_REGIONS),
        regions_picture=folder / "regions.png",
        documents=_cells(documents, N_DOCUMENTS),
        data=_viewer_data(contrast, atlas),
    )
    (folder / "report.html").write_text(text, "utf-8")
    groups = {"group": contrast.group, "against": contrast.against}
    write_info(folder, {"kind": KIND, **groups, "about": contrast.about})


def _images(contrast: Contrast) -> dict[str, Any]:
    low, high = contrast.interval
    return {
        "map": contrast.density,
        "reference": contrast.reference / contrast.partition.volumes_mm3,
        "log_ratio": contrast.log_ratio,
        "log_ratio_low": low,
        "log_ratio_high": high,
        "log_ratio_thresholded": np.where(contrast.significant(), contrast.log_ratio, 0.0),
        "z": contrast.null.z,
    }


def draw_regions(regions: pd.DataFrame) -> Any:
    """Draw the ratio of the most raised regions, with their intervals.

    Parameters
    ----------
    regions : DataFrame
        Of `Contrast.regions`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    shown = regions.head(N_REGIONS)
    size = (FIGURE_WIDTH, FRAME_HEIGHT + ROW_HEIGHT * len(shown))
    figure = Figure(figsize=size, dpi=DPI, layout="constrained")
    axes = figure.subplots()
    for row, region in enumerate(shown.to_dict("records")):
        colour = RAISED_COLOUR if region["low"] > 1 else UNSURE_COLOUR
        axes.plot([region["low"], region["high"]], [row, row], color=colour, linewidth=2)
        axes.plot([region["ratio"]], [row], "o", color=colour, markersize=5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel(
        "probability of the region, relative to the reference (95 % bootstrap interval)"
    )
    name_rows(axes, shown["region"].tolist())
    axes.spines["top"].set_visible(False)
    return figure


# ---- the page


def _viewer_data(contrast: Contrast, atlas: Atlas | None) -> dict[str, Any]:
    mean = Encoding(
        text="",
        probabilities=contrast.probabilities.astype(np.float32),
        mean_map=contrast.reference,
        terms=contrast.terms,
        partition=contrast.partition,
        brain=contrast.brain,
    )
    names = readable_names(atlas.names) if atlas is not None else {}
    about = [{"name": name, "label": label, "why": []} for label, name in names.items()]
    return viewer_data(mean, strongest_place(contrast.log_ratio_img), atlas, about)


def _cells(table: pd.DataFrame, n_rows: int) -> tuple[list[str], Cells]:
    """Return the header and the first rows of a table as text."""
    rows = [[_cell(value) for value in row] for row in table.head(n_rows).itertuples(index=False)]
    return list(map(str, table.columns)), rows


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}"
    return str(value)
