"""Build vocabularies from public lists: names of the brain's parts, and NeuroQuery's terms.

The anatomical vocabulary gathers the labels of atlases, Wikipedia's list of brain regions, NIF's
gross anatomy and the anatomical terms of NeuroQuery's categories. A name enters it when an atlas,
Wikipedia or the categories have it and it says where in the brain: names made of generic words
only ("brain", "group", "anterior part"), of parts outside the brain or below the scale of a map
("spinal cord", "layer V") stay out, and so do bare abbreviations. Names with the same words in
another order, number or spelling are one; NIF's synonyms join the names that they belong to.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from neurowhere.exceptions import VocabularyError
from neurowhere.text.anatomy.labels import known_names, words_of_label
from neurowhere.text.anatomy.names import (
    ABBREVIATIONS,
    ADJECTIVES,
    BRODMANN_AREAS,
    LOBES,
    MORE_NAMES,
    RULED_WORDS,
    SAME,
    Key,
    ends_in_noun,
    form_of,
    is_run_on,
    is_telling,
    joined_words,
    key_of,
)
from neurowhere.text.clinical.places import SIDES
from neurowhere.text.lists import open_list, read_mapping, read_rows, read_table
from neurowhere.text.lookalikes import true_synonyms
from neurowhere.text.vocabulary import FORMER_CATEGORIES, Vocabulary

ATLAS_LABELS = "all_atlas_labels.csv"
WIKIPEDIA = "wikipedia_human_brain_tree_2023-05-19.json"
NIF = "nif_gross_anatomy_labels_synonyms.csv"
TERM_CATEGORIES = "data-neuroquery_version-1_termcategories.csv"
TERMS = "data-neuroquery_version-1_vocab-neuroquery7547_vocabulary.txt"
TERM_SYNONYMS = "neuroquery_voc_mapping_identity.json"
SOURCES = (ATLAS_LABELS, WIKIPEDIA, NIF, TERM_CATEGORIES, TERMS, TERM_SYNONYMS)

# Atlases of networks: their labels name no part of the brain.
NETWORK_ATLASES = ("gordon", "schaefer", "yeo")

SIDE = re.compile(rf"^(?:{'|'.join(SIDES)}) ")


def build_anatomy(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build the vocabulary of the brain's parts from a folder of lists (see the module)."""
    folder = _checked(folder)
    nif = _nif_rows(folder / NIF)
    sources = {
        "atlas": _atlas_names(folder / ATLAS_LABELS),
        "wikipedia": _wikipedia_names(folder / WIKIPEDIA),
        "nif": [label for label, *_ in nif],
        "categories": _category_names(folder, "anatomy"),
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
    return _gather({"atlas": _unique(names)}, [])


def _gather(sources: Mapping[str, list[str]], synonym_rows: list[list[str]]) -> Vocabulary:
    """Choose names from lists, the best list first; rows of synonyms join those they belong to."""
    candidates: dict[Key, _Name] = {}
    for source, forms in sources.items():
        for form in forms:
            candidates.setdefault(key_of(form), _Name()).add(source, form)
    chosen = {key: name.best for key, name in candidates.items() if name.is_place}
    brodmann = [f"brodmann area {number}" for number in BRODMANN_AREAS]
    chosen |= {key_of(name): name for name in (*LOBES, *MORE_NAMES, *brodmann)}
    for other in SAME:
        chosen.pop(key_of(other), None)
    synonyms = _Synonyms(chosen)
    for key, name in candidates.items():
        if key in chosen:
            synonyms.add([chosen[key], *name.forms])
    for term, number in zip(brodmann, BRODMANN_AREAS, strict=True):
        synonyms.add([term, f"ba {number}", f"ba{number}", f"area {number}"])
    for other, term in (SAME | ADJECTIVES | ABBREVIATIONS).items():
        synonyms.add([term, other])
    for row in synonym_rows:
        synonyms.add([row[0], *filter(is_telling, row[1:])])
    terms = sorted(chosen.values())
    return Vocabulary(terms, dict(sorted(synonyms.items())), dict.fromkeys(terms, "anatomy"))


def build_full(folder: str | os.PathLike[str]) -> Vocabulary:
    """Build NeuroQuery's vocabulary with its synonyms, each term with its category.

    The package's own names of the brain's parts ("ACC", "Heschl's gyrus") lead to its terms too.
    Phrases that run on from one name to the next are left out, and so are the words that the rules
    for sides and negation read: "insula and left inferior frontal gyrus" has two terms and a side.
    """
    folder = _checked(folder)
    vocabulary = _neuroquery_terms(folder)
    categories: dict[str, str] = {}
    for listed, category in FORMER_CATEGORIES.items():
        keys = {key_of(name) for name in _category_names(folder, listed)}
        categories |= {term: category for term in vocabulary if key_of(term) in keys}
    anatomy = build_anatomy(folder)
    categories |= {term: "anatomy" for term in vocabulary if term in anatomy}
    names = builtin_anatomy().synonyms
    more = {
        form: term for form, term in names.items() if term in vocabulary and form not in vocabulary
    }
    return Vocabulary(vocabulary.terms, {**vocabulary.synonyms, **more}, categories)


def _neuroquery_terms(folder: Path) -> Vocabulary:
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
        """Whether the name says where in the brain, and more than NIF alone vouches for it."""
        if self.sources == {"nif"} or not is_telling(self.forms[0]):
            return False
        return len(key_of(self.forms[0])) > 1 or self.sources != {"categories"}


class _Synonyms(dict[str, str]):
    """Synonyms of chosen names; what is a name itself never becomes a synonym."""

    def __init__(self, chosen: dict[Key, str]) -> None:
        super().__init__()
        self._chosen = chosen
        self._known = {form_of(name) for name in chosen.values()}

    def add(self, forms: list[str]) -> None:
        """Make the forms synonyms of the first of them that is a chosen name."""
        keys = map(key_of, forms)
        name = next((self._chosen[key] for key in keys if key in self._chosen), None)
        for form in forms:
            is_other = self._chosen.get(key_of(form), name) != name
            if name is not None and not is_other and form_of(form) not in self._known:
                self._known.add(form_of(form))
                self[form] = name


def _checked(folder: str | os.PathLike[str]) -> Path:
    folder = Path(folder)
    missing = [name for name in SOURCES if not (folder / name).is_file()]
    if missing:
        raise VocabularyError(f"{folder} lacks {', '.join(missing)}; give the folder that has them")
    return folder


def _atlas_names(path: Path) -> list[str]:
    """Names of the regions of atlases, from a table of atlas, index and label."""
    labels = [
        row["label"]
        for row in read_table(path, ("atlas", "label"))
        if not row["atlas"].startswith(NETWORK_ATLASES)
    ]
    return _unique(words_of_label(label)[0] for label in labels)


def _wikipedia_names(path: Path) -> list[str]:
    """Names in a nested list of regions; what is in parentheses explains, and is left out."""
    with open_list(path) as stream:
        tree = json.load(stream)
    names = (re.sub(r"\([^)]*\)", "", name) for name in _leaves(tree))
    parts = (part for name in names for part in re.split(r" or | / ", name))
    return _unique(" ".join(part.lower().split()) for part in parts)


def _leaves(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        yield from (key for key in tree if "_" not in key)  # those with one are the file's own
        tree = list(tree.values())
    if isinstance(tree, list):
        for branch in tree:
            yield from _leaves(branch)
    else:
        yield str(tree)


def _nif_rows(path: Path) -> list[list[str]]:
    """Label and synonyms of each of NIF's parts of the brain."""
    rows = read_table(path, ("label", "synonyms"))
    names = ([row["label"], *row["synonyms"].split("|")] for row in rows)
    return [
        _unique(re.sub(r"\([^)]*\)", "", name).strip().lower() for name in row) for row in names
    ]


def _category_names(folder: Path, category: str) -> list[str]:
    """Terms of NeuroQuery's vocabulary that a list of this category has, word for word.

    The table also pairs terms that only resemble each other ("group" and "y-group"): these are
    left out.
    """
    with open_list(folder / TERMS) as stream:
        terms = {line.strip() for line in stream}
    rows = read_table(folder / TERM_CATEGORIES, ("term", "normalized_term", "category"))
    return _unique(
        row["normalized_term"]
        for row in rows
        if row["category"] == category
        and row["normalized_term"] in terms
        and key_of(row["term"]) == key_of(row["normalized_term"])
    )


def _unique(names: Iterable[str]) -> list[str]:
    """Names without a side that they begin with, each once."""
    return list(dict.fromkeys(SIDE.sub("", name) for name in names if joined_words(name)))
