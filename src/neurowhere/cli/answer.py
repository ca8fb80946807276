"""Answer: what an encoding says, as plain data first, then as lines for a terminal."""

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from neurowhere.model.encoding import Encoding
    from neurowhere.space import Atlas

N_REGIONS = 10
N_PEAKS = 5
N_TERMS = 15  # on the terminal; all are in the folder and in JSON
N_STUDIES = 5
DIGITS = 4  # that are significant
NEXT_WORD = re.compile(r"[ -]?\w*")  # what a side belongs to, most often

Answer = dict[str, Any]


def summarise(encoding: "Encoding", atlas: "Atlas", *, with_text: bool = True) -> Answer:
    """Say what a text was found to be about, as plain data."""
    support = encoding.support
    return {
        "support": {
            "level": support.level,
            "terms": support.terms,
            "words": support.words,
            "nats": _short(support.nats),
            "summary": str(support),
        },
        "terms": _rows(encoding.terms.drop(columns="where")),
        "sides": _sides(encoding),
        "ignored": _ignored(encoding, with_text=with_text),
        "regions": _rows(encoding.regions(atlas).head(N_REGIONS)),
        "peaks": _rows(encoding.peaks),
        "similar": [] if encoding.similar is None else _rows(encoding.similar),
    }


def lines(answer: Answer) -> Iterable[str]:
    """Say the same on a terminal, line by line."""
    yield f"known      {_terms(answer['terms'])}"
    if answer["sides"]:
        yield f"sides      {', '.join(_side(row) for row in answer['sides'])}"
    if answer["ignored"]:
        yield f"ignored    {', '.join(_ignored_words(row) for row in answer['ignored'])}"
    yield f"support    {answer['support']['summary']}"
    yield ""
    yield f"{'region':24}{'probability':>12}{'to the mean map':>17}"
    for row in answer["regions"]:
        yield f"{row['region']:24}{row['probability']:12.1%}{_times(row['ratio']):>17}"
    yield ""
    yield f"{'peak':24}{'per cm³':>12}{'to the mean map':>17}"
    for row in answer["peaks"][:N_PEAKS]:
        place = ", ".join(f"{row[axis]:.0f}" for axis in "xyz") + " mm"
        yield f"{place:24}{row['density'] * 1000:12.1%}{_times(row['ratio']):>17}"
    if answer["similar"]:
        yield ""
        links = (row["link"] or row["id"] for row in answer["similar"][:N_STUDIES])
        yield f"closest studies: {' '.join(links)}"


def _sides(encoding: "Encoding") -> list[Answer]:
    read = sorted({*encoding.mentions.present, *encoding.mentions.places}, key=lambda m: m.start)
    pairs = [
        (mention.term, mention.side) for mention in read if mention.side not in (None, mention.term)
    ]
    return [{"term": term, "side": side} for term, side in dict.fromkeys(pairs)]


def _ignored(encoding: "Encoding", *, with_text: bool) -> list[Answer]:
    """Terms that the text denies, and sides that are not those of a place in the brain."""
    text = encoding.text
    rows: list[Answer] = []
    for mention in encoding.mentions:
        if mention.negation_span:
            words = {"words": text[slice(*mention.negation_span)]} if with_text else {}
            rows.append({"why": "negated", "term": mention.term, **words})
    for mark in encoding.mentions.unapplied:
        after = NEXT_WORD.match(text, mark.end)
        end = after.end() if after else mark.end
        words = {"words": text[mark.start : end]} if with_text else {}
        rows.append({"why": "side of no place in the brain", "side": mark.side, **words})
    return rows


def _terms(rows: list[Answer]) -> str:
    shown = ", ".join(
        "− " * (row["weight"] < 0) + row["term"] + f" ({row['count']}×)" * (row["count"] > 1)
        for row in rows[:N_TERMS]
    )
    more = len(rows) - N_TERMS
    return f"{shown} and {more} more" if more > 0 else shown or "no term"


def _side(row: Answer) -> str:
    return f"{row['term']} ({row['side']})"


def _ignored_words(row: Answer) -> str:
    if "term" in row:
        cue = f": “{row['words']}”" if "words" in row else ""
        return f"{row['term']} (negated{cue})"
    return f"“{row.get('words', row['side'])}” (a side, but of no place in the brain)"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}×"


def _rows(table: "pd.DataFrame") -> list[Answer]:
    return [
        {str(name): _short(value) for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _short(value: Any) -> Any:
    """Cut a number to few digits; what is not finite is missing."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
