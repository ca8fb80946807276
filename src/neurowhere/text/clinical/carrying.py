"""Carrying: the side of a lesion, where a text goes on to speak of the same lesion.

**The same structure.** After "left thalamic stroke", "thalamic pain" is of the left thalamus: later
mentions of a structure have the side of its lesion, if the text gives it but one. Other texts than
of lesions often go on to speak of both sides.

**The same lesion.** "Right MCA occlusion. The insula is hypodense." speaks of one lesion: what is
wrong after it, in the same sentence or in those that follow, is on its side. This ends at another
side, at a sentence that tells of nothing wrong, and at the head of another part of a report. What
lies in the middle has no side of its own.

**The same side of the body.** "R hemiplegia, hemianopia" are two signs of one side.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import (
    ADJECTIVE,
    FILLERS,
    GENERAL_PLACES,
    MIDLINE,
    NOT_BRAIN,
    OF_PLACES,
    ON_THE,
    OPPOSITE,
    RELATED,
    SIDE_WORDS,
    TRAILING,
    Attached,
    Sides,
    is_beside_lesion,
    is_general,
    is_lesion_word,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import Found
from neurowhere.text.clinical.vessels import VASCULAR
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

OTHERS = word_set("opposite other remainder remaining rest")  # "the rest of the insula"
REACH_ITEM = 20  # tokens between commas
BLANK = re.compile(r"\n\s*\n")  # an empty line
REACH_KNOWN = 60  # tokens from a lesion to a later mention of its place
# Last words of the names of arteries, which other places are supplied by.
ARTERIES = word_set("aca aica artery carotid choroidal ica m1 m2 mca pca pica sca")
# What a lesion does to the places that it reaches, and how else a part of it looks.
REACHED = re.compile(r"affected|compressed|displaced|effaced|infiltrated|invaded|involved")
STATE = re.compile(
    r"(?:hyper|hypo)(?:dens|intens|attenuat|perfus)\w*|(?:o?edema|isch)\w*|swollen|swelling"
    r"|obscur\w+|blurr\w+|infarcted|necrotic|damaged|destroyed|dense|loss|lost|effacement|restrict\w+"
    + f"|{REACHED.pattern}"
)
ANOTHER = word_set(
    "additional again also another both chronic incidental new old second separate"
)  # lesions
PEOPLE = lexicon.PEOPLE - word_set("animals mice monkeys rats")
# From a lesion to what it is of, and to where it is.
LEADING_ON = word_set("caused causing for had produced producing with")
OPERATION = re.compile(r"approach|biopsy|burr|surgery|[a-z]+(?:ectomy|otomy)")
AT_PLACES = word_set("affecting in involving of within")
TURNING = word_set("after although but from no not while without")  # between signs of two sides


# ---- the same structure


def with_known_sides(reading: Reading, sides: Sides, denied: Container[int]) -> Sides:
    """Give later mentions of a structure the side of its lesion, if the text gives it but one.

    Parameters
    ----------
    reading : Reading
    sides : Sides
    denied : collection of int
        Matches that the text denies: they neither give a side nor get one.
    """
    lesions = {
        number: own
        for number, own in sides.applied.items()
        if own.side in OPPOSITE and not own.is_inherited and _has_lesion(reading, number)
    }
    if not lesions:
        return sides
    names: dict[int | frozenset[str], list[int]] = {}
    for number in sorted(range(len(reading.terms)), key=reading.first.__getitem__):
        for key in _keys(reading, number):
            names.setdefault(key, []).append(number)
    one_side = {key: _one_side(same, sides, denied) for key, same in names.items()}
    applied, first = dict(sides.applied), reading.first.__getitem__
    for number, own in lesions.items():
        keys = _keys(reading, number)
        if any(one_side[key] != own.side for key in keys):
            continue
        start, inherited = first(number), own._replace(is_inherited=True)
        for same in (names[key] for key in keys):
            after = bisect_right(same, start, key=first)
            reached = bisect_left(same, start + REACH_KNOWN, key=first)
            for each in same[after:reached]:
                if each not in denied and _resumes(reading, each):
                    applied.setdefault(each, inherited)
    return Sides(applied, sides.unapplied)


def _one_side(same: list[int], sides: Sides, denied: Container[int]) -> str | None:
    """Return the side that a text gives all mentions of a structure that have one, if any."""
    sided = [number for number in same if number in sides.applied]
    found = {sides.applied[number].side for number in sided}
    return found.pop() if len(found) == 1 and not any(map(denied.__contains__, sided)) else None


def _has_lesion(reading: Reading, number: int) -> bool:
    return is_beside_lesion(reading.tokens, reading.first[number], reading.last[number])


def _keys(reading: Reading, number: int) -> list[int | frozenset[str]]:
    """Return what tells a structure: its term, and the words of its name that say where it is."""
    words = reading.tokens[reading.first[number] : reading.last[number] + 1]
    telling = frozenset(fold(word) for word in words if not is_general(word))
    is_known = reading.is_structure[number] and reading.terms[number] != NO_TERM
    return [reading.terms[number], telling] if is_known and telling else []


def _resumes(reading: Reading, number: int) -> bool:
    """Whether a name is of one thing that was named before: not "the rest of the", "thalami"."""
    first, last = reading.first[number], reading.last[number]
    is_plural = fold(reading.tokens[last]) != reading.tokens[last]
    return not is_plural and OTHERS.isdisjoint(reading.tokens[max(first - 3, 0) : first])


# ---- the same lesion


def with_carried_sides(reading: Reading, sides: Sides, denied: Container[int]) -> Sides:
    """Give the places of what follows a lesion on one side that side.

    Parameters
    ----------
    reading : Reading
    sides : Sides
    denied : collection of int
        Matches that the text denies: they neither give a side nor get one.
    """
    applied = dict(sides.applied)
    used = set()
    carrier = _Carrier(reading, denied)
    for own, number in carrier.lesions(sides):
        for place in carrier.places(own, number):
            if applied.setdefault(place, own._replace(is_inherited=True)).words == own.words:
                used.add(own.words)
    return Sides(applied, [mark for mark in sides.unapplied if mark[1] not in used])


class _Carrier:
    """Looks for lesions that have a side, and for what is said of them later."""

    def __init__(self, reading: Reading, denied: Container[int]) -> None:
        self.reading, self.denied = reading, denied
        self.tokens, self.token = reading.tokens, reading.token

    def lesions(self, sides: Sides) -> Iterator[tuple[Attached, int | None]]:
        """Yield the sides of lesions, each with the place that it is of, if there is one."""
        for number, own in sides.applied.items():
            is_lateral = own.side in OPPOSITE and not own.is_inherited
            if is_lateral and number not in self.denied and self.is_wrong(number):
                yield own, number
        for side, words in sides.unapplied:
            if side in OPPOSITE and self.is_of_lesion(words):
                yield Attached(side, words), None

    def is_wrong(self, number: int) -> bool:
        """Whether the words around a place say that something is wrong with it."""
        first, last = self.reading.first[number], self.reading.last[number]
        if not self.is_wide(number):
            return is_beside_lesion(self.tokens, first, last)
        words = {fold(self.tokens[i]) for i in self.item(first)}
        return not VASCULAR.isdisjoint(words) or any(map(_is_wrong_word, words))

    def is_wide(self, number: int | None) -> bool:
        """Whether a lesion has no place but an artery or half of the brain."""
        if number is None:
            return True
        words = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return fold(words[-1]) in ARTERIES or all(fold(word) in GENERAL_PLACES for word in words)

    def is_of_lesion(self, words: Tokens) -> bool:
        """Whether a side is of a lesion without a place: "stroke on the left", "left stroke"."""
        before, after = words.first - 1, words.last + 1
        before -= 2 * (self.tokens[max(before - 1, 0) : before + 1] in ON_THE)
        before -= self.token(before) == "on"
        while self.token(after) in TRAILING | FILLERS or ADJECTIVE.fullmatch(self.token(after)):
            after += 1
        sentence = self.reading.sentence_tokens(self.reading.sentence_number(words.first))
        near = (self.tokens[i] for i in (before, after) if i in sentence)
        return any(
            is_lesion_word(word) or fold(word) in VASCULAR or OPERATION.fullmatch(word)
            for word in near
        )

    def item(self, i: int) -> range:
        """Tokens around token i, between commas or the ends of its sentence."""
        sentence = self.reading.sentence_tokens(self.reading.sentence_number(i))
        first, end = i, i + 1
        while first > max(sentence.start, i - REACH_ITEM) and not self.begins_item(first):
            first -= 1
        while end < min(sentence.stop, i + REACH_ITEM) and not self.begins_item(end):
            end += 1
        return range(first, end)

    def begins_item(self, i: int) -> bool:
        """Whether another item of a sentence begins at token i."""
        return "," in self.reading.gap(i)

    def places(self, own: Attached, number: int | None) -> Iterator[int]:
        """Yield the places that are said to be part of a lesion after its side."""
        start = own.words.last if number is None else max(self.reading.last[number], own.words.last)
        here = self.reading.sentence_number(start)
        sentence = self.reading.sentence_tokens(here)
        if len(sentence) > REACH_KNOWN or self.is_of_others(sentence):
            return
        if self.is_wide(number):
            i = self.item(start).stop
            led = (j for j in range(start, i) if self.tokens[j] in LEADING_ON)
            i = next(led, i)  # "right MCA stroke with a swollen insula"
            while i < sentence.stop and not self.has_side(rest := range(i, self.item(i).stop)):
                if self.is_part(rest, STATE) or (number is None and self.is_place_of(rest)):
                    yield from self.named(rest)
                i = rest.stop
        else:
            yield from self.apposition(range(self.item(start).stop, sentence.stop))
        if self.has_side(range(start + 1, sentence.stop)):
            return
        state = STATE if self.is_wide(number) else REACHED
        for following in range(here + 1, len(self.reading.sentence_ends) + 1):
            sentence = self.reading.sentence_tokens(following)
            if sentence.stop > start + REACH_KNOWN or not self.goes_on(sentence):
                return
            if self.is_part(sentence, state):
                yield from self.named(sentence)
            elif any(self.reading.is_structure[each] for each in self.reading.beginning(sentence)):
                return

    def is_place_of(self, rest: range) -> bool:
        """Whether some tokens tell where a lesion is that has a side alone.

        "Glioma on the left, in the insula", "right-sided stroke with infarction of the insula".
        """
        words = self.tokens[rest.start : rest.stop]
        if words[0] in AT_PLACES:
            return True
        is_led = words[0] in LEADING_ON and ANOTHER.isdisjoint(words)
        return is_led and any(map(is_lesion_word, words))

    def apposition(self, rest: range) -> Iterator[int]:
        """Yield the place that tells a lesion's place again: "L frontal lesion, SMA region"."""
        tokens = range(rest.start, self.item(rest.start).stop) if rest else rest
        names = [each for each in self.reading.beginning(tokens) if self.reading.is_structure[each]]
        within = {i for n in names for i in range(self.reading.first[n], self.reading.last[n] + 1)}
        others = [self.tokens[i] for i in tokens if i not in within]
        is_area = not OF_PLACES.isdisjoint(others)
        if is_area and all(word in OF_PLACES or ADJECTIVE.fullmatch(word) for word in others):
            yield from (number for number in names if number not in self.denied)

    def goes_on(self, sentence: range) -> bool:
        """Whether a sentence may speak of the same lesion as that before it."""
        gaps = self.reading.gaps
        is_new = BLANK.search(gaps[sentence.start]) or any(":" in gaps[i] for i in sentence[1:])
        return not (is_new or self.has_side(sentence) or self.is_of_others(sentence))

    def has_side(self, tokens: Iterable[int]) -> bool:
        """Whether some tokens have a side of the brain."""
        return any(
            i in self.reading.sided
            or self.tokens[i] in RELATED
            or (self.tokens[i] in SIDE_WORDS and fold(self.token(i + 1)) not in NOT_BRAIN)
            for i in tokens
        )

    def is_of_others(self, tokens: Iterable[int]) -> bool:
        """Whether some tokens speak of people; a lesion is made alike in all animals."""
        return any(self.tokens[i] in PEOPLE for i in tokens)

    def is_part(self, tokens: range, state: re.Pattern[str]) -> bool:
        """Whether some tokens tell of a part of the lesion, and of no other."""
        words = self.tokens[tokens.start : tokens.stop]
        return ANOTHER.isdisjoint(words) and any(map(state.fullmatch, words))

    def named(self, tokens: Iterable[int]) -> Iterator[int]:
        """Yield the places among some tokens that may have the side of a lesion."""
        for number in self.reading.beginning(tokens):
            first, last = self.reading.first[number], self.reading.last[number]
            is_midline = not MIDLINE.isdisjoint(self.tokens[first : last + 1])
            is_place = self.reading.is_structure[number] and not is_midline
            if is_place and number not in self.denied and _resumes(self.reading, number):
                yield number


