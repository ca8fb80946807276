"""Titles of the training studies of the shipped model, read when one is first asked for."""

import gzip
from functools import cache
from pathlib import Path

TITLES = Path(__file__).parents[1] / "data" / "titles.tsv.gz"  # id, tab, title


def title_of(study: str) -> str | None:
    """Return the title of a study, None if it is not known.

    >>> title_of("9405692")
    'Role of left inferior prefrontal cortex in retrieval of semantic knowledge: A reevaluation'
    """
    return _titles().get(study)


@cache
def _titles() -> dict[str, str]:
    lines = gzip.decompress(TITLES.read_bytes()).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)
