"""Lookalikes: whether two names are forms of one word, and which are spelt most alike.

NeuroQuery's synonyms were joined by their letters: beside "lobes" and "lobe" they join "medial" and
"medical", "spine" and "spin". A pair is kept where a rule finds inflections, spellings or plain
derivations of one word. The table ``lookalikes.csv`` beside this module decides before the rule
does: it has the pairs that a reader of all 1,239 judged otherwise.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_table
from neurowhere.text.words import plain, word_set

SHORTEST_STEM = 4  # letters that two words must share before endings that inflect
SHORTEST_DERIVED_STEM = 5  # and before endings that derive: "meta" and "metal" share four
SHORTEST_DOUBLED = 8  # letters of a word whose doubled consonants may be written once
GRAM = 3  # letters of the pieces by which names are compared
COMPARED = 24  # names with the most pieces in common, which are then compared letter by letter
LONG, LONGER = 8, 14  # letters of words in which two and three slips are likely, not one
MOST_SLIPS = 3
LONGEST = 40  # letters of a word that is compared with names: what is longer is no name

# Directions and kinds of cell whose Latin adjective means the English one (nucleus ventralis).
# Not others: frontalis and tibialis are muscles, triangularis and terminalis parts of the brain.
LATIN = word_set(
    "caudal central dorsal lateral magnocellular parvocellular pyramidal reticular superficial "
    "ventral"
)
LATIN_FORM = re.compile(rf"({'|'.join(sorted(LATIN))})(?:is|e)")
# Words that a name of more than two words may leave out at its end.
LEFT_OUT = word_set("area areas cortex")

CONSONANT = "[b-df-hj-np-tv-z]"
_SPELLINGS = [
    (re.compile(pattern), spelling)
    for pattern, spelling in [
        ("ae|oe", "e"),
        (r"(?<=\w\w)our", "or"),
        (r"([bt])re(s?)$", r"\1er\2"),
        (r"([iy])s(e|ed|ing|ation)$", r"\1z\2"),
    ]
]
_DOUBLED = re.compile(f"({CONSONANT})\\1")
_DOUBLED_BEFORE_ENDING = re.compile(f"(.+({CONSONANT}))\\2(?:ed|ing)")


def same_word(first: str, second: str) -> bool:
    """Whether two names are inflections, spellings or plain derivations of the same words.

    >>> same_word("hippocampal", "hippocampus"), same_word("fibres", "fiber")
    (True, True)
    >>> same_word("medial", "medical"), same_word("spine", "spin")
    (False, False)
    """
    one, other = _words(first), _words(second)
    if len(one) != len(other):
        one, other = _without_last(one), _without_last(other)
    if len(one) == len(other):
        return all(map(_same, one, other))
    return bool(_numbers("".join(one)) & _numbers("".join(other)))  # life styles, lifestyle


def is_synonym(name: str, term: str) -> bool:
    """Whether a pair of a map of synonyms is kept, by the table or by the rule."""
    reviewed = _reviewed()
    known = reviewed.get((name, term), reviewed.get((term, name)))
    return same_word(name, term) if known is None else known


def true_synonyms(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs of a map of synonyms that the table or the rule keeps.

    >>> true_synonyms({"lobes": "lobe", "medial": "medical", "infarct": "infarction"})
    {'lobes': 'lobe', 'infarct': 'infarction'}
    """
    return {name: term for name, term in mapping.items() if is_synonym(name, term)}


@cache
def _reviewed() -> dict[tuple[str, str], bool]:
    """Return the pairs of the table and whether each is kept."""
    rows = shipped_table(__package__, "lookalikes.csv")
    return {(row["name"], row["term"]): row["verdict"] == "keep" for row in rows}


def _words(name: str) -> list[str]:
    return plain(re.sub("['\u2019]s\\b", "s", name)).split()


def _without_last(words: list[str]) -> list[str]:
    return words[:-1] if len(words) > 2 and words[-1] in LEFT_OUT else words


def _same(one: str, other: str) -> bool:
    return any(
        _spelling(x) == _spelling(y) or _differ_in_ending(x, y) or _is_doubled(x, y)
        for x, y in product(_numbers(one), _numbers(other))
    )


def _numbers(word: str) -> set[str]:
    """Return the word, and what it would be in the singular."""
    forms = {word}
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.add(word[:-1])
    if word.endswith("ae"):
        forms.add(word[:-1])
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    if re.search("(s|sh|ch|x|z)es$", word):
        forms.add(word[:-2])
    return forms


