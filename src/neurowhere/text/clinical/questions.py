"""Questions that a normal scan answers: what was only suspected is no finding then.

"Referred for possible right thalamic lesion; MRI normal" has nothing in the thalamus. A question is
refuted if the next clause says that the scan of the brain is normal, or that it has none of what
was asked for; "no hemorrhage" does not refute an infarct. What a scan raised, what it cannot refute
(seizures, weakness) and what the text takes up again after the answer stay open. So is a question
about a place that is normal in the next sentence: "Concern for insular glioma. Insula normal." Only
notes are read, and no article.
"""

import re
from typing import NamedTuple

from neurowhere.text.general import RESEARCH
from neurowhere.text.words import word_set

Span = tuple[int, int]
# Words of which a question has one: it takes long to look for the whole of it.
ASKING = word_set(
    """
    assess assessing concern concerned concerning concerns evaluate evaluating exclude look looking
    o possible presumed presumptive probable provisional queried queries query question rule screen
    screening suspect suspected suspects suspicion suspicious there working worried
    """
)
LONGEST = 120  # characters of a question
LONGEST_NOTE = 5_000  # characters of a text that is read for them

_CUE = re.compile(
    r"(?:^|(?<=[\s(\[,;:/]))\?+\s?(?=[a-z])|\b(?:(?:clinical )?question(?::| of)|quer(?:y|ied|ies)"
    r"|possible|probable|presumed|suspect(?:ed|s)?|suspicion of|suspicious for|r/o|rule out"
    r"|(?:working|provisional|presumptive) diagnosis"
    r"|(?:to|please) exclude|concern(?:ed|ing|s)? (?:for|about)|worried about"
    r"|(?:evaluate|assess|look|screen)(?:ing)? for|is there|are there)(?!\w)",
    re.IGNORECASE,
)
# What a scan of the brain shows if it is there, by kinds that are the same thing.
_KINDS = (
    r"bleed(?:s|ing)?|ha?emorrhages?|ha?ematomas?|ich|sah|sdh",
    r"strokes?|cva|infarct(?:s|ion|ions)?|ischa?emia|lacunes?",
    r"tumou?rs?|mass(?:es)?|metastas[ei]s|\w{3,}(?<!hemat)(?<!haemat)oma(?:s|ta)?|abscess(?:es)?",
    r"ms|multiple sclerosis|demyelination|plaques?",
    r"contusions?|cysts?|sclerosis|atrophy|malformation|injury|avm|encephalomalacia|gliosis",
    r"lesions?|abnormalit(?:y|ies)|patholog(?:y|ies)",
)
_LESION = re.compile(rf"\b(?:{'|'.join(_KINDS)})\b", re.IGNORECASE)
_ANYTHING = r"abnormalit(?:y|ies)|lesions?|findings?|patholog(?:y|ies)|abnormal findings?"
_SCAN = (
    r"(?:(?:brain|cranial|head|cerebral) )?(?:ct|mri?|dwi|scans?|imaging|neuroimaging|study)"
    r"(?:[ /](?:and|with dwi|scans?|study|imaging|examination|ct|mri?|(?:of )?(?:the )?"
    r"(?:brain|head))){0,4}"
)
_WHOSE = r"(?:(?:the|an?|his|her|both|repeat|initial|subsequent|emergency|urgent|plain)\s){0,3}"
_WHOLLY = r"(?:(?:completely|entirely|essentially|perfectly|totally|both|all)\s)?"
_NORMAL = r"(?:normal|unremarkable|negative|clear|nad|nl)(?: for (?:his |her )?age)?"
_SAID = r"(?:(?:is|are|was|were|came back|comes back|appears|looks|reported as|read as)\s|:\s?)"
_SHOWED = r"(?:(?:shows?|showed|found|reveals?|revealed|demonstrate[sd]?|with)\s|:\s?)"
_NONE = (
    r"(?:no|nil|without|negative for|excluded|(?:did|does) not (?:show|reveal)(?: an?| any)?)\s"
    r"(?:(?:evidence|signs?) of\s(?:an?\s|any\s)?)?"
    r"(?:(?:acute|focal|intracranial|structural|significant|relevant|cerebral|brain|such|any)\s){0,3}"
)
_SEEN = (
    r"(?:\s(?:is |are |was |were )?(?:found|seen|detected|identified|demonstrated|present|shown))?"
    rf"(?:\son\s{_WHOSE}{_SCAN})?"
)
# What parts a question from its answer, and what ends the answer.
_JOINT = r"(?:\s?[.;,:?!)–—-][\s.;,:?!)–—-]{0,3}(?:but\s|however,?\s)?|\s(?:but|and|with)\s)"
_MORE = rf"(?:,? (?:and )?(?:{_SCAN}|eeg|csf|bloods)\s{_SAID}?{_WHOLLY}{_NORMAL}){{0,2}}"
_END = r"(?=\s{0,3}(?:$|[.;!\n]|,? (?:with )?(?:no|without)\b))"
_ANSWER = re.compile(
    rf"{_JOINT}(?P<said>{_WHOSE}{_SCAN}\s?{_SAID}?{_WHOLLY}{_NORMAL}"
    rf"|(?:an?\s)?{_WHOLLY}{_NORMAL}(?:\s{_SCAN})?|{_WHOSE}{_SCAN}\ssa(?:ys|id) no"
    rf"|{_WHOSE}(?:{_SCAN}\s?{_SHOWED}?)?{_NONE}(?P<what>{_ANYTHING}|{'|'.join(_KINDS)}){_SEEN})"
    rf"{_MORE}{_END}",
    re.IGNORECASE,
)
# Where a question ends before its sentence does: signs and reasons that are not asked for.
_REASON = re.compile(
    r"\b(?:with|given|because|due to|after|in view of|presenting)\b", re.IGNORECASE
)
# What a scan has raised, and what it does not refute.
_RAISED = re.compile(
    rf"\b(?:{_SCAN}|eeg|pet|spect|ultrasound)\b(?!\s+(?:for|to|requested|because)\b)", re.IGNORECASE
)
_UNREFUTED = re.compile(r"\b(?:epilep|seizure|ictal|tias?\b|transient|fits?\b)", re.IGNORECASE)
_AGAIN = re.compile(
    r"\b(?:ct|mri?|dwi|pet|eeg|scans?|imaging|confirm\w*|diagnos\w*|treat\w*|repeat\w*|later"
    r"|subsequent\w*|follow\w*|restrict\w*)\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.;!\n](?!\d)")
