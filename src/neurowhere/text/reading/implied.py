"""Implied: the structures that the name of an artery, a nerve, a sign or a drug points to.

"Left PCA infarct" names no structure, yet it is in the left occipital lobe; a left hemianopia is
from the right one. The rules are those of the table (`rules`). What a name needs to be meant is a
column of it; arteries need a stroke, a territory or a side near them, and are nothing where they
are said to be open, narrow or torn.
"""

from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, cached_property
from typing import NamedTuple

from neurowhere.text.reading.document import SIDES, Document, Side
from neurowhere.text.reading.lexicon import ADJECTIVE, NOTHING, is_beside_lesion, side_of
from neurowhere.text.reading.names import is_place_name
from neurowhere.text.reading.sides import Attached
from neurowhere.text.reading.tables import TEXT, Column, read_table, split
from neurowhere.text.reading.tags import At, Entry, rules
from neurowhere.text.reading.tags import Found as Phrase

OPPOSITE: dict[str, Side] = {"left": "right", "right": "left", "bilateral": "bilateral"}
REACH, REACH_BODY = 4, 9  # tokens between a name and its side, or that of the body
CONTEXT, NEAR = 30, 4  # tokens around an artery, or a segment, that may tell that it is one
LONGEST_ITEM = 12  # tokens between commas
TORN = 0.5  # how much a dissection tells of the territory of its artery
FEW_WORDS = 3  # of a text that may leave out "syndrome"
FEWEST_SITES = 3  # in a text that does not speak of electrodes
PLACED = ("place", "surgery")  # kinds of names that have sides as structures do
SIDE_OF_SITE: dict[str, Side] = dict(zip("1234567890", ("left", "right") * 5, strict=True))
COMPONENTS = frozenset(["p1", "p2", "p3", "c1"])  # of evoked potentials, unless a site is spoken of
JOINTS = frozenset([" ", "-", ". ", "\n", "/", ") ", "] "])  # between a side and its name
LED = (["to", "the"], ["on", "the"], ["of", "the"], ["towards", "the"])
CLINICAL = frozenset(["clinical", "side", "lesion"])
VASCULAR = frozenset(["vascular", "vessel"])
IN_NAME = frozenset(["lesion", "vascular"])
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


def find_implied(
    document: Document,
    at: At,
    sides: Mapping[int, Attached],
    denied: Container[int],
    terms: Sequence[str],
) -> Pointing:
    """Find the names of the table that a text mentions in their clinical sense.

    Diseases and networks are found by the terms of the names, however they are written.
    """
    known = rules().terms
    of_terms = {n: known[term] for n, term in enumerate(terms) if term in known}
    if not (at["implied"] or at["sites"] or of_terms):
        return Pointing([], frozenset())
    return _Reader(document, sides, denied).read(at, of_terms)


