"""Sections: the parts of a report that tell why and how it was made, not what was found.

"Indication: seizures from the temporal lobe?" is no finding. A heading stands at the beginning of a
line or sentence and ends with a colon or dash, or is alone on its line: "History of epilepsy." is
none. A section ends at the next heading, or at an empty line if it began on the line of its heading.
Structured abstracts (Background, Methods, Results) are read whole: their methods tell the task.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Headings under which nothing was found.
_EXAM = r"(?:exam(?:ination)?s?|stud(?:y|ies)|scans?|imaging|mri|ct|reports?)"
_PAST = r"clinical|brief|relevant|past|previous|prior|medical|surgical|neurological|family|social"
NOT_FINDINGS = {
    name: re.compile("|".join(patterns), re.IGNORECASE)
    for name, patterns in {
        "technique": (
            r"(?:scan(?:ning)? |imaging |mri? |ct |pet |surgical |operative )?"
            r"(?:technique|protocol|approach)",
            r"(?:planned )?procedures?(?: performed| details)?|operation(?: performed)?",
            r"sequences?(?: acquired)?|acquisition|contrast|an(?:a)?esthesia|consent",
        ),
        "indication": (
            rf"(?:clinical )?(?:indications?|question)|indications? for (?:the )?{_EXAM}",
            rf"reasons? for (?:the )?(?:{_EXAM}|referral|request|visit|test)",
            r"clinical (?:information|info|details|data|context|background|notes?|problem|summary)",
            r"referral(?: reason| question| details)?|request(?:ed for)?",
        ),
        "history": (
            rf"(?:(?:{_PAST}|drug) )*(?:history|hx)|pmhx?|pmsh|pshx?|fhx?",
            r"(?:current |home )?medications?|meds|allergies",
        ),
        "comparison": (
            rf"comparisons?(?: with| to| {_EXAM})?|compared (?:with|to)",
            rf"(?:priors?|previous)(?: {_EXAM})?",
        ),
        "plan": (r"plan|recommendations?|advice",),
    }.items()
}
# Headings of a structured abstract; "Background" then has its other sense.
RESEARCH = re.compile(
    r"(?:(?:materials?|patients|subjects) and )?methods?|methodology|objectives?|aims?"
    r"|introduction|hypothes[ie]s|participants|(?:study )?design",
    re.IGNORECASE,
)
# Headings of what was found; those of reports alone tell that a "Background" is a history.
REPORT = re.compile(
    r"(?:imaging )?findings?|impression|opinion|report|addendum|(?:physical )?exam(?:ination)?",
    re.IGNORECASE,
)
FINDINGS = re.compile(
    r"conclusions?|results?|interpretation|summary|diagnos[ie]s|assessment|comments?",
    re.IGNORECASE,
)
HEADING = re.compile(
    r"(?:(?P<line>^)|(?<=[.;!?]))[ \t]*(?:[#*>•-]+[ \t]*|\d+[.)][ \t]*)?"
    r"(?P<words>[A-Za-z][\w /&'()-]{0,45}?)\**[ \t]*(?P<end>:|[ \t][-–—][ \t]|\r?$)",
    re.MULTILINE,
)
EMPTY_LINE = re.compile(r"\n[ \t]*\r?\n")


class Section(NamedTuple):
    """A part of a text, ``text[start:end]``, and the kind of its heading."""

    name: str
    start: int
    end: int


def read_sections(text: str) -> list[Section]:
    r"""Find the sections of a report that are no findings.

    There are none in a structured abstract, nor in a text that has nothing else.

    >>> read_sections("Indication: seizures.\nFindings: normal thalamus.")
    [Section(name='indication', start=11, end=21)]
    >>> read_sections("History of seizures."), read_sections("Indication: seizures.")
    ([], [])
    """
    headings = list(_headings(text))
    names = {heading.name for heading in headings} - {"other"}
    if "research" in names or names <= {"report"} or names == {"background"}:
        return []
    ends = [*(heading.start for heading in headings[1:]), len(text)]
    sections = [
        Section(name.replace("background", "history"), start, _end(text, start, end))
        for (name, _, start), end in zip(headings, ends, strict=True)
        if name not in ("other", "report")
    ]
    covered = sum(len(text[start:end].strip()) for _, start, end in sections)
    return sections if covered < _length(text, headings) else []


def _headings(text: str) -> Iterator[Section]:
    """Yield the headings of a text: those of reports, and any that end with a colon."""
    for match in HEADING.finditer(text):
        words = " ".join(match["words"].split())
        name = _kind(words)
        is_line = match["line"] is not None
        is_known = name != "other" or FINDINGS.fullmatch(words)
        if not is_known and not (is_line and match["end"] == ":"):
            continue
        if is_line or match["end"] == ":":
            yield Section(name, match.start("words"), match.end())


def _kind(words: str) -> str:
    """Kind of a heading: one that is no finding, "background", "report", "research" or "other"."""
    kinds = {"research": RESEARCH, "report": REPORT, **NOT_FINDINGS}
    fitting = (name for name, pattern in kinds.items() if pattern.fullmatch(words))
    return next(fitting, words.lower() if words.lower() == "background" else "other")


def _end(text: str, start: int, end: int) -> int:
    """End of a section: at an empty line, if something stands beside its heading."""
    line_end = text.find("\n", start, end)
    if line_end < 0 or not text[start:line_end].strip():
        return end
    empty = EMPTY_LINE.search(text, start, end)
    return empty.start() if empty else end


def _length(text: str, headings: list[Section]) -> int:
    """Characters of a text besides its headings and the space around them."""
    starts = [0, *(heading.end for heading in headings)]
    ends = [*(heading.start for heading in headings), len(text)]
    return sum(len(text[start:end].strip()) for start, end in zip(starts, ends, strict=True))
