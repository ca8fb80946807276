"""Implied: the structures that the name of an artery, a nerve, a sign or a drug points to.

"Left PCA infarct" names no structure, yet it is in the left occipital lobe; a left hemianopia is
from the right one. The rules are those of the table (`rules`). What a name needs to be meant is a
column of it; arteries need a stroke, a territory or a side near them, and are nothing where they
are said to be open, narrow or torn.
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple

from neurowhere.text.reading.document import SIDES, Document, Side
from neurowhere.text.reading.lexicon import ADJECTIVE, is_beside_lesion, side_of, words_of
from neurowhere.text.reading.names import is_place_name
from neurowhere.text.reading.rules import Entry, rules
from neurowhere.text.reading.sides import Attached
from neurowhere.text.reading.tables import TEXT, Column, Trie, alternatives, read_table, split
from neurowhere.text.words import fold

OPPOSITE: dict[str, Side] = {"left": "right", "right": "left", "bilateral": "bilateral"}
REACH, REACH_BODY = 4, 9  # tokens between a name and its side, or that of the body
CONTEXT, NEAR = 30, 4  # tokens around an artery, or a segment, that may tell that it is one
LONGEST_ITEM = 12  # tokens between commas
REACH_CROSSED = 30  # tokens between the signs of a nerve and of the body
WEAKLY = 0.5  # how much a dissection, or the bare name of an artery, tells of its territory
FEW_WORDS = 3  # of a text that may leave out "syndrome"
FEWEST_SITES = 3  # in a text that does not speak of electrodes
PLACED = ("place", "surgery")  # kinds of names that have sides as structures do
BRAIN_STEM = frozenset(["midbrain", "pons", "medulla", "medulla oblongata"])
OF_BODY = frozenset(["hemiparesis", "hemisensory loss", "monoparesis", "numbness", "weakness"])
EXPLAINED = frozenset(["monoparesis", "numbness", "weakness"])
OF_MEDULLA = frozenset(["Horner syndrome", "limb ataxia"])
LATERAL_MEDULLA, ATAXIA = "Wallenberg syndrome", "limb ataxia"
SIDE_OF_SITE: dict[str, Side] = dict(zip("1234567890", ("left", "right") * 5, strict=True))
COMPONENTS = frozenset(["p1", "p2", "p3", "c1"])  # of evoked potentials, unless a site is spoken of
LETTERED: dict[str, tuple[Side, str]] = {
    "rhh": ("right", "hemianopia"),
    "lhh": ("left", "hemianopia"),
}
# What an abbreviation may stand for otherwise, in a text that says so.
OTHERWISE = {
    "pca": ("principal", "component"),
    "ica": ("independent", "component"),
    "sca": ("spinocerebellar", "ataxia"),
}
PERIPHERAL: dict[str, Column] = {"id": TEXT, "words": TEXT}
PARTS: dict[str, Column] = {"whole": TEXT, "parts": TEXT}
Spared = Mapping[str, Set[Side | None]]  # names, and the sides on which they are denied


class Implied(NamedTuple):
    """A structure that a name points to by a rule: its term, its side and the rule's weight."""

    term: str
    side: Side | None
    weight: float


class Found(NamedTuple):
    """A name of the table in a text, its tokens, and the side that the text gives to it."""

    entry: Entry
    first: int
    end: int
    side: Attached | None


class Pointing(NamedTuple):
    """The names of a text that point somewhere, and the tokens that say nothing by themselves."""

    found: list[Found]
    idle: frozenset[int]


def first_words() -> frozenset[str]:
    """Return the words that a name of the table begins with."""
    table = rules()
    return table.phrases.first_words | table.sites.keys() | LETTERED.keys()


def signs() -> frozenset[str]:
    """Return the words with which signs of the body, or their causes, are told."""
    return words_of("ataxic") | causes().first_words


@cache
def causes() -> Trie[str]:
    """Return what explains signs of the body outside of the brain."""
    rows = read_table(__package__, "peripheral", PERIPHERAL)
    return Trie((phrase, row.name) for row in rows for phrase in alternatives(row["words"]))


