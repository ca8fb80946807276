"""The page of an encoding: the text highlighted, the map to walk through, and what it says.

A notebook shows a part of it.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neurowhere.model.encoding import Encoding
from neurowhere.model.schema import Summary
from neurowhere.report.highlight import highlight
from neurowhere.report.maps import draw_encoding, write_png
from neurowhere.report.page import asset, render, render_page
from neurowhere.report.viewer import viewer_data
from neurowhere.space import Atlas

__all__ = ["encoding_html", "encoding_page"]

N_REGIONS, N_TERMS = 10, 8  # rows on the page
N_ROWS = 10  # of each table in a notebook
CENTRE = (0.0, 0.0, 0.0)  # in mm, shown first where no place is strongest
SUPPORT_WORDS = {"good": "well supported", "weak": "weakly supported", "none": "not supported"}


def encoding_page(
    encoding: Encoding,
    summary: Summary,
    atlas: Atlas,
    *,
    with_text: bool = True,
    pictures: Mapping[str, Path] | None = None,
) -> str:
    """Return the page, which works from disk and needs no network.

    Parameters
    ----------
    encoding : Encoding
    summary : Summary
        With all regions of the atlas.
    atlas : Atlas
        Names the place under the crosshair.
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
    strongest = sorted(summary.terms, key=lambda term: -abs(term.contribution))[:N_TERMS]
    return render_page(
        "encoding.html",
        styles=("encoding.css", "text.css"),
        script="viewer.js",
        text=highlight(encoding) if with_text else None,
        summary=summary,
        is_mean_map=encoding.is_mean_map,
        support_words=SUPPORT_WORDS[summary.support.level],
        support_reason=summary.support.summary.partition(" ")[2].strip("()"),
        regions=summary.regions[:N_REGIONS],
        terms=strongest,
        still=pictures.get("map"),
        surface=pictures.get("surface"),
        data=viewer_data(
            encoding,
            summary.peaks[0].at if summary.peaks else CENTRE,
            atlas,
            _about_regions(summary, atlas),
        ),
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


def _about_regions(summary: Summary, atlas: Atlas) -> list[dict[str, Any]]:
    """Return what the viewer says of each region of the atlas, in the atlas's order."""
    by_label = {region.region: region for region in summary.regions}
    return [
        {
            "name": by_label[label].name,
            "label": label,
            "why": [[reason.term, reason.contribution] for reason in by_label[label].why],
        }
        for label in atlas.names
    ]
