"""Crossed signs: a cranial nerve fails on one side and the body on the other.

A lesion of the brain stem reaches nuclei of its own side, and tracts to the other half of the body.
"Left third nerve palsy with right hemiparesis" is of the left midbrain, and not of the motor
cortex. The sign of the nerve tells the structure and its side; the sign of the body tells the side
of a syndrome that has none, and nothing else.
"""

from collections.abc import Container
from itertools import product

from neurowhere.text.clinical.places import OPPOSITE, Attached
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.clinical.rules import Entry, Found, read_table
from neurowhere.text.words import word_set

BRAIN_STEM = frozenset(["midbrain", "pons", "medulla", "medulla oblongata"])
OF_BODY = frozenset(["hemiparesis", "hemisensory loss", "monoparesis", "numbness", "weakness"])
REACH = 30  # tokens between the two signs
REACH_NO = 4  # tokens between a denial and a sign
DENYING = word_set("denied denies no nor not without")
BELL = word_set("bell bells")  # a palsy that has its own cause
CROSSED = "crossed"  # what a name may need


def with_crossed(reading: Reading, found: list[Found], denied: Container[int] = ()) -> list[Found]:
    """Read crossed signs as those of one lesion of the brain stem.

    Parameters
    ----------
    reading : Reading
    found : list of Found
    denied : collection of int
        Matches that the text denies: "no hemiparesis" crosses nothing.

    Returns
    -------
    list of Found
        Names that need a crossed sign and have none are left out, or are what they are else.
    """
    said = [name for name in found if not _is_denied(reading, name, denied)]
    bodies = [name for name in said if name.entry.name in OF_BODY and _is_lateral(name)]
    nerves = [name for name in said if _is_of_stem(name.entry)] if bodies else []
    is_bell = not BELL.isdisjoint(reading.where)
    pairs = [
        (nerve, body)
        for nerve, body in product([] if is_bell else nerves, bodies)
        if abs(nerve.tokens.first - body.tokens.first) <= REACH and _are_crossed(nerve, body)
    ]
    read = (_read(name, pairs) for name in found)
    return [name for name in read if name is not None]


def _is_denied(reading: Reading, name: Found, denied: Container[int]) -> bool:
    """Whether the text denies a name, which may be no match: "no left third nerve palsy"."""
    if reading.finishes.get(name.tokens.last) in denied:
        return True
    for i in range(name.tokens.first, max(name.tokens.first - REACH_NO, 0), -1):
        if reading.is_sentence_end(i) or "," in reading.gap(i):
            return False
        if reading.tokens[i - 1] in DENYING:
            return True
    return False


def _read(name: Found, pairs: list[tuple[Found, Found]]) -> Found | None:
    """Return a name as crossed signs have it."""
    needs, _, other = name.entry.needs.partition(" else ")
    if needs == CROSSED and not any(nerve is name for nerve, _ in pairs):
        return name._replace(entry=read_table().entries[other]) if other else None
    if any(body is name for _, body in pairs):
        return name._replace(entry=name.entry._replace(rules=()))
    if name.side is None:
        sides = [_side_of_stem(*pair) for pair in pairs if pair[0] is name]
        sides += [nerve.side for nerve, _ in pairs if _is_of_stem(name.entry)]
        return name._replace(side=next(filter(None, sides), None))
    return name


def _are_crossed(nerve: Found, body: Found) -> bool:
    """Whether a sign of the body is not on the side of a nerve; a syndrome may have no side."""
    assert body.side is not None
    if nerve.side is None:
        return nerve.entry.kind == "syndrome"
    return nerve.side.side == OPPOSITE[body.side.side]


def _side_of_stem(nerve: Found, body: Found) -> Attached | None:
    """Side of the lesion: that of the nerve, or opposite to the body."""
    if nerve.side or not body.side:
        return nerve.side
    return body.side._replace(side=OPPOSITE[body.side.side])


def _is_lateral(name: Found) -> bool:
    return name.side is not None and name.side.side in OPPOSITE


def _is_of_stem(entry: Entry) -> bool:
    """Whether an entry points to the brain stem first, and to the side that the text gives it."""
    is_first = any(
        rule.weight == 1 and not BRAIN_STEM.isdisjoint(rule.structures) for rule in entry.rules
    )
    return is_first and all(rule.side == "same" for rule in entry.rules)
