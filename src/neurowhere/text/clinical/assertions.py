"""Assertions: what a text says of each name in it: denied, left open, or in no finding at all.

Parts of a report tell why and how it was made, not what was found: "Indication: seizures from the
temporal lobe?" is no finding. A heading stands at the beginning of a line or sentence and ends with
a colon or dash, or is alone on its line in a text with another heading of reports: "History of
epilepsy." is none. A section ends at the next heading, or at an empty line if it began beside its
heading. Structured abstracts (Background,
Methods, Results) are read whole: their methods tell the task.

A sentence that a text repeats word by word, as notes of a ward are copied from day to day, counts
once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from neurowhere.text.clinical.denials import Denials, attach_denials
from neurowhere.text.clinical.hedges import attach_hedges
from neurowhere.text.clinical.reading import Reading

EXAM = r"(?:exam(?:ination)?s?|stud(?:y|ies)|scans?|imaging|mri|ct|reports?)"
PAST = r"clinical|brief|relevant|past|previous|prior|medical|surgical|neurological|family|social"
# Headings under which nothing was found, by the name of the section.
NOT_FINDINGS = {
    "technique": (
        r"(?:scan(?:ning)? |imaging |mri? |ct |pet |surgical |operative )?"
        r"(?:technique|protocol|approach)",
        r"(?:planned )?procedures?(?: performed| details)?|operation(?: performed)?",
        r"sequences?(?: acquired)?|acquisition|scanner|anaesthesia|anesthesia|consent",
        r"position(?:ing)?|incision|trajectory",
    ),
    "indication": (
        rf"(?:clinical )?(?:indications?|questions?)|indications? for (?:the )?{EXAM}",
        rf"reasons? for (?:the )?(?:{EXAM}|referral|request|visit|test)",
        r"clinical(?: information| info| details| data| context| notes?| problem| query)?",
        r"referral(?: reason| question| details)?|request(?:ed for| details)?",
    ),
    "history": (
        rf"(?:(?:{PAST}|drug) )*(?:history|hx)|pmhx?|pmsh|pshx?|fhx?|dhx?|shx?",
        r"clinical background|background history|(?:current |home )?medications?|meds|allergies",
    ),
    "comparison": (
        rf"comparisons?(?: with| to| {EXAM})?|compared (?:with|to)",
        rf"(?:priors?|previous)(?: {EXAM})?|(?:earlier|last|old) {EXAM}",
    ),
    "plan": (r"(?:surgical |follow-up )?plan(?:ning)?|recommendations?|advice|next steps",),
}
# Other headings, that tell a report from a structured abstract, or that end a section.
OTHERS = {
    "report": (
        r"(?:imaging )?findings?|impression|opinion|report|addendum|(?:physical )?exam(?:ination)?",
    ),
    "background": ("background",),
    "methods": (r"(?:(?:materials?|patients|subjects) and )?methods?|methodology",),
    "research": (r"objectives?|aims?|introduction|hypothes[ie]s|participants|(?:study )?design",),
    "result": (r"conclusions?|results?|interpretation|summary|diagnos[ie]s|assessment|comments?",),
}
KINDS = {
    name: re.compile("|".join(patterns), re.IGNORECASE)
    for name, patterns in (NOT_FINDINGS | OTHERS).items()
}
AMBIGUOUS = {"background": "history", "methods": "technique"}  # what they are in a report
HEADING = re.compile(
    r"(?:(?P<line>^)|(?<=[.;!?]))[ \t]*(?:[#*>•-]+[ \t]*|\d+[.)][ \t]*)?"
    r"(?P<words>[A-Za-z][\w /&'()-]{0,45}?)\**[ \t]*(?P<end>:|[ \t][-–—][ \t]|\r?$)",
    re.MULTILINE,
)
MARKS = (":", "-", "–", "—")  # at the end of a heading
DATE = re.compile(r"\s*[\d(].*")  # and whatever follows it in a heading
SENTENCE = re.compile(r"[^\n.!?]+")
SHORTEST_COPY = 30  # characters of a sentence that counts once, however often it is repeated
EMPTY_LINE = re.compile(r"\n[ \t]*\r?\n")


Span = tuple[int, int]


class Section(NamedTuple):
    """A part of a text, ``text[start:end]``, and the kind of its heading."""

    name: str
    start: int
    end: int


def read_sections(text: str) -> list[Section]:
    r"""Find the sections of a report that are no findings.

    There are none in a structured abstract, nor in a text that has nothing else.

    >>> read_sections("Indication: seizures.\nFindings: normal thalamus.")
    [Section(name='indication', start=11, end=22)]
    >>> read_sections("History of seizures."), read_sections("Indication: seizures.")
    ([], [])
    """
    if ":" not in text and "\n" not in text:
        return []
    headings = _without_bare(text, list(_headings(text)))
    if _is_abstract({heading.name for heading in headings}):
        return []
    ends = [*(heading.start for heading in headings), len(text)][1:]
    parts = [
        Section(AMBIGUOUS.get(name, name), start, _end(text, start, end))
        for (name, _, start), end in zip(headings, ends, strict=False)
    ]
    sections = [part for part in parts if part.name in NOT_FINDINGS]
    return sections if _length(text, sections) < _length(text, _between(text, headings)) else []


def _headings(text: str) -> Iterator[Section]:
    """Yield the headings of a text: those that are known, and all others of lines with a colon."""
    for match in HEADING.finditer(text):
        words = DATE.sub("", " ".join(match["words"].split()))
        fitting = (name for name, pattern in KINDS.items() if pattern.fullmatch(words))
        name = next(fitting, "other")
        is_line, has_colon = match["line"] is not None, match["end"] == ":"
        if (is_line or has_colon) and (name != "other" or (is_line and has_colon)):
            yield Section(name, match.start("words"), match.end())


def _without_bare(text: str, headings: list[Section]) -> list[Section]:
    """Leave out lines that are no headings: "History", and nothing else that reports have."""
    known = [heading for heading in headings if heading.name in {*NOT_FINDINGS, "report"}]
    if len(known) > 1:
        return headings
    return [each for each in headings if text[each.start : each.end].rstrip().endswith(MARKS)]


def _is_abstract(names: set[str]) -> bool:
    """Whether headings are those of a structured abstract rather than of a report."""
    ambiguous = names & AMBIGUOUS.keys()
    return "research" in names or len(ambiguous) == 2 or (bool(ambiguous) and "report" not in names)


def _end(text: str, start: int, end: int) -> int:
    """End of a section: at an empty line, if something stands beside its heading."""
    line_end = text.find("\n", start, end)
    if line_end < 0 or not text[start:line_end].strip():
        return end
    empty = EMPTY_LINE.search(text, start, end)
    return empty.start() if empty else end


def _between(text: str, headings: list[Section]) -> list[Section]:
    """Parts of a text before, between and after its headings."""
    starts = [0, *(heading.end for heading in headings)]
    ends = [*(heading.start for heading in headings), len(text)]
    return [Section("", start, end) for start, end in zip(starts, ends, strict=True)]


def _length(text: str, parts: list[Section]) -> int:
    """Characters of some parts of a text, without the space around them."""
    return sum(len(text[start:end].strip()) for _, start, end in parts)


def find_copies(text: str) -> list[Span]:
    """Find the sentences of a text that stand in it before, word by word.

    >>> find_copies("Walks with a frame and a carer. Walks with a frame  and a carer. Eats.")
    [(31, 63)]
    """
    seen: set[str] = set()
    copies = []
    for match in SENTENCE.finditer(text):
        words = " ".join(match[0].split())
        if words in seen:
            copies.append(match.span())
        elif len(words) >= SHORTEST_COPY:
            seen.add(words)
    return copies


class Assertions:
    """What a text says of the matches in it.

    Parameters
    ----------
    reading : Reading
    negation : bool
        Whether what the text denies is told apart.
    sections : bool
        Whether what is in a section that is no finding is told apart.
    hedge_weight : float
        Weight of what the text leaves open.
    """

    def __init__(
        self, reading: Reading, *, negation: bool, sections: bool, hedge_weight: float
    ) -> None:
        self.reading = reading
        self.hedge_weight = hedge_weight
        denials = attach_denials(reading) if negation else Denials({}, {})
        self.denied = denials.denied
        self.hedged = attach_hedges(reading) | denials.left_open
        self.sections = read_sections(reading.text) if sections else []
        self.copies = find_copies(reading.text)
        self.starts = reading.starts[reading.first].tolist()
        self.ends = reading.ends[reading.last].tolist()
        # The same for another reading of the text.
        self.of = partial(
            Assertions, negation=negation, sections=sections, hedge_weight=hedge_weight
        )

    def words(self, number: int) -> str:
        """Words of a match as the text has them."""
        return self.reading.text[self.starts[number] : self.ends[number]]

    def fields(self, number: int) -> dict[str, Any]:
        """Return what is said of a match, as the fields of a mention."""
        start, end = self.starts[number], self.ends[number]
        denial, hedge = self.denied.get(number), self.hedged.get(number)
        section = self.section(start) if self.sections else None
        is_copy = bool(self.copies) and self.is_copy(start)
        if not (denial or hedge or section or is_copy):  # nearly all are
            return {"start": start, "end": end}
        weight = self.hedge_weight if hedge else 1.0
        return {
            "start": start,
            "end": end,
            "negation_span": self.reading.span(denial) if denial else None,
            "hedge_span": self.reading.span(hedge) if hedge else None,
            "section": section,
            "weight": 0.0 if denial or section or is_copy else weight,
        }

    def is_copy(self, start: int) -> bool:
        """Whether a place of the text is in a sentence that stands before it as well."""
        number = bisect_right(self.copies, start, key=itemgetter(0)) - 1
        return number >= 0 and start < self.copies[number][1]

    def section(self, start: int) -> str | None:
        """Name of the section that is no finding and that a place of the text is in."""
        number = bisect_right(self.sections, start, key=attrgetter("start")) - 1
        if number < 0 or start >= self.sections[number].end:
            return None
        return self.sections[number].name