class _Reader:
    """Reads a text around the names of the table."""

    def __init__(
        self, document: Document, sides: Mapping[int, Attached], denied: Container[int]
    ) -> None:
        self.document, self.sides, self.denied = document, sides, denied
        self.words, self.kinds, self.gaps = document.words, document.kinds, document.gaps
        self.kinds_at = document.kinds_at
        self.given = {document.names[n].end - 1: side for n, side in sides.items()}
        self.of_structures = {side.first for side in sides.values()}

    def read(self, at: At, of_terms: Mapping[int, Entry]) -> Pointing:
        """Return the names that are meant, arteries with a share of their weights."""
        meant = self.meant(at, of_terms)
        arteries = [each for each in meant if each.entry.kind == "artery"]
        shares = {each: self.share(each, arteries) for each in arteries}
        idle = set[int]().union(*(self.hidden(each) for each in arteries if shares[each] != 1))
        kept = list[Found]()
        for each in meant:
            if each in shares:
                kept += [self.territory(each, shares[each], arteries)] if shares[each] else []
            elif each.entry.kind != "cause":
                kept.append(each)
        return Pointing(kept, frozenset(idle))

    def meant(self, at: At, of_terms: Mapping[int, Entry]) -> list[Found]:
        """Return the names that are written as they should be and have what they need."""
        sites = [*self.sites(at["sites"])]
        spans = self.spans(at["implied"], {site.first for site in sites}, of_terms)
        found = [
            self.with_one_side(Found(entry, *span, self.side(*span, entry)), PLACED)
            for span, entry in spans.items()
        ]
        meant = [self.without_map(each) for each in found if self.is_meant(each)]
        return sorted([*meant, *sites], key=lambda each: (each.first, each.end))

    def spans(
        self, phrases: Sequence[Phrase], taken: Container[int], of_terms: Mapping[int, Entry]
    ) -> dict[tuple[int, int], Entry]:
        """Return the entries that are named at some tokens, and those of terms, by their tokens."""
        table = rules()
        spans = {(f, end): table.entries[name] for f, end, name in phrases if f not in taken}
        starts = {first for first, _ in spans}
        for number, entry in of_terms.items():
            name = self.document.names[number]
            if name.first not in starts:
                spans[name.first, name.end] = entry
        return spans

    @cached_property
    def said(self) -> frozenset[str]:
        """Classes of all words of the text."""
        return NOTHING.union(*self.kinds)

    def around(self, found: Found, reach: int = CONTEXT) -> range:
        """Tokens of the sentence around a name."""
        start, stop = self.document.sentences[self.document.sentence_of(found.first)]
        return range(max(start, found.first - reach), min(stop, found.end + reach))

    # ---- sides

    def side(self, first: int, end: int, entry: Entry) -> Attached | None:
        """Side of a name: of the same words, within it, before or after it, or of the body."""
        side = self.given.get(end - 1) or next(
            filter(None, map(self.mark, range(first, end))), None
        )
        return side or self.before(first) or self.after(end, entry)

    def mark(self, i: int) -> Attached | None:
        """Side that a token is: "L", "Lt", "left" or "bilateral", not "both"."""
        side = None if self.document.word(i) == "both" else self.document.side_at(i)
        return Attached(side, i, i + 1) if side else None

    def before(self, first: int) -> Attached | None:
        """Side before a name, with adjectives between them: "left homonymous hemianopia"."""
        for i in range(first - 1, max(first - 1 - REACH, -1), -1):
            if self.gaps[i + 1] not in JOINTS:
                return None
            if mark := self.mark(i):
                return mark
            is_joined = self.gaps[i + 1] == "/" or "sparing" in self.words[i : i + 2]
            is_passed = "between-sign" in self.kinds[i] or ADJECTIVE.fullmatch(self.words[i])
            if not (is_passed or is_joined):
                return None
        return None

    def after(self, i: int, entry: Entry) -> Attached | None:
        """Side after a name: "neglect to the left", "P2 occlusion on the right"."""
        word, gaps = self.document.word, self.gaps
        while not IN_NAME.isdisjoint(self.kinds_at(i)) and gaps[i].isspace():
            i += 1
        is_led = self.words[i : i + 2] in LED
        i += 2 if is_led else word(i) == "on"
        mark = self.mark(i)
        if mark is None or (i in self.of_structures and entry.kind != "artery"):
            return None
        end = i + 1 + (word(i + 1) in ("side", "sided"))
        is_last = gaps[i] in (" ", ", ") and not gaps[end].isspace()
        return mark if is_led or is_last or "(" in gaps[i] else None

    def with_one_side(self, found: Found, kinds: Container[str]) -> Found:
        """Give a name the side of its sentence, if that has but one."""
        if found.side or found.entry.kind not in kinds or not self.sides:
            return found
        here = self.around(found)
        near = self.sorted_sides[
            slice(*(bisect_left(self.sorted_sides, (i,)) for i in (here.start, here.stop)))
        ]
        is_one = len({side.side for _, side in near}) == 1
        return found._replace(side=near[0][1]) if is_one else found

    @cached_property
    def sorted_sides(self) -> list[tuple[int, Attached]]:
        """Sides of structures, after their first tokens, in the order of the text."""
        return sorted(((s.first, s) for s in self.sides.values()), key=lambda pair: pair[0])

    # ---- which names are meant

    def is_meant(self, found: Found) -> bool:
        """Whether a name is written as it should be, and has with it what it needs."""
        spelt = " ".join(self.words[found.first : found.end])
        if not self.is_written(found, spelt):
            return False
        if spelt in rules().shortened and not self.is_eponym(found):
            return False
        if found.entry.kind == "place" and self.is_part(found):
            return False
        return CONDITIONS[found.entry.needs](self, found)

    def is_written(self, found: Found, spelt: str) -> bool:
        """Whether a name is written as one: abbreviations in capitals."""
        if spelt not in rules().abbreviations:
            return True
        start, end = self.document.span(found.first, found.end)
        is_numbered = spelt[-1].isdigit()
        return any(map(str.isupper, self.document.text[start + (not is_numbered) : end]))

    def is_eponym(self, found: Found) -> bool:
        """Whether the name of a person is that of a syndrome: "left Wallenberg in a man"."""
        if len(self.words) <= FEW_WORDS:
            rest = [*self.kinds[: found.first], *self.kinds[found.end :]]
            return not any(map(CLINICAL.isdisjoint, rest))
        is_sided = found.side is not None and found.side.first == found.first - 1
        is_double = found.end > found.first + 1  # "Dejerine-Roussy"
        return self.document.written(found.end - 1).istitle() and (is_sided or is_double)

    def is_part(self, found: Found) -> bool:
        """Whether a name is part of a longer one."""
        number = self.document.begins.get(found.first)
        is_whole = number is not None and self.document.names[number].end == found.end
        is_within = found.first in self.document.inner or self.gaps[found.first] == "-"
        return is_within and not is_whole

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

    def is_explained(self, found: Found) -> bool:
        """Whether a nerve, a root or a muscle in the sentence explains a sign of the body."""
        here = self.document.sentences[self.document.sentence_of(found.first)]
        causes = rules().causes.find(self.words, range(*here))
        return any(
            {"negator", "cranial"}.isdisjoint(NOTHING.union(*self.kinds[max(i - 3, 0) : i]))
            for i, _, _ in causes
        )

    def without_map(self, found: Found) -> Found:
        """Return a name; that of a nerve points nowhere in a text that names structures itself."""
        if found.entry.is_fixed and found.entry.needs and self.names_structure(found):
            return found._replace(entry=found.entry._replace(rules=()))
        return found

    # ---- electrodes

    def sites(self, found: Sequence[Phrase]) -> Iterator[Found]:
        """Yield the sites of electrodes, each with the side of its number."""
        table = rules()
        places = [i for i, _, _ in found if self.document.written(i)[0].isupper()]
        for i in places if self.has_sites({self.words[i] for i in places}) else ():
            around = self.kinds_at(i - 1) | self.kinds_at(i + 1)
            if "no-site" in around or (self.words[i] in COMPONENTS and "at-site" not in around):
                continue
            side = SIDE_OF_SITE.get(self.words[i][-1])
            entry = table.entries[table.sites[self.words[i]]]
            yield Found(entry, i, i + 1, Attached(side, i, i + 1) if side else None)

    def has_sites(self, names: set[str]) -> bool:
        """Whether a text speaks of electrodes, or lists several sites."""
        if not names or "of-site" in self.said:
            return bool(names)
        n_areas = len({name.rstrip("0123456789") for name in names})
        return len(names) >= FEWEST_SITES and n_areas > 1 and "no-site" not in self.said

    # ---- arteries

    def hidden(self, artery: Found) -> set[int]:
        """Tokens of an artery that stands for no territory, and of what is wrong there."""
        if artery.entry.needs == "vessel" and artery.end == artery.first + 1:
            return set()
        diseased = (i for i in self.around(artery) if "diseased" in self.kinds[i])
        return {*range(artery.first, artery.end), *diseased}

    def share(self, artery: Found, arteries: Sequence[Found]) -> float:
        """Return how much a name stands for the territory of an artery, 0 for not at all."""
        is_vessel = artery.entry.needs == "vessel"
        if self.is_harmless(artery) or (is_vessel and not self.is_segment(artery)):
            return 0.0
        here = list(filter(self.is_state, self.around(artery)))
        if not here:
            return float(artery.side is not None or is_vessel)
        own = [i for i in here if self.nearest(i, arteries) is artery]
        kinds = NOTHING.union(*map(self.kinds.__getitem__, own or here))
        return 1.0 if "vascular" in kinds else TORN * ("torn" in kinds)

    def nearest(self, i: int, arteries: Sequence[Found]) -> Found:
        """Artery nearest to token i."""
        number = bisect_left(arteries, i, key=_first)
        near = arteries[max(number - 1, 0) : number + 1]
        return min(near, key=lambda each: max(each.first - i, i - each.end + 1))

    def territory(self, artery: Found, share: float, arteries: Sequence[Found]) -> Found:
        """Return an artery with its side and with a share of its weights."""
        weighed = artery._replace(entry=artery.entry.weighed(share))
        return self.with_one_side(self.of_artery(weighed, arteries), ("artery",))

    def is_segment(self, artery: Found) -> bool:
        """Whether a name is that of a segment: words of vessels are near, it is no structure."""
        number = self.document.begins.get(artery.first)
        if number is not None and is_place_name(self.document.names[number]):
            return False  # "M1" as the motor cortex
        near = self.around(artery, NEAR)
        return artery.end > artery.first + 1 or any("segmental" in self.kinds[i] for i in near)

    def is_state(self, i: int) -> bool:
        """Whether token i tells of a vessel or a territory, and is not denied."""
        if VASCULAR.isdisjoint(self.kinds[i]):
            return False
        return self.document.begins.get(i, -1) not in self.denied

    def is_harmless(self, artery: Found) -> bool:
        """Whether a vessel is said to have a variant, and its territory to have nothing."""
        here = self.around(artery, LONGEST_ITEM)
        before = range(artery.first, here.start, -1)
        first = next((i for i in before if "," in self.gaps[i]), here.start)
        end = next((i for i in range(artery.end, here.stop) if "," in self.gaps[i]), here.stop)
        kinds = NOTHING.union(*self.kinds[first:end])
        return "variant" in kinds and "vascular" not in kinds

    def of_artery(self, artery: Found, arteries: Sequence[Found]) -> Found:
        """Give a segment the side of the arteries of its sentence: "left MCA: M1 occlusion"."""
        if artery.side or artery.entry.needs != "vessel":
            return artery
        here = self.around(artery)
        start, stop = (bisect_left(arteries, i, key=_first) for i in (here.start, here.stop))
        sides = [each.side for each in arteries[start:stop] if each.side]
        return artery._replace(side=sides[0]) if len({s.side for s in sides}) == 1 else artery


# What the column "needs" of a name asks for.
CONDITIONS: dict[str, Callable[[_Reader, Found], bool]] = {
    "": lambda reader, found: True,
    "vessel": lambda reader, found: True,
    "side": lambda reader, found: found.side is not None,
    "alone": lambda reader, found: found.entry.is_fixed or not reader.names_structure(found),
    "central": lambda reader, found: (
        "nerve" not in reader.said and not reader.names_structure(found)
    ),
    "sense": lambda reader, found: (
        found.first in reader.document.begins
        and not reader.document.names[reader.document.begins[found.first]].is_structure
    ),
    "lesion": lambda reader, found: is_beside_lesion(reader.words, found.first, found.end - 1),
    "unexplained": lambda reader, found: found.side is not None and not reader.is_explained(found),
}


def _first(found: Found) -> int:
    return found.first


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
