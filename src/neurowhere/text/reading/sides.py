"""Sides: which name a "left", "right" or "bilateral" is of.

A side is of the name that it stands before ("left posterior insula"), or that it closes ("insula
(left)", "thalamus on the left"). From there it goes along a list, and on to what a finding extends
to or includes. A side that begins a clause is of all places of the clause, up to another side. A
limb, a field or a sign keeps its side: it is one of the body. What has no other gets the side that
the text gives to the lesion it goes on to speak of.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from neurowhere.text.matching import NO_TERM
from neurowhere.text.reading.document import Document, Name, Side
from neurowhere.text.reading.lexicon import ADJECTIVE, side_of
from neurowhere.text.words import fold

REACH, REACH_BACK = 8, 6  # tokens ahead and back from a side to its name
MOST_UNKNOWN = 2  # words before a name that do not look like adjectives
OPPOSITE: dict[str, Side] = {"left": "right", "right": "left"}
BREAK = re.compile(r"[.;:?!|()\[\]]|\n\s*\n|\t")
CONTRASTS = (["but", "not"], ["and", "not"], ["rather", "than"], ["not"])
JOINTS = (["and"], ["or"], ["nor"], ["nor", "the"], ["and", "the"], ["versus"])  # of two sides
LETTERS = frozenset("lr")
# Adjectives that say nothing of the brain unless a structure follows: "left visual field".
GENERAL_ADJECTIVE = re.compile(
    r"(?!paracentral|postcentral|precentral).*(anterior|posterior|superior|inferior|medial|lateral"
    r"|dorsal|ventral|rostral|caudal|central)|auditory|facial|gustatory|motor|olfactory|optic"
    r"|peripheral|sensory|sensorimotor|somatosensory|spinal|vestibular|visual|vocal"
)
SIDE_OF = {"left": "left", "right": "right", "bilateral": "bilateral"}


class Attached(NamedTuple):
    """A side of a name, the tokens that say so, and whether it comes from earlier in a list.

    Of two sides, `dominant` is the one that has more: "left greater than right".
    """

    side: Side
    first: int
    end: int
    is_inherited: bool = False
    dominant: Side | None = None
    row: str = "sides:before"


@dataclass
class Sides:
    """Sides of structures, and of limbs, by the number of the name; and those of anything else."""

    applied: dict[int, Attached] = field(default_factory=dict)
    limbs: dict[int, Attached] = field(default_factory=dict)
    unapplied: list[Attached] = field(default_factory=list)


def read_sides(document: Document, tokens: Sequence[int]) -> tuple[Document, Sides]:
    """Find the names that the sides at some tokens are of.

    A side may stand for a name ("the left is small"): the document has this name then.
    """
    if not tokens and not document.sided:
        return document, Sides()
    reader = SideReader(document, tokens)
    sides = reader.read()
    more = list(reader.others())
    if not more:
        return document, sides
    document = document.renamed([*document.names, *(name for name, _ in more)])
    document.sided.update({name.first: mark.side for name, mark in more})
    return document, SideReader(document, tokens).read()


class SideReader:
    """Reads a text around its sides."""

    def __init__(self, document: Document, tokens: Sequence[int]) -> None:
        self.document, self.tokens = document, tokens
        self.words, self.gaps, self.kinds = document.words, document.gaps, document.kinds
        self.names, self.begins = document.names, document.begins
        self.finishes = {name.end - 1: number for number, name in enumerate(self.names)}
        self.starts = frozenset(document.sentence_starts)
        self.sides = Sides()

    def read(self) -> Sides:
        """Attach sides directly, then along lists and clauses."""
        marks = list(self.marks())
        spread: list[Attached] = []
        for mark in marks:
            names = self.ahead(mark) or self.behind(mark)
            limbs = [] if names else self.limbs(mark)
            for number in names:
                self.sides.applied.setdefault(number, mark)
            for number in limbs:
                self.sides.limbs[number] = mark
            if self.heads(mark, names):
                spread.append(mark)
            elif not names and not limbs and self.is_marked(mark):
                self.sides.unapplied.append(mark)
        for i, side in self.document.sided.items():
            named = self.begins.get(i, self.finishes.get(i))
            if named is not None and self.is_structure(named):
                self.sides.applied.setdefault(named, Attached(side, i, i + 1, row="sides:letter"))
        for mark in spread:
            self.spread(mark)
        for number, mark in [*self.sides.applied.items()]:
            self.along(number, mark)
        self.close()
        self.share_in_order(marks)
        self.relate(marks)
        self.share_limbs()
        return self.sides

    # ---- marks

    def marks(self) -> Iterator[Attached]:
        """Yield the sides of the text: pairs as one, and "but not left" not at all."""
        done = -1
        for i in self.tokens:
            if i <= done or i in self.document.inner or i in self.document.sided:
                continue
            side = self.side_at(i)
            if side is None:
                continue
            mark = self.pair(i, side) or Attached(side, i, i + 1)
            if (other := self.set_against(mark)) is not None:
                self.sides.unapplied.append(Attached(OPPOSITE[side], other, other + 1))
                mark = mark._replace(end=other + 1)
            done = mark.end - 1
            if self.is_excluded(mark):
                self.sides.unapplied.append(mark)
                continue
            yield self.with_dominance(mark)

    def side_at(self, i: int) -> Side | None:
        """Side of token i, if it is written as one: "L amygdala", not "l" or "RT"."""
        word = self.words[i]
        side = side_of(word)
        if side is None:
            return None
        if self.words[max(i - 1, 0) : i + 1] == ["b", "l"] and self.gaps[i] == "/":
            return "bilateral"
        if word in LETTERS and not self.document.written(i).isupper():
            return None
        if word in ("lh", "rh"):
            is_near = self.gaps[i + 1][:1] in (" ", "-", ".", "_", ":", ",")
            return side if is_near else None
        if word in ("lt", "rt") and not self.gaps[i + 1].startswith("."):
            is_led = i + 1 in self.begins or "modifier" in self.kinds_at(i + 1)
            return side if is_led else None
        return side

    def kinds_at(self, i: int) -> frozenset[str]:
        """Classes of a token, none beyond the text."""
        return self.kinds[i] if 0 <= i < len(self.kinds) else frozenset()

    def word(self, i: int) -> str:
        """Return a word, empty beyond the text."""
        return self.document.word(i)

    def pair(self, i: int, side: Side) -> Attached | None:
        """Both sides, where the other one follows: "left and right", "L > R", "left than right"."""
        j, end = i + 1, min(i + REACH, len(self.words))
        while side in OPPOSITE and j < end and self.is_comparing(j):
            j += 1
        is_other = j < len(self.words) and side_of(self.words[j]) == OPPOSITE.get(side)
        if not is_other or self.side_at(j) is None:
            return None
        signs = "".join(self.gaps[i + 1 : j + 1])
        between = self.words[i + 1 : j]
        is_more = "than" in between or ">" in signs or "<" in signs
        is_joined = is_more or between in JOINTS or (not between and "/" in signs)
        if not is_joined or any(sign in signs for sign in ",:;"):
            return None
        dominant = self.with_more(i, j, signs, side) if is_more else None
        return Attached("bilateral", i, j + 1, dominant=dominant, row="sides:pair")

    def with_more(self, i: int, j: int, signs: str, side: Side) -> Side:
        """Side that has more, of that at token i and the other one at token j."""
        near = range(max(i - REACH, 0), j)
        is_less = "<" in signs or any("lesser" in self.kinds[k] for k in near)
        return OPPOSITE[side] if is_less else side

    def is_comparing(self, j: int) -> bool:
        """Whether token j may stand between two sides that are compared."""
        return bool(
            self.words[j] in ("than", "and", "or", "nor", "the", "on", "in", "versus")
            or not {"comparative", "degree", "slightly"}.isdisjoint(self.kinds[j])
        )

    def set_against(self, mark: Attached) -> int | None:
        """Token of the other side in "left, but not right, insula"."""
        words = self.words[mark.end : mark.end + 4]
        for phrase in CONTRASTS:
            j = mark.end + len(phrase)
            if words[: len(phrase)] == phrase and mark.side in OPPOSITE:
                j += self.word(j) == "the"
                is_other = j < len(self.words) and side_of(self.words[j]) == OPPOSITE[mark.side]
                return j if is_other else None
        return None

    def is_excluded(self, mark: Attached) -> bool:
        """Whether a side is set against another one: "right but not left insula"."""
        before = self.words[max(mark.first - 2, 0) : mark.first]
        near = range(max(mark.first - 5, 0), mark.first - 1)
        is_not = before[-1:] == ["not"] or before == ["rather", "than"] or before == ["not", "the"]
        return is_not and any(side_of(self.words[i]) for i in near)

    def with_dominance(self, mark: Attached) -> Attached:
        """Return both sides for one that has more: "worse on the left", "left-predominant"."""
        i = mark.first
        if mark.side not in OPPOSITE:
            return mark
        while self.word(i - 1) in ("on", "the"):
            i -= 1
        is_more = not {"comparative"}.isdisjoint(self.kinds_at(i - 1)) and i < mark.first
        after = mark.end + (self.word(mark.end) in ("sided", "side"))
        is_more |= "predominant" in self.kinds_at(after)
        is_more |= "mainly" in self.kinds_at(i - 1) and i < mark.first
        if not is_more:
            return mark
        side = OPPOSITE[mark.side] if "lesser" in self.kinds_at(i - 1) else mark.side
        return mark._replace(side="bilateral", dominant=side, row="sides:more")

    def is_marked(self, mark: Attached) -> bool:
        """Whether a side that is of no structure is one: not "the right answer"."""
        word, before, after = self.words[mark.first], self.word(mark.first - 1), self.word(mark.end)
        kinds = self.kinds_at(mark.end)
        if word == "both":
            return "not-brain" in kinds
        if word in ("left", "right"):
            other = "verb-left" if word == "left" else "other-right"
            return before in ("the", "to") or other not in kinds
        if word in ("bilateral", "bilaterally"):
            return True
        is_near = self.gaps[mark.end] in (" ", "-", ". ")
        return is_near and (
            not {"not-brain", "filler"}.isdisjoint(kinds) or bool(ADJECTIVE.fullmatch(after))
        )

    # ---- names

    def is_structure(self, number: int | None) -> bool:
        """Whether a name is of a part of the brain: "frontal eye field", not "visual field"."""
        if number is None or not self.names[number].is_structure:
            return False
        name = self.names[number]
        kinds = self.kinds[name.end - 1]
        if "lesion" in kinds:
            return name.end - name.first > 1
        return "not-brain" not in kinds or "before-part" in self.kinds_at(name.end - 2)

    def is_midline(self, name: Name) -> bool:
        """Whether a name is of the middle, or crossed."""
        return any("midline" in self.kinds[i] for i in range(name.first, name.end))

    def places(self, first: int, end: int) -> list[int]:
        """Return the structures that begin within some tokens."""
        return [
            self.begins[i]
            for i in range(first, min(end, len(self.words)))
            if i in self.begins and self.is_structure(self.begins[i])
        ]

    # ---- ahead

    def ahead(self, mark: Attached) -> list[int]:
        """Return the names that a side stands before."""
        start = mark.end
        if mark.dominant and self.word(start) in ("of", "in"):
            start += 1
        adjectives: list[int] = []
        j, n_unknown = start, 0
        is_open = True
        while is_open and j < min(len(self.words), mark.end + REACH):
            if self.is_broken(mark, j):
                break
            number = self.begins.get(j)
            end = j + 1 if number is None else self.names[number].end
            if self.is_structure(number):
                assert number is not None
                if "lesion" in self.kinds[j - 1] and j > start:
                    break
                if not self.is_adjective(number):
                    return self.nouns(mark, adjectives, number)
                adjectives.append(number)
            else:
                is_open, is_unknown = self.is_passed(mark, j, end)
                n_unknown += is_unknown
                is_open &= n_unknown <= MOST_UNKNOWN
            j = end
        if self.words[mark.first] == "both":
            return []
        return [n for n in adjectives if not GENERAL_ADJECTIVE.fullmatch(self.head(n))]

    def head(self, number: int) -> str:
        """Last word of a name."""
        return self.words[self.names[number].end - 1]

    def is_adjective(self, number: int) -> bool:
        """Whether a name wants a noun after it: "left frontal …", "left white matter of the"."""
        name = self.names[number]
        is_inverted = name.end - name.first > 1 and GENERAL_ADJECTIVE.fullmatch(self.head(number))
        goes_on = "led" in self.kinds[name.end - 1] and "leading" in self.kinds_at(name.end)
        return goes_on or bool(ADJECTIVE.fullmatch(self.head(number)) and not is_inverted)

    def nouns(self, mark: Attached, adjectives: list[int], number: int) -> list[int]:
        """Return adjectives and the name that they lead to; "both" wants it in the plural."""
        end = self.names[number].end
        if self.words[mark.first] == "both":
            head = self.words[end - 1]
            return [number] if fold(head) != head and self.word(end) != "and" else []
        names = [*adjectives, number]
        while self.gaps[end] == "/" and self.is_structure(self.begins.get(end)):
            names.append(self.begins[end])
            end = self.names[names[-1]].end
        return names

    def is_broken(self, mark: Attached, j: int) -> bool:
        """Whether a sign or another side parts token j from a side before it."""
        gap = self.gaps[j]
        if not {"left", "right", "bilateral", "other-side"}.isdisjoint(self.kinds[j]):
            return j not in self.document.inner
        if j == mark.end:
            gap = gap.removeprefix(".") if self.words[mark.end - 1] not in SIDE_OF else gap
            if gap[:1] in ")]" and self.is_bracketed(mark):
                gap = gap[1:]
            is_aside = mark.end > mark.first + 2
            if "," in gap:
                return not (mark.dominant or is_aside)
        if j in self.starts or (BREAK.search(gap) and not self.is_size(j - 1)):
            return True
        return "," in gap and not (
            "modifier" in self.kinds[j - 1] and "modifier" in self.kinds[j] and j not in self.begins
        )

    def is_size(self, i: int) -> bool:
        """Whether token i is a number: "left 3.5 cm hematoma"."""
        return self.words[i].isdigit() and self.gaps[i + 1] == "."

    def is_bracketed(self, mark: Attached) -> bool:
        """Whether a side in brackets is of what follows: "(L) insula", not "insula (L)"."""
        i = mark.first
        if self.gaps[i][-1:] not in ("(", "["):
            return False
        before = self.finishes.get(i - 1)
        return not (self.is_structure(before) or "lesion" in self.kinds_at(i - 1))

    def is_passed(self, mark: Attached, j: int, end: int) -> tuple[bool, bool]:
        """Whether a side reaches its name across a word, and whether that is an unknown one."""
        kinds, before = self.kinds[end - 1], self.kinds_at(j - 1)
        if "not-brain" in kinds:
            return False, False
        if "leading" in kinds:
            is_led = not {"led", "lesion", "leading", "of-place"}.isdisjoint(before)
            is_on = j == mark.end and self.word(mark.first - 1) == "the"
            return is_led or (is_on and self.word(mark.first - 2) == "on"), False
        if "lesion" in before and j > mark.end:
            return False, False
        if not {"filler", "led", "lesion", "modifier", "adverb"}.isdisjoint(kinds):
            return self.words[mark.end - 1] != "bilaterally" or "modifier" in kinds, False
        if "conjunction" in kinds:
            return j > mark.end, False
        is_word = self.words[j].isdigit() or self.words[j] in ("x", "mm", "cm", "t1", "t2", "flair")
        if is_word:
            return True, False
        stops = {"preposition", "finite", "stop", "determiner", "pronoun", "people", "auxiliary"}
        stops |= {"verb-left", "other-right", "extending", "including", "related", "negator"}
        is_noun = j in self.begins or not stops.isdisjoint(kinds) or len(self.words[j]) < 2
        return not is_noun and self.words[mark.end - 1] != "bilaterally", True

    # ---- behind

    def behind(self, mark: Attached) -> list[int]:
        """Return the name that a side closes: "amygdala (left)", "amygdala on the left"."""
        i = mark.first
        if mark.row == "sides:more":
            return self.nearest(self.before_comparison(i), REACH_BACK, across=True)
        if self.words[max(i - 2, 0) : i] == ["on", "the"]:
            return [] if i - 2 in self.starts else self.nearest(i - 3, REACH_BACK)
        if self.word(i - 1) == "on" and self.word(mark.end) in ("side", "sides"):
            return self.nearest(i - 2, REACH_BACK)
        if self.words[i] == "bilaterally" or "lateralised" in self.kinds_at(mark.end):
            return self.nearest(i - 1, REACH_BACK)
        return self.by_signs(mark) or self.labelled(mark)

    def before_comparison(self, i: int) -> int:
        """Last token before what compares the side at a token: "worse on the left"."""
        comparing = {"comparative", "mainly", "slightly", "degree"}
        i -= 1
        while i >= 0 and (
            self.words[i] in ("on", "the") or not comparing.isdisjoint(self.kinds[i])
        ):
            i -= 1
        return i

    def by_signs(self, mark: Attached) -> list[int]:
        """Return the name that signs, or the end of what is said, tie a side to."""
        i, word = mark.first, self.words[mark.first]
        end = mark.end + (self.word(mark.end) in ("side", "sided"))
        before, after = self.gaps[i], self.gaps[end]
        is_last = not after.isspace() or self.word(end).isdigit()
        is_closed = "(" in before or (("," in before or word.startswith("bil")) and is_last)
        if is_closed and not BREAK.search(before.replace("(", "")):
            return self.nearest(i - 1, 3 if mark.dominant else 1)
        is_tied = before.strip(" -–—") == "" and "\n" not in before
        if is_tied and is_last and (word in SIDE_OF or word in LETTERS):
            return self.nearest(i - 1 - (self.word(i - 1) == "on"), 2)
        return []

    def labelled(self, mark: Attached) -> list[int]:
        """Return the name of a label before a side: "hippocampus: mild left atrophy"."""
        for j in range(mark.first, max(mark.first - 4, 0), -1):
            gap = self.gaps[j]
            if ":" in gap and "\n" not in gap:
                return self.nearest(j - 1, 1)
            if not gap.isspace() or "modifier" not in self.kinds_at(j - 1):
                break
        return []

    def nearest(self, i: int, reach: int, *, across: bool = False) -> list[int]:
        """Return the structure that ends at token i, or not far before it."""
        for j in range(i, max(i - reach, -1), -1):
            number = self.finishes.get(j)
            if self.is_structure(number):
                assert number is not None
                return [number]
            kinds = self.kinds_at(j)
            if "not-brain" in kinds or not SIDE_OF.keys().isdisjoint(kinds):
                return []
            gap = self.gaps[j]
            if j in self.starts or (BREAK.search(gap) and "(" not in gap):
                return []
            if "," in gap and not across:
                return []
            if not {"lesion", "of-place"}.isdisjoint(kinds):
                reach += 1
        return []

    # ---- limbs

    def limbs(self, mark: Attached) -> list[int]:
        """Return the limb or the sign that a side is of: "left index finger"."""
        after = self.word(mark.end)
        kinds = self.kinds_at(mark.end)
        if "handed" in kinds or (after == "hand" and "preferred" in self.kinds_at(mark.end + 1)):
            return []
        for j in range(mark.end, min(mark.end + 4, len(self.words))):
            if self.gaps[j] not in (" ", "-"):
                break
            if j in self.begins and self.is_limb(self.begins[j]):
                return [self.begins[j]]
            if "of-limb" not in self.kinds[j]:
                break
        before = self.finishes.get(mark.first - 3)
        is_on = self.words[max(mark.first - 2, 0) : mark.first] in (
            ["on", "the"],
            ["of", "the"],
            ["in", "the"],
        )
        return [before] if is_on and before is not None and self.is_limb(before) else []

    def is_limb(self, number: int, *more: str) -> bool:
        """Whether a name is of a limb, of a visual field or of a sign."""
        name = self.names[number]
        if name.is_structure or name.term == NO_TERM or "of-cortex" in self.kinds_at(name.end):
            return False
        words = self.words[name.first : name.end]
        kinds = frozenset().union(*(self.kinds[i] for i in range(name.first, name.end)))
        if words == ["visual", "field"] or (words[-1] == "nerve" and "limb-nerve" in kinds):
            return True
        if "limb" in kinds and "of-cortex" not in kinds:
            return True
        return not kinds.isdisjoint({"sign", *more})

    def share_limbs(self) -> None:
        """Give other limbs of a sentence its side, if it has but one."""
        by_sentence: dict[int, list[Attached]] = {}
        for number, mark in self.sides.limbs.items():
            sentence = self.document.sentence_of(self.names[number].first)
            by_sentence.setdefault(sentence, []).append(mark)
        for sentence, marks in by_sentence.items():
            if len({mark.side for mark in marks}) > 1:
                continue
            for number in self.document.names_within(*self.document.sentences[sentence]):
                if number not in self.sides.limbs and self.is_limb(number, "by-limb"):
                    self.sides.limbs[number] = marks[0]._replace(is_inherited=True)

    # ---- along lists and clauses

    def heads(self, mark: Attached, names: list[int]) -> bool:
        """Whether a side begins a clause that it is of: "on the left, …", "Left: …"."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        gap = self.gaps[end]
        first = mark.first
        is_led = self.words[max(first - 2, 0) : first] in (["on", "the"], ["in", "the"])
        is_led |= self.words[max(first - 2, 0) : first] == ["within", "the"]
        first -= 2 * is_led
        is_begun = first in self.starts or first == 0 or "," in self.gaps[first]
        is_begun |= ":" in self.gaps[first] or "turn" in self.kinds_at(first - 1)
        is_begun |= self.word(first - 1) == "and"
        if ":" in gap and is_begun:
            return True
        beginning = {"finite", "determiner", "adverb", "pronoun"}
        is_clause = "," in gap or not beginning.isdisjoint(self.kinds_at(end))
        is_subject = end > mark.end and (first in self.starts or "," in self.gaps[first])
        is_subject &= any("finite" in self.kinds_at(j) for j in range(end, end + 4))
        return (is_begun and is_led and is_clause) or is_subject

    def spread(self, mark: Attached) -> None:
        """Give a side to the places of the clause that it begins."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        _, last = self.document.sentences[self.document.sentence_of(mark.first)]
        if ":" in self.gaps[end] and end in self.starts:
            _, last = self.document.sentences[self.document.sentence_of(end)]
        rank = 0
        for j in range(end, last):
            if not {"left", "right", "bilateral"}.isdisjoint(self.kinds[j]) and self.side_at(j):
                break
            number = self.begins.get(j)
            if number is not None and self.is_structure(number):
                new = mark._replace(is_inherited=rank > 0, row="sides:clause")
                self.sides.applied.setdefault(number, new)
                rank += 1

    def along(self, number: int, mark: Attached) -> None:
        """Pass a side on along a list, and to what a finding extends to or includes."""
        name = self.names[number]
        is_end = "," in self.gaps[mark.first] and self.is_listed(mark.first - 1)
        if mark.end > name.end or is_end:
            return
        start = self.list_start(name)
        # A note that begins with a side is a list: "Left thalamus, anterior putamen".
        is_note = mark.first in self.starts
        first = name.end if start is None else start
        for each in self.listed(first, is_carried=start is not None, is_note=is_note):
            inherited = mark._replace(is_inherited=True, row="sides:list")
            self.sides.applied.setdefault(each, inherited)

    def list_start(self, name: Name) -> int | None:
        """First token of a list in brackets or after a colon that a wide name heads."""
        j = name.end
        while j < len(self.words) and not {"lesion", "of-place"}.isdisjoint(self.kinds[j]):
            j += 1
        is_wide = j > name.end or "general" in self.kinds[name.end - 1]
        return j if is_wide and self.gaps[j].strip() in (":", "(") else None

    def listed(self, start: int, *, is_carried: bool, is_note: bool = False) -> list[int]:
        """Return the structures of the list at a token; none of one that does not close."""
        found: list[int] = []
        is_closed, j = False, start
        while j < len(self.words) and j not in self.starts:
            is_begun = is_carried and (j == start or self.gaps[j].strip() == "(")
            if BREAK.search(self.gaps[j]) and not is_begun:
                break
            number = self.begins.get(j)
            if number is not None and self.is_structure(number):
                is_next = is_carried or j > start or self.gaps[j] != " "
                if not (is_next and self.may_inherit(number, is_carried=is_carried)):
                    break
                found.append(number)
                j = self.names[number].end
                if is_closed and not is_carried:
                    break
                continue
            is_closed |= "conjunction" in self.kinds[j]
            is_carried |= not {"extending", "including"}.isdisjoint(self.kinds[j])
            if not self.is_between(j, is_carried=is_carried):
                break
            j += 1
        is_closed |= is_note and (j == len(self.words) or j in self.starts)
        return found if is_closed or is_carried else []

    def may_inherit(self, number: int, *, is_carried: bool) -> bool:
        """Whether a structure of a list may have the side of another."""
        is_middle = self.is_midline(self.names[number]) and not is_carried
        return not is_middle and number not in self.sides.applied

    def is_listed(self, i: int) -> bool:
        """Whether a name without a side ends at token i, so that a list began before."""
        number = self.finishes.get(i)
        return number is not None and number not in self.sides.applied

    def is_between(self, j: int, *, is_carried: bool) -> bool:
        """Whether a list goes on across token j."""
        kinds = self.kinds[j]
        if not {"conjunction", "extending", "including"}.isdisjoint(kinds):
            return True
        if not {"side", "related", "negator", "turn", "stop"}.isdisjoint(kinds):
            return False
        if ADJECTIVE.fullmatch(self.words[j]) or "filler" in kinds:
            return True
        if not is_carried:
            return "lesion" in kinds and "extending" in self.kinds_at(j + 1)
        return not {"towards", "leading", "determiner", "listed", "lesion", "adverb"}.isdisjoint(
            kinds
        )

    def close(self) -> None:
        """Give a side that ends a list to all of it: "insula and pons of the left hemisphere"."""
        for number, mark in [*self.sides.applied.items()]:
            name = self.names[number]
            is_whole = "whole" in self.kinds[name.end - 1] and mark.end == name.end - 1
            is_of = self.words[max(mark.first - 2, 0) : mark.first] in (
                ["of", "the"],
                ["in", "the"],
            )
            is_after = mark.first >= name.end
            is_word = (
                self.words[mark.first] == "bilaterally" or "on" in self.words[name.end : mark.first]
            )
            if is_whole and is_of:
                self.backwards(mark.first - 3, mark)
            elif is_after and is_word:
                self.backwards(name.first - 1, mark)

    def backwards(self, i: int, mark: Attached) -> None:
        """Give a side to the names of the list that ends at token i."""
        while i >= 0 and i + 1 not in self.starts:
            number = self.finishes.get(i)
            if number is not None and self.is_structure(number):
                if number in self.sides.applied:
                    return
                self.sides.applied[number] = mark._replace(is_inherited=True, row="sides:list")
                i = self.names[number].first
            elif "listed" not in self.kinds[i] and not ADJECTIVE.fullmatch(self.words[i]):
                return
            i -= 1

    def share_in_order(self, marks: Sequence[Attached]) -> None:
        """Share out two sides: "the putamen and insula, on the left and right, respectively"."""
        for i in self.tokens:
            if "respectively" not in self.kinds[i]:
                continue
            first, end = self.document.sentences[self.document.sentence_of(i)]
            here = [j for j in self.tokens if first <= j < i and self.side_at(j) in OPPOSITE]
            names = [n for n in self.places(first, end) if n not in self.document.sided]
            if len(here) != 2 or len(names) != 2:
                continue
            for name, j in zip(names, here, strict=True):
                side = self.side_at(j)
                assert side is not None
                self.sides.applied[name] = Attached(side, j, j + 1, row="sides:order")

    # ---- the same side, or the other

    def relate(self, marks: Sequence[Attached]) -> None:
        """Give places the side that "contralateral", "ipsilateral" or "that side" means."""
        lateral = [mark for mark in marks if mark.side in OPPOSITE]
        for i in self.tokens:
            is_same = "same-side" in self.kinds[i] and self.word(i - 1) in ("that", "this", "same")
            if not (is_same or "related" in self.kinds[i]):
                continue
            side = self.reference(i, lateral)
            if side is None:
                continue
            mark = Attached(side, i, i + 1, row="sides:related")
            lead = i - 2 - (self.word(i - 2) == "the")
            led = self.nearest(lead - 1, REACH_BACK) if is_same and lead > 0 else []
            for number in led or self.ahead(mark):
                if number not in self.sides.applied:
                    self.sides.applied[number] = mark
                    self.along(number, mark)

    def reference(self, i: int, marks: Sequence[Attached]) -> Side | None:
        """Side that a word at a token is related to: the last before it, or the only one."""
        first, end = self.document.sentences[self.document.sentence_of(i)]
        number = bisect_left(marks, i, key=_first)
        start, stop = (bisect_left(marks, k, key=_first) for k in (first, end))
        here = marks[start:number][-1:] or marks[number:stop][-1:]
        sides = {mark.side for mark in here or marks[:number]}
        if len(sides) != 1:
            return None
        (side,) = sides
        return OPPOSITE[side] if "other-side" in self.kinds[i] else side

    # ---- a side that stands for a name

    def others(self) -> Iterator[tuple[Name, Attached]]:
        """Yield sides that stand for the structure that was named on the other side before."""
        for mark in self.sides.unapplied:
            number = self.taken_up(mark) if self.is_alone(mark) else None
            if number is not None:
                name = self.names[number]
                yield Name(mark.first, mark.first + 1, name.term, True), mark

    def is_alone(self, mark: Attached) -> bool:
        """Whether a side is a subject: "the left is", "the right one", "Left:"."""
        i = mark.first
        if self.word(i - 1) in ("the", "its"):
            i -= 1
        end = mark.end + (self.word(mark.end) in ("one", "side", "ones"))
        is_begun = i in self.starts or "," in self.gaps[i] or "turn" in self.kinds_at(i - 1)
        is_begun |= self.word(i - 1) in ("and", "while", "but", "only", "of")
        kinds = self.kinds_at(end)
        is_said = ":" in self.gaps[end] or not {"auxiliary", "finite", "state"}.isdisjoint(kinds)
        return is_begun and is_said and i > 0

    def taken_up(self, mark: Attached) -> int | None:
        """Structure whose other side was named last before a side."""
        if mark.side not in OPPOSITE:
            return None
        best = None
        for number, own in self.sides.applied.items():
            name = self.names[number]
            is_near = mark.first - 30 < name.first < mark.first
            if is_near and own.side == OPPOSITE[mark.side] and name.term >= 0:
                best = number if best is None or name.first > self.names[best].first else best
        return best


def _first(mark: Attached) -> int:
    return mark.first
