"""Implied: the structures that the name of an artery, a nerve, a sign or a drug points to.

"Left PCA infarct" names no structure, yet it is in the left occipital lobe; a left hemianopia is
from the right one. The rules are those of the table (`rules`):

- Arteries need a stroke, a territory or a side in the same sentence, so that "PCA" may also be a
  principal component analysis; abbreviations are in capitals. Names that need a side are also
  ordinary words: "left neglect", not "child neglect". Segments need a word of vessels near them:
  "left M1 occlusion", not "TMS of the left M1 after a stroke".
- What fails with an artery is its territory: an occlusion or an infarct, not an aneurysm, a
  stenosis or a wall. Each such word is said of the artery nearest to it. A dissection, and the name
  of an artery that is the whole text, count half.
- Drugs and diseases count where a text names no structure itself. They weigh a tenth if many
  studies are of them: what these studies found is seldom where a drug binds.
- A text of a few words may leave out "syndrome": "Gerstmann", "locked-in". So may others where a
  side stands before a person's name: "left Wallenberg". The name of a person may also be part of
  another name (`eponyms`).
- The words of a fixed name say nothing else: "optic nerve" is not "optic".
- Sites of electrodes ("F3", "Cz") need a word of EEG or stimulation, or two other sites. Their
  numbers are odd on the left, and even on the right.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from neurowhere.text.clinical.carrying import OPERATION, TURNING, with_shared_sides
from neurowhere.text.clinical.cerebellar import with_ataxia
from neurowhere.text.clinical.crossed import with_crossed, with_related_sides
from neurowhere.text.clinical.eponyms import CLINICAL, is_beside_others, is_of_longer_name
from neurowhere.text.clinical.organs import of_organs
from neurowhere.text.clinical.peripheral import EXPLAINED, explained
from neurowhere.text.clinical.places import (
    ADJECTIVE,
    LESION,
    LIMBS,
    SIDE_WORDS,
    SIDES,
    TRAILING,
    Attached,
    Side,
    is_beside_lesion,
)
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import Entry, Found, Table, elsewhere, read_table
from neurowhere.text.clinical.vessels import (
    OTHERWISE,
    TORN,
    VASCULAR,
    VESSEL,
    is_bare,
    is_harmless,
    is_written,
)
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

OPPOSITE: dict[str, Side] = {"left": "right", "right": "left", "bilateral": "bilateral"}
REACH = 4  # tokens between a name and its side
CONTEXT = 30  # tokens before and after the name of an artery that may tell that it is one
# Words that tell that a segment is meant, and how near to it they are.
SEGMENTAL = VASCULAR - {"cva", "stroke", "syndrome"} | word_set(
    "branch clot cutoff dissection lvo mca pca aca artery recanalization reperfusion segment "
    "thrombectomy"
)
NEAR = 4  # tokens
FAILING = LESION | VASCULAR  # between a name and the side that ends what is said of it
WEAKLY = 0.5  # how much a dissection, or the bare name of an artery, tells of its territory
FEW_WORDS = 3  # of a text that may leave out "syndrome"
CITED = frozenset(["et", "and"])  # after the name of an author
AFTER_EPONYM = word_set("due following from in on secondary with")  # and of a syndrome
BEFORE_AUTHOR = word_set("al by dr josef prof professor")
# What one side of the body may be called, and how far from a sign it may stand.
OF_BODY = (LIMBS - {"hemifield"}) | word_set("body face half hemibody side")
REACH_BODY = 9  # tokens
# Words that tell that a sign comes from a nerve and not from the brain.
PERIPHERAL = word_set("bell bells lmn peripheral")
LETTERED: dict[str, tuple[Side, str]] = {
    "rhh": ("right", "hemianopia"),
    "lhh": ("left", "hemianopia"),
}
# Sides of electrodes by their last digits, words that tell of one, and those that tell of something
# else: a vertebra, a hormone, or a component of an evoked potential.
SIDE_OF_SITE: dict[str, Side] = dict(zip("1234567890", ("left", "right") * 5, strict=True))
OF_SITES = frozenset(
    map(
        fold,
        word_set(
            """
            anodal anode cathodal cathode ctbs eeg electrode electroencephalogram
            electroencephalographic electroencephalography epileptiform erp fnirs ictal interictal
            itbs montage neurofeedback nirs optode polyspike rtms scalp spike tacs tdcs tms
            transcranial
            """
        ),
    )
)
NOT_SITES = word_set(
    """
    complement cord corpectomy dermatome disc discectomy disk fracture free fusion hormone
    laminectomy level myelopathy nerve quadriplegia radiculopathy root sat saturation segment serum
    spinal spine stenosis tetraplegia therapy thyroid total tsh vertebra vertebral weighted
    weighting
    """
)
COMPONENTS = word_set("p1 p2 p3 c1")  # of evoked potentials, unless a site is spoken of
AT_SITES = word_set(
    "and at between channel electrode from lead near on or over position site to under via"
)
FEWEST_SITES = 3  # in a text that does not speak of electrodes
WHOLE = word_set("brain brains")  # "what part of the brain controls breathing"
PLACES = ("place", "surgery")  # kinds of names that have sides as structures do
DONE_FOR = ("place", "fixed")  # kinds of names that an operation may be done for
BETWEEN = word_set("sided complete dense homonymous incomplete mild partial profound severe visual")
CELL_END = re.compile(r" *[|\t][ |\t]*| {2,}")
ALL = word_set("all both each")  # before the side of several signs
TOWARDS = (["to", "the"], ["on", "the"], ["of", "the"], ["towards", "the"])


class Implied(NamedTuple):
    """A structure that a name points to by a rule: its term, its side and the rule's weight."""

    term: str
    side: Side | None
    weight: float