def _is_wrong_word(word: str) -> bool:
    is_state = STATE.fullmatch(word) and not REACHED.fullmatch(word)
    return is_lesion_word(word) or bool(is_state)


# ---- signs of one side, and two names of one place


def with_shared_sides(reading: Reading, found: "list[Found]") -> "list[Found]":
    """Give signs the side of the others in their sentence: "R hemiplegia, hemianopia".

    A second name of the same place has that of the first, also from the sentence before or after.
    """
    sided: defaultdict[int, list[Found]] = defaultdict(list)
    for name in found:
        if name.side:
            sided[reading.sentence_number(name.tokens.first)].append(name)
    if not sided:
        return found

    def shared(name: Found) -> Attached | None:
        here = reading.sentence_number(name.tokens.first)
        signs = [each for each in sided.get(here, ()) if each.entry.is_crossed]
        is_one = (
            name.entry.is_crossed and len({each.side and each.side.side for each in signs}) == 1
        )
        near = [each for each in signs if is_one and _are_near(reading, name, each)]
        for number in (here - 1, here, here + 1) if name.entry.is_fixed else ():
            near += [each for each in sided.get(number, ()) if _are_same(name, each)]
        sides = {each.side.side: each.side for each in near if each.side}
        return next(iter(sides.values())) if len(sides) == 1 else None

    return [name if name.side else name._replace(side=shared(name)) for name in found]


def _are_near(reading: Reading, name: Found, other: Found) -> bool:
    """Whether nothing turns the sentence, or its side, between a sign and one that has a side."""
    first, _, _, last = sorted([*name.tokens, *other.tokens])
    words = reading.tokens[first:last]
    sides = {SIDE_WORDS[word] for word in words if word in SIDE_WORDS}
    is_same = other.side is not None and sides <= {other.side.side}
    return is_same and TURNING.isdisjoint(words)


def _are_same(name: Found, other: Found) -> bool:
    """Whether two names point to the same structures: "CPA", "vestibular schwannoma"."""
    places, others = ({rule.structures for rule in each.entry.rules} for each in (name, other))
    return bool(places) and places == others
