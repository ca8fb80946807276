"""Sections: the parts of reports and of articles, by their headings.

Parts of a **report** tell why and how it was made, not what was found: "Indication: seizures from
the temporal lobe?" is no finding. A heading stands at the beginning of a line or sentence and ends
with a colon or dash, or is alone on its line in a text with another heading of reports: "History of
epilepsy." is none. A section ends at the next heading, or at an empty line if it began beside its
heading. Structured abstracts (Background, Methods, Results) are read whole: their methods tell the
task. Names of institutions are no findings anywhere: a "Pain Clinic" is not a pain.

Headings of an **article** may stand in the running text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cache, lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from neurowhere.text.history import HISTORY, find_history
from neurowhere.text.reading.lexicon import words_of
from neurowhere.text.reading.tables import TEXT, Column, alternatives, one_of, read_table, split
from neurowhere.text.relatives import find_relatives


class Section(IntEnum):
    """Parts of an article."""

    FRONT = 0
    INTRODUCTION = 1
    METHODS = 2
    RESULTS = 3
    DISCUSSION = 4
    CAPTION = 5
    BACK = 6


Cut = tuple[int, Section]

_HEADINGS = {
    Section.INTRODUCTION: r"[Ii]ntroduction|INTRODUCTION|Background|BACKGROUND",
    Section.METHODS: r"(?:(?:Materials?|Methods|Participants|Subjects|Patients) and |Experimental "
    r"|(?:MATERIALS?|METHODS) AND |EXPERIMENTAL )?"
    r"(?:[Mm]ethods?|METHODS?|[Mm]aterials?|MATERIALS?|[Pp]rocedures?|PROCEDURES?)",
    Section.RESULTS: r"(?:Results?|RESULTS?)(?: and [Dd]iscussions?| AND DISCUSSION)?",
    Section.DISCUSSION: r"(?:General )?(?:[Dd]iscussion|DISCUSSION)|Conclusions?|CONCLUSIONS?"
    r"|Limitations",
    Section.BACK: r"References|REFERENCES|Acknowledge?ments?|ACKNOWLEDGE?MENTS?|Abbreviations"
    r"|Supporting [Ii]nformation|Supplementary [Mm]aterials?|Author [Cc]ontributions?"
    r"|Conflicts? of [Ii]nterests?|Competing [Ii]nterests?",
    Section.CAPTION: r"(?:Figure|Fig\.?|FIGURE) ?\d+\.?",
}
_HEADING = re.compile(
    r"(?:^|(?<=[.!?)\]\n\"”;:])|(?<=\b\d))\s{0,9}(?:\d{1,2}(?:\.\d)?\.?\s{0,3})?(?:"
    + "|".join(f"(?P<{section.name}>{words})" for section, words in _HEADINGS.items())
    + r")\s{1,9}(?=[A-Z0-9(“\"\n])"
)
# Every heading has one of these, after at most so many characters of it and before so many.
_HEADING_STEMS = ("ntroduction", "ethod", "aterial", "rocedure", "iscussion")
# Capitals are rare, so that one expression finds these fast.
_CAPITAL_STEMS = re.compile(
    "NTRODUCTION|Background|BACKGROUND|METHOD|MATERIAL|PROCEDURE|Result|RESULT|DISCUSSION"
    "|Conclusion|CONCLUSION|Limitations|References|REFERENCES|Acknowledg|ACKNOWLEDG|Abbreviations"
    "|Supporting |Supplementary |Author |Conflict|Competing |Fig|FIGURE"
)
_BEFORE_STEM, _AFTER_STEM = 40, 60
_EARLY, _ABSTRACT = 0.25, 0.15  # shares of a text in which an introduction, an abstract begins
_PARTS_OF_ABSTRACT = (Section.METHODS, Section.RESULTS, Section.DISCUSSION)
_ABSTRACT_PART = 2500  # characters of one part of a structured abstract, at most
_FRONT_MATTER = 3500  # characters before the text proper where no heading says so
_CAPTION_LENGTH = 900  # characters of a caption within a section, at most


def section_cuts(text: str) -> list[Cut]:
    """Return where the sections of an article begin, in order, and which they are.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (int, Section)
        The first is at 0.

    Examples
    --------
    >>> text = "Title. Introduction We ask. Methods We scan them. Results We see what we asked for."
    >>> [(start, section.name) for start, section in section_cuts(text)]
    [(0, 'FRONT'), (20, 'INTRODUCTION'), (36, 'METHODS'), (58, 'RESULTS')]
    """
    heads = list(_headings(text))
    body = list(_body(heads, len(text)))
    cuts: list[Cut] = [(0, Section.FRONT)]
    if not any(section == Section.INTRODUCTION for _, section in body):
        first = body[0][0] if body else len(text)
        if first > _FRONT_MATTER:
            begun = Section.INTRODUCTION if body else Section.RESULTS
            cuts.append((_FRONT_MATTER, begun))
    current = cuts[-1][1]
    for (start, section), (end, _) in pairwise([*body, (len(text), Section.BACK)]):
        cuts.append((start, section))
        if section != Section.CAPTION or current in (Section.CAPTION, Section.BACK):
            current = section
        elif (after := _caption_end(text, start)) < end:
            cuts.append((after, current))
    return cuts


def _headings(text: str) -> Iterator[Cut]:
    """Yield where headings end, and of which section they are."""
    free = 0
    capitals = (match.start() for match in _CAPITAL_STEMS.finditer(text))
    for stem in sorted([*places_of(_HEADING_STEMS, text), *capitals]):
        if stem < free:
            continue
        match = _HEADING.search(text, max(free, stem - _BEFORE_STEM), stem + _AFTER_STEM)
        if match and match.start() <= stem < match.end():
            if not (match["CAPTION"] and _is_in_sentence(text, match)):
                yield match.end(), Section[str(match.lastgroup)]
            free = match.end()


def _is_in_sentence(text: str, match: re.Match[str]) -> bool:
    """Whether a line with the number of a figure is part of a sentence: "shown in Figure 2 and"."""
    start, after = match.start("CAPTION"), text[match.end() : match.end() + _BEFORE_STEM].lstrip()
    before, line_break, gap = text[max(start - _BEFORE_STEM, 0) : start].rpartition("\n")
    is_first = bool(line_break) and not gap.strip()
    goes_on = after[:1] in tuple(");,.") or after[:1].islower()
    return is_first and (goes_on or before.rstrip(" \t")[-1:] not in {"", "\n", *'.!?)]"”;:'})


def places_of(
    words: Iterable[str], text: str, first: int = 0, last: int | None = None
) -> Iterator[int]:
    """Yield where any of some words begins in ``text[first:last]``, word by word."""
    last = len(text) if last is None else last
    for word in words:
        end = last + len(word) - 1
        place = text.find(word, first, end)
        while place >= 0:
            yield place
            place = text.find(word, place + 1, end)


def _caption_end(text: str, start: int) -> int:
    line = text.find("\n", start, start + _CAPTION_LENGTH)
    return start + _CAPTION_LENGTH if line < 0 else line


def _body(heads: list[Cut], length: int) -> Iterator[Cut]:
    """Yield the headings of the text proper: neither those of a structured abstract nor repeats."""
    begun = (start for start, section in heads if section == Section.INTRODUCTION)
    last = max((start for start in begun if start < _EARLY * length), default=0)
    for (start, section), (end, _) in pairwise([*heads, (length, Section.BACK)]):
        if section == Section.INTRODUCTION:
            is_kept = start == last
        else:
            is_part = section in _PARTS_OF_ABSTRACT and end - start < _ABSTRACT_PART
            is_kept = start >= max(last, is_part * _ABSTRACT * length)
        if is_kept:
            yield start, section


# ---- reports

HEADINGS: dict[str, Column] = {
    "id": TEXT,
    "section": one_of(
        "family past technique indication history comparison plan affiliations report exam abstract"
        " background methods research result"
    ),
    "words": TEXT,
}
# Headings under which nothing was found; others tell a report from an abstract, or end a section.
NOT_FINDINGS = ("technique", "indication", "history", "comparison", "plan", "affiliations")
PARTS_OF_HISTORY = ("family", "past")
TESLA = re.compile(r"[\d.]+t")
AFFILIATIONS, ADDRESS = "affiliations", "address"
# "Department of Neurology", "Basel University", and what names an institution only beside these.
_INSTITUTION = re.compile(
    r"(?:Department|Dept\.|Division|School|University|Institute|College)(?P<of> (?:of|for) )"
    r"|University|Institute|College|Hospital|Medical (?:School|Center)"
)
_STRONG = ("Dep", "Univer", "Division", "School", "Institute", "College", "Hospital", "Medical C")
_WEAK = re.compile(r"(?:Center|Centre)(?P<of> for )?|Clinic|Unit|Laboratory|Lab")
_NAME_END = re.compile(
    r"[,;.)]|\s*$| (?:\(|(?:and|at|by|for|from|in|is|on|to|was|were|where|which|who|with)\b)", re.M
)
_LINKS = frozenset({"of", "and", "for", "&"})  # within a name
_ADDRESS = 200  # characters of a name, at most
_WORD = re.compile(r"\S+")
_AMBIGUOUS = {"background": "history", "methods": "technique"}  # what they are in a report
_NAMES = _AMBIGUOUS | dict.fromkeys(PARTS_OF_HISTORY, HISTORY)
# Most sentences are no heading, which the first sign after their first words tells fast.
_MAY_BE_HEADING = r"(?=[ \t\d#*>•.)-]*+[\w /&'()]*+(?:[-*:\t\r\n–—]|\Z))"
_REPORT_HEADING = re.compile(
    rf"(?:(?P<line>^)|(?<=[.;!?])){_MAY_BE_HEADING}[ \t]*(?:[#*>•-]+[ \t]*|\d+[.)][ \t]*)?"
    r"(?P<words>[A-Za-z][\w /&'()-]{0,45}?)\**[ \t]*(?P<end>:|[ \t][-–—][ \t]|\r?$)",
    re.MULTILINE,
)
_MARKDOWN = re.compile(r"#|\*\*")
_BEFORE_HEADING = "\n.;!?"
_MARKS = (":", "-", "–", "—")  # at the end of a heading
# What every heading ends with, after at most so many characters.
_MARK = re.compile(r"[:\n–—-](?:(?<=[:\n])|(?<=[ \t].)(?=[ \t]))")
_LONGEST_HEADING = 120
_DATE = re.compile(r"\s*[\d(].*")  # and whatever follows it in a heading
_CURRENT = re.compile(r"(?<=[.;\n])\s*(?:now|today|currently|presents|presenting)\b", re.IGNORECASE)
_EMPTY_LINE = re.compile(r"\n[ \t]*\r?\n")
_LINE_OR_TABLE = re.compile(rf"{_EMPTY_LINE.pattern}|\n(?=[^\n]*(?:\||\S\t))")
_SENTENCE_OR_LINE = re.compile(r"[.!?](?=\s)|\n")


class Part(NamedTuple):
    """A part of a text, ``text[start:end]``, and the kind of its heading."""

    name: str
    start: int
    end: int


def read_sections(text: str) -> list[Part]:
    r"""Find the parts of a text that are no findings: of a report, and institutions.

    A structured abstract has no such sections, nor has a text that has nothing else, but for what
    the family has.

    >>> read_sections("Indication: seizures.\nFindings: normal thalamus.")
    [Part(name='indication', start=11, end=22)]
    >>> read_sections("History of seizures."), read_sections("Indication: seizures.")
    ([], [])
    """
    parts = _sections_of_report(text) if _MARK.search(text) else []
    others = (
        (ADDRESS, find_institutions(text)),
        (HISTORY, find_relatives(text)),
        (HISTORY, find_history(text)),
    )
    for name, spans in others:
        more = [Part(name, *span) for span in spans if not _is_taken(span, parts)]
        parts = sorted([*parts, *more], key=attrgetter("start"))
    return parts


def _is_taken(span: tuple[int, int], parts: list[Part]) -> bool:
    """Whether some parts, in order, have something of a span."""
    start, end = span
    number = bisect_right(parts, start, key=attrgetter("end"))
    return number < len(parts) and parts[number].start < end


def _sections_of_report(text: str) -> list[Part]:
    headings = _without_bare(text, list(_report_headings(text)))
    is_abstract = _is_abstract({heading.name for heading in headings})
    ends = [*(heading.start for heading in headings), len(text)][1:]
    kept = (AFFILIATIONS,) if is_abstract else NOT_FINDINGS
    sections = [
        Part(_NAMES.get(name, name), start, _part_end(text, start, end, name))
        for (name, _, start), end in zip(headings, ends, strict=False)
        if _NAMES.get(name, name) in kept
    ]
    if _length(text, sections) < _length(text, _between(text, headings)):
        return sections
    return [  # whatever the family has, the patient has not
        Part(HISTORY, start, _part_end(text, start, end, AFFILIATIONS))
        for (name, _, start), end in zip(headings, ends, strict=False)
        if name == "family" and not is_abstract
    ]


def find_institutions(text: str) -> list[tuple[int, int]]:
    """Find the names of institutions in a text.

    These are the capitalised words before "University" and the like, or after "Department of". That
    "Clinic" or "Unit" ends such a name takes another institution in the same line.

    >>> text = "Seen at the Pain Clinic, University of Basel, with neglect."
    >>> [text[start:end] for start, end in find_institutions(text)]
    ['Pain Clinic', 'University of Basel']
    """
    strong = [*_names_with(text, _INSTITUTION)] if any(w in text for w in _STRONG) else []
    if not strong:
        return []
    starts = [start for start, _ in strong]
    weak = (span for span in _names_with(text, _WEAK) if _is_in_line(text, span, starts))
    found: list[tuple[int, int]] = []
    for start, end in sorted([*strong, *weak]):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def _names_with(text: str, words: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the names that have some words: capitalised words before them, or after "of"."""
    for match in words.finditer(text):
        start, end = match.span()
        if match["of"]:
            end += _length_of_name(text[end : end + _ADDRESS].partition("\n")[0])
        elif _NAME_END.match(text, end):
            first = max(0, start - _ADDRESS, text.rfind("\n", 0, start) + 1)
            for found in reversed(list(_WORD.finditer(text, first, start))):
                if found[0][-1] in ".,:;!?)" or not _is_named(found[0]):
                    break
                start = found.start()
        if (start, end) != match.span():
            yield start, end


