"""Reading: a text as its tokens, with the names of a vocabulary that were found in it."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import SENTENCE_END, word_set

if TYPE_CHECKING:
    from neurowhere.text.clinical.places import Side

STOP = re.compile(SENTENCE_END)
# After these a point is part of the word.
POINTED = word_set(
    "al approx bil bilat cf dr e eg est etc fig g i ie incl l lt neg nl poss prob pt r resp rt st "
    "susp vs"
)
SIDE_LETTERS = word_set("l lt r rt")  # of these, unless the side ends a sentence
BEFORE_SIDE = word_set("a an and at in of on or the to")
LONGEST_SENTENCE = 200  # words; what goes on is cut, so that no text without stops takes long
LONGEST_HEADING = 3  # words of a heading after such a side
# And after these clipped words, unless a sentence begins there: "Rt amyg. nl", "L temp. ICH".
CLIPPED = word_set(
    """
    amyg amygd caud cbl cerebel cerebell cing fron front frontopariet frontotemp hemisph hipp hippo
    hippoc insul occ occip par pariet put putam subcort temp temporopariet thal
    """
)
# What a reading computes of its text alone, and keeps when matches are added.
OF_TEXT = word_set(
    "spans bounds gaps where phrases p_values minuses tables sentence_ends _sentence_ends"
)
P_VALUE = re.compile(r"[pP](?<!\w[pP])\s*([=>≥])\s*(0?\.\d+)")
# Begins with the sign, and only then looks at what is before it: this is found faster.
MINUS = re.compile(
    r"[-−–](?:(?:(?<=\w\(.)|(?<=\w \(.))(?:ve)?\)|(?<=\w .)(?:ve\b|(?=\s*(?:[,;]|$))))",
    re.MULTILINE,
)
USUAL_GAPS = frozenset([" ", "-", ", "])  # end no sentence, and nearly all are of them
COMPARED = re.compile("[<>=]")
AMPERSAND = re.compile(r"[&+](?<=\s.)(?=\s)")  # or "+"

_LINE = re.compile(r"[^\n]+")
_SIDE = r"(?:right|left|rt|lt|r|l)\b\.?(?: side| hemi| hemisphere)?"
_HEADER_WITH_SIDES = re.compile(rf"(?:^ ?|  ){_SIDE}  +{_SIDE} *\r?\Z", re.IGNORECASE)
_BAR, _TAB, _SPACES, _SEMICOLON = map(re.compile, (r"\|", r"\t+", r" {2,}", ";"))
_WORD = re.compile(r"\w")
LONGEST_CELL = 200  # characters
FEWEST_SEMICOLONS, MOST_WORDS = 2, 3  # in a row, and in each cell between semicolons

Kind = TypeVar("Kind", bound=str)
Span = tuple[int, int]
Table = list[list[Span]]  # cells of each row, as spans of the text


class Tokens(NamedTuple):
    """Some tokens of a reading, the last included."""

    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Reading:
    """A text, its tokens and the matches in it.

    Attributes
    ----------
    text : str
    tokens : list of str
        Lower-case words.
    starts, ends : array of shape (n_tokens,)
        Token i is ``text[starts[i] : ends[i]]``.
    terms : list of int
        Index of the term of each match, `NO_TERM` for a place that is none.
    first, last : list of int
        Its first and last token.
    is_structure : list of bool
        Whether it names a part of the brain.
    sided : mapping of int to str
        Tokens that have a side in themselves ("rIFG"), and that side.
    """

    text: str
    tokens: list[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    terms: list[int]
    first: list[int]
    last: list[int]
    is_structure: list[bool]
    sided: "Mapping[int, Side]" = field(default_factory=dict)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Where each token is in the text."""
        return list(zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    @cached_property
    def bounds(self) -> tuple[list[int], list[int]]:
        """Where tokens start and end, as plain numbers: these are looked up most of all."""
        return self.starts.tolist(), self.ends.tolist()

    @cached_property
    def gaps(self) -> list[str]:
        """Text before each token, and after the last: most are asked for more than once."""
        starts, ends = self.bounds
        text = self.text
        between = zip([0, *ends], [*starts, len(text)], strict=True)
        return [text[start:end] for start, end in between]

    @cached_property
    def p_values(self) -> list[re.Match[str]]:
        """P-values of the text: their sign and their number."""
        return list(P_VALUE.finditer(self.text))

    @cached_property
    def minuses(self) -> list[re.Match[str]]:
        """Minus signs after words."""
        return list(MINUS.finditer(self.text))

    @cached_property
    def phrases(self) -> "dict[Phrases[Any], list[tuple[int, int, Any]]]":
        """Phrases that were found in the text, by the lists that have them."""
        return {}

    @cached_property
    def begins(self) -> dict[int, int]:
        """Match by its first token."""
        return {token: number for number, token in enumerate(self.first)}

    @cached_property
    def finishes(self) -> dict[int, int]:
        """Match by its last token."""
        return {token: number for number, token in enumerate(self.last)}

    @cached_property
    def _together(self) -> dict[int, list[int]]:
        """Matches that begin where another does, by that token; few do."""
        if len(self.begins) == len(self.first):
            return {}
        together: dict[int, list[int]] = {}
        for number, token in enumerate(self.first):
            if number != self.begins[token] or token in together:
                together.setdefault(token, []).append(number)
        return together

    def beginning(self, tokens: Iterable[int]) -> list[int]:
        """Return all matches that begin at some tokens: a place may begin where a term does."""
        begins, together = self.begins, self._together
        if not together:
            return [begins[i] for i in tokens if i in begins]
        return [
            number
            for i in tokens
            if i in begins
            for number in (together[i] if i in together else (begins[i],))
        ]

    @cached_property
    def inner(self) -> frozenset[int]:
        """Tokens within names of several words: they say nothing but the name."""
        spans = zip(self.first, self.last, strict=True)
        return frozenset(i for first, last in spans if last > first for i in range(first, last + 1))

    @cached_property
    def covered(self) -> frozenset[int]:
        """Tokens within names, of one word or of several."""
        return self.inner.union(self.begins)

    def with_ampersands(self) -> "Reading":
        """Spell out "&" and "+" as a token "and": nothing but what stands around names needs it.

        >>> from neurowhere.text import TermCounter, Vocabulary
        >>> TermCounter(Vocabulary(["insula"])).read("R&D; pons & insula").tokens
        ['r', 'd', 'pons', 'and', 'insula']
        """
        signs = np.array([sign.start() for sign in AMPERSAND.finditer(self.text)], np.intp)
        if not len(signs):
            return self
        places = np.searchsorted(self.starts, signs)  # the token after each
        numbers = np.arange(len(self.tokens))
        moved = (numbers + np.searchsorted(places, numbers, side="right")).tolist()
        tokens = np.insert(np.array(self.tokens, object), places, "and").tolist()
        return replace(
            self,
            tokens=tokens,
            starts=np.insert(self.starts, places, signs),
            ends=np.insert(self.ends, places, signs + 1),
            first=[moved[token] for token in self.first],
            last=[moved[token] for token in self.last],
            sided={moved[token]: side for token, side in self.sided.items()},
        )

    def with_matches(self, places: Sequence[Tokens], *, is_structure: bool = True) -> "Reading":
        """Add names that are no terms after the matches, and before them in `begins`."""
        if not places:
            return self
        more = self.with_names(
            terms=[*self.terms, *(NO_TERM for _ in places)],
            first=[*self.first, *(place.first for place in places)],
            last=[*self.last, *(place.last for place in places)],
            is_structure=[*self.is_structure, *(is_structure for _ in places)],
        )
        begins, finishes, together = {**self.begins}, {**self.finishes}, {**self._together}
        for number, (first, last) in enumerate(places, len(self.terms)):
            if first in begins:
                together[first] = [*together.get(first, [begins[first]]), number]
            begins[first], finishes[last] = number, number
        long = (range(first, last + 1) for first, last in places if last > first)
        inner = self.inner.union(chain.from_iterable(long))
        more.__dict__.update(begins=begins, finishes=finishes, _together=together, inner=inner)
        return more

    def with_names(
        self, terms: list[int], first: list[int], last: list[int], is_structure: list[bool]
    ) -> "Reading":
        """Return the same text with other matches."""
        added = replace(self, terms=terms, first=first, last=last, is_structure=is_structure)
        added.__dict__.update(
            (name, self.__dict__[name]) for name in OF_TEXT & self.__dict__.keys()
        )
        return added

    def token(self, i: int) -> str:
        """Token i, empty beyond the ends of the text."""
        try:
            return self.tokens[i] if i >= 0 else ""
        except IndexError:
            return ""

    def written(self, i: int) -> str:
        """Token i as the text has it."""
        starts, ends = self.bounds
        return self.text[starts[i] : ends[i]]

    def gap(self, i: int) -> str:
        """Text between token i − 1 and token i; nothing beyond the end of the text."""
        if i > len(self.tokens):
            return ""
        return self.gaps[i] if i >= 0 else self.text[: self.bounds[0][i]]

    def span(self, tokens: Tokens) -> tuple[int, int]:
        """Where some tokens are in the text."""
        starts, ends = self.bounds
        return starts[tokens.first], ends[tokens.last]

    def tokens_within(self, start: int, end: int) -> range:
        """Return the tokens that begin within some part of the text."""
        starts, _ = self.bounds
        return range(bisect_left(starts, start), bisect_left(starts, end))

    @cached_property
    def where(self) -> dict[str, list[int]]:
        """Tokens by their word: phrases are looked for where their first word is."""
        where: defaultdict[str, list[int]] = defaultdict(list)
        for i, token in enumerate(self.tokens):
            where[token].append(i)
        return dict(where)

    def at_words(self, words: Collection[str]) -> list[int]:
        """Return the tokens that are one of some words, in order."""
        return sorted(chain.from_iterable(self.where[word] for word in self.where.keys() & words))

    @cached_property
    def tables(self) -> list[Table]:
        """Tables of the text."""
        return find_tables(self.text)

    @cached_property
    def sentence_ends(self) -> list[int]:
        """Tokens before which a sentence or a cell of a table ends, in order."""
        stops = {gap for gap in {*self.gaps} if "\n" in gap or STOP.search(gap)}
        stopped = [i for i, gap in enumerate(self.gaps[:-1]) if gap in stops]
        ends = [i for i in stopped if self._ends_sentence(i)]
        if self.tables:
            cells = (cell for table in self.tables for row in table for cell in row)
            starts = {bisect_left(self.bounds[0], start) for start, _ in cells}
            ends = sorted({*ends, *starts} - {len(self.tokens)})
        spans = pairwise([0, *ends, len(self.tokens)])
        long = (span for span in spans if span[1] - span[0] > LONGEST_SENTENCE)
        cuts = [i for first, end in long for i in range(first, end, LONGEST_SENTENCE)[1:]]
        return sorted([*ends, *cuts]) if cuts else ends

    @cached_property
    def _sentence_ends(self) -> frozenset[int]:
        return frozenset(self.sentence_ends)

    def sentence_number(self, i: int) -> int:
        """Return the number of the sentence that token i is in, from 0."""
        return bisect_right(self.sentence_ends, i)

    def sentence_tokens(self, number: int) -> range:
        """Return the tokens of a sentence, by its number."""
        ends = self.sentence_ends
        first = ends[number - 1] if number else 0
        return range(first, ends[number] if number < len(ends) else len(self.tokens))

    def is_sentence_end(self, i: int) -> bool:
        """Whether a sentence ends between token i − 1 and token i."""
        is_within = 0 <= i < len(self.tokens)
        return i in self._sentence_ends if is_within else self._ends_sentence(i)

    def _ends_sentence(self, i: int) -> bool:
        if i >= len(self.tokens):
            return True
        gap = self.gap(i)
        if gap in USUAL_GAPS:
            return False
        if "\n" in gap and self.text[self.bounds[0][i]].isupper():
            return True
        before = self.tokens[i - 1]
        is_clipped = before in CLIPPED and not self.written(i).istitle()
        is_word = gap.startswith(". ") and (before in POINTED or is_clipped)
        is_word = is_word and not COMPARED.search(self.gap(i - 1))  # "R. insula", not "L>R. Insula"
        is_word = is_word and not (before in SIDE_LETTERS and self._begins_heading(i))
        return bool(STOP.search(gap)) and not is_word

    def _begins_heading(self, i: int) -> bool:
        """Whether a heading follows a side and its point: "infarct of the pons L. Spared: …"."""
        colons = range(i + 1, min(i + 1 + LONGEST_HEADING, len(self.tokens)))
        colon = next((j for j in colons if self.gap(j) != " "), i)
        is_after_name = self.gap(i - 1) == " " and self.tokens[i - 2] not in BEFORE_SIDE
        return self.gap(colon).startswith(":") and self.written(i).istitle() and is_after_name


class Phrases(Generic[Kind]):
    """Lists of phrases, separated by semicolons, by their kind.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> reading = TermCounter(Vocabulary(["insula"])).read("No or no longer")
    >>> Phrases({"cue": "no; no longer"}).find(reading)
    [(0, 0, 'cue'), (2, 3, 'cue')]
    """

    def __init__(self, lists: Mapping[Kind, str]) -> None:
        self._kinds: dict[tuple[str, ...], Kind] = {}
        for kind, phrases in lists.items():
            for phrase in phrases.split(";"):
                self._kinds.setdefault(tuple(phrase.split()), kind)
        # Second words of phrases, and their lengths, by the first word: most tokens begin none.
        self._next: dict[str, set[str]] = {}
        self._lengths: dict[str, list[int]] = {}
        for words in sorted(self._kinds, key=len, reverse=True):
            self._next.setdefault(words[0], set()).update(words[1:2])
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))

    @property
    def words(self) -> frozenset[str]:
        """All words of the phrases."""
        return frozenset(chain.from_iterable(self._kinds))

    def find(self, reading: Reading) -> list[tuple[int, int, Kind]]:
        """First token, last token and kind of the longest phrases, each within a sentence."""
        if self not in reading.phrases:
            reading.phrases[self] = list(self._find(reading))
        return reading.phrases[self]

    def _find(self, reading: Reading) -> Iterator[tuple[int, int, Kind]]:
        free, tokens = 0, reading.tokens
        for i in sorted(self._candidates(reading)):
            found = self.at(tokens, i) if i >= free else None
            if found and not any(map(reading.is_sentence_end, range(i + 1, found[0] + 1))):
                yield i, *found
                free = found[0] + 1

    def _candidates(self, reading: Reading) -> Iterator[int]:
        """Yield the tokens that may begin a phrase, by its first two words, the rarer one first."""
        tokens, where = reading.tokens, reading.where
        for first in self._lengths.keys() & where.keys():
            if self._lengths[first][-1] == 1:
                yield from where[first]
                continue
            seconds = self._next[first] & where.keys()
            if len(where[first]) <= sum(len(where[second]) for second in seconds):
                yield from (
                    i for i in where[first] if tokens[i + 1 : i + 2] and tokens[i + 1] in seconds
                )
            else:
                later = (i - 1 for second in seconds for i in where[second])
                yield from (i for i in later if i >= 0 and tokens[i] == first)

    def at(self, tokens: list[str], i: int) -> tuple[int, Kind] | None:
        """Last token and kind of the longest phrase that begins at token i."""
        for length in self._lengths.get(tokens[i], ()):
            words = tuple(tokens[i : i + length])  # fewer at the end of a text
            if words in self._kinds:
                return i + len(words) - 1, self._kinds[words]
        return None


