"""Findings: what a report says is wrong, and where: the seat, where it extends, what it presses on.

A place of a report has a role, which the last cue before it in its sentence gives it, or a cue
after it ("the ventricle is effaced"): ``roles.csv``. Without a cue it is the seat. The report is
drawn where the seats are; see `neurowhere.model.mixture`.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

from neurowhere.text.places import Side, is_general, is_lesion
from neurowhere.text.reading.document import Document, Name
from neurowhere.text.reading.lexicon import words_of as words_of_class
from neurowhere.text.reading.mentions import Mention, Mentions, Span
from neurowhere.text.relatives import is_research
from neurowhere.text.roles import Cues, Role, SentenceCues, Told

Depth = Literal["surface", "cortical", "subcortical", "deep", "periventricular"]
DEPTHS: dict[Depth, re.Pattern[str]] = {
    # outside the tissue, and drawn on it
    "surface": re.compile(r"\b(?:subdural|epidural|extradural|extra-?axial|sdh|edh)\b", re.I),
    "periventricular": re.compile(r"\bperi-?ventricular|\bsubependymal", re.I),
    "subcortical": re.compile(r"\b(?:sub|juxta)-?cortical", re.I),
    "deep": re.compile(r"\bdeep\b|\bcentrum semiovale\b|\bcorona radiata\b", re.I),
    "cortical": re.compile(r"\bcortical(?:ly)?\b|\bcortex\b|\bgyral\b", re.I),
}
# What is the seat of a report that names no other, the first of these that it has.
PROMOTED: tuple[Role, ...] = ("extension", "mentioned", "old", "satellite", "edema", "landmark")
CONCLUDED: tuple[Role, ...] = ("mentioned", "old")  # the same for its impression
IN_TISSUE: tuple[Role, ...] = ("seat", "mentioned", "extension")  # not of ventricles and bones
BESIDE: tuple[Role, ...] = ("landmark", "level", "pressed", "spared")
OF_PLACES = ("artery", "place", "part", "tract", "site", "surgery")  # kinds of rules; not signs
REACH_BEFORE = 120  # characters before a place that is added to a list
_WORD = re.compile(r"[^\W_]+")
# What the next sentence denies of a lesion, it denies of no place: "It does not enhance".
_OF_IT = re.compile(r"\.\s+(?:It|They|This|These)\b[^?]*$")
# Before a place of which the same is said as of the one before it.
_LIKEWISE = re.compile(
    r"\b(?:including|such as|notably|especially|likewise"
    r"|(?:as|so) (?:is|are|has|have|does|do|was|were))\b[^;:.]*$",
    re.I,
)
# A plan ends it. A place without tissue is the seat of nothing: a lesion is measured there.
_PLAN = re.compile(
    r"^[ \t*#>\-\d.]*(?:plan|recommendations?|advice|rec|next|comments?)\b", re.I | re.M
)
FLUID = re.compile(
    r"(?<!peri)ventric|horn|septum|pellucid|falx|falc|tentori|cistern|fissure|foramen|aqueduct"
    r"|trigone|atrium|sinus|convexity|(?:middle|anterior) cranial fossa|mening|dura|cerebrospinal"
    r"|csf|carotid|vertebral arter|willis"
)
# After a place: what is of the skull, or leads through it, and what a mass elsewhere does to it.
_BONE = re.compile(
    r"[ -]+(?:\w+[ -]+)?(?:fracture|bone|skull|calvari|scalp|sinus|burr|craniotomy(?! with)"
    r"|craniectomy|drain|shunt|catheter|approach)|[ ]herniat",
    re.I,
)
# Before the name of a lobe: "temporo-occipital".
_PREFIX = re.compile(r"(?:fronto|temporo|parieto|occipito|insulo|thalamo)[ -]?$", re.I)
LONGEST_PREFIX = 10
_ITEM = re.compile(r"(?:^|\n)[ \t\-*•#()\[\].\d]*\Z")  # what an item of a list begins with
LONGEST_ITEM = 12  # characters of that
LONGEST_ROW = 200  # characters after a cell, in which its row may tell a size
_SIDE = re.compile(
    r"(?<!to the )(?<!towards the )(?<!toward the )\b(?i:left|right)\b(?!ward)"
    r"|(?<![^\s(])[LR]t?(?= (?:[A-Za-z]{3}|[AMP]\d))"
)
_ARTERY = re.compile(r"\barter(?:y|ies)\b")
SHORT = 400  # characters of a text that says no more than that all is normal
LAST = 120  # characters of the end of a text without a conclusion
_EARLIEST = 0.3  # of a text, from where a conclusion may begin
_SIZE = re.compile(
    r"(\d{1,3}(?:[.,]\d+)?)\s*(?:(?:x|×|by)\s*\d{1,3}(?:[.,]\d+)?\s*){0,2}(?:-\s*)?"
    r"(mm|cm|milli|centi|ml|cc)(?:met(?:re|er)s?)?\b|\b(\d\d?)(?: ?[x×] ?\d\d?){1,2}\b(?! ?[cm/])",
    re.I,
)
# What has a size beside a lesion, and what parts such a word from a size that is not its own.
_MEASURED = re.compile(
    r"\b(?:shift|displacement|deviation|herniation|descent|thick(?:ness)?|mls|slices?|volumes"
    r"|equal)\b",
    re.I,
)
_APART = re.compile(r"[,;.](?!\s*\(?$)|\b(?:with|without|no|and|but|plus|causing)\b", re.I)
# What a conclusion says of a normal brain; the first of a study, the second of a lesion.
_NORMAL = re.compile(
    r"\b(?:normal|unremarkable|negative) (?:[\w-]+ ){0,2}(?:mri?|ct|pet|eeg|study|scan|exam\w*"
    r"|brain|imaging|head|for (?:(?:his|her|the|stated|patient s) ?)*(?:age|\d))"
    r"|\b(?:mri?|ct|pet|eeg|study|scan|brain|head|examination) (?:is |was |looks )?"
    r"(?:entirely |completely |quite )?(?:normal|unremarkable|negative|clear)"
    r"|\bwithin normal limits"
    r"|\bno (?:(?:acute|significant|focal|structural|intracranial|cerebral|parenchymal|relevant) )*"
    r"(?:abnormalit\w+|patholog\w+|lesions?|injury|disease|cause|explanation)\b"
    r"|\bnothing (?:abnormal|acute|focal|sinister|wrong|structural)",
    re.I,
)
_CALLED_NORMAL = re.compile(r"\b(?:normal|unremarkable|negative)\b", re.I)
# Beside what a conclusion says is not new there may be what is old.
_ACUTE = re.compile(r"\b(?:acute|new|recent|further|other|interval|old|prior|previous)\b", re.I)
_EXAM = re.compile(r"\b(?:mri?|ct|pet|eeg|scan|imaging)\b", re.I)
_NONE = re.compile(r"\b(?:no|without|nothing|nil|none|nad)\b|\bnormal\b", re.I)
# Sites of the scalp say where in the brain a record of currents has its finding.
_OF_SITES = re.compile(r"\b(?:eeg|10.20|spikes?|waves?|ictal|discharges?|tms|r?tms|coil)\b", re.I)
# Structures that have no side if their own sentence gives them none.
_MIDLINE = re.compile(
    r"brain ?stem|midbrain|pons|pontine|medulla|vermis|callosum|callosal|hypothalam|pituitary"
    r"|pineal"
)
# Headings of what a report comes to, and of what follows it.
_CONCLUSION = re.compile(
    r"^[ \t*#>\-\d.]*(?:final |overall )?(?:impressions?|conclusions?|opinion|summary|imp|concl"
    r"|diagnosis|assessment|(?:suggested )?interpretation|bottom line|verdict|read|in summary"
    r"|in conclusion|overall|to summari[sz]e"
    r"|concluding|(?:radiologist )?comment|a(?=:))\b"
    r"|\b(?:my conclusion|i conclude|taken together|to summari[sz]e)\b"
    r"|(?<=[.!?] )(?:so,? )?(?:impression|(?:in )?conclusion|opinion"
    r"|(?:in )?summary|assessment)\b(?=[:,])",
    re.I | re.M,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place that a report names."""

    names: tuple[str, ...]  # one structure, or those that an artery or a syndrome points to
    words: str  # of the text
    span: Span
    role: Role
    side: Side | None
    weight: float = 1.0  # less where the text leaves it open
    status: Literal["affirmed", "hedged", "denied"] = "affirmed"
    rule: str = ""  # row of roles.csv that gave the role; empty where no cue did
    is_concluded: bool = False  # whether it stands in the impression of the report
    is_weak: bool = False  # whether a lesion is only somewhere in its sentence
    territory: str = ""  # artery or territory whose parts the names are; empty for a structure
    depth: Depth | None = None  # layer that its sentence names
    size_mm: float | None = None  # of what is there, if this is a seat
    side_where: Span | None = None  # where its own sentence gives the side
    denial: Span | None = None

    @property
    def name(self) -> str:
        """What to call it: the structure, or the artery or territory."""
        return self.territory or ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a report says is wrong, and its places."""

    kind: str  # the words of the text for it: "infarct"; empty where it has none
    places: tuple[Place, ...]  # the seats first, otherwise in the order of the text
    size_mm: float | None = None  # the largest that its sentence gives for a lesion

    @property
    def seats(self) -> tuple[Place, ...]:
        """Places that the finding is in."""
        return tuple(place for place in self.places if place.role == "seat")


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
    """Find what a report says is wrong, and where, in its order.

    A finding without a seat is one of a text that has no seat at all.

    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> from neurowhere.text.reading.mentions import read_mentions
    >>> counter = TermCounter(Vocabulary(["insula", "putamen", "lateral ventricle"]))
    >>> text = "Mass in the left insula extending to the putamen; lateral ventricle effaced."
    >>> (finding,) = find_findings(text, read_mentions(text, counter))
    >>> [(place.names[0], place.role) for place in finding.places]
    [('insula', 'seat'), ('putamen', 'extension'), ('lateral ventricle', 'pressed')]
    """
    document = document_of(text)
    places = sorted(_places(text, mentions), key=lambda place: place.span)
    document = document.renamed([_name(document, place) for place in places])
    denied = [each for each in mentions.found if each.is_negated and is_lesion(each.term)]
    reader = _Reader(
        Cues(document, {(each.start, each.end) for each in denied}),
        _lesions(mentions),
        _sides(text, mentions),
        _conclusion(text),
        max(0, text.find("\n", 0, LONGEST_ROW)),
        any(len(place.names) == 1 and place.role != "spared" for place in places),
    )
    sentences = groupby(places, key=lambda place: _sentence_of(document, place))
    findings = _joined(reader.read(number, list(own)) for number, own in sentences)
    conclusion = _without_lesion(text, reader.concluded, reader.lesions)
    return _with_sides(_with_seats(findings, conclusion))


def _name(document: Document, place: Place) -> Name:
    first = bisect_right(document.starts, place.span[0]) - 1
    return Name(first, max(first + 1, bisect_left(document.starts, place.span[1])), -1, True)


def _sentence_of(document: Document, place: Place) -> int:
    return document.sentence_of(bisect_right(document.starts, place.span[0]) - 1)


def _sides(text: str, mentions: Mentions) -> list[re.Match[str]]:
    """Return the words of sides, but for those of the body."""
    signs = (*mentions.rule_based, *mentions.found)
    of_body = {each.side_span for each in signs if each.is_crossed or each.rule_kind == "sign"}
    return [match for match in _SIDE.finditer(text) if match.span() not in of_body]


# ---- places


def _places(text: str, mentions: Mentions) -> Iterator[Place]:
    """Yield the structures that a text names, and those that its arteries point to."""
    territories = [rule for rule in mentions.rule_based if _is_territory_of(rule, text)]
    drawn = {_span(rule) for rule in territories if rule.rule_kind == "artery"}
    structures = (*filter(attrgetter("is_structure"), mentions.found), *mentions.places)
    named = [each for each in structures if _span(each) not in drawn and _is_place(text, each)]
    yield from (_place(text, mention, (mention.term,)) for mention in named)
    spans = sorted(map(_span, named))
    for rule in filter(lambda rule: not _is_within(rule, spans), territories):
        yield _territory(text, rule)


def _is_within(rule: Mention, spans: Sequence[Span]) -> bool:
    """Whether a place that is named reaches into the words of a rule."""
    number = bisect_left(spans, (rule.end,))
    return any(end > rule.start for _, end in spans[max(0, number - 3) : number])


def _span(mention: Mention) -> Span:
    return mention.start, mention.end


def _is_territory_of(rule: Mention, text: str) -> bool:
    """Whether a rule points to parts of the brain; a site of the scalp does in an EEG alone."""
    is_present = rule.is_present and rule.weight > 0 and not rule.is_generic
    is_of_record = rule.rule_kind != "site" or bool(_OF_SITES.search(text))
    return is_present and is_of_record and rule.rule_kind in OF_PLACES and bool(rule.implied)


def _territory(text: str, rule: Mention) -> Place:
    """Return the place of an artery, a syndrome or a site: the parts that it points to."""
    sides = {structure.side for structure in rule.implied if structure.side}
    side = sides.pop() if len(sides) == 1 else rule.side
    where = rule.side_span or (rule.start, rule.end) if side else None
    place = _place(text, rule, tuple(structure.term for structure in rule.implied))
    return replace(place, side=side, side_where=where, territory=rule.term)


def _is_place(text: str, mention: Mention) -> bool:
    """Whether a mention tells of a place: what the text affirms there, or denies."""
    is_nowhere = mention.is_generic or mention.is_crossed or is_lesion(mention.term)
    if mention.section is not None or is_nowhere or _is_half_headed(text, mention):
        return False
    is_half = bool(mention.side) and "hemispher" in mention.term
    return (is_half or not is_general(mention.term)) and (mention.is_negated or mention.weight > 0)


def _is_half_headed(text: str, mention: Mention) -> bool:
    """Whether a hemisphere is the heading of what is said of its parts: "LEFT HEMISPHERE:"."""
    return "hemispher" in mention.term and text.startswith(":", mention.end)


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


# ---- what a sentence says of its places


@dataclass(frozen=True)
class _Reader:
    """What is known of a text before its sentences are read."""

    cues: Cues
    lesions: Sequence[Span]  # what the text says is wrong, in its order
    sides: Sequence[re.Match[str]]
    concluded: Span
    title: int  # end of its first line, which names what was looked at; 0 if it has one line
    has_name: bool  # whether it names a place that is no territory

    def read(self, number: int, places: Sequence[Place]) -> Finding:
        """Return what a sentence says of its places, which are in their order."""
        document = self.cues.document
        text, span = document.text, document.span(*document.sentences[number])
        words, heading = text[span[0] : _end_of_row(text, span)], self.cues.heading(span[0])
        cues = self.cues.of_sentence(number)
        first, end = (bisect_left(self.lesions, (at,)) for at in span)
        lesions = self.lesions[first:end]
        sentence = _Sentence(
            text,
            span,
            cues,
            _depth_of(words),
            _size_mm(words, span[0], [*lesions, *cues.lesions]),
            _side_of(self.sides, span),
            heading and heading.role,
            self.has_name,
        )
        placed: list[Place] = []
        for place in places:
            found = sentence.placed(place, placed[-1] if placed else None)
            if span[1] <= self.title and found.role == "seat" and found.side is None:
                found = replace(found, role="mentioned")
            if self.concluded[0] <= place.span[0] < self.concluded[1]:
                found = replace(found, is_concluded=True)
            placed.append(found)
        kind = text[slice(*lesions[0])] if lesions else ""
        return Finding(kind, tuple(placed), sentence.size_mm)


def _end_of_row(text: str, span: Span) -> int:
    r"""Return where a sentence ends; a cell of a table, or the first part of an item, its row.

    >>> _end_of_row("Site | 3 mm\nleft", (0, 4)), _end_of_row("- pons; 3 mm\nleft", (2, 6))
    (11, 12)
    """
    start, end = span
    is_item = bool(_ITEM.search(text, max(0, start - LONGEST_ITEM), start))
    marks = ("|", "\t", ";") if is_item else ("|", "\t")
    is_row = text[end : end + 2].lstrip(" ").startswith(marks)
    line = text.find("\n", end, end + LONGEST_ROW) if is_row else -1
    return max(end, line)


class _Sentence(NamedTuple):
    """A sentence, its cues, and what it says of all its places."""

    text: str
    span: Span
    cues: SentenceCues
    depth: Depth | None
    size_mm: float | None
    side: tuple[Side, Span] | None
    heading: Role | None  # that the heading of its line gives
    has_name: bool

    def placed(self, place: Place, before: Place | None) -> Place:
        """Return a place of the sentence with its role and its side; `before` is the last one."""
        told = self.cues.of(place.span)
        if place.denial and self._is_of_lesion(place, told):
            place = replace(place, role="seat", weight=1.0, status="affirmed")
        role, rule, is_weak = place.role, place.rule, place.is_weak
        if role == "seat":
            role, rule, is_weak = self._role(place, told), told.row, told.is_weak
        if before and before.role == "spared" and self._is_likewise(place):
            role, rule = "spared", before.rule
        side, where = self._sided(place)
        depth, size_mm = (self.depth, self.size_mm) if role == "seat" else (None, None)
        return replace(
            place,
            role=role,
            rule=rule,
            is_weak=is_weak,
            side=place.side if role == "spared" else side,
            side_where=where,
            depth=depth,
            size_mm=size_mm,
        )

    def _sided(self, place: Place) -> tuple[Side | None, Span | None]:
        """Return the side of a place, or that of its sentence, and where the sentence says so."""
        side, where = place.side, place.side_where
        if side is None and self.side:
            side, where = self.side
        is_here = where is not None and self.span[0] <= where[0] < self.span[1]
        return side, where if is_here else None

    def _role(self, place: Place, told: Told) -> Role:
        """Return the role of a place that is not denied."""
        role: Role = told.role or ("mentioned" if self.size_mm is None else "seat")
        if role == "mentioned" or (role == "seat" and told.is_weak):
            role = self.heading or ("mentioned" if self._is_topic(place) else role)
        return self._adapted(role, place)

    def _adapted(self, role: Role, place: Place) -> Role:
        """Return a role that fits what a place is: fluid and bone have no lesion of the brain."""
        if role in IN_TISSUE and _is_beside_tissue(self.text, place):
            return "level"
        return "extension" if role == "seat" and self.has_name and _is_parts(place) else role

    def _is_of_lesion(self, place: Place, told: Told) -> bool:
        """Whether a lesion in a place is denied something, not the place: "It does not enhance"."""
        start, end = place.denial or place.span
        if start < place.span[1] or start >= self.span[1]:
            return False  # "This was an artefact."
        return told.is_subject or bool(_OF_IT.search(self.text, place.span[1], end))

    def _is_topic(self, place: Place) -> bool:
        """Whether a place only heads what is said: "Brain stem: the mass comes near it."."""
        return self.text.startswith(":", place.span[1]) and self.cues.tells(BESIDE)

    def _is_likewise(self, place: Place) -> bool:
        """Whether the same is said of a place as of the one before it."""
        before = max(self.span[0], place.span[0] - REACH_BEFORE)
        return bool(_LIKEWISE.search(self.text[before : place.span[0]]))


def _is_parts(place: Place) -> bool:
    """Whether a place is known by its parts: an artery, and not "insulo-opercular"."""
    is_compound = "-" in place.words and " " not in place.words
    return len(place.names) > 1 and not is_compound


def _is_beside_tissue(text: str, place: Place) -> bool:
    """Whether a place is fluid or bone."""
    is_fluid = FLUID.search(f"{place.words} {place.names[0]}".lower())
    return bool(is_fluid or _BONE.match(text, place.span[1]))


def _side_of(sides: Sequence[re.Match[str]], sentence: Span) -> tuple[Side, Span] | None:
    """Return the only side that a sentence names, but for that to which something is shifted."""
    first, last = (bisect_left(sides, at, key=re.Match.start) for at in sentence)
    found = sides[first:last]
    own: set[Side] = {"left" if match[0][0] in "lL" else "right" for match in found}
    return (own.pop(), found[0].span()) if len(own) == 1 else None


def _depth_of(sentence: str) -> Depth | None:
    """Return the only layer that a sentence names."""
    found = [depth for depth, words in DEPTHS.items() if words.search(sentence)]
    return found[0] if len(found) == 1 or "surface" in found else None


def _conclusion(text: str) -> Span:
    """Return where a report comes to its conclusion, and where this ends."""
    found = [match for match in _CONCLUSION.finditer(text) if match.start() > _EARLIEST * len(text)]
    if not found:
        return len(text), len(text)
    plan = _PLAN.search(text, found[-1].end())
    return found[-1].start(), plan.start() if plan else len(text)


def _size_mm(sentence: str, start: int, lesions: Sequence[Span]) -> float | None:
    """Return the largest size of a sentence that begins at `start`, but for that of a shift.

    >>> _size_mm("glioma, shift of 4 mm", 9, [(9, 15)]), _size_mm("a 3 cm cyst", 0, [(7, 11)])
    (None, 30.0)
    """
    others = [match.span() for match in _MEASURED.finditer(sentence)]
    wrong = [(first - start, end - start) for first, end in lesions]
    found = _SIZE.finditer(sentence)
    own = [match for match in found if not _is_of_other(sentence, match.span(), others, wrong)]
    sizes = (_in_mm(match[1] or match[3], (match[2] or "mm").lower()) for match in own)
    return max(sizes, default=None)


def _is_of_other(
    sentence: str, size: Span, others: Sequence[Span], lesions: Sequence[Span]
) -> bool:
    """Whether a word such as "shift" is nearer to a size than any lesion, in the same phrase."""
    reach = min((_gap(size, lesion) for lesion in lesions), default=len(sentence))
    near = (other for other in others if _gap(size, other) < reach)
    between = (sentence[min(size[1], end) : max(size[0], start)] for start, end in near)
    return not all(map(_APART.search, between))


def _gap(one: Span, other: Span) -> int:
    return max(one[0], other[0]) - min(one[1], other[1])


def _in_mm(number: str, unit: str) -> float:
    """Return a length; of a volume, the diameter of a ball.

    >>> _in_mm("2.5", "cm"), round(_in_mm("4.2", "ml"))
    (25.0, 20)
    """
    value = float(number.replace(",", "."))
    if unit in ("ml", "cc"):
        return 10 * float((6 * value / math.pi) ** (1 / 3))
    return 10 * value if unit[0] == "c" else value


# ---- findings


def _joined(found: Iterable[Finding]) -> list[Finding]:
    """Join findings: a sentence without a seat goes on with the finding before it."""
    groups: list[list[Finding]] = []
    for finding in found:
        if groups and not finding.seats:
            groups[-1].append(finding)
        else:
            groups.append([finding])
    return [
        replace(group[0], places=tuple(place for each in group for place in each.places))
        for group in groups
    ]


def _is_territory(place: Place) -> bool:
    return len(place.names) > 1 or bool(_ARTERY.search(place.names[0]))


def _best(places: Sequence[Place], roles: Sequence[Role]) -> list[Place]:
    """Return the places of the first of some roles that any has."""
    found = ([place for place in places if place.role == role] for role in roles)
    return next(filter(None, found), [])


def _with_seats(findings: list[Finding], conclusion: str) -> list[Finding]:
    """Make other places the seats of a report that has none: what it extends to, or mentions.

    So are those of an impression without a seat. An artery is one where the report tells of no part
    of its territory. A report that concludes that all is normal has only the seats of its cues.
    """
    roles = _changed([place for each in findings for place in each.places], conclusion)
    if not roles:
        return findings

    def changed(places: Sequence[Place]) -> tuple[Place, ...]:
        return tuple(replace(each, role=roles[each]) if each in roles else each for each in places)

    return [replace(finding, places=changed(finding.places)) for finding in findings]


def _changed(every: Sequence[Place], conclusion: str) -> dict[Place, Role]:
    """Return the places of a report that have another role than their sentences give."""
    seats = _best(every, ["seat"])
    told = ("extension", "old") if _ACUTE.search(conclusion) else ("extension",)
    is_told = any(place.role in told for place in every)  # "infarct involving …"
    is_silent = not is_told and not any(place.is_concluded for place in seats)
    if is_silent and _NORMAL.search(conclusion):
        return dict.fromkeys(filter(attrgetter("is_weak"), seats), "mentioned")
    if is_silent and not seats and _NONE.search(conclusion):
        return {}
    is_placed = _is_placed(every, seats)
    roles: dict[Place, Role] = {} if is_placed else dict.fromkeys(seats, "extension")
    return roles | dict.fromkeys(_raised(every, is_placed=is_placed), "seat")


def concludes_nothing(text: str, mentions: Mentions) -> bool:
    """Return whether a report concludes that all is normal, or only what is not there."""
    return bool(_NONE.search(_without_lesion(text, _conclusion(text), _lesions(mentions))))


def concludes_normal(text: str, mentions: Mentions) -> bool:
    """Return whether a report calls a study normal at its end, and says of no lesion there."""
    conclusion = _without_lesion(text, _conclusion(text), _lesions(mentions))
    return bool(_NORMAL.search(conclusion) and _CALLED_NORMAL.search(conclusion))


def says_normal(text: str) -> bool:
    """Return whether a few words say that a scan or the brain is normal.

    >>> says_normal("CT head unremarkable."), says_normal("Normal ageing of the mind")
    (True, False)
    """
    return len(text) <= SHORT and bool(_NORMAL.search(text))


def shows_nothing(text: str) -> bool:
    """Return whether a few words say that the scan of a patient is normal.

    >>> shows_nothing("Weak arm, MRI brain normal."), shows_nothing("Memory in the normal brain")
    (True, False)
    """
    return says_normal(text) and bool(_EXAM.search(text)) and not is_research(text)


def affirms_place(mentions: Mentions, *, is_normal: bool) -> bool:
    """Return whether a text affirms a place, or a name that points to one: not a sign alone.

    Beside a normal scan, a lesion that is affirmed is enough.
    """
    named = any(each.is_present and each.rule_kind != "sign" for each in mentions.rule_based)
    return named or any(
        not is_general(each.term) or (each.side is not None and each.is_structure)
        for each in mentions.present
        if is_lesion(each.term) * is_normal or (each.is_structure and not each.is_generic)
    )


def affirms_wrong(mentions: Mentions) -> bool:
    """Return whether a text affirms that something is wrong, wherever: "severe hydrocephalus"."""
    wrong = words_of_class("lesion") | words_of_class("also-wrong")
    return any(
        not wrong.isdisjoint(each.term.split())
        for each in mentions.found
        if not (each.is_negated or each.section or each.hedge_span)
    )


def calls_normal(text: str) -> bool:
    """Return whether a text says of the brain, of its scan or of a part that it is normal."""
    return bool(_NORMAL.search(text) or _CALLED_NORMAL.search(text))


def names_surface(text: str) -> bool:
    """Return whether a text names a lesion between the skull and the brain, or denies one."""
    return bool(DEPTHS["surface"].search(text))


def is_on_surface(text: str, mentions: Mentions) -> bool:
    """Return whether a lesion outside the tissue is in none of the places that a text names."""
    if not names_surface(text):
        return False
    places = (place for each in find_findings(text, mentions) for place in each.places)
    return all(place.role in ("pressed", "spared", "level") for place in places)


def _lesions(mentions: Mentions) -> list[Span]:
    """Return where a text affirms that something is wrong."""
    lesions = (each for each in mentions.found if each.is_present and is_lesion(each.term))
    return [(each.start, each.end) for each in lesions]


def _without_lesion(text: str, conclusion: Span, lesions: Sequence[Span]) -> str:
    """Return the conclusion of a text, or else its end, if no lesion is affirmed there."""
    start, stop = conclusion if conclusion[0] < len(text) else (len(text) - LAST, len(text))
    first, end = (bisect_left(lesions, (at,)) for at in (start, stop))
    return text[max(0, start) : stop] if first == end else ""


def _raised(every: Sequence[Place], *, is_placed: bool) -> list[Place]:
    concluded = [place for place in every if place.is_concluded]
    if _best(concluded, ["seat"]):
        concluded = []
    raised = _best(concluded, CONCLUDED if is_placed else PROMOTED)
    if is_placed or not all(map(_is_territory, raised)):
        return raised
    parts = [place for place in _best(every, PROMOTED) if not (raised and _is_territory(place))]
    return [*parts, *(each for each in raised if each not in parts)]


def _is_placed(every: Sequence[Place], seats: Sequence[Place]) -> bool:
    """Whether a report has a seat: a territory is none where other places are known."""
    if not all(map(_is_territory, seats)):
        return True
    roles = {place.role for place in every}
    return bool(seats) and (roles == {"seat"} or "extension" not in roles)


def _with_sides(findings: list[Finding]) -> list[Finding]:
    """Give places without a side that of their finding's seats, else of the first seat."""
    seats = [seat for finding in findings for seat in finding.seats if seat.side]
    default = _usual_side(seats)
    of_midline = _usual_side([seat for seat in seats if _MIDLINE.search(seat.names[0])])
    done = []
    for finding in findings:
        own = next((place.side for place in finding.seats if place.side), None)
        places = list(_sided(finding.places, own, None if own else default, of_midline))
        places.sort(key=lambda place: place.role != "seat")
        done.append(replace(finding, places=tuple(places)))
    return done


def _usual_side(seats: Sequence[Place]) -> Side | None:
    return Counter(seat.side for seat in seats).most_common(1)[0][0] if seats else None


def _sided(
    places: Sequence[Place], own: Side | None, default: Side | None, of_midline: Side | None
) -> Iterator[Place]:
    """Yield the places of a finding: each has its side, that of the seat before it, or another."""
    before = default
    for place in places:
        is_seat = place.role == "seat"
        if is_seat:
            before = place.side or before
        if place.side is None and place.role not in ("spared", "mentioned"):
            is_of_midline = not own and _MIDLINE.search(place.names[0])
            usual = before if is_seat else before or own
            place = replace(place, side=of_midline if is_of_midline else usual)
        yield place
