"""The page of an encoding: the text highlighted, the map to walk through, and what it says."""

import html
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.model.encoding import Encoding
from neurowhere.report.encoding_tables import EncodingTables
from neurowhere.report.highlight import highlight
from neurowhere.report.page import page, paragraph, picture, section
from neurowhere.report.viewer import data_block, viewer_data, viewer_elements
from neurowhere.text import words_of_label

TITLE = "Where in the brain is this text about?"
N_REGIONS, N_TERMS = 10, 8  # rows on the page
CENTRE = (0.0, 0.0, 0.0)  # in mm, shown first where no place is strongest
SUPPORT_WORDS = {"good": "well supported", "weak": "weakly supported", "none": "not supported"}


def encoding_page(
    encoding: Encoding,
    tables: EncodingTables,
    *,
    with_text: bool = True,
    pictures: Mapping[str, Path] | None = None,
) -> str:
    """Make the page, which works from disk and needs no network.

    Parameters
    ----------
    encoding : Encoding
    tables : EncodingTables
        Of `tabulate`.
    with_text : bool
        Whether to show the text.
    pictures : mapping of str to path, optional
        "map", shown where scripts do not run, and "surface".
    """
    pictures = pictures or {}
    still = picture(pictures["map"], _STILL) if "map" in pictures else ""
    top = CENTRE if encoding.peaks.empty else tuple(encoding.peaks.loc[0, XYZ])
    data = viewer_data(encoding, top, tables.atlas, _about_regions(tables))
    parts = [
        _text_section(encoding) if with_text else _no_text_section(encoding),
        section("Map", viewer_elements(still), classes="map"),
        *([] if tables.regions is None else [_regions_section(tables.regions)]),
        _peaks_section(tables.peaks),
        _terms_section(tables.terms, encoding.unit),
        *([] if tables.studies is None else [_studies_section(tables.studies)]),
        *([_surface_section(pictures["surface"])] if "surface" in pictures else []),
        section("How to read this", *map(paragraph, _READING), classes="reading"),
        data_block(data),
    ]
    return page(
        TITLE,
        _lead(encoding, tables),
        *parts,
        styles=("encoding.css", "text.css"),
        script="viewer.js",
    )


_STILL = "Density and log ratio to the mean map, cut at the strongest place; glass brain."


def _lead(encoding: Encoding, tables: EncodingTables) -> str:
    if encoding.is_mean_map:
        return "The text has no term that the model knows: this is the mean map of all studies."
    if tables.peaks.empty:
        return str(encoding.support)
    first = tables.peaks.iloc[0]
    place = _in_mm(first[axis] for axis in XYZ)
    name = f", {readable_names([first['region']])[first['region']]}" if first.get("region") else ""
    return (
        f"Most of all at {place} mm{name}, where reported peaks are {first['ratio']:.3g} times "
        "as likely as in studies at large."
    )


# ---- sections


def _text_section(encoding: Encoding) -> str:
    opening = '<div class="text nw-text" tabindex="0" role="region" aria-label="text">'
    body = f"{opening}{highlight(encoding)}</div>"
    return section("Text", _badge(encoding), body, _LEGEND, classes="source")


def _no_text_section(encoding: Encoding) -> str:
    return section("Text", _badge(encoding), paragraph(_LEFT_OUT), classes="source")


_LEFT_OUT = "The text was left out of this report. The terms that were found in it are below."
_LEGEND = """<ul class="legend nw-text">
<li><mark class="raises strength-4">term</mark> pulled the map to where it is</li>
<li><mark class="lowers strength-4">term</mark> pulled it away</li>
<li><s class="denied">term</s> denied, not counted</li>
<li><u class="side">side</u> moves the map</li>
<li><u class="side unapplied">side</u> of a limb or symptom, not applied</li></ul>"""


def _badge(encoding: Encoding) -> str:
    level = encoding.support.level
    words = html.escape(str(encoding.support).partition(" ")[2].strip("()"))
    return f'<p class="support {level}"><b>{SUPPORT_WORDS[level]}</b> {words}</p>'


def _regions_section(regions: pd.DataFrame) -> str:
    shown = regions.head(N_REGIONS)
    highest = float(shown["probability"].max()) if len(shown) else 0.0
    names = readable_names(regions["region"])
    rows = [
        [
            _place_button(names[row["region"]], [row[axis] for axis in XYZ]),
            _bar(row["probability"], highest) + f"{row['probability']:.1%}",
            _ratio(row["ratio"]),
        ]
        for row in shown.to_dict("records")
    ]
    note = f"Ratio: to the mean map of all studies. regions.csv has all {len(regions):,}."
    table = _table(["region", "probability", "ratio"], rows)
    return section("Regions", table, paragraph(note, "note"), classes="regions")


def _peaks_section(peaks: pd.DataFrame) -> str:
    names = readable_names(peaks["region"]) if "region" in peaks else {}
    rows = []
    for row in peaks.to_dict("records"):
        place = [row[axis] for axis in XYZ]
        name = html.escape(names[row["region"]]) if row.get("region") else ""
        rows.append([_place_button(_in_mm(place), place), name, _ratio(row["ratio"])])
    note = "Local maxima of the density, at least 10 mm apart, the strongest first."
    table = _table(["mm", "region", "ratio"], rows)
    return section("Peaks", table, paragraph(note, "note"), classes="peaks")


