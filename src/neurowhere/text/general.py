"""General statements in the text of a patient: what is so in most people is no finding in this one.

"The hippocampus is known to be vulnerable to hypoxia" says nothing of the patient whose thalamus is
infarcted. A sentence is left out only if it is in the present tense and of no one person, and if
another sentence tells what this patient has. Texts of research are read whole.
"""

import re
from functools import lru_cache

from neurowhere.text.reading.lexicon import FINDING

GENERAL = "general"  # name of such sentences among the sections
SENTENCE = re.compile(r"[^.!?;\n]+(?:\.(?=\d)[^.!?;\n]*)*")
_ADVERB = (
    r"(?:typical|classical|common|usual|characteristic|preferential|frequent|general|selective"
    r"|predominant|primari|main)ly|(?:most |very )?often"
)
_VERB = (
    r"(?:affect|arise|begin|cause|damage|destroy|give|impair|include|injure|invade|involve"
    r"|locali[sz]e|manifest|occur|present|produce|result|spare|spread|start|strike|target)s?"
)
_STATE = (
    r"(?:affected|associated|caused|damaged|found|implicated|involved|located|observed|seen|spared)"
)
_MARKS = re.compile(
    rf"\b(?:(?:{_ADVERB}) {_VERB}|{_VERB} (?:{_ADVERB})|(?:is|are|can be) (?:{_ADVERB}) {_STATE}"
    r"|(?:is|are) (?:well |widely )?known (?:to|for)|predilection for|tends? to (?:affect|involve)"
    r"|(?:is|are) (?:\w+ly |most |very )?(?:vulnerable|susceptible|sensitive) to"
    r"|(?:is|are) (?:an?|the|one of the) (?:most )?(?:common|classic|classical|frequent|typical"
    r"|usual)(?:est)? (?:cause|location|place|site|source|target)s? (?:of|for|in))\b",
    re.IGNORECASE,
)
# What tells that a sentence is of this patient, or of what was seen.
_OWN = re.compile(
    r"\b(?:he|she|his|her|him|patient|pt|our|my|here|now|today|currently|left|right|was|were|had"
    r"|which|there (?:is|are)|appearances?|constellation|distribution|findings?|pattern|picture"
    r"|year-old|this (?!condition|disease|disorder|entity|syndrome|type)"
    r"|(?:demonstrat|reveal|show|suggest)\w*|\d+ ?[cm]m)\b",
    re.IGNORECASE,
)
_PATIENT = re.compile(
    r"\b(?:he|she|his|her|(?:this|the|our|a) (?:patient|pt)(?! group| sample| data)|year-old|yo)\b"
    r"|(?:^|[.;\n]) ?(?:(?:brain )?(?:mri?|ct|pet|dwi|flair)(?: brain| head)?|findings?|impression"
    r"|report|conclusion)\s?[:–-]",
    re.IGNORECASE,
)
RESEARCH = re.compile(
    r"\b(?:participants?|controls|volunteers|cohort|groups?|fmri|meta-analys\w+|we (?:aim|examin"
    r"|investigat|recruit|scann|stud|test)\w*|p ?[<=]|n ?= ?\d)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)  # the levels of one text ask
def is_research(text: str) -> bool:
    """Whether a text is about research rather than about a patient."""
    return RESEARCH.search(text) is not None


DENIED = re.compile(
    r"\b(?:no|not|normal|without|unremarkable|intact|spared|negative)\b", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]+")


def find_general(text: str) -> list[tuple[int, int]]:
    """Find the sentences that tell what is so in general, in a text with findings of a patient.

    >>> text = "The hippocampus is vulnerable to hypoxia. In this patient the pons is infarcted."
    >>> [text[start:end] for start, end in find_general(text)]
    ['The hippocampus is vulnerable to hypoxia']
    """
    if is_research(text) or not _PATIENT.search(text) or not _MARKS.search(text):
        return []
    sentences = [match.span() for match in SENTENCE.finditer(text)]
    general = [span for span in sentences if _is_general(text[slice(*span)])]
    others = (text[slice(*span)] for span in {*sentences} - {*general})
    return general if any(map(_is_finding, others)) else []


def _is_general(sentence: str) -> bool:
    """Whether a sentence tells what is so in general, and nothing of one person."""
    return bool(_MARKS.search(sentence)) and not _OWN.search(sentence)


def _is_finding(sentence: str) -> bool:
    """Whether a sentence tells that something is wrong, and denies nothing."""
    words = _WORD.findall(sentence.lower())
    return any(map(FINDING.match, words)) and not DENIED.search(sentence)
