"""Sides: which name a "left", "right" or "bilateral" in a text qualifies.

A side goes forward to the name that it stands before ("left posterior superior temporal gyrus"),
through adjectives and their coordination ("left inferior and middle frontal gyri") and along a
list ("left thalamus, putamen and caudate"), or back to the name that it closes ("amygdala (left)",
"thalamus bilaterally"). It stays with brain structures and the territories of arteries: a limb, a
visual field or a symptom keeps it to itself ("left hand", "right hemianopia"), where it is a side
of the body, and crossed in the brain.

A clause may give a side to all its places: "in the left hemisphere, the insula and the putamen
responded"; "left: insula, putamen"; "putamen and insula of the left hemisphere"; "the left
hemisphere, including the insula"; or one in relation to another side: "left hand: contralateral
motor cortex"; "putamen and insula, on the left and right, respectively".
"""

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property

from neurowhere.text.clinical import places
from neurowhere.text.clinical.ellipsis import read_tables
from neurowhere.text.clinical.places import Attached, Side, Sides
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold

REACH = 8  # tokens that a side looks ahead for its name
REACH_BACK = 6  # tokens between a name and "on the left" or "bilaterally"
REACH_CLAUSE = 40  # tokens of a clause
REACH_BLOCK = 200  # tokens of the lines below a head
DASH = re.compile(r"[^\S\n]+([-–—][^\S\n]+)?")  # or spaces, within a line
BRACKET = re.compile(r"[(\[]$")
BLANK = re.compile(r"\n\s*\n")  # an empty line
SENTENCE_BREAK = re.compile(r"[.;:?!|()\[\]]|\n\s*\n|(?<![\n\t])\t")


def attach_sides(reading: Reading) -> Sides:
    """Find the matches that a side qualifies, and the sides that qualify none.

    A side also reaches places that are no terms, where `with_places` has added them to the reading.
    """
    tokens = reading.at_words(places.SIDE_WORDS.keys())
    if not (tokens or reading.sided):
        return Sides({}, [])
    reader = _SideReader(reading)
    sides = _Spreader(reading, reader.read(tokens), reader.ahead).spread_all()
    return Sides(read_tables(reading).sides | sides.applied, sides.unapplied)


