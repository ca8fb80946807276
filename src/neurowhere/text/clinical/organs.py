"""Organs: words that the brain shares with other organs, in sentences that are of these.

"The adrenal cortex secretes cortisol, the medulla adrenaline" is not of the brain. Such a word is
not read if a word of the other organ is in its sentence and nothing of the brain is
(``elsewhere.csv``). A side alone tells little: "left ventricle" is of the heart only in a text that
has nothing of the brain at all.
"""

import re
from functools import cache, partial

from neurowhere.text.clinical.places import SIDE_WORDS
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.clinical.rules import elsewhere_beside
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import word_set

OF_BRAIN = re.compile(r"brain|cerebr|cerebell|crani|encephal|intracran|neur|subcortical")
# What is said of the ventricles of the brain, and of its pictures.
OF_VENTRICLES = re.compile(
    r"bleed|blood|choroid|cranial|csf$|cta?$|ependym|evd$|ha?emorrh|horn|hydroceph|intraventr|ivh$"
    r"|mass$|midline|mri?$|periventr|shift|shunt|stroke|sulc|tumou?r"
)
# After the name of an organ, these tell of a disease beside that of the brain: "renal failure".
DISEASES = word_set(
    """
    cancer carcinoma disease failure fracture function impairment infection injury insufficiency
    loss pain replacement surgery transplant transplantation
    """
)


def of_organs(reading: Reading) -> list[Tokens]:
    """Find the words of a text that are of another organ.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["medulla", "pons"]))
    >>> of_organs(counter.read("Kidney: the medulla is bright."))
    [Tokens(first=2, last=2)]
    >>> of_organs(counter.read("The pons and the medulla; renal failure."))
    []
    """
    beside = elsewhere_beside()
    words = [i for i in reading.at_words(beside) if i not in reading.inner]
    shared = frozenset(words)
    has_no_brain = cache(partial(_has_no_brain, reading, shared))
    found, here, organs = list[Tokens](), range(0), set[str]()
    for i in words:
        if i not in here:  # a sentence is looked through once, however many of its words ask
            here = _sentence(reading, i)
            organs = _organs(reading, here, shared)
        said = beside[reading.tokens[i]] & organs
        if said and (said - SIDE_WORDS.keys() or has_no_brain()):
            found.append(Tokens(i, i))
    return found


def _organs(reading: Reading, here: range, shared: frozenset[int]) -> set[str]:
    """Words of a sentence that may be of other organs; none if something of it is of the brain."""
    if _is_of_brain(reading, here, shared):
        return set()
    return {reading.tokens[j] for j in here if reading.token(j + 1) not in DISEASES}


def _has_no_brain(reading: Reading, shared: frozenset[int]) -> bool:
    """Whether nothing in a whole text is of the brain, its ventricles or its pictures."""
    is_said = any(map(OF_VENTRICLES.match, reading.where))
    return not is_said and not _is_of_brain(reading, range(len(reading.tokens)), shared)


def _sentence(reading: Reading, i: int) -> range:
    """Tokens of the sentence of token i; a semicolon ends none here."""
    here = reading.sentence_tokens(reading.sentence_number(i))
    first, end = here.start, here.stop
    while first > 0 and ";" in reading.gap(first):
        first = reading.sentence_tokens(reading.sentence_number(first - 1)).start
    while end < len(reading.tokens) and ";" in reading.gap(end):
        end = reading.sentence_tokens(reading.sentence_number(end)).stop
    return range(first, end)


def _is_of_brain(reading: Reading, tokens: range, shared: frozenset[int]) -> bool:
    """Whether some tokens have a word of the brain, or a structure that nothing else has."""
    if any(OF_BRAIN.match(reading.tokens[i]) for i in tokens):
        return True
    numbers = (reading.begins[i] for i in tokens if i in reading.begins and i not in shared)
    return any(reading.is_structure[each] and reading.terms[each] != NO_TERM for each in numbers)
