"""Vocabularies: the terms that a text is searched for, their synonyms and categories."""

import csv
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import numpy as np
from scipy import sparse

from neurowhere._tools.files import bare_suffix, new_file, open_text, shipped_lines
from neurowhere.exceptions import DataWarning, VocabularyError
from neurowhere.text.counter import TermCounter
from neurowhere.text.lookalikes import NearNames, true_synonyms
from neurowhere.text.words import cased_words_of, fold, word_set, words_of

CATEGORIES = (
    "anatomy",
    "function",
    "task",
    "drug",
    "disorder",
    "symptom",
    "other",
    "generic",
    "extra",
    "",
)
HEADER = ["term", "category", "synonyms"]
SEPARATOR = "|"  # between synonyms
# Names of parts that many structures have, in other organs as well.
KINDS_OF_PARTS = word_set(
    "capsule commissure cord crus foramina forceps genu junction lingula lobe lobule nodule "
    "orbital peduncle planum septum tuber uvula"
)
PLAIN = ("generic", "other", "extra")  # categories of words that are no names
FORMER_CATEGORIES = {
    "psychology": "function",
    "disease": "disorder",
}  # names in files until version 4
SHOWN = 3  # terms in a line about a vocabulary
SUGGESTIONS = 3  # terms that an error offers for one that is not known
MAPPING_SUFFIX = "_voc_mapping_identity.json"  # how NeuroQuery names its file of synonyms


@dataclass(frozen=True)
class Alignment:
    """Map of the columns of another vocabulary to ours: ``counts @ matrix`` are over ours."""

    matrix: sparse.csr_matrix  # (n_columns, n_terms)
    missing: list[str]  # our terms that no column can count
    unused: list[str]  # columns that stand for none of our terms

    def __str__(self) -> str:
        n_columns, n_terms = self.matrix.shape
        return (
            f"{n_terms - len(self.missing):,} of {n_terms:,} terms counted by "
            f"{n_columns - len(self.unused):,} of {n_columns:,} columns"
        )


