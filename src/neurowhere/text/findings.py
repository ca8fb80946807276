"""Findings: what a report says is wrong, and where: the seat, where it extends, what it presses on.

A place of a report has a role, which the last cue before it in its sentence gives it, or a cue
after it ("the ventricle is effaced"): ``roles.csv``. Without a cue it is the seat. The report is
drawn where the seats are; see `neurowhere.model.mixture`.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, get_args

from neurowhere.text.places import Side, is_general, is_lesion
from neurowhere.text.reading.document import Document, Name
from neurowhere.text.reading.mentions import Mention, Mentions, Span
from neurowhere.text.reading.tables import (
    TEXT,
    Column,
    Row,
    Trie,
    alternatives,
    one_of,
    read_table,
    split,
)

Role = Literal[
    "seat",
    "extension",
    "mentioned",
    "old",
    "satellite",
    "edema",
    "landmark",
    "pressed",
    "level",
    "compared",
    "spared",
]
ROLES: tuple[Role, ...] = get_args(Role)
Depth = Literal["surface", "cortical", "subcortical", "deep", "periventricular"]
DEPTHS: dict[Depth, re.Pattern[str]] = {
    # outside the tissue, and drawn on it
    "surface": re.compile(r"\b(?:subdural|epidural|extradural|extra-?axial|sdh|edh)\b", re.I),
    "periventricular": re.compile(r"\bperi-?ventricular|\bsubependymal", re.I),
    "subcortical": re.compile(r"\b(?:sub|juxta)-?cortical", re.I),
    "deep": re.compile(r"\bdeep\b|\bcentrum semiovale\b|\bcorona radiata\b", re.I),
    "cortical": re.compile(r"\bcortical(?:ly)?\b|\bcortex\b|\bgyral\b", re.I),
}
CUES: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "role": one_of(" ".join(ROLES)),
    "reach": one_of("ahead back both clause sentence near"),
}
# What is the seat of a report that names no other, the first of these that it has.
PROMOTED: tuple[Role, ...] = ("extension", "mentioned", "old", "satellite", "edema", "landmark")
CONCLUDED: tuple[Role, ...] = ("mentioned", "old")  # the same for its impression
OF_PLACES = ("artery", "place", "part", "tract", "site", "surgery")  # kinds of rules; not signs
OF_SUBJECT = ("spared", "landmark")  # roles that what a clause is about has, not where it is
BEYOND = ("back", "both", "near")  # of cues that may stand in the next cell of a row
MOST_CUES = 40  # before a place, and after it
REACH_BEFORE = 300  # characters before a place
REACH_BACK = 12  # words between a place and the cue after it
_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(
    r"[,:;]|\n|[.!?]\s|\b(?:with|but|while|whereas|which|due|secondary|from|because|caused)\b"
)
# Between a place and what is said of it: "the pons, including its floor, is normal".
_ASIDE = re.compile(r"\s*(?:,[^,;:]*,|\([^()]*\))\s*")
# What the next sentence denies of a lesion, it denies of no place: "It does not enhance".
_OF_IT = re.compile(r"\.\s+(?:It|They|This|These)\b[^?]*$")
_INCLUDING = re.compile(r"\b(?:including|such as|notably|especially)\b[^;:.]*$", re.I)
_AFTER_OLD = re.compile(r"\b(?:on|in|due|from|after)\b")
# A plan ends it. A place without tissue is the seat of nothing: a lesion is measured there.
_PLAN = re.compile(
    r"^[ \t*#>\-\d.]*(?:plan|recommendations?|advice|rec|next|comments?)\b", re.I | re.M
)
FLUID = re.compile(
    r"(?<!peri)ventric|horn|septum|pellucid|falx|falc|tentori|cistern|fissure|foramen|aqueduct|trigone"
    r"|atrium|sinus|convexity|mening|dura|cerebrospinal|csf|carotid|vertebral arter|willis"
)
# After a place: what is of the skull, or leads through it.
_BONE = re.compile(
    r"[ -]+(?:\w+[ -]+)?(?:fracture|bone|skull|calvari|scalp|sinus|burr|craniotomy|craniectomy"
    r"|drain|shunt|catheter|approach)",
    re.I,
)
# Before the name of a lobe: "temporo-occipital".
_PREFIX = re.compile(r"(?:fronto|temporo|parieto|occipito|insulo|thalamo)[ -]?$", re.I)
LONGEST_PREFIX = 10
_SIDE = re.compile(
    r"(?<!to the )(?<!towards the )(?<!toward the )\b(?i:left|right)\b(?!ward)"
    r"|(?<![^\s(])[LR]t?(?= (?:[a-z]{3}|[AMP]\d))"
)
_NO = frozenset(["no", "without", "nor", "nil", "not"])  # up to two words before a lesion
_ARTERY = re.compile(r"\barter(?:y|ies)\b")
_EARLIEST = 0.3  # of a text, from where a conclusion may begin
_VALUE = re.compile(r"[^\n|:;.–—]{0,30}(?:[:|–—]|\.{2,})[ \t|:.]*")
_NEXT = re.compile(
    r"[ ]?(?:(?:lobes?|gyr(?:us|i)|g\.|cortex|nucle(?:us|i)|hemi\w*|is|are|was|were) ?)*", re.I
)
_LIST = re.compile(
    r"\b(?:and|or|the|both|left|right|l|r|bilateral|also|all|including)\b|[,&/]", re.I
)
_STOP = re.compile(r"[,;:—–\n]")
_SIZE = re.compile(
    r"(\d{1,3}(?:[.,]\d+)?)\s*(?:(?:x|×|by)\s*\d{1,3}(?:[.,]\d+)?\s*){0,2}(?:-\s*)?(mm|cm)\b", re.I
)
# Headings of what a report comes to, and of what follows it.
_CONCLUSION = re.compile(
    r"^[ \t*#>\-\d.]*(?:final |overall )?(?:impressions?|conclusions?|opinion|summary|imp|concl"
    r"|diagnosis|assessment|interpretation|in summary|in conclusion|overall|to summari[sz]e"
    r"|concluding|(?:radiologist )?comment|a(?=:))\b"
    r"|\b(?:my conclusion|i conclude|taken together|to summari[sz]e)\b"
    r"|(?<=[.!?] )(?:impression|(?:in )?conclusion|opinion|(?:in )?summary|assessment)\b(?=[:,])",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a report names.

    Attributes
    ----------
    names : tuple of str
        Structures that it stands for: one, or those that an artery or a syndrome points to.
    words : str
        The text's words for it.
    span : (int, int)
        Where the text has it.
    role : str
        One of `ROLES`: "seat", "extension", "pressed" and others.
    side : "left", "right", "bilateral" or None
    weight : float
        How much it counts: less than 1 where the text leaves it open.
    status : "affirmed", "hedged" or "denied"
    rule : str
        Row of ``roles.csv`` that gave the role; empty where no cue did.
    is_concluded : bool
        Whether it stands in the impression of the report.
    is_weak : bool
        Whether its sentence only has a lesion somewhere, not of this place by a cue.
    territory : str
        Name of the artery or territory whose parts `names` are; empty for a structure.
    depth : "surface", "cortical", "subcortical", "deep", "periventricular" or None
        Layer of the place that its sentence names.
    size_mm : float, optional
        Size of what is there, if this is a seat.
    side_where : (int, int) or None
        Where its own sentence gives the side; None if the place has that of its finding.
    denial : (int, int) or None
        Where the text denies it.
    """

    names: tuple[str, ...]
    words: str
    span: Span
    role: Role
    side: Side | None
    weight: float = 1.0
    status: Literal["affirmed", "hedged", "denied"] = "affirmed"
    rule: str = ""
    is_concluded: bool = False
    is_weak: bool = False
    territory: str = ""
    depth: Depth | None = None
    size_mm: float | None = None
    side_where: Span | None = None
    denial: Span | None = None

    @property
    def name(self) -> str:
        """What to call it: the structure, or the artery or territory."""
        return self.territory or ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a report says is wrong, and its places.

    Attributes
    ----------
    kind : str
        The words of the text for what it is: "infarct"; empty where it has none.
    places : tuple of Place
        The seats first, otherwise in the order of the text.
    size_mm : float, optional
        The largest size that its sentence tells.
    """

    kind: str
    places: tuple[Place, ...]
    size_mm: float | None = None

    @property
    def seats(self) -> tuple[Place, ...]:
        """Places that the finding is in."""
        return tuple(place for place in self.places if place.role == "seat")


@cache
def _cues() -> Trie[Row]:
    rows = read_table("neurowhere.text", "roles", CUES)
    pairs = [
        (phrase, row)
        for row in rows
        for item in split(row["words"])
        for phrase in alternatives(item)
    ]
    return Trie(pairs)


def document_of(text: str) -> Document:
    """Return the words and the sentences of a text."""
    found = list(_WORD.finditer(text))
    return Document(
        text,
        [match[0].lower() for match in found],
        [match.start() for match in found],
        [match.end() for match in found],
        [],
    )


def find_findings(text: str, mentions: Mentions) -> list[Finding]:
    """Find what a report says is wrong, and where.

    Parameters
    ----------
    text : str
    mentions : Mentions
        What was read in it.

    Returns
    -------
    list of Finding
        In the order of the text. One without a seat has none in the whole text.

    Examples
    --------
    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.reading.mentions import read_mentions
    >>> counter = TermCounter(Vocabulary(["insula", "putamen", "lateral ventricle"]))
    >>> text = "Mass in the left insula extending to the putamen; lateral ventricle effaced."
    >>> (finding,) = find_findings(text, read_mentions(text, counter))
    >>> [(place.names[0], place.role) for place in finding.places]
    [('insula', 'seat'), ('putamen', 'extension'), ('lateral ventricle', 'pressed')]
    """
    document = document_of(text)
    places = list(_places(text, mentions))
    document = document.renamed([_name(document, place) for place in places])
    lesions = [mention for mention in mentions.found if is_lesion(mention.term)]
    denied = {(each.start, each.end) for each in lesions if each.is_negated}
    signs = (*mentions.rule_based, *mentions.found)
    of_body = {each.side_span for each in signs if each.is_crossed or each.rule_kind == "sign"}
    sides = [match for match in _SIDE.finditer(text) if match.span() not in of_body]
    placed = _with_roles(document, places, denied, sides)
    by_sentence: dict[int, list[Place]] = {}
    for place in placed:
        number = document.sentence_of(bisect_right(document.starts, place.span[0]) - 1)
        by_sentence.setdefault(number, []).append(place)
    lesions = [mention for mention in lesions if mention.is_present]
    starts = [mention.start for mention in lesions]
    findings: list[Finding] = []
    for number, places in by_sentence.items():
        span = document.span(*document.sentences[number])
        first = next(iter(lesions[slice(*(bisect_left(starts, at) for at in span))]), None)
        kind = text[first.start : first.end] if first else ""
        _add(findings, Finding(kind, tuple(places), _size_mm(text[slice(*span)])))
    return _with_sides(_with_seats(findings))


def _name(document: Document, place: Place) -> Name:
    first = bisect_right(document.starts, place.span[0]) - 1
    return Name(first, max(first + 1, bisect_left(document.starts, place.span[1])), -1, True)


def _places(text: str, mentions: Mentions) -> Iterator[Place]:
    """Yield the structures that a text affirms, and those that its arteries point to."""
    spans = []
    territories = {
        (rule.start, rule.end)
        for rule in mentions.rule_based
        if rule.rule_kind == "artery" and rule.implied and _counts(rule)
    }
    for mention in (*(each for each in mentions.found if each.is_structure), *mentions.places):
        if (mention.start, mention.end) in territories:
            continue  # drawn by the parts of its territory
        if _is_place(mention):
            spans.append((mention.start, mention.end))
            yield _place(text, mention, (mention.term,))
    spans.sort()
    for mention in mentions.rule_based:
        number = bisect_left(spans, (mention.end,))
        is_new = not any(end > mention.start for _, end in spans[max(0, number - 3) : number])
        if _counts(mention) and mention.implied and mention.rule_kind in OF_PLACES and is_new:
            sides = {structure.side for structure in mention.implied if structure.side}
            side = sides.pop() if len(sides) == 1 else mention.side
            names = tuple(structure.term for structure in mention.implied)
            where = mention.side_span or (mention.start, mention.end) if side else None
            place = _place(text, mention, names)
            yield replace(place, side=side, side_where=where, territory=mention.term)


def _is_place(mention: Mention) -> bool:
    """Whether a mention tells of a place: what the text affirms there, or denies."""
    is_nowhere = mention.is_generic or mention.is_crossed or is_lesion(mention.term)
    if mention.section is not None or is_nowhere:
        return False
    is_half = bool(mention.side) and "hemispher" in mention.term
    return (is_half or not is_general(mention.term)) and (mention.is_negated or mention.weight > 0)


def _counts(mention: Mention) -> bool:
    return mention.is_present and mention.weight > 0 and not mention.is_generic


def _place(text: str, mention: Mention, names: tuple[str, ...]) -> Place:
    prefix = _PREFIX.search(text, max(0, mention.start - LONGEST_PREFIX), mention.start)
    span = prefix.start() if prefix else mention.start, mention.end
    role: Role = "spared" if mention.is_negated else "seat"
    status: Literal["affirmed", "hedged", "denied"] = (
        "denied" if mention.is_negated else "hedged" if mention.hedge_span else "affirmed"
    )
    where = mention.side_span or span if mention.side else None
    return Place(
        names,
        text[slice(*span)],
        span,
        role,
        mention.side,
        mention.weight,
        status,
        side_where=where,
        denial=mention.negation_span,
    )


def _with_roles(
    document: Document,
    places: Sequence[Place],
    denied: Collection[Span],
    sides: Sequence[re.Match[str]],
) -> list[Place]:
    """Give each place the role that the cues of its sentence give it, in the order of the text.

    Lesions that are denied are no cues.
    """
    cues = [
        (first, end, row)
        for first, end, row in _cues().find(document.words)
        if row["role"] != "seat"
        or not (
            document.span(first, end) in denied
            or _NO.intersection(document.words[max(0, first - 2) : first])
        )
    ]
    firsts = [first for first, _, _ in cues]
    concluded = _conclusion(document.text)
    has_name = any(len(place.names) == 1 and place.role != "spared" for place in places)
    found: list[Place] = []
    told: dict[Span, _Sentence] = {}
    for place in sorted(places, key=lambda place: place.span):
        token = bisect_right(document.starts, place.span[0]) - 1
        first, end = document.sentences[document.sentence_of(token)]
        line = document.text.find("\n", place.span[1])
        stop = max(end, bisect_left(document.starts, line if line >= 0 else len(document.text)))
        here = bisect_left(firsts, token)
        last = bisect_left(firsts, end)
        own = cues[max(bisect_left(firsts, first), here - MOST_CUES) : min(last, here + MOST_CUES)]
        cells = cues[last : min(bisect_left(firsts, stop), last + MOST_CUES)]
        own = [*own, *(cue for cue in cells if cue[2]["reach"] in BEYOND)]
        is_concluded = concluded[0] <= place.span[0] < concluded[1]
        span = document.span(first, end)
        if span not in told:
            told[span] = _Sentence.read(document.text, span, sides)
        sentence = told[span]
        row, is_weak, is_told = _role_of(document, place, own)
        if place.denial and _is_of_lesion(document.text, place, is_told=is_told):
            place = replace(place, role="seat", weight=1.0, status="affirmed")
        elif place.role != "seat":
            row, is_weak = None, False
        role: Role = place.role
        if row:
            role = row["role"]  # type: ignore[assignment]
        elif role == "seat":
            role = "mentioned" if sentence.size_mm is None else "seat"
        if role == "seat" and is_weak and _is_topic(document, place, own):
            role = "mentioned"
        is_fluid = FLUID.search(f"{place.words} {place.names[0]}".lower())
        is_bone = _BONE.match(document.text, place.span[1])
        if role in ("seat", "mentioned", "extension") and (is_fluid or is_bone):
            role = "level"
        elif role == "seat" and len(place.names) > 1 and has_name:
            role = "extension"
        rule = row.name if row else ""
        before = document.text[max(span[0], place.span[0] - REACH_BEFORE) : place.span[0]]
        if _INCLUDING.search(before) and found and found[-1].role == "spared":
            role = "spared" if found[-1].span[0] >= span[0] else role
        own_side = sentence.side if place.side is None else None
        found.append(
            replace(
                place,
                role=role,
                rule=rule,
                side=own_side[0] if own_side and role != "spared" else place.side,
                side_where=own_side[1] if own_side else _within(place.side_where, span),
                is_concluded=is_concluded,
                is_weak=is_weak,
                depth=sentence.depth if role == "seat" else None,
                size_mm=sentence.size_mm if role == "seat" else None,
            )
        )
    return found


class _Sentence(NamedTuple):
    """What a sentence says of all its places."""

    depth: Depth | None
    size_mm: float | None
    side: tuple[Side, Span] | None

    @classmethod
    def read(cls, text: str, span: Span, sides: Sequence[re.Match[str]]) -> "_Sentence":
        sentence = text[slice(*span)]
        return cls(_depth_of(sentence), _size_mm(sentence), _side_of(sides, span))


def _is_of_lesion(text: str, place: Place, *, is_told: bool) -> bool:
    """Whether a lesion in a place is denied something, not the place: "It does not enhance"."""
    start, end = place.denial or place.span
    if start < place.span[1]:
        return False
    return is_told or bool(_OF_IT.search(text, place.span[1], end))


def _is_topic(document: Document, place: Place, cues: "Cues") -> bool:
    """Whether a place only heads what is said: "Brain stem: the mass comes near it."."""
    if not document.text.startswith(":", place.span[1]):
        return False
    return any(row["role"] in ("landmark", "level", "pressed", "spared") for _, _, row in cues)


def _side_of(sides: Sequence[re.Match[str]], sentence: Span) -> tuple[Side, Span] | None:
    """Return the only side that a sentence names, but for that to which something is shifted."""
    first, last = (bisect_left(sides, at, key=re.Match.start) for at in sentence)
    found = sides[first:last]
    own: set[Side] = {"left" if match[0][0] in "lL" else "right" for match in found}
    return (own.pop(), found[0].span()) if len(own) == 1 else None


def _within(span: Span | None, sentence: Span) -> Span | None:
    return span if span and sentence[0] <= span[0] < sentence[1] else None


def _depth_of(sentence: str) -> Depth | None:
    """Return the only layer that a sentence names."""
    found = [depth for depth, words in DEPTHS.items() if words.search(sentence)]
    return found[0] if len(found) == 1 or "surface" in found else None


Cues = Sequence[tuple[int, int, Row]]


def _conclusion(text: str) -> Span:
    """Return where a report comes to its conclusion, and where this ends."""
    found = [match for match in _CONCLUSION.finditer(text) if match.start() > _EARLIEST * len(text)]
    if not found:
        return len(text), len(text)
    plan = _PLAN.search(text, found[-1].end())
    return found[-1].start(), plan.start() if plan else len(text)


def _is_of_clause(document: Document, start: int, end: int) -> bool:
    """Whether nothing but other places of a list, and a few words, is between a place and a cue."""
    between = document.text[start:end]
    if len(between.split()) > REACH_BACK:
        return False
    if _ASIDE.fullmatch(between):
        return True
    inside = document.names_within(
        bisect_left(document.starts, start), bisect_left(document.starts, end)
    )
    for number in reversed(inside):
        name = document.names[number]
        a, b = document.span(name.first, name.end)
        between = between[: a - start] + " " * (b - a) + between[b - start :]
    listed = _LIST.sub(" ", between)
    return not _CLAUSE.search(between) or (bool(inside) and not listed.strip())


def _role_of(document: Document, place: Place, cues: Cues) -> tuple[Row | None, bool, bool]:
    """Return the cue that gives a place its role, and whether it is only somewhere in the sentence.

    A cue after the place, or in its clause, comes first; then the last one before it. The last
    value is whether its clause is about a lesion.
    """
    text, (start, end) = document.text, place.span
    before: Row | None = None
    near: Row | None = None
    is_subject = False  # a lesion is; it is in the place, of which nothing else is said then
    of_edema: Row | None = None
    for first, last, row in cues:
        cue_start, cue_end = document.starts[first], document.ends[last - 1]
        is_before, is_after = cue_end <= start, cue_start >= end
        between = text[cue_end:start] if is_before else text[end:cue_start]
        is_outside = is_before or is_after
        is_free = row["role"] not in OF_SUBJECT or not is_subject
        if is_outside and is_free and _decides(document, row, is_after, between, place, cue_start):
            return row, False, is_subject
        if row["reach"] in ("ahead", "both") and is_before:
            before = row
            is_subject = row["role"] == "seat" and not _CLAUSE.search(between)
        if row["role"] == "seat":
            near = row
        elif row["role"] == "edema" and near is None:  # what the sentence speaks of
            of_edema = row
    given = before or near
    if of_edema and given and given["role"] == "seat":
        return of_edema, before is None, is_subject
    return given, before is None, is_subject


def _decides(
    document: Document, row: Row, is_after: bool, between: str, place: Place, cue_start: int
) -> bool:
    """Whether a cue reaches a place in a way that no other cue changes."""
    reach = row["reach"]
    if reach == "clause":
        is_stopped = _STOP.search(between.strip(" ,(") if is_after else between.lstrip(": "))
        return not (is_stopped or (is_after and _AFTER_OLD.search(between)))
    if not is_after:
        return False
    if reach in ("near", "back") and (_VALUE.fullmatch(between) or _NEXT.fullmatch(between)):
        return True
    return reach in ("back", "both") and _is_of_clause(document, place.span[1], cue_start)


def _size_mm(sentence: str) -> float | None:
    sizes = [
        float(match[1].replace(",", ".")) * (10 if match[2].lower() == "cm" else 1)
        for match in _SIZE.finditer(sentence)
    ]
    return max(sizes, default=None)


def _add(findings: list[Finding], new: Finding) -> None:
    """Add a finding; a sentence without a seat goes on with the finding before it."""
    if findings and not new.seats:
        last = findings[-1]
        findings[-1] = replace(last, places=(*last.places, *new.places))
    else:
        findings.append(new)


def _is_territory(place: Place) -> bool:
    return len(place.names) > 1 or bool(_ARTERY.search(place.names[0]))


def _best(places: Sequence[Place], roles: Sequence[Role]) -> list[Place]:
    """Return the places of the first of some roles that any has."""
    found = ([place for place in places if place.role == role] for role in roles)
    return next(filter(None, found), [])


def _with_seats(findings: list[Finding]) -> list[Finding]:
    """Make other places the seats of a report that has none: what it extends to, or mentions.

    So are those of an impression without a seat. An artery is one where the report tells of no part
    of its territory.
    """
    every = [place for finding in findings for place in finding.places]
    seats = [place for place in every if place.role == "seat"]
    roles = {place.role for place in every}
    is_placed = any(not _is_territory(place) for place in seats) or (
        bool(seats) and (roles == {"seat"} or "extension" not in roles)
    )
    concluded = [place for place in every if place.is_concluded]
    if any(place.role == "seat" for place in concluded):
        concluded = []
    raised = _best(concluded, CONCLUDED if is_placed else PROMOTED)
    if not (raised or is_placed):
        raised = _best(every, PROMOTED)
    new_seats, extensions = frozenset(raised), frozenset([] if is_placed else seats)
    return [
        replace(
            finding,
            places=tuple(
                replace(place, role="seat")
                if place in new_seats
                else replace(place, role="extension")
                if place in extensions
                else place
                for place in finding.places
            ),
        )
        for finding in findings
    ]


def _with_sides(findings: list[Finding]) -> list[Finding]:
    """Give places without a side that of their finding's seats, else of the first seat."""
    sides = [place.side for finding in findings for place in finding.seats if place.side]
    default = Counter(sides).most_common(1)[0][0] if sides else None
    done = []
    for finding in findings:
        own = next((place.side for place in finding.seats if place.side), None)
        places, before = list[Place](), None if own else default
        for place in finding.places:
            before = place.side if place.role == "seat" and place.side else before
            given = before if place.role == "seat" else before or own
            keeps = place.side or place.role in ("spared", "mentioned")
            places.append(place if keeps else replace(place, side=given))
        places.sort(key=lambda place: place.role != "seat")
        done.append(replace(finding, places=tuple(places)))
    return done
