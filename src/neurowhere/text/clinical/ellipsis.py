"""Ellipsis: what is said of a structure without its name, by a cell of a table or a side alone.

**Tables.** "Hippocampus | atrophic | normal" under "Region | Right | Left" is about the right
hippocampus. A structure is denied if all cells of its row deny it; else its sides are those of the
cells that do not. A column has the side that heads it, a cell the one that it begins with ("R:
atrophic"), and a row the one that a cell consists of. Structures may head columns as well. A cell
may be a sign: "+" affirms, and "-" denies. The sides of limbs are sides of the body.

**The other side.** "The right hippocampus is normal, the left is atrophic" speaks of two
hippocampi. The "left" is read as another match of the same term, with that side. So are the sides
that begin the lines below a name.

"Both hippocampi were examined; only the right one is atrophic" speaks of that one alone.

**Half a name.** "The superior and middle frontal gyri" are two gyri: what stands before "and" is
read with the rest of the name after it, if that makes a name. So are the parts of one place: "genu,
body and splenium of the corpus callosum". "Left superior frontal meningioma" is of the gyrus, if
nothing else goes by these words.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product, repeat, zip_longest
from typing import NamedTuple

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.elided import find_elided
from neurowhere.text.clinical.homologues import HOMOLOGUES
from neurowhere.text.clinical.places import (
    CONJUNCTIONS,
    GENERAL_PLACES,
    LESION,
    LETTERS,
    LISTED,
    NOT_BRAIN,
    ON_THE,
    OPPOSITE,
    OUTSIDE,
    SIDE_WORDS,
    TURNS,
    WHOLES,
    Attached,
    Sides,
    is_limb,
    tells_how,
)
from neurowhere.text.clinical.reading import Reading, Span, Table, Tokens
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

CELL_TURNS = word_set("but except with")  # before another finding of a cell
HALVES = WHOLES | {"hemi"}
# Cells that affirm and deny; "0" is a score, and "N" stands for normal.
PLUS = re.compile(r"\(?[+✓✔]+\)?|\+/-|±")
MINUS = re.compile(r"\(?[-−–—✗✘]+\)?|0|N|[nN]/?[aA]")
DIRECTIONS = word_set(
    """
    anterior caudal dorsal dorsolateral dorsomedial inferior lateral medial mesial middle posterior
    rostral superior ventral ventrolateral ventromedial
    """
)
# Adjectives of lobes, with what they have of gyri or lobules, and which of these there may be.
LOBES = {"frontal": "gyrus", "temporal": "gyrus", "occipital": "gyrus", "parietal": "lobule"}
LEVELS = word_set("superior middle inferior")
NO_GYRI = word_set("bone branch craniotomy fissure horn lobe pole sinus sulcal sulci sulcus vein")
PARTS = word_set("body genu head isthmus rostrum splenium tail trunk")  # "of the corpus callosum"
Index = Callable[[str], int]
REACH = 30  # tokens back to the other side, or ahead to a name
APART = re.compile(r"[\n\t|]")  # lines, and cells of a table, which has sides of its own
ONES = word_set("hemisphere hemispheric one side sided")
THAT_OF = frozenset(product(("that", "those"), ("in", "of", "on")))  # "that of the right is small"
ALONE = word_set("alone only")  # "the right one only is atrophic"
LOOKED_AT = word_set(
    "assessed evaluated examined imaged inspected measured recorded reviewed scanned seen "
    "segmented stimulated studied tested visible visualised visualized"
)
HEADING = re.compile(r"\s*:| [-–—] ")  # after a side
PLURAL = word_set("are were")
OF_BODY = re.compile(r"(metria|taxia|kinesia|paresis|plegia|opia|opsia|esthesia|algia)$")  # signs
VERBS = (lexicon.FINITE | lexicon.LINKS | lexicon.OWNING) - word_set("left of out there to with")
OPENING = TURNS | lexicon.ALTHOUGH


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
            is_next = "," in self.reading.gap(i) or self.reading.tokens[i] in CELL_TURNS
            if i > cell.tokens[0] and is_next:
                denials.append(None)
            denials[-1] = denials[-1] or self.cues.get(i)
        return denials[0] if all(denials) else None

    def names(self, cell: Cell) -> list[int]:
        """Return the matches of a cell."""
        return self.reading.beginning(cell.tokens)

    def places(self, cell: Cell) -> list[int]:
        """Return the matches of a cell that are structures, and not the half of the brain."""
        if self.side(cell):
            return []
        return [number for number in self.names(cell) if self.reading.is_structure[number]]


# ---- half a name


def with_halves(reading: Reading, term_of: Callable[[str], str | None], index: Index) -> Reading:
    """Add the structures whose names end in those after them: "superior and middle frontal gyri".

    Parameters
    ----------
    reading : Reading
    term_of : callable
        Returns the term that a name stands for, or None.
    index : callable
        Returns the index of a term.
    """
    halves = (
        (Tokens(i, i), name)
        for conjunction in reading.at_words(CONJUNCTIONS)
        for i, name in _halves(reading, conjunction)
    )
    found = {
        tokens: index(term)
        for tokens, name in (*halves, *_bare_gyri(reading))
        if (term := term_of(name)) is not None
    }
    if not found:
        return reading
    replaced = {i for tokens in found for i in tokens}
    kept = [
        number
        for number, (first, last) in enumerate(zip(reading.first, reading.last, strict=True))
        if not (first == last and first in replaced)
    ]
    return reading.with_names(
        terms=[*(reading.terms[number] for number in kept), *found.values()],
        first=[*(reading.first[number] for number in kept), *(first for first, _ in found)],
        last=[*(reading.last[number] for number in kept), *(last for _, last in found)],
        is_structure=[*(reading.is_structure[number] for number in kept), *(True for _ in found)],
    )


def _bare_gyri(reading: Reading) -> Iterator[tuple[Tokens, str]]:
    """Yield the gyri and lobules that their adjectives stand for: "left superior frontal tumor"."""
    for i in reading.at_words(LOBES.keys()):
        number = reading.begins.get(i)
        level, lobe, after = reading.token(i - 1), reading.tokens[i], reading.token(i + 1)
        is_bare = number is not None and reading.last[number] == i and after not in NO_GYRI
        if is_bare and level in LEVELS and i - 1 not in reading.inner and reading.gap(i) == " ":
            yield Tokens(i - 1, i), f"{level} {lobe} {LOBES[lobe]}"


def _halves(reading: Reading, conjunction: int) -> Iterator[tuple[int, str]]:
    """Yield what goes before a conjunction, each with the name that it may be part of."""
    number = reading.begins.get(conjunction + 1)
    if number is None or not reading.is_structure[number]:
        return
    first, *rest = reading.tokens[conjunction + 1 : reading.last[number] + 1]
    alike = next((words for words in (DIRECTIONS, PARTS) if first in words), None)
    if alike is None or not rest:
        return
    i = conjunction - 1
    while i >= 0 and reading.tokens[i] in alike and reading.gap(i + 1) in (" ", ", "):
        yield i, " ".join([reading.tokens[i], *rest])
        if reading.gap(i) != ", ":
            return
        i -= 1


# ---- a side alone


def with_others(reading: Reading, sides: Sides) -> Reading:
    """Add the sides that stand for structures, as matches that have a side in themselves.

    A name that heads lines of its sides says no more than they do, and is left out. So is that of a
    pair, of which but one is affected: "both hippocampi were seen; only the right one is small".
    """
    tokens = [i for i in reading.at_words(SIDE_WORDS.keys()) if _is_word(reading, i)]
    headed = dict(_headed(reading, tokens))
    alone = [i for i in tokens if i not in headed and _is_alone(reading, i)]
    named = _named(reading, sides) if tokens else {}
    pairs = {i: _pair_before(reading, sides, i) for i in alone if _is_only(reading, i)}
    taken = headed | {i: pairs.get(i) or _taken_up(reading, sides, named, i) for i in alone}
    taken |= find_elided(reading, [i for i in tokens if not taken.get(i)], named)
    added = [(i, number) for i, numbers in taken.items() for number in numbers]
    if not added:
        return reading
    heads = {number for numbers in headed.values() for number in numbers}
    heads |= {
        number for i, some in pairs.items() for number in some if _is_idle(reading, number, i)
    }
    kept = [number for number in range(len(reading.terms)) if number not in heads]
    both = [*kept, *(number for _, number in added)]
    resumed = reading.with_names(
        terms=[reading.terms[number] for number in both],
        first=[*(reading.first[number] for number in kept), *(i for i, _ in added)],
        last=[*(reading.last[number] for number in kept), *(i for i, _ in added)],
        is_structure=[reading.is_structure[number] for number in both],
    )
    own = {i: SIDE_WORDS[reading.tokens[i]] for i, _ in added}
    return replace(resumed, sided={**reading.sided, **own})


def _is_word(reading: Reading, i: int) -> bool:
    """Whether token i is no part of a name, nor a small letter."""
    is_letter = reading.tokens[i] in LETTERS and reading.written(i).islower()
    return not (is_letter or i in reading.inner)


def _is_alone(reading: Reading, i: int) -> bool:
    """Whether a side is a subject: "the left is", "the right one", "Left:", "its homologue"."""
    first = i - (reading.token(i - 1) in ("its", "the", "their"))
    first -= reading.token(first - 1) == "only"
    first -= 2 * (tuple(reading.tokens[max(first - 2, 0) : first]) in THAT_OF)
    is_first = reading.is_sentence_end(first) or not reading.gap(first).isspace()
    j = i + 1 + (reading.token(i + 1) in ONES)
    j += reading.token(j) in ALONE
    if reading.token(j) in HOMOLOGUES:
        return reading.token(j + 1) != "of"  # "the left insula and its right homologue"
    if _follows_homologue(reading, i):
        return True
    if first == 0 or not (is_first or reading.token(first - 1) in OPENING):
        return False
    if HEADING.match(reading.gap(j)):
        return not _names_place(reading, j)
    is_near = j < len(reading.tokens) and not reading.gap(j).strip(" )]")
    if not is_near or reading.is_sentence_end(j):
        return False
    return reading.tokens[j] in VERBS or is_said(reading, j)


def _follows_homologue(reading: Reading, i: int) -> bool:
    """Whether token i is the side of "its homologue on the right"."""
    before = reading.tokens[max(i - 3, 0) : i]
    return before[-2:] in ON_THE and before[0] in HOMOLOGUES and before[1] != "of"


def _headed(reading: Reading, tokens: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    r"""Yield sides that begin lines below a line of names, and these names.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula"]))
    >>> list(_headed(counter.read("Insula:\nRight: normal\nLeft: infarct"), [1, 3]))
    [(1, [0]), (3, [0])]
    """
    names: list[int] = []
    for i, before in zip(tokens, [-1, *tokens], strict=False):
        if not (
            "\n" in reading.gap(i)
            and HEADING.match(reading.gap(i + 1))
            and not _names_place(reading, i + 1)
        ):
            names = []
            continue
        line = next((j for j in range(i - 1, max(i - REACH, 0), -1) if "\n" in reading.gap(j)), 0)
        if line != before:  # else this is the next side of the same names
            names = _listed(reading, range(line, i))
        if names:
            yield i, names


def _listed(reading: Reading, tokens: range) -> list[int]:
    """Return the structures that some tokens consist of; none if there is another word."""
    names, j = [], tokens.start
    while j < tokens.stop:
        number = reading.begins.get(j)
        if number is not None and reading.is_structure[number] and reading.terms[number] != NO_TERM:
            names.append(number)
            j = reading.last[number] + 1
        elif reading.tokens[j] in LISTED:
            j += 1
        else:
            return []
    return names


def is_said(reading: Reading, j: int) -> bool:
    """Whether a state at token j is all that is said: "(left) normal", "(left) old infarct"."""
    while reading.gap(j + 1) == " " and _qualifies(reading, j):
        j += 1
    word, after = reading.token(j), reading.gap(j + 1)
    is_last = reading.is_sentence_end(j + 1) or not (after.isspace() or after == "-")
    if not is_last or fold(word) in NOT_BRAIN or OF_BODY.search(word) or OUTSIDE.fullmatch(word):
        return False
    is_state = lexicon.CUES.at([word], 0) is not None or fold(word) in LESION
    return is_state or bool(lexicon.FINDING.match(word))


def _qualifies(reading: Reading, j: int) -> bool:
    """Whether token j says how a finding is, and no more of where than "cortical"."""
    word, number = reading.tokens[j], reading.begins.get(j)
    if number is not None and reading.is_structure[number]:
        return reading.last[number] == j and word in GENERAL_PLACES
    return tells_how(word)  # no "left vertebral", "left subdural"


def _names_place(reading: Reading, j: int) -> bool:
    """Whether a structure is named from token j to the end of its sentence: "Left: insula"."""
    ends = reading.sentence_ends
    number = bisect_right(ends, j)
    end = ends[number] if number < len(ends) else len(reading.tokens)
    return _has_structure(reading, range(j, min(end, j + REACH)))


def _named(reading: Reading, sides: Sides) -> dict[int, list[int]]:
    """Return the matches of terms that each side is of, by its first token."""
    named: dict[int, list[int]] = {words.first: [] for _, words in sides.unapplied}
    for number, attached in sides.applied.items():
        own = named.setdefault(attached.words.first, [])
        if reading.terms[number] != NO_TERM:
            own.append(number)
    return named


def _taken_up(reading: Reading, sides: Sides, named: dict[int, list[int]], i: int) -> list[int]:
    """Return the matches whose other side was named last before token i, in the same line.

    A plural takes up all of them: "the left are small".
    """
    numbers = next((named[j] for j in range(i - 1, i - REACH, -1) if j in named), [])
    numbers = sorted(numbers, key=reading.last.__getitem__)
    if reading.token(i + 1) not in PLURAL:
        numbers = numbers[-1:]
    other = OPPOSITE.get(SIDE_WORDS[reading.tokens[i]])
    if not numbers or sides.applied[numbers[-1]].side != other or reading.last[numbers[-1]] >= i:
        return []
    between = range(reading.last[numbers[-1]] + 1, i)
    is_far = any(APART.search(reading.gap(j)) for j in (*between, i))
    return [] if is_far or _has_structure(reading, between) else numbers


def _is_only(reading: Reading, i: int) -> bool:
    """Whether a side is set against the other one: "only the right", "the right one alone"."""
    around = [*reading.tokens[max(i - 2, 0) : i], *reading.tokens[i + 1 : i + 3]]
    return not ALONE.isdisjoint(around)


def _pair_before(reading: Reading, sides: Sides, i: int) -> list[int]:
    """Return the structure that was named last before token i, if it is one of both sides."""
    for j in range(i - 1, max(i - REACH, -1), -1):
        number = reading.finishes.get(j)
        if number is not None and reading.is_structure[number] and reading.terms[number] != NO_TERM:
            is_plural = fold(reading.tokens[j]) != reading.tokens[j]
            own = sides.applied.get(number)
            is_pair = own.side not in OPPOSITE if own else is_plural
            return [number] if is_pair else []
        if APART.search(reading.gap(j + 1)):
            break
    return []


def _is_idle(reading: Reading, number: int, end: int) -> bool:
    """Whether a structure is looked at, and no more, as far as the words up to a token tell."""
    words = reading.tokens[reading.last[number] + 1 : end]
    is_found = any(map(lexicon.FINDING.match, words))
    return not (is_found or LOOKED_AT.isdisjoint(words))


def _has_structure(reading: Reading, tokens: range) -> bool:
    """Whether the name of a structure begins at one of some tokens."""
    return any(reading.is_structure[number] for number in reading.beginning(tokens))
