"""Kinds: whether a text is a report of a patient, or is about a study of many.

A report tells what is wrong in one brain, and where; a study, what many brains do. Words of either
kind are rows of ``kinds.csv``. With r and s the numbers of rows of reports and of studies that a
text has, the gate is

    γ = 1 / (1 + exp(−(r − s − r₀) / w)).
"""

import math
import re
from functools import cache
from typing import Literal, get_args

from neurowhere.text.reading.tables import (
    TEXT,
    Column,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)
from neurowhere.text.words import runs_of

Kind = Literal["report", "study"]
COLUMNS: dict[str, Column] = {"id": TEXT, "words": TEXT, "kind": one_of(" ".join(get_args(Kind)))}
FEWEST, WIDTH = 2.25, 0.3  # r₀, w
LONGEST = 20_000  # characters that are looked at: the beginning tells
_WORD = re.compile(r"[^\W_]+")
_ALPHANUMERIC = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) * 2


@cache
def _trie() -> Trie[tuple[str, str]]:
    return Trie(
        (phrase, (row["kind"], row.id))
        for row in read_table("neurowhere.text", "kinds", COLUMNS)
        for item in split(row["words"])
        for phrase in alternatives(item)
    )


def signs_of_kind(text: str) -> dict[str, list[str]]:
    """Return the rows of reports and those of studies that a text has."""
    words = runs_of(text[:LONGEST].lower(), _ALPHANUMERIC, _WORD)
    found: dict[str, dict[str, None]] = {"report": {}, "study": {}}
    for _, _, (kind, row) in _trie().find(words):
        found[kind][row] = None
    return {kind: list(rows) for kind, rows in found.items()}


def report_gate(text: str) -> float:
    """Return how far a text is a report, γ, from 0 to 1.

    >>> round(report_gate("MRI: 3 cm enhancing mass in the left insula, no midline shift."), 2)
    1.0
    >>> round(report_gate("We scanned healthy participants with fMRI during a task."), 2)
    0.0
    """
    signs = signs_of_kind(text)
    excess = len(signs["report"]) - len(signs["study"]) - FEWEST
    return 1 / (1 + math.exp(-excess / WIDTH))