# ---- names in a text


def find_names(
    reading: Reading,
    sides: Mapping[int, Attached],
    denied: Container[int] = (),
    terms: Sequence[str] = (),
) -> list[Found]:
    """Find the names of the table that a text mentions in their clinical sense.

    Parameters
    ----------
    reading : Reading
    sides : mapping of int to Attached
        Sides that the matches of the reading have.
    denied : collection of int
        Matches that the text denies.
    terms : sequence of str
        Names of the matches' terms, by which diseases and networks are found however they are
        written: "PD", "DAN".
    """
    table = read_table()
    given = {reading.last[number]: side for number, side in sides.items()}
    of_structures = frozenset(side.words.first for side in sides.values())
    taken = {"artery": frozenset[int]()}
    sites = list(_sites(reading, table))
    of_sites = frozenset(site.tokens for site in sites)
    names = {
        Tokens(first, last): table.entries[name]
        for first, last, name in table.phrases.find(reading)
        if Tokens(first, last) not in of_sites
    }
    by_term = {
        Tokens(reading.first[number], reading.last[number]): table.terms[term]
        for number, term in enumerate(terms)
        if term in table.terms
    }
    starts = {tokens.first for tokens in names}
    names |= {tokens: entry for tokens, entry in by_term.items() if tokens.first not in starts}
    found = [
        Found(
            entry,
            tokens,
            given.get(tokens.last)
            or _side_within(reading, tokens, entry)
            or _side(reading, tokens, taken.get(entry.kind, of_structures))
            or (_side_of_body(reading, tokens, of_structures) if entry.is_crossed else None)
            or (_side_of_operation(reading, tokens) if entry.kind in DONE_FOR else None),
        )
        for tokens, entry in names.items()
    ]
    found += _lettered(reading, table)
    given_here = [*sides.values()]
    found = [_with_one_side(reading, name, given_here) for name in found]
    found = with_related_sides(reading, found, given_here)
    found = with_crossed(reading, with_ataxia(reading, found), denied)
    found = with_shared_sides(reading, found)
    sentences = explained(reading, denied)
    meant = [
        _without_map(reading, name)
        for name in found
        if _is_meant(reading, name, found)
        and not (
            name.entry.name in EXPLAINED and reading.sentence_number(name.tokens.first) in sentences
        )
    ]
    meant = sorted([*meant, *sites], key=lambda name: name.tokens)
    arteries = [name for name in meant if name.entry.kind == "artery"]
    if not arteries:
        return meant
    kept = _Arteries(reading, arteries, denied).kept()
    return [
        _with_one_side(reading, kept.get(name.tokens, name), given_here, (*PLACES, "artery"))
        for name in meant
        if name.entry.kind != "artery" or name.tokens in kept
    ]