@dataclass(frozen=True)
class Vocabulary:
    """Terms in a fixed order, with synonyms and categories.

    Parameters
    ----------
    terms : sequence of str
        Names, each once.
    synonyms : mapping of str to str, optional
        Other names, each with the term that it stands for.
    categories : mapping of str to str, optional
        Category of terms: "anatomy", "function", "task", "drug", "disorder", "symptom", "other",
        "generic" (says nothing of where by itself: "human", "syndrome"), "extra" (a word that
        only helps with short texts) or "" (none).

    Examples
    --------
    >>> vocabulary = Vocabulary(["amygdala", "gray matter"], {"amygdaloid body": "amygdala"})
    >>> vocabulary
    <Vocabulary: 2 terms, 1 synonyms: amygdala, gray matter>
    >>> len(vocabulary), vocabulary.index("Grey matter"), "amygdaloid bodies" in vocabulary
    (2, 1, True)
    >>> vocabulary.align(["amygdalae", "amygdaloid body", "liver"]).matrix.toarray().tolist()
    [[1, 0], [1, 0], [0, 0]]
    """

    terms: Sequence[str]
    synonyms: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        object.__setattr__(self, "synonyms", MappingProxyType(_in_order(self)))
        categories = {
            term: FORMER_CATEGORIES.get(category, category)
            for term, category in self.categories.items()
        }
        object.__setattr__(self, "categories", MappingProxyType(categories))
        _check(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.terms, dict(self.synonyms), dict(self.categories))

    def __len__(self) -> int:
        return len(self.terms)

    def __iter__(self) -> Iterator[str]:
        return iter(self.terms)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __repr__(self) -> str:
        some = ", ".join(self.terms[:SHOWN]) + ", ..." * (len(self) > SHOWN)
        return f"<Vocabulary: {len(self):,} terms, {len(self.synonyms):,} synonyms: {some}>"

    def index(self, name: str) -> int:
        """Return the index of the term that a name stands for.

        Parameters
        ----------
        name : str
            A term, a synonym, or another form of one.

        Returns
        -------
        int
        """
        index = self._find(name)
        if index is None:
            near = self.suggest(name)
            raise VocabularyError(
                f"{name!r} is not among the {len(self):,} terms or their synonyms"
                + (f"; did you mean {' or '.join(near)}?" if near else "")
            )
        return index

    def suggest(self, word: str, n: int = SUGGESTIONS) -> list[str]:
        """Return the names that are spelt most like a word.

        Parameters
        ----------
        word : str
        n : int
            Most names to return.

        Returns
        -------
        list of str
            The most similar first.

        Examples
        --------
        >>> Vocabulary(["hippocampus", "thalamus", "hypothalamus"]).suggest("hipocampus")
        ['hippocampus']
        """
        near = self._near_names.suggest(word, n)
        return list(dict.fromkeys(map(self._noun, near)))

    def _noun(self, name: str) -> str:
        """Return the structure that a word is another form of ("amygdalo"), or the name itself."""
        term = self.synonyms.get(name, name)
        is_word = " " not in f"{name}{term}"
        return term if is_word and self.category(term) == "anatomy" else name

    def category(self, term: str) -> str:
        """Return the category of a term.

        Parameters
        ----------
        term : str

        Returns
        -------
        str
            Empty where none is known.
        """
        return self.categories.get(term, "")

    def is_generic(self, term: str) -> bool:
        """Return whether a term says nothing of where by itself, as "human" and "syndrome" do.

        A term without a category is generic where the package's own list of such words has it, and
        so is one of anatomy that names no more than a kind of part: "lobe", "nodule". Extra words
        are, too: they only help where a known term is near.

        Parameters
        ----------
        term : str

        Returns
        -------
        bool
        """
        category = self.category(term)
        if category in ("generic", "extra"):
            return True
        if category == "anatomy":
            return term in KINDS_OF_PARTS
        return category == "" and term in generic_words()

    def subset(self, terms: Iterable[str]) -> "Vocabulary":
        """Return the vocabulary of some of the terms, in the order of this one.

        Parameters
        ----------
        terms : iterable of str

        Returns
        -------
        Vocabulary
        """
        kept = {self.terms[self.index(term)] for term in terms}
        return Vocabulary(
            [term for term in self.terms if term in kept],
            {name: term for name, term in self.synonyms.items() if term in kept},
            {term: category for term, category in self.categories.items() if term in kept},
        )

    def parts(self) -> sparse.csr_matrix:
        """Return the one-word terms within longer ones.

        The words of a name are consumed when it is counted; ``counts + counts @ parts`` counts
        them as well, as NeuroQuery's features do. Extra words count only where they stand alone.

        Returns
        -------
        csr_matrix of int32, of shape (n_terms, n_terms)

        Examples
        --------
        >>> Vocabulary(["cortex", "visual", "visual cortex"]).parts().toarray()[2].tolist()
        [1, 1, 0]
        """
        words = [words_of(term) for term in self.terms]
        single = {
            names[0]: i
            for i, names in enumerate(words)
            if len(names) == 1 and self.category(self.terms[i]) != "extra"
        }
        places = [
            (i, single[word])
            for i, names in enumerate(words)
            for word in names
            if len(names) > 1 and word in single
        ]
        rows, columns = np.array(places, dtype=np.intp).reshape(-1, 2).T
        ones = np.ones(len(rows), dtype=np.int32)
        return sparse.csr_matrix((ones, (rows, columns)), shape=(len(self), len(self)))

    def summary(self) -> dict[str, int]:
        """Return the numbers of terms, of synonyms, and of terms in each category.

        Returns
        -------
        dict of str to int
        """
        categories = Counter(map(self.category, self.terms))
        return {
            "terms": len(self),
            "synonyms": len(self.synonyms),
            **{name or "no_category": categories[name] for name in CATEGORIES},
            "words_in_longest_term": max(len(words_of(term)) for term in self.terms),
        }

    def align(self, terms: Sequence[str]) -> Alignment:
        """Map the columns of another vocabulary, such as NeuroQuery's, to the terms of this one.

        A column's name is read as a text, so that counts and texts pass through the same
        synonyms, spellings and longest matches.

        Parameters
        ----------
        terms : sequence of str
            Names of the columns.

        Returns
        -------
        Alignment
        """
        matrix = TermCounter(self).count(terms)
        missing = [self.terms[i] for i in np.flatnonzero(matrix.getnnz(axis=0) == 0).tolist()]
        if len(missing) == len(self):
            raise VocabularyError(
                f"none of the {len(terms):,} columns matches one of the {len(self):,} terms; "
                "give the vocabulary that belongs to these counts"
            )
        unused = [terms[i] for i in np.flatnonzero(matrix.getnnz(axis=1) == 0).tolist()]
        return Alignment(matrix, missing, unused)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], mapping: str | os.PathLike[str] | None = None
    ) -> "Vocabulary":
        """Read a vocabulary from a file, gz and xz included.

        Parameters
        ----------
        path : path
            CSV with the columns term, category, synonyms (separated by ``|``); text with one term
            per line; or NeuroQuery's CSV of terms and frequencies, without a header.
        mapping : path, optional
            JSON object of synonyms, as NeuroQuery writes; by default the file of that name
            beside `path`, if there is one. Pairs that only look alike ("medial", "medical") are
            left out, with a warning.

        Returns
        -------
        Vocabulary
        """
        path = Path(path)
        rows = read_rows(path)
        beside = path.with_name(path.name + MAPPING_SUFFIX)
        if mapping is None and beside.is_file():
            mapping = beside
        synonyms = {} if mapping is None else _read_synonyms(Path(mapping))
        try:
            return _from_rows(cls, rows, synonyms)
        except VocabularyError as error:
            raise VocabularyError(f"{path}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV with the columns term, category and synonyms (separated by ``|``).

        Parameters
        ----------
        path : path
        """
        synonyms: dict[str, list[str]] = {}
        for synonym, term in self.synonyms.items():
            synonyms.setdefault(term, []).append(synonym)
        with new_file(path, overwrite=True) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(HEADER)
            for term in self.terms:
                alternatives = SEPARATOR.join(sorted(synonyms.get(term, [])))
                writer.writerow([term, self.category(term), alternatives])

    def _find(self, name: str) -> int | None:
        if name in self._indices:
            return self._indices[name]
        key = _key(name)
        return self._keys.get(key, self._keys.get(tuple(word.lower() for word in key)))

    @cached_property
    def _near_names(self) -> NearNames:
        names = self._indices.items()
        return NearNames(name for name, i in names if self.category(self.terms[i]) not in PLAIN)

    @cached_property
    def _indices(self) -> dict[str, int]:
        indices = {term: i for i, term in enumerate(self.terms)}
        for synonym, term in self.synonyms.items():
            indices.setdefault(synonym, indices[term])
        return indices

    @cached_property
    def _keys(self) -> dict[tuple[str, ...], int]:
        keys: dict[tuple[str, ...], int] = {}
        for name, index in self._indices.items():
            keys.setdefault(_key(name), index)
        return keys


def _in_order(vocabulary: Vocabulary) -> dict[str, str]:
    """Synonyms in the order of a saved file: where two are the same words, the first counts."""
    places = {term: i for i, term in enumerate(vocabulary.terms)}
    return dict(
        sorted(vocabulary.synonyms.items(), key=lambda pair: (places.get(pair[1], -1), pair[0]))
    )


def _key(name: str) -> tuple[str, ...]:
    return tuple(map(fold, cased_words_of(name)))


def _check(vocabulary: Vocabulary) -> None:
    """Raise an error for a vocabulary that could not be searched for or saved."""
    if not vocabulary.terms:
        raise VocabularyError("a vocabulary needs at least one term; this one is empty")
    known: dict[tuple[str, ...], str] = {}
    for term in vocabulary.terms:
        _check_name(term)
        if (words := cased_words_of(term)) in known:
            raise VocabularyError(
                f"the terms {known[words]!r} and {term!r} are the same words; keep one, or make "
                "one of them a synonym"
            )
        known[words] = term
    terms = set(vocabulary.terms)
    for synonym, term in vocabulary.synonyms.items():
        _check_name(synonym)
        if term not in terms:
            raise VocabularyError(f"the synonym {synonym!r} stands for {term!r}, which is no term")
        if synonym in terms:
            raise VocabularyError(f"{synonym!r} is both a term and a synonym; keep one")
    for term, category in vocabulary.categories.items():
        if term not in terms:
            raise VocabularyError(f"a category is given for {term!r}, which is no term")
        if category not in CATEGORIES:
            raise VocabularyError(
                f"the category of {term!r} is {category!r}; expected one of {CATEGORIES}"
            )


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not cased_words_of(name):
        raise VocabularyError(f"{name!r} has no word that a text could be searched for")
    if SEPARATOR in name or "\n" in name or "\r" in name:
        raise VocabularyError(f"{name!r} holds a {SEPARATOR} or a line break; remove it")


def _read_synonyms(path: Path) -> dict[str, str]:
    """Read a map of synonyms without the pairs that only look alike."""
    mapping = read_mapping(path)
    synonyms = true_synonyms(mapping)
    if dropped := [f"{name!r} for {mapping[name]!r}" for name in mapping if name not in synonyms]:
        warnings.warn(
            f"{len(dropped):,} of {len(mapping):,} synonyms only look alike and are left out: "
            f"{_some(dropped)}",
            DataWarning,
            stacklevel=3,
        )
    return synonyms


def _unmapped(rows: Iterable[list[str]], mapping: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield term, category and synonyms of the rows that a mapping does not rename."""
    return ((*row, "", "")[:3] for row in rows if row[0] not in mapping)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)