def find_implied(
    document: Document,
    at: Mapping[str, Sequence[int]],
    sides: Mapping[int, Attached],
    denied: Container[int],
    terms: Sequence[str],
) -> Pointing:
    """Find the names of the table that a text mentions in their clinical sense.

    Parameters
    ----------
    document : Document
    at : mapping of str to sequence of int
        Tokens with one of `first_words` ("implied") or of `signs`.
    sides : mapping of int to Attached
        Sides of the names of the document.
    denied : collection of int
        Names that the text denies.
    terms : sequence of str
        Terms of the names, by which diseases and networks are found however they are written.
    """
    table = rules()
    of_terms = [n for n, term in enumerate(terms) if term in table.terms]
    if not at["implied"] and not at["signs"] and not of_terms:
        return Pointing([], frozenset())
    reader = _Reader(document, at, sides, denied)
    return reader.read(at["implied"], {n: table.terms[terms[n]] for n in of_terms})


class _Reader:
    """Reads a text around the names of the table."""

    def __init__(
        self,
        document: Document,
        at: Mapping[str, Sequence[int]],
        sides: Mapping[int, Attached],
        denied: Container[int],
    ) -> None:
        self.document, self.at, self.sides, self.denied = document, at, sides, denied
        self.table = rules()
        self.words, self.kinds, self.gaps = document.words, document.kinds, document.gaps
        self.of_structures = frozenset(side.first for side in sides.values())
        self.given = {document.names[n].end - 1: side for n, side in sides.items()}
        self.idle: set[int] = set()

    def read(self, tokens: Sequence[int], of_terms: Mapping[int, Entry]) -> Pointing:
        """Return the names that are meant."""
        sites = list(self.sites(tokens))
        at_sites = {site.first for site in sites}
        phrases = self.document.whole(self.table.phrases.find(self.words, tokens))
        spans = {
            (first, end): self.table.entries[name]
            for first, end, name in phrases
            if first not in at_sites
        }
        starts = {first for first, _ in spans}
        for number, entry in of_terms.items():
            name = self.document.names[number]
            if name.first not in starts:
                spans[name.first, name.end] = entry
        found = [Found(entry, *span, self.side(*span, entry)) for span, entry in spans.items()]
        found += self.lettered(tokens)
        found = [self.with_one_side(each, PLACED) for each in found]
        found = [self.with_related_side(each) for each in found]
        found = self.with_shared_sides(self.crossed(self.with_ataxia(found)))
        explained = self.explained()
        meant = [
            self.without_map(each)
            for each in found
            if self.is_meant(each, found)
            and not (each.entry.name in EXPLAINED and self.sentence_number(each) in explained)
        ]
        meant = sorted([*meant, *sites], key=lambda each: (each.first, each.end))
        return Pointing(self.with_arteries(meant), frozenset(self.idle))

    @cached_property
    def said(self) -> frozenset[str]:
        """Classes of all words of the text."""
        return frozenset[str]().union(*self.kinds)

    def sentence_number(self, found: Found) -> int:
        """Return the number of the sentence of a name."""
        return self.document.sentence_of(found.first)

    def around(self, first: int, end: int, reach: int = CONTEXT) -> range:
        """Tokens of the sentence around some tokens."""
        start, stop = self.document.sentences[self.document.sentence_of(first)]
        return range(max(start, first - reach), min(stop, end + reach))

    def kinds_at(self, i: int) -> frozenset[str]:
        """Classes of a token, none beyond the text."""
        return self.kinds[i] if 0 <= i < len(self.kinds) else frozenset()

    # ---- sides

    def side(self, first: int, end: int, entry: Entry) -> Attached | None:
        """Side of a name: of the same words, within it, before or after it, or of the body."""
        side = self.given.get(end - 1) or self.within(first, end, entry)
        taken = frozenset[int]() if entry.kind == "artery" else self.of_structures
        side = side or self.before(first) or self.after(end, taken)
        if side is None and entry.is_crossed:
            return self.of_body(end)
        return side

    def mark(self, i: int) -> Attached | None:
        """Side that a token is: "L", "Lt", "left" or "bilateral", not "l" nor "both"."""
        word = self.document.word(i)
        side = side_of(word) if word else None
        is_word = word in SIDES or word in ("lt", "rt")
        is_letter = word in ("l", "r") and self.document.written(i).isupper()
        return Attached(side, i, i + 1) if side and (is_word or is_letter) else None

    def within(self, first: int, end: int, entry: Entry) -> Attached | None:
        """Side within the name of a sign: "droop of the right face"."""
        if not any(rule.side.startswith(("same", "opposite")) for rule in entry.rules):
            return None  # "left-right disorientation"
        return next(filter(None, map(self.mark, range(first, end))), None)

    def before(self, first: int) -> Attached | None:
        """Side before a name, with adjectives between them: "left homonymous hemianopia"."""
        for i in range(first - 1, max(first - 1 - REACH, -1), -1):
            if self.gaps[i + 1] not in (" ", "-", ". ", "\n", "/", ") ", "] "):
                return None
            if mark := self.mark(i):
                return mark
            is_joined = self.gaps[i + 1] == "/" or "sparing" in self.words[i : i + 2]
            if not (
                "between-sign" in self.kinds[i] or ADJECTIVE.fullmatch(self.words[i]) or is_joined
            ):
                return None
        return None

    def after(self, i: int, taken: Container[int]) -> Attached | None:
        """Side after a name: "neglect to the left", "P2 occlusion on the right"."""
        if i < len(self.words) and self.gaps[i].strip() == "(":
            inside = range(i + 1, min(i + 1 + REACH, len(self.words)))
            i = next((j for j in inside if self.gaps[j] == ") "), i)
        while not {"lesion", "vascular"}.isdisjoint(self.kinds_at(i)) and self.gaps[i].isspace():
            i += 1
        i += self.document.word(i) in ("all", "both", "each") and not self.gaps[i].isspace()
        led = (["to", "the"], ["on", "the"], ["of", "the"], ["towards", "the"])
        is_led = self.words[i : i + 2] in led
        i += 2 if is_led else self.document.word(i) == "on"
        mark = self.mark(i)
        if mark is None or i in taken:
            return None
        end = i + 1 + (self.document.word(i + 1) in ("side", "sided") and self.gaps[i + 1] in " -")
        is_last = self.gaps[i] in (" ", ", ") and not self.gaps[end].isspace()
        return mark if is_led or is_last or "(" in self.gaps[i] else None

    def of_body(self, end: int) -> Attached | None:
        """Side of the body after a sign: "… with pain in the left half of the body"."""
        for i in range(end, min(end + REACH_BODY, len(self.words))):
            is_over = "," in self.gaps[i] or i in self.document.starts_of_sentences
            if is_over or i in self.document.sided or "turning-sign" in self.kinds[i]:
                return None
            if mark := self.mark(i):
                is_body = "of-body" in self.kinds_at(i + 1) and i not in self.of_structures
                return mark if is_body else None
        return None

    def with_one_side(self, found: Found, kinds: Container[str]) -> Found:
        """Give a name the side of its sentence, if that has but one."""
        if found.side or found.entry.kind not in kinds or not self.sides:
            return found
        here = self.around(found.first, found.end)
        start, stop = (bisect_left(self.side_starts, i) for i in (here.start, here.stop))
        near = [self.sorted_sides[n] for n in range(start, stop)]
        return found._replace(side=near[0]) if len({s.side for s in near}) == 1 else found

    @cached_property
    def sorted_sides(self) -> list[Attached]:
        """Sides of structures in the order of the text."""
        return sorted(self.sides.values(), key=lambda side: side.first)

    @cached_property
    def side_starts(self) -> list[int]:
        """First tokens of these sides."""
        return [side.first for side in self.sorted_sides]

    def with_related_side(self, found: Found) -> Found:
        """Give a sign the side that "contralateral" before it means."""
        if found.side or found.entry.kind not in ("sign", "syndrome") or not self.sides:
            return found
        before = range(found.first - 1, max(found.first - 5, -1), -1)
        mark = next((i for i in before if "crossing" in self.kinds[i]), None)
        if mark is None or any("joining" in self.kinds[i] for i in range(mark, found.first)):
            return found
        lateral = sorted({(s.first, s.side) for s in self.sides.values() if s.side in OPPOSITE})
        start, _ = self.document.sentences[self.sentence_number(found)]
        here = [side for i, side in lateral if start <= i < mark][-1:]
        meant = set(here or [side for _, side in lateral])
        if len(meant) != 1:
            return found
        (side,) = meant
        side = OPPOSITE[side] if "other-side" in self.kinds[mark] else side
        return found._replace(side=Attached(side, mark, mark + 1))

    def with_shared_sides(self, found: list[Found]) -> list[Found]:
        """Give signs the side of the others in their sentence: "R hemiplegia, hemianopia"."""
        by_sentence: dict[int, list[Found]] = {}
        for each in found:
            if each.side and each.entry.is_crossed:
                by_sentence.setdefault(self.sentence_number(each), []).append(each)
        shared = []
        for each in found:
            near = by_sentence.get(self.sentence_number(each), [])
            sides = {other.side.side for other in near if other.side}
            is_shared = each.side is None and each.entry.is_crossed and len(sides) == 1
            if is_shared and self.are_near(each, near[0]):
                each = each._replace(side=near[0].side)
            shared.append(each)
        return shared

    def are_near(self, one: Found, other: Found) -> bool:
        """Whether nothing turns the sentence between two signs."""
        between = range(min(one.end, other.end), max(one.first, other.first))
        return not any("turning-sign" in self.kinds[i] for i in between)

    # ---- which names are meant

    def is_written(self, found: Found) -> bool:
        """Whether a name is written as one: abbreviations in capitals."""
        words = self.words[found.first : found.end]
        if " ".join(words) not in self.table.abbreviations:
            return True
        start, end = self.document.span(found.first, found.end)
        is_numbered = words[-1][-1].isdigit()
        return any(map(str.isupper, self.document.text[start + (not is_numbered) : end]))

    def is_meant(self, found: Found, others: Sequence[Found]) -> bool:
        """Whether a name is written as it should be, and has with it what it needs."""
        spelt = " ".join(self.words[found.first : found.end])
        if not self.is_written(found) or self.is_of_longer_name(found, spelt):
            return False
        if spelt in self.table.shortened:
            is_short = len(self.words) <= FEW_WORDS
            if not (self.is_alone(found) if is_short else self.is_eponym(found, others)):
                return False
        if found.entry.kind == "place" and self.is_part(found):
            return False
        needs = found.entry.needs.partition(" else ")[0]
        return self.conditions.get(needs, _Reader.is_any)(self, found)

    def is_any(self, found: Found) -> bool:
        """Return True: nothing is needed."""
        return True

    def is_sided(self, found: Found) -> bool:
        """Whether a name has a side."""
        return found.side is not None

    def is_only(self, found: Found) -> bool:
        """Whether the text names no structure; fixed names are meant all the same."""
        return found.entry.is_fixed or not self.names_structure(found)

    def is_central(self, found: Found) -> bool:
        """Whether the text names no structure, and speaks of no nerve that fails."""
        is_nerve = "nerve" in self.said
        return not (is_nerve or self.names_structure(found) or self.is_said("lower", "motor"))

    def is_sense(self, found: Found) -> bool:
        """Whether the word of a name is read as something else than a structure."""
        number = self.document.begins.get(found.first)
        return number is not None and not self.document.names[number].is_structure

    def is_beside(self, found: Found) -> bool:
        """Whether a lesion is beside a name."""
        return is_beside_lesion(self.words, found.first, found.end - 1)

    conditions: Mapping[str, Callable[["_Reader", Found], bool]] = {
        "side": is_sided,
        "alone": is_only,
        "central": is_central,
        "sense": is_sense,
        "lesion": is_beside,
    }

    def is_said(self, first: str, second: str) -> bool:
        """Whether a text has two words in a row, the second in any form."""
        return (first, second) in self.pairs

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Words in a row, the second in its usual form."""
        return frozenset((word, fold(after)) for word, after in pairwise(self.words))

    @cached_property
    def places(self) -> tuple[int, int] | None:
        """First and last token at which structures begin, but for the brain; None without any."""
        names = (n for n in self.document.names if is_place_name(n))
        firsts = [n.first for n in names if self.words[n.first] not in ("brain", "brains")]
        return (min(firsts), max(firsts)) if firsts else None

    def names_structure(self, found: Found) -> bool:
        """Whether a text names a structure elsewhere; the brain is none."""
        if self.places is None:
            return False
        first, last = self.places
        return first < found.first or last >= found.end

    def is_part(self, found: Found) -> bool:
        """Whether a name is part of a longer one."""
        number = self.document.begins.get(found.first)
        is_whole = number is not None and self.document.names[number].end == found.end
        is_within = found.first in self.document.inner or self.gaps[found.first] == "-"
        return is_within and not is_whole

    def is_of_longer_name(self, found: Found, spelt: str) -> bool:
        """Whether a hyphen joins the name of a person to another: "Sturge-Weber"."""
        if spelt not in self.table.persons:
            return False
        return any(
            0 <= i < len(self.words)
            and self.gaps[i + (i < found.first)] in ("-", "–", "‐", "‑")
            and {"joined", "side"}.isdisjoint(self.kinds[i])
            for i in (found.first - 1, found.end)
        )

    def is_alone(self, found: Found) -> bool:
        """Whether all of a short text beside the name of a person is of the clinic."""
        if " ".join(self.words[found.first : found.end]) not in self.table.persons:
            return True
        own = range(found.first, found.end)
        clinical = {"clinical", "side", "lesion"}
        return all(
            i in own or i in self.document.covered or not clinical.isdisjoint(kinds)
            for i, kinds in enumerate(self.kinds)
        )

    def is_eponym(self, found: Found, others: Sequence[Found]) -> bool:
        """Whether the name of a person is that of a syndrome: "left Wallenberg in a man"."""
        written = [self.document.written(i) for i in range(found.first, found.end)]
        after = self.document.written(found.end) if found.end < len(self.words) else ""
        is_person = after[:1].isupper() and found.end not in self.document.starts_of_sentences
        if is_person or after in ("et", "and") or not written[0][0].isupper():
            return False
        if len(written) > 1 and all(word[0].isupper() for word in written):
            return True  # "Dejerine-Roussy"
        structures = {rule.structures for rule in found.entry.rules}
        if "before-author" not in self.kinds_at(found.first - 1) and any(
            other.first != found.first
            and not structures.isdisjoint(rule.structures for rule in other.entry.rules)
            for other in others
        ):
            return True
        is_sided = found.side is not None and found.side.first == found.first - 1
        return is_sided and (
            len(others) > 1 or self.names_structure(found) or "clinical" in self.said
        )

    def without_map(self, found: Found) -> Found:
        """Return a name; that of a nerve points nowhere in a text that names structures itself."""
        if found.entry.is_fixed and found.entry.needs and self.names_structure(found):
            return found._replace(entry=found.entry._replace(rules=()))
        return found

    # ---- electrodes and letters

    def sites(self, tokens: Sequence[int]) -> Iterator[Found]:
        """Yield the sites of electrodes, each with the side of its number."""
        table = self.table.sites
        places = [
            i for i in tokens if self.words[i] in table and self.document.written(i)[0].isupper()
        ]
        names = {self.words[i] for i in places}
        said = self.said if places else frozenset[str]()
        is_listed = len(names) >= FEWEST_SITES and len({n.rstrip("0123456789") for n in names}) > 1
        if "of-site" not in said and (not is_listed or "no-site" in said):
            return
        for i in places:
            around = self.kinds_at(i - 1) | self.kinds_at(i + 1)
            if "no-site" in around or (self.words[i] in COMPONENTS and "at-site" not in around):
                continue
            side = SIDE_OF_SITE.get(self.words[i][-1])
            entry = self.table.entries[table[self.words[i]]]
            yield Found(entry, i, i + 1, Attached(side, i, i + 1) if side else None)

    def lettered(self, tokens: Sequence[int]) -> Iterator[Found]:
        """Yield the signs whose letters have a side: "RHH" is a right homonymous hemianopia."""
        for i in tokens:
            if self.words[i] in LETTERED and self.document.written(i).isupper():
                side, name = LETTERED[self.words[i]]
                yield Found(self.table.entries[name], i, i + 1, Attached(side, i, i + 1))

    # ---- signs of the body

    def explained(self) -> frozenset[int]:
        """Return the sentences in which a nerve, a root or a muscle explains signs of the body."""
        numbers = set()
        for first, _, _ in causes().find(self.words, self.at["signs"]):
            before = frozenset[str]().union(*self.kinds[max(first - 3, 0) : first])
            if not before.isdisjoint({"negator", "cranial"}):
                continue
            number = self.document.sentence_of(first)
            start, stop = self.document.sentences[number]
            kinds = frozenset[str]().union(*self.kinds[start:stop])
            is_placed = any(
                self.document.names[n].is_structure for n in self.document.names_within(start, stop)
            )
            if "sign-of-body" in kinds and (is_placed or "vascular" not in kinds):
                numbers.add(number)
                self.idle.update(i for i in range(start, stop) if self.is_of_body(i))
        return frozenset(numbers)

    def is_of_body(self, i: int) -> bool:
        """Whether a token is of a limb or a sign."""
        return not {"limb", "sign"}.isdisjoint(self.kinds[i])

    def with_ataxia(self, found: list[Found]) -> list[Found]:
        """Add the ataxia of limbs on one side, which the cerebellum of that side serves."""
        for i in self.at["signs"]:
            if "ataxic" not in self.kinds[i] or "other-ataxia" in self.kinds_at(i - 1):
                continue
            first, end = self.limbs_around(i)
            marks = [mark for j in range(first, end) if (mark := self.limb_mark(j))]
            if len({mark.side for mark in marks}) != 1 or "weak" in self.words[first:end]:
                continue
            within = [each for each in found if first <= each.first < end]
            found = [each for each in found if each not in within] if within else found
            entry = within[0].entry if within else self.table.entries[ATAXIA]
            found.append(Found(entry, first, end, marks[0]))
            if not self.has_other_sign(i):
                self.idle.update(range(first, end))
        return found

    def limbs_around(self, i: int) -> tuple[int, int]:
        """First token of the limbs that are ataxic at a token, and the token after the last."""
        first, end = i, i + 1
        while first > 0 and self.is_ataxic(first - 1) and self.gaps[first] in (" ", "-"):
            first -= 1
        while end < len(self.words) and self.is_ataxic(end) and self.gaps[end] in (" ", "-"):
            end += 1
        return first, end

    def has_other_sign(self, i: int) -> bool:
        """Whether a sentence has another sign of the body than ataxia."""
        start, stop = self.document.sentences[self.document.sentence_of(i)]
        others = (self.kinds[j] for j in range(start, stop) if "ataxic" not in self.kinds[j])
        return any("sign-of-body" in kinds for kinds in others)

    def is_ataxic(self, i: int) -> bool:
        """Whether a token may be of the limbs that are ataxic."""
        limbs = {"limb", "side", "auxiliary", "of-ataxia", "right-arm", "left-arm", "right-leg"}
        return not (limbs | {"left-leg"}).isdisjoint(self.kinds[i])

    def limb_mark(self, i: int) -> Attached | None:
        """Side of a token, or of the letters of a limb."""
        for side in ("left", "right"):
            if not {f"{side}-arm", f"{side}-leg"}.isdisjoint(self.kinds[i]):
                return Attached(side, i, i + 1)
        return self.mark(i)

    def crossed(self, found: list[Found]) -> list[Found]:
        """Read a nerve that fails on one side, and the body on the other, as one lesion."""
        said = [each for each in found if not self.is_denied(each)]
        bodies = [
            each
            for each in said
            if each.entry.name in OF_BODY and each.side and each.side.side in ("left", "right")
        ]
        body_of: dict[Found, Found] = {}
        bodies.sort(key=_first)
        for nerve in said if bodies else ():
            bounds = (nerve.first - REACH_CROSSED, nerve.first + REACH_CROSSED + 1)
            start, stop = (bisect_left(bodies, i, key=_first) for i in bounds)
            near = bodies[start:stop]
            body = next((b for b in near if _are_crossed(nerve, b)), None)
            if body and (_is_of_stem(nerve.entry) or self.is_of_medulla(nerve, body)):
                body_of[nerve] = body
        crossed = {*body_of.values()}
        read = (self.as_crossed(each, body_of.get(each), each in crossed) for each in found)
        return [each for each in read if each is not None]

    def as_crossed(self, found: Found, body: Found | None, is_body: bool) -> Found | None:
        """Return a name as the crossed signs have it."""
        needs, _, other = found.entry.needs.partition(" else ")
        if needs == "crossed" and not body:
            return found._replace(entry=self.table.entries[other]) if other else None
        if found.entry.name in OF_MEDULLA and body:
            return found._replace(entry=self.table.entries[LATERAL_MEDULLA])
        if is_body:
            return found._replace(entry=found.entry._replace(rules=()))
        if body and found.side is None and body.side:
            return found._replace(side=body.side._replace(side=OPPOSITE[body.side.side]))
        return found

    def is_of_medulla(self, found: Found, body: Found) -> bool:
        """Whether a sign is of the medulla, as the body has lost pain and temperature."""
        is_said = "temperature" in self.words[body.first : body.end]
        return found.entry.name in OF_MEDULLA and found.side is not None and is_said

    def is_denied(self, found: Found) -> bool:
        """Whether a text denies a name."""
        number = self.document.covered.get(found.end - 1)
        if number is not None and number in self.denied:
            return True
        for i in range(found.first, max(found.first - 4, 0), -1):
            if i in self.document.starts_of_sentences or "," in self.gaps[i]:
                return False
            if "negator" in self.kinds[i - 1]:
                return True
        return False

    # ---- arteries

    def with_arteries(self, found: list[Found]) -> list[Found]:
        """Keep the arteries that stand for their territories, each weighed."""
        arteries = [each for each in found if each.entry.kind == "artery"]
        kept = []
        for each in found:
            if each.entry.kind == "artery":
                share = self.share(each, arteries)
                if share != 1:
                    self.hide(each)
                if not share:
                    continue
                each = self.with_one_side(self.of_artery(each, arteries), ("artery",))
                each = each._replace(entry=_weighed(each.entry, share))
            kept.append(each)
        return kept

    def hide(self, artery: Found) -> None:
        """Give no weight to an artery that stands for no territory, nor to what is wrong there."""
        if artery.entry.needs == "vessel" and artery.end == artery.first + 1:
            return
        self.idle.update(range(artery.first, artery.end))
        here = self.around(artery.first, artery.end)
        self.idle.update(i for i in here if "diseased" in self.kinds[i])

    def share(self, artery: Found, arteries: Sequence[Found]) -> float:
        """Return how much a name stands for the territory of an artery, 0 for not at all."""
        after = self.kinds_at(artery.end)
        last = self.words[artery.end - 1].removesuffix("s")
        is_other = last in OTHERWISE and self.is_said(*OTHERWISE[last])
        if is_other and "vascular" not in after:
            return 0.0
        is_vessel = artery.entry.needs == "vessel"
        if (is_vessel and not self.is_segment(artery)) or self.is_harmless(artery):
            return 0.0
        here = [i for i in self.around(artery.first, artery.end) if self.is_state(i)]
        own = [i for i in here if self.nearest(i, arteries) is artery]
        kinds = frozenset[str]().union(*(self.kinds[i] for i in own or here))
        if own or here:
            is_torn = "torn" in kinds and not self.is_unharmed(artery)
            return 1.0 if "vascular" in kinds else WEAKLY * is_torn
        if artery.side is not None or is_vessel:
            return 1.0
        return WEAKLY * self.is_bare(artery)

    def nearest(self, i: int, arteries: Sequence[Found]) -> Found:
        """Artery nearest to token i."""
        number = bisect_left(arteries, i, key=_first)
        near = arteries[max(number - 1, 0) : number + 1]
        return min(near, key=lambda each: max(each.first - i, i - each.end + 1))

    def is_segment(self, artery: Found) -> bool:
        """Whether a name is that of a segment: words of vessels are near, it is no structure."""
        number = self.document.begins.get(artery.first)
        if number is not None and is_place_name(self.document.names[number]):
            return False  # "M1" as the motor cortex
        near = self.around(artery.first, artery.end, NEAR)
        return artery.end > artery.first + 1 or any("segmental" in self.kinds[i] for i in near)

    def is_state(self, i: int) -> bool:
        """Whether token i tells of a vessel or a territory, and is not denied."""
        if {"vascular", "vessel"}.isdisjoint(self.kinds[i]):
            return False
        return self.document.begins.get(i, -1) not in self.denied

    def is_unharmed(self, artery: Found) -> bool:
        """Whether the sentence denies an infarct: "dissection without infarction"."""
        here = self.around(artery.first, artery.end)
        return any("vascular" in self.kinds[i] and not self.is_state(i) for i in here)

    def is_harmless(self, artery: Found) -> bool:
        """Whether a vessel is said to have a variant, and its territory to have nothing."""
        here = self.around(artery.first, artery.end, LONGEST_ITEM)
        first = next(
            (i for i in range(artery.first, here.start, -1) if "," in self.gaps[i]), here.start
        )
        end = next((i for i in range(artery.end, here.stop) if "," in self.gaps[i]), here.stop)
        kinds = frozenset[str]().union(*self.kinds[first:end])
        is_narrow = (
            self.document.word(artery.end).isdigit() and self.gaps[artery.end + 1][:1] == "%"
        )
        return (is_narrow or "variant" in kinds) and "vascular" not in kinds

    def is_bare(self, artery: Found) -> bool:
        """Whether a text is the name of an artery and nothing else."""
        others = (w for i, w in enumerate(self.words) if not artery.first <= i < artery.end)
        is_alone = all(word in ("a", "an", "of", "the") for word in others)
        return is_alone and self.words[artery.end - 1] not in OTHERWISE

    def of_artery(self, artery: Found, arteries: Sequence[Found]) -> Found:
        """Give a segment the side of the arteries of its sentence: "left MCA: M1 occlusion"."""
        if artery.side or artery.entry.needs != "vessel":
            return artery
        here = self.around(artery.first, artery.end)
        start, stop = (bisect_left(arteries, i, key=_first) for i in (here.start, here.stop))
        sides = [each.side for each in arteries[start:stop] if each.side]
        return artery._replace(side=sides[0]) if len({s.side for s in sides}) == 1 else artery


def _first(found: Found) -> int:
    return found.first


def _weighed(entry: Entry, share: float) -> Entry:
    """Return an entry whose rules count a share of what they do."""
    if share == 1:
        return entry
    weighed = (rule._replace(weight=share * rule.weight) for rule in entry.rules)
    return entry._replace(rules=tuple(weighed))


def _is_of_stem(entry: Entry) -> bool:
    """Whether an entry points to the brain stem first, and to the side that the text gives it."""
    is_first = any(
        rule.weight == 1 and not BRAIN_STEM.isdisjoint(rule.structures) for rule in entry.rules
    )
    return is_first and all(rule.side == "same" for rule in entry.rules)


def _are_crossed(nerve: Found, body: Found) -> bool:
    """Whether a sign of the body is not on the side of a nerve; a syndrome may have no side."""
    if nerve.side is None:
        return nerve.entry.kind == "syndrome"
    return body.side is not None and nerve.side.side == OPPOSITE[body.side.side]


def implied_by(found: Found, term_of: Callable[[str], str | None]) -> tuple[Implied, ...]:
    """Return the structures that a name points to, with their sides."""
    given = found.side.side if found.side else None
    weights: dict[tuple[str, Side | None], float] = {}
    for rule in found.entry.rules:
        term = next(filter(None, map(term_of, rule.structures)), None)
        if term is not None:
            key = term, _side_by(rule.side, given)
            weights[key] = max(rule.weight, weights.get(key, 0.0))
    return tuple(Implied(term, side, weight) for (term, side), weight in weights.items())


def _side_by(rule: str, given: Side | None) -> Side | None:
    """Side of a structure, from a rule and the side that the text gives to the name."""
    relation, _, usual = rule.partition(" else ")
    if relation in SIDES:
        return side_of(relation)
    if given is None:
        return side_of(usual) if usual else None
    return {"same": given, "opposite": OPPOSITE[given]}.get(relation)


# ---- what is spared


@cache
def _wholes() -> dict[str, frozenset[str]]:
    """Names of the wholes that each structure of the table is part of."""
    wholes: dict[str, set[str]] = {}
    for row in read_table(__package__, "parts", PARTS):
        for part in split(row["parts"]):
            wholes.setdefault(part, set()).update(split(row["whole"]))
    return {part: frozenset(names) for part, names in wholes.items()}


def sides_of_spared(spared: Iterable[tuple[str, Side | None]]) -> Spared:
    """Join what a text denies by its name: a side, or None for both.

    >>> sides_of_spared([("insula", "bilateral"), ("pons", "left")])
    {'insula': {None}, 'pons': {'left'}}
    """
    sides: dict[str, set[Side | None]] = {}
    for name, side in spared:
        sides.setdefault(name, set()).add(None if side == "bilateral" else side)
    return sides


def without_spared(structures: Iterable[Implied], spared: Spared) -> tuple[Implied, ...]:
    """Leave out the structures that a text denies, or that are part of what it denies.

    >>> putamen = Implied("putamen", "left", 0.5)
    >>> without_spared([putamen], {"basal ganglia": {None}})
    ()
    """
    return tuple(
        each
        for each in structures
        if not any(
            {None, each.side} & spared.get(name, set())
            for name in (each.term, *_wholes().get(each.term, ()))
        )
    )
