"""Build vocabularies from public lists: names of the brain's parts, and NeuroQuery's terms.

The anatomical vocabulary gathers the labels of atlases, Wikipedia's list of brain regions, NIF's
gross anatomy and the anatomical terms of NeuroQuery's categories. A name enters it when an atlas,
Wikipedia or the categories have it and it says where in the brain: names made of generic words
only ("brain", "group", "anterior part"), of parts outside the brain or below the scale of a map
("spinal cord", "layer V") stay out, and so do bare abbreviations. Names with the same words in
another order, number or spelling are one; NIF's synonyms join the names that they belong to.
"""

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import filterfalse
from pathlib import Path
from typing import Any, NamedTuple

from neurowhere._tools.files import shipped_table
from neurowhere.exceptions import VocabularyError
from neurowhere.text.labels import known_names, words_of_label
from neurowhere.text.lookalikes import true_synonyms
from neurowhere.text.places import ADJECTIVE, SIDES, Key, form_of, joined_words, key_of
from neurowhere.text.vocabulary import (
    FORMER_CATEGORIES,
    Vocabulary,
    open_list,
    read_mapping,
    read_rows,
)
from neurowhere.text.words import word_set, words_of

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

# Words that say nothing of where a name is ("generic"), that no place has ("foreign"), that end a
# name, so that a phrase that begins with one runs on ("last"), and that the rules read ("ruled").
WORDS = {row["class"]: word_set(row["words"]) for row in shipped_table(__package__, "words.csv")}
RULED_WORDS, LOBES = WORDS["ruled"], WORDS["lobe"]
# Names of one structure that share no word, its adjectives and its abbreviations.
_FORMS = [
    (row["kind"], row["form"], row["term"]) for row in shipped_table(__package__, "forms.csv")
]
SAME, ADJECTIVES, ABBREVIATIONS = (
    {form: term for kind, form, term in _FORMS if kind == wanted}
    for wanted in ("same", "adjective", "abbreviation")
)
MORE_NAMES = [term for kind, _, term in _FORMS if kind == "more"]  # that no list has

SIDE = re.compile(rf"^(?:{'|'.join(SIDES)}) ")
PARENTHESES = re.compile(r"\([^)]*\)")

DIRECTION = re.compile(
    r"(?:antero|postero|supero|infero|dorso|ventro|rostro|caudo|medio|latero|mid)*"
    r"(?:anterior|posterior|superior|inferior|lateral|medial|dorsal|ventral|rostral|caudal)"
)
NUMBER = re.compile(r"\d+|[ivx]+")

LONGEST_NAME = 6  # words
SHORTEST_WORD = 4  # letters of a word that tells something, in a name of several words
SHORTEST_SINGLE_WORD = 5  # the same for a name of one word

BRODMANN_FORMS = ("brodmann area {}", "ba {}", "ba{}", "area {}")
BRODMANN_AREAS = [*range(1, 14), *range(16, 48), 52]  # those that atlases of humans show


def _is_generic(word: str) -> bool:
    return bool(word in WORDS["generic"] or DIRECTION.fullmatch(word) or NUMBER.fullmatch(word))


def is_telling(name: str) -> bool:
    """Return whether a name is made of more than generic words and short codes."""
    words = form_of(name)
    is_single = len(words) == 1
    if len(words) > LONGEST_NAME or not WORDS["foreign"].isdisjoint(words):
        return False
    if is_single and ADJECTIVE.fullmatch(words[0]):
        return False
    shortest = SHORTEST_SINGLE_WORD if is_single else SHORTEST_WORD
    telling = filterfalse(_is_generic, words)
    return any(len(word) >= shortest or word in WORDS["short"] for word in telling)


def ends_in_noun(name: str) -> bool:
    """Return whether a name ends in a noun such as "gyrus"; "cortex auditory" does not."""
    return form_of(name)[-1] in WORDS["generic"]


def is_run_on(phrase: str) -> bool:
    """Return whether a phrase joins one name to the next: "insula and inferior", less its "and".

    >>> is_run_on("insula inferior"), is_run_on("cortex amygdala"), is_run_on("inferior insula")
    (True, True, False)
    """
    words = words_of(phrase)
    first, last = words[0], words[-1]
    ends_in_direction = last == "middle" or DIRECTION.fullmatch(last)
    return len(words) > 1 and bool(first in WORDS["last"] or ends_in_direction)


# ---- vocabularies


