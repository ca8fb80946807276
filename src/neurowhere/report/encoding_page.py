"""The page of an encoding: the text highlighted, the map to walk through, and what it says.

A notebook shows a part of it.
"""

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from neurowhere.corpus.frames import XYZ
from neurowhere.model.encoding import Encoding
from neurowhere.report.encoding_tables import EncodingTables
from neurowhere.report.highlight import highlight
from neurowhere.report.maps import draw_encoding, write_png
from neurowhere.report.page import asset, render, render_page
from neurowhere.report.viewer import viewer_data
from neurowhere.text import words_of_label

__all__ = ["encoding_html", "encoding_page", "readable_names"]

N_REGIONS, N_TERMS = 10, 8  # rows on the page
N_ROWS = 10  # of each table in a notebook
CENTRE = (0.0, 0.0, 0.0)  # in mm, shown first where no place is strongest
SUPPORT_WORDS = {"good": "well supported", "weak": "weakly supported", "none": "not supported"}

Row = dict[str, Any]


def encoding_page(
    encoding: Encoding,
    tables: EncodingTables,
    *,
    with_text: bool = True,
    pictures: Mapping[str, Path] | None = None,
) -> str:
    """Return the page, which works from disk and needs no network.

    Parameters
    ----------
    encoding : Encoding
    tables : EncodingTables
        Of `tabulate`.
    with_text : bool
        Whether to show the text.
    pictures : mapping of str to path, optional
        "map", shown where scripts do not run, and "surface".

    Returns
    -------
    str
        HTML.
    """
    pictures = pictures or {}
    top = CENTRE if encoding.peaks.empty else tuple(encoding.peaks.loc[0, XYZ])
    return render_page(
        "encoding.html",
        styles=("encoding.css", "text.css"),
        script="viewer.js",
        text=highlight(encoding) if with_text else None,
        is_mean_map=encoding.is_mean_map,
        support=encoding.support,
        support_words=SUPPORT_WORDS[encoding.support.level],
        support_reason=str(encoding.support).partition(" ")[2].strip("()"),
        regions=None if tables.regions is None else _named(tables.regions)[:N_REGIONS],
        peaks=_named(tables.peaks),
        terms=_strongest(tables.terms).to_dict("records"),
        studies=None if tables.studies is None else tables.studies.to_dict("records"),
        totals={name.removesuffix(".csv"): len(table) for name, table in tables.files.items()},
        unit=encoding.unit,
        still=pictures.get("map"),
        surface=pictures.get("surface"),
        data=viewer_data(encoding, top, tables.atlas, _about_regions(tables)),
    )


def encoding_html(encoding: Encoding) -> str:
    """Return text with its marks, picture, terms and peaks as HTML for a notebook.

    Parameters
    ----------
    encoding : Encoding

    Returns
    -------
    str
    """
    stream = io.BytesIO()
    write_png(draw_encoding(encoding), stream)
    fragment = render(
        "notebook.html",
        style=asset("text.css"),
        summary=repr(encoding),
        text=highlight(encoding),
        picture=stream.getvalue(),
        tables=[
            table.head(N_ROWS) for table in (encoding.terms.drop(columns="where"), encoding.peaks)
        ],
    )
    return str(fragment)


def readable_names(labels: Iterable[str]) -> dict[str, str]:
    """Return the name of each region in words, its side first.

    Where two would be alike, the label follows.

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


def _strongest(terms: pd.DataFrame) -> pd.DataFrame:
    """Return the terms that did most to the map, up or down."""
    ordered = terms.sort_values("contribution", key=abs, ascending=False, kind="stable")
    return ordered.head(N_TERMS)


def _named(table: pd.DataFrame) -> list[Row]:
    """Return the rows of a table, each with the name of its region in words, if it has one."""
    names = readable_names(table["region"]) if "region" in table else {}
    rows: list[Row] = table.to_dict("records")  # type: ignore[assignment]
    return [{**row, "name": names[row["region"]] if row.get("region") else ""} for row in rows]


def _about_regions(tables: EncodingTables) -> list[Row]:
    """Return what the viewer tells of each region of the atlas, in the atlas's order."""
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
