"""Rules: the table of names that point to structures of the brain, and how the names are written.

The rows of ``implied.csv`` are one for each name and structure, with a weight from 0 to 1 and a
reference: a textbook and what it is on, or an article with an identifier (DOI, PMID, PMC or NBK
number, or address):

- ``side`` is where the structure is: the "same" side as the text gives to the name, "opposite" to
  it ("opposite else right" if that is usual where the text gives none), "left", "right",
  "bilateral", or "none" in the middle.
- ``structure`` may have alternatives, "red nucleus|midbrain": the first that a vocabulary knows. It
  is empty for what has no map: "optic nerve". Diseases of other organs, which share a word with
  one of the brain, have neither a structure nor a reference: "Budd-Chiari syndrome".
- Rows have the numbers of nerves spelt out, "third cranial nerve", which stands for all ways of
  writing them: "CN III".
- Names have alternatives in braces: "{droop|drooping} of the {|left|right} face".
- Two structures make an adjective, "striatocapsular", and are both implied (``compounds.csv``).

The rows of ``elsewhere.csv`` have words that mean something else before or after others: "parietal
pleura", "reward points", "on the other hand". Other words tell so from anywhere in a sentence that
has nothing of the brain: "the adrenal cortex and the medulla".
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain, product
from typing import NamedTuple

from neurowhere._tools.files import shipped_table
from neurowhere.text.clinical.lexicon import alternatives
from neurowhere.text.clinical.places import Attached
from neurowhere.text.clinical.reading import Phrases, Tokens
from neurowhere.text.words import plain

SYNDROME = "syndrome"
NAMED_AFTER = ("syndrome", "sign", "disorder", "fixed")  # kinds of names that may have a person's
# How the number of a nerve is written, and what may follow its name.
NUMBERS = """
first i 1st 1; second ii 2nd 2; third iii 3rd 3; fourth iv 4th 4; fifth v 5th 5; sixth vi 6th 6;
seventh vii 7th 7; eighth viii 8th 8; ninth ix 9th 9; tenth x 10th 10; eleventh xi 11th 11;
twelfth xii 12th 12
"""
ORDINALS = {ordinal: others for ordinal, *others in map(str.split, NUMBERS.split(";"))}
CRANIAL_NERVE = " cranial nerve"
OF_NERVES = ("palsy", "palsies", "paresis", "nuclei", "nucleus")
COMPOUND_REFERENCE = (
    "Blumenfeld, Neuroanatomy through Clinical Cases, 3rd ed., 2021, on terms of orientation"
)


class Rule(NamedTuple):
    """Where a structure of an entry is, and how much it counts."""

    structures: tuple[str, ...]
    side: str
    weight: float
    reference: str


class Entry(NamedTuple):
    """What the table has on one name.

    Attributes
    ----------
    name : str
    kind : str
        "artery", "tract", "place", "part", "network", "fixed", "site", "surgery", "syndrome",
        "sign", "drug", "disorder" or "function".
    needs : "side", "vessel", "lesion", "alone", "central", "sense", "crossed" or ""
        What must be with the name for it to be meant; "alone" if the text names no structure,
        "central" if it speaks of no nerve either, "sense" if its word is read as something else
        than a structure, "crossed" if the other side of the body has a sign as well ("crossed else
        numbness" if it is another name where not).
    rules : tuple of Rule
    """

    name: str
    kind: str
    needs: str
    rules: tuple[Rule, ...]

    @property
    def is_fixed(self) -> bool:
        """Whether the words of the name say nothing else."""
        return self.kind == "fixed"

    @property
    def is_term(self) -> bool:
        """Whether the name may be a term, and counts however a text writes that: "PD", "DAN"."""
        return self.kind in ("disorder", "network", "part")

    @property
    def is_crossed(self) -> bool:
        """Whether all structures are opposite to the side that the text gives to the name."""
        return bool(self.rules) and all(rule.side.startswith("opposite") for rule in self.rules)


class Found(NamedTuple):
    """A name of the table in a text, and the side that the text gives to it."""

    entry: Entry
    tokens: Tokens
    side: Attached | None


class Table(NamedTuple):
    """The entries by their names, and the phrases that stand for them.

    Attributes
    ----------
    entries : dict
    phrases : Phrases
    shortened : frozenset of str
        Phrases in which "syndrome" is left out.
    persons : frozenset of str
        Phrases that begin with the name of a person, with "syndrome" or without.
    abbreviations : frozenset of str
    fixed : Phrases
        Those whose words say nothing else.
    sites : dict
        Name of the entry of each site.
    terms : dict
        Entries that may be terms, by their names in small letters.
    """

    entries: dict[str, Entry]
    phrases: Phrases[str]
    shortened: frozenset[str]
    persons: frozenset[str]
    abbreviations: frozenset[str]
    fixed: Phrases[str]
    sites: dict[str, str]
    terms: dict[str, Entry]


@cache
def read_table() -> Table:
    """Read the table of the package."""
    groups: dict[str, list[dict[str, str]]] = {}
    for row in shipped_table(__package__, "implied.csv"):
        groups.setdefault(row["name"], []).append(row)
    entries = {name: _entry(name, rows) for name, rows in groups.items()}
    spellings = {name: list(_spellings(name, rows[0])) for name, rows in groups.items()}
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
    short = (
        form
        for rows in groups.values()
        for name in split_names(rows[0]["abbreviations"])
        for form in _numbers_of(plain(name))
    )
    return Table(
        entries=entries,
        phrases=_phrases({name: [*some, *shortened[name]] for name, some in spellings.items()}),
        shortened=frozenset(chain.from_iterable(shortened.values())),
        persons=frozenset(_persons(groups.values())),
        abbreviations=frozenset(short),
        fixed=_phrases({name: spellings[name] for name in spellings if entries[name].is_fixed}),
        sites=sites,
        terms={
            form: entry
            for name, entry in entries.items()
            if entry.is_term
            for form in (name.lower(), plain(name))
        },
    )


@cache
def elsewhere() -> Phrases[str]:
    """Read the phrases in which a word of the brain means something else.

    >>> elsewhere().at("thickened parietal pleura".split(), 1)
    (2, 'parietal')
    """
    phrases: dict[str, list[str]] = {}
    for row in shipped_table(__package__, "elsewhere.csv"):
        before, after = split_names(row["before"]), split_names(row["after"])
        for word in split_names(row["words"]):
            some = phrases.setdefault(word, [])
            some += (f"{words} {word}" for words in before)
            some += (f"{word} {words}{ending}" for words in after for ending in ("", "s"))
    return _phrases({word: some for word, some in phrases.items() if some})


@cache
def elsewhere_beside() -> dict[str, frozenset[str]]:
    """Read the words of the brain that are of another organ beside others, with those others.

    >>> "renal" in elsewhere_beside()["medulla"]
    True
    """
    beside: dict[str, frozenset[str]] = {}
    for row in shipped_table(__package__, "elsewhere.csv"):
        others = frozenset(split_names(row["sentence"]))
        for word in split_names(row["words"]) if others else ():
            beside[word] = beside.get(word, frozenset()) | others
    return beside


def _phrases(names: Mapping[str, Iterable[str]]) -> Phrases[str]:
    return Phrases({name: "; ".join(spellings) for name, spellings in names.items()})


def _shortened(spellings: list[str], known: Container[str]) -> list[str]:
    """Return the names of syndromes without that word, unless these are known."""
    short = (name.removesuffix(f" {SYNDROME}") for name in spellings if name.endswith(SYNDROME))
    return [name for name in short if name not in known]


def _persons(groups: Iterable[list[dict[str, str]]]) -> Iterator[str]:
    """Yield the names of diseases that have a person's name, however they are written."""
    for row, *_ in groups:
        others = chain.from_iterable(map(alternatives, split_names(row["other_names"])))
        for name in (row["name"], *others):
            if row["kind"] in NAMED_AFTER and name[0].isupper():
                words = plain(name).split()
                for each in (words, [*words[:-1], "s", words[-1]]):
                    yield " ".join(each)
                    if each[-1] == SYNDROME:
                        yield " ".join(each[:-1])


def _entry(name: str, rows: list[dict[str, str]]) -> Entry:
    rules = (
        Rule(
            tuple(row["structure"].split("|")), row["side"], float(row["weight"]), row["reference"]
        )
        for row in rows
        if row["structure"]
    )
    return Entry(name, rows[0]["kind"], rows[0]["needs"], tuple(rules))


def _compounds() -> Iterator[Entry]:
    """Yield the adjectives of two structures, from the rows of ``compounds.csv``."""
    rows = list(shipped_table(__package__, "compounds.csv"))
    firsts, lasts = ([row for row in rows if row["position"] == at] for at in ("first", "last"))
    for first, last in product(firsts, lasts):
        structures = (first["structure"], last["structure"])
        if structures[0] != structures[1]:
            rules = (Rule((some,), "same", 1.0, COMPOUND_REFERENCE) for some in structures)
            yield Entry(f"{first['part']}-{last['part']}", "place", "", tuple(rules))


def _spellings(name: str, row: dict[str, str]) -> Iterator[str]:
    """Yield the tokens of all names of an entry, those of persons also in the genitive."""
    others = chain.from_iterable(map(alternatives, split_names(row["other_names"])))
    for each in (name, *others):
        *words, last = plain(each).split()
        spelt = " ".join([*words, last])
        yield spelt
        if words and each[0].isupper():
            yield " ".join([*words, "s", last])
        if row["kind"] == "fixed" and last == "nerve":
            for nerve in _numbered(spelt):
                yield from (nerve, *(f"{nerve} {word}" for word in OF_NERVES))
    for each in split_names(row["abbreviations"]):
        yield from _numbers_of(plain(each))


def _numbers_of(abbreviation: str) -> list[str]:
    """Return an abbreviation and its plural: "PCA", "PCAs"."""
    return [abbreviation, *([f"{abbreviation}s"] if abbreviation.isalpha() else [])]


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


def split_names(names: str) -> list[str]:
    """Return the names of a cell, which semicolons part."""
    return [name.strip() for name in names.split(";") if name.strip()]