@cache
def generic_words() -> frozenset[str]:
    """Return the words that say nothing of where by themselves, as reviewed by hand."""
    return frozenset(shipped_lines(__package__, "generic.txt"))


def _from_rows(
    cls: type[Vocabulary], rows: Iterable[list[str]], mapping: Mapping[str, str]
) -> Vocabulary:
    """Vocabulary of the rows; terms that the mapping renames become synonyms.

    So do, with a warning, terms that have the words of an earlier one ("naïve", "naive").
    """
    terms: dict[tuple[str, ...], str] = {}
    categories, synonyms, repeats = {}, dict(mapping), []
    for term, category, others in _unmapped(rows, mapping):
        known = terms.setdefault(cased_words_of(term) or (term,), term)
        if known != term:
            synonyms[term] = known
        if known != term or term in categories:
            repeats.append(term)
            continue
        categories[term] = category
        synonyms |= dict.fromkeys(filter(None, others.split(SEPARATOR)), term)
    if repeats:
        warnings.warn(
            f"{len(repeats):,} terms repeat the words of another and count as that one: "
            f"{_some(list(map(repr, repeats)))}",
            DataWarning,
            stacklevel=3,
        )
    return cls(list(terms.values()), synonyms, {t: c for t, c in categories.items() if c})


# ---- files of lists


