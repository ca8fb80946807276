"""Tokens: a text as words, sentences, clauses and cells of tables; nothing else cuts a text.

A `Document` is what all other levels read. Tokens are numbered; a span of them goes from its first
token up to the one after its last.

Signs part clauses (semicolons, colons, brackets, dashes), words do ("but", "although", "which"),
and so does a comma or an "and" before a subject with a verb of its own. A bracket is a clause
within another, which goes on after it: the tokens of a clause need not be next to each other.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.reading.lexicon import (
    FINITE,
    JOINT,
    NOTHING,
    SIDES,
    TURN,
    Classes,
    Side,
    lexicon,
    side_of,
    signs_of,
)
from neurowhere.text.words import SENTENCE_END

Span = tuple[int, int]
Table = list[list[Span]]  # cells of each row, as spans of the text

STOP = re.compile(SENTENCE_END)
LONGEST_SENTENCE = 200  # words; what goes on is cut, so that no text takes long
USUAL_GAPS = frozenset([" ", "-", ", "])  # end no sentence, and nearly all are of them
PLAIN = frozenset([" ", "-", ", ", ",", ""])  # gaps that part no clauses
LONGEST_SUBJECT = 16  # tokens
LABELLING = frozenset(":-(")  # links of clauses that tell of the one before them
SIGNS = {";": ";", ":": ":"} | dict.fromkeys(("—", " – ", " - ", " -- ", "→"), "-")
NO_SUBJECT = frozenset(["stop", "negator"])
OPENING = frozenset(["pronoun", "opening-cue"])
LEADING_NOUN = frozenset(["modifier", "determiner", "side"])
Part = tuple[list[int], str]  # tokens, and what links them
OF_TEXT = frozenset(["gaps", "kinds", "odd", "tables", "sentence_starts", "sentences"])
NO_SIDES: Mapping[int, Side] = MappingProxyType({})
COMPARED = re.compile("[<>=]")
BOX = re.compile(r"\[\s?\]\s*$|[☐□]\s*$")  # before what is not ticked
TICKED = re.compile(r"\[$|[☑☒■✓✔]\s*$")  # before what is, or before its "x"
AMPERSAND = re.compile(r"[&+](?<=\s.)(?=\s)")  # or "+"

__all__ = ["SIDES", "Document", "Name", "Side", "find_tables"]

_LINE = re.compile(r"[^\n]+")
_SIDE = r"(?:right|left|rt|lt|r|l)\b\.?(?: side| hemi| hemisphere)?"
_HEADER_WITH_SIDES = re.compile(rf"(?:^ ?|  ){_SIDE}  +{_SIDE} *\r?\Z", re.IGNORECASE)
_SIDES_APART = re.compile(rf"  {_SIDE} *\r?$", re.IGNORECASE | re.MULTILINE)
_BAR, _TAB, _SPACES = map(re.compile, (r"\|", r"\t+", r" {2,}"))
_WORD = re.compile(r"\w")
LONGEST_CELL = 200  # characters


class Name(NamedTuple):
    """A name in a text: tokens, the number of its term or −1, and whether it is a structure."""

    first: int
    end: int
    term: int
    is_structure: bool


class Columns(NamedTuple):
    """What is known of each token: its classes, and the number of the name that begins there."""

    kinds: list[Classes]
    words: list[str]
    names: list[int]
    inside: list[bool]  # within a name
    commas: list[bool]  # after a comma
    verbs: list[bool]  # finite verbs

    def part(self, tokens: list[int]) -> "Columns":
        """Return what is known of some tokens, in their order."""
        first, end = tokens[0], tokens[-1] + 1
        is_whole = end - first == len(tokens)
        parts: list[Any] = [c[first:end] if is_whole else [c[i] for i in tokens] for c in self]
        return Columns(*parts)


@dataclass(frozen=True, eq=False)
class Document:
    """A text, its tokens in lower case, where they start and end, and the names in it."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]
    names: list[Name]
    sided: dict[int, Side] = field(default_factory=dict)  # sides within tokens: "rIFG"
    generic: frozenset[int] = frozenset()  # terms that say nothing of where: "show", "size"
    misspelt: frozenset[int] = frozenset()  # first tokens of names with one letter wrong
    marks: NDArray[np.intp] | None = None  # signs of each token, with those of phrases

    @cached_property
    def signs(self) -> NDArray[np.intp]:
        """Signs of each token."""
        if self.marks is not None:
            return self.marks
        return np.array(list(map(signs_of, self.kinds)), dtype=np.intp)

    def having(self, sign: int) -> list[int]:
        """Return the tokens that have a sign."""
        found: list[int] = np.flatnonzero(self.signs & sign).tolist()
        return found

    @cached_property
    def odd(self) -> list[int]:
        """Tokens that more or less than a space parts from the one before."""
        return find_odd(self.text, np.array(self.starts, np.intp), np.array(self.ends, np.intp))

    @cached_property
    def gaps(self) -> list[str]:
        """Text before each token, and after the last."""
        text, starts, ends = self.text, [*self.starts, len(self.text)], [0, *self.ends]
        gaps = [" "] * len(starts)
        for i in (*self.odd, len(self.words)):
            gaps[i] = text[ends[i] : starts[i]]
        return gaps

    @cached_property
    def kinds(self) -> list[Classes]:
        """Classes of each token."""
        return list(map(lexicon().__getitem__, self.words))

    @cached_property
    def begins(self) -> dict[int, int]:
        """Number of the longest name that begins at a token."""
        begins = {name.first: number for number, name in enumerate(self.names)}
        if len(begins) == len(self.names):
            return begins
        begins = {}
        for number, name in enumerate(self.names):
            if name.first not in begins or name.end > self.names[begins[name.first]].end:
                begins[name.first] = number
        return begins

    @cached_property
    def covered(self) -> dict[int, int]:
        """Number of the name that each token is in; generic ones are words like others."""
        covered: dict[int, int] = {}
        for number, (first, end, term, is_structure) in enumerate(self.names):
            if is_structure or term not in self.generic:
                covered[first] = number
                if end > first + 1:
                    covered |= dict.fromkeys(range(first + 1, end), number)
        return covered

    @cached_property
    def inner(self) -> frozenset[int]:
        """Tokens within names of several words: they say nothing but the name."""
        long = [name for name in self.names if name.end > name.first + 1]
        return frozenset(i for name in long for i in range(name.first, name.end))

    @cached_property
    def columns(self) -> Columns:
        """What clauses need to know of each token."""
        words, gaps, covered, n = self.words, self.gaps, self.covered, len(self.words)
        names, inside, commas, verbs = [-1] * n, [False] * n, [False] * n, [False] * n
        for first, number in self.begins.items():
            names[first] = number
        for i in covered:
            inside[i] = True
        for i in self.odd:
            commas[i] = "," in gaps[i]
        for i in self.having(FINITE):
            verbs[i] = i not in covered and (not i or words[i - 1] != "to")
        return Columns(self.kinds, words, names, inside, commas, verbs)

    @cached_property
    def parted(self) -> list[int]:
        """Tokens before which a clause may end: after a sign, or at a word that turns."""
        gaps = self.gaps
        return sorted({*(i for i in self.odd if gaps[i] not in PLAIN), *self.having(TURN)})

    @cached_property
    def joints(self) -> frozenset[int]:
        """Tokens at which another subject may begin: after commas, and conjunctions."""
        gaps = self.gaps
        return frozenset((*(i for i in self.odd if "," in gaps[i]), *self.having(JOINT)))

    @cached_property
    def name_starts(self) -> tuple[list[int], list[int]]:
        """First tokens of names, in the order of the text, and the numbers of these names."""
        firsts = [name.first for name in self.names]
        order = sorted(range(len(firsts)), key=firsts.__getitem__)
        return sorted(firsts), order

    def names_within(self, first: int, end: int) -> list[int]:
        """Return the names that begin within some tokens, in the order of the text."""
        firsts, order = self.name_starts
        return order[bisect_left(firsts, first) : bisect_left(firsts, end)]

    def renamed(
        self,
        names: Sequence[Name],
        misspelt: frozenset[int] = frozenset(),
        sided: Mapping[int, Side] = NO_SIDES,
    ) -> "Document":
        """Return the same text with other names; more of them are misspelt, or have a side."""
        more = replace(
            self,
            names=list(names),
            misspelt=self.misspelt | misspelt,
            sided={**self.sided, **sided},
        )
        more.__dict__.update({key: self.__dict__[key] for key in OF_TEXT & self.__dict__.keys()})
        return more

    def is_of_structure(self, i: int) -> bool:
        """Whether token i is of the name of a structure."""
        return i in self.covered and self.names[self.covered[i]].is_structure

    def with_led_sides(self) -> "Document":
        """Open the brackets around a side that leads a name: "the (R) thalamus"."""
        led = [
            i
            for i in self.odd
            if self.gaps[i].endswith("(")
            and self.gaps[i + 1] == ") "
            and side_of(self.words[i])
            and ("," in self.gaps[i] or not self.is_of_structure(i - 1))
            and i + 1 in self.begins
        ]
        if not led:
            return self
        gaps = [*self.gaps]
        for i in led:
            gaps[i], gaps[i + 1] = gaps[i][:-1], " "
        document = self.renamed(self.names)
        document.__dict__["gaps"] = gaps
        return document

    def with_ampersands(self, marks: int = 0) -> "Document":
        """Spell out "&" and "+" as a token "and" with its marks: what is around names needs it.

        >>> from neurowhere.text import TermCounter, Vocabulary
        >>> TermCounter(Vocabulary(["insula"])).read("R&D; pons & insula").words
        ['r', 'd', 'pons', 'and', 'insula']
        """
        signs = [sign.start() for sign in AMPERSAND.finditer(self.text)]
        places = [bisect_left(self.starts, sign) for sign in signs]  # the token after each
        if not places:
            return self
        words, kinds = [*self.words], [*self.kinds]
        starts, ends = [*self.starts], [*self.ends]
        for place, sign in zip(reversed(places), reversed(signs), strict=True):
            words.insert(place, "and")
            kinds.insert(place, lexicon()["and"])
            starts.insert(place, sign)
            ends.insert(place, sign + 1)
        before = np.arange(len(self.words))
        moved = (before + np.searchsorted(places, before, "right")).tolist()
        new = tuple.__new__
        names = [
            new(Name, (moved[first], moved[end - 1] + 1, *more)) for first, end, *more in self.names
        ]
        sided = {moved[i]: side for i, side in self.sided.items()}
        every = None if self.marks is None else np.insert(self.marks, places, marks)
        spans = starts, ends
        document = Document(self.text, words, *spans, names, sided, self.generic, marks=every)
        document.__dict__["kinds"] = kinds
        return document

    def word(self, i: int) -> str:
        """Token i in lower case, empty beyond the ends of the text."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def kinds_at(self, i: int) -> Classes:
        """Classes of token i, none beyond the ends of the text."""
        return self.kinds[i] if 0 <= i < len(self.words) else NOTHING

    def side_at(self, i: int) -> Side | None:
        """Side that token i is written as: "L amygdala" or "b/l", not "l"."""
        word = self.word(i)
        if word not in ("l", "r") or self.written(i).isupper():
            return side_of(word)
        is_both = word == "l" and self.word(i - 1) == "b" and self.gaps[i] == "/"
        return "bilateral" if is_both else None

    def is_ticked(self, i: int) -> bool:
        """Whether token i, or the "x" before it, is in a box or after one: "[x] left"."""
        is_marked = self.word(i - 1) == "x" and self.gaps[i].startswith("]")
        return bool(TICKED.search(self.gaps[i - is_marked])) and (
            is_marked or "[" not in self.gaps[i]
        )

    def written(self, i: int) -> str:
        """Token i as the text has it."""
        return self.text[self.starts[i] : self.ends[i]]

    def span(self, first: int, end: int) -> Span:
        """Where some tokens are in the text."""
        return self.starts[first], self.ends[end - 1]

    # ---- sentences

    @cached_property
    def tables(self) -> list[Table]:
        """Tables of the text."""
        return find_tables(self.text)

    @cached_property
    def sentence_starts(self) -> list[int]:
        """First tokens of sentences and of cells of tables, in order."""
        gaps = self.gaps
        starts = {i for i in self.odd[1:] if gaps[i] not in USUAL_GAPS and self._ends(i)}
        for table in self.tables:
            starts |= {bisect_left(self.starts, cell[0]) for row in table for cell in row}
        starts.discard(len(self.words))
        starts.add(0)
        return _with_cuts(sorted(starts), len(self.words))

    @cached_property
    def starts_of_sentences(self) -> frozenset[int]:
        """First tokens of sentences."""
        return frozenset(self.sentence_starts)

    @cached_property
    def sentences(self) -> list[Span]:
        """Sentences as spans of tokens."""
        starts = self.sentence_starts
        bounds = zip(starts, [*starts[1:], len(self.words)], strict=True)
        return [(first, end) for first, end in bounds if first < end]

    def sentence_of(self, i: int) -> int:
        """Return the number of the sentence that token i is in."""
        return bisect_right(self.sentence_starts, i) - 1

    def _ends(self, i: int) -> bool:
        """Whether a sentence ends between token i − 1 and token i."""
        gap = self.gaps[i]
        if "\n" in gap and self.text[self.starts[i]].isupper():
            return True
        return _stops(gap) and not (gap.startswith(". ") and self._is_pointed(i))

    def _is_pointed(self, i: int) -> bool:
        """Whether a point before token i belongs to its word: "R. insula", not "L>R. A"."""
        # "L temp. ICH" is clipped, unless a sentence begins there. Other classes may not be needed.
        before = lexicon()[self.words[i - 1]]
        if not ("pointed" in before or ("clipped" in before and not self.written(i).istitle())):
            return False
        return not COMPARED.search(self.gaps[i - 1])


def _with_cuts(starts: list[int], end: int) -> list[int]:
    """Cut what goes on for long."""
    bounds = pairwise([*starts, end])
    long = [bound for bound in bounds if bound[1] - bound[0] > LONGEST_SENTENCE]
    cuts = [i for first, last in long for i in range(first, last, LONGEST_SENTENCE)]
    return sorted({*starts, *cuts}) if cuts else starts


def find_odd(text: str, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> list[int]:
    """Return the tokens that more or less than a space parts from the one before.

    >>> find_odd("one two, three", np.array([0, 4, 9]), np.array([3, 7, 14]))
    [0, 2]
    """
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    is_odd = letters.take(ends, mode="clip") != ord(" ")
    is_odd[:-1] |= starts[1:] - ends[:-1] != 1
    return [0, *(np.flatnonzero(is_odd[:-1]) + 1).tolist()] if len(starts) else []


@lru_cache(maxsize=1 << 12)
def _stops(gap: str) -> bool:
    """Whether a sentence may end where some characters are."""
    return STOP.search(gap) is not None


# ---- clauses


class Clause:
    """Tokens of a clause, what links it to what went before, and which clause that is.

    What is known of each token stands at its place, as in the columns of the document.
    """

    __slots__ = ("commas", "inside", "kinds", "link", "names", "number", "tokens", "verbs", "words")

    def __init__(self, columns: Columns, tokens: list[int], link: str, number: int) -> None:
        self.tokens, self.link, self.number = tokens, link, number
        part = columns.part(tokens)
        self.kinds, self.words, self.names = part.kinds, part.words, part.names
        self.inside, self.commas, self.verbs = part.inside, part.commas, part.verbs

    def __len__(self) -> int:
        return len(self.tokens)

    def kinds_at(self, place: int) -> Classes:
        """Classes of the token at some place, none beyond the clause."""
        return self.kinds[place] if 0 <= place < len(self.tokens) else NOTHING

    def named(self, start: int = 0, end: int | None = None) -> list[int]:
        """Names that begin between two places."""
        return [name for name in self.names[start:end] if name >= 0]


class Sentence:
    """A sentence of a document as clauses, in the order of the text."""

    def __init__(self, document: Document, number: int) -> None:
        self.document, self.number = document, number
        self.first, self.end = document.sentences[number]
        self.kinds, self.gaps = document.kinds, document.gaps
        self.columns = document.columns
        parts = [p for part in self._by_signs() for p in self._by_verbs(*part) if p[0]]
        self.parts = sorted(parts, key=lambda part: part[0][0])
        self._clauses: dict[int, Clause] = {}

    @property
    def clauses(self) -> list[Clause]:
        """All clauses."""
        return list(map(self.clause, range(len(self.parts))))

    def clause(self, number: int) -> Clause:
        """Clause of a number."""
        if number not in self._clauses:
            self._clauses[number] = Clause(self.columns, *self.parts[number], number)
        return self._clauses[number]

    def place(self, i: int) -> tuple[Clause, int]:
        """Clause of a token, and its place there."""
        for number, (tokens, _) in enumerate(self.parts):
            place = bisect_left(tokens, i)
            if place < len(tokens) and tokens[place] == i:
                return self.clause(number), place
        raise IndexError(f"expected a token of the sentence, got {i}")

    def _by_signs(self) -> Iterator[Part]:
        """Yield tokens between signs and linking words, and how they are linked."""
        gaps, parted = self.gaps, self.document.parted
        current, link, start = list[int](), "", self.first
        outer: list[Part] = []
        for i in parted[bisect_right(parted, self.first) : bisect_left(parted, self.end)]:
            current, start = [*current, *range(start, i)], i
            if outer and (")" in gaps[i] or "]" in gaps[i]):
                yield current, link
                current, link = outer.pop()
            sign = self._sign(i) or (current and self._turn(i))
            if not sign:
                continue
            if sign == "(":
                outer.append((current, link))
            else:
                yield current, link
            current, link = [], sign
        yield [*current, *range(start, self.end)], link
        yield from outer

    def _turn(self, i: int) -> str:
        """Token i if it is a word that begins a clause: "but", "which"."""
        is_turn = "turn" in self.kinds[i] and "not-word" not in self.kinds[i - 1]
        return self.document.words[i] if is_turn and i not in self.document.inner else ""

    def _sign(self, i: int) -> str:
        """Sign before token i that parts clauses."""
        gap, document = self.gaps[i], self.document
        if BOX.search(gap) or document.is_ticked(i) or document.is_ticked(i + 1):
            return ";"
        if "(" in gap or "[" in gap:
            return "("
        if gap == ":" and self.document.words[i][0].isdigit():
            return ""
        return next((link for sign, link in SIGNS.items() if sign in gap), "")

    def _by_verbs(self, tokens: list[int], link: str) -> Iterator[Part]:
        """Cut a clause where another subject with a verb begins."""
        verbs, joints, start = self.columns.verbs, self.document.joints, 0
        is_led = bool(tokens) and "subordinate" in self.kinds[tokens[0]]
        for place in [place for place, i in enumerate(tokens) if i in joints]:
            has_verb = is_led or any(verbs[i] for i in tokens[start:place])
            if has_verb and place > start and self._is_cut(tokens, place, is_led):
                yield tokens[start:place], link
                start, link, is_led = place, ",", False
        yield tokens[start:], link

    def _is_cut(self, tokens: list[int], place: int, is_led: bool) -> bool:
        """Whether another subject begins at some place, or what is said after a leading phrase."""
        i = tokens[place]
        is_joint = "conjunction" in self.kinds[i]
        if not (self.columns.commas[i] or (is_joint and not is_led)):
            return False
        if is_led and self._is_new(i):
            return True
        return self._has_subject(tokens[place + is_joint :][:LONGEST_SUBJECT])

    def _is_new(self, i: int) -> bool:
        """Whether token i after a comma begins what is said after a leading phrase."""
        if not OPENING.isdisjoint(self.kinds[i]):
            return True
        for j in range(i, self.end):
            is_comma = j > i and self.columns.commas[j]
            if "conjunction" in self.kinds[j] or is_comma:
                return is_comma
            if not self.columns.inside[j] and LEADING_NOUN.isdisjoint(self.kinds[j]):
                return True
        return True

    def _has_subject(self, tokens: list[int]) -> bool:
        """Whether some tokens begin with a subject and its verb."""
        for n, i in enumerate(tokens):
            if self.columns.verbs[i]:
                return n > 0
            if not self.columns.inside[i] and not NO_SUBJECT.isdisjoint(self.kinds[i]):
                return n == 0 and "pronoun" in self.kinds[i]
        return False


# ---- tables


def find_tables(text: str) -> list[Table]:
    r"""Find the tables of a text, and the cells of their rows.

    A row is a line with "|" or tabs between its cells. Runs of spaces part cells too, in the lines
    under a header that ends with two sides: "Region   Right   Left". Lines without a word, which
    rule off a header, are left out.

    >>> find_tables("Seen:\n| Pons | normal |\n|---|---|\n| Insula | |")
    [[[(8, 13), (14, 21)], [(36, 42)]]]
    >>> find_tables("       Right  Left\nInsula small  normal")[0][0]
    [(7, 12), (14, 18)]
    """
    if not _may_have_tables(text):
        return []
    tables: list[tuple[re.Pattern[str] | None, Table]] = []
    current, rows = None, list[list[Span]]()
    for line in _LINE.finditer(text):
        separator = _separator(line[0], current)
        if separator is not current:
            current, rows = separator, []
            tables.append((separator, rows))
        cells = _cells(line, separator) if separator and _WORD.search(line[0]) else []
        if 0 < max((end - start for start, end in cells), default=0) <= LONGEST_CELL:
            rows.append(cells)  # not "|t| > 2"
    return [rows for separator, rows in tables if len(rows) > (separator is _SPACES)]


def _may_have_tables(text: str) -> bool:
    is_wide = "  " in text and _SIDES_APART.search(text) is not None
    return "|" in text or "\t" in text or is_wide


def _separator(line: str, current: re.Pattern[str] | None) -> re.Pattern[str] | None:
    """Return what parts the cells of a line, if it is a row; `current` is of the line before."""
    if "|" in line:
        return _BAR
    if "\t" in line.strip():
        return _TAB
    is_row = current is _SPACES and _SPACES.search(line.strip())
    return _SPACES if is_row or _HEADER_WITH_SIDES.search(line) else None


def _cells(line: re.Match[str], separator: re.Pattern[str]) -> list[Span]:
    """Cells of a row; bars and spaces around it part nothing, a tab before it does."""
    around = "| \r" if separator is _BAR else " \r"
    start = line.end() - len(line[0].lstrip(around))
    end = line.start() + len(line[0].rstrip(around))
    parts = [found.span() for found in separator.finditer(line.string, start, end)]
    bounds = [start, *(bound for part in parts for bound in part), end]
    return list(zip(bounds[::2], bounds[1::2], strict=True))
