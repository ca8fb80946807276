"""Clauses: what a sentence says one after the other, and what links it.

Signs part clauses (semicolons, colons, brackets, dashes), words do ("but", "although", "which"),
and so does a comma or an "and" before a subject with a verb of its own. A bracket is a clause
within another, which goes on after it: the tokens of a clause need not be next to each other.
"""

from bisect import bisect_left
from collections.abc import Iterator

from neurowhere.text.reading.document import Document

LONGEST_SUBJECT = 16  # tokens
PLAIN = frozenset([" ", "-", ", ", ",", ""])  # gaps that part no clauses
LABELLING = frozenset(":-(")  # links of clauses that tell of the one before them
DASHES = ("—", " – ", " - ", " -- ", "→")
NO_SUBJECT = frozenset(["stop", "negator"])
OPENING = frozenset(["pronoun", "opening-cue"])
BEFORE_NOUN = frozenset(["modifier", "determiner", "side"])
Part = tuple[list[int], str]  # tokens, and what links them


class Clause:
    """Tokens of a clause, what links it to what went before, and which clause that is.

    What is known of each token stands at its place: its classes and its word, the number of the
    name that begins with it or −1, whether it is within a name, a verb, or stands after a comma.
    """

    __slots__ = ("commas", "inside", "kinds", "link", "names", "number", "tokens", "verbs", "words")

    def __init__(self, sentence: "Sentence", tokens: list[int], link: str, number: int) -> None:
        document = sentence.document
        self.tokens, self.link, self.number = tokens, link, number
        self.kinds = [document.kinds[i] for i in tokens]
        self.words = [document.words[i] for i in tokens]
        self.names = [document.begins.get(i, -1) for i in tokens]
        self.inside = [i in document.covered for i in tokens]
        self.commas = [i in sentence.commas for i in tokens]
        self.verbs = [i in sentence.verbs for i in tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def named(self, start: int = 0, end: int | None = None) -> list[int]:
        """Names that begin between two places."""
        return [name for name in self.names[start:end] if name >= 0]


class Sentence:
    """A sentence of a document as clauses, in the order of the text.

    `verbs` are its finite verbs but for those within names, `commas` the tokens after a comma.
    """

    def __init__(self, document: Document, number: int) -> None:
        self.document, self.number = document, number
        self.first, self.end = document.sentences[number]
        self.kinds, self.gaps, self.covered = document.kinds, document.gaps, document.covered
        tokens = range(self.first, self.end)
        self.verbs = {i for i in tokens if "finite" in self.kinds[i] and self._is_free(i)}
        self.commas = {i for i in tokens if "," in self.gaps[i]}
        parts = [p for part in self._by_signs() for p in self._by_verbs(*part) if p[0]]
        parts.sort(key=lambda part: part[0][0])
        self.clauses = [Clause(self, *part, n) for n, part in enumerate(parts)]

    def place(self, i: int) -> tuple[Clause, int]:
        """Clause of a token, and its place there."""
        for clause in self.clauses:
            place = bisect_left(clause.tokens, i)
            if place < len(clause.tokens) and clause.tokens[place] == i:
                return clause, place
        raise IndexError(f"expected a token of the sentence, got {i}")

    def _is_free(self, i: int) -> bool:
        return i not in self.covered and self.document.word(i - 1) != "to"

    def _by_signs(self) -> Iterator[Part]:
        """Yield tokens between signs and linking words, and how they are linked."""
        current, link = list[int](), ""
        outer: list[Part] = []
        for i in range(self.first, self.end):
            gap = self.gaps[i] if i > self.first else ""
            if gap not in PLAIN:
                if (")" in gap or "]" in gap) and outer:
                    yield current, link
                    current, link = outer.pop()
                if sign := self._sign(i, gap):
                    if sign == "(":
                        outer.append((current, link))
                    else:
                        yield current, link
                    current, link = [], sign
            if current and self._is_turn(i):
                yield current, link
                current, link = [], self.document.words[i]
            current.append(i)
        yield current, link
        yield from outer

    def _is_turn(self, i: int) -> bool:
        """Whether token i is a word that begins a clause: "but", "which"."""
        is_turn = "turn" in self.kinds[i] and "not-word" not in self.kinds[i - 1]
        return is_turn and i not in self.document.inner

    def _sign(self, i: int, gap: str) -> str:
        """Sign before token i that parts clauses."""
        if "(" in gap or "[" in gap:
            return "("
        if ";" in gap:
            return ";"
        if ":" in gap:
            return "" if gap == ":" and self.document.words[i][0].isdigit() else ":"
        return "-" if any(dash in gap for dash in DASHES) else ""

    def _by_verbs(self, tokens: list[int], link: str) -> Iterator[Part]:
        """Cut a clause where another subject with a verb begins."""
        start, has_verb = 0, False
        is_led = bool(tokens) and "subordinate" in self.kinds[tokens[0]]
        if not is_led and self.verbs.isdisjoint(tokens):
            yield tokens, link
            return
        for place, i in enumerate(tokens):
            if place > start and self._is_cut(tokens, place, has_verb=has_verb, is_led=is_led):
                yield tokens[start:place], link
                start, link, has_verb, is_led = place, ",", False, False
            has_verb = has_verb or i in self.verbs
        yield tokens[start:], link

    def _is_cut(self, tokens: list[int], place: int, *, has_verb: bool, is_led: bool) -> bool:
        """Whether another subject begins at some place, or what is said after a leading phrase."""
        i = tokens[place]
        is_comma, is_joint = i in self.commas, "conjunction" in self.kinds[i]
        if not (is_comma or (is_joint and has_verb)) or not (has_verb or is_led):
            return False
        if is_led and self._is_new(i):
            return True
        return self._has_subject(tokens[place + is_joint :][:LONGEST_SUBJECT])

    def _is_new(self, i: int) -> bool:
        """Whether token i after a comma begins what is said after a leading phrase."""
        if not OPENING.isdisjoint(self.kinds[i]):
            return True
        for j in range(i, self.end):
            if "conjunction" in self.kinds[j]:
                return j > i and j in self.commas
            if j > i and j in self.commas:
                return True
            if j not in self.covered and BEFORE_NOUN.isdisjoint(self.kinds[j]):
                return True
        return True

    def _has_subject(self, tokens: list[int]) -> bool:
        """Whether some tokens begin with a subject and its verb."""
        for n, i in enumerate(tokens):
            if i in self.verbs:
                return n > 0
            if i not in self.covered and not NO_SUBJECT.isdisjoint(self.kinds[i]):
                return n == 0 and "pronoun" in self.kinds[i]
        return False
