"""One self-contained page of HTML: style, script and pictures inside, nothing from a network.

A policy in the page itself forbids all else: a browser runs no script and applies no style but
those whose hash is in it, and fetches nothing.
"""

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from pathlib import Path

_MEDIA_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


@cache
def asset(name: str) -> str:
    """Text of a style sheet or script that the package carries."""
    return files("neurowhere.report").joinpath("assets", name).read_text("utf-8")


def page(title: str, lead: str, *parts: str, styles: tuple[str, ...] = (), script: str = "") -> str:
    """Put parts of HTML on a page.

    Parameters
    ----------
    title, lead : str
        Plain text.
    *parts : str
        HTML.
    styles : tuple of str
        Names of assets, after the common style sheet.
    script : str
        Name of an asset, run when the page has been read.
    """
    name = html.escape(title)
    style = "".join(map(asset, ("page.css", *styles)))
    code = asset(script) if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, code)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{name}</title><style>{style}</style></head><body>\n"
        f'<header><h1>{name}</h1>\n<p class="lead">{html.escape(lead)}</p></header>\n<main>'
        + "\n".join(parts)
        + f"\n</main>{f'<script>{code}</script>' if code else ''}</body></html>\n"
    )


def _policy(style: str, script: str) -> str:
    """Content security policy: this style, this script, pictures in the page, and nothing else."""
    scripts = _hash(script) if script else "'none'"
    return (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def section(title: str, *parts: str, classes: str = "") -> str:
    """Put parts of HTML under a heading, which is plain text."""
    opening = _opening("section", classes)
    return f"{opening}<h2>{html.escape(title)}</h2>\n" + "\n".join(parts) + "</section>"


def paragraph(text: str, classes: str = "") -> str:
    """Make a paragraph of plain text."""
    return f"{_opening('p', classes)}{html.escape(text)}</p>"


def picture(path: Path, caption: str, classes: str = "") -> str:
    """Put a picture file into the page, with a caption in plain text."""
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    source = f"data:{_MEDIA_TYPES[path.suffix]};base64,{data}"
    text = html.escape(caption)
    opening = _opening("figure", classes)
    return f'{opening}<img alt="{text}" src="{source}"><figcaption>{text}</figcaption></figure>'


def _opening(tag: str, classes: str) -> str:
    return f'<{tag} class="{classes}">' if classes else f"<{tag}>"
