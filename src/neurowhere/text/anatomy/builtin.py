"""Build vocabularies from public lists: names of the brain's parts, and NeuroQuery's terms.

The anatomical vocabulary gathers the labels of atlases, Wikipedia's list of brain regions, NIF's
gross anatomy and the anatomical terms of NeuroQuery's categories. A name enters it when an atlas,
Wikipedia or the categories have it and it says where in the brain: names made of generic words
only ("brain", "group", "anterior part"), of parts outside the brain or below the scale of a map
("spinal cord", "layer V") stay out, and so do bare abbreviations. Names with the same words in
another order, number or spelling are one; NIF's synonyms join the names that they belong to.
"""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from neurowhere.text.anatomy.labels import known_names
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
    key_of,
)
from neurowhere.text.building.sources import (
    TERM_SYNONYMS,
    TERMS,
    atlas_names,
    category_names,
    check_sources,
    nif_rows,
    unique,
    wikipedia_names,
)
from neurowhere.text.lists import read_mapping, read_rows
from neurowhere.text.lookalikes import true_synonyms
from neurowhere.text.vocabulary import FORMER_CATEGORIES, Vocabulary


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
