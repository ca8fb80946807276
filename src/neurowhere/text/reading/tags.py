"""Tags: the phrases of all tables in a text, each with the row that it comes from.

The longest phrase of a table at each place counts, and none goes across sentences. Words have
classes by the table of words (`lexicon`). No level after this one compares words.

The rows of ``implied.csv`` are one for each name and structure, with a weight from 0 to 1 and a
reference. ``side`` is where the structure is: the "same" side as the text gives to the name,
"opposite" to it ("opposite else right" if that is usual where the text gives none), a side, or
"none" in the middle. ``structure`` may have alternatives, "red nucleus|midbrain", and is empty for
what has no map; a "cause" explains signs of the body that then point nowhere. Two structures make
an adjective, "striatocapsular" (``compounds.csv``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, product
from typing import Any, NamedTuple

from neurowhere.text.language import is_foreign
from neurowhere.text.places import PLACES
from neurowhere.text.reading import lexicon
from neurowhere.text.reading.document import BOX, Document
from neurowhere.text.reading.tables import (
    OPTIONAL,
    TEXT,
    Column,
    Phrases,
    Row,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)
from neurowhere.text.relatives import is_research
from neurowhere.text.words import plain

DIRECTIONS = one_of("ahead back beside object both not except clause earlier idle")
# What a cue speaks of: anything, places alone, or what is wrong alone.
TARGETS = one_of("any places findings", is_required=False)
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "direction": DIRECTIONS,
    "target": TARGETS,
    "only": one_of("foreign start small sign note ratio", is_required=False),
}
ELSEWHERE: dict[str, Column] = {
    "words": TEXT,
    "before": OPTIONAL,
    "after": OPTIONAL,
    "sentence": OPTIONAL,
}
KINDS = """
artery tract place part network fixed site surgery syndrome sign drug disorder function cause
"""
# What must be with a name for it to be meant: a side, a vessel or a lesion near it, no structure
# named elsewhere ("alone"), and no nerve either ("central"), a word that is read as something else
# than a structure ("sense"), a side and no cause outside of the brain ("unexplained").
NEEDS = "side vessel lesion alone central sense unexplained"
IMPLIED: dict[str, Column] = {
    "kind": one_of(KINDS),
    "name": TEXT,
    "other_names": OPTIONAL,
    "abbreviations": OPTIONAL,
    "needs": one_of(NEEDS, is_required=False),
    "structure": OPTIONAL,
    "side": OPTIONAL,
    "weight": OPTIONAL,
    "reference": OPTIONAL,
}
COMPOUNDS: dict[str, Column] = {"position": one_of("first last"), "part": TEXT, "structure": TEXT}
SYNDROME = " syndrome"
TERMS = ("disorder", "network", "part")  # kinds of names that may be terms of a vocabulary
TABLES = ("cues", "hedges")
LOBES = {"frontal": "gyrus", "temporal": "gyrus", "occipital": "gyrus", "parietal": "lobule"}
AHEAD = re.compile(r"(?:^|[\s(\[,;:/-])(?:\?+|\+/-|±)\s?$")  # before a word
SIDE, HALF, LIMB = 64, 128, 256  # signs of words, beside those of classes and of phrases
SIGNED = re.compile(r"[?±☐□]|\[ ?\]")
LANGUAGE = 10_000  # characters that tell the language of a text
Found = tuple[int, int, Any]  # first token of a phrase, the one after its last, and its value
At = dict[str, list[Found]]


class Tag(NamedTuple):
    """Some tokens of a text and the row of a table that they are."""

    first: int
    end: int
    row: Row

    @property
    def direction(self) -> str:
        """Where what it speaks of stands."""
        return self.row["direction"]

    @property
    def is_open(self) -> bool:
        """Whether it leaves open rather than denies."""
        return self.row.table == "hedges"


def signs_of(word: str) -> int:
    """Return the signs of a word: of its classes, and of the phrases that it is in."""
    classes = lexicon.lexicon()[word]
    signs = _words().get(word, 0) | _phrases().signs_of(word)
    return signs | lexicon.signs_of(classes) if classes else signs


def find_phrases(document: Document) -> At:
    """Return the phrases of all tables, by the table."""
    phrases, words, marks = _phrases(), document.words, document.marks
    starts = None if marks is None else phrases.starts(words, marks)
    at: At = phrases.find(words, document.starts_of_sentences, starts)
    return at


def find_cues(document: Document, at: At | None = None) -> list[Tag]:
    """Return the cues and the hedges of a text; with foreign ones if it is in another language."""
    at = find_phrases(document) if at is None else at
    found = [Tag(*each) for each in at["cues"]]
    if at["foreign"] and is_foreign(document.text[:LANGUAGE]):
        found += (Tag(*each) for each in at["foreign"])
    tags = [tag for tag in found if _is_meant(document, tag)]
    if SIGNED.search(document.text):
        tags += _signs(document)
    return sorted(tags, key=lambda tag: tag[:2])


def _is_meant(document: Document, tag: Tag) -> bool:
    """Whether a phrase is a cue where it stands: "may" in small letters, not within a name."""
    only = tag.row["only"]
    if tag.first in document.inner or (
        document.gaps[tag.end] == "-" and tag.row["direction"] == "ahead"
    ):
        return False
    if only == "start":
        return tag.first in document.starts_of_sentences
    if only == "ratio":  # "5/5", not "5-/5"
        return document.gaps[tag.first + 1] == "/"
    if only == "note":
        return not is_research(document.text)
    return only != "small" or document.written(tag.first).islower()


def _signs(document: Document) -> Iterator[Tag]:
    """Yield the question marks of a text: "?glioma" asks of what follows, "Glioma?" of it all."""
    gaps = document.gaps
    boxes = (i for i, gap in enumerate(gaps[:-1]) if BOX.search(gap))
    yield from (Tag(i, i, row_of_sign("☐")) for i in boxes)
    for i, gap in enumerate(gaps[:-1]):
        is_first = i == 0 and gap.strip() == "?"
        if is_first or (not gap.isspace() and AHEAD.search(gap)):
            yield Tag(i, i, row_of_sign("?"))
    for first, end in document.sentences:
        if gaps[end].startswith(("?", " ?", ")?")):
            yield Tag(first, first, row_of_sign("…?"))


# ---- tables


@cache
def _cues() -> tuple[Row, ...]:
    return tuple(row for table in TABLES for row in read_table(__package__, table, CUES))


@cache
def row_of_sign(sign: str) -> Row:
    """Return the row of a sign that is no word: "?" or "−"."""
    return next(row for row in _cues() if row["only"] == "sign" and row["words"] == sign)


def _phrases_of(*only: str) -> Iterator[tuple[str, Row]]:
    return _spelt(row for row in _cues() if row["only"] in only)


def _spelt(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the phrases of some rows."""
    for row in rows:
        for item in split(row["words"]):
            yield from ((phrase, row) for phrase in alternatives(item))


