"""Suggestions: the names that are spelt most like a word that is not known."""

from collections.abc import Iterable
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

GRAM = 3  # letters of the pieces by which names are compared
COMPARED = 24  # names with the most pieces in common, which are then compared letter by letter
LEAST_SIMILAR = 0.7  # share of letters that a suggestion has in common, 1 for the same word


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
        grams = [_grams(name) for name in self._spelt]
        self._sizes = np.array([len(some) for some in grams], dtype=np.float64)
        places: dict[str, list[int]] = {}
        for number, some in enumerate(grams):
            for gram in some:
                places.setdefault(gram, []).append(number)
        self._places: dict[str, NDArray[np.intp]] = {
            gram: np.array(numbers, dtype=np.intp) for gram, numbers in places.items()
        }

    def suggest(self, word: str, n: int = 3) -> list[str]:
        """Return up to `n` names, the most similar first."""
        spelt = word.lower()
        grams = _grams(spelt)
        lists = [self._places[gram] for gram in grams if gram in self._places]
        if not lists:
            return []
        shared = np.bincount(np.concatenate(lists), minlength=len(self._names))
        alike = shared / (self._sizes + len(grams))  # (n_names,)
        nearest = np.argsort(-alike, kind="stable")[:COMPARED].tolist()
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(spelt)
        scored = []
        for number in nearest:
            matcher.set_seq1(self._spelt[number])
            if shared[number] and matcher.ratio() >= LEAST_SIMILAR:
                scored.append((-matcher.ratio(), self._names[number]))
        return [name for _, name in sorted(scored)[:n]]


def _grams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1)}