def _spelling(word: str) -> str:
    """Fold British, American and Latin spellings; in long words, doubled consonants too."""
    if latin := LATIN_FORM.fullmatch(word):
        word = latin[1]
    for pattern, spelling in _SPELLINGS:
        word = pattern.sub(spelling, word)
    return _DOUBLED.sub(r"\1", word) if len(word) >= SHORTEST_DOUBLED else word


def _differ_in_ending(one: str, other: str) -> bool:
    pairs = zip(one, other, strict=False)
    shared = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(one), len(other)))
    return any(
        frozenset((one[size:], other[size:]))
        in _endings("inflection", *["derivation"] * (size >= SHORTEST_DERIVED_STEM))
        for size in range(SHORTEST_STEM, shared + 1)
    )


def _is_doubled(one: str, other: str) -> bool:
    """Whether one is the other with its last consonant doubled: programmed, program."""
    return any(
        (match := _DOUBLED_BEFORE_ENDING.fullmatch(x)) is not None and match[1] == y
        for x, y in ((one, other), (other, one))
    )


@cache
def _endings(*kinds: str) -> frozenset[frozenset[str]]:
    """Return the pairs of endings that one word may have.

    Absent on purpose, since lookalikes come that way: -/e (spin, spine), -/a (compact, compacta),
    -/y (iron, irony), -/ion (conduct, conduction), -/ic (period, periodic), -/ity, al/ar (familial,
    familiar), al/ary (temporal, temporary), al/ate (vertebral, vertebrate), al/alis.
    """
    return frozenset(
        frozenset((row["ending"].strip("-"), other.strip("-")))
        for row in shipped_table(__package__, "endings.csv")
        if row["kind"] in kinds
        for other in row["others"].split()
    )


# ---- suggestions


class NearNames:
    """An index of names by their runs of three letters.

    The names that share most runs with a word are found by adding up one list of numbers per run;
    only these few are compared with it letter by letter. With N₃(a) the runs of a word and its
    ends, names are first ranked by |N₃(a) ∩ N₃(b)| / (|N₃(a)| + |N₃(b)|).

    >>> NearNames(["amygdala", "fear"]).suggest("amigdala")
    ['amygdala']
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._spelt = [name.lower() for name in self._names]
        self._sizes = np.empty(len(self._names))
        places: dict[str, list[int]] = {}
        for number, name in enumerate(self._spelt):  # the runs of all names at once are large
            grams = _grams(name)
            self._sizes[number] = len(grams)
            for gram in grams:
                places.setdefault(gram, []).append(number)
        self._places: dict[str, NDArray[np.intp]] = {
            gram: np.array(numbers, dtype=np.intp) for gram, numbers in places.items()
        }

    def suggest(self, word: str, n: int = 3) -> list[str]:
        """Return up to `n` names, the most similar first; none for what is too long for a word."""
        if len(word) > LONGEST:
            return []
        spelt = word.lower()
        grams = _grams(spelt)
        lists = [self._places[gram] for gram in grams if gram in self._places]
        if not lists:
            return []
        shared = np.bincount(np.concatenate(lists), minlength=len(self._names))
        alike = shared / (self._sizes + len(grams))  # (n_names,)
        nearest = np.argsort(-alike, kind="stable")[:COMPARED].tolist()
        found = (
            (slips(spelt, self._spelt[i]), self._names[i])
            for i in nearest
            if shared[i] and _least_slips(spelt, self._spelt[i]) <= MOST_SLIPS
        )
        meant = ((n_slips, name) for n_slips, name in found if _is_likely(n_slips, spelt, name))
        return [name for _, name in sorted(meant)[:n]]


def slips(one: str, other: str) -> int:
    """Count the letters to change, add, leave out or swap with the next to get from one to another.

    This is the distance of optimal string alignment (Damerau 1964, Commun ACM 7:171).

    >>> slips("amigdala", "amygdala"), slips("thlamus", "thalamus"), slips("German", "Gerstmann")
    (1, 1, 3)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        last, before, row = before, row, [i + 1]
        for j, wanted in enumerate(other):
            cost = min(before[j + 1] + 1, row[j] + 1, before[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                cost = min(cost, last[j - 1] + 1)
            row.append(cost)
    return row[-1]


def _least_slips(one: str, other: str) -> int:
    """Return the number of slips that there are at least, by the letters that only one has."""
    here, there = Counter(one), Counter(other)
    return max((here - there).total(), (there - here).total())


def _is_likely(n_slips: int, word: str, name: str) -> bool:
    """Whether somebody who means a name may write a word: few slips, and seldom in the first."""
    most = 1 + (len(word) >= LONG) + (len(word) >= LONGER)
    is_begun = word[:1] == name[:1].lower()
    return n_slips <= (most if is_begun else most - 1)


def _grams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1)}
