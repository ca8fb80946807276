"""Spreading: the sides that a clause gives to its places.

"In the left hemisphere, the insula and the putamen responded"; "left: insula, putamen"; "putamen
and insula of the left hemisphere"; "the left hemisphere, including the insula"; or a side in
relation to another: "left hand: contralateral motor cortex"; "putamen and insula, on the left and
right, respectively".
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection
from functools import cached_property
from itertools import product

from neurowhere.text.clinical import lexicon, places
from neurowhere.text.clinical.places import Attached, Side, Sides
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold, word_set

REACH = 8  # tokens between "contralateral to" and the side that it is related to
REACH_CLAUSE = 40  # tokens of a clause
REACH_BLOCK = 200  # tokens of the lines below a head
BLANK = re.compile(r"\n\s*\n")  # an empty line
# Keys of a record ("side: left; site: insula"), and what stands between a key and its value.
SIDE_KEYS = word_set("hemisphere laterality lateralisation lateralization side")
SITE_KEYS = word_set(
    """
    anatomy area areas focus gyrus lobe localisation localization location locations nucleus place
    position region regions roi site sites structure structures territory
    """
)
KEYED = re.compile(r"\s*[:=]\s*|\s+[-–—]\s+")
NOT_KEYS = word_set("dominant effective preferred wrong")  # "dominant side: right"
# After a side that begins a clause: "on the left there is", "on the right we see".
FRONTED = lexicon.FINITE | word_set("a an he here i it no one only she some the there they we")
# Between the names of a list that a side ends after a comma: "insula but not putamen, on the left".
JOINING = places.CONJUNCTIONS | word_set("but except not plus spares sparing well yet")
ACROSS = places.LISTED | JOINING | word_set("also as excluding in into to with without")
# What heads a list of places, besides lesions and activity, and the longest such head.
HEADING = word_set(
    "abnormal area diffusion enhancement finding involvement region restriction structure "
    "thickening thinning"
)
LONGEST_HEAD = 8  # tokens
TERRITORIES = word_set("aca artery distribution mca pca territory")
NO_FINDING = places.WHOLES | places.TRAILING
# Verbs that say of a hemisphere what it has: "the right hemisphere shows an infarct of the insula".
SHOWING = lexicon.SHOWN | word_set(
    "contained contains demonstrates displays exhibits had harbors has reveals showed shows"
)
# Words of what a finding is compared with: "the contralateral hemisphere served as control".
CONTROLS = word_set(
    "baseline compared comparison control mirror normalised normalized reference referenced"
)
ASIDE = (["at", "the"], ["to", "the"])  # before a side, where a clause follows
ONLY = word_set("exclusively found just observed only present seen solely")  # before "on the left"
# Several places as one, the word that ties a side to them, and what leads to their names:
# "a left-lateralized network of", "right-hemisphere regions, namely".
GROUPS = word_set("area circuit cluster network region set site structure system")
OF_SIDES = places.LATERALIZED | places.TRAILING | word_set("hemisphere hemispheric")
MOST_BETWEEN = 3  # words between a side and its group
NOT_BEFORE_GROUP = (
    lexicon.FINITE | lexicon.PEOPLE | lexicon.PREPOSITIONS | places.NERVES | places.NOT_BRAIN
)
MADE_OF = places.INCLUDING | word_set(
    "comprised comprises comprising composed consisting consists containing encompassing formed "
    "includes involving of spanning"
)


class Spreader:
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
        self.words = sorted(
            {
                (tokens, side)
                for side, tokens in words
                if not places.is_of_handedness(reading, tokens.last)
            }
        )

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
        self.record()
        self.include()
        self.itemise()
        return Sides(self.applied, [mark for mark in self.sides.unapplied if mark not in self.used])

    # ---- a clause that begins with a side

    @cached_property
    def heads(self) -> list[int]:
        """Tokens of sides that head a line or a sentence: "LH: …", "Left:"."""
        return [
            i
            for i in self.reading.at_words(places.SIDE_WORDS.keys())
            if self.reading.gap(i + 1).lstrip(")]").startswith(":")
            and (i == 0 or self.reading.is_sentence_end(i) or self.names_finding(i - 1))
            and not (self.tokens[i] in places.ABBREVIATIONS and self.reading.written(i).islower())
        ]

    def head_end(self, words: Tokens) -> int | None:
        """First token after a side that begins a clause: "on the left, …", "left MCA: …"."""
        i, end = words.first, words.last + 1
        finding = self.finding_end(words)
        if finding is not None:
            return finding
        is_whole = self.token(end) in places.WHOLES
        end += is_whole
        if words in self.named:
            named = self.named[words] + 1
            named += fold(self.token(named)) in places.LESION
            end = named if ":" in self.reading.gap(named) else end
        after = self.reading.gap(end)
        first = i - 2 if i > 1 and self.tokens[i - 2 : i] in places.OPENERS else i
        is_subject = is_whole and self.token(end) in SHOWING
        is_fronted = is_subject or "," in after or self.token(end) in FRONTED
        if is_fronted and self.tokens[max(i - 2, 0) : i] in ASIDE:
            first = i - 2
        is_open = is_subject or first < i or self.tokens[i] == "bilaterally"
        first -= is_subject and self.token(first - 1) == "the"
        if ":" not in after and not (is_open and (is_whole or is_fronted)):
            return None
        while first < i and self.token(first - 1) in ONLY:
            first -= 1
        is_turn = self.token(first - 1) in places.TURNS
        first -= is_turn
        if first <= 0 or self.reading.is_sentence_end(first):
            return end
        is_within = self.reading.gap(first).startswith("," if is_turn else ":")
        return end if is_open and is_fronted and is_within else None

    def finding_end(self, words: Tokens) -> int | None:
        """First token of the list that a finding with a side heads: "Infarct, left: …".

        A colon or a bracket begins the list. The head says what is found, and has no other side,
        and no part of the body: "weakness on the left: …".
        """
        end = words.last + 1
        last = min(end + LONGEST_HEAD, len(self.tokens))
        while end < last and not self.begins_list(end):
            if self.reading.gap(end).strip(" -)"):
                return None
            end += 1
        first = self.head_start(words.first)
        if end >= last or first is None:
            return None
        head = [*self.tokens[first : words.first], *self.tokens[words.last + 1 : end]]
        is_other = any(word in places.SIDE_WORDS or word in lexicon.FINITE for word in head)
        is_other |= any(fold(word) in places.NOT_BRAIN for word in head)
        is_other |= any(
            self.applied.get(number, (None, words))[1] != words
            for number in self.places(first, end)
        )
        is_bracket = ":" not in self.reading.gap(end)  # of activity, it says no more than its place
        find = self.names_lesion if is_bracket else self.names_finding
        is_found = any(find(j) for j in range(first, end))
        return end if is_found and not is_other else None

    def head_start(self, i: int) -> int | None:
        """First token of the head that token i is in, if that is short: after a stop or a colon."""
        for first in range(i, max(i - LONGEST_HEAD, -1), -1):
            if first == 0 or ":" in self.reading.gap(first) or self.reading.is_sentence_end(first):
                return first
        return None

    def begins_list(self, i: int) -> bool:
        """Whether a colon, or a bracket that is no side of its own, stands before token i."""
        gap = self.reading.gap(i)
        return ":" in gap or (gap.strip() == "(" and self.token(i) not in places.SIDE_WORDS)

    def names_lesion(self, i: int) -> bool:
        """Whether token i says what is wrong."""
        return places.is_lesion_word(self.token(i))

    def names_finding(self, i: int) -> bool:
        """Whether token i says what is found: "infarcts", "activation", "changes"."""
        word = self.token(i)
        if word in NO_FINDING:
            return False
        return places.is_lesion_word(word) or word in places.LED or fold(word) in HEADING

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
        elif "(" in gap:
            end = self.bracket_end(start)
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

    def bracket_end(self, i: int) -> int:
        """First token after the bracket that token i begins, or after the clause."""
        end = self.clause_end(i)
        return next((j for j in range(i + 1, end) if ")" in self.reading.gap(j)), end)

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

    # ---- records

    def record(self) -> None:
        """Give the side of a record to its places: "side: left; site: insula".

        Where a text has several records, all have the order of the first: the side before its
        places, or after them.
        """
        values = [i for i in self.reading.at_words(places.SIDE_WORDS.keys()) if self.is_value(i)]
        bounds = [-1, *values, len(self.tokens)]
        records = list(zip(values, bounds, bounds[2:], strict=False))
        orders = product((self.sites, self.beside), (True, False))  # with keys, the place first
        for find, is_after in orders if records else ():
            found = [find(*record, is_after=is_after) for record in records]
            if not found[0]:
                continue
            for i, numbers in zip(values, found, strict=True):
                attached = Attached(places.SIDE_WORDS[self.tokens[i]], Tokens(i, i))
                for number in numbers:
                    self.applied.setdefault(number, attached)
                    self.used.add(attached[:2])
            return

    def is_value(self, i: int) -> bool:
        """Whether the side at token i is all that a key has: "side: left"."""
        is_small = self.tokens[i] in places.ABBREVIATIONS and self.reading.written(i).islower()
        is_keyed = self.token(i - 1) in SIDE_KEYS and self.token(i - 2) not in NOT_KEYS
        is_last = not self.reading.gap(i + 1).isspace() or "\n" in self.reading.gap(i + 1)
        return bool(is_keyed and is_last and not is_small and KEYED.fullmatch(self.reading.gap(i)))

    def sites(self, i: int, before: int, after: int, *, is_after: bool) -> list[int]:
        """Return the places of a record that are values of keys, given its side and its bounds."""
        first, end = (before + 1, i) if is_after else (i + 1, after)
        names = self.places(max(first, i - REACH_CLAUSE), min(end, i + REACH_CLAUSE))
        return [number for number in names if self.is_site(number)]

    def beside(self, i: int, before: int, after: int, *, is_after: bool) -> list[int]:
        """Return the places of the sentence before a side, or of that after it, alike."""
        first, end = (before + 1, i - 1) if is_after else (i + 1, after)
        own = self.reading.sentence_number(i)
        here = range(max(first, i - REACH_CLAUSE), min(end, i + REACH_CLAUSE))
        near = [j for j in here if abs(self.reading.sentence_number(j) - own) <= 1]
        return self.places(near[0], near[-1] + 1) if near else []

    def is_site(self, number: int) -> bool:
        """Whether a structure is under the key of a place."""
        for i in range(self.reading.first[number], 0, -1):
            if KEYED.fullmatch(self.reading.gap(i)):
                return self.tokens[i - 1] in SITE_KEYS
            if self.reading.is_sentence_end(i):
                break
        return False

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
            first = self.reading.first[number]
            is_apart = self.is_apart(attached.words)
            if self.closes(attached.words.first, number, is_apart):
                for listed in self.listed_before(first, ACROSS if is_apart else places.LISTED):
                    self.applied.setdefault(listed, attached._replace(is_inherited=True))

    def closes(self, i: int, number: int, is_apart: bool) -> bool:
        """Whether the side at token i ends a list: "insula and pons bilaterally", "…, right"."""
        if i <= self.reading.last[number]:
            return False
        is_adverb = self.tokens[i] == "bilaterally" or self.token(i + 1) in places.LATERALIZED
        if is_adverb or "on" in self.tokens[max(i - 2, 0) : i]:
            return True
        first = self.reading.first[number]
        is_joined = not JOINING.isdisjoint(self.tokens[max(first - 3, 0) : first])
        return is_apart and (is_joined or "+" in self.reading.gap(first))

    def is_apart(self, words: Tokens) -> bool:
        """Whether commas or a stop stand before and after a side: "…, on the right."."""
        first, end = words.first, words.last + 1
        first -= 2 * (self.tokens[max(first - 2, 0) : first] in places.OPENERS)
        end += self.token(end) in places.TRAILING
        return self.reading.gap(first) == ", " and not self.reading.gap(end).isspace()

    def listed_before(self, i: int, between: Collection[str] = places.LISTED) -> list[int]:
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
            elif self.tokens[i] in between or places.ADJECTIVE.fullmatch(self.tokens[i]):
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
            end = self.end_of(number, attached.words)
            end += self.token(end) in places.OF_PLACES
            end += fold(self.token(end)) in places.LESION or self.token(end).endswith("ectomy")
            end += self.token(end) in ("also", "with") and self.token(end + 1) in places.EXTENDING
            is_such = self.tokens[end : end + 2] == ["such", "as"]
            is_more = self.token(end) in places.EXTENDING
            is_more &= self.tokens[end : end + 2] != ["along", "with"]
            is_worse = self.token(end) == "with" and self.names_lesion(end + 1)
            is_worse &= self.token(end + 2) in places.TOWARDS  # "sclerosis with gliosis of CA1"
            is_more |= is_worse
            if is_such or is_more or self.token(end) in places.INCLUDING:
                start = end + 1 + is_such + is_worse
                while is_more and self.token(start) in places.TOWARDS:
                    start += 1
                for part in self.listed(start):
                    if not (is_more and self.is_midline(part)):
                        self.applied.setdefault(part, attached._replace(is_inherited=True))
            if self.reading.gap(end).strip() == "(" and self.is_wide(end - 1):
                self.include_bracket(end, attached)

    def itemise(self) -> None:
        """Pass the side of a group on to its places: "a left-lateralized network of …"."""
        for words, side in self.words:
            start = self.items_start(words.last + 1)
            parts = [] if start is None else self.listed(start)
            for rank, part in enumerate(parts):
                self.applied.setdefault(part, Attached(side, words, is_inherited=rank > 0))
                self.used.add((side, words))

    def items_start(self, i: int) -> int | None:
        """First token of the names of a group, whose side ends before token i."""
        if self.token(i) not in OF_SIDES:
            return None  # "left frontal regions of …" are but a place
        i += 1
        for j in range(i, min(i + MOST_BETWEEN + 1, len(self.tokens))):
            word = self.token(j)
            if self.reading.gap(j) not in (" ", "-") or not NOT_BEFORE_GROUP.isdisjoint(
                (word, fold(word))
            ):
                return None
            if fold(word) in GROUPS and fold(self.token(j + 1)) not in GROUPS:
                return self.after_group(j + 1)
        return None

    def after_group(self, i: int) -> int | None:
        """First token of the list that a word, a colon or a bracket after a group leads to."""
        if self.begins_list(i):
            return i
        if self.tokens[i : i + 2] == ["such", "as"]:
            return i + 2
        is_led = self.token(i) in MADE_OF and self.reading.gap(i) in (" ", ", ")
        return i + 1 if is_led else None

    def is_wide(self, i: int) -> bool:
        """Whether token i ends the name of a lesion, a half of the brain or a territory."""
        word = self.token(i)
        return self.names_lesion(i) or word in places.WHOLES or word in TERRITORIES

    def include_bracket(self, i: int, attached: Attached) -> None:
        """Pass a side on to the list in brackets at token i: "left MCA territory (insula)"."""
        end = self.bracket_end(i)
        for part in self.listed(i):
            if self.reading.first[part] < end and not self.is_midline(part):
                self.applied.setdefault(part, attached._replace(is_inherited=True))

    def end_of(self, number: int, words: Tokens) -> int:
        """First token after a match, and after its side if that closes it: "insula on the left"."""
        end = self.reading.last[number] + 1
        if 0 <= words.first - end <= len(places.ON_THE[0]):
            end = words.last + 1
            end += self.token(end) in places.TRAILING
        return end

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
                if self.is_control(number):
                    continue
                self.applied.setdefault(number, Attached(side, Tokens(i, i)))
                for listed in self.listed_with(number):
                    inherited = Attached(side, Tokens(i, i), is_inherited=True)
                    self.applied.setdefault(listed, inherited)

    def is_control(self, number: int) -> bool:
        """Whether half of the brain is what a finding is compared with: "served as control"."""
        if not self.is_general(number):
            return False
        here = self.reading.sentence_tokens(
            self.reading.sentence_number(self.reading.first[number])
        )
        return any(fold(self.tokens[i]) in CONTROLS for i in here)

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
                    for each in self.joined_before(number):
                        self.applied.setdefault(each, Attached(side, Tokens(i, i)))

    def joined_before(self, number: int) -> list[int]:
        """Return a match, and the structures before it that "/" or "and" joins: "insula/SII"."""
        names = [number]
        while True:
            i = self.reading.first[names[-1]]
            is_and = self.token(i - 1) == "and" and self.reading.gap(i).isspace()
            is_joined = is_and or self.reading.gap(i) == "/"
            before = self.reading.finishes.get(i - 1 - is_and) if is_joined and i else None
            if before is None or not self.reading.is_structure[before]:
                return names
            names.append(before)

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
        found = self.reading.beginning(range(first, end))
        return [number for number in found if self.reading.is_structure[number]]
