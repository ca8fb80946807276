"""Misspelt: sides that are typed wrongly beside a place or a limb, "rigth thalamic infarct"."""

from dataclasses import replace

from neurowhere.text.clinical.places import LIMBS, is_lesion_word
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.words import fold

# Forms that are no words of their own.
WRONG = """
right: rigth rihgt rght irght rigt rright rightt
left: lefft letf leftt lfet elft lleft
bilateral: bilatral bilaterl bilateal billateral bilaterial bilataral bilteral biltaeral
bilaterally: bilateraly bilatrally billaterally bilaterly
"""
SPELT = {
    wrong: side
    for side, forms in (line.split(":") for line in WRONG.split("\n") if line)
    for wrong in forms.split()
}
REACH = 4  # tokens between a side and its place


def with_spelt_sides(reading: Reading) -> Reading:
    """Correct the sides of a reading that are typed wrongly.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> read = TermCounter(Vocabulary(["insula"])).read
    >>> with_spelt_sides(read("rigth insula")).tokens, with_spelt_sides(read("he letf")).tokens
    (['right', 'insula'], ['he', 'letf'])
    """
    wrong = [i for i in reading.at_words(SPELT.keys()) if _is_beside(reading, i)]
    if not wrong:
        return reading
    tokens = [*reading.tokens]
    for i in wrong:
        tokens[i] = SPELT[tokens[i]]
    return replace(reading, tokens=tokens)


def _is_beside(reading: Reading, i: int) -> bool:
    """Whether a structure, a limb or a lesion is near a token in its sentence."""
    sentence = reading.sentence_tokens(reading.sentence_number(i))
    near = range(max(sentence.start, i - REACH), min(sentence.stop, i + REACH + 1))
    names = (reading.begins.get(j) for j in near)
    return any(number is not None and reading.is_structure[number] for number in names) or any(
        fold(reading.tokens[j]) in LIMBS or is_lesion_word(reading.tokens[j]) for j in near
    )
