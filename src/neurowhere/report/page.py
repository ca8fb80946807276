"""Page: templates of HTML filled in, with style, script and pictures inside, and text highlighted.

Templates are in ``templates/``, style sheets and scripts in ``assets/``. All values are escaped. A
policy in each page forbids the rest: a browser runs no script and applies no style but those whose
hash is in it, and fetches nothing.
"""

import base64
import hashlib
import math
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from neurowhere.model.encoding import Encoding
from neurowhere.report.bundle import bundle
from neurowhere.text.reading.mentions import Mention, Mentions

MEDIA_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}
ROLE_WORDS = {  # what a place is to a finding; what is spared is marked as negated
    "seat": "seat of",
    "extension": "reached by",
    "satellite": "satellite of",
    "edema": "edema of",
    "pressed": "pressed by",
    "mentioned": "named beside",
    "old": "seat of an old",
    "landmark": "near",
    "level": "level at which is measured",
    "compared": "compared with",
}
N_STRENGTHS = 5  # shades of a hue; `.strength-1` to `.strength-5` of the style sheet
TAGS = ("s", "mark", "u", "span")  # the first one that applies to a part of the text


def render_page(
    template: str, *, styles: tuple[str, ...] = (), script: str = "", **values: Any
) -> str:
    """Fill the template of a whole page, which extends ``page.html``.

    `styles` are assets that follow the common style sheet; `script` is a module, run with all that
    it imports when the page has been read.
    """
    style = Markup("").join(map(asset, ("page.css", *styles)))
    code = _script(script) if script else Markup("")
    policy = _policy(style, code)
    return str(render(template, style=style, script=code, policy=policy, **values))


def render(template: str, **values: Any) -> Markup:
    """Fill a template; what it is given is escaped, unless it is `Markup` already."""
    return Markup(_environment().get_template(template).render(values))


@cache
def asset(name: str) -> Markup:
    """Return the text of a style sheet or script that the package carries."""
    return Markup(files("neurowhere.report").joinpath("assets", name).read_text("utf-8"))


@cache
def _script(name: str) -> Markup:
    folder = files("neurowhere.report") / "assets"
    return Markup(bundle(name, {file.name: file.read_text("utf-8") for file in folder.iterdir()}))


def inlined(picture: Path | bytes, suffix: str = ".png") -> str:
    """Return a picture, or the file of a picture, as a data address.

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
        "capitalised": lambda words: words[:1].upper() + words[1:],
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
    """Return the length of the bar of a number, in percent of the longest bar.

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


# ---- a text, with what its terms, sides and negations did to the map


class Note(NamedTuple):
    """A remark on ``text[start:end]``, and how it is marked."""

    start: int
    end: int
    tag: str
    classes: str
    words: str


class Part(NamedTuple):
    """A part of the text, and the element around it, if any."""

    words: str
    tag: str
    classes: str
    title: str


def highlight(encoding: Encoding) -> Markup:
    """Return the text of an encoding as HTML; all of the text is escaped.

    Terms are ``<mark>``, in the hue of what they did and the strength of how much; what the text
    negates is ``<s>``; sides are ``<u>``. The title of each tells why. Of a very long text, the
    part in which mentions are listed is shown.
    """
    shown = encoding.text[: encoding.listed]
    notes = [*notes_on(encoding.mentions, encoding.terms, encoding.unit), *_roles(encoding)]
    marked = markup(shown, notes)
    if encoding.listed is None:
        return marked
    n_more = len(encoding.text) - len(shown)
    return marked + f"… {n_more:,} more characters were read and are not shown."


def _roles(encoding: Encoding) -> Iterator[Note]:
    """Yield a note with the role of each place in a finding."""
    for finding in encoding.findings:
        for place in finding.places:
            if place.role in ROLE_WORDS:
                words = f"{ROLE_WORDS[place.role]} {finding.kind or 'the finding'}"
                yield Note(*place.span, "span", f"as-{place.role}", words)


def notes_on(mentions: Mentions, terms: pd.DataFrame, unit: str) -> Iterator[Note]:
    """Yield a note on each mention of a term, each side and each negation.

    `terms` has the columns where (in the text) and contribution, in `unit`.
    """
    added = _by_place(terms)
    strongest = max(map(abs, added.values()), default=0.0)
    for mention in mentions:
        if not mention.is_present:
            yield _ignored(mention)
        elif _span(mention) in added:
            yield _term(mention, added[_span(mention)], strongest, unit)
        yield from _cues(mention)
    for place in mentions.places:
        words = f"{place.term}: a place without a term in the model; only its side counts"
        yield Note(*_span(place), "span", "place", words) if place.is_present else _ignored(place)
        yield from _cues(place)
    unnamed = added.keys() - set(map(_span, mentions))
    for rule in (each for each in mentions.rule_based if _span(each) in unnamed):
        yield from _points(rule, _hue(added[_span(rule)], strongest))
    for mark in mentions.unapplied:
        words = f"{mark.side}: of a symptom or of the body, not of the brain; not applied"
        yield Note(mark.start, mark.end, "u", "side unapplied", words)