# ---- tables


def find_tables(text: str) -> list[Table]:
    r"""Find the tables of a text, and the cells of their rows.

    A row is a line with "|" or tabs between its cells. Runs of spaces part cells too, in the lines
    under a header that ends with two sides: "Region   Right   Left". So do semicolons in lines of
    short cells, with the same number of them in the next line: "Thalamus;L;lacune". Lines without a
    word, which rule off a header, are left out.

    >>> find_tables("Seen:\n| Pons | normal |\n|---|---|\n| Insula | |")
    [[[(8, 13), (14, 21)], [(36, 42)]]]
    >>> find_tables("       Right  Left\nInsula small  normal")[0][0]
    [(7, 12), (14, 18)]
    """
    semicolons = _semicolon_rows(text)
    if not (semicolons or "|" in text or "\t" in text or "  " in text):
        return []
    tables: list[tuple[re.Pattern[str] | None, Table]] = []
    current, rows = None, list[list[Span]]()
    for line in _LINE.finditer(text):
        is_parted = line.start() in semicolons
        separator = _SEMICOLON if is_parted else _separator(line[0], current)
        if separator is not current:
            current, rows = separator, []
            tables.append((separator, rows))
        if separator and _WORD.search(line[0]):
            cells = _cells(line, separator)
            if all(end - start <= LONGEST_CELL for start, end in cells):  # else "|t| > 2" in prose
                rows.append(cells)
    return [rows for separator, rows in tables if len(rows) > (separator is _SPACES)]


def _semicolon_rows(text: str) -> set[int]:
    """Return where the rows of tables with semicolons begin."""
    found, start, before = set[int](), 0, (0, 0)
    for line in text.split("\n") if text.count(";") >= 2 * FEWEST_SEMICOLONS else ():
        row = start, _n_short_cells(line) if line.count(";") >= FEWEST_SEMICOLONS else 0
        if row[1] and row[1] == before[1]:
            found |= {before[0], start}
        before, start = row, start + len(line) + 1
    return found


def _n_short_cells(line: str) -> int:
    """Count what semicolons part in a line; 0 if these are clauses, or a record of keys."""
    cells = line.split(";") if ":" not in line else []
    return len(cells) if all(len(cell.split()) <= MOST_WORDS for cell in cells) else 0


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