def without_fixed(reading: Reading) -> Reading:
    """Leave out the terms within fixed names: "optic nerve" is not "optic".

    Nor is "parietal pleura" parietal. Such a phrase becomes a match that is neither a term nor a
    structure, unless a term is the whole of it.
    """
    fixed = [Tokens(first, last) for first, last, _ in read_table().fixed.find(reading)]
    others = [
        Tokens(first + (reading.tokens[first] in SIDES), last)  # "right-handed" has a side
        for first, last, _ in elsewhere().find(reading)
        if first not in reading.begins or reading.last[reading.begins[first]] < last
    ]
    within = {i for span in others for i in range(span.first, span.last + 1)}
    others += (span for span in of_organs(reading) if span.first not in within)
    hidden = {i: span for span in (*others, *fixed) for i in range(span.first, span.last + 1)}
    if not hidden:
        return reading
    spans = zip(reading.first, reading.last, strict=True)
    kept = [i for i, (first, last) in enumerate(spans) if last > hidden.get(first, (0, -1))[1]]
    return reading.with_names(
        terms=[reading.terms[i] for i in kept],
        first=[reading.first[i] for i in kept],
        last=[reading.last[i] for i in kept],
        is_structure=[reading.is_structure[i] for i in kept],
    ).with_matches(others, is_structure=False)


def _is_meant(reading: Reading, name: Found, found: Sequence[Found]) -> bool:
    """Whether a name is written as it should be, and has with it what it needs."""
    words = reading.tokens[name.tokens.first : name.tokens.last + 1]
    table, spelt = read_table(), " ".join(words)
    if not is_written(reading, name.tokens) or is_of_longer_name(reading, name.tokens):
        return False
    if spelt in table.shortened and len(reading.tokens) > FEW_WORDS:
        return _is_eponym(reading, name, found)
    if spelt in table.shortened and is_beside_others(reading, name.tokens, found):
        return False  # "Claude Debussy"
    if name.entry.kind == "place" and _is_part(reading, name.tokens):
        return False  # "temporoparietal junction", "cingulo-opercular"
    if name.entry.needs == "alone":
        return name.entry.is_fixed or not _names_structure(reading, name.tokens)
    if name.entry.needs == "central":
        return not (_names_structure(reading, name.tokens) or _is_peripheral(reading))
    if name.entry.needs == "sense":
        number = reading.begins.get(name.tokens.first)
        return number is not None and not reading.is_structure[number]
    if name.entry.needs == "lesion":
        return is_beside_lesion(reading.tokens, *name.tokens)
    return name.side is not None or name.entry.needs != "side"


def _is_eponym(reading: Reading, name: Found, found: Sequence[Found]) -> bool:
    """Whether the name of a person is that of a syndrome: "left Wallenberg in a man with vertigo".

    A side stands right before it, and the text speaks of a structure, a lesion or another sign; or
    the text has a sign that points to the same structure: "Gerstmann: finger agnosia, …".
    """
    first, last = name.tokens
    words = [reading.written(i) for i in range(first, last + 1)]
    is_double = last > first and all(reading.gap(i) in "-–" for i in range(first + 1, last + 1))
    is_double &= all(word[0].isupper() for word in words)  # "Dejerine-Roussy"
    is_sided = name.side is not None and name.side.words.last == first - 1
    after = reading.written(last + 1) if last + 1 < len(reading.tokens) else ""
    is_person = after[:1].isupper() and not reading.is_sentence_end(last + 1)
    if is_double and not is_person and after not in CITED:
        return True
    is_apart = not reading.gap(last + 1).isspace() or after in AFTER_EPONYM
    is_apart &= not after[:1].isdigit() and reading.token(first - 1) not in BEFORE_AUTHOR
    if is_apart and words[0][0].isupper() and any(_points_alike(name, each) for each in found):
        return True
    if not is_sided or is_person or not words[0][0].isupper():
        return False
    return (
        any(each.tokens != name.tokens for each in found)
        or _names_structure(reading, name.tokens)
        or not CLINICAL.isdisjoint(map(fold, reading.where))
    )


def _points_alike(name: Found, other: Found) -> bool:
    """Whether another name points to one of the structures that a name points to."""
    places, others = ({rule.structures for rule in each.entry.rules} for each in (name, other))
    return name.tokens != other.tokens and not places.isdisjoint(others)


def _with_one_side(
    reading: Reading, name: Found, sides: Sequence[Attached], kinds: Container[str] = PLACES
) -> Found:
    """Give a name the side of its sentence, if it has one: "left ICA: watershed infarcts"."""
    if name.side or name.entry.kind not in kinds or not sides:
        return name
    sentence = _sentence(reading, name.tokens)
    here = [side for side in sides if side.words.first in sentence]
    return name._replace(side=here[0]) if len({side.side for side in here}) == 1 else name