class _SideReader(places.SideWords):
    """Reads a text around its sides."""

    def read(self, tokens: list[int]) -> Sides:
        """Attach the sides at some tokens, first directly, then along lists."""
        applied: dict[int, Attached] = {}
        unapplied: list[tuple[Side, Tokens]] = []
        done = -1  # last token of "left and right", read with the first
        for i in tokens:
            is_name = i in self.reading.inner or i in self.reading.sided
            if i <= done or is_name or not self.is_side(i):
                continue
            side: Side = "bilateral" if self.is_both(i) else places.SIDE_WORDS[self.tokens[i]]
            pair, other = self.opposite(i), self.excluded(i)
            if pair:
                side, done = "bilateral", pair
            words = Tokens(i, pair or i)
            if other:
                names = self.ahead(other, is_aside=True)
            else:
                names = self.ahead(words.last) or self.behind(words)
            names = [number for number in names if number not in applied]
            applied |= dict.fromkeys(names, Attached(side, words))
            if not names and self.is_marked(words):
                marks = sorted(set(words))
                unapplied += [(places.SIDE_WORDS[self.tokens[j]], Tokens(j, j)) for j in marks]
            if names and other:
                done = other
                unapplied.append((places.SIDE_WORDS[self.tokens[other]], Tokens(other, other)))
        for number, mark in [*applied.items(), *self.named(tokens)]:
            for listed in self.listed(number, mark.words):
                applied.setdefault(listed, mark._replace(is_inherited=True))
        for i, side in self.reading.sided.items():  # "rIFG"; a list of others does not share it
            numbers = self.reading.beginning.get(i) or [self.finishes.get(i, NO_TERM)]
            named = [each for each in numbers if each != NO_TERM and self.is_structure(each)]
            applied |= dict.fromkeys(named, Attached(side, Tokens(i, i)))
        return Sides(applied, unapplied)

    def named(self, tokens: list[int]) -> list[tuple[int, Attached]]:
        """Return the matches whose names begin with a side: "left putamen"."""
        return [
            (self.begins[i], Attached(places.SIDE_WORDS[self.tokens[i]], Tokens(i, i)))
            for i in tokens
            if i in self.reading.inner and i in self.begins
        ]

    # ---- the names after a side

    def ahead(self, i: int, *, is_aside: bool = False) -> list[int]:
        """Return the matches that the side at token i stands before; an aside ends at a comma."""
        adjectives: list[int] = []  # "frontal" in "left frontal and temporal lobes"
        j = i + 1
        while j < min(len(self.tokens), i + REACH) and not self.is_broken(i, j, is_aside):
            number = self.begins.get(j)
            end = j if number is None else self.last[number]
            head = self.tokens[end]
            if fold(head) in places.NOT_BRAIN and not self.is_structure(number):
                if fold(head) in places.WHOLLY_NOT_BRAIN:
                    return []
                break
            if number is not None and self.is_structure(number):
                if fold(self.tokens[j - 1]) in places.LESION:
                    break
                if not (places.ADJECTIVE.fullmatch(head) or self.goes_on(end)):
                    return self.nouns(i, adjectives, number)
                adjectives.append(number)
            elif not self.is_passed(i, j, head):
                break
            j = end + 1
        if self.tokens[i] == "both":
            return []
        return [number for number in adjectives if self.is_cerebral(number)]

    def nouns(self, i: int, adjectives: list[int], number: int) -> list[int]:
        """Adjectives and the name that they lead to; "both" wants it in the plural."""
        end = self.last[number]
        if self.tokens[i] == "both":
            is_plural = fold(self.tokens[end]) != self.tokens[end]
            return [number] if is_plural and self.token(end + 1) != "and" else []
        names = [*adjectives, number]
        while self.gap(end + 1) == "/" and self.is_structure(self.begins.get(end + 1)):
            names.append(self.begins[end + 1])  # "left amygdala/hippocampus"
            end = self.last[names[-1]]
        return names

    def is_broken(self, i: int, j: int, is_aside: bool) -> bool:
        """Whether punctuation or another side parts token j from the side at token i before it."""
        gap = self.gap(j)
        if self.tokens[j] in places.SIDE_WORDS:
            return True
        if j == i + 1 and self.tokens[i] in places.ABBREVIATIONS:
            gap = gap.removeprefix(".")
        if j == i + 1 and self.is_bracketed(i):
            gap = gap[1:]
        if "," in gap and self.tokens[j - 1] in places.TRAILING:
            return True  # "insula on the left side, putamen …"
        if j == i + 1 and "," in gap and not is_aside:
            return True
        return bool(SENTENCE_BREAK.search(gap)) or self.reading.is_sentence_end(j)

    def is_bracketed(self, i: int) -> bool:
        """Whether a side in brackets belongs to what follows: "(L) insula", not "insula (L)"."""
        if not (BRACKET.search(self.gap(i)) and self.gap(i + 1) in (") ", "] ")):
            return False
        is_tied = self.gap(i).strip() in ("(", "[") and i > 0
        before = self.finishes.get(i - 1)
        return not is_tied or not (self.is_structure(before) or self.is_lesion(i - 1))

    def is_lesion(self, i: int) -> bool:
        """Whether token i says what is wrong."""
        return fold(self.token(i)) in places.LESION

    def is_passed(self, i: int, j: int, head: str) -> bool:
        """Whether a side reaches its name across this word."""
        before = self.tokens[j - 1]
        if head in places.LEADING:
            is_led = (
                before in places.LED or fold(before) in places.LESION or before in places.LEADING
            )
            return is_led or (j == i + 1 and self.is_on_the(i))  # "on the left of the pons"
        if fold(before) in places.LESION and j > i + 1:
            return False
        if (
            head in places.FILLERS
            or head in places.LED
            or places.ADJECTIVE.fullmatch(head)
            or fold(head) in places.LESION
        ):
            return True
        if before == "bilaterally":
            return head.endswith("ed")  # "bilaterally reduced gray matter"
        return head in places.CONJUNCTIONS and j > i + 1

    def is_on_the(self, i: int) -> bool:
        """Whether the side at token i is that of "on the left"."""
        return self.tokens[max(i - 2, 0) : i] == ["on", "the"]

    def goes_on(self, end: int) -> bool:
        """Whether more of the place follows: "left white matter of the frontal lobe"."""
        return self.tokens[end] in places.LED and self.token(end + 1) in places.LEADING

    def is_cerebral(self, number: int) -> bool:
        """Whether an adjective alone speaks of the brain: "left frontal lesion"."""
        return not places.GENERAL_ADJECTIVE.fullmatch(self.tokens[self.last[number]])

    def listed(self, number: int, side: Tokens) -> list[int]:
        """Names of a closed list that share the side of its first: "left thalamus and putamen".

        A list whose later names have sides of their own, articles or other words passes none on,
        and so does one that began before the side: "insula, left thalamus and putamen".
        """
        names: list[int] = []
        if "," in self.gap(side.first) or self.token(side.first - 1) in places.CONJUNCTIONS:
            return names
        end = self.last[number]
        is_closed = (
            self.reading.first[number] == end and fold(self.tokens[end]) in places.GENERAL_PLACES
        )
        while not is_closed:
            j = end + 1
            is_closed = self.token(j) in places.CONJUNCTIONS
            if self.gap(j).strip() not in (("", ",") if is_closed else (",",)):
                return []
            j += is_closed
            while j not in self.begins and places.ADJECTIVE.fullmatch(self.token(j)):
                j += 1
            following = self.begins.get(j)
            if following is None or not self.is_structure(following):
                return []
            end = self.last[following]
            if not places.MIDLINE.isdisjoint(self.tokens[j : end + 1]):
                return []
            names.append(following)
        return names

    # ---- the name before a side

    def behind(self, words: Tokens) -> list[int]:
        """Match that a side closes: "amygdala (left)", "amygdala on the left"."""
        i = words.first
        if self.is_on_the(i):
            number = self.nearest(i - 3, REACH_BACK)
        elif self.tokens[i - 1 : i + 2] == ["on", "both", "sides"]:
            number = self.nearest(i - 2, REACH_BACK)
        elif self.tokens[i] == "bilaterally":  # "the thalami were spared bilaterally"
            number = self.nearest(i - 1, REACH_BACK)
        elif self.trails(words):
            number = self.nearest(i - 1 - (self.token(i - 1) == "on"), 2)
        elif self.closes(words):
            number = self.nearest(i - 1, 1)
        elif (colon := self.colon(i)) is not None:  # "hippocampus: mild left atrophy"
            number = self.nearest(colon - 1, 1)
        else:
            number = None
        return [] if number is None else [number]

    def colon(self, i: int) -> int | None:
        """Token after the colon before token i, with nothing but adjectives between them."""
        for j in range(i, max(i - REACH_BACK, 0), -1):
            if self.gap(j).strip() == ":":
                is_head = self.gap(i + 1).startswith(":")  # of what follows
                return None if is_head and "\n" in self.gap(j) else j
            is_near = self.gap(j).isspace() and "\n" not in self.gap(j)
            if not is_near or self.is_structure(self.finishes.get(j - 1)):
                return None
        return None

    def nearest(self, i: int, reach: int) -> int | None:
        """Structure that ends at token i, or before it with lesions and `reach` words between."""
        for j in range(i, max(i - reach, -1), -1):
            if self.is_structure(self.finishes.get(j)):
                return self.finishes[j]
            if fold(self.token(j)) in places.NOT_BRAIN or self.token(j) in places.SIDE_WORDS:
                return None
            if SENTENCE_BREAK.search(self.gap(j).replace(":", "")) or "," in self.gap(j):
                return None
            if fold(self.token(j)) in places.LESION:
                return self.nearest(j - 1, max(reach - 1, 1))
        return None

    def trails(self, words: Tokens) -> bool:
        """Whether a side comes after all that it belongs to: "thalamic infarct left", "on right".

        A place, what is wrong with it or "on" stands right before, and a number or no word after.
        """
        token, before = self.tokens[words.first], self.token(words.first - 1)
        after = words.last + 1 + (self.token(words.last + 1) in places.TRAILING)
        if token not in ("left", "right") or not DASH.fullmatch(self.gap(words.first)):
            return False
        is_said = before == "on" or fold(before) in places.LESION or before in places.LED
        is_last = not self.gap(after).isspace() or self.token(after).isdigit()
        return is_last and (is_said or self.is_structure(self.finishes.get(words.first - 1)))

    def closes(self, words: Tokens) -> bool:
        """Whether punctuation ties a side to the word before it rather than to the next."""
        token = self.tokens[words.first]
        before, after = self.gap(words.first), self.gap(words.last + 1)
        if token == "both" or SENTENCE_BREAK.search(before.replace("(", "")):
            return False
        if token.startswith("bil") or "(" in before:
            return True
        ends_here = not after.isspace() or self.token(words.last + 1).isdigit()
        if token in places.LETTERS:
            return ends_here
        return "," in before and ends_here


