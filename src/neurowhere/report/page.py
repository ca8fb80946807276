"""One self-contained page of HTML: no script, no network, pictures inside."""

import base64
import html
from pathlib import Path

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.55 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem;
       color: #1d2733; background: #fff; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
p.lead { color: #55616e; margin-top: 0; }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; height: auto; }
figcaption { color: #55616e; font-size: .92rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #e3e7eb;
         white-space: nowrap; }
th { border-bottom: 2px solid #9aa5b1; }
code { background: #f2f4f6; padding: .1rem .25rem; border-radius: 3px; }
"""

_MEDIA_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


def page(title: str, lead: str, *parts: str) -> str:
    """Put parts of HTML on a page; `title` and `lead` are plain text."""
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{STYLE}</style></head><body>\n"
        f'<h1>{name}</h1>\n<p class="lead">{html.escape(lead)}</p>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def section(title: str, *parts: str) -> str:
    """Put parts of HTML under a heading, which is plain text."""
    return f"<section><h2>{html.escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str) -> str:
    """Make a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def picture(path: Path, caption: str) -> str:
    """Put a picture file into the page, with a caption in plain text."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    source = f"data:{_MEDIA_TYPES[path.suffix]};base64,{data}"
    text = html.escape(caption)
    return f'<figure><img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'