def _without_map(reading: Reading, name: Found) -> Found:
    """Return a name; that of a nerve points nowhere in a text that names structures itself."""
    if name.entry.is_fixed and name.entry.needs and _names_structure(reading, name.tokens):
        return name._replace(entry=name.entry._replace(rules=()))
    return name


def _sites(reading: Reading, table: Table) -> Iterator[Found]:
    """Yield the sites of electrodes in a text, each with the side of its number."""
    places = [i for i in reading.at_words(table.sites) if reading.written(i)[0].isupper()]
    if not places:
        return
    names = {reading.tokens[i] for i in places}
    words = {fold(word) for word in reading.where}
    letters = {name.rstrip("0123456789") for name in names}
    is_listed = len(names) >= FEWEST_SITES and len(letters) > 1
    if OF_SITES.isdisjoint(words) and (not is_listed or not NOT_SITES.isdisjoint(words)):
        return
    for i in places:
        around = {fold(reading.token(j)) for j in (i - 1, i + 1)}
        if not NOT_SITES.isdisjoint(around):
            continue  # "C3 fracture", "free T4"
        if reading.tokens[i] in COMPONENTS and AT_SITES.isdisjoint(around):
            continue
        tokens, side = Tokens(i, i), SIDE_OF_SITE.get(reading.tokens[i][-1])
        entry = table.entries[table.sites[reading.tokens[i]]]
        yield Found(entry, tokens, Attached(side, tokens) if side else None)


def _lettered(reading: Reading, table: Table) -> Iterator[Found]:
    """Yield the signs whose letters have a side: "RHH" is a right homonymous hemianopia."""
    for i in reading.at_words(LETTERED.keys()):
        if reading.written(i).isupper():
            side, name = LETTERED[reading.tokens[i]]
            yield Found(table.entries[name], Tokens(i, i), Attached(side, Tokens(i, i)))


def _is_part(reading: Reading, tokens: Tokens) -> bool:
    """Whether some tokens are part of a longer name."""
    number = reading.begins.get(tokens.first)
    is_whole = number is not None and reading.last[number] == tokens.last
    is_within = tokens.first in reading.inner or reading.gap(tokens.first) == "-"
    return is_within and not is_whole


def _names_structure(reading: Reading, name: Tokens) -> bool:
    """Whether a text names a structure elsewhere than in some tokens; the brain is none."""
    places = zip(reading.first, reading.last, reading.is_structure, reading.terms, strict=True)
    return any(
        is_structure
        and term != NO_TERM
        and (last < name.first or first > name.last)
        and reading.tokens[first] not in WHOLE
        for first, last, is_structure, term in places
    )


def _is_peripheral(reading: Reading) -> bool:
    """Whether a text speaks of a nerve that fails: "Bell's palsy", "lower motor neuron"."""
    return not PERIPHERAL.isdisjoint(reading.where) or _is_said(reading, ["lower", "motor"])


