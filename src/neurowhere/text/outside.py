"""Outside: findings of the cord, a nerve, the orbit, the skull and others that no brain map shows.

A table (``outside.csv``) has the phrases: a *disease* tells what is affected by itself ("Bell's
palsy"), an *effect* what presses on the brain, also from outside ("shift"), a *place* with a
*finding* in its sentence ("cervical cord", "compression"), or in the one after that of an *exam*
("Ultrasound of the neck."). Places alone are enough beside a brain that is normal, or if several
are named. A word of no phrase is a finding by its *ending* ("-itis"), and a disease by its *stem*
as well ("nephr-"). A row whose place is the brain speaks for the brain. Longer phrases go first,
and *idle* ones say neither.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from operator import attrgetter
from typing import NamedTuple

from neurowhere.text.places import ADJECTIVE
from neurowhere.text.reading.document import Document, Side
from neurowhere.text.reading.lexicon import FINDING, is_lesion_word, lexicon
from neurowhere.text.reading.mentions import Mention, Mentions
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
from neurowhere.text.reading.tags import Tag, find_cues
from neurowhere.text.sections import read_sections
from neurowhere.text.words import fold, plain, plain_with_origin, token_spans

BRAIN = "brain"
PLACES = frozenset(
    [
        BRAIN,
        "spinal cord",
        "nerve",
        "orbit",
        "skull",
        "neck",
        "ear",
        "face",
        "sinus",
        "meninges",
        "spine",
        "limb",
        "vessel outside the skull",
        "other organ",
    ]
)
SCHEMA: dict[str, Column] = {
    "id": TEXT,
    "words": TEXT,
    "kind": one_of("disease effect place finding exam normal stem ending idle"),
    "where": Column(PLACES, is_required=False),
    "example": TEXT,
}
CLAUSE_ENDS = frozenset(",:()–—")  # in the gap before a token
CLAUSE_WORDS = frozenset(["although", "but", "however", "while", "whereas", "which", "with"])
SEVERAL = 2  # places that a text names, for them to be its subject
SIGNS = frozenset(["face", "limb"])  # where signs of the brain show
FELT = SIGNS | {"nerve", "other organ"}  # what studies of the brain name as well
PREFIX = "(?:epi|hemi|infra|intra|pan|para|peri|poly|retro|sub|supra)?"  # of a stem
AHEAD = frozenset(["ahead", "both", "beside", "not"])
OF_OTHERS = frozenset(["no-gyrus", "no-site", "segmental"])  # nouns: "vein", "nerve", "artery"
ORGANS = frozenset(["other organ", "neck", "ear", "spine"])  # parts of which are named alike
OF_BRAIN = frozenset(["disease", "stem", "exam"])  # not what is pressed on
SURFACE = re.compile(r"(?:sub|epi|extra)dural|[ac]?sdh|edh")  # lesions between skull and brain
BACK = frozenset(["back", "both", "beside", "not", "object"])


class Outside(NamedTuple):
    """What is affected outside the brain, and the words of a text that say so."""

    where: str  # "spinal cord", "nerve", "orbit"
    words: str  # text[start:end]
    start: int
    end: int
    row: str  # of the table: "outside:palsy"
    side: Side | None = None  # of a haematoma between the meninges


class _Hit(NamedTuple):
    """A phrase of the table in a text: its tokens, its words, its row, and its sentence."""

    first: int
    end: int
    words: str
    row: Row
    sentence: int


def find_outside(text: str, mentions: Mentions, *, is_on_surface: bool = False) -> Outside | None:
    """Return where outside the brain the finding of a text is; None if the brain is affected.

    A structure of the brain that the text affirms is the seat of its finding, but for what a lesion
    on its surface presses on.

    >>> find_outside("Acute infarct of the cervical cord", Mentions(())).where
    'spinal cord'
    >>> find_outside("Right Bell's palsy; brain MRI normal", Mentions(())).words
    "Bell's palsy"
    >>> find_outside("Optic neuritis in multiple sclerosis", Mentions(()))
    """
    if not _may_be_outside([*map(fold, plain(text).split())]):
        return None
    document = _document(text)
    hits = _hits(document, [fold(word) for word in document.words])
    if is_on_surface:  # what a subdural haematoma presses on is not affected
        hits = [hit for hit in hits if hit.row["where"] != BRAIN or hit.row["kind"] in OF_BRAIN]
    elif _has_seat(document, hits, mentions):
        return None
    is_denied = _Denials(text, document, mentions, hits)
    seat = _seat(hits, is_denied, _names_within(document, hits, mentions))
    if seat is None:
        return None
    return _told(document, seat, _side(document, seat.sentence) if is_on_surface else None)


def find_on_surface(text: str, mentions: Mentions) -> Outside | None:
    """Return the lesion between skull and brain that a text affirms, whatever else it has.

    >>> find_on_surface("Left SDH. Infarct of the right insula", Mentions(()))[1:2]
    ('SDH',)
    >>> find_on_surface("Infarct of the right insula, no subdural collection", Mentions(()))
    """
    document = _document(text)
    hits = _hits(document, [fold(word) for word in document.words])
    is_denied = _Denials(text, document, mentions, hits)
    for hit in hits:
        is_outer = hit.row["where"] == "meninges" and SURFACE.match(hit.words)
        if is_outer and hit.row["kind"] == "disease" and not is_denied(hit):
            return _told(document, hit, _side(document, hit.sentence))
    return None


def _told(document: Document, hit: _Hit, side: Side | None) -> Outside:
    start, end = document.span(hit.first, hit.end)
    return Outside(hit.row["where"], document.text[start:end], start, end, hit.row.name, side)


def _side(document: Document, sentence: int) -> Side | None:
    """Return the first side that a sentence names, but for that to which something is shifted."""
    first, end = document.sentences[sentence]
    sides = (document.side_at(i) for i in range(first, end) if document.word(i - 2) != "to")
    return next(filter(None, sides), None)


def _names_within(document: Document, hits: Sequence[_Hit], mentions: Mentions) -> bool:
    """Whether names of the brain are within those of other places, beside no sign of the brain."""
    if any(mention.is_present for mention in mentions.rule_based):  # "aphasia"
        return False
    return any(_is_within(each, document, hits) for each in mentions.present)


def _is_within(mention: Mention, document: Document, hits: Sequence[_Hit]) -> bool:
    """Whether a name of the brain is all within that of another place: "temporal artery"."""
    spans = (document.span(hit.first, hit.end) for hit in hits if hit.row["kind"] == "place")
    return mention.is_structure and any(
        start <= mention.start and mention.end <= end for start, end in spans
    )


def _seat(hits: list[_Hit], is_denied: Callable[[_Hit], bool], is_within: bool) -> _Hit | None:
    """Return the first phrase that is affected, if the brain is not."""
    said = [hit for hit in hits if not is_denied(hit)]
    is_brain_normal = any(_is_brain(hit) and is_denied(hit) for hit in hits)
    affected = _affected(said) or _named(said, is_brain_normal, is_within)
    is_brain = any(hit.row["where"] == BRAIN for hit in affected)
    return affected[0] if affected and not is_brain else None


def _span(document: Document, hit: _Hit) -> tuple[int, int]:
    """Return where a phrase is; that of an organ begins what follows it: "renal pyramids"."""
    start, end = document.span(hit.first, hit.end)
    is_of_organ = hit.row["where"] in ORGANS and document.gaps[hit.end] == " "
    return start, end + 2 * is_of_organ


def _is_other(row: Row) -> bool:
    """Whether names within its phrases are of something else than the brain."""
    return row["where"] != BRAIN and row["kind"] not in ("finding", "ending")


def _is_outside(row: Row) -> bool:
    return row["where"] not in ("", BRAIN)


def _is_brain(hit: _Hit) -> bool:
    return hit.row["where"] == BRAIN and hit.row["kind"] in ("place", "exam")


def _may_be_outside(words: list[str]) -> bool:
    """Whether any phrase or stem is of something outside the brain; most texts have none."""
    rows = chain((row for *_, row in _phrases().find(words)), map(_by_ending, {*words}))
    return any(row is not None and _is_outside(row) for row in rows)


def _hits(document: Document, words: list[str]) -> list[_Hit]:
    """Return the phrases of the table, and other words by their stem and ending, in order."""
    hits = []
    for number, (start, end) in enumerate(document.sentences):
        free = set(range(start, end))
        for i, j, row in _phrases().find(words[start:end]):
            first, last = start + i, start + j
            hits.append(_Hit(first, last, " ".join(words[first:last]), row, number))
            free.difference_update(range(first, last))
        others = ((i, _by_ending(words[i])) for i in free)
        hits.extend(_Hit(i, i + 1, words[i], row, number) for i, row in others if row)
    return sorted(hits, key=lambda hit: hit.first)


def _affected(hits: list[_Hit]) -> list[_Hit]:
    """Return diseases, and the places with a finding in their sentence or after their exam."""
    found, exams, places = (
        {hit.sentence for hit in hits if hit.row["kind"] in kinds}
        for kinds in (("finding", "ending"), ("exam",), ("place",))
    )
    found |= {i - 1 for i in found - places if i - 1 in exams}
    return [
        hit
        for hit in hits
        if hit.row["kind"] in ("disease", "effect", "stem")
        or (hit.row["kind"] == "place" and hit.sentence in found)
    ]


def _named(hits: list[_Hit], is_brain_normal: bool, is_within: bool) -> list[_Hit]:
    """Return the places that a text names without a finding, if they are enough to tell."""
    others = SIGNS if is_brain_normal else frozenset[str]() if is_within else FELT
    places = [hit for hit in hits if hit.row["kind"] == "place" and hit.row["where"] not in others]
    are_enough = is_within or len({hit.words for hit in places}) >= SEVERAL
    are_told = are_enough and all(hit.row["where"] != BRAIN for hit in hits)
    return places if is_brain_normal or are_told else []


def _has_seat(document: Document, hits: Sequence[_Hit], mentions: Mentions) -> bool:
    """Whether a text affirms a structure of the brain."""
    own = [_span(document, hit) for hit in hits if _is_other(hit.row)]
    return any(_is_seat(mention, document, own) for mention in mentions.found)


def _is_seat(mention: Mention, document: Document, own: Sequence[tuple[int, int]]) -> bool:
    """Whether a structure of the brain is affirmed, and is no part of another name."""
    if not (mention.is_structure and mention.is_present) or mention.is_generic:
        return False
    is_within = any(start <= mention.start < end for start, end in own)
    return not (is_within or _is_adjective(mention, document, own))


def _is_adjective(mention: Mention, document: Document, own: Sequence[tuple[int, int]]) -> bool:
    """Whether a name of the brain only says which: "angular vein", "medullary cone"."""
    last = bisect_left(document.starts, mention.end) - 1
    follows = document.word(last + 1)
    is_last = not follows or document.gaps[last + 1] != " "
    if is_last or not ADJECTIVE.fullmatch(document.words[last]):
        return False
    if any(first == document.starts[last + 1] for first, _ in own):
        return True
    is_known = not lexicon()[follows] <= OF_OTHERS or ADJECTIVE.fullmatch(follows)
    return not (is_known or FINDING.match(follows) or is_lesion_word(follows))


# ---- what the text denies


class _Denials:
    """Which tokens of a text are denied, or in a section that is no finding."""

    def __init__(
        self, text: str, document: Document, mentions: Mentions, hits: Sequence[_Hit]
    ) -> None:
        self.document = document
        cues = [tag for tag in find_cues(document) if not tag.is_open]
        starts = {cue.first for cue in cues}
        self.answers = {i for i in starts if ":" in document.gaps[i]}  # "stenosis: none"
        ends = filter(self._ends_clause, range(1, len(document.words)))
        self.clauses = sorted({*document.sentence_starts, *ends})
        self.cues: dict[int, list[Tag]] = {}  # of each clause
        for cue in cues:
            self.cues.setdefault(self._clause(cue.first), []).append(cue)
        # "Clear mastoid air cells"
        self.normal = {self._clause(hit.first) for hit in hits if hit.row["kind"] == "normal"}
        denied = filter(attrgetter("is_negated"), mentions.found)
        skipped = sorted(
            [(part.start, part.end) for part in read_sections(text)]
            + [(each.start, each.end) for each in denied]
        )
        self.starts = [start for start, _ in skipped]
        self.ends = [*accumulate((end for _, end in skipped), max)]  # the last end up to each

    def __call__(self, hit: _Hit) -> bool:
        """Whether a phrase is denied or no finding."""
        start, end = self.document.span(hit.first, hit.end)
        number = bisect_left(self.starts, end)
        if number and self.ends[number - 1] > start:
            return True
        if hit.end in self.answers and hit.row["kind"] not in ("place", "exam"):
            return True
        clause = self._clause(hit.first)
        if clause in self.normal and hit.row["kind"] == "place":
            return True
        return any(_denies(cue, hit) for cue in self.cues.get(clause, ()))

    def _ends_clause(self, i: int) -> bool:
        is_stop = not CLAUSE_ENDS.isdisjoint(self.document.gaps[i])
        return is_stop or self.document.words[i] in CLAUSE_WORDS

    def _clause(self, i: int) -> int:
        return bisect_right(self.clauses, i)


def _denies(cue: Tag, hit: _Hit) -> bool:
    """Whether a cue of the clause of a phrase speaks of it: what follows it, or stands before."""
    if cue.end <= hit.first:
        return cue.direction in AHEAD
    return hit.end <= cue.first and cue.direction in BACK  # within a name it denies nothing


# ---- words


def _document(text: str) -> Document:
    normal, origin = plain_with_origin(text, lambda word: False)
    starts, ends = token_spans(normal)
    if origin is not None:
        starts, ends = origin[starts], origin[ends - 1] + 1
    return Document(text, normal.lower().split(), starts.tolist(), ends.tolist(), [])


@cache
def rows() -> tuple[Row, ...]:
    """Rows of the table."""
    return tuple(read_table(__package__, "outside", SCHEMA))


@cache
def _phrases() -> Trie[Row]:
    return Trie(
        (" ".join(map(fold, phrase.split())), row)
        for row in rows()
        if row["kind"] not in ("stem", "ending")
        for item in split(row["words"])
        for phrase in alternatives(item)
    )


@lru_cache(maxsize=1 << 14)
def _by_ending(word: str) -> Row | None:
    """Return the row of the stem of a word that ends as diseases do, or that of its ending."""
    pattern, stems, ending, last = _endings()
    match = pattern.fullmatch(word) if word.endswith(last) else None
    return match and (stems[match.lastindex - 1] if match.lastindex else ending)


@cache
def _endings() -> tuple[re.Pattern[str], list[Row], Row, tuple[str, ...]]:
    stems = [row for row in rows() if row["kind"] == "stem"]
    (ending,) = (row for row in rows() if row["kind"] == "ending")
    groups = "|".join(f"({'|'.join(split(row['words']))})" for row in stems)
    last = tuple(split(ending["words"]))
    pattern = re.compile(f"(?:{PREFIX}(?:{groups}))?[a-z]*(?:{'|'.join(last)})")
    return pattern, stems, ending, last
