"""Sources: what vocabularies are built from, public lists of names and texts that use them.

Each reader takes the file of one list and gives names in lower case, without sides. Texts tell, in
numbers of documents, how often each term is mentioned, which abbreviations they define and for
what, and whether an abbreviation is also written in small letters, where it may be another word
("ms", "loc").
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurowhere.corpus import Corpus
from neurowhere.exceptions import VocabularyError
from neurowhere.text.abbreviations import definitions
from neurowhere.text.clinical.places import SIDES, joined_words, key_of
from neurowhere.text.counter import TermCounter
from neurowhere.text.labels import words_of_label
from neurowhere.text.lists import open_list, read_table
from neurowhere.text.vocabulary import Vocabulary
from neurowhere.text.words import LONGEST_ABBREVIATION, words_of

ATLAS_LABELS = "all_atlas_labels.csv"
WIKIPEDIA = "wikipedia_human_brain_tree_2023-05-19.json"
NIF = "nif_gross_anatomy_labels_synonyms.csv"
TERM_CATEGORIES = "data-neuroquery_version-1_termcategories.csv"
TERMS = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
TERM_SYNONYMS = "neuroquery_voc_mapping_identity.json"
NEURONAMES = "neuronames_labels_synonyms.csv"
COGNITIVE_ATLAS = "cognitive_atlas_aliases.csv"
SOURCES = (ATLAS_LABELS, WIKIPEDIA, NIF, TERM_CATEGORIES, TERMS, TERM_SYNONYMS)
WIDE_SOURCES = (*SOURCES, NEURONAMES, COGNITIVE_ATLAS)

# Atlases of networks: their labels name no part of the brain.
NETWORK_ATLASES = ("gordon", "schaefer", "yeo")
# The Cognitive Atlas numbers disorders apart; what is done to people often says so itself.
COGNITIVE_DISORDER = "dso_"
LEAST_LIKE = 60  # percent of letters that an alias shares: others are examples, not synonyms
COGNITIVE_TASK = re.compile(r"\b(?:task|test|paradigm|game|battery)s?\b")

SIDE = re.compile(rf"^(?:{'|'.join(SIDES)}) ")
PARENTHESES = re.compile(r"\([^)]*\)")


class Entry(NamedTuple):
    """A name of a list, its category, and other names for the same."""

    name: str
    category: str
    synonyms: tuple[str, ...]


def check_sources(folder: Path, names: Iterable[str] = SOURCES) -> None:
    """Raise an error that names the lists that a folder lacks."""
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise VocabularyError(f"{folder} lacks {', '.join(missing)}; give the folder that has them")


def atlas_names(folder: Path) -> list[str]:
    """Read the names of the regions of atlases."""
    labels = [
        row["label"]
        for row in read_table(folder / ATLAS_LABELS, ("atlas", "label"))
        if not row["atlas"].startswith(NETWORK_ATLASES)
    ]
    return unique(words_of_label(label)[0] for label in labels)


def wikipedia_names(folder: Path) -> list[str]:
    """Read a nested list of regions; what is in parentheses explains, and is left out."""
    with open_list(folder / WIKIPEDIA) as stream:
        tree = json.load(stream)
    names = (PARENTHESES.sub("", name) for name in _leaves(tree))
    parts = (part for name in names for part in re.split(r" or | / ", name))
    return unique(" ".join(part.lower().split()) for part in parts)


def nif_rows(folder: Path) -> list[list[str]]:
    """Read the label and the synonyms of each of NIF's parts of the brain."""
    rows = read_table(folder / NIF, ("label", "synonyms"))
    names = ([row["label"], *row["synonyms"].split("|")] for row in rows)
    return [unique(PARENTHESES.sub("", name).strip().lower() for name in row) for row in names]


def neuronames_rows(folder: Path) -> list[list[str]]:
    """Read the name and the synonyms, Latin included, of each structure of NeuroNames."""
    structures: dict[str, list[str]] = {}
    for row in read_table(folder / NEURONAMES, ("id", "name", "synonym")):
        names = structures.setdefault(row["id"], [row["name"]])
        names.append(row["synonym"])
    return [
        unique(PARENTHESES.sub("", name).strip().lower() for name in names)
        for names in structures.values()
    ]