class _Arteries:
    """Names of arteries in a text, and what is wrong with them.

    Parameters
    ----------
    reading : Reading
    arteries : list of Found
    denied : collection of int
        Matches that the text denies: "no infarct" is none.
    """

    def __init__(self, reading: Reading, arteries: list[Found], denied: Container[int]) -> None:
        self.reading, self.arteries, self.denied = reading, arteries, denied
        self.firsts = [name.tokens.first for name in arteries]
        self.others = {name for name, words in OTHERWISE.items() if _is_said(reading, words)}

    def kept(self) -> dict[Tokens, Found]:
        """Return the names that stand for territories, segments with the side of their artery."""
        kept = {name.tokens: (name, self.share(name)) for name in self.arteries}
        return {
            tokens: _weighed(name if name.side else self.with_side(name), share)
            for tokens, (name, share) in kept.items()
            if share
        }

    def share(self, name: Found) -> float:
        """Return how much a name stands for the territory of an artery, 0 for not at all.

        There is a stroke, or a side; a dissection, or nothing but the name, tells less.
        """
        after = self.reading.token(name.tokens.last + 1)
        last = self.reading.tokens[name.tokens.last].removesuffix("s")
        if last in self.others and fold(after) not in VASCULAR:
            return 0.0
        if name.entry.needs == "vessel" and not self.is_segment(name.tokens):
            return 0.0
        if is_harmless(self.reading, name.tokens):
            return 0.0  # "fetal right PCA"
        here = [i for i in _sentence(self.reading, name.tokens) if self.is_state(i)]
        own = [i for i in here if self.nearest(i) is name]
        words = {fold(self.reading.tokens[i]) for i in own or here}
        if words:
            is_torn = not words.isdisjoint(TORN) and not self.is_unharmed(name)
            return 1.0 if words & VASCULAR else WEAKLY * is_torn
        if name.side is not None or name.entry.needs == "vessel":
            return 1.0
        return WEAKLY * is_bare(self.reading, name.tokens)

    def is_segment(self, tokens: Tokens) -> bool:
        """Whether a name is that of a segment: words of vessels are near, it is no structure."""
        reading = self.reading
        numbers = reading.beginning([tokens.first])
        if any(reading.is_structure[each] and reading.terms[each] != NO_TERM for each in numbers):
            return False  # "M1" as the motor cortex
        near = (reading.tokens[i] for i in _sentence(reading, tokens, NEAR))
        return tokens.last > tokens.first or any(fold(token) in SEGMENTAL for token in near)

    def is_state(self, i: int) -> bool:
        """Whether token i tells of a vessel or a territory, and is not denied."""
        word = fold(self.reading.tokens[i])
        return (word in VASCULAR or word in VESSEL) and not any(
            number in self.denied for number in self.reading.beginning([i])
        )

    def is_unharmed(self, name: Found) -> bool:
        """Whether the sentence denies an infarct: "dissection without infarction"."""
        return any(
            fold(self.reading.tokens[i]) in VASCULAR and not self.is_state(i)
            for i in _sentence(self.reading, name.tokens)
        )

    def nearest(self, i: int) -> Found:
        """Artery nearest to token i."""
        number = bisect_left(self.firsts, i)
        return min(
            self.arteries[max(number - 1, 0) : number + 1],
            key=lambda name: max(name.tokens.first - i, i - name.tokens.last),
        )

    def with_side(self, name: Found) -> Found:
        """Give a segment the side of the arteries of its sentence: "left MCA: M1 occlusion"."""
        here = _sentence(self.reading, name.tokens)
        first, end = (bisect_left(self.firsts, i) for i in (here.start, here.stop))
        sides = [each.side for each in self.arteries[first:end] if each.side]
        is_one = len({side.side for side in sides}) == 1 and name.entry.needs == "vessel"
        return name._replace(side=sides[0]) if is_one else name


def _weighed(name: Found, share: float) -> Found:
    """Return a name whose rules count a share of what they do."""
    rules = tuple(rule._replace(weight=share * rule.weight) for rule in name.entry.rules)
    return name._replace(entry=name.entry._replace(rules=rules)) if share < 1 else name


def _is_said(reading: Reading, words: list[str]) -> bool:
    """Whether a text has two words in a row, the second in any form."""
    return any(fold(reading.token(i + 1)) == words[1] for i in reading.where.get(words[0], ()))


def _sentence(reading: Reading, tokens: Tokens, reach: int = CONTEXT) -> range:
    """Tokens of the sentence, or the row of a table, around some tokens."""
    first, end = tokens.first, tokens.last + 1
    lowest, highest = max(0, first - reach), min(len(reading.tokens), end + reach)

    def is_end(i: int) -> bool:
        return reading.is_sentence_end(i) and not CELL_END.fullmatch(reading.gap(i))

    while first > lowest and not is_end(first):
        first -= 1
    while end < highest and not is_end(end):
        end += 1
    return range(first, end)