def _length_of_name(text: str) -> int:
    """Return how many characters of a text are part of a name: until a word that ends it."""
    length = 0
    for word in _WORD.finditer(text):
        if not (_is_named(word[0]) or word[0] == "the"):
            break
        bare = word[0].rstrip(".,:;!?)")
        length = word.start() + len(bare)
        if bare != word[0]:
            break
    return length


def _is_in_line(text: str, span: tuple[int, int], starts: list[int]) -> bool:
    """Whether one of some places, in order, is near a span and in the same line."""
    number = bisect_right(starts, span[0])
    near = starts[max(number - 1, 0) : number + 1]
    bounds = ((min(start, span[0]), max(start, span[1])) for start in near)
    return any(last - first < _ADDRESS and "\n" not in text[first:last] for first, last in bounds)


def _is_named(word: str) -> bool:
    """Whether a word may be part of a name: it is capitalised, or links such words."""
    return word[0].isupper() or word in _LINKS


def _report_headings(text: str) -> Iterator[Part]:
    """Yield the headings of a text: those that are known, and others of lines that mark them.

    A line of its own is marked by a colon, or as Markdown marks it: "## Chest", "**Chest**".
    """
    free = 0
    for start in _starts_of_headings(text):
        match = _REPORT_HEADING.match(text, start) if start >= free else None
        if match is None:
            continue
        free = match.end()
        words = _DATE.sub("", " ".join(match["words"].split()))
        name = _kind_of_heading(words)
        is_line, has_colon = match["line"] is not None, match["end"] == ":"
        is_marked = has_colon or bool(_MARKDOWN.search(text, match.start(), match.start("words")))
        if name != "other" or (is_line and is_marked):
            yield Part(name, match.start("words"), match.end())