@cache
def words_of_cues() -> frozenset[str]:
    """Return all words of the cues and hedges."""
    phrases = _phrases_of("", "start", "small", "note", "ratio")
    return frozenset(word for phrase, _ in phrases for word in phrase.split())


@cache
def elsewhere_beside() -> dict[str, frozenset[str]]:
    """Return the words of the brain that are of another organ beside others, with those others."""
    beside: dict[str, frozenset[str]] = {}
    for row in read_table(__package__, "elsewhere", ELSEWHERE):
        others = frozenset(split(row["sentence"]))
        for word in split(row["words"]) if others else ():
            beside[word] = beside.get(word, frozenset()) | others
    return beside


def _elsewhere() -> Iterator[tuple[str, str]]:
    """Yield the phrases in which a word of the brain means something else: "parietal pleura"."""
    for row in read_table(__package__, "elsewhere", ELSEWHERE):
        before, after = split(row["before"]), split(row["after"])
        for word in split(row["words"]):
            yield from ((f"{words} {word}", row.name) for words in before)
            for words in after:
                yield from ((f"{word} {words}{ending}", row.name) for ending in ("", "s"))


def _items(table: str, schema: dict[str, Column]) -> Iterator[tuple[str, str]]:
    rows = read_table(__package__, table, schema)
    return ((item, row.name) for row in rows for item in split(row["words"]))


@cache
def _words() -> dict[str, int]:
    """Return the signs of the words at which levels have something to do."""
    sides = ("left", "right", "bilateral", "related", "same-side", "respectively")
    signs = dict.fromkeys(lexicon.words_of(*sides), SIDE)
    return signs | dict.fromkeys(("and", "or", "nor", *LOBES), HALF) | {"limb": LIMB}


@cache
def _phrases() -> Phrases[Any]:
    """Return the phrases of all tables."""
    table = rules()
    return Phrases(
        {
            "cues": _phrases_of("", "start", "small", "note", "ratio"),
            "foreign": _phrases_of("foreign"),
            "pressed": _spelt(read_table(__package__, "pressed", CUES)),
            "elsewhere": _elsewhere(),
            "beside": elsewhere_beside().items(),
            "places": _items("places", PLACES),
            "implied": table.phrases.items(),
            "fixed": table.fixed.items(),
            "sites": table.sites.items(),
        }
    )


# ---- names that point to structures


class Rule(NamedTuple):
    """Where a structure of an entry is, and how much it counts."""

    structures: tuple[str, ...]
    side: str
    weight: float