@contextmanager
def open_list(path: Path) -> Iterator[TextIO]:
    """Open a list of names; a file that cannot be read or parsed becomes a `VocabularyError`."""
    try:
        with open_text(path) as stream:
            yield stream
    except OSError as error:
        raise VocabularyError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError, csv.Error) as error:  # ValueError: damaged, or not JSON
        raise VocabularyError(f"cannot read {path}: {error}") from error


def read_rows(path: Path) -> list[list[str]]:
    """Read rows of term, category and synonyms, the last two where the file has them."""
    with open_list(path) as stream:
        if bare_suffix(path) != ".csv":
            return [[line] for line in map(str.strip, stream) if line]
        rows = list(filter(None, csv.reader(stream, strict=True)))
    if rows and rows[0][0] == HEADER[0]:
        return _columns(path, rows[0], rows[1:])
    if all(len(row) == 2 and _is_number(row[1]) for row in rows):
        return [row[:1] for row in rows]
    raise VocabularyError(f"{path} has no header {','.join(HEADER)}; add it, or name the file .txt")


def _columns(path: Path, header: list[str], rows: list[list[str]]) -> list[list[str]]:
    if unknown := set(header) - set(HEADER):
        raise VocabularyError(
            f"{path} has the column {min(unknown)!r}; expected {', '.join(HEADER)}"
        )
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise VocabularyError(
                f"{path}, row {number}: {len(row)} fields where the header has {len(header)}"
            )
    places = [header.index(name) if name in header else None for name in HEADER]
    return [["" if place is None else row[place] for place in places] for row in rows]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_mapping(path: Path) -> dict[str, str]:
    """Read a JSON object of synonyms, each with the term that it stands for."""
    with open_list(path) as stream:
        mapping = json.load(stream)
    if not isinstance(mapping, dict) or not all(isinstance(v, str) for v in mapping.values()):
        raise VocabularyError(f"{path} should hold a JSON object of synonym: term")
    return mapping