@cache
def _kinds() -> dict[str, str]:
    """Return the sections of the headings; the first row with a heading counts."""
    kinds: dict[str, str] = {}
    for row in read_table("neurowhere.text.reading", "headings", HEADINGS):
        for item in split(row["words"]):
            for words in alternatives(item):
                kinds.setdefault(words, row["section"])
    return kinds


@lru_cache(maxsize=1 << 12)
def _kind_of_heading(words: str) -> str:
    words = words.lower()
    if words in _kinds():
        return _kinds()[words]
    around = words_of("around-exam")  # "Repeat CT head today", "3T MRI"
    exams = [each for each in words.replace("/", " ").split() if each not in around]
    exams = [each for each in exams if not TESLA.fullmatch(each)]
    is_exam = bool(exams) and all(_kinds().get(each) == "exam" for each in exams)
    return "exam" if is_exam else "other"


def _starts_of_headings(text: str) -> list[int]:
    """Return where headings may begin: at the last sentences before the marks that end them."""
    found: set[int] = set()
    for mark in (*(mark.start() for mark in _MARK.finditer(text)), len(text)):
        start = _sentence_start(text, max(0, mark - _LONGEST_HEADING - 1), mark)
        if mark - start <= _LONGEST_HEADING:
            found.add(start)
            if start and text[start - 2].isdigit():  # "1. Findings:"
                found.add(_sentence_start(text, 0, start - 1))
    return sorted(found)


