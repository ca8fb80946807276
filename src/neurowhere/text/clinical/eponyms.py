"""Eponyms: whether the name of a person in a text is that of a syndrome.

"Weber syndrome" is in the midbrain. The same name may be part of a longer one, which a hyphen
joins ("Sturge-Weber syndrome"), or that of somebody ("Max Weber", "Claude Debussy"). In a text of a
few words without "syndrome", a name is therefore meant alone, or beside words of the clinic.
"""

from collections.abc import Sequence

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import Found, read_table
from neurowhere.text.clinical.vessels import VASCULAR
from neurowhere.text.words import fold, word_set

HYPHENS = ("-", "–", "‐", "‑")
# Words that a hyphen joins to a name without making another name of it: "Wallenberg-like".
JOINED = word_set(
    """
    anti associated disease like non peri plus post pre pseudo related s sided sign syndrome type
    variant
    """
)
# Words of texts in which the name of a person is that of a syndrome.
CLINICAL = (
    LESION
    | VASCULAR
    | word_set("ataxia dysarthria dysphagia dysphonia hoarseness numbness palsy vomiting weakness")
)
BESIDE = word_set(
    """
    a acute and case chronic complete developmental disease dx full in incomplete known like man
    mild of old partial patient phenomenon pt s sign syndrome tetrad the triad typical variant with
    woman
    """
)


def is_of_longer_name(reading: Reading, tokens: Tokens) -> bool:
    """Whether a hyphen joins the name of a person to another: "Sturge-Weber", "Weber-Fechner"."""
    first, last = tokens
    if " ".join(reading.tokens[first : last + 1]) not in read_table().persons:
        return False
    return any(
        0 <= i < len(reading.tokens)
        and reading.gap(i + (i < first)) in HYPHENS
        and not (reading.tokens[i] in JOINED or reading.tokens[i] in SIDE_WORDS)
        for i in (first - 1, last + 1)
    )


def is_beside_others(reading: Reading, tokens: Tokens, found: Sequence[Found]) -> bool:
    """Whether the name of a person stands beside a word that is not of the clinic.

    Words of other names and structures are: "Gerstmann agraphia", "Weber midbrain".
    """
    if " ".join(reading.tokens[tokens.first : tokens.last + 1]) not in read_table().persons:
        return False
    named = {i for each in found for i in range(each.tokens.first, each.tokens.last + 1)}
    for first, last, is_structure in zip(
        reading.first, reading.last, reading.is_structure, strict=True
    ):
        named.update(range(first, last + 1) if is_structure else ())
    return any(i not in named and not _is_clinical(token) for i, token in enumerate(reading.tokens))


def _is_clinical(token: str) -> bool:
    return (
        token in BESIDE
        or token in JOINED
        or token in SIDE_WORDS
        or fold(token) in CLINICAL
        or token in lexicon.HEDGES.words
        or token in lexicon.CUES.words
    )
