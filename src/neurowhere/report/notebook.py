"""Notebook: results as HTML for a cell: a picture and tables, or a viewer; values are escaped."""

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from neurowhere._tools.files import new_file
from neurowhere.contrast.contrast import Contrast
from neurowhere.model.decoding import Decoding
from neurowhere.model.encoding import Encoding
from neurowhere.model.regions import order_in_words, usual_in_words
from neurowhere.model.schema import Region, Study, Summary
from neurowhere.model.summary import studies_of, summarise
from neurowhere.model.term_maps import TermMap
from neurowhere.report.contrast import draw_found
from neurowhere.report.encoding import (
    CENTRE,
    N_EXPLAINED,
    name_of,
    strongest,
    title_of_picture,
    viewer_data,
)
from neurowhere.report.maps import draw_encoding, draw_map, shown_term, write_png
from neurowhere.report.page import asset, highlight, in_mm, render, render_page, signed, times
from neurowhere.space import Atlas

N_ROWS = 10  # rows of a table
VIEW_WIDTH, VIEW_HEIGHT = "100%", 850  # size of a cell; height in pixels
Table = tuple[str, Sequence[str], Sequence[tuple[str, ...]]]  # label, header, rows


def encoding_html(encoding: Encoding) -> str:
    """Return text with its marks, picture, terms, regions and peaks as HTML for a notebook."""
    if encoding.support.withheld:
        title = f"{encoding.support.summary}; plot() draws the map"
        return _fragment(title, text=highlight(encoding))
    summary = summarise(encoding)
    return _fragment(
        repr(encoding),
        text=highlight(encoding),
        picture=draw_encoding(encoding),
        alt="density, and log ratio to the mean map",
        tables=_tables(summary, usual_in_words(encoding)),
    )


@dataclass(frozen=True)
class View:
    """A viewer: three slices with a crosshair, in a cell of a notebook or a file.

    Attributes
    ----------
    html : str
        The whole page. It needs no network.
    width : int or str
        Width of the cell, in pixels or percent.
    height : int
        Height of the cell, in pixels.
    """

    html: str
    width: int | str = VIEW_WIDTH
    height: int = VIEW_HEIGHT

    def save_as_html(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the viewer as one file, which opens from disk.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether to replace a file that exists.
        """
        with new_file(path, overwrite=overwrite) as stream:
            stream.write(self.html)

    def _repr_html_(self) -> str:
        # Escaped as the value of an attribute; in a frame of its own, which may only run scripts.
        page = str(Markup.escape(self.html))
        return (
            f'<iframe srcdoc="{page}" width="{self.width}" height="{self.height}" '
            'sandbox="allow-scripts" style="border: 0" title="neurowhere"></iframe>'
        )


def view_encoding(encoding: Encoding, atlas: Atlas | None = None) -> View:
    """Return the viewer of an encoding, as its page has it; `atlas` names places.

    It holds the map and the names of terms, and nothing else of the text.
    """
    atlas = encoding.gazetteer(atlas).atlas
    summary = summarise(encoding, atlas, n_regions=None, n_explained=N_EXPLAINED, with_text=False)
    return View(
        render_page(
            "view.html",
            styles=("viewer.css", "encoding.css", "view.css"),
            script="report",
            heading=title_of_picture(encoding),
            lead=summary.support.summary,
            layer="density" if encoding.is_mean_map else "log_ratio",
            methods=encoding.methods(atlas=name_of(atlas)),
            data=viewer_data(
                encoding, summary.peaks[0].at if summary.peaks else CENTRE, atlas, summary.regions
            ),
        )
    )


def summary_html(summary: Summary) -> str:
    """Return the support, the terms, the places and the studies of a summary as HTML."""
    tables = _tables(summary, "the mean map")
    if summary.similar:
        tables.append(_studies(summary.similar))
    return _fragment(f"Summary: support {summary.support.summary}", tables=tables)


def term_html(term: TermMap) -> str:
    """Return the picture of the map of a term as HTML."""
    shown, unit = shown_term(term)
    picture = draw_map(shown, signed=True, title=term.title, unit=unit)
    return _fragment(repr(term), picture=picture, alt=term.title)


def contrast_html(contrast: Contrast) -> str:
    """Return the picture of a contrast, its terms and its documents as HTML."""
    picture = draw_found(contrast)
    tables = [_of_frame("terms", contrast.terms), _of_frame("documents", contrast.documents)]
    return _fragment(repr(contrast), picture=picture, alt="what is raised", tables=tables)


def decoding_html(found: Decoding) -> str:
    """Return the terms and studies of a place as HTML."""
    tables = [_of_frame("terms", found.terms)]
    if found.studies is not None:
        tables.append(_studies(studies_of(found.studies)))
    return _fragment(repr(found), tables=tables)


def _fragment(
    title: str,
    *,
    tables: Sequence[Table] = (),
    picture: Any = None,
    alt: str = "",
    text: Any = None,
) -> str:
    stream = io.BytesIO()
    if picture is not None:
        write_png(picture, stream)
    return str(
        render(
            "notebook.html",
            style=asset("text.css"),
            title=title,
            text=text,
            picture=stream.getvalue(),
            alt=alt,
            tables=tables,
        )
    )


def _tables(summary: Summary, usual: str) -> list[Table]:
    """Return what an encoding says as tables: terms, regions and peaks."""
    shown = strongest(summary.terms)
    terms = [(row.term, signed(row.contribution), str(row.count)) for row in shown]
    return [
        ("terms", ("term", "contribution", "mentions"), terms),
        _regions(summary.regions, usual),
        (
            "peaks",
            ("peak, mm", "region", "ratio"),
            [(in_mm(row.at), row.name or "", times(row.ratio)) for row in summary.peaks],
        ),
    ]


def _regions(regions: list[Region], usual: str) -> Table:
    rows = [
        (row.name, f"{row.probability:.1%}", f"{row.excess:+.1%}", times(row.ratio))
        for row in regions
    ]
    label = "regions" if not regions else order_in_words(regions, usual=usual)
    return label, ("region", "probability", f"over {usual}", "ratio"), rows


def _studies(studies: list[Study]) -> Table:
    rows = [(study.title or "", study.id, f"{study.similarity:.2f}") for study in studies[:N_ROWS]]
    return "similar studies", ("study", "id", "similarity"), rows


def _of_frame(label: str, frame: Any) -> Table:
    rows = [tuple(map(_cell, row)) for row in frame.head(N_ROWS).itertuples(index=False)]
    return label, [str(name) for name in frame.columns], rows


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.3g}"
    return "" if value is None else str(value)
