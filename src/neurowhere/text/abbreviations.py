"""Abbreviations: what the short forms of a text stand for.

A text may define one itself: "anterior insula (AI)" makes "AI" the anterior insula. A definition is
a short form beside a long one in parentheses, either way round. The long form is found from the
right, as Schwartz and Hearst do (A simple algorithm for identifying abbreviation definitions in
biomedical text, Pacific Symposium on Biocomputing 2003): each letter or digit of the short form has
to stand in the long one, in order, the first of them at the start of a word. Only the few words
before a parenthesis are looked at, so that the time is linear in the text.

Others are ambiguous: "MS" is multiple sclerosis beside "relapsing" and nothing that is known
elsewhere. The table ``senses.csv`` beside this module has a row per sense: the abbreviation, its
case as written; the term, none for a sense that is no term ("PCA" as principal component analysis);
words that speak for it; whether it is meant where no word speaks for any sense: "yes", "alone" in
texts of a few words, "beside" nowhere but where alone ones are in longer texts, or "asked" after a
question mark ("?Wernicke" is a diagnosis, no area); and words that decide where they stand right
after it: "M1 occlusion".

In longer texts such a default sense is meant where it is a structure and a lesion stands beside it,
or a side in a text of the brain: "new lesion in R MCP", "MRI: b/l BG lacunes". So are the clipped
words of notes, however short the text: "R thal bleed", "temp lobe".
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from neurowhere._tools.files import shipped_table
from neurowhere.text.matching import NO_TERM, SKIPPED, NameTree, TokenIds
from neurowhere.text.places import LESION, SIDE_WORDS, is_beside_lesion
from neurowhere.text.words import fold, is_short_form, plain, word_set, words_of

if TYPE_CHECKING:
    from neurowhere.text.vocabulary import Vocabulary


MORE_WORDS = 5  # words that a long form may have beyond the letters of its short form
LONGEST_WORD = 30  # characters, on average, of the words of a long form
LONGEST_INSIDE = 120  # characters of a long form in parentheses

_OPENING = re.compile(
    r"\(\s?(?:(?P<short>[A-Za-z0-9][A-Za-z0-9+/'-]{1,9})(?=\s?[);,:])"
    rf"|(?P<long>[A-Za-z][A-Za-z0-9 ,'-]{{5,{LONGEST_INSIDE}}})\))"
)
_WORD_BEFORE = re.compile(r"(?<![^\s(])([A-Za-z0-9+/-]{2,10})\s?$")
_ASKED = re.compile(r"\?\s?(\w+)")
# A long form does not reach across the end of a sentence or another parenthesis.
_BREAKS = ("(", ")", ". ", "; ", ": ", "? ", "! ", "[", "]")


class Definition(NamedTuple):
    """A short form and the words that the text gives for it."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that a text defines, in its order.

    >>> text = "the anterior insula (AI), the AI; 12 patients (six men); MS (multiple sclerosis)"
    >>> [tuple(definition) for definition in definitions(text)]
    [('AI', 'anterior insula'), ('MS', 'multiple sclerosis')]
    """
    seen = set()
    for opening in _OPENING.finditer(text):
        if inside := opening["long"]:
            before = _WORD_BEFORE.search(text, max(0, opening.start() - 12), opening.start())
            short, words = (before[1], inside) if before else ("", "")
        else:
            short, words = opening["short"], ""
        if short in seen or not is_short_form(short):
            continue
        long = _long_form(short, words or _words_before(text, opening.start(), len(short)))
        if long and (not inside or long == inside):  # all of what is in the parentheses
            seen.add(short)
            yield Definition(short, long)


def _words_before(text: str, end: int, n_letters: int) -> str:
    """Return the words before a parenthesis that a long form may be made of."""
    n_words = min(n_letters + MORE_WORDS, 2 * n_letters)
    before = text[max(0, end - LONGEST_WORD * n_words) : end].rstrip()
    words = before[max(map(before.rfind, _BREAKS)) + 1 :].split()
    return " ".join(words[-n_words:])


def _long_form(short: str, words: str) -> str:
    """Return the shortest end of the words that the short form stands for, "" if there is none."""
    first, *others = filter(str.isalnum, short.lower())
    place, spelt = len(words), words.lower()
    for letter in reversed(others):
        place = spelt.rfind(letter, 0, max(place, 0))
    place = spelt.rfind(first, 0, max(place, 0))
    while place > 0 and spelt[place - 1].isalnum():
        place = spelt.rfind(first, 0, place)
    if place < 0:
        return ""
    long = words[words.rfind(" ", 0, place + 1) + 1 :]
    begins = not long[:1].isalnum() or long[0].lower() == first  # not within "a;b"
    return long if begins and len(long) > len(short) and short not in long.split() else ""


# ---- senses

WORDS = ("extra", "function", "generic")  # categories of what is also written in small letters
ASKED = "asked"  # default of a sense that is meant after a question mark
BESIDE = "beside"  # default of a sense that wants a lesion or a side
FEW_WORDS = 4  # of a text that is nearly nothing but an abbreviation
WHO = word_set("and he i it she that they we who")  # before the verb "left"
LED_TO = (["on", "the"], ["in", "the"])  # between a name and its side
# Words of texts in which a side beside an abbreviation tells that it is a structure.
OF_BRAIN = LESION | word_set(
    """
    activation activity adc blood bold brain cerebral connectivity cortex cortical ct diffusion dwi
    edematous enhancement enhancing fdg flair fmri gyrus hyperintense hypointense ischemic lacunar
    microbleed mri neurologic neurological perfusion pet signal subcortical susceptibility swi t2
    uptake volume voxel
    """
)


class Sense(NamedTuple):
    """One meaning of an abbreviation.

    Its default is "yes" if it is meant where no word speaks for any meaning, "alone" if that holds
    only in a text of a few words or beside a lesion, "beside" if beside one alone, "asked" if after
    a question mark, else "".
    """

    term: str  # "" for something that is no term
    cues: tuple[str, ...]  # words of a text that speak for it
    default: str
    beside: tuple[str, ...] = ()  # words that, right after the abbreviation, decide for it


@cache
def ambiguous() -> dict[str, tuple[Sense, ...]]:
    """Return the senses of each abbreviation of the table.

    >>> [sense.term for sense in ambiguous()["PD"]]
    ['parkinson disease', 'panic disorder', '']
    """
    senses: dict[str, tuple[Sense, ...]] = {}
    for row in shipped_table(__package__, "senses.csv"):
        cues, beside = (tuple(row[column].split()) for column in ("cues", "beside"))
        sense = Sense(row["term"], cues, row["default"], beside)
        senses[row["short"]] = (*senses.get(row["short"], ()), sense)
    return senses


class SenseChooser:
    """Chooses the sense of an abbreviation among the ids of the words of a text.

    The sense with most cues in the text is chosen; between equals, none is. A term is `NO_TERM`
    where an abbreviation stands for none.
    """

    def __init__(
        self,
        terms: Sequence[int],
        cues: Sequence[Iterable[int]],
        default: int,  # term where no word speaks for any
        alone: int,  # the same in a text of a few words
        near: int,  # the same beside a lesion, or beside a side in a text of the brain
        beside: Mapping[int, int],  # terms by the ids of words that decide right after it
    ) -> None:
        self._terms = list(terms)
        self._cues = [frozenset(some) for some in cues]
        self._default, self._alone, self._near = default, alone, near
        self._beside = beside

    def resolve(
        self, places: Sequence[int], tokens: Sequence[str], ids: Sequence[int], times: Counter[int]
    ) -> dict[int, int]:
        """Return the terms of the tokens that are the abbreviation."""
        chosen = self.choose(times, len(ids))
        terms = dict.fromkeys(places, NO_TERM if chosen is None else chosen)
        if chosen is None and self._near != NO_TERM:
            terms |= dict.fromkeys(_near(places, tokens), self._near)
        for place in places if self._beside else ():
            if place + 1 < len(ids):
                terms[place] = self._beside.get(ids[place + 1], terms[place])
        return terms

    def choose(self, times: Counter[int], n_words: int) -> int | None:
        """Term that the abbreviation stands for in a text, `NO_TERM`, or None if nothing tells."""
        known = times.keys()
        votes = [sum(times[cue] for cue in known & cues) for cues in self._cues]
        most = max(votes)
        if most == 0:
            term = self._alone if n_words <= FEW_WORDS else self._default
            return None if term == NO_TERM else term
        best = {term for term, n in zip(self._terms, votes, strict=True) if n == most}
        return best.pop() if len(best) == 1 else NO_TERM


def _near(places: Iterable[int], tokens: Sequence[str]) -> list[int]:
    """Return the places beside a lesion, or beside a side in a text of the brain."""
    sided = [place for place in places if _is_beside_side(tokens, place)]
    is_of_brain = sided and any(fold(each.lower()) in OF_BRAIN for each in {*tokens})
    near = [place for place in places if is_beside_lesion(tokens, place, place)]
    return [*near, *sided] if is_of_brain else near


def _is_beside_side(tokens: Sequence[str], i: int) -> bool:
    """Whether a side stands beside a token."""
    before, after = tokens[max(i - 2, 0) : i], tokens[i + 1 : i + 4]
    if before[-1:] == ["left"] and before[0].lower() in WHO:
        return False  # "he left BG"
    words = [*before[-1:], *after[:1], *(after[2:] if after[:2] in LED_TO else ())]
    sides = (word for word in words if word not in ("l", "r") or before == ["b", word])
    return any(word.lower() in SIDE_WORDS for word in sides)


# ---- the terms of one text

PARENTHESIS = "("
AS_IT_IS = -2  # of an abbreviation that means what the vocabulary says
LEAST_COVERED = 0.5  # share of the words of a long form that its name must have
REMEMBERED_DEFINITIONS = 1 << 14


class Resolver:
    """Finds the terms that the abbreviations of a text stand for.

    What the text itself defines comes first ("anterior insula (AI)"), then the words around an
    ambiguous abbreviation. The mention that defines is not counted, since the long form beside it
    is. What stands for something that is no term is not read.
    """

    def __init__(self, vocabulary: "Vocabulary", ids: TokenIds, names: NameTree) -> None:
        self._vocabulary = vocabulary
        self._ids = ids
        self._names = names
        self._choosers = {
            ids[short]: _chooser(senses, vocabulary, ids)
            for short, senses in known_senses(vocabulary).items()
        }
        self._asked = {
            short: _index(sense.term, vocabulary)
            for short, senses in known_senses(vocabulary).items()
            for sense in senses
            if sense.default == ASKED
        }
        self._defined: dict[tuple[str, str], int] = {}

    def resolve(self, text: str, tokens: Sequence[str], ids: Sequence[int]) -> dict[int, int]:
        """Return the terms of the tokens that stand for others than their words say."""
        terms: dict[int, int] = {}
        if not self._choosers.keys().isdisjoint(ids):
            places: dict[int, list[int]] = {}
            for i in [i for i, number in enumerate(ids) if number in self._choosers]:
                places.setdefault(ids[i], []).append(i)
            times = Counter(ids)
            for number, some in places.items():
                terms |= self._choosers[number].resolve(some, tokens, ids, times)
        if "?" in text:
            terms |= self._by_question(text, ids)
        return terms | self._by_definition(text, tokens) if PARENTHESIS in text else terms

    def _by_question(self, text: str, ids: Sequence[int]) -> dict[int, int]:
        words = _ASKED.findall(text)
        asked = {self._ids[word]: self._asked[word] for word in words if word in self._asked}
        return {i: asked[number] for i, number in enumerate(ids) if number in asked}

    def _by_definition(self, text: str, tokens: Sequence[str]) -> dict[int, int]:
        terms: dict[int, int] = {}
        defined: dict[str, int] = {}  # term of each short form and its plural
        for short, long in definitions(text):
            term = self._term_of(short, long)
            if term != AS_IT_IS:
                defined |= dict.fromkeys((short, f"{short}s"), term)
        unseen = set(defined)
        for place in [i for i, token in enumerate(tokens) if token in defined] if defined else ():
            token = tokens[place]
            terms[place] = NO_TERM if token in unseen else defined[token]
            unseen -= {token, f"{token}s"}
        return terms

    def _term_of(self, short: str, long: str) -> int:
        """Term that a definition makes of a short form, `NO_TERM`, or `AS_IT_IS`."""
        key = (short, long)
        if key not in self._defined:
            if len(self._defined) >= REMEMBERED_DEFINITIONS:
                self._defined.clear()
            self._defined[key] = self._read_definition(short, long)
        return self._defined[key]

    def _read_definition(self, short: str, long: str) -> int:
        term = self._name_at_end(long)
        if term != NO_TERM:
            return term
        usual = self._name_at_end(short)
        if usual == NO_TERM:
            return NO_TERM if self._ids[short] in self._choosers else AS_IT_IS
        name = self._vocabulary.terms[usual]
        same = set(map(fold, words_of(name))) & {*map(fold, words_of(long)), short.lower()}
        return AS_IT_IS if same else NO_TERM

    def _name_at_end(self, words: str) -> int:
        """Term of the name that some words end in, if it has enough of them."""
        ids = self._ids.of(plain(words, self._ids.knows, keep_case=True).split())
        kept = [i for i, number in enumerate(ids) if number != SKIPPED]
        names = self._names.longest(ids, {})
        if not names or names[-1][1] != kept[-1] + 1:
            return NO_TERM
        first, _, term = names[-1]
        covered = sum(1 for i in kept if i >= first) / len(kept)
        return term if covered >= LEAST_COVERED else NO_TERM


def known_senses(vocabulary: "Vocabulary") -> dict[str, tuple[Sense, ...]]:
    """Return the ambiguous abbreviations that may stand for a term of a vocabulary.

    One that the vocabulary has as the name of something else is not among them. Plain words in
    small letters, as "mid", are no such names.
    """
    return {
        short: senses
        for short, senses in ambiguous().items()
        if any(sense.term in vocabulary for sense in senses) and _is_free(short, senses, vocabulary)
    }


def _is_free(short: str, senses: Sequence[Sense], vocabulary: "Vocabulary") -> bool:
    """Whether an abbreviation is no name of anything but its senses."""
    name = _index(short if short in vocabulary else short.lower(), vocabulary)
    if name != NO_TERM and vocabulary.category(vocabulary.terms[name]) in WORDS:
        return True
    if name not in {NO_TERM, *(_index(sense.term, vocabulary) for sense in senses)}:
        return False
    is_clipped = all(sense.default in ("", BESIDE) for sense in senses)  # "thal", not "vi"
    return is_clipped or not short.islower()


def _index(term: str, vocabulary: "Vocabulary") -> int:
    return vocabulary.index(term) if term and term in vocabulary else NO_TERM


def _chooser(senses: tuple[Sense, ...], vocabulary: "Vocabulary", ids: TokenIds) -> SenseChooser:
    terms = [_index(sense.term, vocabulary) for sense in senses]
    cues = [chain.from_iterable(map(ids.forms, sense.cues)) for sense in senses]
    meant = {sense.default: term for sense, term in zip(senses, terms, strict=True)}
    default = meant.get("yes", NO_TERM)
    near = meant.get("alone", meant.get(BESIDE, NO_TERM))
    if near != NO_TERM and vocabulary.category(vocabulary.terms[near]) not in ("anatomy", ""):
        near = NO_TERM
    beside: dict[int, int] = {}
    for sense, term in zip(senses, terms, strict=True):
        beside |= dict.fromkeys(chain.from_iterable(map(ids.forms, sense.beside)), term)
    return SenseChooser(terms, cues, default, meant.get("alone", default), near, beside)
