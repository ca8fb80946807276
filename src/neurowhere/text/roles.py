"""Roles: what a report says of each place: the lesion is there, presses on it, or spares it.

A place has the role that a cue of its sentence gives it: ``roles.csv``. The reach of a cue is

- *ahead*: places after it, until the next such cue; the last one before a place counts,
- *back*: a place before it, with nothing but a list of places and a few words between them,
- *both*: either,
- *near*: a place right before it, as the value in a cell of a table,
- *clause*: places before and after it, up to a comma or a colon,
- *sentence*: places of its sentence that no other cue reaches,
- *whole*: all places of its sentence,
- *heading*: what else its line says, if the line begins with it.

What decides is a cue of the whole sentence or of the clause before the place, then the first one
after it that reaches it, then the last one ahead of it, then a lesion anywhere in the sentence, or
in the row of a table. A sentence is read once, and of its cues only those within `REACH` words of a
place are tried, so that time is linear.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple, get_args

from neurowhere.text.reading.document import Document
from neurowhere.text.reading.tables import (
    TEXT,
    Column,
    Row,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)

Span = tuple[int, int]
Role = Literal[
    "seat",
    "extension",
    "mentioned",
    "old",
    "satellite",
    "edema",
    "landmark",
    "pressed",
    "level",
    "compared",
    "spared",
]
ROLES: tuple[Role, ...] = get_args(Role)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "role": one_of(" ".join(ROLES)),
    "reach": one_of("ahead back both clause sentence near whole heading"),
}
AHEAD, BACK, NEAR = ("ahead", "both"), ("back", "both"), ("near", "back")
BEYOND = ("back", "both", "near")  # may stand in the next sentence
SAID = ("clause", "whole")  # may stand in the next cell of a row
OF_SUBJECT = ("spared", "landmark")  # roles that what a clause is about has, not where it is
REACH = 16  # words between a place and the cue after it
LONGEST_CLAUSE = 300  # characters between a place and the cue of its clause
LONGEST_LINE = 2000  # characters that a heading speaks for
LONGEST_HEADING = 3  # words of a line within which its heading begins
_NO = frozenset(["no", "without", "nor", "nil", "not"])  # up to two words before a lesion
_CLAUSE = re.compile(
    r"[,:;]|\n|[.!?]\s|\b(?:with|but|while|whereas|which|due|secondary|from|because|caused)\b"
)
# Between a place and what is said of it: "the pons, including its floor, is normal".
_ASIDE = re.compile(
    r"\s*(?:(?:of|on) the [\w ]{1,24})?(?:,[^,;:]*,|\([^()]*\))\s*(?:(?:is|are|was|were)\s)?"
)
_AFTER_OLD = re.compile(r"\b(?:on|in|due|from|after|and|with|without|while|but)\b")
_VALUE = re.compile(r"[^\n|:;.–—]{0,30}(?:[:|–—]|\.{2,})[ \t|:.]*")
_NEXT = re.compile(
    r"[ ]?(?:(?:lobes?|gyr(?:us|i)|g\.|cortex|nucle(?:us|i)|hemi\w*|is|are|was|were) ?)*", re.I
)
_LIST = re.compile(
    r"\b(?:and|or|the|both|left|right|l|r|bilateral|also|all|including)\b|[,&/]", re.I
)
_STOP = re.compile(r"[,;:—–\n]")
_BESIDE = re.compile(r" (?:\w+ ){0,2}")
_CELL = re.compile(r"[ ]*(?:[|\t][ |\t]*|\.{2,}[ .]*)")  # what parts two cells of a row


class Cue(NamedTuple):
    """A phrase of the table in a text: its characters, its first word, and what its row says."""

    start: int
    end: int
    word: int
    role: Role
    reach: str
    row: str


class Told(NamedTuple):
    """What a sentence says of a place.

    Its role is None if no cue reaches it. It is weak if the cue is a lesion that is only somewhere
    in the sentence, and has a subject if its clause is about a lesion.
    """

    role: Role | None
    row: str
    is_weak: bool
    is_subject: bool


@cache
def _table() -> Trie[Row]:
    rows = read_table("neurowhere.text", "roles", CUES)
    pairs = [
        (phrase, row)
        for row in rows
        for item in split(row["words"])
        for phrase in alternatives(item)
    ]
    return Trie(pairs)


class Cues:
    """The cues of a text, in its order; lesions that it denies are no cues.

    The names of its document are the places of the report.
    """

    def __init__(self, document: Document, denied: Collection[Span]) -> None:
        self.document = document
        self.found = list(self._find(denied))
        self.words = [cue.word for cue in self.found]

    def _find(self, denied: Collection[Span]) -> Iterator[Cue]:
        document = self.document
        for first, end, row in _table().find(document.words):
            span, role = document.span(first, end), row["role"]
            before = document.words[max(0, first - 2) : first]
            is_open = role == "seat" or row["reach"] == "whole"
            if not (is_open and (span in denied or _NO.intersection(before))):
                yield Cue(*span, first, role, row["reach"], row.name)  # type: ignore[arg-type]

    def of_sentence(self, number: int) -> "SentenceCues":
        """Return the cues of a sentence; of a row of a table, those of the cells around it, too."""
        document = self.document
        first, end = document.sentences[number]
        start = document.ends[end - 1]
        line = document.text.find("\n", start, start + LONGEST_CLAUSE)
        line = line if line >= 0 else len(document.text)
        after = [cue for cue in self._within(end, end + REACH) if cue.start < line]
        is_row = bool(_CELL.fullmatch(document.gaps[end]))
        cells = after if is_row else []
        if _CELL.fullmatch(document.gaps[first]) and number:
            cells = [*cells, *self._within(document.sentences[number - 1][0], first)]
        reaches = BEYOND + SAID * is_row
        after = [cue for cue in after if cue.reach in reaches]
        return SentenceCues(document, self._within(first, end), after, _first(cells, "seat"))

    def _within(self, first: int, end: int) -> Sequence[Cue]:
        """Return the cues that begin within some words."""
        return self.found[bisect_left(self.words, first) : bisect_left(self.words, end)]

    def heading(self, start: int) -> Cue | None:
        """Return the cue of a heading that the line of some character begins with."""
        line = self.document.text.rfind("\n", max(0, start - LONGEST_LINE), start) + 1
        if not line and start > LONGEST_LINE:
            return None
        word = bisect_left(self.document.starts, line)
        near = self._within(word, word + LONGEST_HEADING)
        return next((cue for cue in near if cue.reach == "heading"), None)


class SentenceCues:
    """The cues of one sentence: its own, those after it, and a lesion in its row of a table."""

    def __init__(
        self, document: Document, own: Sequence[Cue], after: Sequence[Cue], lesion: Cue | None
    ) -> None:
        self.document, self.cues = document, [*own, *after]
        self.starts = [cue.start for cue in self.cues]
        self.words = [cue.word for cue in self.cues]
        self.lesion = _first(own[::-1], "seat") or lesion
        self.lesions = [(cue.start, cue.end) for cue in self.cues if cue.role == "seat"]
        self.edema = _first(own, "edema", "seat")  # if it is one
        self.whole = next((cue for cue in self.cues if cue.reach == "whole"), None)
        self.ahead = _latest(self.cues, AHEAD)
        self.clause = _latest(self.cues, ("clause",))

    def tells(self, roles: Collection[Role]) -> bool:
        """Whether any cue gives one of some roles."""
        return any(cue.role in roles for cue in self.cues)

    def of(self, span: Span) -> Told:
        """Return what the sentence says of a place."""
        if self.whole:
            return Told(self.whole.role, self.whole.row, False, False)
        here = bisect_left(self.starts, span[0])
        before = self._before(here, span[0], self.ahead)
        is_subject = before is not None and self._is_subject(before, span[0])
        if decisive := self._decisive(here, span, is_subject=is_subject):
            return Told(decisive.role, decisive.row, False, is_subject)
        given = before or self.lesion
        if given is None:
            return Told(None, "", True, is_subject)
        if given.role == "seat" and self.edema:
            given = self.edema if self.edema.role == "edema" else given
        is_weak = before is None and not self._is_followed(here, span)
        return Told(given.role, given.row, is_weak, is_subject)

    def _is_subject(self, before: Cue, start: int) -> bool:
        """Whether the clause of a place is about a lesion before it."""
        return before.role == "seat" and not _CLAUSE.search(self.document.text, before.end, start)

    def _before(self, here: int, start: int, latest: Sequence[Cue | None]) -> Cue | None:
        """Return the last cue of some reach that ends before a character."""
        while here and self.cues[here - 1].end > start:
            here -= 1
        return latest[here]

    def _decisive(self, here: int, span: Span, *, is_subject: bool) -> Cue | None:
        """Return the cue that no other changes: one of the clause, or the first one after."""
        of_clause = self._before(here, span[0], self.clause)
        if of_clause and self._is_of_clause(of_clause, span):
            return of_clause
        last = bisect_right(self.document.starts, span[1] - 1)
        is_subject |= self._is_followed(here, span)  # "PICA infarct"
        for cue in self.cues[here : bisect_left(self.words, last + REACH)]:
            if cue.start < span[1]:
                continue
            if not (is_subject and cue.role in OF_SUBJECT) and self._reaches(cue, span):
                return cue
        return None

    def _is_followed(self, here: int, span: Span) -> bool:
        """Whether a lesion directly follows its place: "right anterior temporal cavity"."""
        near = (cue for cue in self.cues[here : here + 2] if cue.start >= span[1])
        after = next(near, None)
        if after is None or after.role != "seat":
            return False
        return bool(_BESIDE.fullmatch(self.document.text, span[1], after.start))

    def _is_of_clause(self, cue: Cue, span: Span) -> bool:
        """Whether a cue that speaks of a clause is in that of a place."""
        is_after = cue.start >= span[1]
        start, end = (span[1], cue.start) if is_after else (cue.end, span[0])
        between = self.document.text[start:end]
        if len(between) > LONGEST_CLAUSE or (is_after and _AFTER_OLD.search(between)):
            return False
        return not _STOP.search(between.strip(" ,(") if is_after else between.lstrip(": "))

    def _reaches(self, cue: Cue, span: Span) -> bool:
        """Whether a cue after a place speaks of it."""
        if cue.reach == "clause":
            return self._is_of_clause(cue, span)
        between = self.document.text[span[1] : cue.start]
        if cue.reach in NEAR and (_VALUE.fullmatch(between) or _NEXT.fullmatch(between)):
            return True
        return cue.reach in BACK and self._is_listed(between, span[1], cue.start)

    def _is_listed(self, between: str, start: int, end: int) -> bool:
        """Whether only other places of a list, and a few words, are between a place and a cue."""
        if _ASIDE.fullmatch(between):
            return True
        document = self.document
        words = bisect_left(document.starts, start), bisect_left(document.starts, end)
        inside = [document.names[number] for number in document.names_within(*words)]
        for name in reversed(inside):
            first, last = (at - start for at in document.span(name.first, name.end))
            between = between[:first] + " " * (last - first) + between[last:]
        is_list = bool(inside) and not _LIST.sub(" ", between).strip()
        return is_list or not _CLAUSE.search(between)


def _first(cues: Iterable[Cue], *roles: Role) -> Cue | None:
    return next((cue for cue in cues if cue.role in roles), None)


def _latest(cues: Sequence[Cue], reaches: Collection[str]) -> list[Cue | None]:
    """Return the last cue of some reach before each of a sequence, and before its end."""
    latest: list[Cue | None] = [None]
    for cue in cues:
        latest.append(cue if cue.reach in reaches else latest[-1])
    return latest
