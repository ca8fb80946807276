"""Peripheral: signs of the body that a nerve, a root, a plexus or a muscle explains.

"Numbness of the left foot from a peroneal neuropathy" is of no place in the brain. In a sentence
that has such a cause, weakness or numbness of a limb implies nothing, and the limb counts nothing.
Half a body is not explained so, nor is anything in a sentence that tells of a stroke.
"""

from collections.abc import Container
from typing import TYPE_CHECKING

from neurowhere.text.clinical.lexicon import alternatives
from neurowhere.text.clinical.places import SIGNS, is_served
from neurowhere.text.clinical.reading import Phrases, Reading
from neurowhere.text.clinical.vessels import VASCULAR
from neurowhere.text.words import word_set

if TYPE_CHECKING:
    from neurowhere.text.clinical.mentions import Mention

NERVES = "{axillary|digital|femoral|median|peroneal|radial|sciatic|sural|tibial|ulnar}"
CAUSES = Phrases(
    {
        "cause": "; ".join(
            phrase
            for row in (
                "{|poly|mono}{neuropathy|neuropathies}",
                "{|poly}radiculo{pathy|pathies|neuropathy}",
                "{plexopathy|plexopathies|polyradiculitis|mononeuritis|sciatica|cidp}",
                "{plexus|root|nerve root} {injury|avulsion|compression|lesion|damage}",
                "guillain {barre|barré}",
                "{carpal|cubital|tarsal} tunnel",
                "{myopathy|myopathies|myositis|polymyositis|dermatomyositis}",
                "{myasthenia|myasthenic|myelopathy}",
                "{disc|disk} {herniation|herniations|protrusion|prolapse|extrusion}",
                "{herniated|prolapsed|slipped} {disc|disk}",
                f"{NERVES} {{|nerve }}{{palsy|lesion|injury|entrapment|compression|damage}}",
            )
            for phrase in alternatives(row)
        )
    }
)
CRANIAL = word_set("auditory cranial facial optic trigeminal vestibular")  # of no limb
DENYING = word_set("denies exclude excluded no not possible rule suspected without")
REACH = 3  # tokens from a denial to a cause
SIGNS_OF_BODY = SIGNS | word_set("drop numb weak")
STROKE = VASCULAR - {"syndrome"}
EXPLAINED = frozenset(["monoparesis", "numbness", "weakness"])  # signs of the table of rules


def explained(reading: Reading, denied: Container[int]) -> frozenset[int]:
    """Find the sentences in which a cause outside of the brain explains signs of the body.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["foot"])).read
    >>> explained(read("Foot numb. Weak foot from a peroneal neuropathy."), ())
    frozenset({1})
    >>> explained(read("Weak foot without neuropathy."), ())
    frozenset()
    """
    found = CAUSES.find(reading)
    return frozenset(
        number
        for first, last, _ in found
        if not (_is_denied(reading, first) or reading.finishes.get(last) in denied)
        and reading.token(first - 1) not in CRANIAL
        and _is_sign_explained(reading, number := reading.sentence_number(first))
    )


def weigh_explained(
    reading: Reading, mentions: "list[Mention]", denied: Container[int]
) -> "list[Mention]":
    """Give no weight to limbs and signs that a cause outside of the brain explains."""
    sentences = explained(reading, denied)
    if not sentences:
        return mentions
    return [
        each._replace(weight=0.0)
        if reading.sentence_number(reading.first[number]) in sentences
        and is_served(reading, number, SIGNS)
        else each
        for number, each in enumerate(mentions)
    ]


def _is_denied(reading: Reading, first: int) -> bool:
    """Whether a word before token `first` says that there is no such cause, or that it is open."""
    before = reading.tokens[max(first - REACH, 0) : first]
    return not DENYING.isdisjoint(before)


def _is_sign_explained(reading: Reading, number: int) -> bool:
    """Whether a sentence has a sign of the body, and tells of no stroke without its place."""
    tokens = reading.sentence_tokens(number)
    words = {reading.tokens[i] for i in tokens}
    if SIGNS_OF_BODY.isdisjoint(words):
        return False  # "finger tapping in carpal tunnel syndrome"
    places = reading.beginning(tokens)
    return any(reading.is_structure[each] for each in places) or STROKE.isdisjoint(words)
