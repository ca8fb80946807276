"""Resolution: what the abbreviations of one text stand for, among the ids of its words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neurowhere.text.abbreviations import definitions
from neurowhere.text.matching import NO_TERM, SKIPPED, NameTree, TokenIds
from neurowhere.text.senses import Sense, SenseChooser, ambiguous
from neurowhere.text.tokens import plain
from neurowhere.text.words import fold, words_of

if TYPE_CHECKING:
    from neurowhere.text.vocabulary import Vocabulary

Ints = NDArray[np.intp]
PARENTHESIS = "("
AS_IT_IS = -2  # of an abbreviation that means what the vocabulary says
LEAST_COVERED = 0.5  # share of the words of a long form that its name must have
REMEMBERED_DEFINITIONS = 1 << 14


class Resolver:
    """Finds the terms that the abbreviations of a text stand for.

    What the text itself defines comes first ("anterior insula (AI)"), then the words around an
    ambiguous abbreviation. The mention that defines is not counted, since the long form beside it
    is. What stands for something that is no term is not read.

    Parameters
    ----------
    vocabulary : Vocabulary
    ids : TokenIds
    names : NameTree
    """

    def __init__(self, vocabulary: "Vocabulary", ids: TokenIds, names: NameTree) -> None:
        self._vocabulary = vocabulary
        self._ids = ids
        self._names = names
        self._choosers = {
            ids[short]: _chooser(senses, vocabulary, ids)
            for short, senses in known_senses(vocabulary).items()
        }
        self._is_ambiguous = np.zeros(ids.n_ids, dtype=bool)
        self._is_ambiguous[list(self._choosers)] = True
        self._defined: dict[tuple[str, str], int] = {}

    def concerned(self, texts: Sequence[str], ids: Ints, bounds: Ints) -> list[int]:
        """Rows of the texts that may have something to resolve: most short ones have not."""
        ambiguous_rows = np.searchsorted(bounds, np.flatnonzero(self._is_ambiguous[ids]))
        defining = (row for row, text in enumerate(texts) if PARENTHESIS in text)
        return sorted({*ambiguous_rows.tolist(), *defining})

    def resolve(self, text: str, tokens: list[str], ids: Ints, alone: Ints) -> None:
        """Change, in place, the terms of the tokens that no longer name has."""
        for number in set(ids[self._is_ambiguous[ids]].tolist()):
            alone[ids == number] = self._choosers[number].choose(ids)
        if PARENTHESIS in text:
            self._use_definitions(text, tokens, ids, alone)

    def _use_definitions(self, text: str, tokens: list[str], ids: Ints, alone: Ints) -> None:
        defined: dict[str, int] = {}  # term of each short form and its plural
        for short, long in definitions(text):
            term = self._term_of(short, long)
            if term != AS_IT_IS:
                defined |= dict.fromkeys((short, f"{short}s"), term)
        if not defined:
            return
        is_short = np.zeros(len(self._is_ambiguous), dtype=bool)
        is_short[[self._ids[short] for short in defined]] = True
        unseen = set(defined)
        for place in np.flatnonzero(is_short[ids]).tolist():
            token = tokens[place]
            if token in defined:
                alone[place] = NO_TERM if token in unseen else defined[token]
                unseen -= {token, f"{token}s"}

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
        kept = np.flatnonzero(ids != SKIPPED)
        first, last, terms = self._names.longest(ids)
        if not len(terms) or last[-1] != kept[-1]:
            return NO_TERM
        covered = (kept >= first[-1]).sum() / len(kept)
        return int(terms[-1]) if covered >= LEAST_COVERED else NO_TERM


def known_senses(vocabulary: "Vocabulary") -> dict[str, tuple[Sense, ...]]:
    """Return the ambiguous abbreviations that may stand for a term of a vocabulary.

    One that the vocabulary has as the name of something else is not among them.
    """
    known = {}
    for short, senses in ambiguous().items():
        terms = {_index(sense.term, vocabulary) for sense in senses}
        name = short if short in vocabulary else short.lower()
        if terms - {NO_TERM} and (name not in vocabulary or vocabulary.index(name) in terms):
            known[short] = senses
    return known


def _index(term: str, vocabulary: "Vocabulary") -> int:
    return vocabulary.index(term) if term and term in vocabulary else NO_TERM


def _chooser(senses: tuple[Sense, ...], vocabulary: "Vocabulary", ids: TokenIds) -> SenseChooser:
    terms = [_index(sense.term, vocabulary) for sense in senses]
    cues = [{number for cue in sense.cues for number in ids.forms(cue)} for sense in senses]
    meant = {sense.default: term for sense, term in zip(senses, terms, strict=True)}
    default = meant.get("yes", NO_TERM)
    return SenseChooser(terms, cues, default, meant.get("alone", default))