def build_anatomy(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build the vocabulary of the brain's parts from a folder of lists (see the module)."""
    folder = Path(folder)
    check_sources(folder)
    nif = nif_rows(folder)
    sources = {
        "atlas": atlas_names(folder),
        "wikipedia": wikipedia_names(folder),
        "nif": [label for label, *_ in nif],
        "categories": category_names(folder, "anatomy"),
    }
    return _gather(sources, nif)


@cache
def builtin_anatomy() -> Vocabulary:
    """Vocabulary of the brain's parts from the package's own tables: no file is needed.

    >>> vocabulary = builtin_anatomy()
    >>> vocabulary.terms[vocabulary.index("ACC")]
    'anterior cingulate cortex'
    """
    names = [*known_names(), *SAME.values(), *ADJECTIVES.values(), *ABBREVIATIONS.values()]
    return _gather({"atlas": unique(names)}, [])


def _gather(sources: Mapping[str, list[str]], synonym_rows: list[list[str]]) -> Vocabulary:
    """Choose names from lists, the best list first; rows of synonyms join those they belong to."""
    candidates: dict[Key, _Name] = {}
    for source, forms in sources.items():
        for form in forms:
            candidates.setdefault(key_of(form), _Name()).add(source, form)
    return _with_synonyms(candidates, synonym_rows)


def _with_synonyms(candidates: Mapping[Key, "_Name"], synonym_rows: list[list[str]]) -> Vocabulary:
    """Make a vocabulary of the candidates that are places, and add the synonyms of all lists."""
    chosen = {key: name.best for key, name in candidates.items() if name.is_place}
    brodmann = map(BRODMANN_FORMS[0].format, BRODMANN_AREAS)
    chosen |= {key_of(name): name for name in (*LOBES, *MORE_NAMES, *brodmann)}
    for key in map(key_of, SAME):
        chosen.pop(key, None)
    synonyms = _Synonyms(chosen)
    listed = filter(chosen.__contains__, candidates)
    synonyms.add_all([chosen[key], *candidates[key].forms] for key in listed)
    synonyms.add_all([form.format(n) for form in BRODMANN_FORMS] for n in BRODMANN_AREAS)
    synonyms.add_all(pair[::-1] for pair in (SAME | ADJECTIVES | ABBREVIATIONS).items())
    synonyms.add_all([row[0], *filter(is_telling, row[1:])] for row in synonym_rows)
    terms = sorted(chosen.values())
    return Vocabulary(terms, dict(sorted(synonyms.items())), dict.fromkeys(terms, "anatomy"))


def build_full(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build NeuroQuery's vocabulary with its synonyms, each term with its category.

    The package's own names of the brain's parts ("ACC", "Heschl's gyrus") lead to its terms too.
    Phrases that run on from one name to the next are left out, and so are the words that the rules
    for sides and negation read: "insula and left inferior frontal gyrus" has two terms and a side.
    """
    folder = Path(folder)
    anatomy = build_anatomy(folder)
    vocabulary = neuroquery_terms(folder)
    categories: dict[str, str] = {}
    for listed, category in FORMER_CATEGORIES.items():
        keys = {key_of(name) for name in category_names(folder, listed)}
        categories |= {term: category for term in vocabulary if key_of(term) in keys}
    categories |= {term: "anatomy" for term in vocabulary if term in anatomy}
    names = builtin_anatomy().synonyms
    more = {
        form: term for form, term in names.items() if term in vocabulary and form not in vocabulary
    }
    return Vocabulary(vocabulary.terms, {**vocabulary.synonyms, **more}, categories)


def neuroquery_terms(folder: Path) -> Vocabulary:
    """Read NeuroQuery's terms that are names, with the synonyms that do not only look alike."""
    synonyms = true_synonyms(read_mapping(folder / TERM_SYNONYMS))
    terms = [row[0] for row in read_rows(folder / TERMS) if row[0] not in synonyms]
    kept = set(filter(_is_term, terms))
    return Vocabulary(
        [term for term in terms if term in kept],
        {name: term for name, term in synonyms.items() if term in kept},
    )


def _is_term(phrase: str) -> bool:
    words = phrase.split()
    are_places = len(words) > 1 and _single_places().issuperset(words)
    return not (are_places or is_run_on(phrase) or RULED_WORDS.intersection(words))


@cache
def _single_places() -> frozenset[str]:
    """Names of one word that stand for themselves, unlike "frontal" in "frontal cortex"."""
    return frozenset(name for name in builtin_anatomy() if " " not in name) - LOBES


class _Name:
    """The forms in which the lists give one name, the best list first."""

    def __init__(self) -> None:
        self.sources: set[str] = set()
        self.forms: list[str] = []

    def add(self, source: str, form: str) -> None:
        self.sources.add(source)
        self.forms.append(form)

    @property
    def best(self) -> str:
        """First form that ends in a noun such as "gyrus"; "cortex auditory" does not."""
        return next((form for form in self.forms if ends_in_noun(form)), self.forms[0])

    @property
    def is_place(self) -> bool:
        """Return whether the name is a place that more than NIF alone vouches for."""
        if self.sources == {"nif"} or not is_telling(self.forms[0]):
            return False
        return len(key_of(self.forms[0])) > 1 or self.sources != {"categories"}


class _Synonyms(dict[str, str]):
    """Synonyms of chosen names; what is a name itself never becomes a synonym."""

    def __init__(self, chosen: dict[Key, str]) -> None:
        super().__init__()
        self._chosen = chosen
        self._known = {form_of(name) for name in chosen.values()}

    def add_all(self, rows: Iterable[Sequence[str]]) -> None:
        """Add the forms of many names."""
        for forms in rows:
            self.add(forms)

    def add(self, forms: Sequence[str]) -> None:
        """Make the forms synonyms of the first of them that is a chosen name."""
        keys = map(key_of, forms)
        name = next((self._chosen[key] for key in keys if key in self._chosen), None)
        for form in forms:
            is_other = self._chosen.get(key_of(form), name) != name
            if name is not None and not is_other and form_of(form) not in self._known:
                self._known.add(form_of(form))
                self[form] = name


# ---- public lists: names in lower case, without sides


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


def read_table(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a CSV file that has at least these columns and one row."""
    with open_list(path) as stream:
        rows = list(csv.DictReader(stream))
    if not rows or not set(columns) <= set(rows[0]):
        raise VocabularyError(f"{path} should have the columns {', '.join(columns)}")
    return rows
