"""History in running text: what a patient had before is no finding beside what is new.

"Hx of left cerebellar infarct 2015. Now right insular infarct" tells of the insula. What was before
is left out only if another part of the text tells what is new and denies it not; "previous left
cerebellar infarct" alone is a finding. Beside a heading as plain as "PMH" any other finding is new.
What looks old on a scan is a finding ("an old infarct and a fresh one"), and so is what has grown
since, and what a "3-day history" is of. Texts of research are read whole.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from neurowhere.text.reading.lexicon import FINDING
from neurowhere.text.relatives import FAMILY, is_research, sentences_of

HISTORY = "history"  # name of such parts among the sections
Span = tuple[int, int]
Matches = list[re.Match[str]]
_LESION = (
    r"(?:\w*infarct\w*|strokes?|cvas?|tias?|bleed\w*|\w*ha?emorrhag\w*|ha?ematomas?|lesions?|tumou?rs?"
    r"|\w{3,}omas?|\w{3,}(?:ectomy|otomy|itis)|contusions?|metasta\w+|abscess\w*|aneurysms?|lacun\w+"
    r"|ischa?emi\w+|avms?|ich|sah|sdh|tbi|injur\w+|resections?|surgery|ablations?|clipping|coiling"
    r"|gliosis|encephalomalacia|scars?|fits?|seizures?|pals(?:y|ies))"
)
_YEAR = r"(?:19|20)\d\d"
_HEADING = r"pmhx?\b:?|past medical (?:history|hx)\b:?(?: of)?"  # beside it, any finding is new
_HEADED = re.compile(rf"\b(?:{_HEADING})", re.IGNORECASE)
_TREATED = r"(?:clipp|coil|embolis|emboliz|evacuat|irradiat|operat|remov|resect|treat)ed"
# Phrases from which on a sentence is of the past: by themselves, or before a lesion.
_PAST = re.compile(
    rf"\b(?:(?P<history>{_HEADING}|(?:history|hx) of|h/o|(?:past |medical |prior )(?:history|hx)"
    r"|background of)"
    r"|(?:s/p|status[ -]post)(?! (?:fall|mv[ac]|tpa|tnk|thromb\w+|trauma|cardiac|arrest))"
    r"|(?:previous|prior|known (?:old|remote|chronic)|earlier)"
    rf"(?=(?: [\w/-]+){{0,6}}? {_LESION}\b)(?!(?: [\w/-]+){{0,3}}? (?:mri?|cta?|scans?|imaging"
    r"|exam\w*|stud(?:y|ies)|reports?|films?|man|woman|male|female|lady|gentleman|patient)\b)"
    rf"|{_TREATED}(?=[^.;]{{0,80}}?\b(?:no|without) (?:evidence of )?(?:recurren|residu))"
    rf"|in {_YEAR},?(?= (?:he|she|they|the patient|pt|there|had|a|an|left|right|l|r)\b))(?!\w)",
    re.IGNORECASE,
)
# What stands after a lesion of the past, and before its year.
_PLACED = (
    rf"(?:(?!(?:now|new|acute|mri?|ct|scan|with|and|but|not?|{_LESION})\b)[a-z/-]+,? ){{0,5}}?"
)
_DATED = re.compile(
    rf"\b{_LESION},? (?:{_TREATED} )?{_PLACED}(?:(?:in|from|of|since) )?\(?"
    rf"(?:(?:\d\d?/|[a-z]{{3,9}}\.?) ?)?{_YEAR}\b\)?|\b(?:years|yrs) ago\b|\bin the past\b",
    re.IGNORECASE,
)
# A history that is of the present complaint: "3-day history of", "history of present illness".
_PRESENT_HISTORY = re.compile(
    r"(?:(?:hours?|days?|weeks?|months?|years?|hr|hrs|wk|wks|yr|yrs|[dhmw]|short|brief|recent|long"
    r"|acute|current|progressive|family|no|denies|without)[ -])$",
    re.IGNORECASE,
)
_NOT_OWN = re.compile(
    r"(?:compared? (?:to|with)|than|versus|vs\.?|since|from)(?: (?:the|an?))? $", re.I
)
LONGEST_BEFORE = 24  # characters that these two look at
_PRESENT_ILLNESS = re.compile(r" (?:the )?present", re.IGNORECASE)
_CHANGED = re.compile(
    r"(?<!no )\b(?:grown|grew|enlarg\w+|bigger|larger|increas\w+|progress\w+|worse\w*|recur\w*"
    r"|expand\w+|extend\w*|evolv\w+)\b",
    re.IGNORECASE,
)
# What tells that something is new; the first of these begin a clause, so that a past one ends.
_TURN = (
    r"now|today|tonight|currently|present(?:s|ing)|presented (?:today|now|with)|admitted with"
    r"|this (?:morning|time|admission)|comes? in with|came in with"
)
_QUALITY = r"new|newly|(?:sub|hyper)?acute(?:ly)?|fresh|current|sudden(?:ly)?|recent(?:ly)?"
_SEEN = r"dwi|restrict(?:s|ed|ing) (?:diffusion|on)|diffusion restriction"
_NEW = re.compile(rf"\b(?:(?P<turn>{_TURN})|(?P<quality>{_QUALITY})|{_SEEN})\b", re.IGNORECASE)
_CUT = re.compile(r",|\b(?:and|but|with|who|which|plus)\b|[–—]| - ", re.IGNORECASE)
_PIECE = re.compile(r"[,;]|\b(?:but|without|with no|however|although)\b", re.IGNORECASE)
# Signs that tell where; seizures do not, and what was before may be where they come from.
_SIDE = re.compile(r"left|right|bilateral|l|r|lt|rt")
_SIGN = re.compile(
    r"(?:\w*(?:phasi|prax|gnosi|taxi|plegi|pares|parap|mnesi)\w*"
    r"|droop\w*|vertigo|numb\w*|tremor|neglect|hemianop\w*|visual|speech|slurr\w+|dysarthr\w*"
    r"|diplopia|positive|bright|cvas?|tias?|sah|ich|sdh)"
)
DENIED = re.compile(
    r"\b(?:no|not|normal|without|unremarkable|intact|spared|negative)\b", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]+")


def find_history(text: str) -> list[Span]:
    """Find the parts of a text that tell what was before, if another part tells what is new.

    >>> text = "PMH left cerebellar stroke. Now right insular infarct."
    >>> [text[start:end] for start, end in find_history(text)]
    ['PMH left cerebellar stroke']
    >>> find_history("Old left cerebellar infarct."), find_history("3-day history of weakness, now")
    ([], [])
    """
    if is_research(text):  # an article has its first word soon
        return []
    is_headed = bool(_HEADED.search(text))
    if not (is_headed or _NEW.search(text)):
        return []
    past, others = _past_and_others(text)
    if not past or any(map(_tells_new, others)):
        return past
    is_headed &= any(map(_tells_finding, others))
    return [span for span in past if is_headed and _HEADED.match(text, span[0])]


def _past_and_others(text: str) -> tuple[list[Span], list[str]]:
    """Return the parts of a text that are of the past, and the words beside them."""
    past, others = list[Span](), list[str]()
    for sentence in sentences_of(text):
        spans = [*_past_of(text, *sentence)]
        past += spans
        others += (text[slice(*span)] for span in _beside(sentence, spans))
    return past, others


def _past_of(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the parts of a sentence that are of the past, in order."""
    marks = (*_PAST.finditer(text, start, end), *_DATED.finditer(text, start, end))
    if not marks:
        return
    changed, news, cuts = ([*each.finditer(text, start, end)] for each in (_CHANGED, _NEW, _CUT))
    free = start
    for mark in sorted(marks, key=re.Match.start):
        is_changed = bool(changed) and changed[-1].start() >= mark.end()
        if mark.start() < free or is_changed or _is_present(text, start, mark):
            continue
        if mark.re is _PAST:
            first, last = mark.start(), _next_clause(news, cuts, mark.end(), end)
        else:
            first, last = _clause_before(mark, cuts, free), mark.end()
            if _last_between(news, first, last):
                continue
        if last > first:
            yield first, last
            free = last


