"""The report of a contrast: images, figures, tables, and one page with all."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neurowhere._tools.files import write_info
from neurowhere.contrast.contrast import Contrast
from neurowhere.contrast.covariates import LENGTHS
from neurowhere.contrast.regression import RATE
from neurowhere.model.encoding import Encoding
from neurowhere.model.source import Source
from neurowhere.report.comparison import name_rows, new_figure
from neurowhere.report.encoding import viewer_data
from neurowhere.report.maps import CONTRAST_UNIT, DPI, draw_map, strongest_place, write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import Cells, write_csv
from neurowhere.text.labels import region_names

__all__ = [
    "chance_words",
    "draw_found",
    "draw_regions",
    "found_values",
    "title_found",
    "write_files",
    "write_list",
]

KIND = "contrast"
LONGEST_NAME = 40  # characters of a folder
N_REGIONS, N_TERMS, N_KINDS, N_DOCUMENTS = 15, 20, 10, 50  # rows on the page
RAISED_COLOUR, UNSURE_COLOUR = "#0072B2", "#9aa5b1"
END_OF_COLOURS = 1.0  # log ratio, the same for all maps: they compare
FIGURE_WIDTH, FRAME_HEIGHT, ROW_HEIGHT = 8.0, 1.0, 0.3  # inches


def write_files(
    contrast: Contrast,
    folder: Path,
    *,
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
    resolution_mm, like, titles, keep_formulas
        As in `Contrast.save`.
    """
    tables = _tables(contrast, titles)
    for name, values in _images(contrast).items():
        image = contrast.to_img(values, resolution_mm=resolution_mm, like=like)
        image.to_filename(folder / f"{name}.nii.gz")
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv", keep_formulas=keep_formulas)
    _write_pictures(contrast, tables, folder)
    (folder / "report.html").write_text(_page(contrast, tables, folder), "utf-8")
    contrast.methods().write(folder)
    groups = {"group": contrast.group, "against": contrast.against}
    write_info(folder, {"kind": KIND, **groups, "about": contrast.about})


def write_list(contrasts: Sequence[Contrast], folder: Path, **options: Any) -> None:
    """Write several contrasts: a folder for each, a table, and one page with a map for each.

    Parameters
    ----------
    contrasts : sequence of Contrast
    folder : path
    **options
        As of `write_files`.
    """
    rows = []
    for number, contrast in enumerate(contrasts, start=1):
        name = f"{number:03d}-{_slug(contrast.group)}"
        (folder / name).mkdir()
        write_files(contrast, folder / name, **options)
        regions = contrast.regions()
        passing = regions[regions["passes"]]
        rows.append(
            {
                "folder": name,
                "group": contrast.group,
                "documents": contrast.about["documents_in_group"],
                "in_passing": contrast.about["documents_in_passing"],
                "outcome": contrast.outcome,
                "raised": "; ".join(passing.loc[passing["t"] > 0, "region"]),
                "lowered": "; ".join(passing.loc[passing["t"] < 0, "region"].iloc[::-1]),
            }
        )
    write_csv(pd.DataFrame(rows), folder / "terms.csv", keep_formulas=options["keep_formulas"])
    page = render_page(
        "contrasts.html",
        styles=("encoding.css",),
        title=f"{len(rows)} contrasts",
        rows=[
            {
                **row,
                "map": folder / str(row["folder"]) / "map.png",
                "names": _names_raised(contrast),
            }
            for row, contrast in zip(rows, contrasts, strict=True)
        ],
        chance=chance_words(contrasts[0].about),
    )
    (folder / "report.html").write_text(page, "utf-8")
    write_info(folder, {"kind": KIND, "contrasts": rows})


def _names_raised(contrast: Contrast) -> list[str]:
    regions = contrast.regions()
    raised = regions.loc[regions["passes"] & (regions["t"] > 0), "region"]
    return [region_names(contrast.atlas.names)[label] for label in raised]


def _slug(group: str) -> str:
    """Turn the name of a group into that of a folder.

    >>> _slug('are about (stroke OR infarct*)')
    'stroke-or-infarct'
    """
    words = re.findall(r"[a-z0-9]+", group.removeprefix("are about ").lower())
    return "-".join(words)[:LONGEST_NAME] or "term"


def _tables(contrast: Contrast, titles: bool) -> dict[str, pd.DataFrame]:
    documents = contrast.documents if titles else contrast.documents.drop(columns="title")
    return {
        "terms": contrast.terms,
        "documents": documents,
        "kinds": contrast.kinds,
        "regions": contrast.regions(),
    }


def _images(contrast: Contrast) -> dict[str, Any]:
    low, high = contrast.interval
    return {
        "map": contrast.density,
        "reference": contrast.reference / contrast.partition.volumes_mm3,
        "log_ratio": contrast.log_ratio,
        "log_ratio_low": low,
        "log_ratio_high": high,
        "log_ratio_thresholded": np.where(contrast.significant(), contrast.log_ratio, 0.0),
        "t": contrast.voxels.t,
        "q": contrast.voxels.q_values,
    }


# ---- pictures


def _write_pictures(contrast: Contrast, tables: dict[str, pd.DataFrame], folder: Path) -> None:
    write_png(draw_found(contrast), folder / "map.png")
    write_png(draw_found(contrast, lowered=True), folder / "lowered.png")
    write_png(draw_regions(tables["regions"], contrast.outcome), folder / "regions.png")


