"""Gathering: names of many lists become the terms and synonyms of one vocabulary."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from neurowhere.text.anatomy.names import (
    RULED_WORDS,
    Key,
    form_of,
    is_telling,
    key_of,
)
from neurowhere.text.building.sources import Entry
from neurowhere.text.building.usage import Usage
from neurowhere.text.lists import shipped_lines
from neurowhere.text.senses import ambiguous
from neurowhere.text.vocabulary import Vocabulary
from neurowhere.text.words import is_abbreviation, word_set, words_of

BRODMANN = "brodmann area"
LONGEST_NAME = 7  # words
TASK_WORDS = word_set("game paradigm task test")  # last words of what is done to people
# Names with one of these are of instruments, and say nothing of the brain.
INSTRUMENTS = word_set(
    """
    assessment battery checklist examination inventory interview questionnaire quotient registry
    scale schedule screening
    """
)


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
        if term is None and entry.category == "task" and form[-1] in TASK_WORDS:
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
            known = [self._terms[form] for form in map(_form, row) if form in self._terms]
            if known and known[0].startswith(BRODMANN):
                continue  # NeuroNames adds the areas of other authors and of monkeys to these
            if known and self._categories[known[0]] == "anatomy":
                self.add_synonyms({name: known[0] for name in row if is_telling(name)})
            elif not known and is_telling(row[0]):
                self.add(Entry(row[0], "anatomy", tuple(filter(is_telling, row[1:]))))

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
        and (len(words) == 1 or INSTRUMENTS.isdisjoint(words))
        and form_of(name) not in _excluded()
        and not all(word.isdigit() for word in words)
    )
