"""Sides: which name a "left", "right" or "bilateral" is of.

A side is of the name that it stands before ("left posterior insula"), or that it closes ("insula
(left)", "thalamus on the left"). From there it goes along a list, and on to what a finding extends
to or includes. A side that begins a clause is of all places of the clause, up to another side. A
limb, a field or a sign keeps its side: it is one of the body.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from neurowhere.text.matching import NO_TERM
from neurowhere.text.reading.document import BOX, Document, Side
from neurowhere.text.reading.lexicon import ADJECTIVE, NOTHING, classes, side_of

REACH, REACH_BACK = 8, 6  # tokens ahead and back from a side to its name
FORM = 12  # tokens between a side of a form and its places
LABELS = frozenset(["side", "laterality", "sidedness", "lateralisation", "lateralization"])
OPPOSITE: dict[str, Side] = {"left": "right", "right": "left"}
BREAK = re.compile(r"[.;:?!|()\[\]]|\n\s*\n|\t")
PARTING, MORE = re.compile("[,:;]"), re.compile("[<>]")  # between two sides
CONTRASTS = [words.split() for words in ("but not", "and not", "rather than", "not", "unlike")]
CONTRASTS += [words.split() for words in ("instead of", "as opposed to", "in contrast to")]
JOINING = frozenset(["and", "or", "nor", "the", "versus"])  # between two sides
COMPARING = JOINING | {"than", "on", "in"}
ON_THE = (["on", "the"], ["of", "the"], ["in", "the"], ["within", "the"])
LETTERS = frozenset("lr")
WRITTEN_OUT = frozenset(["left", "right", "bilateral"])
# Adjectives that say nothing of the brain unless a structure follows: "left visual field".
GENERAL_ADJECTIVE = re.compile(
    r"(?!paracentral|postcentral|precentral).*(anterior|posterior|superior|inferior|medial|lateral"
    r"|dorsal|ventral|rostral|caudal|central)|auditory|facial|gustatory|motor|olfactory|optic"
    r"|peripheral|sensory|sensorimotor|somatosensory|spinal|vestibular|visual|vocal"
)
# Classes of words around sides.
OTHER = classes("left right bilateral other-side")
COMPARED = classes("comparative degree slightly mainly")
ADJECTIVAL = classes("filler led lesion modifier adverb")
AFTER_LED = classes("led lesion leading of-place")
CLOSED = classes(
    "preposition finite stop determiner pronoun people auxiliary verb-left other-right"
)
CLOSED |= classes("other-right extending including related negator")
IN_LIST = classes("conjunction extending including")
NOT_IN_LIST = classes("side related negator turn stop")
IN_CARRIED = classes("towards leading determiner listed lesion adverb")
CARRYING = classes("extending including")
PLACED = classes("lesion of-place")
BEGINNING = classes("finite determiner adverb pronoun opening-cue")


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

    def inside(self) -> set[int]:
        """Return the tokens of sides that are said in several words: "left, not the right, "."""
        long = (mark for mark in self.applied.values() if mark.end > mark.first + 1)
        return {i for mark in long for i in range(mark.first, mark.end)}


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
        self.starts = document.starts_of_sentences | {len(self.words)}
        self.word, self.kinds_at, self.side_at = document.word, document.kinds_at, document.side_at
        self.sides = Sides()

    def read(self) -> Sides:
        """Attach sides directly, then along lists and clauses."""
        marks = [*self.marks()]
        heads = [mark for mark in marks if self.attach(mark)]
        for i, side in self.document.sided.items():  # within its letters: "rIFG"
            number = self.begins.get(i, self.finishes.get(i))
            if number is not None and self.is_structure(number):
                mark = Attached(side, i, i + 1, row="sides:letter")
                self.sides.applied.setdefault(number, mark)
        for mark in heads:
            self.spread(mark)
        for number, mark in [*self.sides.applied.items()]:
            self.along(number, mark)
            self.close(number, mark)
        self.relate_all([mark for mark in marks if mark.side in OPPOSITE])
        self.share_limbs()
        return self.sides

    def attach(self, mark: Attached) -> bool:
        """Give a side to the name before or after it; return whether it begins a clause."""
        names = self.ahead(mark) or self.behind(mark)
        limbs = [] if names else self.limbs(mark)
        for number in names:
            known = self.sides.applied.setdefault(number, mark)
            if known.side == "bilateral" and mark.dominant:  # "bilateral atrophy, left > right"
                self.sides.applied[number] = known._replace(dominant=mark.dominant)
        self.sides.limbs |= dict.fromkeys(limbs, mark)
        is_head = self.heads(mark)
        if not (names or limbs or is_head) and self.is_marked(mark):
            self.sides.unapplied.append(mark)
        return is_head

    # ---- marks

    def marks(self) -> Iterator[Attached]:
        """Yield the sides of the text: pairs as one, and "but not left" not at all."""
        done = -1
        for i in self.tokens:
            is_free = (
                not BOX.search(self.gaps[i])
                and i > done
                and i not in self.document.inner
                and i not in self.document.sided
            )
            side = self.side_at(i) if is_free else None
            if side is None:
                continue
            mark = self.pair(i, side) or Attached(side, i, i + 1)
            if mark.side in OPPOSITE:
                other = self.set_against(mark)
                if other is not None:
                    self.sides.unapplied.append(Attached(OPPOSITE[side], other, other + 1))
                    mark = mark._replace(end=other + 1)
                mark = self.with_dominance(mark)
            done = mark.end - 1
            yield mark

    def led_by(self, i: int) -> list[str]:
        """Return the two words before a token."""
        return self.words[max(i - 2, 0) : i]

    def pair(self, i: int, side: Side) -> Attached | None:
        """Both sides, where the other one follows: "left and right", "L > R", "left than right"."""
        j = self.next_side(i)
        if j is None or self.side_at(j) != OPPOSITE.get(side, ""):
            return None
        signs, between = "".join(self.gaps[i + 1 : j + 1]), self.words[i + 1 : j]
        both = Attached("bilateral", i, j + 1, row="sides:pair")
        if "than" in between or MORE.search(signs):
            is_less = "<" in signs or "lesser" in NOTHING.union(*self.kinds[max(i - REACH, 0) : j])
            return both._replace(dominant=OPPOSITE[side] if is_less else side)
        return both if JOINING.issuperset(between) and (between or "/" in signs) else None

    def next_side(self, i: int) -> int | None:
        """Token after those that may stand between two sides, the first of which is token i."""
        for j in range(i + 1, min(i + REACH, len(self.words))):
            if PARTING.search(self.gaps[j]) or j in self.document.starts_of_sentences:
                break  # "Shift to the right. The left thalamus"
            if not self.is_comparing(j):
                return j
        return None

    def is_comparing(self, j: int) -> bool:
        """Whether token j may stand between two sides that are compared."""
        return self.words[j] in COMPARING or not COMPARED.isdisjoint(self.kinds[j])

    def set_against(self, mark: Attached) -> int | None:
        """Token of the other side in "left, but not right, insula"."""
        words = self.words[mark.end : mark.end + 4]
        phrase = next((phrase for phrase in CONTRASTS if words[: len(phrase)] == phrase), None)
        if phrase is None:
            return None
        j = mark.end + len(phrase)
        j += self.word(j) == "the"
        is_other = j < len(self.words) and side_of(self.words[j]) == OPPOSITE[mark.side]
        return j if is_other else None

    def with_dominance(self, mark: Attached) -> Attached:
        """Return both sides for one that has more: "worse on the left", "left-predominant"."""
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
        word, kinds = self.words[mark.first], self.kinds_at(mark.end)
        if word in OPPOSITE:
            is_led = self.word(mark.first - 1) in ("the", "to")
            return is_led or ("verb-left" if word == "left" else "other-right") not in kinds
        is_body = not {"not-brain", "filler"}.isdisjoint(kinds)
        if word == "both" or mark.side in OPPOSITE:
            is_near = self.gaps[mark.end] in (" ", "-", ". ")
            return is_near and (is_body or bool(ADJECTIVE.fullmatch(self.word(mark.end))))
        return True

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

    # ---- ahead

    def ahead(self, mark: Attached) -> list[int]:
        """Return the names that a side stands before."""
        found = list[int]()
        for number in self.reached(mark):
            found.append(number)
            if not ADJECTIVE.fullmatch(self.last_word(number)):
                return self.nouns(found)
        return [n for n in found if not GENERAL_ADJECTIVE.fullmatch(self.last_word(n))]

    def last_word(self, number: int) -> str:
        """Last word of a name."""
        return self.words[self.names[number].end - 1]

    def reached(self, mark: Attached) -> Iterator[int]:
        """Yield the structures after a side, with adjectives between them."""
        start = j = mark.end + bool(mark.dominant and self.word(mark.end) in ("of", "in"))
        stop = min(len(self.words), mark.end + REACH)
        while j < stop and not self.is_broken(mark, j):
            number = self.begins.get(j)
            end = j + 1 if number is None else self.names[number].end
            if self.is_structure(number):
                if j > start and "lesion" in self.kinds[j - 1]:
                    return
                yield self.begins[j]
            elif not (self.is_passed(mark, j, end) or self.is_unknown(mark, j, end)):
                return
            j = end

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
            gap = gap.removeprefix(".") if self.words[j - 1] not in WRITTEN_OUT else gap
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
            while i >= 0 and self.is_comparing(i):
                i -= 1
        elif self.led_by(i) == ["on", "the"]:
            if i - 2 in self.starts:
                return []
            i -= 3
        elif self.word(i - 1) == "on" and self.word(mark.end) in ("side", "sides"):
            i -= 2
        elif self.words[i] == "bilaterally":
            i -= 1
        else:
            return self.labelled(i) or self.by_signs(mark)
        return self.nearest(i, REACH_BACK)

    def by_signs(self, mark: Attached) -> list[int]:
        """Return the name that signs, or the end of what is said, tie a side to."""
        i, before = mark.first, self.gaps[mark.first]
        end = mark.end + (self.word(mark.end) in ("side", "sided"))
        is_last = not self.gaps[end].isspace() or self.word(end).isdigit()
        if BREAK.search(before.replace("(", "")):
            return []
        if "(" in before or (is_last and "," in before):
            return self.nearest(i - 1, 3)
        is_last &= self.words[i] != "both"  # "in both 1-back and 2-back"
        return self.nearest(i - 1 - (self.word(i - 1) == "on"), 2) if is_last else []

    def labelled(self, i: int) -> list[int]:
        """Return the name of a label before a side: "hippocampus: mild left atrophy"."""
        j = i
        while "modifier" in self.kinds_at(j - 1) and self.gaps[j].isspace():
            j -= 1
        is_label = ":" in self.gaps[j] and "\n" not in self.gaps[j]
        return (self.nearest(j - 1, 1) if is_label else []) or self.by_form(i)

    def by_form(self, i: int) -> list[int]:
        """Return the places of a form: "Lobe: temporal; Side: left", "[x] left [x] frontal"."""
        is_ticked = self.document.is_ticked(i)
        label = i - 1 - (self.word(i - 1) == "x")
        is_begun = label in self.starts or bool(PARTING.search(self.gaps[label]))
        is_label = self.word(label) in LABELS and ":" in self.gaps[label + 1]
        is_label &= is_begun and self.gaps[i + 1] != " "  # not "dominant side: left"
        names = self.document.names_within(max(0, i - FORM), i + FORM * is_ticked)
        return list(filter(self.is_structure, names)) if is_ticked or is_label else []

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
        is_on = before is not None and self.led_by(mark.first) in ON_THE
        return [before] if is_on and before is not None and self.is_limb(before) else []

    def is_limb(self, number: int, *more: str) -> bool:
        """Whether a name is of a limb, of its nerve, of a visual field or of a sign."""
        name = self.names[number]
        if name.is_structure or name.term == NO_TERM or "of-cortex" in self.kinds_at(name.end):
            return False
        kinds = NOTHING.union(*self.kinds[name.first : name.end])
        words = self.words[name.first : name.end]
        if words[-1] == "nerve":
            return "limb-nerve" in kinds
        return words == ["visual", "field"] or not kinds.isdisjoint({"limb", "sign", *more})

    def share_limbs(self) -> None:
        """Give other limbs of a sentence its side, if it has but one."""
        by_sentence: dict[int, set[Attached]] = {}
        for number, mark in self.sides.limbs.items():
            sentence = self.document.sentence_of(self.names[number].first)
            by_sentence.setdefault(sentence, set()).add(mark)
        for sentence, marks in by_sentence.items():
            if len({mark.side for mark in marks}) == 1:
                shared = min(marks, key=attrgetter("first"))._replace(is_inherited=True)
                for number in self.document.names_within(*self.document.sentences[sentence]):
                    if number not in self.sides.limbs and self.is_limb(number, "by-limb"):
                        self.sides.limbs[number] = shared

    # ---- along lists and clauses

    def heads(self, mark: Attached) -> bool:
        """Whether a side begins a clause that it is of: "on the left, …", "Left: …"."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        is_led = self.led_by(mark.first) in ON_THE and self.word(mark.first - 2) != "of"
        first = mark.first - 2 * is_led
        is_begun = first in self.starts or any(sign in self.gaps[first] for sign in ",:")
        if not is_begun and not {"turn", "conjunction"} & self.kinds_at(first - 1):
            return False
        is_clause = "," in self.gaps[end] or not BEGINNING.isdisjoint(self.kinds_at(end))
        return ":" in self.gaps[end] or (is_led and is_clause)

    def spread(self, mark: Attached) -> None:
        """Give a side to the places of the clause that it begins."""
        end = mark.end + ("whole" in self.kinds_at(mark.end))
        _, last = self.document.sentences[self.document.sentence_of(end)]
        names = filter(self.is_structure, self.document.names_within(end, last))
        for rank, number in enumerate(names):
            new = mark._replace(is_inherited=rank > 0, row="sides:clause")
            self.sides.applied.setdefault(number, new)

    def along(self, number: int, mark: Attached) -> None:
        """Pass a side on along a list, and to what a finding extends to or includes."""
        start = end = self.names[number].end  # or that of a list in brackets or after a colon
        while start < len(self.words) and not PLACED.isdisjoint(self.kinds[start]):
            start += 1
        is_headed = self.gaps[start].strip() in (":", "(")
        is_note = mark.first in self.starts  # such a note is a list: "Left thalamus, putamen"
        for each in self.listed(start if is_headed else end, is_headed, is_note):
            inherited = mark._replace(is_inherited=True, row="sides:list")
            self.sides.applied.setdefault(each, inherited)

    def listed(self, start: int, is_carried: bool, is_note: bool) -> list[int]:
        """Return the structures of the list at a token; none of one that does not close."""
        found, is_closed, j = list[int](), False, start
        parted = start if is_carried else -1  # a sign before the list does not end it
        while not self.is_over(j, parted):
            number = self.begins.get(j)
            if self.is_structure(number):
                if not self.may_inherit(self.begins[j], is_carried):
                    break
                found.append(self.begins[j])
                j = self.names[self.begins[j]].end
                continue
            is_closed |= "conjunction" in self.kinds[j]
            is_carried |= not CARRYING.isdisjoint(self.kinds[j])
            if not self.is_between(j, is_carried):
                break
            j += 1
        is_closed |= is_carried or (is_note and j in self.starts)
        return found if is_closed else []

    def is_over(self, j: int, parted: int) -> bool:
        """Whether a sentence, or what a sign parts, ends before token j."""
        return j in self.starts or (j != parted and bool(BREAK.search(self.gaps[j])))

    def may_inherit(self, number: int, is_carried: bool) -> bool:
        """Whether a structure of a list may have the side of another; one in the middle may not."""
        name = self.names[number]
        kinds = NOTHING.union(*self.kinds[name.first : name.end])
        return number not in self.sides.applied and (is_carried or "midline" not in kinds)

    def is_between(self, j: int, is_carried: bool) -> bool:
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
        """Give a side that ends a list to all of it: "insula and pons on the left"."""
        name = self.names[number]
        is_after = "on" in self.words[name.end : mark.first]
        i = name.first - 1
        while (is_after or self.words[mark.first] == "bilaterally") and i + 1 not in self.starts:
            before = self.finishes.get(i, -1)
            if before >= 0 and self.is_structure(before):
                if before in self.sides.applied:
                    return
                new = mark._replace(is_inherited=True, row="sides:list")
                self.sides.applied[before] = new
                i = self.names[before].first
            elif "listed" not in self.kinds[i] and not ADJECTIVE.fullmatch(self.words[i]):
                return
            i -= 1

    # ---- in order, on the same side, on the other

    def share_in_order(self, i: int) -> None:
        """Share out two sides: "the putamen and insula, on the left and right, respectively"."""
        first, end = self.document.sentences[self.document.sentence_of(i)]
        read = ((j, self.side_at(j)) for j in self.tokens if first <= j < i)
        sides = [(j, side) for j, side in read if side and side in OPPOSITE]
        names = [n for n in self.document.names_within(first, end) if self.is_structure(n)]
        if len(sides) == len(names) == 2:
            for name, (j, side) in zip(names, sides, strict=True):
                self.sides.applied[name] = Attached(side, j, j + 1, row="sides:order")

    def relate_all(self, marks: Sequence[Attached]) -> None:
        """Give places the sides that "respectively", "contralateral" or "that side" mean."""
        for i in self.tokens:
            kinds = self.kinds[i]
            is_same = "same-side" in kinds and self.word(i - 1) in ("that", "this", "same")
            if "respectively" in kinds:
                self.share_in_order(i)
            elif is_same or "related" in kinds:
                self.relate(i, is_same, marks)

    def relate(self, i: int, is_same: bool, marks: Sequence[Attached]) -> None:
        """Give places the side that a word at a token means."""
        side = self.reference(i, marks)
        if side is None:
            return
        mark = Attached(side, i, i + 1, row="sides:related")
        lead = i - 2 - (self.word(i - 2) == "the")
        led = self.nearest(lead - 1, REACH_BACK) if is_same else []
        for number in led or self.ahead(mark):
            if number not in self.sides.applied:
                self.sides.applied[number] = mark
                self.along(number, mark)

    def reference(self, i: int, marks: Sequence[Attached]) -> Side | None:
        """Side that a word at a token is related to: the last before it, or the only one."""
        first, end = self.document.sentences[self.document.sentence_of(i)]
        key = attrgetter("first")
        start, number, stop = (bisect_left(marks, k, key=key) for k in (first, i, end))
        here = marks[start:number][-1:] or marks[number:stop][-1:]
        sides = {mark.side for mark in here or marks[:number]}
        if len(sides) != 1:
            return None
        (side,) = sides
        return OPPOSITE[side] if "other-side" in self.kinds[i] else side
