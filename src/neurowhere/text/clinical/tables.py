"""Tables: what the rows of a table say of the structures that head them.

"Hippocampus | atrophic | normal" under "Region | Right | Left" is about the right hippocampus. A
structure is denied if all cells of its row deny it; else its sides are those of the cells that do
not. A column has the side that heads it, a cell the one that it begins with ("R: atrophic"), and a
row the one that a cell consists of. Structures may head columns as well.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import repeat, zip_longest
from typing import NamedTuple

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import LETTERS, SIDE_WORDS, WHOLES, Attached
from neurowhere.text.clinical.reading import Reading, Table, Tokens
from neurowhere.text.words import word_set

TURNS = word_set("but except with")  # before another finding of a cell
NONE = "0"  # a score

Cell = range  # of tokens


class Tabled(NamedTuple):
    """What tables say of matches: their sides, and the tokens that deny them."""

    sides: dict[int, Attached]
    denied: dict[int, Tokens]


class Value(NamedTuple):
    """A cell that says something of a structure, the side that it is about, and what denies."""

    side: Attached | None
    denial: Tokens | None


def read_tables(reading: Reading) -> Tabled:
    """Return what the tables of a text say of its matches."""
    found = Tabled({}, {})
    if reading.tables:
        reader = _TableReader(reading)
        for table in reading.tables:
            for row, sides in reader.rows(table):
                reader.read(row, sides, found)
    return found


class _TableReader:
    """Reads a text cell by cell."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        found = lexicon.CUES.find(reading)
        self.cues = {first: Tokens(first, last) for first, last, kind in found if kind != "idle"}

    def rows(self, table: Table) -> Iterator[tuple[Sequence[Cell], list[Attached | None]]]:
        """Yield the rows under the header of a table, or its columns, and the sides of cells."""
        starts = self.reading.bounds[0]
        rows = [[Cell(*(bisect_left(starts, at) for at in span)) for span in row] for row in table]
        columns = list(map(list, zip_longest(*rows, fillvalue=Cell(0))))
        if self.heads_columns(rows[0], columns[0]):
            rows = columns
        header = self.header(rows[0])
        for row in rows[any(header) :]:
            lacking = len(row) - len(header)  # nothing may stand above the names
            yield row, [*repeat(None, max(lacking, 0)), *header]

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
        return sides if is_pair else [self.side(cell) for cell in cells]

    def read(self, row: Sequence[Cell], sides: list[Attached | None], found: Tabled) -> None:
        """Add what a row says of the names in it."""
        cells = [i for i, cell in enumerate(row) if cell and not self.side(cell)]
        places = (i for i in cells if self.places(row[i]) and not sides[i])
        subject = next(places, cells[0] if cells else 0)
        whole = next(filter(None, map(self.side, row)), None)
        after, before = [i for i in cells if i > subject], [i for i in cells if i < subject]
        values = []
        for i in after or before or cells:
            side = self.begun(row[i]) or sides[i] or whole
            values.append(Value(side, self.denial(row[i])))
            if side and i != subject:
                found.sides.update(dict.fromkeys(self.places(row[i]), side))
        values = [value for value in values if value.side] or values
        kept = [value for value in values if not value.denial]
        sided = [value.side for value in kept or values if value.side]
        for number in self.names(row[subject]):
            if not kept and values[0].denial:
                found.denied[number] = values[0].denial
            if sided:
                is_one = len({side.side for side in sided}) == 1
                found.sides[number] = sided[0] if is_one else sided[0]._replace(side="bilateral")

    # ---- a cell

    def side(self, cell: Cell) -> Attached | None:
        """Side that a cell consists of: "Left", "R", "right hemisphere"."""
        is_whole = len(cell) == 2 and self.reading.tokens[cell[1]] in WHOLES
        return self.begun(cell) if len(cell) == 1 or is_whole else None

    def begun(self, cell: Cell) -> Attached | None:
        """Side that a cell begins with, if it is not that of a place: "R: atrophic"."""
        token = self.reading.tokens[cell[0]] if cell else ""
        is_side = token in SIDE_WORDS and not (
            token in LETTERS and self.reading.written(cell[0]).islower()
        )
        if not is_side or self.places(cell):
            return None
        return Attached(SIDE_WORDS[token], Tokens(cell[0], cell[0]))

    def denial(self, cell: Cell) -> Tokens | None:
        """Words that deny all that a cell says: "no lesion, no edema", not "normal but small"."""
        if [self.reading.tokens[i] for i in cell] == [NONE]:
            return Tokens(cell[0], cell[0])
        denials: list[Tokens | None] = [None]
        for i in cell:
            if i > cell[0] and ("," in self.reading.gap(i) or self.reading.tokens[i] in TURNS):
                denials.append(None)
            denials[-1] = denials[-1] or self.cues.get(i)
        return denials[0] if all(denials) else None

    def names(self, cell: Cell) -> list[int]:
        """Return the matches of a cell."""
        return [number for i in cell for number in self.reading.beginning.get(i, ())]

    def places(self, cell: Cell) -> list[int]:
        """Return the matches of a cell that are structures."""
        return [number for number in self.names(cell) if self.reading.is_structure[number]]
