"""Page: templates of HTML filled in, with style, script and pictures inside, fetching nothing.

Templates are in ``templates/``, style sheets and scripts in ``assets/``. All values are escaped. A
policy in each page forbids the rest: a browser runs no script and applies no style but those whose
hash is in it, and fetches nothing.
"""

import base64
import hashlib
import math
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["asset", "inlined", "render", "render_page"]

MEDIA_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


def render_page(
    template: str, *, styles: tuple[str, ...] = (), script: str = "", **values: Any
) -> str:
    """Fill the template of a whole page, which extends ``page.html``.

    Parameters
    ----------
    template : str
        Name of its file.
    styles : tuple of str
        Names of assets, after the common style sheet.
    script : str
        Name of an asset, run when the page has been read.
    **values
        Values that the template names.

    Returns
    -------
    str
    """
    style = Markup("").join(map(asset, ("page.css", *styles)))
    code = asset(script) if script else Markup("")
    policy = _policy(style, code)
    return str(render(template, style=style, script=code, policy=policy, **values))


def render(template: str, **values: Any) -> Markup:
    """Fill a template; what it is given is escaped, unless it is `Markup` already.

    Parameters
    ----------
    template : str
        Name of its file.
    **values
        Values that the template names.

    Returns
    -------
    Markup
    """
    return Markup(_environment().get_template(template).render(values))


@cache
def asset(name: str) -> Markup:
    """Return the text of a style sheet or script that the package carries."""
    return Markup(files("neurowhere.report").joinpath("assets", name).read_text("utf-8"))


def inlined(picture: Path | bytes, suffix: str = ".png") -> str:
    """Return a picture, or a file of one, as an address that holds it.

    >>> inlined(b"<svg/>", ".svg")
    'data:image/svg+xml;base64,PHN2Zy8+'
    """
    if isinstance(picture, Path):
        return inlined(picture.read_bytes(), picture.suffix)
    data = base64.b64encode(picture).decode("ascii")
    return f"data:{MEDIA_TYPES[suffix]};base64,{data}"


def _policy(style: str, script: str) -> Markup:
    """Return the security policy: this style, this script, pictures in the page, nothing else."""
    scripts = _hash(script) if script else "'none'"
    return Markup(
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("neurowhere.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    environment.filters |= {
        "inlined": inlined,
        "interval": interval,
        "percent_of": percent_of,
        "place": in_mm,
        "signed": signed,
        "times": times,
    }
    return environment


# ---- numbers in words


def in_mm(point: Iterable[float]) -> str:
    """Return a point in whole millimetres.

    >>> in_mm((-38.0, 18.2, 4.0))
    '−38, 18, 4'
    """
    return ", ".join(f"{mm:.0f}" for mm in point).replace("-", "−")


def percent_of(value: float, highest: float) -> str:
    """Return how long the bar of a number is, in percent of the longest one.

    >>> percent_of(-1.0, 3.0), percent_of(0.0, 0.0)
    ('33.3', '0.0')
    """
    width = 100 * abs(value) / highest if highest and not math.isnan(value) else 0
    return f"{width:.1f}"


def times(ratio: float | None) -> str:
    """Return a ratio as a factor, or nothing where there is none.

    >>> times(8.39), times(float("nan")), times(None)
    ('× 8.4', '', '')
    """
    return "" if ratio is None or math.isnan(ratio) else f"× {digits(ratio)}"


def interval(bounds: tuple[float, float]) -> str:
    """Return an interval in words, or nothing where there is none.

    >>> interval((1.2, 1.875)), interval((float("nan"), float("nan")))
    ('1.20 to 1.88', '')
    """
    low, high = bounds
    return "" if math.isnan(low) else f"{low:.2f} to {high:.2f}"


def signed(value: float) -> str:
    """Return a number with its sign.

    >>> signed(0.5), signed(-12.3)
    ('+0.50', '−12')
    """
    return ("+" if value >= 0 else "−") + digits(abs(value))


def digits(value: float) -> str:
    """Return two digits of a number, or as many as stand before the point.

    >>> [digits(value) for value in (0.3, 4.0, 9.54, 10.2, 123.4, 0.0000123)]
    ['0.30', '4.0', '9.5', '10', '123', '1.2e-05']
    """
    return f"{value:.0f}" if value >= 10 else f"{value:#.2g}"
