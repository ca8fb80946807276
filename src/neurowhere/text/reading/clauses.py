"""Clauses: what a sentence says one after the other, and what links it.

Signs part clauses (semicolons, colons, brackets, dashes), words do ("but", "although", "which"),
and so does a comma or an "and" before a subject with a verb of its own. A bracket is a clause
within another, which goes on after it: the tokens of a clause need not be next to each other.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from neurowhere.text.reading.document import Columns, Document
from neurowhere.text.reading.lexicon import NOTHING, Classes

LONGEST_SUBJECT = 16  # tokens
LABELLING = frozenset(":-(")  # links of clauses that tell of the one before them
SIGNS = {";": ";", ":": ":"} | dict.fromkeys(("—", " – ", " - ", " -- ", "→"), "-")
NO_SUBJECT = frozenset(["stop", "negator"])
OPENING = frozenset(["pronoun", "opening-cue"])
BEFORE_NOUN = frozenset(["modifier", "determiner", "side"])
Part = tuple[list[int], str]  # tokens, and what links them


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
        gap = self.gaps[i]
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
            if not self.columns.inside[j] and BEFORE_NOUN.isdisjoint(self.kinds[j]):
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
