"""Cells: what the tables of a text say of the names in them.

"Hippocampus | atrophic | normal" under "Region | Right | Left" is about the right hippocampus. A
structure is denied if all cells of its row deny it; else its sides are those of the cells that do
not. A column has the side that heads it, a cell the one that it begins with ("R: atrophic"), and a
row the one that a cell consists of. Structures may head columns as well. A cell may be a sign: "+"
affirms, and "-" denies.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat, zip_longest
from typing import NamedTuple

from neurowhere.text.reading.document import Document, Span, Table
from neurowhere.text.reading.sides import Attached, SideReader
from neurowhere.text.reading.tags import Tag, row_of_sign

PLUS = re.compile(r"\(?[+✓✔]+\)?|\+/-|±")
MINUS = re.compile(r"\(?[-−–—✗✘]+\)?|0|N|[nN]/?[aA]")
TURNS = frozenset(["but", "except", "with"])  # before another finding of a cell


class Cell(NamedTuple):
    """Tokens of a cell, and its text: a sign is no token."""

    tokens: range
    text: str

    @property
    def is_sign(self) -> bool:
        """Whether a cell says something, and not in words."""
        return not self.tokens and bool(PLUS.fullmatch(self.text) or MINUS.fullmatch(self.text))


EMPTY = Cell(range(0), "")
Values = list[tuple[Attached | None, Tag | None]]  # side of each cell, and what denies it


@dataclass
class Tabled:
    """Sides of structures and of limbs, denials, and names that do no more than head columns."""

    sides: dict[int, Attached] = field(default_factory=dict)
    limbs: dict[int, Attached] = field(default_factory=dict)
    denied: dict[int, Tag] = field(default_factory=dict)
    heads: set[int] = field(default_factory=set)


def read_cells(document: Document, cues: Sequence[Tag]) -> Tabled:
    """Return what the tables of a text say of its names."""
    found = Tabled()
    if document.tables:
        reader = CellReader(document, cues, found)
        for table in document.tables:
            reader.read(table)
    return found


class CellReader:
    """Reads a text cell by cell."""

    def __init__(self, document: Document, cues: Sequence[Tag], found: Tabled) -> None:
        self.document, self.found = document, found
        self.names = SideReader(document, ())
        self.cues = {t.first: t for t in cues if not t.is_open and t.direction != "idle"}

    def read(self, table: Table) -> None:
        """Read the rows of a table, or its columns."""
        rows = [[self.cell(span) for span in row] for row in table]
        columns = list(map(list, zip_longest(*rows, fillvalue=EMPTY)))
        if self.heads_columns(rows[0], columns[0]):
            rows = columns
        header = self.header(rows[0])
        if any(header):
            self.found.heads.update(*(self.named(cell) for cell in rows[0] if self.side(cell)))
            rows = rows[1:]
        for row in rows:
            lacking = len(row) - len(header)  # nothing may stand above the names
            self.read_row(row, [*repeat(None, max(lacking, 0)), *header])

    def cell(self, span: Span) -> Cell:
        """Return the cell at a place of the text."""
        tokens = range(*(bisect_left(self.document.starts, at) for at in span))
        return Cell(tokens, self.document.text[slice(*span)].strip())

    def heads_columns(self, row: Sequence[Cell], column: Sequence[Cell]) -> bool:
        """Whether structures are in the first row of a table rather than in its first column."""
        n_places = sum(1 for cell in row[1:] if self.places(cell))
        is_sided = not self.side(column[0]) and any(map(self.side, column))
        is_many = n_places > 1 and len(column) > 1
        return not any(map(self.places, column)) and (is_many or (is_sided and n_places > 0))

    def header(self, cells: Sequence[Cell]) -> list[Attached | None]:
        """Sides of the cells of a header, none if it names structures."""
        if any(map(self.places, cells)):
            return [None for _ in cells]
        sides = [self.begun(cell) for cell in cells]  # "Left volume | Right volume"
        is_pair = {"left", "right"} <= {side.side for side in sides if side}
        # "Right hemisphere | normal" is no header.
        return sides if is_pair else [None if self.named(c) else self.side(c) for c in cells]

    def read_row(self, row: Sequence[Cell], sides: list[Attached | None]) -> None:
        """Read what a row says of the names in it."""
        subject = self.subject(row, sides)
        if not row[subject].tokens:
            return
        whole = next(filter(None, map(self.side, row)), None)
        values = []
        for i in self.values(row, subject):
            side = self.begun(row[i]) or sides[i] or whole
            values.append((side, self.denial(row[i], row[subject])))
            if side and i != subject:
                self.found.sides.update(dict.fromkeys(self.places(row[i]), side))
        self.give(self.named(row[subject]), [value for value in values if value[0]] or values)

    def values(self, row: Sequence[Cell], subject: int) -> list[int]:
        """Return the cells that say something of the subject: after it, or else before it."""
        telling = self.telling(row)
        signs = [i for i, cell in enumerate(row) if cell.is_sign]
        after = sorted(i for i in {*telling, *signs} if i > subject)
        return after or [i for i in telling if i < subject] or telling

    def telling(self, row: Sequence[Cell]) -> list[int]:
        """Return the cells of a row that say more than a side."""
        return [i for i, cell in enumerate(row) if cell.tokens and not self.side(cell)]

    def give(self, names: list[int], values: Values) -> None:
        """Give names the sides of the cells that affirm them, or the denial of all."""
        kept = [value for value in values if not value[1]] or values
        if kept and (denial := kept[0][1]):
            self.found.denied |= dict.fromkeys(names, denial)
        sides = [side for side, _ in kept if side]
        for number in names if sides else ():
            self.give_side(number, sides)

    def give_side(self, number: int, sides: list[Attached]) -> None:
        """Give a structure or a limb the sides of its row."""
        is_one = len({side.side for side in sides}) == 1
        side = sides[0] if is_one else sides[0]._replace(side="bilateral")
        side = side._replace(row="sides:cell")
        if self.document.names[number].is_structure:
            self.found.sides[number] = side
        elif self.names.is_limb(number):
            self.found.limbs[number] = side

    def subject(self, row: Sequence[Cell], sides: list[Attached | None]) -> int:
        """Cell that a row is about: the first with a structure, or else with anything."""
        cells = self.telling(row)
        places = [i for i in cells if self.places(row[i]) and not sides[i]]
        halves = [i for i, cell in enumerate(row) if self.side(cell) and self.named(cell)]
        return [*places, *halves, *cells, 0][0]

    # ---- a cell

    def side(self, cell: Cell) -> Attached | None:
        """Side that a cell consists of: "Left", "R", "right hemisphere"."""
        tokens, kinds = cell.tokens, self.document.kinds
        is_half = len(tokens) == 2 and "whole" in kinds[tokens[1]]
        return self.first_side(cell) if len(tokens) == 1 or is_half else None

    def begun(self, cell: Cell) -> Attached | None:
        """Side that a cell begins with, if it is not that of a place: "R: atrophic"."""
        return None if self.places(cell) else self.first_side(cell)

    def first_side(self, cell: Cell) -> Attached | None:
        """Side that is the first word of a cell."""
        side = self.document.side_at(cell.tokens[0]) if cell.tokens else None
        return Attached(side, cell.tokens[0], cell.tokens[0] + 1) if side else None

    def denial(self, cell: Cell, subject: Cell) -> Tag | None:
        """Cue that denies all that a cell says: "no lesion, no edema", not "normal but small"."""
        if MINUS.fullmatch(cell.text):
            tokens = cell.tokens or subject.tokens
            return Tag(tokens[0], tokens[-1] + 1, row_of_sign("−"))
        denials: list[Tag | None] = [None]
        for i in cell.tokens:
            is_next = "," in self.document.gaps[i] or self.document.words[i] in TURNS
            if i > cell.tokens[0] and is_next:
                denials.append(None)
            denials[-1] = denials[-1] or self.cues.get(i)
        return denials[0] if all(denials) else None

    def named(self, cell: Cell) -> list[int]:
        """Return the names of a cell."""
        begins = self.document.begins
        return [begins[i] for i in cell.tokens if i in begins]

    def places(self, cell: Cell) -> list[int]:
        """Return the structures of a cell, and not the half of the brain."""
        if self.side(cell):
            return []
        return [n for n in self.named(cell) if self.document.names[n].is_structure]
