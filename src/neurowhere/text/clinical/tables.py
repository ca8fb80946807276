"""Tables: what the rows of a table say of the structures that head them.

"Hippocampus | atrophic | normal" under "Region | Right | Left" is about the right hippocampus. A
structure is denied if all cells of its row deny it; else its sides are those of the cells that do
not. A column has the side that heads it, a cell the one that it begins with ("R: atrophic"), and a
row the one that a cell consists of. Structures may head columns as well. A cell may be a sign: "+"
affirms, and "-" denies. The sides of limbs are sides of the body.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import repeat, zip_longest
from typing import NamedTuple

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import LETTERS, SIDE_WORDS, WHOLES, Attached, is_limb
from neurowhere.text.clinical.reading import Reading, Span, Table, Tokens
from neurowhere.text.words import word_set

TURNS = word_set("but except with")  # before another finding of a cell
HALVES = WHOLES | {"hemi"}
# Cells that affirm and deny; "0" is a score, and "N" stands for normal.
PLUS = re.compile(r"\(?[+✓✔]+\)?|\+/-|±")
MINUS = re.compile(r"\(?[-−–—✗✘]+\)?|0|N|[nN]/?[aA]")


class Cell(NamedTuple):
    """Tokens of a cell, and its text: a sign is no token."""

    tokens: range
    text: str

    @property
    def is_sign(self) -> bool:
        """Whether a cell says something, and not in words."""
        return not self.tokens and bool(PLUS.fullmatch(self.text) or MINUS.fullmatch(self.text))


class Tabled(NamedTuple):
    """What tables say of matches.

    Attributes
    ----------
    sides, limbs : dict
        Sides of structures in the brain, and those of limbs.
    denied : dict
        Tokens that deny a match; those of its own name, if a sign does.
    heads : set of int
        Matches that do no more than head a column: "right hemisphere".
    """

    sides: dict[int, Attached]
    limbs: dict[int, Attached]
    denied: dict[int, Tokens]
    heads: set[int]


class Value(NamedTuple):
    """A cell that says something of a structure, the side that it is about, and what denies."""

    side: Attached | None
    denial: Tokens | None


def read_tables(reading: Reading) -> Tabled:
    """Return what the tables of a text say of its matches."""
    found = Tabled({}, {}, {}, set())
    if reading.tables:
        reader = _TableReader(reading)
        for table in reading.tables:
            reader.read_table(table, found)
    return found


class _TableReader:
    """Reads a text cell by cell."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        found = lexicon.CUES.find(reading)
        self.cues = {first: Tokens(first, last) for first, last, kind in found if kind != "idle"}

    def read_table(self, table: Table, found: Tabled) -> None:
        """Add what the rows of a table, or its columns, say of the names in them."""
        rows = [[self.cell(span) for span in row] for row in table]
        columns = list(map(list, zip_longest(*rows, fillvalue=Cell(range(0), ""))))
        if self.heads_columns(rows[0], columns[0]):
            rows = columns
        header = self.header(rows[0])
        if any(header):
            found.heads.update(*(self.names(cell) for cell in rows[0] if self.side(cell)))
            rows = rows[1:]
        for row in rows:
            lacking = len(row) - len(header)  # nothing may stand above the names
            self.read(row, [*repeat(None, max(lacking, 0)), *header], found)

    def cell(self, span: Span) -> Cell:
        """Return the cell at a place of the text."""
        tokens = range(*(bisect_left(self.reading.bounds[0], at) for at in span))
        return Cell(tokens, self.reading.text[slice(*span)].strip())

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
        return sides if is_pair else [None if self.names(c) else self.side(c) for c in cells]

    def read(self, row: Sequence[Cell], sides: list[Attached | None], found: Tabled) -> None:
        """Add what a row says of the names in it."""
        subject = self.subject(row, sides)
        if not row[subject].tokens:
            return
        cells = [i for i, cell in enumerate(row) if cell.tokens and not self.side(cell)]
        signs = [i for i, cell in enumerate(row) if cell.is_sign]
        after = sorted(i for i in (*cells, *signs) if i > subject)
        before = [i for i in cells if i < subject]
        whole = next(filter(None, map(self.side, row)), None)
        values = []
        for i in after or before or cells:
            side = self.begun(row[i]) or sides[i] or whole
            values.append(Value(side, self.denial(row[i], row[subject])))
            if side and i != subject:
                found.sides.update(dict.fromkeys(self.places(row[i]), side))
        values = [value for value in values if value.side] or values
        kept = [value for value in values if not value.denial]
        sided = [value.side for value in kept or values if value.side]
        for number in self.names(row[subject]):
            if not kept and values and values[0].denial:
                found.denied[number] = values[0].denial
            into = self.sides_of(number, found)
            if sided and into is not None:
                is_one = len({side.side for side in sided}) == 1
                into[number] = sided[0] if is_one else sided[0]._replace(side="bilateral")

    def subject(self, row: Sequence[Cell], sides: list[Attached | None]) -> int:
        """Cell that a row is about: the first with a structure, or else with anything."""
        cells = [i for i, cell in enumerate(row) if cell.tokens and not self.side(cell)]
        places = [i for i in cells if self.places(row[i]) and not sides[i]]
        halves = [i for i, cell in enumerate(row) if self.side(cell) and self.names(cell)]
        return [*places, *halves, *cells, 0][0]

    def sides_of(self, number: int, found: Tabled) -> dict[int, Attached] | None:
        """Where the side of a match belongs, if it can have one."""
        if self.reading.is_structure[number]:
            return found.sides
        words = self.reading.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return found.limbs if is_limb(words) else None

    # ---- a cell

    def side(self, cell: Cell) -> Attached | None:
        """Side that a cell consists of: "Left", "R", "right hemisphere"."""
        tokens = cell.tokens
        is_half = len(tokens) == 2 and self.reading.tokens[tokens[1]] in HALVES
        return self.first_side(cell) if len(tokens) == 1 or is_half else None

    def begun(self, cell: Cell) -> Attached | None:
        """Side that a cell begins with, if it is not that of a place: "R: atrophic"."""
        return None if self.places(cell) else self.first_side(cell)

    def first_side(self, cell: Cell) -> Attached | None:
        """Side that is the first word of a cell."""
        i = cell.tokens.start
        token = self.reading.tokens[i] if cell.tokens else ""
        is_side = token in SIDE_WORDS and not (
            token in LETTERS and self.reading.written(i).islower()
        )
        return Attached(SIDE_WORDS[token], Tokens(i, i)) if is_side else None

    def denial(self, cell: Cell, subject: Cell) -> Tokens | None:
        """Words that deny all that a cell says: "no lesion, no edema", not "normal but small"."""
        if MINUS.fullmatch(cell.text):
            tokens = cell.tokens or subject.tokens
            return Tokens(tokens[0], tokens[-1])
        denials: list[Tokens | None] = [None]
        for i in cell.tokens:
            is_next = "," in self.reading.gap(i) or self.reading.tokens[i] in TURNS
            if i > cell.tokens[0] and is_next:
                denials.append(None)
            denials[-1] = denials[-1] or self.cues.get(i)
        return denials[0] if all(denials) else None

    def names(self, cell: Cell) -> list[int]:
        """Return the matches of a cell."""
        return [number for i in cell.tokens for number in self.reading.beginning.get(i, ())]

    def places(self, cell: Cell) -> list[int]:
        """Return the matches of a cell that are structures, and not the half of the brain."""
        if self.side(cell):
            return []
        return [number for number in self.names(cell) if self.reading.is_structure[number]]
