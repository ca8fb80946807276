"""Places: the words by which texts name parts of the brain, and what is wrong there."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from neurowhere.text.reading.lexicon import (
    ADJECTIVE,
    SIDES,
    Side,
    is_beside_lesion,
    is_lesion_word,
    lexicon,
    side_of,
)
from neurowhere.text.reading.lexicon import words_of as words_of_class
from neurowhere.text.reading.tables import TEXT, Column, Trie, read_table, split
from neurowhere.text.words import PREFIXES, fold, words_of

__all__ = ["ADJECTIVE", "SIDES", "Side", "is_beside_lesion", "is_lesion_word"]

PLACES: dict[str, Column] = {"id": TEXT, "words": TEXT}
Key = tuple[str, ...]  # folded words of a name in alphabetical order
# An adjective of several lobes, or of what lies between them.
LOBAR = re.compile(
    r"(fronto|parieto|temporo|occipito)+(frontal|parietal|temporal|occipital|insular)"
    r"|opercular|perisylvian"
)
READING = "neurowhere.text.reading"  # which has the tables
LESION = words_of_class("lesion")
SIDE_WORDS: dict[str, Side] = {word: side for side in SIDES for word in words_of_class(side)}


@cache
def places() -> Trie[str]:
    """Return the places that a vocabulary may lack."""
    rows = read_table(READING, "places", PLACES)
    return Trie((item, row.name) for row in rows for item in split(row["words"]))


def is_limb(words: Sequence[str]) -> bool:
    """Whether a name speaks of a limb, of its nerve, or of a visual field.

    >>> is_limb(["finger", "tapping"]), is_limb(["visual", "field"]), is_limb(["field"])
    (True, True, False)
    >>> is_limb(["median", "nerve"]), is_limb(["hand", "area"])
    (True, False)
    """
    kinds = [lexicon()[fold(word)] for word in words]
    is_nerve = fold(words[-1]) == "nerve" and "limb-nerve" in kinds[0]
    if [fold(word) for word in words] == ["visual", "field"] or is_nerve:
        return True
    return any("limb" in k for k in kinds) and not any("of-cortex" in k for k in kinds)


def limb_sign(name: str) -> int:
    """Return −1 for a structure that serves limbs of the other side, 1 for those of its own side.

    >>> limb_sign("primary motor cortex"), limb_sign("cerebellum"), limb_sign("amygdala")
    (-1, 1, 0)
    """
    words = words_of(name)
    if not words_of_class("serving-own").isdisjoint(words):
        return 1
    return 0 if words_of_class("serving").isdisjoint(words) else -1


def side_of_name(name: str) -> Side | None:
    """Side that a name itself begins with.

    >>> side_of_name("left cerebral hemisphere"), side_of_name("amygdala")
    ('left', None)
    """
    return without_side(name)[1]


def without_side(name: str) -> tuple[str, Side | None]:
    """Words of a name after the side that it begins with, and that side.

    >>> without_side("the left amygdala"), without_side("amygdala")
    (('amygdala', 'left'), ('amygdala', None))
    """
    words = words_of(name)
    if words and words[0] in SIDES:
        return " ".join(words[1:]), side_of(words[0])
    return name, None


def joined_words(name: str) -> tuple[str, ...]:
    """Words of a name without its side, prefixes joined: "fronto parietal" is "frontoparietal"."""
    words: list[str] = []
    for word in words_of(name):
        if word in SIDES:
            continue
        if words and words[-1] in PREFIXES:
            words[-1] += word
        else:
            words.append(word)
    return tuple(words)


def form_of(name: str) -> tuple[str, ...]:
    """Folded words of a name, in their order."""
    return tuple(map(fold, joined_words(name)))


def key_of(name: str) -> Key:
    """Folded words in alphabetical order: "cortex, auditory" is "auditory cortex"."""
    return tuple(sorted(form_of(name)))


def single_words(names: Iterable[str]) -> set[str]:
    """Return the names of one word, folded.

    >>> single_words(["Thalami", "frontal lobe"])
    {'thalamus'}
    """
    return {fold(words[0]) for words in map(words_of, names) if len(words) == 1}


def is_place(name: str, structures: Collection[str] = ()) -> bool:
    """Whether a name is a general place, or made of structures and words of direction.

    >>> is_place("white matter"), is_place("left frontal gyri", ["frontal"]), is_place("stroke")
    (True, True, False)
    >>> is_place("parieto-occipital")
    True
    """
    words = list(words_of(name))
    found = places().find(words, [0]) if words else []
    if (found and found[0][1] == len(words)) or LOBAR.fullmatch("".join(words)):
        return True
    general, known = words_of_class("general"), words_of_class("general-word")
    if not any(fold(word) in structures or fold(word) in general for word in words):
        return False
    known = known.union(structures)
    return all(_is_of_place(word) or fold(word) in known for word in words)


def _is_of_place(word: str) -> bool:
    return word in SIDES or bool(ADJECTIVE.fullmatch(word))


def is_lesion(term: str) -> bool:
    """Whether a term says what is wrong or what was done, and not where.

    >>> [is_lesion(term) for term in ("infarction", "traumatic brain injury", "multiple sclerosis")]
    [True, True, False]
    >>> is_lesion("deep brain stimulation")
    True
    """
    words = term.split()
    if words[-1:] == ["stimulation"] and words[0] in ("deep", "magnetic", "transcranial"):
        return True
    return not LESION.isdisjoint(words) and set(words) <= LESION | words_of_class("kind-of-lesion")


def is_general(name: str) -> bool:
    """Whether a name says nothing of where in the brain.

    >>> is_general("cerebral white matter"), is_general("brain injury"), is_general("thalamus")
    (True, True, False)
    """
    return all(fold(word) in words_of_class("general-word") for word in words_of(name))