_END_OF_QUESTION = re.compile(r"[.;!?\n](?!\d)")


class Refuted(NamedTuple):
    """A question that is answered: where it is, and where the answer is."""

    question: Span
    answer: Span


def find_refuted(text: str) -> list[Refuted]:
    """Find the questions of a text that a normal scan answers.

    >>> text = "Query pontine lesion, scan unremarkable."
    >>> [text[slice(*found.question)] for found in find_refuted(text)]
    ['Query pontine lesion']
    >>> find_refuted("Query pontine lesion, no hemorrhage.")
    []
    """
    if not _is_asking(text):
        return []
    again = max((match.start() for match in _AGAIN.finditer(text)), default=0)
    answers = (answer for answer in _ANSWER.finditer(text) if answer.end() > again)
    return [found for answer in answers if (found := _refuted_by(text, answer))]


def find_asked(text: str) -> list[Span]:
    """Find the sentences of a text that ask for a lesion.

    >>> text = "Concern for insular glioma. Insula normal."
    >>> [text[slice(*found)] for found in find_asked(text)]
    ['Concern for insular glioma']
    """
    if not _is_asking(text):
        return []
    found: dict[int, int] = {}  # by where each ends
    for cue in _CUE.finditer(text):
        stop = _END_OF_QUESTION.search(text, cue.end(), cue.end() + LONGEST)
        end = stop.start() if stop else len(text)
        asked = text[cue.start() : end]
        if _LESION.search(asked) and not _UNREFUTED.search(asked):
            found.setdefault(_reason(text, cue.end(), end), cue.start())
    return [(start, end) for end, start in found.items()]


def _is_asking(text: str) -> bool:
    """Whether a text is a note that may have a question."""
    if len(text) > LONGEST_NOTE or RESEARCH.search(text):
        return False
    return "?" in text or _CUE.search(text) is not None


def _refuted_by(text: str, answer: re.Match[str]) -> Refuted | None:
    """Return the question before an answer that refutes it."""
    start = _sentence_start(text, answer.start())
    cue = _CUE.search(text, start, answer.start())
    question = text[start : answer.start()]
    is_marked = "?" in text[answer.start() : answer.start("said")]  # "Cerebellar stroke? CT normal"
    if _RAISED.search(question) or _UNREFUTED.search(question):
        return None
    if not _is_answered(question, answer["what"]):
        return None
    if cue is None:
        asked = start, _reason(text, start, answer.start())
        return Refuted(asked, answer.span("said")) if is_marked else None
    is_passive = _LESION.search(text, cue.end(), answer.start()) is None  # "a bleed was suspected"
    end = _reason(text, cue.end(), answer.start())
    return Refuted((start if is_passive else cue.start(), end), answer.span("said"))


def _reason(text: str, start: int, end: int) -> int:
    """Where a question ends: at the reason that it gives after its lesion, or with its sentence."""
    lesion = _LESION.search(text, start, end)
    reason = _REASON.search(text, lesion.end() if lesion else start, end)
    return reason.start() if reason else end


def _sentence_start(text: str, end: int) -> int:
    """Where the sentence begins that some place of a text is in, or a part of a long one."""
    first = max(end - LONGEST, 0)
    return max((stop.end() for stop in _STOP.finditer(text, first, end)), default=first)


def _is_answered(question: str, what: str | None) -> bool:
    """Whether an answer denies what a question asks for; without a name it denies everything."""
    lesion = _LESION.search(question)
    if lesion is None or what is None or re.fullmatch(_ANYTHING, what, re.IGNORECASE):
        return lesion is not None
    return any(
        re.search(rf"\b(?:{kind})\b", question, re.IGNORECASE)
        and re.fullmatch(kind, what, re.IGNORECASE)
        for kind in _KINDS
    )
