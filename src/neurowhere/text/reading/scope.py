"""Scope: what a cue denies, or a hedge leaves open, by its direction and the clause around it.

A row of the tables of cues says where the names stand that it speaks of: ahead of it, back in its
subject, beside it as an adjective stands, and so on. How far that goes is told here, once for all
rows (the idea of ConText, Harkema et al. 2009).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from neurowhere.text.reading.clauses import LABELLING, Clause, Sentence
from neurowhere.text.reading.document import Document
from neurowhere.text.reading.lexicon import ADJECTIVE, FINDING, NOTHING, TUMOR
from neurowhere.text.reading.tags import Tag

FARTHEST = 60  # tokens from a cue to a name
LONGEST_LABEL = 2  # tokens of a label that denies what it heads: "Ruled out:"
NEAR = 8  # tokens between two cues of which the first cancels the second


def classes(words: str) -> frozenset[str]:
    """Return some classes of words."""
    return frozenset(words.split())


# Words by what they do around a cue.
CLOSING = classes("conjunction preposition closing stop")  # nothing more is said of a subject
EMPTY = classes("auxiliary adverb determiner turn conjunction negator pronoun")  # no subject
PREDICATE = classes("auxiliary adverb finite")  # what leads to what is said of a subject
UNBEGUN = PREDICATE | classes("negator")
LINKING = PREDICATE | classes("being conjunction quality relative pronoun")
BEFORE_NOUN = classes("modifier determiner adverb")
IN_PHRASE = classes("modifier side filler determiner")
IN_ITEM = classes("modifier determiner conjunction side")
IN_SUBJECT = classes("determiner auxiliary finite adverb conjunction")
IN_NEGATED = classes("auxiliary adverb")  # between "not" and its verb
AFTER_COMMA = classes("after-comma stop pronoun affirming turning article")  # a list ends there
STATED = classes("state modifier")
CORRECTING = classes("preposition finite auxiliary participle")
EFFECT = classes("effect lesion responding")
LIMITING = classes("preposition wall")  # "by controls", "with load", "for faces"
PLURAL = classes("effect null quality of-place responding")
OF_OTHERS = classes("people lesion")  # what "none" stands for rather than for places
OUTCOME = classes("effect null responding")
OBJECT = classes("null change study not-believe")
LEADING = classes("preposition wall")
MADE = classes("lesion made")
TURNING = classes("people conditional")
GROWTH = classes("growing null")
PRESENT = classes("present past participle")
# What "not" denies by the class of the verb after it: the subject, what follows, or places alone.
VERBS = {
    "not-omitted": "subject rest",
    "not-seen": "subject rest",
    "not-state": "state",
    "not-held": "state",
    "not-show": "rest, and places that show it",
    "not-have": "rest owner",
    "not-relate": "places of related subject and rest",
    "not-need": "places of rest",
    "not-believe": "believed",
    "not-represent": "subject rest",
}


@dataclass
class Said:
    """What denies each name, or leaves it open, by the number of the name."""

    denied: dict[int, Tag] = field(default_factory=dict)
    hedged: dict[int, Tag] = field(default_factory=dict)


def read_scope(document: Document, tags: list[Tag]) -> Said:
    """Find the names that a text denies or leaves open."""
    said = Said()
    by_sentence: dict[int, list[Tag]] = {}
    for tag in tags:
        by_sentence.setdefault(document.sentence_of(tag.first), []).append(tag)
    for number, some in by_sentence.items():
        first, end = document.sentences[number]
        # "None of these …", "Infarct of the pons? No."
        is_about_last = "pronoun" in document.kinds[first] or "?" in document.gaps[first]
        if is_about_last or document.names_within(first, end):
            Scope(document, number, some, said).read()
    return said


class Scope:
    """A sentence and its cues."""

    def __init__(self, document: Document, number: int, tags: list[Tag], said: Said) -> None:
        self.document, self.number, self.said = document, number, said
        self.kinds, self.gaps, self.covered = document.kinds, document.gaps, document.covered
        self.sentence = Sentence(document, number)
        self.clauses = self.sentence.clauses
        self.tags = tags
        self.opened = set[int]()  # denials that are denied and leave open: "cannot be excluded"
        ordered = sorted(tags, key=lambda tag: not tag.is_open)
        self.at = {i: tag for tag in ordered for i in range(tag.first, tag.end)}

    # ---- which cues stand

    def read(self) -> None:
        """Deny and hedge the names of the sentence."""
        for tag in sorted(self.standing(), key=lambda tag: not tag.is_open):
            is_open = tag.is_open or tag.first in self.opened or self.is_modal(tag)
            into = self.said.hedged if is_open else self.said.denied
            # "A possible focus, favoured to be artefactual" stays open.
            kept = self.said.hedged if not is_open and tag.direction == "back" else ()
            for number in reached(self, tag):
                first = self.document.names[number].first
                if number not in kept and not tag.first <= first < tag.end:
                    into.setdefault(number, tag)

    def standing(self) -> list[Tag]:
        """Return the cues that no other cue cancels, and that are not only partly so."""
        over = [tag for tag in self.tags if tag.direction == "idle" or _is_long_hedge(tag)]
        some = [tag for tag in self.tags if not any(_is_within(tag, each) for each in over)]
        cancelled = self.turned_round([tag for tag in some if not tag.is_open]) - self.opened
        return [t for t in some if t.is_open or not (t.first in cancelled or self.is_partial(t))]

    def turned_round(self, tags: list[Tag]) -> set[int]:
        """First tokens of denials that others turn round; some leave open what they deny."""
        cancelled: set[int] = set()
        for tag in tags:
            other = None if tag.first in cancelled else self.cancelled_by(tag, tags)
            if other is not None:
                cancelled |= {tag.first, other.first}
                if "excluding" in self.kinds[other.end - 1]:
                    self.opened.add(other.first)
        return cancelled

    def cancelled_by(self, tag: Tag, others: list[Tag]) -> Tag | None:
        """Return the denial that a denial before it turns round: "not normal", "no … without"."""
        later = [t for t in others if t.first >= tag.end]
        if tag.direction == "except":
            return next((t for t in later if t.first == tag.end), None)
        if tag.direction not in ("ahead", "not"):
            return None
        kinds = self.kinds
        other = next(
            (t for t in later if t.first == tag.end or "neither" not in kinds[t.first]), None
        )
        if other is None or self.is_opinion(tag):
            return other
        return other if self.are_near(tag, other) else None

    def is_opinion(self, tag: Tag) -> bool:
        """Whether somebody does not believe what follows."""
        if tag.direction != "not":
            return False
        clause, place = self.sentence.place(tag.first)
        return "not-believe" in object_kinds(clause, place + tag.end - tag.first)

    def are_near(self, tag: Tag, other: Tag) -> bool:
        """Whether a denial is near enough to another one to turn it round."""
        between = range(tag.end, other.first + 1)
        if len(between) > NEAR or other.direction == "except":
            return False
        said = NOTHING.union(*(self.kinds[i] for i in between))
        if "conjunction" in said or any(self.is_stop(i) for i in between):
            return False
        is_said = self.is_said(tag, other)
        is_placed = not is_said and any(map(self.is_structure_at, between[:-1]))
        if is_placed or not self.sentence.commas.isdisjoint(between):
            return False
        is_all = is_said or tag.direction == "not" or other.first == tag.end
        is_turning = not TURNING.isdisjoint(said | self.kinds[tag.first])
        return is_all or is_turning or other.direction != "beside"

    def is_said(self, tag: Tag, other: Tag) -> bool:
        """Whether a denial is said of what another one begins: "no part of it is normal"."""
        is_one = self.sentence.place(tag.first)[0] is self.sentence.place(other.first)[0]
        return is_one and "being" in self.kinds[other.first - 1]

    def is_modal(self, tag: Tag) -> bool:
        """Whether a denial is itself left open: "may be normal", "probably artefactual"."""
        i = tag.first - 1
        hedge = self.at.get(i - (i > 0 and "being" in self.kinds[i]))
        return tag.direction in ("back", "beside") and hedge is not None and hedge.is_open

    def is_partial(self, tag: Tag) -> bool:
        """Whether a word before a cue says that it is only partly so: "partly resolved"."""
        is_state = tag.direction in ("back", "object", "ahead", "beside")
        return is_state and tag.first > 0 and "partly" in self.kinds[tag.first - 1]

    # ---- what stands where

    def structures(self, names: Iterable[int]) -> list[int]:
        """Return those of some names that are places."""
        return [number for number in names if self.document.names[number].is_structure]

    def is_structure_at(self, i: int) -> bool:
        """Whether token i is of the name of a structure."""
        number = self.covered.get(i)
        return number is not None and self.document.names[number].is_structure

    def is_stop(self, i: int) -> bool:
        """Whether a denial ends at token i."""
        return "stop" in self.kinds[i] and i not in self.covered

    def cue(self, i: int) -> str:
        """Direction of the cue that denies at token i, empty if there is none."""
        tag = self.at.get(i)
        return "" if tag is None or tag.is_open or tag.direction == "idle" else tag.direction

    def is_noun(self, i: int) -> bool:
        """Whether a token is a noun, for all that is known of it, and no place."""
        if i in self.covered:
            return not self.is_structure_at(i)
        return not self.kinds[i]

    def following(self, clause: Clause) -> Clause | None:
        """Return the next clause."""
        number = clause.number + 1
        return self.clauses[number] if number < len(self.clauses) else None

    def names_before(self) -> list[int]:
        """Names of the sentence before."""
        if not self.number:
            return []
        return self.document.names_within(*self.document.sentences[self.number - 1])


# ---- subjects


def link_kinds(clause: Clause) -> frozenset[str]:
    """Classes of the word that links a clause."""
    return clause.kinds[0] if clause.link.isalpha() else NOTHING


def ends(clause: Clause, place: int) -> bool:
    """Whether nothing more is said of a subject at some place of a clause."""
    if place >= len(clause):
        return True
    return clause.commas[place] or not CLOSING.isdisjoint(clause.kinds[place])


def is_over(clause: Clause, place: int) -> bool:
    """Whether a clause, or a part between commas, ends at some place."""
    return place >= len(clause) or clause.commas[place]


def subject(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the names before some place of a clause, back to where another thing is said."""
    names = before(s, clause, place)
    if not names and is_coordinate(clause, place):
        names = before_verb(clause, place)
    if names:
        return names
    has_noun = any(EMPTY.isdisjoint(kinds) for kinds in clause.kinds[:place])
    return [] if has_noun and not has_pronoun(s, clause, place) else taken_up(s, clause)


