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
from neurowhere.text.reading.document import Document, Side
from neurowhere.text.reading.lexicon import ADJECTIVE, NOTHING, side_of

REACH, REACH_BACK = 8, 6  # tokens ahead and back from a side to its name
MOST_UNKNOWN = 2  # words before a name that do not look like adjectives
OPPOSITE: dict[str, Side] = {"left": "right", "right": "left"}
BREAK = re.compile(r"[.;:?!|()\[\]]|\n\s*\n|\t")
CONTRASTS = (["but", "not"], ["and", "not"], ["rather", "than"], ["not"])
JOINTS = (["and"], ["or"], ["nor"], ["nor", "the"], ["and", "the"], ["versus"])  # of two sides
COMPARING = frozenset(
    ["than", "and", "or", "nor", "the", "on", "in", "versus"]
)  # between two sides
ON_THE = (["on", "the"], ["of", "the"], ["in", "the"], ["within", "the"])
LETTERS = frozenset("lr")
# Adjectives that say nothing of the brain unless a structure follows: "left visual field".
GENERAL_ADJECTIVE = re.compile(
    r"(?!paracentral|postcentral|precentral).*(anterior|posterior|superior|inferior|medial|lateral"
    r"|dorsal|ventral|rostral|caudal|central)|auditory|facial|gustatory|motor|olfactory|optic"
    r"|peripheral|sensory|sensorimotor|somatosensory|spinal|vestibular|visual|vocal"
)
SIDE_OF = {"left": "left", "right": "right", "bilateral": "bilateral"}
# Classes of words around sides.
OTHER = frozenset(["left", "right", "bilateral", "other-side"])
COMPARED = frozenset(["comparative", "degree", "slightly", "mainly"])
ADJECTIVAL = frozenset(["filler", "led", "lesion", "modifier", "adverb"])
AFTER_LED = frozenset(["led", "lesion", "leading", "of-place"])
CLOSED = frozenset(
    [
        "preposition",
        "finite",
        "stop",
        "determiner",
        "pronoun",
        "people",
        "auxiliary",
        "verb-left",
        "other-right",
        "extending",
        "including",
        "related",
        "negator",
    ]
)
IN_LIST = frozenset(["conjunction", "extending", "including"])
NOT_IN_LIST = frozenset(["side", "related", "negator", "turn", "stop"])
IN_CARRIED = frozenset(["towards", "leading", "determiner", "listed", "lesion", "adverb"])
CARRYING = frozenset(["extending", "including"])
PLACED = frozenset(["lesion", "of-place"])
RELATED = frozenset(["respectively", "related", "same-side"])
BEGINNING = frozenset(["finite", "determiner", "adverb", "pronoun"])


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


def read_sides(document: Document, tokens: Sequence[int]) -> Sides:
    """Find the names that the sides at some tokens are of."""
    if not tokens and not document.sided:
        return Sides()
    return SideReader(document, tokens).read()


