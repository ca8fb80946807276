"""Sections: the parts of a report that tell why and how it was made, not what was found.

"Indication: seizures from the temporal lobe?" is no finding. A heading stands at the beginning of a
line or sentence and ends with a colon or dash, or is alone on its line: "History of epilepsy." is
none. A section ends at the next heading, or at an empty line if it began beside its heading.
Structured abstracts (Background, Methods, Results) are read whole: their methods tell the task.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

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
DATE = re.compile(r"\s*[\d(].*")  # and whatever follows it in a heading
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
    [Section(name='indication', start=11, end=22)]
    >>> read_sections("History of seizures."), read_sections("Indication: seizures.")
    ([], [])
    """
    if ":" not in text and "\n" not in text:
        return []
    headings = list(_headings(text))
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