def has_pronoun(s: Scope, clause: Clause, place: int) -> bool:
    """Whether a pronoun stands for the subject."""
    return any(
        "pronoun" in kinds and not is_about(s, clause, n + 1)
        for n, kinds in enumerate(clause.kinds[:place])
    )


def is_about(s: Scope, clause: Clause, place: int) -> bool:
    """Whether a noun stands at some place, after "this": "this mechanism", "both effects"."""
    if place >= len(clause) or s.cue(clause.tokens[place]):
        return False
    return s.is_noun(clause.tokens[place]) or not OUTCOME.isdisjoint(clause.kinds[place])


def taken_up(s: Scope, clause: Clause) -> list[int]:
    """Return the names of what a clause without a subject is about."""
    if not clause.number:
        return s.names_before() if has_pronoun(s, clause, 1) else []
    earlier = s.clauses[clause.number - 1]
    limit = bisect_left(earlier.tokens, clause.tokens[0])
    is_relative = "relative" in link_kinds(clause)
    if is_relative and any(map(FINDING.match, earlier.words)):
        return []  # "a lesion in the pons, which does not enhance"
    if clause.link == "(" or is_relative:
        return last_names(s, earlier, limit)
    return before_verb(earlier, limit)


def last_names(s: Scope, clause: Clause, limit: int) -> list[int]:
    """Return the last name before a place, and those that "and" or a slash joins to it."""
    names = clause.named(0, limit)
    kept = names[-1:]
    for number in reversed(names[:-1]):
        between = s.kinds[s.document.names[number].end : s.document.names[kept[0]].first]
        if any({"conjunction", "determiner"}.isdisjoint(kinds) for kinds in between):
            break
        kept.insert(0, number)
    return kept