def cognitive_entries(folder: Path) -> list[Entry]:
    """Read the tasks, concepts and disorders of the Cognitive Atlas, with their aliases."""
    found: dict[str, list[str]] = {}
    for row in read_table(folder / COGNITIVE_ATLAS, ("id", "name", "alias", "ratio")):
        forms = found.setdefault(row["id"], [row["name"]])
        if float(row["ratio"]) >= LEAST_LIKE and "," not in row["alias"]:
            forms.append(row["alias"])
    entries = []
    for number, forms in found.items():
        name, *synonyms = unique(PARENTHESES.sub("", form).strip().lower() for form in forms)
        category = "task" if COGNITIVE_TASK.search(name) else "function"
        if number.startswith(COGNITIVE_DISORDER):
            category = "disorder"
        entries.append(Entry(name, category, tuple(synonyms)))
    return entries


def category_names(folder: Path, category: str) -> list[str]:
    """Read the terms of NeuroQuery's vocabulary that a list of this category has, word for word.

    The table also pairs terms that only resemble each other ("group" and "y-group"): these are
    left out.
    """
    with open_list(folder / TERMS) as stream:
        terms = {line.strip() for line in stream}
    rows = read_table(folder / TERM_CATEGORIES, ("term", "normalized_term", "category"))
    return unique(
        row["normalized_term"]
        for row in rows
        if row["category"] == category
        and row["normalized_term"] in terms
        and key_of(row["term"]) == key_of(row["normalized_term"])
    )


def unique(names: Iterable[str]) -> list[str]:
    """Return the names without a side that they begin with, each once."""
    return list(dict.fromkeys(SIDE.sub("", name) for name in names if joined_words(name)))


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield from (key for key in tree if "_" not in key)  # those with one are the file's own
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _leaves(branch)
    else:
        yield str(tree)


# ---- texts

FEWEST_DOCUMENTS = 3  # that define an abbreviation, for it to be more than one author's
SHORTEST = 3  # letters of an abbreviation: those of two are initials of authors too
DOMINANT = 0.75  # share of the documents defining an abbreviation that mean the same by it
NEARLY = 0.92  # share of letters that a misspelt name has in common with the name
SMALL_LETTERS = 0.1  # share of its documents, at most, that write it without capitals

_TOKEN = re.compile(r"[A-Za-z0-9]+")


@dataclass
class Usage:
    """What texts say of abbreviations.

    Attributes
    ----------
    defined : Counter of (str, str)
        Documents that define a short form, as written, by a long form, as folded words.
    written : Counter of str
        Documents that have a word of a few characters, as written.
    """

    defined: Counter[tuple[str, str]] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)

    def add(self, texts: Iterable[str]) -> "Usage":
        """Count the abbreviations of more documents."""
        for text in texts:
            found = {(short, " ".join(words_of(long))) for short, long in definitions(text)}
            self.defined.update(found)
            tokens = set(_TOKEN.findall(text))
            self.written.update(token for token in tokens if len(token) <= LONGEST_ABBREVIATION)
        return self

    def long_forms(self) -> dict[str, int]:
        """Documents that define each long form, whatever its abbreviation."""
        totals: Counter[str] = Counter()
        for (_, long), n in self.defined.items():
            totals[long] += n
        return dict(sorted(totals.items()))

    def spelling(self, name: str) -> str:
        """Write an abbreviation in small letters, or in capitals where texts need them.

        Capitals are needed where the small letters are often another word: "MS", but "vwfa".
        """
        capitals = self.capitals.get(name.lower(), name)
        is_safe = self._n_small(name) <= SMALL_LETTERS * self.written[capitals]
        return name.lower() if is_safe else capitals

    def is_short_form(self, word: str) -> bool:
        """Whether texts define a word as an abbreviation and seldom use it as another word."""
        capitals = self.capitals.get(word.lower())
        return capitals is not None and self.written[capitals] > self._n_small(word)

    def _n_small(self, word: str) -> int:
        """Documents that have a word in small letters or as a sentence begins, as "Tom"."""
        return self.written[word.lower()] + self.written[word.capitalize()]

    @cached_property
    def capitals(self) -> dict[str, str]:
        """The usual form of each abbreviation that enough documents define."""
        forms: dict[str, Counter[str]] = {}
        for (short, _), n in sorted(self.defined.items()):
            forms.setdefault(short.lower(), Counter())[short] += n
        return {
            small: form.most_common(1)[0][0]
            for small, form in forms.items()
            if form.total() >= FEWEST_DOCUMENTS
        }


