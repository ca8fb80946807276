"""Laterality: which name a "left", "right" or "bilateral" in a text qualifies.

A side goes forward to the name that it stands before ("left posterior superior temporal gyrus"),
through adjectives and their coordination ("left inferior and middle frontal gyri"), or back to the
name that it closes ("amygdala (left)", "thalamus bilaterally"). It stays with brain structures: a
limb, a visual field or a symptom keeps it to itself ("left hand", "right hemianopia").
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.words import fold, word_set, words_of

Side = Literal["left", "right", "bilateral"]
SIDES: tuple[Side, ...] = get_args(Side)

SIDE_WORDS: dict[str, Side] = {
    "left": "left",
    "l": "left",
    "lt": "left",
    "right": "right",
    "r": "right",
    "rt": "right",
    "bilateral": "bilateral",
    "bilaterally": "bilateral",
    "both": "bilateral",
}
LETTERS = frozenset("lr")  # a side only as capitals: "r = 0.3" is none
ABBREVIATIONS = frozenset(["l", "r", "lt", "rt"])
CONJUNCTIONS = frozenset(["and", "or"])

REACH = 8  # tokens that a side looks ahead for its name
SENTENCE_BREAK = re.compile(r"[.;:?!()\[\]]|\n\s*\n")

# What may stand between a side and its name besides adjectives.
FILLERS = word_set(
    "side sided hemispheric lateralized lateralised dominant nondominant mid middle upper lower "
    "deep gray grey white"
)
ADJECTIVE = re.compile(
    r"(?!pulvinar)[a-z]{3,}(al|ar|ic|ior|ory|oid)|(pre|sensori|psycho)?motor|fusiform"
)
# Adjectives that say nothing of the brain unless a structure follows: "left visual field".
GENERAL_ADJECTIVE = re.compile(
    r".*(anterior|posterior|superior|inferior|medial|lateral|dorsal|ventral|rostral|caudal|central)"
    r"|auditory|facial|gustatory|motor|olfactory|optic|peripheral|sensory|sensorimotor"
    r"|somatosensory|spinal|vestibular|visual|vocal"
)
# Parts of the body, of space and of symptoms that have sides of their own, singular.
NOT_BRAIN = word_set(
    """
    ankle anopia anopsia arm cheek ear elbow eye face field finger foot hand handed handedness
    handers hander hemianopia hemianopsia hemibody hemifield hemiparesis hemiplegia hemispace hip
    index knee leg limb lip mouth neglect palsy paresis plegia quadrant shoulder space thumb toe
    tongue turn weakness wrist
    """
)


def side_of_name(name: str) -> Side | None:
    """Side that a name itself begins with.

    >>> side_of_name("left cerebral hemisphere"), side_of_name("amygdala")
    ('left', None)
    """
    return without_side(name)[1]


def without_side(name: str) -> tuple[str, Side | None]:
    """Words of a name after the side that it begins with, and that side.

    >>> without_side("the left amygdala"), without_side("amygdala")
    (('amygdala', 'left'), ('amygdala', None))
    """
    words = words_of(name)
    if words and words[0] in SIDES:
        return " ".join(words[1:]), SIDE_WORDS[words[0]]
    return name, None


def attach_sides(
    text: str,
    tokens: list[str],
    starts: NDArray[np.intp],
    ends: NDArray[np.intp],
    first: NDArray[np.intp],
    last: NDArray[np.intp],
    structures: NDArray[np.bool_],
) -> dict[int, tuple[Side, int]]:
    """Find the matches that a side qualifies.

    Parameters
    ----------
    text : str
        Original text.
    tokens, starts, ends : sequences of length n_tokens
        Its tokens and where they are in the text.
    first, last, structures : arrays of shape (n_matches,)
        First and last token of each match, and whether it names a structure.

    Returns
    -------
    dict
        For each match that has a side: the side, and the index of the token that says so.
    """
    places = [i for i, token in enumerate(tokens) if token in SIDE_WORDS]
    if not places:
        return {}
    sentence = _Reading(
        text=text,
        tokens=tokens,
        starts=starts,
        ends=ends,
        begins={token: number for number, token in enumerate(first.tolist())},
        finishes={token: number for number, token in enumerate(last.tolist())},
        last=last,
        structures=structures,
    )
    attached: dict[int, tuple[Side, int]] = {}
    paired = -1  # second word of "left and right", already read with the first
    for i in places:
        if i == paired or not sentence.is_side(i):
            continue
        pair = sentence.opposite(i)
        side: Side = "bilateral" if pair else SIDE_WORDS[tokens[i]]
        names = sentence.ahead(pair or i) or sentence.behind(i)
        paired = pair or -1
        for number in names:
            attached.setdefault(number, (side, i))
    return attached


@dataclass(frozen=True)
class _Reading:
    """A text with its tokens and matches, as one reads it around a side."""

    text: str
    tokens: list[str]
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    begins: dict[int, int]  # match by its first token
    finishes: dict[int, int]  # match by its last token
    last: NDArray[np.intp]
    structures: NDArray[np.bool_]

    def gap(self, i: int) -> str:
        """Text between token i − 1 and token i."""
        if i == len(self.tokens):
            return self.text[self.ends[i - 1] :]
        return self.text[self.ends[i - 1] : self.starts[i]]

    def is_side(self, i: int) -> bool:
        """Whether a token that looks like a side is one: "L amygdala", not "l" or "RT"."""
        token = self.tokens[i]
        written = self.text[self.starts[i] : self.ends[i]]
        if token in LETTERS:
            return written.isupper()
        if token in ABBREVIATIONS and not self.gap(i + 1).startswith("."):
            return i + 1 in self.begins  # "RT" is also a reaction time
        return True

    def opposite(self, i: int) -> int | None:
        """Token of the other side in "left and right", "L/R"."""
        j = i + 2 if self.token(i + 1) in CONJUNCTIONS else i + 1
        sides = {SIDE_WORDS.get(self.token(i)), SIDE_WORDS.get(self.token(j))}
        return j if sides == {"left", "right"} and self.is_side(j) else None

    def token(self, i: int) -> str:
        return self.tokens[i] if i < len(self.tokens) else ""

    def ahead(self, i: int) -> list[int]:
        """Return the matches that the side at token i stands before."""
        adjectives: list[int] = []  # "frontal" in "left frontal and temporal lobes"
        j = i + 1
        while j < min(len(self.tokens), i + REACH) and not self.is_broken(i, j):
            number = self.begins.get(j)
            end = j if number is None else int(self.last[number])
            head = self.tokens[end]
            if fold(head) in NOT_BRAIN and not self.is_structure(number):
                return []
            if number is not None and self.is_structure(number):
                if not ADJECTIVE.fullmatch(head):
                    return self.nouns(i, adjectives, number)
                adjectives.append(number)
            elif not self.is_passed(i, j, head):
                break
            j = end + 1
        return [number for number in adjectives if self.is_cerebral(number)]

    def nouns(self, i: int, adjectives: list[int], number: int) -> list[int]:
        """Adjectives and the name that they lead to; "both" wants it in the plural."""
        end = int(self.last[number])
        if self.tokens[i] == "both":
            is_plural = fold(self.tokens[end]) != self.tokens[end]
            return [number] if is_plural and self.token(end + 1) != "and" else []
        names = [*adjectives, number]
        while self.gap(end + 1) == "/" and self.is_structure(self.begins.get(end + 1)):
            names.append(self.begins[end + 1])  # "left amygdala/hippocampus"
            end = int(self.last[names[-1]])
        return names

    def is_broken(self, i: int, j: int) -> bool:
        """Whether punctuation or another side parts token j from the side at token i before it."""
        gap = self.gap(j)
        if self.tokens[j] in SIDE_WORDS:
            return True
        if j == i + 1:
            if self.tokens[i] in ABBREVIATIONS:
                gap = gap.removeprefix(".")
            return bool(SENTENCE_BREAK.search(gap)) or "," in gap
        return bool(SENTENCE_BREAK.search(gap))

    def is_passed(self, i: int, j: int, head: str) -> bool:
        """Whether a side reaches its name across this word."""
        if head in FILLERS or ADJECTIVE.fullmatch(head):
            return True
        if head in ("in", "of", "the"):
            return self.tokens[j - 1] in ("bilaterally", "side", "in", "of")
        return head in CONJUNCTIONS and j > i + 1

    def is_structure(self, number: int | None) -> bool:
        """Whether a match names a part of the brain: "frontal eye field", not "visual field"."""
        if number is None or not self.structures[number]:
            return False
        end = int(self.last[number])
        return fold(self.tokens[end]) not in NOT_BRAIN or self.tokens[max(end - 1, 0)] == "eye"

    def is_cerebral(self, number: int) -> bool:
        """Whether an adjective alone speaks of the brain: "left frontal lesion"."""
        return not GENERAL_ADJECTIVE.fullmatch(self.tokens[int(self.last[number])])

    def behind(self, i: int) -> list[int]:
        """Match that the side at token i closes: "amygdala (left)", "amygdala on the left"."""
        if self.tokens[max(i - 2, 0) : i] == ["on", "the"]:
            number = self.finishes.get(i - 3)
        else:
            number = self.finishes.get(i - 1) if self.closes(i) else None
        return [number] if self.is_structure(number) and number is not None else []

    def closes(self, i: int) -> bool:
        """Whether punctuation ties a side to the word before it rather than to the next."""
        token, before, after = self.tokens[i], self.gap(i), self.gap(i + 1)
        if token == "both" or SENTENCE_BREAK.search(before.replace("(", "")):
            return False
        if token.startswith("bilateral") or "(" in before:
            return True
        ends_here = not after.isspace() or self.token(i + 1).isdigit()
        if token in LETTERS:
            return ends_here
        return "," in before and ends_here
