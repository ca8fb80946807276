"""Hemispheres: sides that a clause gives to all its places, or in relation to another side.

"In the left hemisphere, the insula and the putamen responded"; "left: insula, putamen"; "putamen
and insula of the left hemisphere"; "the left hemisphere, including the insula"; "left hand:
contralateral motor cortex"; "putamen and insula, on the left and right, respectively".
"""

from bisect import bisect_left
from collections.abc import Callable

from neurowhere.text.clinical.places import ADJECTIVE, SIDE_WORDS, Attached, Side, Sides
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import word_set

OPENERS = (["in", "the"], ["within", "the"], ["on", "the"])  # before the side of a clause
WHOLES = word_set("hemisphere hemispheres side")
TURNS = word_set("and but whereas while")
INCLUDING = word_set("especially including namely notably particularly")
LISTED = word_set("and or the of both parts part")  # between the names of a list
OTHER = word_set("contralateral contralesional")
RELATED = OTHER | word_set("ipsilateral ipsilesional")
OPPOSITE: dict[Side, Side] = {"left": "right", "right": "left"}
REACH = 40  # tokens of a clause

Ahead = Callable[[int], list[int]]


def spread_sides(reading: Reading, sides: Sides, ahead: Ahead) -> Sides:
    """Add the sides that clauses give to those that names have of their own.

    Parameters
    ----------
    reading : Reading
    sides : Sides
    ahead : callable
        Returns the matches that a side at a token stands before.
    """
    spreader = _Spreader(reading, sides, ahead)
    spreader.share_in_order()
    spreader.relate()
    for tokens, side in spreader.openings():
        spreader.spread(tokens, side)
    spreader.close()
    spreader.include()
    return Sides(spreader.applied, [mark for mark in sides.unapplied if mark not in spreader.used])


