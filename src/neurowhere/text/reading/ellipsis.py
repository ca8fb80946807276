"""Ellipsis: sides that stand for a structure: "the left insula is normal, the right is infarcted".

A side without a noun takes up the structure that has the other side: the last one before it, in its
sentence or the one before; or the next one of the same phrase ("in the right and in the left
insula"). Under a heading ("Insula: left normal") it takes up the heading. Something must be said of
it that a place may be; sides of limbs, signs and people take up nothing.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from operator import or_

from neurowhere.text.matching import NO_TERM
from neurowhere.text.places import is_general, is_lesion
from neurowhere.text.reading.document import Document, Name
from neurowhere.text.reading.lexicon import FINDING, Classes, classes
from neurowhere.text.reading.sides import OPPOSITE, Sides

FARTHEST, APART = 40, 8  # tokens back to a name that is taken up, and ahead
LEAD = 3  # tokens up to a side that begins a sentence: "On the left"
SAID = classes("finite auxiliary adverb state present wall response opening-cue negator pronoun")
IN_LINE = SAID | classes("lesion article")
JOINING = classes("conjunction determiner article preposition adverb lesion turn negator related")
TELLING = classes("state present response lesion opening-cue quality null")
LEADING = classes("determiner conjunction turn preposition article subordinate negator")
OF_OTHERS = classes("not-brain sign limb people study exam")
STANDING = frozenset(["one", "ones", "homologue", "homolog", "counterpart"])  # for a noun
NOUNS = STANDING | {"side"}
OTHERS = frozenset(["one", "other", "another", "second"])  # "one in the left and one in the right"
COMPARED = frozenset(["to", "toward", "towards", "than", "versus", "vs", "with", "like"])
_SIGN = re.compile(r"[,;:.()–—]|\n| - ")
_LABEL = re.compile(r"\s?[:\n–—]| - ")
_PARAGRAPH = re.compile(r"\n\s*\n")


def take_up(document: Document, tokens: Sequence[int], sides: Sides, cues: Set[int]) -> Document:
    """Return a text with names where a side at a token stands for one, in place of headings.

    `sides` are those of the names that are written out, `cues` the first tokens of denials.
    """
    free = _free(document, tokens, sides)
    if not free or document.tables:
        return document
    named = {mark.first: number for number, mark in sides.applied.items()}
    reader = _Reader(document, tokens, named, cues)
    found = dict(reader.read(free))
    if not found:
        return document
    names = [Name(i, i + 1, document.names[number].term, True) for i, number in found.items()]
    kept = [name for number, name in enumerate(document.names) if number not in reader.heads]
    return document.renamed([*kept, *names], sided={i: reader.sides[i] for i in found})


def _free(document: Document, tokens: Sequence[int], sides: Sides) -> list[int]:
    """Return the tokens of sides that are of no name and of no limb."""
    marks = [*sides.applied.values(), *sides.limbs.values()]
    used = {i for mark in marks for i in range(mark.first, mark.end)} | document.inner
    return [i for i in tokens if i not in used and document.side_at(i) in OPPOSITE]


class _Reader:
    """Reads the sides that are of no name; `named` has what the others are of."""

    def __init__(
        self, document: Document, tokens: Sequence[int], named: dict[int, int], cues: Set[int]
    ) -> None:
        self.document, self.named, self.cues = document, named, cues
        found = ((i, document.side_at(i)) for i in tokens)
        self.sides = {i: side for i, side in found if side in OPPOSITE}
        self.tokens = list(self.sides)
        self.kinds, self.gaps, self.word = document.kinds, document.gaps, document.word
        self.taken, self.heads = set(named.values()), set[int]()

    def read(self, free: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the sides that stand for a name, and the name."""
        for i in filter(self.is_led, free):
            number = self.heading(i) if self.is_alone(i, IN_LINE) else None
            if number is None and self.is_alone(i, SAID) and self.is_said(i):
                number = self.before(i)
            if number is None:
                number = self.after(i)
            if number is None:  # the first name is number 0
                number = self.of_both(i)
            if number is not None and self.document.names[number].term != NO_TERM:
                self.named[i] = number
                self.taken.add(number)
                yield i, number

    def is_led(self, i: int) -> bool:
        """Whether what stands before a side is such as leads to a noun, and compares it not."""
        is_first = bool(_SIGN.search(self.gaps[i])) or i in self.document.starts_of_sentences
        is_led = is_first or not LEADING.isdisjoint(self.document.kinds_at(i - 1))
        is_compared = self.word(self.lead(i)) in COMPARED
        return is_led and not (is_compared and self.word(i + 1) != "which")

    def is_alone(self, i: int, said: Classes) -> bool:
        """Whether a side has no noun: it ends a phrase, or a word of some classes follows."""
        end = i + 1 + (self.word(i + 1) in NOUNS)
        is_end = end == len(self.kinds) or bool(_SIGN.search(self.gaps[end]))
        return is_end or end in self.cues or not said.isdisjoint(self.kinds[end])

    def lead(self, i: int) -> int:
        """Token before a side, or before its article."""
        return i - 1 - (self.word(i - 1) == "the")

    def is_said(self, i: int) -> bool:
        """Whether something is said of a side, and not of a limb, a person or another thing."""
        part, is_verb = self.part(i), self.has_verb(i)  # "the left is bright on FLAIR"
        others = OF_OTHERS - {"exam"} if is_verb else OF_OTHERS
        if any(not others.isdisjoint(self.kinds[j]) for j in part):
            return False
        if is_verb or self.word(i + 1) in STANDING | {"which"}:
            return True
        is_denied = "negator" in self.document.kinds_at(self.lead(i))
        is_told = is_denied or any(map(self.tells, part))
        return is_told and all(self.kinds[j] or self.is_known(j) for j in part)

    def has_verb(self, i: int) -> bool:
        """Whether a verb follows a side."""
        return not {"finite", "auxiliary"}.isdisjoint(self.document.kinds_at(i + 1))

    def part(self, i: int) -> range:
        """Tokens around a side up to signs; one that begins a sentence has all of it."""
        first, end = self.document.sentences[self.document.sentence_of(i)]
        cuts = [j for j in range(first, end) if _SIGN.search(self.gaps[j])]
        number = bisect_left(cuts, i + 1)
        start = max(first, cuts[number - 1] if number else 0)
        return range(start, end if start == first and i - first < LEAD else (*cuts, end)[number])

    def tells(self, i: int) -> bool:
        """Whether a token says what a place may be."""
        is_cue = i in self.cues and ("negator" not in self.kinds[i] or "sole" in self.kinds[i])
        return is_cue or bool(TELLING & self.kinds[i] or FINDING.match(self.document.words[i]))

    def is_known(self, i: int) -> bool:
        """Whether a token of no class is a finding, a number, or of a name."""
        word = self.document.words[i]
        return i in self.document.covered or bool(FINDING.match(word)) or not word.isalpha()

    def heading(self, i: int) -> int | None:
        """Return the name that heads what is said of a side."""
        document, names = self.document, self.document.names
        first = document.sentences[document.sentence_of(i)][0]
        start = max(0, i - FARTHEST) if i == first else first
        near = document.names_within(start, i)
        number = next((n for n in reversed(near) if self.is_place(n)), None)
        if number is None or number in self.heads:
            return number
        end = names[number].end
        is_one = not _PARAGRAPH.search(document.text, document.ends[end - 1], document.starts[i])
        if not (is_one and _LABEL.match(self.gaps[end])):
            return None
        if number not in self.taken:
            self.heads.add(number)
        return number

    def is_place(self, number: int) -> bool:
        """Whether a name is of a structure, and not of the whole brain or of a lesion."""
        name = self.document.names[number]
        words = " ".join(self.document.words[name.first : name.end])
        return name.is_structure and not (is_general(words) or is_lesion(words))

    def before(self, i: int) -> int | None:
        """Return the name of the last side before a side, if it is the other one."""
        number = bisect_left(self.tokens, i) - 1
        j = self.tokens[number] if number >= 0 else -1
        if j < 0 or i - j > FARTHEST or not self.is_other(i, j):
            return None
        is_near = self.document.sentence_of(i) - self.document.sentence_of(j) <= 1
        is_one = not _PARAGRAPH.search(self.document.text, *self.document.span(j, i + 1))
        return self.named.get(j) if is_near and is_one else None

    def of_both(self, i: int) -> int | None:
        """Return the name of both of which one is told: "of the two thalami only the left is"."""
        first = self.document.sentences[self.document.sentence_of(i)][0]
        near = self.document.names_within(first, i)
        number = next((n for n in reversed(near) if self.is_place(n)), None)
        is_told = self.word(i - 1) == "the" and self.has_verb(i) and self.is_said(i)
        is_only = bisect_left(self.tokens, first) == bisect_left(self.tokens, i)
        if number is None or number in self.taken or not (is_told and is_only):
            return None
        self.heads.add(number)
        return number

    def is_other(self, i: int, j: int) -> bool:
        """Whether two tokens are of opposite sides."""
        return self.sides[j] == OPPOSITE[self.sides[i]]

    def after(self, i: int) -> int | None:
        """Return the name of the other side that follows in the same phrase."""
        number = bisect_left(self.tokens, i) + 1
        j = self.tokens[number] if number < len(self.tokens) else i
        if not i < j <= i + APART or not self.is_other(i, j):
            return None
        is_led = "preposition" in self.document.kinds_at(self.lead(i))
        is_one = is_led and self.is_joined(i, j) and not self.is_of_other(i)
        return self.named.get(j) if is_one else None

    def is_joined(self, i: int, j: int) -> bool:
        """Whether two sides are in one phrase: "in the right and in the left"."""
        if any(self.gaps[k] not in (" ", ", ") for k in range(i + 1, j + 1)):
            return False
        between = (not JOINING.isdisjoint(self.kinds[k]) for k in range(i + 1, j))
        words = (self.word(k) in OTHERS for k in range(i + 1, j))
        return all(map(or_, words, between)) and (j > i + 1 or "," in self.gaps[j])

    def is_of_other(self, i: int) -> bool:
        """Whether a sentence names a limb, a person or another thing before a side."""
        first = self.document.sentences[self.document.sentence_of(i)][0]
        others = OF_OTHERS - {"exam"}  # "DWI: a focus in the left and one in the right pons"
        return any(not others.isdisjoint(self.kinds[k]) for k in range(first, i))
