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
from neurowhere.report.page import page, paragraph, picture, section
from neurowhere.report.tables import to_html, write_csv
from neurowhere.report.viewer import data_block, viewer_data, viewer_elements
from neurowhere.space import Atlas

KIND = "contrast"
N_REGIONS, N_TERMS, N_DOCUMENTS = 15, 20, 50  # rows on the page
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
    parts = [
        _summary_section(contrast),
        _map_section(contrast, folder / "map.png"),
        _terms_section(contrast.terms),
    ]
    if atlas is not None:
        regions = contrast.regions(atlas)
        write_csv(regions, folder / "regions.csv")
        parts.append(_regions_section(regions, folder / "regions.png"))
    parts += [
        section("Documents", paragraph(_DOCUMENTS), _table(documents, N_DOCUMENTS)),
        section("How it was made", paragraph(_how(contrast))),
        data_block(_viewer_data(contrast, atlas)),
    ]
    lead = f"Contrasted with {contrast.against_words}."
    text = page(title, lead, *parts, styles=("encoding.css",), script="viewer.js")
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


# ---- sections of the page


def _summary_section(contrast: Contrast) -> str:
    about = contrast.about
    passing = contrast.significant()
    raised = int((passing & (contrast.log_ratio > 0)).sum())
    left_out = about["terms_left_out"]
    return section(
        "In short",
        paragraph(
            f"{about['documents']:,} documents were read. "
            f"{about['documents_with_known_terms']:,} are compared, each with a term that the "
            "model knows."
        ),
        paragraph(
            f"{raised:,} of {contrast.partition.n_regions:,} regions of the model are raised and "
            f"{int(passing.sum()) - raised:,} lowered beyond what random groups of documents of "
            f"the same size would show, at a false-discovery rate of {FALSE_DISCOVERY_RATE:.0%}."
        ),
        *([paragraph(f"Left out of the encoding: {', '.join(left_out)}.")] if left_out else []),
        *(paragraph(problem, "note") for problem in about["problems"]),
        classes="source",
    )


def _map_section(contrast: Contrast, path: Path) -> str:
    against = contrast.against_words
    still = picture(path, f"Log ratio of mean densities, against {against}.")
    note = f"Density is the mean of the group; the mean map is that of {against}."
    elements = viewer_elements(still, layer="ratio")
    return section("Map", elements, paragraph(note, "note"), classes="map")


def _viewer_data(contrast: Contrast, atlas: Atlas | None) -> dict[str, Any]:
    mean = Encoding(
        text="",
        probabilities=contrast.probabilities.astype(np.float32),
        mean_map=contrast.reference,
        partition=contrast.partition,
        brain=contrast.brain,
    )
    names = readable_names(atlas.names) if atlas is not None else {}
    about = [{"name": name, "label": label, "why": []} for label, name in names.items()]
    return viewer_data(mean, strongest_place(contrast.log_ratio_img), atlas, about)


def _terms_section(terms: pd.DataFrame) -> str:
    shown = terms[["term", "share", "share_reference", "moves"]]
    return section(
        "Terms that carry it", _table(shown, N_TERMS), paragraph(_TERMS, "note"), classes="terms"
    )


def _regions_section(regions: pd.DataFrame, path: Path) -> str:
    write_png(draw_regions(regions), path)
    caption = "Most raised regions. Grey: the interval reaches below 1. regions.csv has all."
    return section("Regions", picture(path, caption), _table(regions, N_REGIONS))


_TERMS = (
    "Share of the documents that have each term, in the group and in the reference; and the share "
    "of probability that it moves, found by putting this term of the group's mean text back to "
    "what it is in the reference. terms.csv has more."
)
_DOCUMENTS = "Those with the most mentions; documents.csv has all."


def _how(contrast: Contrast) -> str:
    about = contrast.about
    return (
        "The map is log(½/V + ½ mean density of the group) − the same of the reference, V the "
        f"volume of the brain. Intervals: {about['replicates']} replicates of a Poisson bootstrap "
        f"over documents, seed {about['seed']}. Threshold: permutation of documents, by its exact "
        "first three moments, with Benjamini and Hochberg's control of the false-discovery rate. "
        f"Documents weigh {'as their mentions' if about['weighted'] else 'the same'}."
    )


def _table(table: pd.DataFrame, n_rows: int) -> str:
    cells = [[_cell(value) for value in row] for row in table.head(n_rows).itertuples(index=False)]
    return f'<div class="wide">{to_html([str(name) for name in table.columns], cells)}</div>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}"
    return str(value)
