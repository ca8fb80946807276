"""Rules: the table of names that point to structures of the brain, and how the names are written.

The rows of ``implied.csv`` are one for each name and structure, with a weight from 0 to 1 and a
reference. ``side`` is where the structure is: the "same" side as the text gives to the name,
"opposite" to it ("opposite else right" if that is usual where the text gives none), a side, or
"none" in the middle. ``structure`` may have alternatives, "red nucleus|midbrain", and is empty for
what has no map; a "cause" explains signs of the body that then point nowhere. Two structures make
an adjective, "striatocapsular" (``compounds.csv``).
"""

from collections.abc import Iterable, Iterator, Mapping
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
