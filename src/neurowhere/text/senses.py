"""Senses: what an ambiguous abbreviation stands for, by the words around it.

"MS" is multiple sclerosis beside "relapsing" and nothing that is known elsewhere. The table
``senses.csv`` beside this module has a row per sense: the abbreviation, its case as written; the
term, none for a sense that is no term ("PCA" as principal component analysis); words that speak for
it; and whether it is meant where no word speaks for any sense: "yes", or "alone" in texts of a few
words.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.lists import shipped_table
from neurowhere.text.matching import NO_TERM

FEW_WORDS = 4  # of a text that is nearly nothing but an abbreviation


class Sense(NamedTuple):
    """One meaning of an abbreviation.

    Attributes
    ----------
    term : str
        What it stands for; "" for something that is no term.
    cues : tuple of str
        Words of a text that speak for it.
    default : str
        "yes" if it is meant where no word speaks for any meaning, "alone" if that holds only in a
        text of a few words, else "".
    """

    term: str
    cues: tuple[str, ...]
    default: str


@cache
def ambiguous() -> dict[str, tuple[Sense, ...]]:
    """Return the senses of each abbreviation of the table.

    >>> [sense.term for sense in ambiguous()["PD"]]
    ['parkinson disease', 'panic disorder', '']
    """
    senses: dict[str, tuple[Sense, ...]] = {}
    for row in shipped_table(__package__, "senses.csv"):
        sense = Sense(row["term"], tuple(row["cues"].split()), row["default"])
        senses[row["short"]] = (*senses.get(row["short"], ()), sense)
    return senses


class SenseChooser:
    """Chooses the sense of an abbreviation among the ids of the words of a text.

    The sense with most cues in the text is chosen; between equals, none is.

    Parameters
    ----------
    terms : sequence of int
        Term of each sense, `NO_TERM` for what is no term.
    cues : sequence of arrays of int
        Ids of the words that speak for each sense.
    default : int
        Term where no word speaks for any, or `NO_TERM`.
    alone : int
        The same in a text of a few words.
    """

    def __init__(
        self, terms: Sequence[int], cues: Sequence[Iterable[int]], default: int, alone: int
    ) -> None:
        self._terms = list(terms)
        self._cues = [np.fromiter(some, dtype=np.intp) for some in cues]
        self._default, self._alone = default, alone

    def choose(self, ids: NDArray[np.intp]) -> int:
        """Term that the abbreviation stands for in a text, or `NO_TERM`."""
        votes = [int(np.isin(ids, cues).sum()) for cues in self._cues]
        most = max(votes)
        if most == 0:
            return self._alone if len(ids) <= FEW_WORDS else self._default
        best = {term for term, n in zip(self._terms, votes, strict=True) if n == most}
        return best.pop() if len(best) == 1 else NO_TERM
