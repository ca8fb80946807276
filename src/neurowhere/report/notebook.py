"""Notebook: an encoding as a fragment of HTML, as Jupyter shows it."""

import base64
import html
import io
from typing import Any

from neurowhere.model.encoding import Encoding
from neurowhere.report.highlight import highlight
from neurowhere.report.maps import draw_encoding, write_png
from neurowhere.report.page import asset

N_ROWS = 10  # of each table


def encoding_html(encoding: Encoding) -> str:
    """Text with its marks, picture, terms and peaks."""
    picture = _image(draw_encoding(encoding), "density, and log ratio to the mean map")
    tables = [encoding.terms.drop(columns="where"), encoding.peaks]
    rows = "".join(table.head(N_ROWS).to_html(index=False) for table in tables)
    return (
        f"<style>{asset('text.css')}</style><div>"
        f"<p>{html.escape(repr(encoding))}</p>"
        f'<p class="nw-text">{highlight(encoding)}</p>{picture}{rows}</div>'
    )


def _image(figure: Any, alt: str) -> str:
    """Image element that holds the figure itself."""
    stream = io.BytesIO()
    write_png(figure, stream)
    data = base64.b64encode(stream.getvalue()).decode("ascii")
    return f'<img alt="{alt}" src="data:image/png;base64,{data}">'
