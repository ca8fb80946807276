"""Sources: the public lists of names that vocabularies are built from, read as names.

Each reader takes the file of one list and gives names in lower case, without sides.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from neurowhere.exceptions import VocabularyError
from neurowhere.text.anatomy.labels import words_of_label
from neurowhere.text.anatomy.names import joined_words, key_of
from neurowhere.text.clinical.places import SIDES
from neurowhere.text.lists import open_list, read_table

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