def _terms_section(terms: pd.DataFrame, unit: str) -> str:
    shown = terms.sort_values("contribution", key=abs, ascending=False, kind="stable").head(N_TERMS)
    highest = float(shown["contribution"].abs().max()) if len(shown) else 0.0
    rows = [
        [
            html.escape(row["term"]),
            _bar(row["contribution"], highest) + _signed(row["contribution"]),
            f"{row['count']}",
        ]
        for row in shown.to_dict("records")
    ]
    note = f"Contribution to the whole map, in {unit}; terms.csv has all {len(terms):,}."
    table = _table(["term", "contribution", "mentions"], rows)
    return section("Terms", table, paragraph(note, "note"), classes="terms")


def _studies_section(studies: pd.DataFrame) -> str:
    rows = [
        [
            _link(str(row["id"]), str(row["link"])),
            _bar(row["similarity"], 1) + f"{row['similarity']:.2f}",
        ]
        for row in studies.to_dict("records")
    ]
    note = "Training studies whose texts are closest, in the model's own terms."
    table = _table(["PubMed", "similarity"], rows)
    return section("Similar studies", table, paragraph(note, "note"), classes="studies")


def _surface_section(path: Path) -> str:
    caption = (
        "Log ratio to the mean map on the inflated cortex (fsaverage5), where it differs most. "
        "What lies deep in the brain does not show."
    )
    return section("Surface", picture(path, caption, "broad"))


_READING = (
    "The map is the distribution of the coordinates that studies with such a text report, as "
    "learned from published studies. Density: how likely a reported peak is at a place, in "
    "multiples of a peak anywhere in the brain being as likely as anywhere else. Ratio: the same "
    "against the mean map of all studies, which shows what is particular to this text. The 50, "
    "80 and 95 % regions are the smallest that should hold such a share of the peaks; they are "
    "wide, since texts tell places only roughly.",
    "A term is coloured by what it did to the map, in the words of the model: it shows what the "
    "model learned to go with the term, not a cause. Words without a mark are unknown to the "
    "model and count for nothing. Left is left in the slices. A place is in mm of the MNI152 "
    "space; the slices are of the template ICBM 152 nonlinear symmetric 2009a.",
    "For research, not for diagnosis.",
)


# ---- parts


def readable_names(labels: Iterable[str]) -> dict[str, str]:
    """Name of each region in words, its side first; with the label where two would be alike.

    >>> readable_names(["Amygdala_L", "OFCmed_L", "OFCant_L"])
    {'Amygdala_L': 'left amygdala',
     'OFCmed_L': 'left orbitofrontal cortex (OFCmed_L)',
     'OFCant_L': 'left orbitofrontal cortex (OFCant_L)'}
    """
    names = {}
    for label in labels:
        words, side = words_of_label(label)
        names[label] = f"{side or ''} {words}".strip() if words else label
    alike = Counter(names.values())
    return {k: f"{name} ({k})" if alike[name] > 1 else name for k, name in names.items()}


def _about_regions(tables: EncodingTables) -> list[dict[str, Any]]:
    """Say what the viewer tells of each region of the atlas, in the atlas's order."""
    if tables.atlas is None:
        return []
    names = readable_names(tables.atlas.names)
    about = []
    for label in tables.atlas.names:
        reasons = tables.reasons.get(label)
        why = (
            [] if reasons is None else [[term, float(value)] for term, value in reasons.to_numpy()]
        )
        about.append({"name": names[label], "label": label, "why": why})
    return about


def _in_mm(place: Iterable[float]) -> str:
    return ", ".join(f"{mm:.0f}" for mm in place).replace("-", "−")


def _place_button(words: str, place: list[float]) -> str:
    """Button that moves the crosshair."""
    x, y, z = (round(mm) for mm in place)
    return f'<button type="button" data-place="{x} {y} {z}">{html.escape(words)}</button>'


def _bar(value: float, highest: float) -> str:
    """Drawn beside a number, as long as it is large."""
    width = 100 * abs(value) / highest if highest and not math.isnan(value) else 0
    side = "lowers" if value < 0 else "raises"
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{side}" width="{width:.1f}" height="10"/></svg>'
    )


def _ratio(value: float) -> str:
    return "" if math.isnan(value) else f"× {_digits(value)}"


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + _digits(abs(value))


def _digits(value: float) -> str:
    """Two digits, or as many as stand before the point.

    >>> [_digits(value) for value in (0.3, 4.0, 9.54, 10.2, 123.4, 0.0000123)]
    ['0.30', '4.0', '9.5', '10', '123', '1.2e-05']
    """
    return f"{value:.0f}" if value >= 10 else f"{value:#.2g}"


def _link(name: str, address: str) -> str:
    if not address:
        return html.escape(name)
    return f'<a href="{html.escape(address)}" rel="noreferrer">{html.escape(name)}</a>'


def _table(header: list[str], rows: list[list[str]]) -> str:
    """Table of cells that are HTML."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide">{table}</div>'
