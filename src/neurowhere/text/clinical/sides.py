"""Sides: which name a "left", "right" or "bilateral" in a text qualifies.

A side goes forward to the name that it stands before ("left posterior superior temporal gyrus"),
through adjectives and their coordination ("left inferior and middle frontal gyri") and along a
list ("left thalamus, putamen and caudate"), or back to the name that it closes ("amygdala (left)",
"thalamus bilaterally"). It stays with brain structures and the territories of arteries: a limb, a
visual field or a symptom keeps it to itself ("left hand", "right hemianopia"), where it is a side
of the body, and crossed in the brain.

A clause may give a side to all its places (`spreading`).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator

from neurowhere.text.clinical import lexicon, places
from neurowhere.text.clinical.dominance import DOMINANT, of_dominance
from neurowhere.text.clinical.ellipsis import is_said, read_tables
from neurowhere.text.clinical.homologues import of_homologues
from neurowhere.text.clinical.pairs import (
    LARGER,
    are_joined,
    compared_alone,
    compared_pairs,
    compared_with,
    is_set_against,
    more_of_both,
    second_of_noun,
)
from neurowhere.text.clinical.places import Attached, Side, Sides
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.spreading import Spreader
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

REACH = 8  # tokens that a side looks ahead for its name
REACH_BACK = 6  # tokens between a name and "on the left" or "bilaterally"
DASH = re.compile(r"[^\S\n]+([-–—][^\S\n]+)?")  # or spaces, within a line
BRACKET = re.compile(r"[(\[]$")
SENTENCE_BREAK = re.compile(r"[.;:?!|()\[\]]|\n\s*\n|(?<![\n\t])\t")
MOST_UNKNOWN = 2  # words between a side and its name that do not look like adjectives
# Words that are no adjectives, so that no noun phrase goes on across them.
NO_ADJECTIVES = (
    lexicon.FINITE
    | lexicon.LINKS
    | lexicon.PREPOSITIONS
    | lexicon.WHERE
    | lexicon.AFTER_PREDICATE
    | lexicon.STOPS
    | lexicon.DETERMINERS
    | lexicon.PRONOUNS
    | lexicon.NOT
    | lexicon.PEOPLE
    | lexicon.ADVERBS
    | lexicon.OPENING
    | lexicon.NUMBERS
    | lexicon.TESTS
    | places.AFTER_VERB_LEFT
    | places.AFTER_OTHER_RIGHT
    | places.EXTENDING
    | places.INCLUDING
    | places.LESION
    | places.LED
    | places.LEADING
    | places.RELATED
    | word_set(
        """
        about above against behind below button click condition cue healthy idea key no normal
        onset per press saccade see seed sham side stimulation stimulus target task toward trial
        upon via without word wrong
        """
    )
)
ENDING_IN_S = re.compile(r".*[^sui]s")  # a plural, or a verb: "choices", "activates"
QUALIFYING = re.compile(r".{3,}(ed|en|ense|ous|ive|ant|ent|ic|al|ar|ly)")  # how adjectives end
SEQUENCES = word_set("adc ct dwi fdg flair gre swi t1 t2")  # "left T2-bright hippocampus"
SIZES = word_set("cc cm ml mm")
INTERPOSED = word_set(
    "additionally also conversely furthermore however meanwhile moreover nevertheless nonetheless "
    "therefore though too"
)
# What is put into the brain, and words from it to where it is.
DEVICES = word_set("catheter contact electrode lead probe tip")
LYING = word_set("correctly ends is lies located now placed positioned sits terminates was well")
ENHANCING = re.compile("(non)?(bleeding|enhancing|restricting)")  # others in -ing are verbs


def attach_sides(reading: Reading) -> Sides:
    """Find the matches that a side qualifies, and the sides that qualify none.

    A side also reaches places that are no terms, where `with_places` has added them to the reading.
    """
    tokens = reading.at_words(places.SIDE_WORDS.keys())
    if not (tokens or reading.sided or reading.at_words(DOMINANT.keys())):
        return Sides({}, [])
    reader = _SideReader(reading)
    sides = Spreader(reading, reader.read(tokens), reader.ahead).spread_all()
    applied = sides.applied | compared_pairs(reading, sides.applied)
    applied |= dict(of_homologues(reading, applied))
    return Sides(read_tables(reading).sides | applied, sides.unapplied)


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
            if pair is None:
                pair = compared_with(self.reading, i) or second_of_noun(self.reading, i)
            elif not are_joined(self.reading, i, pair):
                pair = None
            words = Tokens(i, pair or i)
            dominant = self.dominant(words)
            if pair or dominant:
                side, done = "bilateral", words.last
            if other:
                names = self.ahead(other, is_aside=True)
            elif dominant and (last := self.both_after(i)):
                names, done = self.ahead(last), last
            else:
                names = self.ahead(words.last) or self.behind(words)
            if dominant and not names:  # "atrophy, left more than right, of the insula"
                names = self.ahead(words.last, is_aside=True)
            both = self.both(words, names, applied) if dominant else []
            for number in both:
                applied[number] = applied[number]._replace(dominant=dominant)
            names = [number for number in names if number not in applied]
            if not names and (
                compared := compared_alone(self.reading, i, applied)
                or more_of_both(self.reading, i, applied)
            ):
                applied[compared[0]] = compared[1]
                continue
            applied |= dict.fromkeys(names, Attached(side, words, dominant=dominant))
            if not names and not both and self.is_marked(words):
                marks = sorted(set(words))
                unapplied += [(places.SIDE_WORDS[self.tokens[j]], Tokens(j, j)) for j in marks]
            if names and other:
                done = other
                unapplied.append((places.SIDE_WORDS[self.tokens[other]], Tokens(other, other)))
        for number, mark in [*of_dominance(self.reading, self.ahead), *self.of_parts(applied)]:
            applied.setdefault(number, mark)
        for number, mark in [*applied.items(), *self.named(tokens)]:
            for listed in self.listed(number, mark.words):
                applied.setdefault(listed, mark._replace(is_inherited=True))
        for i, side in self.reading.sided.items():  # "rIFG"; a list of others does not share it
            numbers = self.reading.beginning([i]) or [self.finishes.get(i, NO_TERM)]
            for each in numbers:
                is_compared = each in applied and applied[each].dominant  # "bifrontal, L > R"
                if each != NO_TERM and self.is_structure(each) and not is_compared:
                    applied[each] = Attached(side, Tokens(i, i))
        return Sides(applied, unapplied)

    def of_parts(self, applied: dict[int, Attached]) -> Iterator[tuple[int, Attached]]:
        """Yield the names that head what is said of their parts: "Thalami: R pulvinar bright"."""
        for mark in set(applied.values()):
            i = mark.words.first
            if self.gap(i).strip() != ":" or mark.side not in places.OPPOSITE:
                continue
            head = self.nearest(i - 1, 1)
            is_told = head is not None and not places.is_general(" ".join(self.words_of(head)))
            if head is not None and is_told and not self.has_other_side(i):
                yield head, mark

    def has_other_side(self, i: int) -> bool:
        """Whether more than a state is said of the side opposite to that at token i."""
        sentence = self.reading.sentence_tokens(self.reading.sentence_number(i))
        others = (j for j in sentence if self.are_opposite(i, j) and j not in self.reading.sided)
        return any(not is_said(self.reading, j + 1) for j in others)

    def words_of(self, number: int) -> list[str]:
        """Return the words of a match."""
        return self.tokens[self.reading.first[number] : self.last[number] + 1]

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
        j = self.aside_start(i + 1) if is_aside else i + 1
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
                is_adjective = places.ADJECTIVE.fullmatch(head) and not self.is_inverted(number)
                if not (is_adjective or self.goes_on(end)):
                    return self.nouns(i, adjectives, number)
                adjectives.append(number)
            elif not self.is_passed(i, j, head):
                break
            j = end + 1
        if self.tokens[i] == "both":
            return []
        return [number for number in adjectives if self.is_cerebral(number)]

    def aside_start(self, j: int) -> int:
        """First token after what leads on from an aside: "worse on the right, mainly in the"."""
        if self.token(j) not in places.INCLUDING and self.tokens[j : j + 2] != ["in", "particular"]:
            return j + (self.token(j) in places.LEADING)
        j += 2 if self.token(j) == "in" else 1
        while self.token(j) in places.LEADING:
            j += 1
        return j

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
        if self.tokens[j] in places.SIDE_WORDS or self.tokens[j] in places.OTHER:
            return True
        if j == i + 1 and self.tokens[i] in places.ABBREVIATIONS:
            gap = gap.removeprefix(".")
        if j == i + 1 and (self.is_bracketed(i) or (is_aside and gap == ") ")):
            gap = gap[1:]  # "(L) insula", "right (not left) insula"
        if gap == "." and self.is_measure(j - 1):
            return False  # "left 3.5 cm thalamic hematoma"
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
        if self.is_of_device(i, j):
            return True
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
        return (head in places.CONJUNCTIONS and j > i + 1) or self.describes(i, j)

    def is_of_device(self, i: int, j: int) -> bool:
        """Whether token j leads from the side of a device to where it is.

        "The left electrode lies in the putamen, the right in the pons".
        """
        if fold(self.tokens[j]) in DEVICES:
            return True
        first = i + 1
        while fold(self.token(first)) in DEVICES:
            first += 1
        if first == i + 1 and not self.follows_device(i):
            return False
        return all(word in LYING or word in places.LEADING for word in self.tokens[first : j + 1])

    def follows_device(self, i: int) -> bool:
        """Whether the side at token i is set against that of a device: "…, the right in the"."""
        here = self.reading.sentence_tokens(self.reading.sentence_number(i))
        before = range(here.start, i - 1)
        return self.token(i + 1) in places.LEADING and any(
            self.tokens[k] in places.SIDE_WORDS and fold(self.tokens[k + 1]) in DEVICES
            for k in before
        )

    def describes(self, i: int, j: int) -> bool:
        """Whether token j says how the structure is that the side at token i stands before.

        Nothing but adjectives is between them ("left markedly swollen caudate"), and at most two
        words that do not look like any.
        """
        if self.tokens[i] == "bilaterally" or self.token(i - 1) == "on" or self.is_on_the(i):
            return False  # the side of what goes before
        n_unknown = 0
        for k in range(i + 1, min(len(self.tokens), i + REACH)):
            if not self.is_tied(k):
                return False
            if self.is_structure(self.begins.get(k)):
                return k > j and not self.is_other_part(k)
            if self.is_known_adjective(k) or self.is_measure(k):
                continue
            n_unknown += not (self.looks_adjectival(k) or self.gap(k + 1) == "-")
            if n_unknown > MOST_UNKNOWN or not self.may_describe(k):
                return False
        return False

    def is_other_part(self, i: int) -> bool:
        """Whether a hyphen ties token i to another place: "non-frontal", "fronto-cerebellar"."""
        is_elsewhere = self.tokens[i - 1] == "non" or self.tokens[i] in places.MIDLINE
        return self.gap(i) == "-" and is_elsewhere

    def is_tied(self, i: int) -> bool:
        """Whether a space, a hyphen, or a comma between two adjectives, stands before token i."""
        if self.gap(i) in (" ", "-") or self.is_measure(i - 1):
            return True
        return self.gap(i) == ", " and self.are_adjectives(i - 1, i)

    def is_known_adjective(self, i: int) -> bool:
        """Whether token i is an adjective that a side reaches its name across in any case."""
        word = self.tokens[i]
        if word == "and":  # "left swollen and gliotic hippocampus"
            return self.are_adjectives(i - 1, i + 1)
        return word in places.FILLERS or bool(places.ADJECTIVE.fullmatch(word))

    def are_adjectives(self, i: int, j: int) -> bool:
        """Whether two tokens look like adjectives, the second of which is no structure."""
        is_place = self.is_structure(self.begins.get(j))
        return not is_place and self.looks_adjectival(i) and self.looks_adjectival(j)

    def looks_adjectival(self, i: int) -> bool:
        """Whether token i ends as adjectives and adverbs do."""
        word = self.token(i)
        return bool(QUALIFYING.fullmatch(word) or ENHANCING.fullmatch(word))

    def is_measure(self, i: int) -> bool:
        """Whether token i is of a size: "left 3 x 2 cm thalamic hematoma"."""
        end = i
        while self.token(end).isdigit() or self.token(end) == "x":
            end += 1
        return self.token(end) in SIZES

    def may_describe(self, i: int) -> bool:
        """Whether token i may be an adjective or an adverb, for all that is known of it."""
        word = self.tokens[i]
        is_adverb = word.endswith("ly") and word not in places.INCLUDING
        if is_adverb or word in SEQUENCES or ENHANCING.fullmatch(word):
            return word != "bilaterally"
        if word in NO_ADJECTIVES or fold(word) in places.NOT_BRAIN or len(word) < 2:
            return False
        if word.isdigit() or ENDING_IN_S.fullmatch(word) or self.is_structure(self.begins.get(i)):
            return False
        is_noun = i in self.begins and not QUALIFYING.fullmatch(word)  # "left reward amygdala"
        is_noun = is_noun and self.gap(i + 1) != "-"  # "left reward-related activity"
        return not is_noun and not word.endswith("ing")

    def is_on_the(self, i: int) -> bool:
        """Whether the side at token i is that of "on the left"."""
        return self.tokens[max(i - 2, 0) : i] == ["on", "the"]

    def goes_on(self, end: int) -> bool:
        """Whether more of the place follows: "left white matter of the frontal lobe"."""
        return self.tokens[end] in places.LED and self.token(end + 1) in places.LEADING

    def is_inverted(self, number: int) -> bool:
        """Whether a name ends with its adjective: "left cingulate gyrus, anterior third"."""
        end = self.last[number]
        is_long = self.reading.first[number] < end
        return is_long and bool(places.GENERAL_ADJECTIVE.fullmatch(self.tokens[end]))

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

    # ---- a side that has more than the other

    def dominant(self, words: Tokens) -> Side | None:
        """Which side has more, where they are compared: "left more than right", "L > R"."""
        i, j = words
        first, second = (places.SIDE_WORDS[self.tokens[each]] for each in words)
        if first not in places.OPPOSITE:
            return None
        if i == j:
            start, second = self.comparison(i), places.OPPOSITE[first]
            is_compared = start is not None or self.is_predominant(i)
            near = self.tokens[i if start is None else start : i]
        else:
            signs = "".join(self.gap(each) for each in range(i + 1, j + 1))
            if "<" in signs or ">" in signs:
                return second if "<" in signs else first
            is_against = is_set_against(self.reading, i, j)
            is_compared = is_against or "than" in self.tokens[i:j]
            end = i if is_against else j
            near = self.tokens[max(i - REACH, 0) : end][::-1]  # "greater responses in left than"
        word = next((each for each in near if each in places.COMPARATIVES), "")
        if not is_compared or word == "lower":  # of what, and whether that is the finding
            return None
        return second if word in places.LESSER else first

    def both(self, words: Tokens, names: list[int], applied: dict[int, Attached]) -> list[int]:
        """Return the matches on both sides that are compared: "bilateral …, worse on the left"."""
        start = self.comparison(words.first) or words.first
        known = {applied[number].words for number in names if number in applied}
        first = bisect_left(self.reading.first, start - 2 * REACH)
        last = bisect_right(self.reading.first, words.last + 2 * REACH)
        return [
            number
            for number in range(first, last)
            if (own := applied.get(number))
            and own.side == "bilateral"
            and (own.words in known or start - 2 <= own.words.last < start)
        ]

    def comparison(self, i: int) -> int | None:
        """First token of what compares the side at token i: "more marked on the left"."""
        is_on = self.token(i - 1) == "on" or self.is_on_the(i)
        is_last = not (is_on or self.gap(i + 1) in (" ", "-"))  # "especially the left"
        j = i - 1 - is_on - (self.is_on_the(i) or (is_last and self.token(i - 1) == "the"))
        if self.token(j) in places.DEGREES and self.token(j - 1) in places.COMPARATIVES:
            j -= 1
        words = places.MAINLY if is_on or is_last else places.MAINLY - places.FOCUSING
        is_compared = is_on and self.token(j) in places.COMPARATIVES
        while is_compared and self.gap(j) == " " and self.is_slightly(j - 1):
            j -= 1
        return j if is_compared or self.token(j) in words else None

    def is_predominant(self, i: int) -> bool:
        """Whether "predominant" or "predominance" follows the side at token i."""
        i += 1 + (self.token(i + 1) in places.TRAILING)
        is_larger = self.token(i) in LARGER and not self.gap(i + 1).isspace()  # "…, left larger"
        return is_larger or self.token(i) in places.PREDOMINANT

    def both_after(self, i: int) -> int | None:
        """Token of "bilateral" in "right-predominant bilateral insular change"."""
        is_both = self.token(i + 1) in places.PREDOMINANT and self.token(i + 2) == "bilateral"
        return i + 2 if is_both else None

    # ---- the name before a side

    def behind(self, words: Tokens) -> list[int]:
        """Match that a side closes: "amygdala (left)", "amygdala on the left"."""
        i = words.first
        comparison = self.comparison(i)
        if comparison is not None:
            number = self.nearest(comparison - 1, REACH_BACK)
        elif self.is_predominant(i):
            number = self.nearest(i - 1 - (self.token(i - 1) in ("the", "with")), REACH_BACK)
        elif self.is_on_the(i):
            is_first = self.reading.is_sentence_end(i - 2)  # of what follows
            end = self.before_bracket(i - 3)  # "thalamotomy (MRgFUS) on the left"
            number = None if is_first else self.nearest(end, REACH_BACK)
        elif self.tokens[i : i + 2] == ["both", "sides"]:  # "on both sides", "(both sides)"
            is_on = self.token(i - 1) == "on"
            is_apart = "(" in self.gap(i) or "," in self.gap(i)
            number = self.nearest(i - 1 - is_on, REACH_BACK if is_on else is_apart)
        elif self.is_beside_middle(words.last):
            number = self.nearest(self.before(i - 1, places.UP_TO), REACH_BACK)
        elif self.token(words.last + 1) in places.LATERALIZED:
            number = self.subject(i - 1)
        elif self.tokens[i - 2 : i] == ["to", "the"] and self.token(i - 3) in places.LATERALIZED:
            number = self.subject(i - 4)
        elif self.tokens[i] == "bilaterally":  # "the thalami were spared bilaterally"
            number = self.nearest(i - 1, REACH_BACK)
        elif self.trails(words):
            number = self.nearest(i - 1 - (self.token(i - 1) == "on"), 2)
        elif self.closes(words):
            is_state = self.gap(i).strip() in (",", "(") and self.looks_adjectival(i - 1)
            reach = 3 if self.dominant(words) else 2 if is_state else 1
            number = self.nearest(i - 1, reach)  # "… signal (L > R)", "… atrophic, left"
        elif self.is_first_of_two(words):
            number = self.nearest(i - 1, 1)
        elif (colon := self.colon(i)) is not None:  # "hippocampus: mild left atrophy"
            number = self.nearest(colon - 1, 1)
        else:
            number = None
        return [] if number is None else [number]

    def before_bracket(self, i: int) -> int:
        """Token i, or the one before the bracket that it ends, of a few words."""
        if not self.gap(i + 1).startswith(")"):
            return i
        starts = range(i, max(i - REACH_BACK, 0), -1)
        return next((j - 1 for j in starts if self.gap(j).endswith("(")), i)

    def is_first_of_two(self, words: Tokens) -> bool:
        """Whether states of both sides follow a name: "hippocampus left normal, right atrophic"."""
        is_named = self.is_structure(self.finishes.get(words.first - 1))
        if not is_named or self.gap(words.first) != " ":
            return False
        after = range(words.last + 2, min(words.last + REACH, len(self.tokens) - 1))
        other = next((j for j in after if self.tokens[j] in places.SIDE_WORDS), words.last)
        between = range(words.last + 1, other)
        is_near = not any(
            self.reading.is_sentence_end(j) or self.is_structure(self.begins.get(j))
            for j in between
        )
        is_near = is_near and lexicon.PREPOSITIONS.isdisjoint(self.tokens[words.last + 1 : other])
        is_pair = is_near and self.are_opposite(words.first, other)
        return is_pair and is_said(self.reading, other + 1)

    def is_beside_middle(self, i: int) -> bool:
        """Whether "of the midline" follows token i."""
        i += 1 + (self.token(i + 2) == "the")
        return self.token(i + 1) == "midline" and "of" in self.tokens[i - 1 : i + 1]

    def before(self, i: int, words: Collection[str]) -> int:
        """Last token up to token i that is none of some words, and no adverb."""
        while i >= 0 and (self.tokens[i] in words or self.tokens[i].endswith("ly")):
            i -= 1
        return i

    def subject(self, i: int) -> int | None:
        """Structure that a predicate is said of, whose verb is at token i: "the insula was …"."""
        end = self.before(i, places.LINKING)
        number = self.nearest(end, REACH_BACK)
        if number is None:
            return None
        between = self.tokens[self.last[number] + 1 : end + 1]
        is_other = any(word in lexicon.FINITE or word in places.CONJUNCTIONS for word in between)
        return None if is_other else number

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
                return self.nearest(j - 2, 1) if self.is_interposed(j - 1) else None
            word = fold(self.token(j))
            if word in places.LESION or word in places.OF_PLACES:
                is_unknown = j - 1 not in self.finishes and self.gap(j) == " "
                is_unknown = is_unknown and j > 0 and self.may_describe(j - 1)
                return self.nearest(j - 1, max(reach - 1, 1 + is_unknown))
        return None

    def is_interposed(self, i: int) -> bool:
        """Whether token i is set between commas: "the pons, however, shows"."""
        is_between = self.gap(i) == self.gap(i + 1) == ", "
        return is_between and self.token(i) in INTERPOSED

    def trails(self, words: Tokens) -> bool:
        """Whether a side comes after all that it belongs to: "thalamic infarct left", "on right".

        A place, what is wrong with it or "on" stands right before, and a number or no word after.
        """
        token, before = self.tokens[words.first], self.token(words.first - 1)
        after = words.last + 1 + (self.token(words.last + 1) in places.TRAILING)
        is_letter = token not in ("left", "right") and before != "on"
        if is_letter or not DASH.fullmatch(self.gap(words.first)):
            return False
        is_said = before == "on" or fold(before) in places.LESION or before in places.LED
        is_said = is_said or self.is_unknown_finding(words.first - 1)
        is_last = not self.gap(after).isspace() or self.token(after).isdigit()
        return is_last and (is_said or self.is_structure(self.finishes.get(words.first - 1)))

    def is_unknown_finding(self, i: int) -> bool:
        """Whether token i is an unknown word right after a place: "hippocampal sclerossis"."""
        is_placed = self.is_structure(self.finishes.get(i - 1)) and self.gap(i) == " "
        return is_placed and i not in self.begins and self.may_describe(i)

    def closes(self, words: Tokens) -> bool:
        """Whether punctuation ties a side to the word before it rather than to the next."""
        token = self.tokens[words.first]
        end = words.last + 1 + (self.token(words.last + 1) in places.TRAILING)
        before, after = self.gap(words.first), self.gap(end)
        if token == "both" or SENTENCE_BREAK.search(before.replace("(", "")):
            return False
        if token.startswith("bil") or "(" in before:
            return True
        ends_here = not after.isspace() or self.token(end).isdigit()
        if token in places.LETTERS:
            return ends_here
        return "," in before and ends_here
