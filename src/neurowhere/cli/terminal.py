"""Print the summary of an encoding as lines, and draw its map with characters."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rich.console import Console

    from neurowhere.model.encoding import Encoding, RegionOrder
    from neurowhere.model.schema import Mention, Rule, Span, Study, Summary, Term, UnappliedSide

# Rows on the terminal; JSON and the folder have more.
N_PEAKS, N_TERMS, N_STUDIES, N_UNKNOWN = 5, 15, 5, 8
MIN_WIDTH = 24  # characters of the first column
CELL_MM = 6.0  # edge of the square that half a character shows
LOW_MM, HIGH_MM = np.array([-78.0, -112.0, -64.0]), np.array([78.0, 80.0, 86.0])
BRAIN, HOT = np.array([52.0, 54.0, 62.0]), np.array([255.0, 176.0, 32.0])
UPPER_HALF = "▀"
EXCESS = {"the mean map": "excess"}  # name of the column, by what is subtracted
# Roles of the places of a report, and what they are called.
SHOWN_ROLES = {
    "seat": "seat",
    "extension": "extends",
    "satellite": "satellite",
    "edema": "oedema",
    "landmark": "near",
    "pressed": "pressed",
    "level": "level",
    "old": "old",
    "spared": "normal",
}
COUNTED = ("affirmed", "hedged")
NEXT_WORD = re.compile(r"\W{0,2}\w*")
# Axes that go right and up in a slice, and the one that it cuts: axial, coronal, sagittal.
VIEWS = ((0, 1, 2), (0, 2, 1), (1, 2, 0))


def lines(
    summary: "Summary",
    text: str,
    *,
    sort: "RegionOrder" = "excess",
    usual: str = "the mean map",
    with_places: bool = True,
) -> Iterator[str]:
    """Yield what a summary says, line by line.

    The text is quoted where the summary says where its words are. `usual` is what the excess of the
    regions is over. Without `with_places`, regions, peaks and studies are left out.
    """
    for contradiction in summary.contradictions:
        yield f"WARNING    the report contradicts itself: {contradiction}"
    yield from (f"{label:11}{words}" for label, words in _said(summary, text) if words)
    if with_places:
        from neurowhere.model.regions import order_in_words

        excess = EXCESS.get(usual, "difference")
        yield from _places(summary, order_in_words(summary.regions, sort, usual), excess)


def _said(summary: "Summary", text: str) -> Iterator[tuple[str, str]]:
    """Yield what was read, each with its label; nothing is said where there are no words."""
    mentions = summary.mentions
    if summary.kind == "report":
        yield "read as", f"report ({_first(summary.kind_signs)})"
        yield from ((role, _first(places)) for role, places in _by_role(summary).items())
    yield "known", _terms([term for term in summary.terms if not term.implied])
    rules = _once(map(_rule, filter(_is_applied, summary.rules)))
    yield "implied", f"{_first(rules, '; ')} (by rule)" * bool(rules)
    yield "sides", _first(_sides(mentions))
    yield "left open", _first(_with_status(mentions, "hedged", text))
    ignored = (_with_status(mentions, status, text) for status in ("denied", "not_finding"))
    yield "ignored", _first([*chain(*ignored), *_unapplied(summary.unapplied_sides, text)])
    misspelt = filter(attrgetter("misspelt"), mentions)
    yield "misspelt", _first(_once(_as_read(mention, text) for mention in misspelt))
    yield "unknown", _unknown(summary)
    yield "support", summary.support.summary


def _by_role(summary: "Summary") -> dict[str, list[str]]:
    """Return the places of the findings of a report by their roles, each once, seats first."""
    found: dict[str, dict[str, None]] = {}
    for finding in summary.findings:
        size = f", {finding.size_mm:g} mm" if finding.size_mm else ""
        for place in finding.places:
            words = f"{place.side} " * bool(place.side) + place.name
            outside = "; outside the tissue" if place.depth == "surface" else ""
            if place.role == "seat" and finding.kind:
                words += f" ({finding.kind.lower()}{size}{outside})"
            found.setdefault(place.role, {})[words] = None
    shown = [role for role in SHOWN_ROLES if role in found]
    return {SHOWN_ROLES[role]: list(found[role]) for role in shown}


def _places(summary: "Summary", order: str, excess: str) -> Iterator[str]:
    """Yield regions, peaks and studies."""
    width = max([MIN_WIDTH, *(len(region.name) + 1 for region in summary.regions)])
    yield ""
    yield order
    yield f"{'region':{width}}{'probability':>12}{excess:>12}{'to the mean map':>17}"
    for region in summary.regions:
        numbers = f"{region.probability:12.1%}{region.excess:+12.1%}"
        yield f"{region.name:{width}}{numbers}{_times(region.ratio):>17}"
    yield ""
    yield f"{'peak':{width}}{'per cm³':>12}{'to the mean map':>17}"
    for peak in summary.peaks[:N_PEAKS]:
        place = ", ".join(f"{mm:.0f}" for mm in peak.at) + " mm"
        yield f"{place:{width}}{peak.density * 1000:12.1%}{_times(peak.ratio):>17}"
    if summary.similar:
        yield ""
        yield "closest studies"
        yield from map(study_line, summary.similar[:N_STUDIES])


def study_line(study: "Study") -> str:
    """Return a study in a line: its title, if it is known, and where to find it."""
    return "  ".join(filter(None, [study.title, study.link or study.id]))


def _terms(terms: "list[Term]") -> str:
    names = (f"{'− ' * (t.weight < 0)}{t.term}{f' ({t.count}×)' * (t.count > 1)}" for t in terms)
    return _first(list(names)) or "no term"


def _first(names: list[str], separator: str = ", ") -> str:
    """Join the first names of a list, and say how many more there are."""
    more = len(names) - N_TERMS
    return separator.join(names[:N_TERMS]) + (f" and {more} more" if more > 0 else "")


def _sides(mentions: "list[Mention]") -> list[str]:
    """Return the sides that were applied, each structure once."""
    counted = (mention for mention in mentions if mention.status in COUNTED)
    sided = (mention for mention in counted if mention.side not in (None, mention.term))
    return _once(f"{mention.term} ({mention.side}{_note_on_side(mention)})" for mention in sided)


def _note_on_side(mention: "Mention") -> str:
    if mention.side_dominant:
        return f", more on the {mention.side_dominant}"
    return ", crossed" * mention.side_crossed


def _with_status(mentions: "list[Mention]", status: str, text: str) -> list[str]:
    """Return the terms with a status, and the words that give it, each once."""
    found = (mention for mention in mentions if mention.status == status)
    return _once(f"{mention.term} ({_why(mention, text)})" for mention in found)


def _why(mention: "Mention", text: str) -> str:
    if mention.status == "not_finding":
        return f"in the section {mention.section}"
    if mention.status == "denied":
        return f"negated{_quoted(text, mention.negation_where)}"
    return f"hedged{_quoted(text, mention.hedge_where)}"


def _unknown(summary: "Summary") -> str:
    words = [
        f"{each.word} (did you mean {' or '.join(each.suggestions)}?)"
        if each.suggestions
        else each.word
        for each in summary.unknown[:N_UNKNOWN]
    ]
    more = summary.support.unknown - N_UNKNOWN
    return ", ".join(words) + (f" and {more} more" if more > 0 else "")


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _is_applied(rule: "Rule") -> bool:
    return rule.applied and bool(rule.structures)


def _rule(rule: "Rule") -> str:
    structures = ", ".join(
        f"{each.side} {each.term}" if each.side else each.term for each in rule.structures
    )
    return f"{rule.name} → {structures}"


def _unapplied(sides: "list[UnappliedSide]", text: str) -> Iterable[str]:
    """Yield the sides of places outside the brain, each with the word after it."""
    for side in sides:
        words = str(side.side)
        if side.where is not None:
            after = NEXT_WORD.match(text, side.where[1])
            words = text[side.where[0] : after.end() if after else side.where[1]]
        yield f"“{words}” (a side, but of no place in the brain)"


def _quoted(text: str, where: "Span | None") -> str:
    return "" if where is None else f": “{text[slice(*where)]}”"


def _as_read(mention: "Mention", text: str) -> str:
    """Return what is misspelt as it was read, and as it stands in the text, with its own side."""
    side, where = None if mention.side_inherited else mention.side_where, mention.where
    if side and where:
        where = min(where[0], side[0]), max(where[1], side[1])
    return f"{mention.side} " * bool(side) + f"{mention.term}{_quoted(text, where)}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}×"


def draw(encoding: "Encoding", console: "Console") -> None:
    """Draw the density in axial, coronal and sagittal slices through its highest peak.

    Left is left. A narrow terminal gets as many slices as fit.
    """
    from rich.text import Text

    if encoding.peaks.empty:
        return
    place = encoding.peaks.loc[0, ["x", "y", "z"]].to_numpy(np.float64)
    slices = [_slice(encoding, place, view) for view in VIEWS]
    while len(slices) > 1 and sum(image.shape[1] + 2 for image in slices) > console.width:
        slices.pop()
    tall = max(len(image) + len(image) % 2 for image in slices)
    padded = [np.pad(image, ((0, tall - len(image)), (0, 2), (0, 0))) for image in slices]
    pixels = np.concatenate(padded, axis=1).astype(int).tolist()  # (height, width, rgb)
    for above, below in zip(pixels[::2], pixels[1::2], strict=True):
        cells = zip(above, below, strict=True)
        console.print(Text.assemble(*(_cell(top, bottom) for top, bottom in cells)))


def _cell(top: list[int], bottom: list[int]) -> tuple[str, str]:
    """Return a character that shows two colours, one above the other, and its style."""
    if not any(top + bottom):
        return " ", ""
    return UPPER_HALF, f"{_colour(top)} on {_colour(bottom)}"


def _slice(
    encoding: "Encoding", place: NDArray[np.float64], view: tuple[int, int, int]
) -> NDArray[np.float64]:
    """Return the colours of a slice (height, width, 3), from the top; black outside the brain."""
    right, up, through = view
    columns = np.arange(LOW_MM[right], HIGH_MM[right], CELL_MM)
    rows = np.arange(LOW_MM[up], HIGH_MM[up], CELL_MM)[::-1]
    points = np.empty((len(rows), len(columns), 3))
    points[..., right], points[..., up] = columns, rows[:, None]
    points[..., through] = place[through]
    region = encoding.partition.region_of(points.reshape(-1, 3)).reshape(points.shape[:2])
    heat = np.sqrt(encoding.density / encoding.density.max())[region][..., None]
    return np.where(region[..., None] >= 0, BRAIN + heat * (HOT - BRAIN), 0.0)


def _colour(rgb: list[int]) -> str:
    red, green, blue = rgb
    return f"#{red:02x}{green:02x}{blue:02x}" if any(rgb) else "default"