class _Spreader:
    """Passes sides on within clauses.

    Parameters
    ----------
    reading : Reading
    sides : Sides
        Those that names have of their own.
    ahead : callable
        Returns the matches that a side at a token stands before.
    """

    def __init__(self, reading: Reading, sides: Sides, ahead: Callable[[int], list[int]]) -> None:
        self.reading, self.sides, self.ahead = reading, sides, ahead
        self.tokens, self.token = reading.tokens, reading.token
        self.applied = dict(sides.applied)
        self.used: set[tuple[Side, Tokens]] = set()  # marks that turned out to be of places
        words = [*(attached[:2] for attached in self.applied.values()), *sides.unapplied]
        words += [(places.SIDE_WORDS[self.tokens[i]], Tokens(i, i)) for i in self.heads]
        self.words = sorted({(tokens, side) for side, tokens in words})

    def spread_all(self) -> Sides:
        """Add the sides that clauses give to those that names have of their own."""
        self.share_in_order()
        self.relate_back()
        self.relate()
        for tokens, side in self.words:
            start = self.head_end(tokens)
            if start is not None:
                self.spread(start, tokens, side)
        self.close()
        self.include()
        return Sides(self.applied, [mark for mark in self.sides.unapplied if mark not in self.used])

    # ---- a clause that begins with a side

    @cached_property
    def heads(self) -> list[int]:
        """Tokens of sides that head a line or a sentence: "LH: …", "Left:"."""
        return [
            i
            for i in self.reading.at_words(places.SIDE_WORDS.keys())
            if self.reading.gap(i + 1).startswith(":")
            and (i == 0 or self.reading.is_sentence_end(i))
            and not (self.tokens[i] in places.ABBREVIATIONS and self.reading.written(i).islower())
        ]

    def head_end(self, words: Tokens) -> int | None:
        """First token after a side that begins a clause: "on the left, …", "left MCA: …"."""
        i, end = words.first, words.last + 1
        is_whole = self.token(end) in places.WHOLES
        end += is_whole
        if words in self.named:
            named = self.named[words] + 1
            named += fold(self.token(named)) in places.LESION
            end = named if ":" in self.reading.gap(named) else end
        after = self.reading.gap(end)
        first = i - 2 if i > 1 and self.tokens[i - 2 : i] in places.OPENERS else i
        is_open = first < i or self.tokens[i] == "bilaterally"
        if ":" not in after and not (is_open and (is_whole or "," in after)):
            return None
        first -= self.token(first - 1) in places.TURNS
        return end if first <= 0 or self.reading.is_sentence_end(first) else None

    @cached_property
    def named(self) -> dict[Tokens, int]:
        """Last token of the places that stand after a side of theirs, by its words."""
        ends: dict[Tokens, int] = {}
        for number, attached in self.sides.applied.items():
            end = self.reading.last[number]
            if end > attached.words.last:
                ends[attached.words] = max(end, ends.get(attached.words, 0))
        return ends

    def spread(self, start: int, words: Tokens, side: Side) -> None:
        """Give a side to the places of the clause that it begins, but for those in the middle."""
        gap = self.reading.gap(start)
        if ":" in gap:
            end = self.block_end(start) if "\n" in gap else self.line_end(start)
        else:
            end = self.clause_end(start)
        for rank, number in enumerate(self.places(start, end)):
            if start == words.last + 1 or not self.is_midline(number):
                self.applied.setdefault(number, Attached(side, words, is_inherited=rank > 0))
            self.used.add((side, words))

    def clause_end(self, i: int) -> int:
        """First token after the clause of token i: at a sentence end or another side."""
        for j in range(i, min(i + REACH_CLAUSE, len(self.tokens))):
            if self.reading.is_sentence_end(j) or self.tokens[j] in places.SIDE_WORDS:
                return j
        return min(i + REACH_CLAUSE, len(self.tokens))

    def line_end(self, i: int) -> int:
        """First token after what a colon before token i heads: the line, or its sentence alone.

        In a text of several lines a head goes for all sentences of its line, up to another head.
        """
        end = self.clause_end(i)
        while end < len(self.tokens) and self.reading.is_sentence_end(end):
            gap, following = self.reading.gap(end), self.clause_end(end + 1)
            is_joined = "\n" not in gap and (";" in gap or "\n" in self.reading.text)
            is_headed = any(":" in self.reading.gap(j) for j in range(end + 1, following + 1))
            if not is_joined or is_headed or self.tokens[end] in places.SIDE_WORDS:
                break
            end = following
        return end

    def block_end(self, i: int) -> int:
        """First token after the lines that a line ahead of token i heads: "Left:", alone in it.

        They end with an empty line, and before another line that is a head, or begins with a side.
        """
        line = i
        for j in range(i + 1, min(i + REACH_BLOCK, len(self.tokens))):
            gap = self.reading.gap(j)
            if "\n" not in gap:
                continue
            if BLANK.search(gap) or self.tokens[j] in places.SIDE_WORDS:
                return j
            if ":" in gap:
                return line
            line = j
        return min(i + REACH_BLOCK, len(self.tokens))

    # ---- a hemisphere after its places

    def close(self) -> None:
        """Give a side that ends a list to all of it: "insula and pons of the left hemisphere"."""
        for words, side in self.words:
            first = words.first - 2
            is_whole = self.token(words.last + 1) in places.WHOLES and first > 0
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
        i, lowest = i - 1, max(i - REACH_CLAUSE, 0)
        while i >= lowest and not self.reading.is_sentence_end(i + 1):
            number = self.reading.finishes.get(i)
            if number is not None and self.reading.is_structure[number]:
                if number in self.applied:
                    break
                names.append(number)
                i = self.reading.first[number] - 1
            elif self.tokens[i] in places.LISTED or places.ADJECTIVE.fullmatch(self.tokens[i]):
                i -= 1
            else:
                break
        return names

    # ---- examples

    def include(self) -> None:
        """Pass the side of a place on: "left hemisphere, including the insula".

        So does what extends: "left insular glioma extending into the putamen".
        """
        for number, attached in list(self.applied.items()):
            end = self.reading.last[number] + 1
            end += fold(self.token(end)) in places.LESION or self.token(end).endswith("ectomy")
            end += self.token(end) == "with" and self.token(end + 1) in places.EXTENDING
            is_such = self.tokens[end : end + 2] == ["such", "as"]
            is_more = self.token(end) in places.EXTENDING
            if is_such or is_more or self.token(end) in places.INCLUDING:
                start = end + 1 + is_such
                while is_more and self.token(start) in places.TOWARDS:
                    start += 1
                for part in self.listed(start):
                    if not (is_more and self.is_midline(part)):
                        self.applied.setdefault(part, attached._replace(is_inherited=True))

    def is_midline(self, number: int) -> bool:
        """Whether a match lies in the middle, or on the other side."""
        name = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return not places.MIDLINE.isdisjoint(name)

    def listed(self, i: int) -> list[int]:
        """Return the places of the list at token i."""
        names: list[int] = []
        highest = min(i + REACH_CLAUSE, len(self.tokens))
        while i < highest and not self.reading.is_sentence_end(i):
            number = self.reading.begins.get(i)
            if number is not None and self.reading.is_structure[number]:
                names.append(number)
                i = self.reading.last[number] + 1
            elif self.tokens[i] in places.LISTED or places.ADJECTIVE.fullmatch(self.tokens[i]):
                i += 1
            else:
                break
        return names

    # ---- the same side, or the other

    def relate(self) -> None:
        """Give places the side of, or opposite to, one that is named before: "contralateral"."""
        for i in self.reading.at_words(places.RELATED):
            side = self.reference(i)
            if side is None:
                continue
            side = places.OPPOSITE[side] if self.tokens[i] in places.OTHER else side
            for number in self.ahead(i):
                self.applied.setdefault(number, Attached(side, Tokens(i, i)))
                for listed in self.listed_with(number):
                    inherited = Attached(side, Tokens(i, i), is_inherited=True)
                    self.applied.setdefault(listed, inherited)

    def listed_with(self, number: int) -> list[int]:
        """Return the other places of a list, up to one that has a word for its side of its own."""
        start = self.reading.last[number] + 1
        names = [each for each in self.listed(start) if not self.is_midline(each)]
        own = {*places.SIDE_WORDS, *places.RELATED}
        end = next((i for i in range(start, len(self.tokens)) if self.tokens[i] in own), None)
        return [each for each in names if end is None or self.reading.first[each] < end]

    def relate_back(self) -> None:
        """Give the place before "contralateral to the right arm" its side."""
        for i in self.reading.at_words(places.RELATED | {"opposite"}):
            number = self.reading.finishes.get(i - 1)
            if number is None or self.token(i + 1) != "to" or not self.reading.is_structure[number]:
                continue
            after = bisect_left(self.words, ((i, i),))
            for tokens, side in self.words[after : after + 1]:
                if tokens.first <= i + REACH and side in places.OPPOSITE:
                    is_same = self.tokens[i].startswith("ipsi")
                    side = side if is_same else places.OPPOSITE[side]
                    self.applied.setdefault(number, Attached(side, Tokens(i, i)))

    def reference(self, i: int) -> Side | None:
        """Side that "contralateral" at token i is related to, if it is left or right.

        It is the last before it in the sentence, or else the next if that is of a cause ("after
        left stroke"), or else that of the sentences before if they name but one.
        """
        number = bisect_left(self.words, ((i, i),))
        first = self.sentence_start(i)
        here = [side for tokens, side in self.words[:number] if tokens.first >= first][-1:]
        if not here:
            after = self.words[number : number + 1]
            here = [side for tokens, side in after if self.is_cause(i, tokens.first)]
        near = {side for tokens, side in self.words[:number] if tokens.first >= i - REACH_CLAUSE}
        found = here or (list(near) if len(near) == 1 else [])
        return found[0] if found and found[0] in places.OPPOSITE else None

    def is_cause(self, i: int, j: int) -> bool:
        """Whether the side at token j tells what happened to which side: "after left stroke"."""
        j -= self.token(j - 1) in ("a", "an", "the")
        return j <= self.clause_end(i) and self.token(j - 1) in places.CAUSING

    def sentence_start(self, i: int) -> int:
        """First token of the sentence of token i, or of what is looked at."""
        first = i
        while first > max(0, i - REACH_CLAUSE) and not self.reading.is_sentence_end(first):
            first -= 1
        return first

    # ---- respectively

    def share_in_order(self) -> None:
        """Share out two sides: "the putamen and insula, on the left and right, respectively"."""
        for end in self.reading.where.get("respectively", ()):
            number = bisect_left(self.words, ((end, end),)) - 1
            first = self.sentence_start(end)
            pair = self.words[number][0] if number >= 0 else Tokens(0, 0)
            if pair.first < first or pair.first == pair.last:
                continue
            after = self.places(pair.last + 1, end)
            own = [number for number in after if self.applied.get(number, [None] * 2)[1] == pair]
            if len(own) == 1 and not self.is_general(own[0]):
                continue  # "left and right amygdala … fear and disgust, respectively"
            names = self.places(first, pair.first)[-2:]
            if len(names) < 2:
                names = own[:2] if len(own) > 1 else [each for each in after if each not in own][:2]
            if len(names) < 2:
                names = self.places(end + 1, self.clause_end(end + 1))[:2]
            for name, i in zip(names if len(names) == 2 else (), pair, strict=False):
                self.applied[name] = Attached(places.SIDE_WORDS[self.tokens[i]], Tokens(i, i))

    def is_general(self, number: int) -> bool:
        """Whether a match is no more than a half of the brain: "left hemisphere"."""
        return fold(self.tokens[self.reading.last[number]]) in places.GENERAL_PLACES

    def places(self, first: int, end: int) -> list[int]:
        """Return the matches between two tokens that are structures."""
        beginning = self.reading.beginning
        found = (number for i in range(first, end) for number in beginning.get(i, ()))
        return [number for number in found if self.reading.is_structure[number]]
