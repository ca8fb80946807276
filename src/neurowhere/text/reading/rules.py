"""Rules: the table of names that point to structures of the brain, and how the names are written.

The rows of ``implied.csv`` are one for each name and structure, with a weight from 0 to 1 and a
reference. ``side`` is where the structure is: the "same" side as the text gives to the name,
"opposite" to it ("opposite else right" if that is usual where the text gives none), a side, or
"none" in the middle. ``structure`` may have alternatives, "red nucleus|midbrain", and is empty for
what has no map. Two structures make an adjective, "striatocapsular" (``compounds.csv``).
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, product
from typing import NamedTuple

from neurowhere.text.reading.tables import (
    OPTIONAL,
    TEXT,
    Column,
    Row,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)
from neurowhere.text.words import plain

IMPLIED: dict[str, Column] = {
    "kind": one_of(
        "artery tract place part network fixed site surgery syndrome sign drug disorder function"
    ),
    "name": TEXT,
    "other_names": OPTIONAL,
    "abbreviations": OPTIONAL,
    "needs": OPTIONAL,
    "structure": OPTIONAL,
    "side": OPTIONAL,
    "weight": OPTIONAL,
    "reference": OPTIONAL,
}
COMPOUNDS: dict[str, Column] = {"position": one_of("first last"), "part": TEXT, "structure": TEXT}
NEEDS = frozenset(["side", "vessel", "lesion", "alone", "central", "sense", "crossed"]) | {""}
SYNDROME = "syndrome"
NAMED_AFTER = ("syndrome", "sign", "disorder", "fixed")  # kinds of names that may have a person's
NUMBERS = """
first i 1st 1; second ii 2nd 2; third iii 3rd 3; fourth iv 4th 4; fifth v 5th 5; sixth vi 6th 6;
seventh vii 7th 7; eighth viii 8th 8; ninth ix 9th 9; tenth x 10th 10; eleventh xi 11th 11;
twelfth xii 12th 12
"""
ORDINALS = {ordinal: others for ordinal, *others in map(str.split, NUMBERS.split(";"))}
CRANIAL_NERVE = " cranial nerve"
OF_NERVES = ("palsy", "palsies", "paresis", "nuclei", "nucleus")


class Rule(NamedTuple):
    """Where a structure of an entry is, and how much it counts."""

    structures: tuple[str, ...]
    side: str
    weight: float


class Entry(NamedTuple):
    """What the table has on one name.

    `needs` is what must be with the name for it to be meant: a "side", a "vessel", a "lesion",
    "alone" if the text names no structure, "central" if it speaks of no nerve either, "sense" if
    its word is read as something else than a structure, "crossed" if the other side of the body has
    a sign as well ("crossed else numbness": it is another name where not).
    """

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


class Table(NamedTuple):
    """The entries by their names, and the phrases that stand for them."""

    entries: dict[str, Entry]
    phrases: Trie[str]
    shortened: frozenset[str]  # phrases in which "syndrome" is left out
    persons: frozenset[str]  # those that begin with the name of a person
    abbreviations: frozenset[str]
    fixed: Trie[str]  # those whose words say nothing else
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
    sites = {
        site: name
        for name, entry in entries.items()
        if entry.kind == "site"
        for site in spellings.pop(name)
    }
    for entry in _compounds():
        if entry.name not in spellings:
            entries[entry.name] = entry
            spellings[entry.name] = [entry.name.replace("-", joint) for joint in (" ", "")]
    known = frozenset(chain.from_iterable(spellings.values()))
    shortened = {name: _shortened(some, known) for name, some in spellings.items()}
    first = [rows[0] for rows in groups.values()]
    short = chain.from_iterable(_abbreviations(row) for row in first)
    phrases = {name: [*some, *shortened[name]] for name, some in spellings.items()}
    fixed = {name: spellings[name] for name in spellings if entries[name].is_fixed}
    return Table(
        entries=entries,
        phrases=_trie(phrases),
        shortened=frozenset(chain.from_iterable(shortened.values())),
        persons=frozenset(chain.from_iterable(map(_persons, first))),
        abbreviations=frozenset(short),
        fixed=_trie(fixed),
        sites=sites,
        terms={
            form: entry
            for name, entry in entries.items()
            if entry.kind in ("disorder", "network", "part")
            for form in (name.lower(), plain(name))
        },
    )


def _trie(names: dict[str, list[str]]) -> Trie[str]:
    known: dict[str, str] = {}
    for name, spellings in names.items():
        for spelling in spellings:
            known.setdefault(spelling, name)
    return Trie(known.items())


def _entry(name: str, rows: list[Row]) -> Entry:
    found = (
        Rule(tuple(row["structure"].split("|")), row["side"], float(row["weight"]))
        for row in rows
        if row["structure"]
    )
    needs = rows[0]["needs"]
    if needs.partition(" else ")[0] not in NEEDS:
        raise ValueError(f"implied.csv: {name!r} needs {needs!r}, expected one of {sorted(NEEDS)}")
    return Entry(name, rows[0]["kind"], needs, tuple(found))


def _compounds() -> Iterator[Entry]:
    """Yield the adjectives of two structures."""
    rows = read_table(__package__, "compounds", COMPOUNDS)
    firsts, lasts = ([row for row in rows if row["position"] == at] for at in ("first", "last"))
    for first, last in product(firsts, lasts):
        structures = (first["structure"], last["structure"])
        if structures[0] != structures[1]:
            both = tuple(Rule((some,), "same", 1.0) for some in structures)
            yield Entry(f"{first['part']}-{last['part']}", "place", "", both)


def _names(row: Row) -> Iterator[str]:
    yield row["name"]
    yield from chain.from_iterable(map(alternatives, split(row["other_names"])))


def _spellings(row: Row) -> Iterator[str]:
    """Yield the tokens of all names of an entry, those of persons also in the genitive."""
    for each in _names(row):
        *words, last = plain(each).split()
        spelt = " ".join([*words, last])
        yield spelt
        if words and each[0].isupper():
            yield " ".join([*words, "s", last])
        if row["kind"] == "fixed" and last == "nerve":
            for nerve in _numbered(spelt):
                yield from (nerve, *(f"{nerve} {word}" for word in OF_NERVES))
    yield from _abbreviations(row)


def _abbreviations(row: Row) -> Iterator[str]:
    """Yield the abbreviations of an entry and their plurals: "PCA", "PCAs"."""
    for each in split(row["abbreviations"]):
        short = plain(each)
        yield from (short, f"{short}s") if short.isalpha() else (short,)


def _shortened(spellings: Iterable[str], known: frozenset[str]) -> list[str]:
    """Return the names of syndromes without that word, unless these are known."""
    short = (name.removesuffix(f" {SYNDROME}") for name in spellings if name.endswith(SYNDROME))
    return [name for name in short if name not in known]


def _persons(row: Row) -> Iterator[str]:
    """Yield the names of diseases that have a person's name, however they are written."""
    for name in _names(row) if row["kind"] in NAMED_AFTER else ():
        if name[0].isupper():
            words = plain(name).split()
            for each in (words, [*words[:-1], "s", words[-1]]):
                yield " ".join(each)
                if each[-1] == SYNDROME:
                    yield " ".join(each[:-1])


def _numbered(nerve: str) -> Iterator[str]:
    """Yield the ways of writing the number of a nerve.

    >>> list(_numbered("third cranial nerve"))[1:5]
    ['third nerve', 'iii cranial nerve', 'cranial nerve iii', 'cn iii']
    """
    yield nerve
    ordinal = nerve.removesuffix(CRANIAL_NERVE)
    if ordinal not in ORDINALS:
        return
    yield f"{ordinal} nerve"
    for number in ORDINALS[ordinal]:
        if not number.isdigit():
            yield f"{number} cranial nerve"
        yield from (f"cranial nerve {number}", f"cn {number}", f"cn{number}", f"cns {number}")
        if len(number) > 1:
            yield f"{number} nerve"