def abbreviations(usage: Usage, vocabulary: Vocabulary) -> dict[str, str]:
    """Return the abbreviations that nearly always stand for one term, with that term.

    Short forms that differ only in case ("DLPFC", "dlPFC") are counted together, and returned in
    their usual form. Long forms that
    are spelt nearly as the term is ("anterior cingulated cortex") count as it, and are returned too
    where several documents have them.
    """
    known = _whole_names(usage.long_forms(), vocabulary)
    meanings: dict[str, Counter[str]] = {}
    for (short, long), n in sorted(usage.defined.items()):
        meanings.setdefault(short.lower(), Counter())[long] += n
    synonyms = {}
    for short, longs in meanings.items():
        terms: Counter[str] = Counter()
        for long, n in longs.items():
            terms[known.get(long, "")] += n
        term = max(terms, key=lambda term: (bool(term), terms[term]))
        near = [long for long in longs if long not in known and _is_nearly(long, term)]
        n = terms[term] + sum(longs[long] for long in near)
        is_frequent = n >= FEWEST_DOCUMENTS and n >= DOMINANT * longs.total()
        if term and is_frequent and len(short) >= SHORTEST:
            synonyms[usage.capitals.get(short, short.upper())] = term
            synonyms |= {long: term for long in near if longs[long] >= FEWEST_DOCUMENTS}
    return synonyms


def _whole_names(phrases: Iterable[str], vocabulary: Vocabulary) -> dict[str, str]:
    """Return the phrases that are names of the vocabulary from end to end, with their terms."""
    counter = TermCounter(vocabulary)
    names = {}
    for phrase in phrases:
        found = counter.find(phrase)
        if len(found) == 1 and (found[0].start, found[0].end) == (0, len(phrase)):
            names[phrase] = found[0].term
    return names


def _is_nearly(phrase: str, term: str) -> bool:
    """Whether a phrase is a name misspelt or cut otherwise: "dorsal lateral", "cingulated"."""
    words, others = phrase.split(), term.split()
    if len(words) == len(others):
        return all(
            _likeness(word, other) >= NEARLY for word, other in zip(words, others, strict=True)
        )
    return _likeness(phrase, term) >= NEARLY


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def document_frequencies(vocabulary: Vocabulary, corpus: Corpus) -> NDArray[np.intp]:
    """Count the documents that mention each term, in their texts or, without them, their counts."""
    frequencies = np.zeros(len(vocabulary), dtype=np.intp)
    if corpus.texts is not None:
        for block in TermCounter(vocabulary).iter_count(corpus.texts):
            frequencies += block.getnnz(axis=0)
    elif corpus.counts:
        matrix = vocabulary.align(corpus.terms or []).matrix
        total = sum(counts @ matrix for counts in corpus.counts.values())
        frequencies += total.getnnz(axis=0)
    return frequencies


def frequent_terms(vocabulary: Vocabulary, corpus: Corpus, minimum: int = 1) -> Vocabulary:
    """Vocabulary of the terms that at least `minimum` documents of a corpus mention.

    >>> from neurowhere.corpus import Document
    >>> corpus = Corpus.from_documents([Document("1", {"title": "Amygdala and fear"})])
    >>> frequent_terms(Vocabulary(["amygdala", "insula"]), corpus).terms
    ('amygdala',)
    """
    is_frequent = document_frequencies(vocabulary, corpus) >= minimum
    if not is_frequent.any():
        raise VocabularyError(
            f"none of the {len(vocabulary):,} terms is in {minimum:,} of the {len(corpus):,} "
            "documents; lower the minimum or give another corpus"
        )
    return vocabulary.subset(compress(vocabulary.terms, is_frequent))


def texts_of(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield the texts of corpora, and the titles of those that have counts alone."""
    for corpus in corpora:
        if corpus.texts is not None:
            yield from corpus.texts
        elif "title" in corpus.documents:
            yield from corpus.documents["title"].fillna("").astype(str)