def _is_present(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a mark of the past is of the present complaint, or of what this is compared with."""
    before = text[max(start, mark.start() - LONGEST_BEFORE) : mark.start()]
    if mark.re is _PAST and mark["history"]:
        is_illness = _PRESENT_ILLNESS.match(text, mark.end())
        return bool(is_illness or _PRESENT_HISTORY.search(before))
    return bool(_NOT_OWN.search(before))


def _next_clause(news: Matches, cuts: Matches, start: int, end: int) -> int:
    """End of a part of the past: where the clause begins that tells what is new, or a sentence."""
    for number in range(bisect_left(news, start, key=re.Match.start), len(news)):
        new = news[number]
        if new["turn"]:
            return new.start()
        if cut := _last_between(cuts, start, new.start()):
            return cut.start()
    return end


def _last_between(found: Matches, start: int, end: int) -> re.Match[str] | None:
    """Return the last match that begins between two places."""
    number = bisect_left(found, end, key=re.Match.start) - 1
    return found[number] if number >= 0 and found[number].start() >= start else None


def _clause_before(mark: re.Match[str], cuts: Matches, free: int) -> int:
    """Return where the clause of a mark begins, not before a place that is free."""
    cut = _last_between(cuts, free, mark.start())
    return cut.end() if cut else free


def _beside(sentence: Span, past: list[Span]) -> Iterator[Span]:
    """Yield what a sentence has beside its parts of the past."""
    start, end = sentence
    for first, last in past:
        yield start, first
        start = last
    yield start, end


def _tells_new(words: str) -> bool:
    """Whether some words tell of something new, and deny it not."""
    is_followed = False  # by a finding
    for piece in _pieces(words)[::-1]:
        is_followed = is_followed or _is_finding(piece, _SIDE)
        if is_followed and _NEW.search(piece) and not DENIED.search(piece):
            return True
    return False


def _tells_finding(words: str) -> bool:
    """Whether some words tell that something else is wrong, with no relative, and deny it not."""
    if FAMILY.search(words) or _CHANGED.search(words):
        return False
    return any(_is_finding(piece) and not DENIED.search(piece) for piece in _pieces(words))


def _pieces(words: str) -> list[str]:
    """Return the clauses of some words."""
    bounds = [0, *(cut.end() for cut in _PIECE.finditer(words)), len(words)]
    return [words[start:end] for start, end in pairwise(bounds)]


def _is_finding(words: str, *more: re.Pattern[str]) -> bool:
    """Whether some words tell that something is wrong; words of other patterns do so as well."""
    found = _WORD.findall(words.lower())
    signs = (_SIGN, *more)
    return any(FINDING.match(word) or any(sign.fullmatch(word) for sign in signs) for word in found)
