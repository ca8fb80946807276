"""Build the wide vocabulary: the names that people use, each with a category and its other names.

Names come, the first list that has one deciding, from

1. the reviewed table ``names.csv`` beside this module: functional areas, functions, tasks, drugs,
   disorders and signs, with their usual synonyms;
2. the vocabulary of the brain's parts, with the names, English and Latin, of NeuroNames;
3. NeuroQuery's terms, the Cognitive Atlas, and
4. what texts define an abbreviation for and whose last word says what it is ("… network").

A name stays where enough documents mention it: fewer for the brain's parts and for clinical names,
none at all for the regions of atlases. Abbreviations that the documents define, and that nearly
always stand for one of these names, become its synonyms.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_lines, shipped_table
from neurowhere._tools.parallel import track
from neurowhere.corpus import Corpus
from neurowhere.exceptions import VocabularyError
from neurowhere.text.abbreviations import ambiguous, definitions
from neurowhere.text.building.anatomy import (
    ABBREVIATIONS,
    RULED_WORDS,
    WIDE_SOURCES,
    WORDS,
    Entry,
    atlas_names,
    build_anatomy,
    category_names,
    check_sources,
    cognitive_entries,
    is_telling,
    neuronames_rows,
    neuroquery_terms,
)
from neurowhere.text.counter import TermCounter
from neurowhere.text.places import ADJECTIVE, LESION, Key, form_of, is_place, key_of, single_words
from neurowhere.text.vocabulary import FORMER_CATEGORIES, SEPARATOR, Vocabulary, generic_words
from neurowhere.text.words import LONGEST_ABBREVIATION, fold, is_abbreviation, words_of

# ---- texts

FEWEST_DEFINING = 3  # documents that define an abbreviation, for it to be more than one author's
SHORTEST = 3  # letters of an abbreviation: those of two are initials of authors too
DOMINANT = 0.75  # share of the documents defining an abbreviation that mean the same by it
NEARLY = 0.92  # share of letters that a misspelt name has in common with the name
SMALL_LETTERS = 0.1  # share of its documents, at most, that write it without capitals

_TOKEN = re.compile(r"[A-Za-z0-9]+")


@dataclass
class Usage:
    """Numbers of documents that use and define abbreviations.

    `defined` has those that define a short form, as written, by a long form, as folded words;
    `written` those that have a word of a few characters, as written.
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
        """Return whether a word is an abbreviation in texts, and seldom another word."""
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
            if form.total() >= FEWEST_DEFINING
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
        term, near = _meaning(longs, known)
        if term and len(short) >= SHORTEST:
            synonyms[usage.capitals.get(short, short.upper())] = term
            synonyms |= {long: term for long in near if longs[long] >= FEWEST_DEFINING}
    return synonyms