class SideReader:
    """Reads a text around its sides."""

    def __init__(self, document: Document, tokens: Sequence[int]) -> None:
        self.document, self.tokens = document, tokens
        self.words, self.gaps, self.kinds = document.words, document.gaps, document.kinds
        self.names, self.begins = document.names, document.begins
        self.finishes = {name.end - 1: number for number, name in enumerate(self.names)}
        self.starts = document.starts_of_sentences
        self.word = document.word
        self.sides = Sides()

    def read(self) -> Sides:
        """Attach sides directly, then along lists and clauses."""
        marks = [*self.marks()]
        spread = [mark for mark in marks if self.attach(mark)]
        self.read_letters()
        for mark in spread:
            self.spread(mark)
        for step in (self.along, self.close):
            for number, mark in [*self.sides.applied.items()]:
                step(number, mark)
        words = [i for i in self.tokens if not RELATED.isdisjoint(self.kinds[i])]
        if words:
            self.share_in_order(words)
            self.relate(words, [mark for mark in marks if mark.side in OPPOSITE])
        self.share_limbs()
        return self.sides

    def read_letters(self) -> None:
        """Give names the sides within their letters: "rIFG"."""
        for i, side in self.document.sided.items():
            number = self.begins.get(i, self.finishes.get(i))
            if number is not None and self.is_structure(number):
                self.sides.applied.setdefault(number, Attached(side, i, i + 1, row="sides:letter"))

    def attach(self, mark: Attached) -> bool:
        """Give a side to the name before or after it; return whether it begins a clause."""
        names = self.ahead(mark) or self.behind(mark)
        limbs = [] if names else self.limbs(mark)
        for number in names:
            known = self.sides.applied.setdefault(number, mark)
            if known.side == "bilateral" and mark.dominant:  # "bilateral atrophy, left > right"
                self.sides.applied[number] = known._replace(dominant=mark.dominant)
        for number in limbs:
            self.sides.limbs[number] = mark
        if self.heads(mark):
            return True
        if not (names or limbs) and self.is_marked(mark):
            self.sides.unapplied.append(mark)
        return False

    # ---- marks

    def marks(self) -> Iterator[Attached]:
        """Yield the sides of the text: pairs as one, and "but not left" not at all."""
        done = -1
        for i in self.tokens:
            is_free = i > done and i not in self.document.inner and i not in self.document.sided
            side = self.side_at(i) if is_free else None
            if side is None:
                continue
            mark = self.pair(i, side) or Attached(side, i, i + 1)
            if (other := self.set_against(mark)) is not None:
                self.sides.unapplied.append(Attached(OPPOSITE[side], other, other + 1))
                mark = mark._replace(end=other + 1)
            done = mark.end - 1
            yield self.with_dominance(mark)

    def side_at(self, i: int) -> Side | None:
        """Side of token i, if it is written as one: "L amygdala", not "l"."""
        word = self.words[i]
        if word not in LETTERS or self.document.written(i).isupper():
            return side_of(word)
        is_both = word == "l" and self.word(i - 1) == "b" and self.gaps[i] == "/"
        return "bilateral" if is_both else None

    def kinds_at(self, i: int) -> frozenset[str]:
        """Classes of a token, none beyond the text."""
        return self.kinds[i] if 0 <= i < len(self.kinds) else NOTHING

    def led_by(self, i: int) -> list[str]:
        """Return the two words before a token."""
        return self.words[max(i - 2, 0) : i]

    def pair(self, i: int, side: Side) -> Attached | None:
        """Both sides, where the other one follows: "left and right", "L > R", "left than right"."""
        j = self.other_side(i, side)
        if j is None:
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

    def other_side(self, i: int, side: Side) -> int | None:
        """Token of the other side after a side that is compared with it."""
        end = min(i + REACH, len(self.words)) if side in OPPOSITE else i
        j = next((j for j in range(i + 1, end) if not self.is_comparing(j)), end)
        is_other = i < j < len(self.words) and self.side_at(j) == OPPOSITE.get(side)
        return j if is_other else None

    def is_comparing(self, j: int) -> bool:
        """Whether token j may stand between two sides that are compared."""
        return self.words[j] in COMPARING or not COMPARED.isdisjoint(self.kinds[j])

    def set_against(self, mark: Attached) -> int | None:
        """Token of the other side in "left, but not right, insula"."""
        words = self.words[mark.end : mark.end + 4]
        for phrase in CONTRASTS if mark.side in OPPOSITE else ():
            if words[: len(phrase)] == phrase:
                j = mark.end + len(phrase)
                j += self.word(j) == "the"
                is_other = j < len(self.words) and side_of(self.words[j]) == OPPOSITE[mark.side]
                return j if is_other else None
        return None

    def with_dominance(self, mark: Attached) -> Attached:
        """Return both sides for one that has more: "worse on the left", "left-predominant"."""
        if mark.side not in OPPOSITE:
            return mark
        i = mark.first
        while self.word(i - 1) in ("on", "the"):
            i -= 1
        before = self.kinds_at(i - 1) if i < mark.first else NOTHING
        after = self.kinds_at(mark.end + (self.word(mark.end) in ("sided", "side")))
        if {"comparative", "mainly"}.isdisjoint(before) and "predominant" not in after:
            return mark
        side = OPPOSITE[mark.side] if "lesser" in before else mark.side
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
        is_body = not {"not-brain", "filler"}.isdisjoint(kinds)
        return is_near and (is_body or bool(ADJECTIVE.fullmatch(after)))

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

    def structures(self, first: int, end: int) -> Iterator[int]:
        """Yield the structures that begin within some tokens."""
        for i in range(first, end):
            if self.is_structure(self.begins.get(i)):
                yield self.begins[i]

    # ---- ahead

    def ahead(self, mark: Attached) -> list[int]:
        """Return the names that a side stands before."""
        j = mark.end + bool(mark.dominant and self.word(mark.end) in ("of", "in"))
        start, n_unknown = j, 0
        adjectives: list[int] = []
        while j < min(len(self.words), mark.end + REACH) and not self.is_broken(mark, j):
            number = self.begins.get(j)
            end = j + 1 if number is None else self.names[number].end
            if self.is_structure(number):
                assert number is not None
                if "lesion" in self.kinds[j - 1] and j > start:
                    break
                adjectives.append(number)
                if not ADJECTIVE.fullmatch(self.words[end - 1]):
                    return self.nouns(adjectives)
            elif not self.is_passed(mark, j, end):
                n_unknown += 1
                if n_unknown > MOST_UNKNOWN or not self.is_unknown(mark, j, end):
                    break
            j = end
        heads = [self.words[self.names[n].end - 1] for n in adjectives]
        kept = zip(adjectives, heads, strict=True)
        return [n for n, head in kept if not GENERAL_ADJECTIVE.fullmatch(head)]

    def nouns(self, names: list[int]) -> list[int]:
        """Return names, and those that a slash joins to the last of them."""
        end = self.names[names[-1]].end
        while self.gaps[end] == "/" and self.is_structure(self.begins.get(end)):
            names = [*names, self.begins[end]]
            end = self.names[names[-1]].end
        return names

    def is_broken(self, mark: Attached, j: int) -> bool:
        """Whether a sign or another side parts token j from a side before it."""
        gap = self.gaps[j]
        if not OTHER.isdisjoint(self.kinds[j]):
            return j not in self.document.inner
        if j == mark.end:
            gap = gap.removeprefix(".") if self.words[mark.end - 1] not in SIDE_OF else gap
            if "," in gap:
                return not (mark.dominant or mark.end > mark.first + 2)
        if j in self.starts or BREAK.search(gap):
            return True
        return "," in gap and "modifier" not in self.kinds[j - 1]

    def is_passed(self, mark: Attached, j: int, end: int) -> bool:
        """Whether a side reaches its name across a word."""
        kinds, before = self.kinds[end - 1], self.kinds_at(j - 1)
        if "leading" in kinds:
            is_on = j == mark.end and self.led_by(mark.first) == ["on", "the"]
            return is_on or not AFTER_LED.isdisjoint(before)
        is_after = "lesion" in before and j > mark.end  # "left infarct thalamic"
        return not (is_after or ADJECTIVAL.isdisjoint(kinds))

    def is_unknown(self, mark: Attached, j: int, end: int) -> bool:
        """Whether a word may be an adjective that the tables do not have."""
        kinds = self.kinds[end - 1]
        if j == mark.end:
            is_over = "conjunction" in kinds or self.words[j - 1] == "bilaterally"
        else:
            is_over = "lesion" in self.kinds[j - 1]
        return not is_over and j not in self.begins and CLOSED.isdisjoint(kinds)

    # ---- behind

    def behind(self, mark: Attached) -> list[int]:
        """Return the name that a side closes: "amygdala (left)", "amygdala on the left"."""
        i = mark.first
        if mark.row == "sides:more":
            i -= 1
            while i >= 0 and (
                self.words[i] in ("on", "the") or not COMPARED.isdisjoint(self.kinds[i])
            ):
                i -= 1
            return self.nearest(i, REACH_BACK)
        if self.led_by(i) == ["on", "the"]:
            return [] if i - 2 in self.starts else self.nearest(i - 3, REACH_BACK)
        if self.word(i - 1) == "on" and self.word(mark.end) in ("side", "sides"):
            return self.nearest(i - 2, REACH_BACK)
        if self.words[i] == "bilaterally":
            return self.nearest(i - 1, REACH_BACK)
        return self.by_signs(mark) or self.labelled(mark)

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

    def nearest(self, i: int, reach: int) -> list[int]:
        """Return the structure that ends at token i, or not far before it."""
        for j in range(i, max(i - reach, -1), -1):
            number = self.finishes.get(j)
            if number is not None and self.is_structure(number):
                return [number]
            gap = self.gaps[j]
            if j in self.starts or "," in gap or (BREAK.search(gap) and "(" not in gap):
                break
        return []

    # ---- limbs

    def limbs(self, mark: Attached) -> list[int]:
        """Return the limb or the sign that a side is of: "left index finger"."""
        for j in range(mark.end, min(mark.end + 4, len(self.words))):
            if j in self.begins and self.is_limb(self.begins[j]):
                return [self.begins[j]]
            if "of-limb" not in self.kinds[j]:
                break
        before = self.finishes.get(mark.first - 3)
        is_on = self.led_by(mark.first) in ON_THE
        return [before] if is_on and before is not None and self.is_limb(before) else []

    def is_limb(self, number: int, *more: str) -> bool:
        """Whether a name is of a limb, of its nerve, of a visual field or of a sign."""
        name = self.names[number]
        if name.is_structure or name.term == NO_TERM or "of-cortex" in self.kinds_at(name.end):
            return False
        kinds = NOTHING.union(*self.kinds[name.first : name.end])
        if self.words[name.end - 1] == "nerve":
            return "limb-nerve" in kinds
        is_field = self.words[name.first : name.end] == ["visual", "field"]
        return is_field or not kinds.isdisjoint({"limb", "sign", *more})

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

    def heads(self, mark: Attached) -> bool:
        """Whether a side begins a clause that it is of: "on the left, …", "Left: …"."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        is_led = self.led_by(mark.first) in ON_THE and self.word(mark.first - 2) != "of"
        first = mark.first - 2 * is_led
        is_first = first in self.starts or "," in self.gaps[first]
        is_begun = is_first or ":" in self.gaps[first] or self.word(first - 1) == "and"
        if is_begun or "turn" in self.kinds_at(first - 1):
            is_clause = "," in self.gaps[end] or not BEGINNING.isdisjoint(self.kinds_at(end))
            if ":" in self.gaps[end] or (is_led and is_clause):
                return True
        is_subject = end > mark.end and is_first
        return is_subject and any("finite" in self.kinds_at(j) for j in range(end, end + 4))

    def spread(self, mark: Attached) -> None:
        """Give a side to the places of the clause that it begins."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        _, last = self.document.sentences[self.document.sentence_of(end)]
        for rank, number in enumerate(self.structures(end, last)):
            new = mark._replace(is_inherited=rank > 0, row="sides:clause")
            self.sides.applied.setdefault(number, new)

    def along(self, number: int, mark: Attached) -> None:
        """Pass a side on along a list, and to what a finding extends to or includes."""
        name = self.names[number]
        start = name.end  # or that of a list in brackets or after a colon
        while start < len(self.words) and not PLACED.isdisjoint(self.kinds[start]):
            start += 1
        is_headed = self.gaps[start].strip() in (":", "(")
        first = start if is_headed else name.end
        is_note = mark.first in self.starts  # such a note is a list: "Left thalamus, putamen"
        for each in self.listed(first, is_carried=is_headed, is_note=is_note):
            inherited = mark._replace(is_inherited=True, row="sides:list")
            self.sides.applied.setdefault(each, inherited)

    def listed(self, start: int, *, is_carried: bool, is_note: bool = False) -> list[int]:
        """Return the structures of the list at a token; none of one that does not close."""
        found: list[int] = []
        is_closed, is_over, j = False, False, start
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
                is_over = is_closed and not is_carried
            else:
                is_closed |= "conjunction" in self.kinds[j]
                is_carried |= not CARRYING.isdisjoint(self.kinds[j])
                is_over = not self.is_between(j, is_carried=is_carried)
                j += 1
            if is_over:
                break
        is_closed |= is_note and not is_over and (j == len(self.words) or j in self.starts)
        return found if is_closed or is_carried else []

    def may_inherit(self, number: int, *, is_carried: bool) -> bool:
        """Whether a structure of a list may have the side of another; one in the middle may not."""
        name = self.names[number]
        kinds = NOTHING.union(*self.kinds[name.first : name.end])
        return number not in self.sides.applied and (is_carried or "midline" not in kinds)

    def is_between(self, j: int, *, is_carried: bool) -> bool:
        """Whether a list goes on across token j."""
        kinds = self.kinds[j]
        if not IN_LIST.isdisjoint(kinds):
            return True
        if not NOT_IN_LIST.isdisjoint(kinds):
            return False
        if ADJECTIVE.fullmatch(self.words[j]) or "filler" in kinds:
            return True
        if is_carried:
            return not IN_CARRIED.isdisjoint(kinds)
        return "lesion" in kinds and "extending" in self.kinds_at(j + 1)

    def close(self, number: int, mark: Attached) -> None:
        """Give a side that ends a list to all of it: "insula and pons of the left hemisphere"."""
        name = self.names[number]
        is_whole = "whole" in self.kinds[name.end - 1] and mark.end == name.end - 1
        between = self.words[name.end : mark.first]
        if is_whole and self.led_by(mark.first) in ON_THE[1:3]:
            self.backwards(mark.first - 3, mark)
        elif mark.first >= name.end and (
            self.words[mark.first] == "bilaterally" or "on" in between
        ):
            self.backwards(name.first - 1, mark)

    def backwards(self, i: int, mark: Attached) -> None:
        """Give a side to the names of the list that ends at token i."""
        while i >= 0 and i + 1 not in self.starts:
            number = self.finishes.get(i)
            if self.is_structure(number):
                assert number is not None
                if number in self.sides.applied:
                    return
                self.sides.applied[number] = mark._replace(is_inherited=True, row="sides:list")
                i = self.names[number].first
            elif "listed" not in self.kinds[i] and not ADJECTIVE.fullmatch(self.words[i]):
                return
            i -= 1

    # ---- in order, on the same side, on the other

    def share_in_order(self, words: Sequence[int]) -> None:
        """Share out two sides: "the putamen and insula, on the left and right, respectively"."""
        for i in words:
            if "respectively" not in self.kinds[i]:
                continue
            first, end = self.document.sentences[self.document.sentence_of(i)]
            read = ((j, self.side_at(j)) for j in self.tokens if first <= j < i)
            sides = [(j, side) for j, side in read if side and side in OPPOSITE]
            names = [n for n in self.structures(first, end) if n not in self.document.sided]
            if len(sides) == len(names) == 2:
                for name, (j, side) in zip(names, sides, strict=True):
                    self.sides.applied[name] = Attached(side, j, j + 1, row="sides:order")

    def relate(self, words: Sequence[int], marks: Sequence[Attached]) -> None:
        """Give places the side that "contralateral", "ipsilateral" or "that side" means."""
        for i in words:
            is_same = "same-side" in self.kinds[i] and self.word(i - 1) in ("that", "this", "same")
            side = self.reference(i, marks) if is_same or "related" in self.kinds[i] else None
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
        start, number, stop = (bisect_left(marks, k, key=_first) for k in (first, i, end))
        here = marks[start:number][-1:] or marks[number:stop][-1:]
        sides = {mark.side for mark in here or marks[:number]}
        if len(sides) != 1:
            return None
        (side,) = sides
        return OPPOSITE[side] if "other-side" in self.kinds[i] else side


def _first(mark: Attached) -> int:
    return mark.first