def _side(reading: Reading, tokens: Tokens, taken: Container[int]) -> Attached | None:
    """Side that stands before a name, or after it: "left hemianopia", "neglect to the left".

    The side of a sign is not one that a structure has taken: "neglect to the right insula"; that of
    a segment may be, "M1 segment of the left MCA".
    """
    for i in range(tokens.first - 1, max(tokens.first - 1 - REACH, -1), -1):
        token = reading.tokens[i]
        if reading.gap(i + 1) not in (" ", "-", ". ", "\n", "/", ") ", "] "):
            break
        if _is_side(reading, i):
            return Attached(SIDE_WORDS[token], Tokens(i, i))
        is_joined = reading.gap(i + 1) == "/" or _is_of_spared(reading, i)
        if not (token in BETWEEN or ADJECTIVE.fullmatch(token) or is_joined):
            break
    i = tokens.last + 1
    if reading.gap(i).strip() == "(":  # "pallidotomy (radiofrequency) on the left"
        inside = range(i + 1, min(i + 1 + REACH, len(reading.tokens)))
        i = next((j for j in inside if reading.gap(j) == ") "), i)
    while fold(reading.token(i)) in FAILING and reading.gap(i).isspace():
        i += 1  # "P2 occlusion on the right", "vein of Labbe territory on the right"
    i += reading.token(i) in ALL and not reading.gap(i).isspace()  # "…, both left-sided"
    is_led = reading.tokens[i : i + 2] in TOWARDS
    i += 2 if is_led else reading.token(i) == "on"
    if not _is_side(reading, i) or i in taken:
        return None
    end = i + 1 + (reading.token(i + 1) in TRAILING and reading.gap(i + 1) in " -")
    is_last = reading.gap(i) in (" ", ", ") and not reading.gap(end).isspace()  # "neglect, left"
    is_given = is_led or is_last or "(" in reading.gap(i)
    return Attached(SIDE_WORDS[reading.tokens[i]], Tokens(i, i)) if is_given else None


def _is_of_spared(reading: Reading, i: int) -> bool:
    """Whether token i is part of a word for what a sign spares: "arm-sparing hemiparesis"."""
    is_before = reading.token(i + 1) == "sparing" and reading.gap(i + 1) == "-"
    return reading.token(i) == "sparing" or is_before


def _side_within(reading: Reading, tokens: Tokens, entry: Entry) -> Attached | None:
    """Side that stands within the name of a sign: "droop of the right face"."""
    if not any(rule.side.startswith(("same", "opposite")) for rule in entry.rules):
        return None  # "left-right disorientation"
    for i in range(tokens.first, tokens.last + 1):
        if _is_side(reading, i):
            return Attached(SIDE_WORDS[reading.tokens[i]], Tokens(i, i))
    return None


def _side_of_body(reading: Reading, tokens: Tokens, taken: Container[int]) -> Attached | None:
    """Side of the body that is named after a sign: "… with pain in the left half of the body"."""
    for i in range(tokens.last + 1, tokens.last + 1 + REACH_BODY):
        is_over = "," in reading.gap(i) or reading.is_sentence_end(i)
        if is_over or i in reading.sided or reading.token(i) in TURNING:
            return None
        if _is_side(reading, i):
            is_body = fold(reading.token(i + 1)) in OF_BODY and i not in taken
            return Attached(SIDE_WORDS[reading.tokens[i]], Tokens(i, i)) if is_body else None
    return None


def _side_of_operation(reading: Reading, tokens: Tokens) -> Attached | None:
    """Side of what was done for a place: "right craniotomy for a vestibular schwannoma"."""
    i = tokens.first - 1 - (reading.token(tokens.first - 1) in ("a", "an", "the"))
    is_for = reading.token(i) == "for" and OPERATION.fullmatch(reading.token(i - 1))
    return _side(reading, Tokens(i - 1, i - 1), ()) if is_for else None


def _is_side(reading: Reading, i: int) -> bool:
    """Whether a token is a side: "L", "Lt", "left" or "bilateral", not "l" nor "both"."""
    token = reading.token(i)
    if token in ("l", "r"):
        return reading.written(i).isupper()
    return token in SIDES or token in ("lt", "rt")


# ---- structures


def implied_by(name: Found, term_of: Callable[[str], str | None]) -> tuple[Implied, ...]:
    """Return the structures that a name points to, with their sides.

    Parameters
    ----------
    name : Found
    term_of : callable
        Returns the term of a vocabulary that stands for a structure, or None.
    """
    given = name.side.side if name.side else None
    found: dict[tuple[str, Side | None], float] = {}
    for rule in name.entry.rules:
        term = next(filter(None, map(term_of, rule.structures)), None)
        if term is not None:
            key = term, _side_of(rule.side, given)
            found[key] = max(rule.weight, found.get(key, 0.0))
    return tuple(Implied(term, side, weight) for (term, side), weight in found.items())


def _side_of(rule: str, given: Side | None) -> Side | None:
    """Side of a structure, from a rule and the side that the text gives to the name."""
    relation, _, usual = rule.partition(" else ")
    if relation in SIDES:
        return SIDE_WORDS[relation]
    if given is None:
        return SIDE_WORDS.get(usual)
    return {"same": given, "opposite": OPPOSITE[given]}.get(relation)
