"""Crossed signs: a cranial nerve fails on one side and the body on the other.

A lesion of the brain stem reaches nuclei of its own side, and tracts to the other half of the body.
"Left third nerve palsy with right hemiparesis" is of the left midbrain, and not of the motor
cortex. The sign of the nerve tells the structure and its side; the sign of the body tells the side
of a syndrome that has none, and nothing else.

A sign after "contralateral" or "ipsilateral" has the side that these mean: "left pontine lesion
with contralateral hemiparesis".

A face that feels less on one side, and a body on the other, are of the medulla on the side of the
face. So are a Horner syndrome or an ataxia with a loss of pain and temperature on the other side,
and a numb face with a Horner syndrome, a dysphagia or hoarseness.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from neurowhere.text.clinical.places import OPPOSITE, OTHER, SIDE_WORDS, Attached, Side
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import Entry, Found, read_table
from neurowhere.text.words import word_set

if TYPE_CHECKING:
    from neurowhere.text.clinical.mentions import Mention

BRAIN_STEM = frozenset(["midbrain", "pons", "medulla", "medulla oblongata"])
OF_BODY = frozenset(["hemiparesis", "hemisensory loss", "monoparesis", "numbness", "weakness"])
REACH = 30  # tokens between the two signs
REACH_RELATED = 4  # tokens from "contralateral" to a sign
JOINING = word_set("and but or then with without")
RELATED_SIGNS = OTHER | word_set("ipsilateral ipsilesional")
REACH_NO = 4  # tokens between a denial and a sign
DENYING = word_set("denied denies no nor not without")
BELL = word_set("bell bells")  # a palsy that has its own cause
CROSSED = "crossed"  # what a name may need
NUMB_FACE, LATERAL_MEDULLA = "facial numbness", "Wallenberg syndrome"
BULBAR = word_set(
    "dysphagia dysphonia hoarse hoarseness"
)  # signs of the medulla beside a numb face
# Signs that are of the medulla if the other side of the body has lost pain and temperature.
OF_MEDULLA = frozenset(["Horner syndrome", "limb ataxia"])
# One half of the face and the other half of the body, in either order.
HALF = r"(left|right) (?:(?:side|half) of the )?"
FACE, BODY = (
    rf"{HALF}(?:hemiface|face)",
    rf"{HALF}(?:hemibody|body|limbs|arm|leg|trunk|extremities)",
)
JOINED = r" (?:(?:and|but|with) )?(?:(?:of|on|in|over) )?(?:the )?"
HALVES = re.compile(rf"\b(?:{FACE}{JOINED}{BODY}|{BODY}{JOINED}{FACE})\b")
# Words of a sentence that tell of lost feeling: one of these, or one of each of the others.
NUMB = word_set(
    """
    analgesia hypaesthesia hypalgesia hypesthesia hypoaesthesia hypoalgesia hypoesthesia numb
    numbness
    """
)
FELT = word_set("pinprick sensation sensory temperature touch")
LESS = word_set("absent decreased diminished impaired loss lost reduced")


def with_crossed(reading: Reading, found: list[Found], denied: Container[int] = ()) -> list[Found]:
    """Read crossed signs as those of one lesion of the brain stem.

    Parameters
    ----------
    reading : Reading
    found : list of Found
    denied : collection of int
        Matches that the text denies: "no hemiparesis" crosses nothing.

    Returns
    -------
    list of Found
        Names that need a crossed sign and have none are left out, or are what they are else.
    """
    found = _with_halves(reading, found)
    said = [name for name in found if not _is_denied(reading, name.tokens, denied)]
    bodies = [name for name in said if name.entry.name in OF_BODY and _is_lateral(name)]
    pairs = _Pairs(_pair(reading, said, bodies))
    on_sides = {(name.entry.name, name.side.side) for name in said if name.side}
    bulbar = {name for name in said if _is_bulbar(reading, name, on_sides, denied)}
    read = (name if name in bulbar else pairs.read(name) for name in found)
    return [name for name in read if name is not None]


def with_related_sides(
    reading: Reading, found: list[Found], sides: Iterable[Attached]
) -> list[Found]:
    """Give the signs after "contralateral" or "ipsilateral" the side that these mean.

    Parameters
    ----------
    reading : Reading
    found : list of Found
    sides : iterable of Attached
        Sides of the structures of the text. The side meant is that of the last structure or name
        before the word in its sentence, or else the only one of the sentence, or of the text.
    """
    if reading.where.keys().isdisjoint(RELATED_SIGNS):
        return found
    named = {side for side in (*sides, *(name.side for name in found)) if side}
    lateral = sorted(
        (side.words.first, side.side)
        for side in named
        if side.side in OPPOSITE and reading.tokens[side.words.first] in SIDE_WORDS
    )
    return [_with_related_side(reading, name, lateral) for name in found]


def _with_related_side(reading: Reading, name: Found, sides: list[tuple[int, Side]]) -> Found:
    """Give a sign without a side the one that "contralateral" before it means."""
    if name.side or name.entry.kind not in ("sign", "syndrome") or name.entry.needs == "side":
        return name
    first = name.tokens.first
    before = _words_before(reading, first)
    mark = next((i for i in before if reading.tokens[i] in RELATED_SIGNS), None)
    if mark is None:
        return name
    sentence = reading.sentence_tokens(reading.sentence_number(first))
    here = [(i, side) for i, side in sides if i in sentence]
    last = [(i, side) for i, side in here if i < mark][-1:]
    meant = {side for _, side in last or here or sides}
    if len(meant) != 1:
        return name
    (side,) = meant
    side = OPPOSITE[side] if reading.tokens[mark] in OTHER else side
    return name._replace(side=Attached(side, Tokens(mark, mark)))


def _words_before(reading: Reading, first: int) -> Iterator[int]:
    """Yield the tokens before token `first` that belong to it, from the last: "pure motor"."""
    for i in range(first, max(first - REACH_RELATED, 0), -1):
        if not (reading.gap(i).isspace() or reading.gap(i) == "-"):
            return
        if reading.tokens[i - 1] in JOINING:
            return
        yield i - 1


def crossed_halves(reading: Reading) -> Iterator[tuple[Tokens, Attached]]:
    """Yield where a face and the other half of a body feel less, and the side of the face.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["face"])).read
    >>> [(words, side.side) for words, side in crossed_halves(read("Numb: left face, right body"))]
    [(Tokens(first=1, last=4), 'left')]
    """
    for number in sorted({reading.sentence_number(i) for i in reading.at_words(NUMB | FELT)}):
        here = reading.sentence_tokens(number)
        tokens = reading.tokens[here.start : here.stop]
        if NUMB.isdisjoint(tokens) and LESS.isdisjoint(tokens):
            continue
        words = " ".join(tokens)
        for match in HALVES.finditer(words):
            face, body = (1, 2) if match[1] else (4, 3)
            first, of_face = (words.count(" ", 0, at) for at in (match.start(), match.start(face)))
            if match[face] != match[body] and DENYING.isdisjoint(tokens[:first]):
                i, j = here.start + first, here.start + of_face
                span = Tokens(i, i + match[0].count(" "))
                yield span, Attached(SIDE_WORDS[match[face]], Tokens(j, j))


def weigh_halves(reading: Reading, mentions: "list[Mention]") -> "list[Mention]":
    """Give no weight to a face and a body that feel less on opposite sides."""
    within = {i for words, _ in crossed_halves(reading) for i in range(words.first, words.last + 1)}
    if not within:
        return mentions
    return [
        each._replace(weight=0.0) if first in within else each
        for first, each in zip(reading.first, mentions, strict=True)
    ]


def _with_halves(reading: Reading, found: list[Found]) -> list[Found]:
    """Add a face and a body that feel less on opposite sides, in place of other signs of these."""
    halves = {
        reading.sentence_number(words.first): (words, side)
        for words, side in crossed_halves(reading)
    }
    if not halves:
        return found
    others = [
        name
        for name in found
        if name.entry.name not in (*OF_BODY, NUMB_FACE)
        or reading.sentence_number(name.tokens.first) not in halves
    ]
    entry = read_table().entries[NUMB_FACE]._replace(needs="")
    return others + [Found(entry, words, side) for words, side in halves.values()]


def _pair(
    reading: Reading, said: list[Found], bodies: list[Found]
) -> Iterator[tuple[Found, Found]]:
    """Yield the signs of the brain stem, each with the signs of the body that it crosses."""
    is_bell = not BELL.isdisjoint(reading.where)
    bodies = sorted(bodies, key=_first)
    for nerve in said if bodies else []:
        start = bisect_left(bodies, _first(nerve) - REACH, key=_first)
        stop = bisect_right(bodies, _first(nerve) + REACH, key=_first)
        is_of_stem = not is_bell and _is_of_stem(nerve.entry)
        for body in bodies[start:stop]:
            is_crossed = _are_crossed(nerve, body)
            if is_crossed and (is_of_stem or _is_of_medulla(reading, nerve, body)):
                yield nerve, body


def _first(name: Found) -> int:
    return name.tokens.first


def _is_of_medulla(reading: Reading, name: Found, body: Found) -> bool:
    """Whether a sign is of the medulla, as the body has lost pain and temperature."""
    if name.entry.name not in OF_MEDULLA or name.side is None:
        return False
    return "temperature" in reading.tokens[body.tokens.first : body.tokens.last + 1]


def _is_bulbar(
    reading: Reading, name: Found, on_sides: Container[tuple[str, Side]], denied: Container[int]
) -> bool:
    """Whether a numb face is beside signs of the medulla, and the body on its side is not numb."""
    if name.entry.name != NUMB_FACE or name.side is None:
        return False
    side = name.side.side
    if any((sign, side) in on_sides for sign in OF_BODY):
        return False
    here = reading.sentence_tokens(reading.sentence_number(name.tokens.first))
    return ("Horner syndrome", side) in on_sides or any(
        reading.tokens[i] in BULBAR and not _is_denied(reading, Tokens(i, i), denied) for i in here
    )


def _is_denied(reading: Reading, name: Tokens, denied: Container[int]) -> bool:
    """Whether the text denies a name, which may be no match: "no left third nerve palsy"."""
    if reading.finishes.get(name.last) in denied:
        return True
    for i in range(name.first, max(name.first - REACH_NO, 0), -1):
        if reading.is_sentence_end(i) or "," in reading.gap(i):
            return False
        if reading.tokens[i - 1] in DENYING:
            return True
    return False


class _Pairs:
    """Crossed signs of a text: each sign of the brain stem with one of the body."""

    def __init__(self, pairs: Iterable[tuple[Found, Found]]) -> None:
        self.body_of: dict[Found, Found] = {}  # by nerve
        self.bodies: set[Found] = set()
        for nerve, body in pairs:
            self.body_of.setdefault(nerve, body)
            self.bodies.add(body)
        self.side = next((nerve.side for nerve in self.body_of if nerve.side), None)

    def read(self, name: Found) -> Found | None:
        """Return a name as the crossed signs have it."""
        needs, _, other = name.entry.needs.partition(" else ")
        body = self.body_of.get(name)
        if needs == CROSSED and not body:
            return name._replace(entry=read_table().entries[other]) if other else None
        if name.entry.name in OF_MEDULLA and body:
            return name._replace(entry=read_table().entries[LATERAL_MEDULLA])
        if name in self.bodies:
            return name._replace(entry=name.entry._replace(rules=()))
        if name.side is None:
            side = _side_of_stem(name, body) if body else None
            return name._replace(side=side or (self.side if _is_of_stem(name.entry) else None))
        return name


def _are_crossed(nerve: Found, body: Found) -> bool:
    """Whether a sign of the body is not on the side of a nerve; a syndrome may have no side."""
    assert body.side is not None
    if nerve.side is None:
        return nerve.entry.kind == "syndrome"
    return nerve.side.side == OPPOSITE[body.side.side]


def _side_of_stem(nerve: Found, body: Found) -> Attached | None:
    """Side of the lesion: that of the nerve, or opposite to the body."""
    if nerve.side or not body.side:
        return nerve.side
    return body.side._replace(side=OPPOSITE[body.side.side])


def _is_lateral(name: Found) -> bool:
    return name.side is not None and name.side.side in OPPOSITE


def _is_of_stem(entry: Entry) -> bool:
    """Whether an entry points to the brain stem first, and to the side that the text gives it."""
    is_first = any(
        rule.weight == 1 and not BRAIN_STEM.isdisjoint(rule.structures) for rule in entry.rules
    )
    return is_first and all(rule.side == "same" for rule in entry.rules)
