"""Cells: where the tables of a text are, and the cells of their rows.

A row is a line with "|" or tabs between its cells. Runs of spaces part cells too, in the lines
under a header that ends with two sides: "Region   Right   Left".
"""

import re

Span = tuple[int, int]
Table = list[list[Span]]  # cells of each row, as spans of the text

_LINE = re.compile(r"[^\n]+")
_SIDE = r"(?:right|left|rt|lt|r|l)\b\.?(?: side| hemisphere)?"
_HEADER_WITH_SIDES = re.compile(rf"(?:.*  )? *{_SIDE}  +{_SIDE} *\r?", re.IGNORECASE)
_BAR, _TAB, _SPACES = (re.compile(separator) for separator in (r"\|", r"\t+", r" {2,}"))
_WORD = re.compile(r"\w")


def find_tables(text: str) -> list[Table]:
    r"""Find the tables of a text; lines without a word, which rule off a header, are left out.

    >>> find_tables("Seen:\n| Pons | normal |\n|---|---|\n| Insula | |")
    [[[(8, 13), (14, 21)], [(36, 42)]]]
    >>> find_tables("       Right  Left\nInsula small  normal")[0][0]
    [(7, 12), (14, 18)]
    """
    if not ("|" in text or "\t" in text or "  " in text):
        return []
    tables: list[Table] = []
    current, rows = None, list[list[Span]]()
    for line in _LINE.finditer(text):
        separator = _separator(line[0], current)
        if separator is not current:
            current, rows = separator, []
            tables.append(rows)
        if separator and _WORD.search(line[0]):
            rows.append(_cells(line, separator))
    return [rows for rows in tables if rows]


def _separator(line: str, current: re.Pattern[str] | None) -> re.Pattern[str] | None:
    """Return what parts the cells of a line, if it is a row; `current` is of the line before."""
    if "|" in line:
        return _BAR
    if "\t" in line.strip():
        return _TAB
    is_row = current is _SPACES and _SPACES.search(line.strip())
    return _SPACES if is_row or _HEADER_WITH_SIDES.fullmatch(line) else None


def _cells(line: re.Match[str], separator: re.Pattern[str]) -> list[Span]:
    """Cells of a row; bars and spaces around it part nothing, a tab before it does."""
    around = "| \r" if separator is _BAR else " \r"
    start = line.end() - len(line[0].lstrip(around))
    end = line.start() + len(line[0].rstrip(around))
    parts = [found.span() for found in separator.finditer(line.string, start, end)]
    bounds = [start, *(bound for part in parts for bound in part), end]
    return list(zip(bounds[::2], bounds[1::2], strict=True))
