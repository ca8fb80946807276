"""The report of a contrast: images, figures, tables, and one page with all."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurowhere._tools.files import new_folder, write_info
from neurowhere.contrast.contrast import FALSE_DISCOVERY_RATE, Contrast
from neurowhere.contrast.controls import LENGTH
from neurowhere.model.encoding import Encoding
from neurowhere.report.comparison import name_rows, new_figure
from neurowhere.report.encoding import viewer_data
from neurowhere.report.maps import CONTRAST_UNIT, DPI, draw_map, strongest_place, write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import Cells, write_csv
from neurowhere.space import Atlas
from neurowhere.text.labels import region_names

__all__ = ["draw_regions", "write_contrast", "write_files"]

KIND = "contrast"
N_REGIONS, N_TERMS, N_KINDS, N_DOCUMENTS = 15, 20, 10, 50  # rows on the page
RAISED_COLOUR, UNSURE_COLOUR = "#0072B2", "#9aa5b1"
FIGURE_WIDTH, FRAME_HEIGHT, ROW_HEIGHT = 8.0, 1.0, 0.3  # inches


def write_contrast(
    contrast: Contrast, folder: str | os.PathLike[str], *, overwrite: bool = False, **options: Any
) -> None:
    """Write a contrast as a folder, whole or not at all.

    Parameters
    ----------
    contrast : Contrast
    folder : path
    overwrite : bool
        Whether to replace a folder that exists.
    options
        As of `write_files`.
    """
    with new_folder(folder, overwrite=overwrite) as temporary:
        write_files(contrast, temporary, **options)


def write_files(
    contrast: Contrast,
    folder: Path,
    *,
    atlas: Atlas | None = None,
    resolution_mm: float | None = None,
    like: Any = None,
    titles: bool = True,
    keep_formulas: bool = False,
) -> None:
    """Write the files of a contrast into an empty folder.

    Parameters
    ----------
    contrast : Contrast
    folder : path
    atlas, resolution_mm, like, titles, keep_formulas
        As in `Contrast.save`.
    """
    if atlas is None and isinstance(contrast.partition, Atlas):
        atlas = contrast.partition
    tables = _tables(contrast, atlas, titles)
    for name, values in _images(contrast).items():
        image = contrast.to_img(values, resolution_mm=resolution_mm, like=like)
        image.to_filename(folder / f"{name}.nii.gz")
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv", keep_formulas=keep_formulas)
    _write_pictures(contrast, tables, folder)
    (folder / "report.html").write_text(_page(contrast, tables, atlas, folder), "utf-8")
    groups = {"group": contrast.group, "against": contrast.against}
    write_info(folder, {"kind": KIND, **groups, "about": contrast.about})


def _tables(contrast: Contrast, atlas: Atlas | None, titles: bool) -> dict[str, pd.DataFrame]:
    documents = contrast.documents if titles else contrast.documents.drop(columns="title")
    regions = {} if atlas is None else {"regions": contrast.regions(atlas)}
    return {"terms": contrast.terms, "documents": documents, "kinds": contrast.kinds, **regions}


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


# ---- pictures


def _write_pictures(contrast: Contrast, tables: dict[str, pd.DataFrame], folder: Path) -> None:
    title = _title(contrast)
    figure = draw_map(contrast.log_ratio_img, signed=True, title=title, unit=CONTRAST_UNIT)
    write_png(figure, folder / "map.png")
    if "regions" in tables:
        write_png(draw_regions(tables["regions"]), folder / "regions.png")


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
    shown = regions.head(N_REGIONS)
    size = (FIGURE_WIDTH, FRAME_HEIGHT + ROW_HEIGHT * len(shown))
    figure = new_figure(size, dpi=DPI)
    axes = figure.subplots()
    for row, region in enumerate(shown.to_dict("records")):
        colour = RAISED_COLOUR if region["low"] > 1 else UNSURE_COLOUR
        axes.plot([region["low"], region["high"]], [row, row], color=colour, linewidth=2)
        axes.plot([region["ratio"]], [row], "o", color=colour, markersize=5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("probability of the region / in the reference (95 % interval)")
    names = region_names(regions["region"])
    name_rows(axes, [names[label] for label in shown["region"]])
    axes.spines["top"].set_visible(False)
    return figure


# ---- the page


def _page(
    contrast: Contrast, tables: dict[str, pd.DataFrame], atlas: Atlas | None, folder: Path
) -> str:
    passing = contrast.significant()
    raised = int((passing & (contrast.log_ratio > 0)).sum())
    return render_page(
        "contrast.html",
        styles=("encoding.css",),
        script="viewer.js",
        title=_title(contrast),
        reference=_reference(contrast),
        about=contrast.about,
        raised=raised,
        lowered=int(passing.sum()) - raised,
        n_model_regions=contrast.partition.n_regions,
        false_discovery_rate=FALSE_DISCOVERY_RATE,
        kinds=tables["kinds"].head(N_KINDS).to_dict("records"),
        length=LENGTH,
        still=folder / "map.png",
        terms=tables["terms"].head(N_TERMS).to_dict("records"),
        regions=_regions(tables["regions"]) if "regions" in tables else None,
        regions_picture=folder / "regions.png",
        documents=_documents(tables["documents"], with_group=bool(contrast.against)),
        data=_viewer_data(contrast, atlas),
    )


def _title(contrast: Contrast) -> str:
    return f"{contrast.about['documents_in_group']:,} documents that {contrast.group}"


def _reference(contrast: Contrast) -> str:
    """Return what the group is compared with, in words."""
    if not contrast.against:
        return f"all {contrast.about['documents_with_known_terms']:,} documents"
    return f"{contrast.about['documents_in_second_group']:,} documents that {contrast.against}"


def _regions(regions: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the most raised regions, with their names in words."""
    names = regions["region"].map(region_names(regions["region"]))
    rows: list[dict[str, Any]] = regions.assign(name=names).head(N_REGIONS).to_dict("records")  # type: ignore[assignment]
    return rows


def _documents(documents: pd.DataFrame, *, with_group: bool) -> tuple[list[str], Cells]:
    """Return the header and the first rows of the documents as text."""
    table = documents if with_group else documents.drop(columns="group")
    rows = table.head(N_DOCUMENTS).itertuples(index=False)
    return list(map(str, table.columns)), [[_cell(value) for value in row] for row in rows]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}"
    return str(value)


def _viewer_data(contrast: Contrast, atlas: Atlas | None) -> dict[str, Any]:
    mean = Encoding(
        text="",
        probabilities=contrast.probabilities.astype(np.float32),
        mean_map=contrast.reference,
        partition=contrast.partition,
        brain=contrast.brain,
    )
    names = region_names(atlas.names) if atlas is not None else {}
    about = [{"name": name, "label": label, "why": []} for label, name in names.items()]
    return viewer_data(mean, strongest_place(contrast.log_ratio_img), atlas, about)
