"""JSON lines: one record per line, with or without coordinates; plain, gz or xz; in shards."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import open_text
from neurowhere.corpus.documents import SECTIONS, XYZ, Document, filled, no_peaks, parse_space
from neurowhere.corpus.readers.files import Skipped, find_shards, iter_shards

NAME = "jsonl"
SUFFIXES = (".jsonl", ".ndjson")

TEXT_KEYS = (*SECTIONS, "text")
PEAK_KEYS = ("coords", "coordinates", "peaks")
# Identifiers in the order of preference; PubMed Central's get their prefix, so that they cannot
# be taken for PubMed's.
ID_KEYS = ("id", "pmid", "pmcid", "sid", "doi")

# A section counts as part of the whole text if most of its runs of five words are in it.
RUN_LENGTH = 5
MIN_SHARE_OF_RUNS = 0.5
WORD = re.compile(r"\w+")


def detects(path: Path) -> bool:
    """Return whether the file, or a file of the folder, is named as JSON lines."""
    return bool(find_shards(path, SUFFIXES))


def iter_documents(
    path: Path, *, column: str | None = None, skipped: Skipped | None = None
) -> Iterator[Document]:
    """Yield the documents of a file or of a folder of shards; bad lines are skipped and reported.

    `column` is the key of the whole text; other texts are then ignored.
    """
    yield from iter_shards(path, SUFFIXES, partial(_read_lines, column=column), skipped)


def _read_lines(path: Path, skipped: Skipped, column: str | None) -> Iterator[Document]:
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            try:
                record = json.loads(line)
                if column is not None:
                    record = only_text(record, column)
                document = document_from_record(record, fallback_id=place)
            except (ValueError, RecursionError) as error:
                skipped.add(place, error)
            else:
                yield document


def document_from_record(record: Mapping[str, Any], fallback_id: str) -> Document:
    """Make a document of a record, or raise a ValueError if it has neither text nor peaks.

    Texts are under `TEXT_KEYS`, where "text" is the whole document, peaks under one of `PEAK_KEYS`
    as [[x, y, z], ...] or [{"x": ...}, ...], or such a list in a string, then "space", and
    identifiers under `ID_KEYS`. All else is metadata.

    >>> document = document_from_record(
    ...     {"pmid": 7, "title": "Fear", "text": "FEAR. We saw...", "coords": "[[1, 2, 3]]"}, "a:1"
    ... )
    >>> document.id, document.sections, document.peaks.tolist()
    ('7', {'title': 'Fear', 'body': '. We saw...'}, [[1.0, 2.0, 3.0]])
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"expected an object, not a {type(record).__name__}")
    if record.keys().isdisjoint((*TEXT_KEYS, *PEAK_KEYS)):
        raise ValueError(f"no text ({', '.join(TEXT_KEYS)}) and no {PEAK_KEYS[0]}")
    sections = {name: parse_text(record.get(name)) for name in SECTIONS}
    peaks = next(filter(None, map(record.get, PEAK_KEYS)), None)
    named = {key: identifier(key, record.get(key)) for key in ID_KEYS}
    identifiers = filled(named)
    known = {*TEXT_KEYS, *PEAK_KEYS, *ID_KEYS, "space"}
    rest = {key: value for key, value in record.items() if key not in known and _is_plain(value)}
    return Document(
        id=next(iter(identifiers.values()), fallback_id),
        sections=without_repeats(sections, parse_text(record.get("text"))),
        peaks=parse_peaks(peaks),
        space=parse_space(record.get("space")),
        metadata={key: text for key, text in identifiers.items() if key != "id"} | rest,
    )


def only_text(record: Mapping[str, Any], column: str) -> dict[str, Any]:
    """Return a record whose text is that of one column; a ValueError if it has no such column."""
    if not isinstance(record, Mapping) or column not in record:
        raise ValueError(f"no {column}")
    rest = {key: value for key, value in record.items() if key not in (*TEXT_KEYS, column)}
    return {**rest, "text": record[column]}


def without_repeats(sections: Mapping[str, str], whole: str) -> dict[str, str]:
    """Separate the sections of a document from its whole text, if both are given.

    A section that is in the whole text, but for case and punctuation, is cut out of it; one that is
    in it in altered form is left out; what remains of the whole is the body. Where a body is given,
    the whole text is ignored. So no text stands in two sections.
    """
    kept = filled(sections)
    if "body" in kept or not whole:
        return kept
    rest = whole
    for name in sorted(kept, key=lambda name: -len(kept[name])):  # a title may be in the abstract
        words = WORD.findall(kept[name])
        found = _find_words(words, rest)
        if found:
            rest = f"{rest[: found[0]]}\n\n{rest[found[1] :]}"
        elif _share_of_runs(words, rest) > MIN_SHARE_OF_RUNS:
            del kept[name]
    body = rest.strip()
    return {**kept, "body": body} if body else kept


def parse_text(value: object) -> str:
    """Return the text of a field: a string, a list of strings, or None.

    Lone surrogates, which JSON can spell but no file can hold, are replaced.
    """
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "; ".join(value)
    if not isinstance(value, str):
        raise ValueError(f"expected text, not a {type(value).__name__}")
    return value.encode("utf-8", "replace").decode("utf-8").strip()


def parse_peaks(value: object) -> NDArray[np.float64]:
    """Return the coordinates (n, 3) of a field: a list of peaks, or such a list in JSON.

    A peak that is not three numbers is NaN.
    """
    if not value:
        return no_peaks()
    peaks = json.loads(value) if isinstance(value, str) else value
    if not isinstance(peaks, list):
        raise ValueError(f"expected a list of [x, y, z], not a {type(peaks).__name__}")
    try:
        xyz = np.asarray(peaks, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        xyz = no_peaks()
    if xyz.shape == (len(peaks), 3):
        return xyz
    return np.array([parse_peak(peak) for peak in peaks]).reshape(-1, 3)


def parse_peak(peak: object) -> list[float]:
    """Return a peak as three numbers: NaN where it is not that."""
    if isinstance(peak, Mapping):
        peak = [peak.get(axis) for axis in XYZ]
    try:
        x, y, z = (float(value) for value in peak)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        return [np.nan] * 3
    return [x, y, z]


def _is_plain(value: object) -> bool:
    """Return whether a value fits into a table cell: text, a number, or a list of texts."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)


def identifier(key: str, value: object) -> str:
    """Return the identifier under a key as text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return f"PMC{text}" if key == "pmcid" and text.isdecimal() else text


def _find_words(words: list[str], text: str) -> tuple[int, int] | None:
    """Find consecutive words in a text, ignoring case and punctuation."""
    matches = list(WORD.finditer(text))
    plain = _joined(match[0] for match in matches)
    place = plain.find(_joined(words))  # linear time, unlike a regular expression
    if not words or place < 0:
        return None
    first = plain.count(" ", 0, place)
    return matches[first].start(), matches[first + len(words) - 1].end()


def _joined(words: Iterable[str]) -> str:
    return f" {' '.join(words)} ".lower()


def _share_of_runs(words: list[str], text: str) -> float:
    """Return the share of the runs of `RUN_LENGTH` words that are in a text."""
    runs = _runs(words)
    return len(runs & _runs(WORD.findall(text))) / len(runs) if runs else 0.0


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    shifted = [[word.lower() for word in words[start:]] for start in range(RUN_LENGTH)]
    return set(zip(*shifted, strict=False))
