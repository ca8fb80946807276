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
from neurowhere.report.canvas import DPI, new_figure
from neurowhere.report.comparison import name_rows
from neurowhere.report.encoding import viewer_data
from neurowhere.report.maps import CONTRAST_UNIT, draw_map, strongest_place, write_png
from neurowhere.report.page import render_page
from neurowhere.report.tables import Cells, write_csv

KIND = "contrast"
LONGEST_NAME = 40  # characters of a folder
N_REGIONS, N_TERMS, N_KINDS, N_DOCUMENTS = 15, 20, 10, 50  # rows on the page
N_NAMED = 4  # regions in the first line
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
    """Write the files of a contrast into an empty folder; options as in `Contrast.save`."""
    tables = _tables(contrast, titles)
    for name, values in _images(contrast).items():
        image = contrast.to_img(values, resolution_mm=resolution_mm, like=like)
        image.to_filename(folder / f"{name}.nii.gz")
    for name, table in tables.items():
        write_csv(table, folder / f"{name}.csv", keep_formulas=keep_formulas)
    _write_pictures(contrast, folder)
    (folder / "report.html").write_text(_page(contrast, tables, folder), "utf-8")
    contrast.methods().write(folder)
    groups = {"group": contrast.group, "against": contrast.against}
    write_info(folder, {"kind": KIND, **groups, "about": contrast.about})


def write_list(contrasts: Sequence[Contrast], folder: Path, **options: Any) -> None:
    """Write several contrasts: a folder for each as `write_files` does, a table, and a page."""
    about, rows, maps = contrasts[0].about, [], []
    for number, contrast in enumerate(contrasts, start=1):
        name = f"{number:03d}-{_slug(contrast.group)}"
        (folder / name).mkdir()
        write_files(contrast, folder / name, **options)
        regions = contrast.regions()
        lowered = regions.loc[regions["passes"] & (regions["t"] < 0), "region"].iloc[::-1]
        raised = contrast.most_raised()
        row = {
            "folder": name,
            "group": contrast.group,
            "documents": contrast.about["documents_in_group"],
            "in_passing": contrast.about["documents_in_passing"],
            "outcome": contrast.outcome,
            "raised": "; ".join(raised["region"]),
            "lowered": "; ".join(lowered),
        }
        rows.append(row)
        maps.append(row | {"map": folder / name / "map.png", "names": list(raised["name"])})
    write_csv(pd.DataFrame(rows), folder / "terms.csv", keep_formulas=options["keep_formulas"])
    page = render_page(
        "contrasts.html",
        styles=("encoding.css",),
        title=f"{len(rows)} contrasts",
        rows=maps,
        problems=about["not_contrasted"],
        chance=chance_words(about),
    )
    (folder / "report.html").write_text(page, "utf-8")
    write_info(folder, {"kind": KIND, "contrasts": rows, "not_contrasted": about["not_contrasted"]})


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


def _write_pictures(contrast: Contrast, folder: Path) -> None:
    write_png(draw_found(contrast), folder / "map.png")
    write_png(draw_found(contrast, lowered=True), folder / "lowered.png")
    write_png(draw_regions(contrast), folder / "regions.png")


def draw_found(contrast: Contrast, *, lowered: bool = False) -> Any:
    """Draw the log ratio where it passes the threshold, raised or lowered, and zero elsewhere."""
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


def draw_regions(contrast: Contrast) -> Any:
    """Draw the ratio of raised regions that pass, the largest first; where none does, of any."""
    raised, tested = contrast.most_raised(), contrast.about["tested"]
    shown = (raised if len(raised) else contrast.regions()).head(N_REGIONS)
    size = (FIGURE_WIDTH, FRAME_HEIGHT + ROW_HEIGHT * len(shown))
    figure = new_figure(size, dpi=DPI)
    axes = figure.subplots()
    draw_ratios(axes, shown)
    axes.set_title(contrast.outcome, loc="left", fontsize="medium")
    passing = "" if len(raised) else "; grey: does not pass"
    known = f"95 % interval{passing}" if tested else "not tested"
    axes.set_xlabel(f"observed / expected probability ({known})")
    return figure


def draw_ratios(axes: Any, regions: pd.DataFrame) -> None:
    """Draw the ratios of regions of `Contrast.regions`, in rows, with their intervals."""
    for row, region in enumerate(regions.to_dict("records")):
        colour = RAISED_COLOUR if region["passes"] else UNSURE_COLOUR
        axes.plot([region["low"], region["high"]], [row, row], color=colour, linewidth=2)
        axes.plot([region["ratio"]], [row], "o", color=colour, markersize=5)
    axes.axvline(1, color="black", linewidth=0.8)
    name_rows(axes, list(regions["name"]))
    axes.spines["top"].set_visible(False)


# ---- the page


def _page(contrast: Contrast, tables: dict[str, pd.DataFrame], folder: Path) -> str:
    regions, about = tables["regions"], contrast.about
    lowered = regions[regions["passes"] & (regions["t"] < 0)].iloc[::-1]
    return render_page(
        "contrast.html",
        styles=("viewer.css", "encoding.css"),
        script="report",
        title=_title(contrast),
        reference=_reference(contrast),
        about=about,
        methods=contrast.methods(),
        outcome=contrast.outcome,
        most_raised=list(contrast.most_raised()["name"].head(N_NAMED)),
        chance=chance_words(about),
        kinds=tables["kinds"].head(N_KINDS).to_dict("records"),
        lengths=LENGTHS,
        pictures={name: folder / f"{name}.png" for name in ("map", "lowered", "regions")},
        terms=tables["terms"].head(N_TERMS).to_dict("records"),
        regions=regions.head(N_REGIONS).to_dict("records"),
        lowered_regions=lowered.head(N_REGIONS).to_dict("records"),
        documents=_documents(tables["documents"], with_group=bool(contrast.against)),
        data=_viewer_data(contrast),
    )


def chance_words(about: dict[str, Any]) -> str:
    """Say how often words that name no place have any discovery, contrasted in the same way."""
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


def _documents(documents: pd.DataFrame, *, with_group: bool) -> tuple[list[str], Cells]:
    """Return the header and the first rows of the documents as text."""
    shown = ["group"] * with_group + ["mentions", "title", "id"]
    table = documents[[name for name in shown if name in documents]].head(N_DOCUMENTS)
    return list(table.columns), table.astype(str).values.tolist()


def _viewer_data(contrast: Contrast) -> dict[str, Any]:
    mean = Encoding(
        text="",
        probabilities=contrast.probabilities.astype(np.float32),
        source=Source(contrast.reference, contrast.partition, contrast.brain),
    )
    data = viewer_data(mean, strongest_place(contrast.threshold_img), contrast.atlas)
    return data | {"contrast": True, "average": False}