class _Spreader:
    """Passes sides on within clauses."""

    def __init__(self, reading: Reading, sides: Sides, ahead: Ahead) -> None:
        self.reading, self.sides, self.ahead = reading, sides, ahead
        self.tokens, self.token = reading.tokens, reading.token
        self.applied = dict(sides.applied)
        self.used: set[tuple[Side, Tokens]] = set()  # marks that turned out to be of places
        words = [*(attached[:2] for attached in self.applied.values()), *sides.unapplied]
        self.words = sorted({(tokens, side) for side, tokens in words})

    # ---- a clause that begins with a side

    def openings(self) -> list[tuple[Tokens, Side]]:
        """Return the sides that clauses begin with: "on the left, …"."""
        return [(tokens, side) for tokens, side in self.words if self.opens(tokens.first)]

    def opens(self, i: int) -> bool:
        """Whether a clause begins with the side at token i."""
        is_whole = self.token(i + 1) in WHOLES
        after = self.reading.gap(i + 1 + is_whole)
        first = i - 2 if i > 1 and self.tokens[i - 2 : i] in OPENERS else i
        if ":" not in after and (first == i or not (is_whole or "," in after)):
            return False
        first -= self.token(first - 1) in TURNS
        return first <= 0 or self.reading.is_sentence_end(first)

    def spread(self, words: Tokens, side: Side) -> None:
        """Give a side to the places of the clause that it begins."""
        start = words.last + 1 + (self.token(words.last + 1) in WHOLES)
        for rank, number in enumerate(self.places(start, self.clause_end(start))):
            self.applied.setdefault(number, Attached(side, words, is_inherited=rank > 0))
            self.used.add((side, words))

    def clause_end(self, i: int) -> int:
        """First token after the clause of token i: at a sentence end or another side."""
        for j in range(i, min(i + REACH, len(self.tokens))):
            if self.reading.is_sentence_end(j) or self.tokens[j] in SIDE_WORDS:
                return j
        return min(i + REACH, len(self.tokens))

    # ---- a hemisphere after its places

    def close(self) -> None:
        """Give a side that ends a list to all of it: "insula and pons of the left hemisphere"."""
        for words, side in self.words:
            first = words.first - 2
            is_whole = self.token(words.last + 1) in WHOLES and first > 0
            if is_whole and self.tokens[first] in ("of", "in", "within"):
                for rank, number in enumerate(self.listed_before(first)):
                    self.applied.setdefault(number, Attached(side, words, is_inherited=rank > 0))
        for number, attached in list(self.applied.items()):
            if self.closes(attached.words.first, self.reading.last[number]):
                for listed in self.listed_before(self.reading.first[number]):
                    self.applied.setdefault(listed, attached._replace(is_inherited=True))

    def closes(self, i: int, last: int) -> bool:
        """Whether the side at token i ends a list: "insula and pons bilaterally"."""
        is_adverb = self.tokens[i] == "bilaterally" or "on" in self.tokens[max(i - 2, 0) : i]
        return i > last and is_adverb

    def listed_before(self, i: int) -> list[int]:
        """Return the places of the list that ends before token i, the nearest first."""
        names: list[int] = []
        i, lowest = i - 1, max(i - REACH, 0)
        while i >= lowest and not self.reading.is_sentence_end(i + 1):
            number = self.reading.finishes.get(i)
            if number is not None and self.reading.is_structure[number]:
                if number in self.applied:
                    break
                names.append(number)
                i = self.reading.first[number] - 1
            elif self.tokens[i] in LISTED or ADJECTIVE.fullmatch(self.tokens[i]):
                i -= 1
            else:
                break
        return names

    # ---- examples

    def include(self) -> None:
        """Pass the side of a place on to its parts: "left hemisphere, including the insula"."""
        for number, attached in list(self.applied.items()):
            end = self.reading.last[number] + 1
            if self.token(end) in INCLUDING or self.tokens[end : end + 2] == ["such", "as"]:
                start = end + 1 + (self.tokens[end] == "such")
                for part in self.listed(start):
                    self.applied.setdefault(part, attached._replace(is_inherited=True))

    def listed(self, i: int) -> list[int]:
        """Return the places of the list at token i."""
        names: list[int] = []
        highest = min(i + REACH, len(self.tokens))
        while i < highest and not self.reading.is_sentence_end(i):
            number = self.reading.begins.get(i)
            if number is not None and self.reading.is_structure[number]:
                names.append(number)
                i = self.reading.last[number] + 1
            elif self.tokens[i] in LISTED or ADJECTIVE.fullmatch(self.tokens[i]):
                i += 1
            else:
                break
        return names

    # ---- the same side, or the other

    def relate(self) -> None:
        """Give places the side of, or opposite to, one that is named before: "contralateral"."""
        for i in [i for i, token in enumerate(self.tokens) if token in RELATED]:
            side = self.reference(i)
            if side is None:
                continue
            side = OPPOSITE[side] if self.tokens[i] in OTHER else side
            for number in self.ahead(i):
                self.applied.setdefault(number, Attached(side, Tokens(i, i)))

    def reference(self, i: int) -> Side | None:
        """Last of the sides before token i in its sentence, if it is left or right."""
        number = bisect_left(self.words, ((i, i),)) - 1
        if number < 0 or self.words[number][0].first < self.sentence_start(i):
            return None
        side = self.words[number][1]
        return side if side in OPPOSITE else None

    def sentence_start(self, i: int) -> int:
        """First token of the sentence of token i, or of what is looked at."""
        first = i
        while first > max(0, i - REACH) and not self.reading.is_sentence_end(first):
            first -= 1
        return first

    # ---- respectively

    def share_in_order(self) -> None:
        """Share out two sides: "the putamen and insula, on the left and right, respectively"."""
        for end in (i for i, token in enumerate(self.tokens) if token == "respectively"):
            number = bisect_left(self.words, ((end, end),)) - 1
            first = self.sentence_start(end)
            pair = self.words[number][0] if number >= 0 else Tokens(0, 0)
            if pair.first < first or pair.first == pair.last:
                continue
            names = self.places(first, pair.first)[-2:]
            if len(names) < 2:
                names = self.places(pair.last + 1, end)[:2]
            for name, i in zip(names, pair, strict=False):
                self.applied[name] = Attached(SIDE_WORDS[self.tokens[i]], Tokens(i, i))

    def places(self, first: int, end: int) -> list[int]:
        """Return the matches between two tokens that are structures."""
        beginning = self.reading.beginning
        found = (number for i in range(first, end) for number in beginning.get(i, ()))
        return [number for number in found if self.reading.is_structure[number]]