def _meaning(longs: Counter[str], known: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return the term that long forms nearly always mean, "" if none, and those misspelt."""
    terms: Counter[str] = Counter()
    for long, n in longs.items():
        terms[known.get(long, "")] += n
    term = max(terms, key=lambda term: (bool(term), terms[term]))
    near = [long for long in longs if long not in known and _is_nearly(long, term)]
    total = terms[term] + sum(map(longs.__getitem__, near))
    return term if total >= max(FEWEST_DEFINING, DOMINANT * longs.total()) else "", near


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
    """Return whether a phrase is a name misspelt or cut: "dorsal lateral", "cingulated"."""
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


# ---- names

BRODMANN = "brodmann area"
LONGEST_NAME = 7  # words


class Names:
    """Names that were gathered; the first list to have one decides on its term and category."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._categories: dict[str, str] = {}
        self._synonyms: dict[str, str] = {}
        self._terms: dict[Key, str] = {}  # term of each name, by its words in their order
        self._terms_in_any_order: dict[Key, str] = {}

    def add_all(self, entries: Iterable[Entry]) -> None:
        """Add names of one list after the other."""
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Add a name, or its synonyms to the term that it belongs to."""
        name = entry.name.lower()
        if not _is_name(name):
            return
        form, key = _form(name), key_of(name)
        term = self._terms.get(form) or self._terms_in_any_order.get(key)
        if term is None and entry.category == "task" and form[-1] in WORDS["task"]:
            term = self._task(form[:-1])
        if term is None:
            self._categories[name] = entry.category
            self._terms[form] = self._terms_in_any_order[key] = term = name
        self.add_synonyms(dict.fromkeys((name, *entry.synonyms), term))

    def _task(self, form: Key) -> str | None:
        """Term that a task is: a "verb generation task" is verb generation, a "Stroop test" Stroop.

        One word says too little: a "memory task" is not memory.
        """
        term = self._terms.get(form)
        category = "" if term is None else self._categories[term]
        is_same = category == "task" or (category == "function" and len(form) > 1)
        return term if is_same else None

    def add_rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Add rows of names of one structure to the first of them that is known."""
        for row in rows:
            known = next(filter(None, map(self._terms.get, map(_form, row))), "")
            telling = tuple(filter(is_telling, row))
            if known.startswith(BRODMANN):
                continue  # NeuroNames adds the areas of other authors and of monkeys to these
            if known and self._categories[known] == "anatomy":
                self.add_synonyms(dict.fromkeys(telling, known))
            elif not known and telling[:1] == tuple(row[:1]):
                self.add(Entry(row[0], "anatomy", telling[1:]))

    def add_synonyms(self, synonyms: Mapping[str, str]) -> None:
        """Add other names of terms; what is known or ambiguous stays as it is."""
        for other, term in synonyms.items():
            is_short = is_abbreviation(other) and other.isalnum()
            if is_short and other in ambiguous() and not _has_default(other):
                continue
            name = self._usage.spelling(other) if is_short else other.lower()
            if _is_name(name) and (form := _form(name)) not in self._terms:
                self._terms[form] = term
                self._synonyms[name] = term

    def vocabulary(self) -> Vocabulary:
        """Vocabulary of all names, in alphabetical order."""
        return Vocabulary(sorted(self._categories), self._synonyms, self._categories)


@cache
def _excluded() -> frozenset[Key]:
    """Phrases that were reviewed and are no names."""
    return frozenset(form_of(line) for line in shipped_lines(__package__, "excluded.txt"))


def _has_default(short: str) -> bool:
    return any(sense.default == "yes" for sense in ambiguous()[short])


def _form(name: str) -> Key:
    """Folded words of a name in their order; of an abbreviation, with its capitals."""
    return (name,) if is_abbreviation(name) else form_of(name)


def _is_name(name: str) -> bool:
    words = words_of(name)
    return (
        0 < len(words) <= LONGEST_NAME
        and RULED_WORDS.isdisjoint(words)
        and (len(words) == 1 or WORDS["instrument"].isdisjoint(words))
        and form_of(name) not in _excluded()
        and not all(word.isdigit() for word in words)
    )


# ---- lists and texts

FEWEST_DOCUMENTS = 10  # documents with a function, a task, a drug or a thing
RARE = 3  # documents with a part of the brain, a disorder or a sign
RARE_CATEGORIES = ("anatomy", "disorder", "symptom")
NO_NAMES = ("other", "generic")  # categories of words
LAST_OF = (
    "anatomy",
    "disorder",
    "task",
    "function",
)  # what the last word of a long form makes of it
LONGEST_LONG_FORM = 5  # words of a phrase that only its last word explains


def build_wide(
    folder: str | os.PathLike[str], corpora: Sequence[Corpus], *, minimum: int | None = None
) -> Vocabulary:
    """Build the vocabulary of the names that people use.

    Parameters
    ----------
    folder : path
        Folder with the public lists.
    corpora : sequence of Corpus
        Documents that tell which names are used, and what abbreviations stand for. The first are
        the studies that a model is to learn from: other and generic words are counted in these
        alone.
    minimum : int, optional
        Number of documents that have to mention a name, 10 by default. Parts of the brain,
        disorders and signs need 3 at most. Regions of atlases, and the places of ``kept.txt``, need
        none: where they are is known.
    """
    folder = Path(folder)
    check_sources(folder, WIDE_SOURCES)
    vocabulary = _all_names(folder, corpora)
    found = np.array([_frequencies(vocabulary, corpus) for corpus in corpora])
    kept = (*atlas_names(folder), *shipped_lines(__package__, "kept.txt"))
    regions = {form_of(name) for name in kept}
    return vocabulary.subset(
        term
        for term, documents in zip(vocabulary, found.T.tolist(), strict=True)
        if form_of(term) in regions
        or _is_used(vocabulary.category(term), documents, minimum or FEWEST_DOCUMENTS)
    )


def _all_names(folder: Path, corpora: Sequence[Corpus]) -> Vocabulary:
    """Gather the names of all lists, and the abbreviations that texts define for them."""
    texts = list(texts_of(corpora))
    usage = Usage().add(track(texts, "abbreviations in texts"))
    names = Names(usage)
    names.add_all(_entries(folder, corpora, usage))
    names.add_rows(neuronames_rows(folder))
    names.add_synonyms(abbreviations(usage, names.vocabulary()))
    names.add_all(_long_forms(usage))
    names.add_synonyms(abbreviations(usage, names.vocabulary()))
    return names.vocabulary()


def _is_used(category: str, documents: Sequence[int], minimum: int) -> bool:
    """Return whether enough documents mention a term, by their number in each corpus."""
    if category in NO_NAMES:
        return documents[0] >= minimum
    return sum(documents) >= (min(minimum, RARE) if category in RARE_CATEGORIES else minimum)


def _frequencies(vocabulary: Vocabulary, corpus: Corpus) -> NDArray[np.intp]:
    """Count the documents with each term; counts of another list may lack what titles have."""
    found = document_frequencies(vocabulary, corpus)
    if corpus.texts is None:
        in_titles = np.zeros_like(found)
        for block in TermCounter(vocabulary).iter_count(texts_of([corpus])):
            in_titles += block.getnnz(axis=0)
        found = np.maximum(found, in_titles)
    return found


# ---- names and their categories


def _entries(folder: Path, corpora: Sequence[Corpus], usage: Usage) -> Iterator[Entry]:
    """Yield the names of all lists, the lists that decide first."""
    for row in shipped_table(__package__, "names.csv"):
        synonyms = filter(None, row["synonyms"].split(SEPARATOR))
        yield Entry(row["term"], row["category"], tuple(synonyms))
    yield from (Entry(word, "generic", ()) for word in sorted(generic_words()))
    anatomy = build_anatomy(folder)
    for entry in _of_vocabulary(anatomy, dict.fromkeys(anatomy, "anatomy")):
        others = (name.upper() if name in ABBREVIATIONS else name for name in entry.synonyms)
        yield entry._replace(synonyms=tuple(others))
    terms = neuroquery_terms(folder)
    entries = list(_of_vocabulary(terms, _categories(terms, folder, anatomy)))
    often = dict(zip(terms, _frequencies(terms, corpora[0]).tolist(), strict=True))
    # Of two orders of the same words, first comes what ends in a noun, and what is more frequent.
    for entry in sorted(entries, key=lambda entry: (_ends_oddly(entry.name), -often[entry.name])):
        if not usage.is_short_form(entry.name) and entry.name.upper() not in ambiguous():
            yield entry
    yield from cognitive_entries(folder)


def _long_forms(usage: Usage) -> Iterator[Entry]:
    """Yield what enough documents define an abbreviation for and the last word explains."""
    for long, n in usage.long_forms().items():
        if n >= RARE and (category := _category_by_last_word(long)):
            yield Entry(long, category, ())


def _ends_oddly(name: str) -> bool:
    """Return whether a phrase ends in an adjective: "impairment visual"."""
    words = words_of(name)
    return len(words) > 1 and bool(ADJECTIVE.fullmatch(words[-1]) or words[-1] in WORDS["odd-last"])


def _of_vocabulary(vocabulary: Vocabulary, categories: Mapping[str, str]) -> Iterator[Entry]:
    others: dict[str, list[str]] = {}
    for name, term in vocabulary.synonyms.items():
        others.setdefault(term, []).append(name)
    for term in vocabulary:
        yield Entry(term, categories[term], tuple(others.get(term, ())))


def _categories(terms: Vocabulary, folder: Path, anatomy: Vocabulary) -> dict[str, str]:
    """Categories of NeuroQuery's terms: those of its lists, of places, of tasks, else other."""
    listed = {
        key_of(name): category
        for name_of_list, category in FORMER_CATEGORIES.items()
        for name in category_names(folder, name_of_list)
    }
    single = single_words(anatomy)
    return {
        term: _category_by_words(term, single) or listed.get(key_of(term), "other")
        for term in terms
    }


def _category_by_words(term: str, places: Collection[str]) -> str:
    """Return the category that the words of a term give it, "" where they tell of none."""
    words = [*map(fold, words_of(term))]
    if not LESION.isdisjoint(words) or words[-1] in WORDS["last-of-disorder"]:
        return "disorder"
    if is_place(term, places):
        return "anatomy"
    return "task" if words[-1] in WORDS["task"] and len(words) > 1 else ""


def _category_by_last_word(phrase: str) -> str:
    """Category that the last word of a phrase gives it, "" where it says nothing."""
    words = words_of(phrase)
    if not 2 <= len(words) <= LONGEST_LONG_FORM or not WORDS["foreign-long-form"].isdisjoint(words):
        return ""
    *before, last = map(fold, words)
    if last != "network" and not WORDS["last-of-anatomy"].isdisjoint(before):
        return ""  # two names: "posterior cingulate cortex precuneus"
    return next((name for name in LAST_OF if last in WORDS[f"last-of-{name}"]), "")