def _sentence_start(text: str, first: int, end: int) -> int:
    """Return where the last sentence that begins between two places begins, or else 0."""
    return 1 + max(text.rfind(sign, first, end) for sign in _BEFORE_HEADING)


def _without_bare(text: str, headings: list[Part]) -> list[Part]:
    """Leave out what is no heading: "History", and nothing else that reports have.

    A dash ends a heading within a line only in a text with another heading.
    """
    if sum(heading.name != "other" for heading in headings) < 2:
        headings = [each for each in headings if not _is_dash_within_line(text, each)]
    telling = {*NOT_FINDINGS, *PARTS_OF_HISTORY, "report", "result", "abstract"}
    known = [heading for heading in headings if heading.name in telling]
    if len(known) > 1:
        return headings
    return [each for each in headings if text[each.start : each.end].rstrip().endswith(_MARKS)]


def _is_dash_within_line(text: str, heading: Part) -> bool:
    """Whether a heading ends with a dash and something stands before it in its line."""
    before = text[text.rfind("\n", 0, heading.start) + 1 : heading.start]
    is_dash = text[heading.start : heading.end].rstrip().endswith(_MARKS[1:])
    return is_dash and any(mark in before for mark in ".;!?")


def _is_abstract(names: set[str]) -> bool:
    """Whether headings are those of a structured abstract rather than of a report."""
    ambiguous = names & _AMBIGUOUS.keys()
    is_research = not names.isdisjoint({"abstract", "research"})
    is_report = not names.isdisjoint({"report", "exam"})
    return is_research or len(ambiguous) == 2 or (bool(ambiguous) and not is_report)


