"""Lookalikes: whether two names are forms of one word, and which are spelt most alike.

NeuroQuery's synonyms were joined by their letters: beside "lobes" and "lobe" they join "medial" and
"medical", "spine" and "spin". The table ``lookalikes.csv`` beside this module has all 1,239 pairs
as a reader judged them. Other pairs are kept where they differ in number or spelling alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_table
from neurowhere.text.words import fold, plain

GRAM = 3  # letters of the pieces by which names are compared
COMPARED = 24  # names with the most pieces in common, which are then compared letter by letter
LONG, LONGER = 8, 14  # letters of words in which two and three slips are likely, not one
MOST_SLIPS = 3
LONGEST = 40  # letters of a word that is compared with names: what is longer is no name


def is_synonym(name: str, term: str) -> bool:
    """Whether a pair of a map of synonyms is kept, by the table or as two forms of the same words.

    >>> is_synonym("fibres", "fiber"), is_synonym("hippocampal", "hippocampus")
    (True, True)
    >>> is_synonym("medial", "medical"), is_synonym("spine", "spin")
    (False, False)
    """
    reviewed = _reviewed()
    known = reviewed.get((name, term), reviewed.get((term, name)))
    return _form(name) == _form(term) if known is None else known


def true_synonyms(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs of a map of synonyms that are kept.

    >>> true_synonyms({"lobes": "lobe", "medial": "medical", "infarct": "infarction"})
    {'lobes': 'lobe', 'infarct': 'infarction'}
    """
    return {name: term for name, term in mapping.items() if is_synonym(name, term)}


@cache
def _reviewed() -> dict[tuple[str, str], bool]:
    """Return the pairs of the table and whether each is kept."""
    rows = shipped_table(__package__, "lookalikes.csv")
    return {(row["name"], row["term"]): row["verdict"] == "keep" for row in rows}


def _form(name: str) -> str:
    return "".join(map(fold, plain(name).split()))  # life styles, lifestyle


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
