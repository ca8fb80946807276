"""Cues: the phrases by which a text denies something, read from ``cues.csv``.

A row has the kind of its phrases, whether they deny places alone, and their words, with
alternatives in braces. What a kind denies is told where it is read (`predicates`, `negators`).
"""

import re
from itertools import product
from typing import Literal, get_args

from neurowhere._tools.files import shipped_table
from neurowhere.text.clinical.reading import Phrases

Kind = Literal[
    "no",
    "without",
    "not",
    "verb",
    "removed",
    "adjective",
    "usual",
    "state",
    "absent",
    "vain",
    "except",
    "idle",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


def read_cues() -> tuple[Phrases[Kind], frozenset[str]]:
    """Read the phrases of ``cues.csv`` by their kind, and those that deny places alone."""
    phrases: dict[Kind, list[str]] = {kind: [] for kind in KINDS}
    of_places: list[str] = []
    for row in shipped_table(__package__, "cues.csv"):
        kind = next(kind for kind in KINDS if kind == row["kind"])
        phrases[kind] += alternatives(row["words"])
        of_places += alternatives(row["words"]) if row["only"] == "places" else []
    cues = Phrases({kind: "; ".join(some) for kind, some in phrases.items()})
    return cues, frozenset(of_places)


def alternatives(words: str) -> list[str]:
    """Spell out the phrases that a row stands for.

    >>> alternatives("{free|clear} of"), alternatives("spar{ed|ing}")
    (['free of', 'clear of'], ['spared', 'sparing'])
    """
    parts = [part.split("|") for part in re.split(r"[{}]", words)]
    return [" ".join("".join(choice).split()) for choice in product(*parts)]


CUES, OF_PLACES_ONLY = read_cues()