def _part_end(text: str, start: int, end: int, name: str) -> int:
    """End of a section: at an empty line or a table, if something stands beside its heading.

    One of affiliations and the like has but one sentence beside its heading, or one paragraph. What
    was before ends where a sentence tells what is now.
    """
    if name == "past" and (now := _CURRENT.search(text, start, end)):
        end = now.start()
    if name == AFFILIATIONS:
        return _end_of_line(text, start, end)
    line_end = text.find("\n", start, end)
    is_beside = line_end >= 0 and bool(text[start:line_end].strip())
    last = _LINE_OR_TABLE.search(text, start, end) if is_beside else None
    return last.start() if last else end


def _end_of_line(text: str, start: int, end: int) -> int:
    """End of the sentence beside a heading, or of the paragraph under it."""
    content = _WORD.search(text, start, end)
    is_beside = content is not None and "\n" not in text[start : content.start()]
    pattern = _SENTENCE_OR_LINE if is_beside else _EMPTY_LINE
    last = pattern.search(text, content.start() if content else start, end)
    return last.start() + 1 if last else end


def _between(text: str, headings: list[Part]) -> list[Part]:
    """Parts of a text before, between and after its headings."""
    starts = [0, *(heading.end for heading in headings)]
    ends = [*(heading.start for heading in headings), len(text)]
    return [Part("", start, end) for start, end in zip(starts, ends, strict=True)]


def _length(text: str, parts: list[Part]) -> int:
    """Characters of some parts of a text, without the space around them."""
    return sum(len(text[start:end].strip()) for _, start, end in parts)