def draw_found(contrast: Contrast, *, lowered: bool = False) -> Any:
    """Draw what was found: the log ratio where it passes the threshold; nothing of a hint.

    Parameters
    ----------
    contrast : Contrast
    lowered : bool
        Whether to draw what is lowered instead of what is raised.

    Returns
    -------
    PIL.Image.Image
    """
    return draw_map(
        contrast.to_img(found_values(contrast, lowered=lowered)),
        signed=True,
        title=title_found(contrast, lowered=lowered),
        unit=CONTRAST_UNIT,
        highest=END_OF_COLOURS,
    )


def found_values(contrast: Contrast, *, lowered: bool = False) -> Any:
    """Return the log ratio where it passes the threshold and is raised, or lowered; 0 elsewhere."""
    values = -contrast.log_ratio if lowered else contrast.log_ratio
    return np.where(contrast.significant() & (values > 0), contrast.log_ratio, 0.0)


def title_found(contrast: Contrast, *, lowered: bool = False) -> str:
    """Say of which documents the map is, and what was found."""
    if not contrast.about["tested"]:
        return f"{_title(contrast)}: not enough documents for a test"
    values, direction = found_values(contrast, lowered=lowered), "lowered" if lowered else "raised"
    n = int(np.count_nonzero(values))
    found = f"{n:,} of {len(values):,} voxels {direction}" if n else f"no voxel {direction}"
    return f"{_title(contrast)}: {found} at a false-discovery rate of {RATE:.0%}"


def draw_regions(regions: pd.DataFrame, title: str) -> Any:
    """Draw the ratio of the regions with the largest t, with their intervals.

    Parameters
    ----------
    regions : DataFrame
        Of `Contrast.regions`.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    shown = regions.head(N_REGIONS)
    size = (FIGURE_WIDTH, FRAME_HEIGHT + ROW_HEIGHT * len(shown))
    figure = new_figure(size, dpi=DPI)
    axes = figure.subplots()
    for row, region in enumerate(shown.to_dict("records")):
        colour = RAISED_COLOUR if region["passes"] else UNSURE_COLOUR
        axes.plot([region["low"], region["high"]], [row, row], color=colour, linewidth=2)
        axes.plot([region["ratio"]], [row], "o", color=colour, markersize=5)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_title(title, loc="left", fontsize="medium")
    axes.set_xlabel("observed / expected probability (95 % interval); grey: does not pass")
    names = region_names(regions["region"])
    name_rows(axes, [names[label] for label in shown["region"]])
    axes.spines["top"].set_visible(False)
    return figure


# ---- the page


def _page(contrast: Contrast, tables: dict[str, pd.DataFrame], folder: Path) -> str:
    passing = contrast.significant()
    raised = int((passing & (contrast.log_ratio > 0)).sum())
    regions = tables["regions"]
    is_lowered = regions["passes"] & (regions["t"] < 0)
    return render_page(
        "contrast.html",
        styles=("viewer.css", "encoding.css"),
        script="report",
        title=_title(contrast),
        reference=_reference(contrast),
        about=contrast.about,
        methods=contrast.methods(),
        outcome=contrast.outcome,
        chance=chance_words(contrast.about),
        raised=raised,
        lowered=int(passing.sum()) - raised,
        n_model_regions=contrast.partition.n_regions,
        kinds=tables["kinds"].head(N_KINDS).to_dict("records"),
        lengths=LENGTHS,
        still=folder / "map.png",
        lowered_picture=folder / "lowered.png",
        terms=tables["terms"].head(N_TERMS).to_dict("records"),
        regions=_regions(regions),
        lowered_regions=_regions(regions[is_lowered].iloc[::-1]),
        regions_picture=folder / "regions.png",
        documents=_documents(tables["documents"], with_group=bool(contrast.against)),
        data=_viewer_data(contrast),
    )


def chance_words(about: dict[str, Any]) -> str:
    """Say how often words that name no place have any discovery, contrasted in the same way.

    Parameters
    ----------
    about : dict
        Of a `Contrast`.

    Returns
    -------
    str
    """
    if about["chance_regions"] is None:
        return "how often nothing looks like something could not be measured on these documents"
    return (
        f"{about['chance_regions']:.1%} of {about['placeless_words']} words that name no place "
        f"have any discovery among the regions, {about['chance_voxels']:.1%} among the voxels"
    )


def _title(contrast: Contrast) -> str:
    return f"{contrast.about['documents_in_group']:,} documents that {contrast.group}"


def _reference(contrast: Contrast) -> str:
    """Return what the group is compared with, in words."""
    second = contrast.about["documents_in_second_group"]
    if second is not None:
        return f"{second:,} documents that {contrast.against}"
    known = f"{contrast.about['documents_with_known_terms']:,} documents"
    return (
        f"all {known}"
        if contrast.about["unadjusted"]
        else f"what their kind makes expected among {known}"
    )


def _regions(regions: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the first regions, with their names in words."""
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


def _viewer_data(contrast: Contrast) -> dict[str, Any]:
    mean = Encoding(
        text="",
        probabilities=contrast.probabilities.astype(np.float32),
        source=Source(contrast.reference, contrast.partition, contrast.brain),
    )
    data = viewer_data(mean, strongest_place(contrast.threshold_img), contrast.atlas)
    return data | {"contrast": True}
