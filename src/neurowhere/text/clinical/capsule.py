"""Capsule: the limbs of the internal capsule, where a text leaves out what they are limbs of.

"Caudate head and anterior limb on the left" is of the capsule and of no arm or leg. It is read so
in a sentence that names a structure or a lesion, or that tells of a scan.
"""

from collections.abc import Callable

from neurowhere.text.clinical.places import LESION
from neurowhere.text.clinical.reading import Phrases, Reading, Tokens
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

CAPSULE = "internal capsule"
LIMBS = Phrases({"anterior": "anterior limb; ant limb", "posterior": "posterior limb; post limb"})
SCANS = word_set("adc ct diffusion dwi flair hyperintensity hypodensity mri signal t1 t2")
# After "posterior limb", these tell of an animal's leg, or of the name of another part.
OTHERS = word_set("ataxia bud lead movement paralysis paresis weakness")
REACH = 5  # tokens from a limb to the capsule: "posterior limb of the left internal capsule"


def with_capsule(
    reading: Reading, term_of: Callable[[str], str | None], index: Callable[[str], int]
) -> Reading:
    """Read the limbs of the capsule as structures.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> vocabulary = Vocabulary(["internal capsule", "limb", "putamen"])
    >>> counter = TermCounter(vocabulary)
    >>> reading = counter.read("Infarct of the putamen and posterior limb.")
    >>> found = with_capsule(reading, counter.term_of, vocabulary.index)
    >>> [vocabulary.terms[term] for term in found.terms]
    ['putamen', 'internal capsule']
    """
    limbs = {
        Tokens(first, last): kind
        for first, last, kind in LIMBS.find(reading)
        if last not in reading.inner and _is_of_capsule(reading, Tokens(first, last))
    }
    if not limbs:
        return reading
    hidden = {i for tokens in limbs for i in range(tokens.first, tokens.last + 1)}
    kept = [i for i, first in enumerate(reading.first) if first not in hidden]
    rest = reading.with_names(
        terms=[reading.terms[i] for i in kept],
        first=[reading.first[i] for i in kept],
        last=[reading.last[i] for i in kept],
        is_structure=[reading.is_structure[i] for i in kept],
    )
    named = [tokens for tokens in limbs if _is_named(reading, tokens)]
    terms = {
        tokens: term_of(f"{kind} limb {CAPSULE}") or term_of(CAPSULE)
        for tokens, kind in limbs.items()
        if tokens not in named
    }
    more = rest.with_names(
        terms=[*rest.terms, *(index(term) if term else NO_TERM for term in terms.values())],
        first=[*rest.first, *(tokens.first for tokens in terms)],
        last=[*rest.last, *(tokens.last for tokens in terms)],
        is_structure=[*rest.is_structure, *(True for _ in terms)],
    )
    return more.with_matches(named, is_structure=False) if named else more


def _is_of_capsule(reading: Reading, limb: Tokens) -> bool:
    """Whether the sentence of a limb is of the brain."""
    if reading.token(limb.last + 1) in OTHERS:
        return False
    here = reading.sentence_tokens(reading.sentence_number(limb.first))
    words = (reading.tokens[i] for i in here if not limb.first <= i <= limb.last)
    if any(fold(word) in LESION or word in SCANS for word in words):
        return True
    numbers = (reading.begins[i] for i in here if i in reading.begins)
    return any(
        reading.is_structure[each] and reading.first[each] not in range(limb.first, limb.last + 1)
        for each in numbers
    )


def _is_named(reading: Reading, limb: Tokens) -> bool:
    """Whether the capsule itself is named after its limb."""
    near = reading.tokens[limb.last + 1 : limb.last + 1 + REACH]
    return near[:1] == ["of"] and "capsule" in near