def before_verb(clause: Clause, place: int | None = None) -> list[int]:
    """Return the names before the first verb of a clause, up to some place."""
    verbs = clause.verbs[:place]
    return clause.named(0, verbs.index(True) if True in verbs else place)


def before(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the names that a predicate at some place is said of."""
    found = list[int]()
    is_begun = is_listed = False
    while place > 0:
        place -= 1
        i, kinds = clause.tokens[place], clause.kinds[place]
        is_comma = clause.commas[place + 1] and clause.tokens[place + 1] == i + 1
        if is_begun and is_comma and not is_listed:
            break
        if clause.inside[place]:
            is_begun = True
            found.append(clause.names[place])
        elif place and is_aside(s, clause, place):
            found.clear()
        elif is_wall(s, clause, place, is_begun=is_begun):
            break
        else:
            is_listed |= is_begun and "conjunction" in kinds
            is_begun |= UNBEGUN.isdisjoint(kinds) and not s.cue(i)
    return [number for number in reversed(found) if number >= 0]


def is_aside(s: Scope, clause: Clause, place: int) -> bool:
    """Whether what follows a token is no part of a subject: "unlike the pons", "due to"."""
    is_cause = "causal" in clause.kinds[place] and "quality" not in clause.kinds[place - 1]
    return is_cause or s.cue(clause.tokens[place]) == "except"


def is_wall(s: Scope, clause: Clause, place: int, *, is_begun: bool) -> bool:
    """Whether what stands before a token is no part of a subject after it."""
    i = clause.tokens[place]
    if s.cue(i) not in ("", "not"):
        return True
    if clause.verbs[place]:
        return is_begun
    return is_begun and (s.is_stop(i) or "wall" in clause.kinds[place])


def is_joined(clause: Clause, place: int) -> bool:
    """Whether a predicate has no subject of its own: "… in the pons and normal in the"."""
    place = predicate_start(clause, place)
    if place == 0:
        return clause.number > 0
    return clause.commas[place] or "conjunction" in clause.kinds[place - 1]


def is_coordinate(clause: Clause, place: int) -> bool:
    """Whether a conjunction joins a predicate to another one: "was seen and was not …"."""
    place = predicate_start(clause, place)
    return place > 0 and "conjunction" in clause.kinds[place - 1] and any(clause.verbs[:place])


def predicate_start(clause: Clause, place: int) -> int:
    """First place of the verbs and adverbs before some place."""
    while place > 0 and not PREDICATE.isdisjoint(clause.kinds[place - 1]):
        place -= 1
    return place


# ---- what follows


def ahead(
    s: Scope, clause: Clause, start: int, *, through_verbs: bool = False, is_phrase: bool = False
) -> list[int]:
    """Return the names after some place of a clause, up to where another thing is said."""
    names = list[int]()
    known = 0  # place after a lesion that is taken for granted
    for p in range(start, min(len(clause), start + FARTHEST)):
        if p > start and clause.commas[p] and not goes_on(s, clause, p):
            break
        if p < known:
            continue
        if p > start and is_of_known(clause, p):
            known = lesion_end(s, clause, p)
        if clause.names[p] >= 0:
            names.append(clause.names[p])
        if is_end(s, clause, p, names, through_verbs=through_verbs, is_first=p == start):
            break
        if is_phrase and names and not LEADING.isdisjoint(clause.kinds[p]):
            break
    return names


def is_end(
    s: Scope, clause: Clause, p: int, names: list[int], *, through_verbs: bool, is_first: bool
) -> bool:
    """Whether a denial that goes ahead ends at some place."""
    i, word = clause.tokens[p], clause.words[p]
    if clause.inside[p] or is_first:
        return word == "despite"
    if s.is_stop(i) or is_turned(clause, p):
        return True
    if not names:
        return s.cue(i) not in ("", "not")
    is_with = word == "with" and "people" not in clause.kinds[p - 1]
    is_verb = clause.verbs[p] and not through_verbs
    return is_with or is_verb or word == "from" or s.cue(i) != ""


def is_turned(clause: Clause, place: int) -> bool:
    """Whether something else is said from a conjunction on: "and present in", "and a cyst"."""
    if "conjunction" not in clause.kinds[place] or place + 1 == len(clause):
        return False
    is_other = clause.words[place] == "and" and "article" in clause.kinds[place + 1]
    return is_other or is_affirmed(clause, place + 1)


def is_affirmed(clause: Clause, place: int) -> bool:
    """Whether something is said to be there at some place: "present in the pons"."""
    near = clause.kinds[place : place + 2]
    return len(near) == 2 and not PRESENT.isdisjoint(near[0]) and "preposition" in near[1]


def is_of_known(clause: Clause, place: int) -> bool:
    """Whether what follows is taken for granted: "the glioma", "growth of left glioma"."""
    kinds = clause.kinds[place]
    is_growth = "growing" in clause.kinds[place - 1] and "of-lesion" in kinds
    return is_growth or "definite" in kinds


def lesion_end(s: Scope, clause: Clause, place: int) -> int:
    """Place after a lesion that is known to be there: "no growth of the glioma of the pons"."""
    end = 0
    for p in range(place + 1, min(place + 12, len(clause))):
        kinds, is_place = clause.kinds[p], s.is_structure_at(clause.tokens[p])
        if (not is_place and (not MADE.isdisjoint(kinds) or TUMOR.fullmatch(clause.words[p]))) or (
            "of-lesion" in kinds and end
        ):
            end = p + 1
        elif IN_PHRASE.isdisjoint(kinds) and not clause.inside[p]:
            break
        elif end:
            end = p + 1
    return end


def goes_on(s: Scope, clause: Clause, place: int) -> bool:
    """Whether a list goes on after the comma before some place."""
    if "conjunction" in clause.kinds[place]:
        place = min(place + 1, len(clause) - 1)
    kinds = clause.kinds[place]
    if not AFTER_COMMA.isdisjoint(kinds):
        return clause.inside[place]
    if clause.tokens[place] in s.at or clause.verbs[place]:
        return False
    for p in range(place, len(clause)):
        i = clause.tokens[p]
        if "conjunction" in clause.kinds[p]:
            return True
        if p > place and (clause.commas[p] or s.is_stop(i)):
            break
        if s.cue(i) or clause.verbs[p]:
            return False
    return "side" not in kinds


# ---- directions


def reached(s: Scope, tag: Tag) -> list[int]:
    """Return the names that a cue speaks of."""
    clause, place = s.sentence.place(tag.first)
    if not tag.is_open and "pending" in clause.kinds[0]:
        return []  # "once it has resolved"
    if tag.direction not in DIRECTIONS:
        return []
    after = place + tag.end - tag.first
    if not tag.is_open and is_aside_of_list(s, tag, clause, place, after):
        return []
    names = DIRECTIONS[tag.direction](s, tag, clause, place, after)
    return s.structures(names) if tag.row["target"] == "places" else names


def is_aside_of_list(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> bool:
    """Whether a cue tells in what respect only: "regions that were not active in controls"."""
    if tag.direction not in ("not", "back", "beside", "both"):
        return False
    is_reduced = tag.direction == "not" and place > 0 and not any(clause.verbs[:place])
    is_relative = "relative" in link_kinds(clause) or (
        is_reduced and not PLURAL.isdisjoint(clause.kinds[place - 1])
    )
    is_qualified = any(not LIMITING.isdisjoint(kinds) for kinds in clause.kinds[after : after + 3])
    return is_relative and is_qualified and not s.structures(clause.named(after))


def ahead_of(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return what follows, the place before that has none of it, or what a label is of."""
    if is_over(clause, after):
        return listed_after(s, clause) or asked(s) or subject(s, clause, place)
    if is_idle_ahead(clause, place, after):
        return []
    names = ahead(s, clause, after, through_verbs="sole" in s.kinds[max(tag.end - 1, 0)])
    if not s.structures(names):
        listed = [] if tag.row["target"] else listed_after(s, clause)
        names += listed or each_of(s, clause, tag)
    if tag.is_open:
        return names if s.structures(names) else [*names, *subject(s, clause, place)]
    if "null" in object_kinds(clause, after):
        return [*s.structures(names), *owner(s, clause, place)]
    is_enough = s.structures(names) or tag.row["target"]
    return names if is_enough else [*names, *owner(s, clause, place)]


def is_idle_ahead(clause: Clause, place: int, after: int) -> bool:
    """Whether a cue denies nothing of what follows: "no change", "patients without neglect"."""
    if is_change(clause, after) or "study" in object_kinds(clause, after):
        return True
    is_with = place > 0 and clause.words[place - 1] == "with"
    near = clause.kinds[max(place - 3, 0) : place][-1 - is_with :]
    return any("people" in kinds for kinds in near)  # groups are told apart by it


def asked(s: Scope) -> list[int]:
    """Return the names of the sentence before, where that is a question."""
    return s.names_before() if "?" in s.gaps[s.sentence.first] else []


def each_of(s: Scope, clause: Clause, tag: Tag) -> list[int]:
    """Return the places of the sentence before, which "none" at the beginning stands for."""
    after = tag.end - tag.first
    is_pronoun = "pronoun" in s.kinds[tag.first] and tag.first == s.sentence.first
    if not (is_pronoun and any(clause.verbs[after : after + 3])):
        return []
    names = s.structures(s.names_before())
    start, end = s.document.sentences[s.number - 1] if names else (0, 0)
    is_other = any(not OF_OTHERS.isdisjoint(kinds) for kinds in s.kinds[start:end])
    return [] if is_other else names


def is_change(clause: Clause, place: int) -> bool:
    """Whether what follows is a change since before, so that what is there is as it was."""
    for n, kinds in enumerate(clause.kinds[place : place + 4]):
        if "change-like" in kinds:
            return False
        if "change" in kinds or ("before-change" in kinds and n < 2):
            return True
        if {"slight", "determiner"}.isdisjoint(kinds):
            return False
    return False


def listed_after(s: Scope, clause: Clause) -> list[int]:
    """Return the names of the list that a label is before: "Ruled out: …"."""
    is_label = len(clause) <= LONGEST_LABEL or "following" in clause.words
    after = s.following(clause) if is_label else None
    return ahead(s, after, 0) if after and after.link in (":", "-") else []


def object_kinds(clause: Clause, place: int) -> frozenset[str]:
    """Classes of the noun that follows some place, past its adjectives."""
    for p in range(place, min(place + 5, len(clause))):
        kinds = clause.kinds[p]
        is_passed = clause.inside[p] or not BEFORE_NOUN.isdisjoint(kinds)
        if not OBJECT.isdisjoint(kinds) or not is_passed:
            return kinds
    return NOTHING


def owner(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the places that have none of what follows: "the pons shows no lesion"."""
    verb = place - 1
    if verb < 0:
        names = taken_up(s, clause) if clause.link in LABELLING else []
    elif "owning" in clause.kinds[verb] or (clause.inside[verb] and not any(clause.verbs)):
        names = before(s, clause, place)
    else:
        return []
    has_lesion = any("lesion" in s.kinds[s.document.names[n].first] for n in names)
    has_lesion |= any(map(FINDING.match, clause.words[:place]))
    return [] if has_lesion else s.structures(names)


def back_of(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the subject, or the place after it where that has none."""
    if not (tag.is_open or is_predicate(s, clause, place, after)):
        return []
    is_by = s.document.word(tag.end) == "by"
    there = where(s, clause, after) or ([] if is_by else beyond(s, clause, after))
    if (there or is_by) and is_joined(clause, place):
        return there
    if not tag.is_open and (is_ill(s, clause, place) or is_usual(s, tag, clause, place)):
        return there
    names = subject(s, clause, place)
    return names if s.structures(names) else [*names, *there]


def beyond(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the places after a predicate, but for "is intact after …"."""
    is_over = place >= len(clause) or s.is_stop(clause.tokens[place])
    return [] if is_over else s.structures(ahead(s, clause, place))


def is_usual(s: Scope, tag: Tag, clause: Clause, place: int) -> bool:
    """Whether an effect is said to be usual, which tells nothing of its place."""
    return tag.direction in ("beside", "measure") and is_effect(s, clause, place)


def is_ill(s: Scope, clause: Clause, place: int) -> bool:
    """Whether a subject was said to be changed: "is flattened, but remains patent"."""
    start = predicate_start(clause, place)
    earlier = clause
    if start <= 1 and clause.link == "but" and clause.number:
        earlier, start = s.clauses[clause.number - 1], FARTHEST
    elif start == 0 or "conjunction" not in clause.kinds[start - 1]:
        return False
    verbs = earlier.verbs[:start]
    if True not in verbs:
        return False
    said = range(verbs.index(True), min(start, len(earlier)))
    is_denied = any(s.cue(earlier.tokens[p]) for p in said)
    return not is_denied and any("state" in earlier.kinds[p] for p in said)


def is_predicate(s: Scope, clause: Clause, place: int, after: int) -> bool:
    """Whether the tokens between two places are said of a subject: "is clear", "pons: fine"."""
    is_led = is_where(clause, after - 1)
    if not (is_led or ends(clause, after)):
        return place > 0 and is_linked(clause, after)
    if place == 0:
        return True  # of what was named before, or of the place after it
    if is_led and {"being", "finite"}.isdisjoint(clause.kinds[place - 1]):
        return is_coordinate(clause, place)
    kinds = clause.kinds[place - 1]
    if not LINKING.isdisjoint(kinds) or clause.commas[place]:
        return True
    return {"determiner", "preposition"}.isdisjoint(kinds)


def is_effect(s: Scope, clause: Clause, place: int) -> bool:
    """Whether a subject is an effect or a lesion, of which it tells nothing to be usual."""
    for p in range(place - 1, -1, -1):
        if not EFFECT.isdisjoint(clause.kinds[p]) and not s.is_structure_at(clause.tokens[p]):
            return True
        if clause.commas[p] or "wall" in clause.kinds[p]:
            return False
    return False


def is_where(clause: Clause, place: int) -> bool:
    """Whether a word leads to a place."""
    return 0 <= place < len(clause) and "where" in clause.kinds[place]


def where(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the places after a preposition: "… in the pons and the thalamus"."""
    if is_over(clause, place):
        return []
    start = next((p for p in (place - 1, place) if is_where(clause, p)), None)
    return [] if start is None else s.structures(ahead(s, clause, start + 1))


def is_linked(clause: Clause, place: int) -> bool:
    """Whether a verb, or an adverb at the end, stands at some place."""
    return clause.verbs[place] or ("adverb" in clause.kinds[place] and not clause.inside[place])


def beside(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the noun that an adjective stands before, or else what it is said of."""
    if is_lost(clause, place):
        return []
    if ends(clause, after) or is_linked(clause, after):
        return back_of(s, tag, clause, place, after)
    if tag.is_open:
        return ahead(s, clause, after) or subject(s, clause, place)
    if any("people" in kinds for kinds in clause.kinds[after : after + 3]):
        return []
    if place and s.is_noun(clause.tokens[place - 1]):
        return []  # "maintained activity" is what somebody did
    return noun_after(s, clause, place, after)


def is_lost(clause: Clause, place: int) -> bool:
    """Whether what an adjective says is gone: "loss of the normal …"."""
    return any("losing" in kinds for kinds in clause.kinds[max(place - 3, 0) : place])


def measure(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the place of a measure that is as usual: "of the expected size"."""
    if ends(clause, after):
        is_said = place > 0 and "being" in clause.kinds[place - 1]
        return back_of(s, tag, clause, place, after) if is_said else []
    near = NOTHING.union(*clause.kinds[after : after + 4])
    is_measure = "measure" in near and GROWTH.isdisjoint(near)
    return noun_after(s, clause, place, after) if is_measure else []


def noun_after(s: Scope, clause: Clause, place: int, after: int) -> list[int]:
    """Return what an adjective stands before, or what has that quality."""
    is_quality = any("quality" in kinds for kinds in clause.kinds[after : after + 3])
    over = (
        p
        for p in range(after, len(clause))
        if clause.verbs[p] or not (is_quality or LEADING.isdisjoint(clause.kinds[p]))
    )
    near = clause.named(after, next(over, None))  # not "normal responses to lesions of the pons"
    names = [n for n in ahead(s, clause, after, is_phrase=True) if n in near]
    if not is_quality or s.structures(names):
        return names
    return [*names, *(owner(s, clause, place) or had(s, clause, place))]


def had(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return what has the quality after "of" or "with": "ventricles of normal size"."""
    if not place or clause.commas[place - 1] or clause.words[place - 1] not in ("of", "with"):
        return []
    return s.structures(subject(s, clause, place - 1))


def object_of(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the object of a verb, or the subject of its passive."""
    while after < len(clause) and clause.words[after] == "only":
        after += 1
    if place == 0 and after >= len(clause) and (names := listed_after(s, clause)):
        return names
    is_passive = place > 0 and "being" in clause.kinds[place - 1]
    if is_passive or ends(clause, after) or is_linked(clause, after):
        return subject(s, clause, place)
    return ahead(s, clause, after)


def both_of(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the subject and what follows."""
    if is_over(clause, after):
        return [] if is_missing(s, clause, place) else subject(s, clause, place)
    if is_joined(clause, place) and (names := where(s, clause, after)):
        return names
    names = ahead(s, clause, after)
    if not tag.is_open and not ends(clause, after):
        return [n for n in names if not s.document.names[n].is_structure]
    return [*subject(s, clause, place), *names]


def is_missing(s: Scope, clause: Clause, place: int) -> bool:
    """Whether the subject is a structure and nothing of it: "the vermis is absent"."""
    names = before(s, clause, place)
    first = min((s.document.names[n].first for n in names), default=0)
    if not s.structures(names) or ADJECTIVE.fullmatch(
        s.document.words[s.document.names[names[-1]].end - 1]
    ):
        return False
    return all(
        s.is_structure_at(i) or not IN_SUBJECT.isdisjoint(s.kinds[i])
        for i in clause.tokens[:place]
        if i >= first
    )


def clause_of(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return all of the clause that follows."""
    return clause.named(place)


def except_for(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return the places that are taken out, unless these are what is left of a denial."""
    if any(not t.is_open and t.direction not in ("except", "idle") for t in s.tags):
        return []
    return s.structures(ahead(s, clause, after, is_phrase=True))


# ---- "not"


def after_not(s: Scope, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
    """Return what is denied by the word after "not"."""
    first = after
    while after < len(clause) and is_passed(clause, after):
        after += 1
    if after >= len(clause) or (clause.commas[after] and after > first):
        return subject(s, clause, place)
    if is_idle(s, clause, after):
        return []
    kinds = clause.kinds[after]
    if clause.inside[after] or not {"determiner", "preposition", "side"}.isdisjoint(kinds):
        return not_phrase(s, tag, clause, after)
    action = next((VERBS[name] for name in VERBS if name in kinds), "other")
    return ACTIONS.get(action, by_verb)(s, clause, place, after, action)


def is_passed(clause: Clause, place: int) -> bool:
    """Whether a token stands between "not" and its verb."""
    kinds = clause.kinds[place]
    return "not-idle" not in kinds and not IN_NEGATED.isdisjoint(kinds)


def is_idle(s: Scope, clause: Clause, after: int) -> bool:
    """Whether "not" denies nothing: "not only", "not patients", "not until"."""
    next_clause = s.following(clause)
    is_held = next_clause is not None and "holding" in next_clause.kinds[0]
    return is_held or not {"not-idle", "people"}.isdisjoint(clause.kinds[after])


def not_phrase(s: Scope, tag: Tag, clause: Clause, after: int) -> list[int]:
    """Deny what follows "not", unless this sets it against what is denied: "but not the"."""
    earlier = (t for t in s.tags if not t.is_open and t.end <= tag.first)
    is_turned_round = any(t.direction in ("object", "ahead", "beside", "back") for t in earlier)
    if is_turned_round and "," not in s.gaps[tag.first] and clause.link == "but":
        return []
    return ahead(s, clause, after)


def by_verb(s: Scope, clause: Clause, place: int, after: int, action: str) -> list[int]:
    """Return what "not" denies before a verb of some class."""
    is_how = clause.words[after + 1 : after + 2] == ["by"]  # "not seen by independent component"
    rest = ahead(s, clause, after + 1) if "rest" in action and not is_how else []
    if "owner" in action:
        rest = s.structures(rest) if "null" in object_kinds(clause, after + 1) else rest
        return rest if s.structures(rest) else [*rest, *owner(s, clause, after)]
    if "show" in action:
        return [*s.structures(subject(s, clause, place)), *rest]
    if "places" in action:
        rest = s.structures(rest)
        is_other = "related" in action and (rest or is_joined(clause, place))
        is_own = "subject" in action and not is_other
        return [*s.structures(subject(s, clause, place) if is_own else []), *rest]
    if is_corrected(s, clause):
        return rest
    # "not seen on the prior scan"
    is_past = any("before" in kinds for kinds in clause.kinds[after + 1 : after + 5])
    return [] if is_past else [*subject(s, clause, place), *rest]


def by_state(s: Scope, clause: Clause, place: int, after: int, action: str = "") -> list[int]:
    """Return the subject: "the pons is not affected"; no lesion that "does not enhance"."""
    if is_corrected(s, clause):
        return []
    if any("lesion" in kinds for kinds in clause.kinds[:place]):
        if "surviving" not in clause.kinds[after]:
            return []
        if there := s.structures(ahead(s, clause, after + 1)):
            return there
    return subject(s, clause, place) or where(s, clause, after + 1)


def is_corrected(s: Scope, clause: Clause) -> bool:
    """Whether something else is said of a subject: "was not modulated by age but by reward"."""
    after = s.following(clause)
    if not after or after.link != "but" or len(after) == 1:
        return False
    return not CORRECTING.isdisjoint(after.kinds[1]) and not s.cue(after.tokens[1])


def believed(s: Scope, clause: Clause, place: int, after: int, action: str) -> list[int]:
    """Return all that follows, in the next clause too."""
    next_clause = s.following(clause)
    rest = [*clause.kinds[after:], *(next_clause.kinds if next_clause else ())]
    if any("explaining" in kinds for kinds in rest):
        return []
    return clause.named(after + 1) or (next_clause.named() if next_clause else [])


def by_other_verb(s: Scope, clause: Clause, place: int, after: int, action: str) -> list[int]:
    """Return the places of the object of a verb of no class, or else of the subject."""
    if clause.link == "but" and place <= 1 and not any(clause.verbs[: after + 1]):
        commas = clause.commas[after:]  # "but not unknown faces, …"
        end = after + commas.index(True) if True in commas else len(clause)
        return s.structures(clause.named(after, end))
    names = s.structures(direct(s, clause, after + 1))
    if names or (has_pronoun(s, clause, place) and not before(s, clause, place)):
        return names
    is_said = "participle" in clause.kinds[after] or ends(clause, after + 1)
    return s.structures(by_state(s, clause, place, after)) if is_said else []


def direct(s: Scope, clause: Clause, place: int) -> list[int]:
    """Return the names of the object of a verb, which one preposition may lead to."""
    if place < len(clause) and "preposition" in clause.kinds[place]:
        place += 1
    for p in range(place, len(clause)):
        if clause.names[p] >= 0:
            break
        if "preposition" in clause.kinds[p] and clause.words[p] != "of":
            return []
    return ahead(s, clause, place)


Action = Callable[[Scope, Clause, int, int, str], list[int]]
ACTIONS: dict[str, Action] = {
    "state": by_state,
    "believed": believed,
    "other": by_other_verb,
}
Direction = Callable[[Scope, Tag, Clause, int, int], list[int]]
DIRECTIONS: dict[str, Direction] = {
    "ahead": ahead_of,
    "back": back_of,
    "beside": beside,
    "measure": measure,
    "object": object_of,
    "both": both_of,
    "not": after_not,
    "except": except_for,
    "clause": clause_of,
}


def _is_long_hedge(tag: Tag) -> bool:
    return tag.is_open and tag.end > tag.first + 1


def _is_within(tag: Tag, other: Tag) -> bool:
    """Whether a longer hedge, or an idle phrase, takes the words of a cue."""
    if other.direction == "idle" and tag.is_open == other.is_open:
        return other.first <= tag.first < other.end
    is_shorter = other.first <= tag.first and tag.end <= other.end and tag[:2] != other[:2]
    return other.is_open and not tag.is_open and is_shorter