def _points(rule: Mention, classes: str) -> Iterator[Note]:
    if rule.is_present:
        structures = ", ".join(structure.term for structure in rule.implied)
        yield Note(*_span(rule), "mark", classes, f"points by rule to {structures}")


def _by_place(terms: pd.DataFrame) -> dict[tuple[int, int], float]:
    """Return the contribution of each place in a text, with those of the terms within it."""
    added: dict[tuple[int, int], float] = {}
    for places, contribution in zip(terms["where"], terms["contribution"], strict=True):
        for place in places:
            added[place] = added.get(place, 0.0) + contribution
    return added


def _term(mention: Mention, value: float, strongest: float, unit: str) -> Note:
    spelt = ", misspelt in the text" if mention.is_misspelt else ""
    words = f"{mention.term}{spelt}: {value:+.3g} {unit}"
    return Note(*_span(mention), "mark", _hue(value, strongest), words)


def _hue(value: float, strongest: float) -> str:
    """Return the classes of a mark: direction and strength."""
    direction = "raises" if value >= 0 else "lowers"
    return f"{direction} strength-{strength(value, strongest)}"


def _ignored(mention: Mention) -> Note:
    if mention.section:
        words = f"{mention.term}: in the section {mention.section}, not counted"
        return Note(*_span(mention), "span", "skipped", words)
    return Note(*_span(mention), "s", "denied", f"{mention.term}: negated here, not counted")


def _cues(mention: Mention) -> Iterator[Note]:
    """Yield notes on the words that give a mention its side, and on those that negate it."""
    if mention.side_span:
        crossed = ", which the other hemisphere serves" if mention.is_crossed else ""
        words = f"{mention.side}: side of {mention.term}{crossed}"
        yield Note(*mention.side_span, "u", f"side {mention.side}", words)
    if mention.negation_span:
        yield Note(*mention.negation_span, "span", "denies", f"negates {mention.term}")


def _span(mention: Mention) -> tuple[int, int]:
    return mention.start, mention.end


def strength(value: float, strongest: float) -> int:
    """Return the shade of a value: from 1, hardly any, to `N_STRENGTHS`, the strongest.

    >>> [strength(value, 2.0) for value in (0.0, 0.1, -1.0, 2.0)]
    [1, 1, 3, 5]
    """
    share = abs(value) / strongest if strongest else 0.0
    return 1 + min(int(share * N_STRENGTHS), N_STRENGTHS - 1)


def markup(text: str, notes: Iterable[Note]) -> Markup:
    """Return a text as HTML with notes, which may overlap: it is cut where one begins or ends.

    >>> notes = [Note(0, 5, "s", "denied", "not so"), Note(3, 10, "u", "left", 'a "side"')]
    >>> for part in str(markup("no <3 here", notes)).replace("><", ">|<").split("|"):
    ...     print(part)
    <s class="denied" title="not so">no </s>
    <s class="denied left" title="not so; a &#34;side&#34;">&lt;3</s>
    <u class="left" title="a &#34;side&#34;"> here</u>
    """
    return render("highlight.html", parts=_parts(text, notes))


def _parts(text: str, notes: Iterable[Note]) -> Iterator[Part]:
    starting = sorted(dict.fromkeys(notes), key=lambda note: note.start, reverse=True)
    cuts = sorted({0, len(text), *(cut for note in starting for cut in (note.start, note.end))})
    open_notes: list[Note] = []
    for start, end in pairwise(cuts):
        open_notes = [note for note in open_notes if note.end > start]
        while starting and starting[-1].start == start:
            open_notes.append(starting.pop())
        yield _part(text[start:end], open_notes)


def _part(words: str, notes: list[Note]) -> Part:
    """Return a part of the text as one element with all of its notes."""
    return Part(
        words,
        tag=min((note.tag for note in notes), key=TAGS.index, default=""),
        classes=" ".join(dict.fromkeys(note.classes for note in notes)),
        title="; ".join(dict.fromkeys(note.words for note in notes)),
    )