class Entry(NamedTuple):
    """What the table has on one name, and what it needs to be meant."""

    name: str
    kind: str
    needs: str
    rules: tuple[Rule, ...]

    @property
    def row(self) -> str:
        """Name of its rows in answers."""
        return f"implied:{plain(self.name).replace(' ', '-')}"

    @property
    def is_fixed(self) -> bool:
        """Whether the words of the name say nothing else."""
        return self.kind == "fixed"

    @property
    def is_crossed(self) -> bool:
        """Whether all structures are opposite to the side that the text gives to the name."""
        return bool(self.rules) and all(rule.side.startswith("opposite") for rule in self.rules)

    def weighed(self, share: float) -> "Entry":
        """Return the entry whose rules count a share of what they do."""
        if share == 1:
            return self
        weighed = (rule._replace(weight=share * rule.weight) for rule in self.rules)
        return self._replace(rules=tuple(weighed))


class Table(NamedTuple):
    """The entries by their names, and the phrases that stand for them."""

    entries: dict[str, Entry]
    phrases: dict[str, str]
    shortened: frozenset[str]  # phrases in which "syndrome" is left out
    abbreviations: frozenset[str]
    fixed: dict[str, str]  # those whose words say nothing else
    causes: Trie[str]
    sites: dict[str, str]  # name of the entry of each site of an electrode
    terms: dict[str, Entry]  # entries that may be terms of a vocabulary


@cache
def rules() -> Table:
    """Read the table of the package."""
    groups: dict[str, list[Row]] = {}
    for row in read_table(__package__, "implied", IMPLIED):
        groups.setdefault(row["name"], []).append(row)
    entries = {name: _entry(name, rows) for name, rows in groups.items()}
    spellings = {name: [*_spellings(rows[0])] for name, rows in groups.items()}
    for entry in _compounds():
        if entries.setdefault(entry.name, entry) is entry:
            spellings[entry.name] = [entry.name.replace("-", joint) for joint in (" ", "")]
    return _table(entries, spellings, [rows[0] for rows in groups.values()])


def _table(
    entries: dict[str, Entry], spellings: dict[str, list[str]], rows: Iterable[Row]
) -> Table:
    """Return the entries by the phrases that stand for them."""
    of_kind: dict[str, dict[str, list[str]]] = {kind: {} for kind in KINDS.split()}
    for name, each in spellings.items():
        of_kind[entries[name].kind][name] = each
    spellings = {name: each for name, each in spellings.items() if entries[name].kind != "site"}
    shortened = _shortened(spellings)
    return Table(
        entries=entries,
        phrases=_names({name: [*each, *shortened[name]] for name, each in spellings.items()}),
        shortened=frozenset(chain.from_iterable(shortened.values())),
        abbreviations=frozenset(chain.from_iterable(map(_abbreviations, rows))),
        fixed=_names(of_kind["fixed"]),
        causes=Trie(_names(of_kind["cause"]).items()),
        sites=_names(of_kind["site"]),
        terms=_forms(entry for entry in entries.values() if entry.kind in TERMS),
    )


def _forms(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Return entries by the forms in which a vocabulary may have them."""
    return {form: each for each in entries for form in (each.name.lower(), plain(each.name))}


def _names(names: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the name that each spelling is of."""
    known: dict[str, str] = {}
    for name, spellings in names.items():
        for spelling in spellings:
            known.setdefault(spelling, name)
    return known


def _entry(name: str, rows: list[Row]) -> Entry:
    found = (
        Rule(tuple(row["structure"].split("|")), row["side"], float(row["weight"]))
        for row in rows
        if row["structure"]
    )
    return Entry(name, rows[0]["kind"], rows[0]["needs"], tuple(found))


def _compounds() -> Iterator[Entry]:
    """Yield the adjectives of two structures."""
    rows = read_table(__package__, "compounds", COMPOUNDS)
    firsts, lasts = ([row for row in rows if row["position"] == at] for at in ("first", "last"))
    for first, last in product(firsts, lasts):
        structures = (first["structure"], last["structure"])
        if structures[0] != structures[1]:
            both = tuple(Rule((some,), "same", 1.0) for some in structures)
            yield Entry(f"{first['part']}-{last['part']}", "place", "", both)


def _spellings(row: Row) -> Iterator[str]:
    """Yield the tokens of all names of an entry, those of persons also in the genitive."""
    for name in (row["name"], *chain.from_iterable(map(alternatives, split(row["other_names"])))):
        *words, last = plain(name).split()
        yield " ".join([*words, last])
        if words and name[0].isupper():
            yield " ".join([*words, "s", last])
    yield from _abbreviations(row)


def _abbreviations(row: Row) -> Iterator[str]:
    """Yield the abbreviations of an entry and their plurals: "PCA", "PCAs"."""
    for each in split(row["abbreviations"]):
        short = plain(each)
        yield from (short, f"{short}s") if short.isalpha() else (short,)


def _shortened(spellings: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the names of syndromes without that word, unless these are known."""
    known = frozenset(chain.from_iterable(spellings.values()))
    return {
        name: [
            each.removesuffix(SYNDROME)
            for each in some
            if each.endswith(SYNDROME) and each.removesuffix(SYNDROME) not in known
        ]
        for name, some in spellings.items()
    }
