"""Scope: what a cue denies, or a hedge leaves open, by its direction and the clause around it.

A row of the tables of cues says where the names stand that it speaks of: ahead of it, back in its
subject, beside it as an adjective stands, and so on. How far that goes is told here, once for all
rows (the idea of ConText, Harkema et al. 2009).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from neurowhere.text.reading.clauses import LABELLING, Clause, Sentence
from neurowhere.text.reading.document import Document
from neurowhere.text.reading.lexicon import ADJECTIVE, FINDING, NOTHING, TUMOR, classes
from neurowhere.text.reading.tags import Tag

FARTHEST = 60  # tokens from a cue to a name
LONGEST_LABEL = 2  # tokens of a label that denies what it heads: "Ruled out:"
NEAR = 8  # tokens between two cues of which the first cancels the second


# Words by what they do around a cue.
CLOSING = classes("conjunction preposition closing stop")  # nothing more is said of a subject
EMPTY = classes("auxiliary adverb determiner turn conjunction negator pronoun")  # no subject
PREDICATE = classes("auxiliary adverb finite")  # what leads to what is said of a subject
UNBEGUN = PREDICATE | classes("negator")
LINKING = PREDICATE | classes("being conjunction quality relative pronoun")
BEFORE_NOUN = classes("modifier determiner adverb")
IN_PHRASE = classes("modifier side filler determiner")
IN_SUBJECT = classes("determiner auxiliary finite adverb conjunction")
AFTER_COMMA = classes("after-comma stop pronoun affirming turning article")  # a list ends there
EFFECT = classes("effect lesion responding")
LIMITING = classes("preposition wall")  # "by controls", "with load", "for faces"
PLURAL = classes("effect null quality of-place responding")
OUTCOME = classes("effect null responding")
OBJECT = classes("null change study not-believe")
MADE = classes("lesion made")
GROWTH = classes("growing null")
PRESENT = classes("present past participle")
PASSED = classes("auxiliary adverb")  # between "not" and its verb
CORRECTING = classes("preposition finite auxiliary participle")
# What "not" denies by the class of the verb after it: the subject, what follows, or places alone.
VERBS = {
    "not-omitted": "subject rest",
    "not-seen": "subject rest",
    "not-state": "state",
    "not-held": "state",
    "not-show": "show rest",
    "not-have": "rest owner",
    "not-relate": "places related subject rest",
    "not-need": "places rest",
    "not-believe": "believed",
    "not-represent": "subject rest",
}


@dataclass
class Said:
    """What denies each name, leaves it open or presses on it, by the number of the name."""

    denied: dict[int, Tag] = field(default_factory=dict)
    hedged: dict[int, Tag] = field(default_factory=dict)
    pressed: dict[int, Tag] = field(default_factory=dict)


def read_scope(document: Document, tags: Iterable[Tag]) -> Said:
    """Find the names that a text denies or leaves open."""
    said = Said()
    by_sentence: dict[int, list[Tag]] = {}
    for tag in tags:
        by_sentence.setdefault(document.sentence_of(tag.first), []).append(tag)
    for number, some in by_sentence.items():
        first, end = document.sentences[number]
        if "pronoun" in document.kinds[first] or document.names_within(first, end):
            Scope(document, number, some).read(said)
    return said


class Scope:
    """A sentence and its cues."""

    def __init__(self, document: Document, number: int, tags: list[Tag]) -> None:
        self.document, self.kinds = document, document.kinds
        self.sentence = Sentence(document, number)
        self.pressing = [tag for tag in tags if tag.row.table == "pressed"]
        self.tags = [tag for tag in tags if tag.row.table != "pressed"]
        ordered = sorted(self.tags, key=lambda tag: not tag.is_open)
        self.at = {i: tag for tag in ordered for i in range(tag.first, tag.end)}

    def read(self, said: Said) -> None:
        """Deny and hedge the names of the sentence."""
        denials = [t for t in self.tags if not t.is_open and t.direction != "idle"]
        turned = [(tag, other) for tag in denials if (other := self.turned_round(tag, denials))]
        opened = {other.first for _, other in turned if "excluding" in self.kinds[other.end - 1]}
        cancelled = {each.first for pair in turned for each in pair} - opened
        for tag in self.pressing:
            said.pressed |= dict.fromkeys(Reach(self, tag).names(), tag)
        for tag in sorted(self.tags, key=lambda tag: not tag.is_open):
            if tag.first in cancelled and not tag.is_open:
                continue
            is_open = tag.is_open or tag.first in opened or self.is_modal(tag)
            into = said.hedged if is_open else said.denied
            # "A possible focus, favoured to be artefactual" stays open.
            kept = said.hedged if not is_open and tag.direction == "back" else ()
            for number in Reach(self, tag).names():
                first = self.document.names[number].first
                if number not in kept and not tag.first <= first < tag.end:
                    into.setdefault(number, tag)

    def turned_round(self, tag: Tag, others: list[Tag]) -> Tag | None:
        """Return the denial that a denial before it turns round: "not normal", "no … without"."""
        if tag.direction not in ("ahead", "not"):
            return None
        later = [t for t in others if t.first >= tag.end]
        is_next = lambda t: t.first == tag.end or "neither" not in self.kinds[t.first]  # noqa: E731
        other = next(filter(is_next, later), None)
        is_other = other is not None and other.direction != "except" and self.are_near(tag, other)
        return other if is_other else None

    def are_near(self, tag: Tag, other: Tag) -> bool:
        """Whether a denial is near enough to another one to turn it round."""
        between = range(tag.end, other.first + 1)
        if len(between) > NEAR or any(self.document.columns.commas[i] for i in between):
            return False
        if any("conjunction" in self.kinds[i] or self.is_stop(i) for i in between):
            return False
        if not any(map(self.is_structure_at, between[:-1])):
            return True
        is_one = self.sentence.place(tag.first)[0] is self.sentence.place(other.first)[0]
        return is_one and "being" in self.kinds[other.first - 1]

    def is_modal(self, tag: Tag) -> bool:
        """Whether a denial is itself left open: "may be normal", "probably artefactual"."""
        i = tag.first - 1
        hedge = self.at.get(i - (i > 0 and "being" in self.kinds[i]))
        return tag.direction in ("back", "beside") and hedge is not None and hedge.is_open

    # ---- what stands where

    def structures(self, names: Iterable[int]) -> list[int]:
        """Return those of some names that are places."""
        return [number for number in names if self.document.names[number].is_structure]

    def is_structure_at(self, i: int) -> bool:
        """Whether token i is of the name of a structure."""
        number = self.document.covered.get(i)
        return number is not None and self.document.names[number].is_structure

    def is_stop(self, i: int) -> bool:
        """Whether a denial ends at token i."""
        return "stop" in self.kinds[i] and i not in self.document.covered

    def cue(self, i: int) -> str:
        """Direction of the cue that denies at token i, empty if there is none."""
        tag = self.at.get(i)
        return "" if tag is None or tag.is_open or tag.direction == "idle" else tag.direction

    def is_noun(self, i: int) -> bool:
        """Whether a token is a noun, for all that is known of it, and no place."""
        is_known = i in self.document.covered
        return not self.is_structure_at(i) if is_known else not self.kinds[i]

    def names_before(self) -> list[int]:
        """Names of the sentence before."""
        number = self.sentence.number
        return self.document.names_within(*self.document.sentences[number - 1]) if number else []


class Reach:
    """A cue in its clause, and the names that it reaches."""

    def __init__(self, scope: Scope, tag: Tag) -> None:
        self.scope, self.tag, self.structures = scope, tag, scope.structures
        self.clause, self.place = scope.sentence.place(tag.first)
        self.after = self.place + tag.end - tag.first
        self.kinds_at = self.clause.kinds_at

    def names(self) -> list[int]:
        """Return the names that the cue speaks of."""
        if not self.tag.is_open and ("pending" in self.clause.kinds[0] or self.is_aside_of_list()):
            return []
        names = DIRECTIONS[self.tag.direction](self)
        return self.structures(names) if self.tag.row["target"] == "places" else names

    def is_aside_of_list(self) -> bool:
        """Whether a cue tells in what respect only: "regions that were not active in controls"."""
        if self.tag.direction not in ("not", "back", "beside", "both"):
            return False
        is_reduced = self.tag.direction == "not" and not any(self.clause.verbs[: self.place])
        is_reduced &= not PLURAL.isdisjoint(self.kinds_at(self.place - 1))
        if not (is_reduced or "relative" in self.link_kinds):
            return False
        near = self.clause.kinds[self.after : self.after + 3]
        is_qualified = not all(map(LIMITING.isdisjoint, near))
        return is_qualified and not self.structures(self.clause.named(self.after))

    @cached_property
    def link_kinds(self) -> frozenset[str]:
        """Classes of the word that links the clause."""
        return self.clause.kinds[0] if self.clause.link.isalpha() else NOTHING

    @cached_property
    def following(self) -> Clause | None:
        """The next clause."""
        number, sentence = self.clause.number + 1, self.scope.sentence
        return sentence.clause(number) if number < len(sentence.parts) else None

    def ends(self, place: int) -> bool:
        """Whether nothing more is said of a subject at some place."""
        return self.is_over(place) or not CLOSING.isdisjoint(self.clause.kinds[place])

    def is_over(self, place: int) -> bool:
        """Whether the clause, or a part between commas, ends at some place."""
        return place >= len(self.clause) or self.clause.commas[place]

    def is_linked(self, place: int) -> bool:
        """Whether a verb, or an adverb at the end, stands at some place."""
        is_adverb = "adverb" in self.clause.kinds[place] and not self.clause.inside[place]
        return self.clause.verbs[place] or is_adverb

    # ---- subjects

    def subject(self, place: int | None = None) -> list[int]:
        """Return the names before some place, back to where another thing is said."""
        place = self.place if place is None else place
        names = self.before(place)
        if not names and self.is_coordinate(place):
            names = until_verb(self.clause, place)
        if names:
            return names
        has_noun = any(map(EMPTY.isdisjoint, self.clause.kinds[:place]))
        return [] if has_noun and not self.has_pronoun(place) else self.taken_up()

    def has_pronoun(self, place: int) -> bool:
        """Whether a pronoun, before no noun, stands for the subject: not "this mechanism"."""
        kinds = self.clause.kinds[:place]
        return any("pronoun" in k and not self.is_about(p + 1) for p, k in enumerate(kinds))

    def is_about(self, place: int) -> bool:
        """Whether a noun stands at some place."""
        if place >= len(self.clause) or self.scope.cue(self.clause.tokens[place]):
            return False
        is_outcome = not OUTCOME.isdisjoint(self.clause.kinds[place])
        return is_outcome or self.scope.is_noun(self.clause.tokens[place])

    def taken_up(self) -> list[int]:
        """Return the names of what a clause without a subject is about."""
        clause = self.clause
        if not clause.number:
            return self.scope.names_before() if self.has_pronoun(1) else []
        earlier = self.scope.sentence.clause(clause.number - 1)
        limit = bisect_left(earlier.tokens, clause.tokens[0])
        is_relative = "relative" in self.link_kinds
        if is_relative and any(map(FINDING.match, earlier.words)):
            return []  # "a lesion in the pons, which does not enhance"
        if clause.link == "(" or is_relative:
            return self.last_names(earlier, limit)
        return until_verb(earlier, limit)

    def last_names(self, clause: Clause, limit: int) -> list[int]:
        """Return the last name before a place, and those that "and" or a slash joins to it."""
        names, known = clause.named(0, limit), self.scope.document.names
        kept = names[-1:]
        for number in reversed(names[:-1]):
            between = self.scope.kinds[known[number].end : known[kept[0]].first]
            if any({"conjunction", "determiner"}.isdisjoint(kinds) for kinds in between):
                break
            kept.insert(0, number)
        return kept

    def before(self, place: int) -> list[int]:
        """Return the names that a predicate at some place is said of."""
        clause, found = self.clause, list[int]()
        is_begun = is_listed = False
        while place > 0:
            place -= 1
            kinds = clause.kinds[place]
            if is_begun and clause.commas[place + 1] and not is_listed:
                break
            if clause.inside[place]:
                is_begun = True
                found.append(clause.names[place])
            elif place and self.is_aside(place):
                found.clear()
            elif self.is_wall(place, is_begun=is_begun):
                break
            else:
                is_listed |= is_begun and "conjunction" in kinds
                is_begun |= UNBEGUN.isdisjoint(kinds) and not self.scope.cue(clause.tokens[place])
        return [number for number in reversed(found) if number >= 0]

    def is_aside(self, place: int) -> bool:
        """Whether what follows a token is no part of a subject: "unlike the pons", "due to"."""
        kinds = self.clause.kinds
        is_cause = "causal" in kinds[place] and "quality" not in kinds[place - 1]
        return is_cause or self.scope.cue(self.clause.tokens[place]) == "except"

    def is_wall(self, place: int, *, is_begun: bool) -> bool:
        """Whether what stands before a token is no part of a subject after it."""
        i = self.clause.tokens[place]
        if self.scope.cue(i) not in ("", "not"):
            return True
        is_wall = self.clause.verbs[place] or "wall" in self.clause.kinds[place]
        return is_begun and (is_wall or self.scope.is_stop(i))

    def predicate_start(self, place: int) -> int:
        """First place of the verbs and adverbs before some place."""
        while place > 0 and not PREDICATE.isdisjoint(self.clause.kinds[place - 1]):
            place -= 1
        return place

    def is_joined(self) -> bool:
        """Whether the predicate has no subject of its own: "… in the pons and normal in the"."""
        place = self.predicate_start(self.place)
        if place == 0:
            return self.clause.number > 0
        return self.clause.commas[place] or "conjunction" in self.clause.kinds[place - 1]

    def is_coordinate(self, place: int) -> bool:
        """Whether a conjunction joins a predicate to another one: "was seen and was not …"."""
        place = self.predicate_start(place)
        return "conjunction" in self.kinds_at(place - 1) and any(self.clause.verbs[:place])

    def owner(self, place: int) -> list[int]:
        """Return the places that have none of what follows: "the pons shows no lesion"."""
        clause, verb = self.clause, place - 1
        if verb < 0:
            names = self.taken_up() if clause.link in LABELLING else []
        elif "owning" in clause.kinds[verb] or (clause.inside[verb] and not any(clause.verbs)):
            names = self.before(place)
        else:
            return []
        known = self.scope.document.names
        has_lesion = any("lesion" in self.scope.kinds[known[n].first] for n in names)
        has_lesion |= any(map(FINDING.match, clause.words[:place]))
        return [] if has_lesion else self.structures(names)

    # ---- what follows

    def ahead(self, start: int, through_verbs: bool = False, is_phrase: bool = False) -> list[int]:
        """Return the names after some place, up to where another thing is said."""
        return ahead(self.scope, self.clause, start, through_verbs, is_phrase)

    def where(self, place: int) -> list[int]:
        """Return the places after a preposition: "… in the pons and the thalamus"."""
        if self.is_over(place):
            return []
        start = next((p for p in (place - 1, place) if "where" in self.kinds_at(p)), None)
        return [] if start is None else self.structures(self.ahead(start + 1))

    def object_kinds(self, place: int) -> frozenset[str]:
        """Classes of the noun that follows some place, past its adjectives."""
        for p in range(place, min(place + 5, len(self.clause))):
            kinds = self.clause.kinds[p]
            is_passed = self.clause.inside[p] or not BEFORE_NOUN.isdisjoint(kinds)
            if not OBJECT.isdisjoint(kinds) or not is_passed:
                return kinds
        return NOTHING

    def listed_after(self) -> list[int]:
        """Return the names of the list that a label is before: "Ruled out: …"."""
        is_label = len(self.clause) <= LONGEST_LABEL or "following" in self.clause.words
        after = self.following if is_label else None
        return ahead(self.scope, after, 0) if after and after.link in (":", "-") else []

    # ---- directions

    def by_ahead(self) -> list[int]:
        """Return what follows, the place before that has none of it, or what a label is of."""
        if self.is_over(self.after):
            return self.listed_after() or self.subject()
        object_kinds = self.object_kinds(self.after)
        if "study" in object_kinds or self.is_idle():
            return []
        is_sole = "sole" in self.scope.kinds[max(self.tag.end - 1, 0)]
        names = self.ahead(self.after, through_verbs=is_sole)
        has_place, has_target = self.structures(names), self.tag.row["target"]
        if not has_place:
            names += [] if has_target else self.listed_after()
        if self.tag.is_open:
            return names if self.structures(names) else [*names, *self.subject()]
        if "null" in object_kinds:
            return [*self.structures(names), *self.owner(self.place)]
        return names if has_place or has_target else [*names, *self.owner(self.place)]

    def is_idle(self) -> bool:
        """Whether a cue denies nothing of what follows: "no change", "patients without neglect"."""
        is_with = self.clause.words[max(self.place - 1, 0)] == "with"
        near = self.clause.kinds[max(self.place - 3, 0) : self.place][-1 - is_with :]
        is_group = any("people" in kinds for kinds in near)  # groups are told apart by it
        return is_group or self.is_change()

    def is_change(self) -> bool:
        """Whether what follows is a change since before: what is there is as it was."""
        for n, kinds in enumerate(self.clause.kinds[self.after : self.after + 4]):
            if "change-like" in kinds:
                return False
            if "change" in kinds or ("before-change" in kinds and n < 2):
                return True
            if {"slight", "determiner"}.isdisjoint(kinds):
                return False
        return False

    def by_back(self) -> list[int]:
        """Return the subject, or the place after it where that has none."""
        if not (self.tag.is_open or self.is_predicate()):
            return []
        is_by = self.kinds_at(self.after) and self.clause.words[self.after] == "by"
        there = self.where(self.after) or ([] if is_by else self.beyond())
        if (there or is_by) and self.is_joined():
            return there
        if not self.tag.is_open and (self.is_ill() or self.is_usual()):
            return there
        names = self.subject()
        return names if self.structures(names) else [*names, *there]

    def beyond(self) -> list[int]:
        """Return the places after a predicate, but for "is intact after …"."""
        is_over = self.after >= len(self.clause)
        is_over = is_over or self.scope.is_stop(self.clause.tokens[self.after])
        return [] if is_over else self.structures(self.ahead(self.after))

    def is_usual(self) -> bool:
        """Whether an effect or a lesion is said to be usual, which tells nothing of its place."""
        clause = self.clause
        for p in range(self.place - 1, -1, -1):
            is_effect = not EFFECT.isdisjoint(clause.kinds[p])
            if is_effect and not self.scope.is_structure_at(clause.tokens[p]):
                return self.tag.direction in ("beside", "measure")
            if clause.commas[p] or "wall" in clause.kinds[p]:
                return False
        return False

    def is_ill(self) -> bool:
        """Whether a subject was said to be changed: "is flattened, but remains patent"."""
        start, earlier = self.predicate_start(self.place), self.clause
        if start <= 1 and earlier.link == "but" and earlier.number:
            earlier = self.scope.sentence.clause(earlier.number - 1)
            start = len(earlier)
        elif start == 0 or "conjunction" not in earlier.kinds[start - 1]:
            return False
        verbs = earlier.verbs[:start]
        if True not in verbs:
            return False
        said = range(verbs.index(True), start)
        is_denied = any(self.scope.cue(earlier.tokens[p]) for p in said)
        return not is_denied and any("state" in earlier.kinds[p] for p in said)

    def is_predicate(self) -> bool:
        """Whether the cue is said of a subject: "is clear", "pons: fine"."""
        place, after = self.place, self.after
        is_led = "where" in self.kinds_at(after - 1)
        if not (is_led or self.ends(after)):
            return place > 0 and self.is_linked(after)
        if place == 0:
            return True  # of what was named before, or of the place after it
        kinds = self.clause.kinds[place - 1]
        if is_led and {"being", "finite"}.isdisjoint(kinds):
            return self.is_coordinate(place)
        if not LINKING.isdisjoint(kinds) or self.clause.commas[place]:
            return True
        return {"determiner", "preposition"}.isdisjoint(kinds)

    def by_beside(self) -> list[int]:
        """Return the noun that an adjective stands before, or else what it is said of."""
        before = self.clause.kinds[max(self.place - 3, 0) : self.place]
        if any("losing" in kinds for kinds in before):
            return []  # "loss of the normal …"
        if self.ends(self.after) or self.is_linked(self.after):
            return self.by_back()
        if self.tag.is_open:
            return self.ahead(self.after) or self.subject()
        if any("people" in kinds for kinds in self.clause.kinds[self.after : self.after + 3]):
            return []
        if self.place and self.scope.is_noun(self.clause.tokens[self.place - 1]):
            return []  # "maintained activity" is what somebody did
        return self.noun_after()

    def by_measure(self) -> list[int]:
        """Return the place of a measure that is as usual: "of the expected size"."""
        if self.ends(self.after):
            return self.by_back() if "being" in self.kinds_at(self.place - 1) else []
        near = NOTHING.union(*self.clause.kinds[self.after : self.after + 4])
        is_measure = "measure" in near and GROWTH.isdisjoint(near)
        return self.noun_after() if is_measure else []

    def noun_after(self) -> list[int]:
        """Return what an adjective stands before, or what has that quality."""
        clause, after = self.clause, self.after
        is_quality = any("quality" in kinds for kinds in clause.kinds[after : after + 3])
        over = (
            p
            for p in range(after, len(clause))
            if clause.verbs[p] or not (is_quality or LIMITING.isdisjoint(clause.kinds[p]))
        )
        near = clause.named(
            after, next(over, None)
        )  # not "normal responses to lesions of the pons"
        names = [n for n in self.ahead(after, is_phrase=True) if n in near]
        if not is_quality or self.structures(names):
            return names
        return [*names, *(self.owner(self.place) or self.had())]

    def had(self) -> list[int]:
        """Return what has the quality after "of" or "with": "ventricles of normal size"."""
        place = self.place - 1
        if place < 0 or self.clause.commas[place] or self.clause.words[place] not in ("of", "with"):
            return []
        return self.structures(self.subject(place))

    def by_object(self) -> list[int]:
        """Return the object of a verb, or the subject of its passive."""
        if self.place == 0 and self.after >= len(self.clause) and (names := self.listed_after()):
            return names
        is_passive = "being" in self.kinds_at(self.place - 1)
        if is_passive or self.ends(self.after) or self.is_linked(self.after):
            return self.subject()
        return self.ahead(self.after)

    def by_both(self) -> list[int]:
        """Return the subject and what follows."""
        if self.is_over(self.after):
            return [] if self.is_missing() else self.subject()
        if self.is_joined() and (names := self.where(self.after)):
            return names
        names = self.ahead(self.after)
        if not self.tag.is_open and not self.ends(self.after):
            return [n for n in names if not self.scope.document.names[n].is_structure]
        return [*self.subject(), *names]

    def is_missing(self) -> bool:
        """Whether the subject is a structure and nothing of it: "the vermis is absent"."""
        scope, tokens = self.scope, self.clause.tokens[: self.place]
        ends = [scope.document.names[n].end for n in self.structures(self.before(self.place))]
        if not ends or ADJECTIVE.fullmatch(scope.document.words[ends[-1] - 1]):
            return False
        return all(
            scope.is_structure_at(i) or not IN_SUBJECT.isdisjoint(scope.kinds[i]) for i in tokens
        )

    def by_clause(self) -> list[int]:
        """Return all of the clause that follows."""
        return self.clause.named(self.place)

    def by_except(self) -> list[int]:
        """Return the places that are taken out, unless these are what is left of a denial."""
        if any(not t.is_open and t.direction not in ("except", "idle") for t in self.scope.tags):
            return []
        return self.structures(self.ahead(self.after, is_phrase=True))

    def by_nothing(self) -> list[int]:
        """Return no name."""
        return []

    # ---- "not"

    def by_not(self) -> list[int]:
        """Return what is denied by the word after "not"."""
        clause, after = self.clause, self.after
        while not PASSED.isdisjoint(kinds := self.kinds_at(after)) and "not-idle" not in kinds:
            after += 1
        if after >= len(clause) or (clause.commas[after] and after > self.after):
            return self.subject()
        kinds = clause.kinds[after]
        following = self.following
        if (following and "holding" in following.kinds[0]) or {"not-idle", "people"} & kinds:
            return []  # "not only", "not patients", "not until"
        if clause.inside[after] or {"determiner", "preposition", "side"} & kinds:
            return self.not_phrase(after)
        action = next((VERBS[name] for name in VERBS if name in kinds), "other")
        return ACTIONS.get(action, Reach.by_verb)(self, after, action)

    def not_phrase(self, after: int) -> list[int]:
        """Deny what follows "not", unless this sets it against what is denied: "but not the"."""
        earlier = (t for t in self.scope.tags if not t.is_open and t.end <= self.tag.first)
        is_turned_round = any(t.direction in ("object", "ahead", "beside", "back") for t in earlier)
        if is_turned_round and self.clause.link == "but":
            return []
        return self.ahead(after)

    def by_verb(self, after: int, action: str) -> list[int]:
        """Return what "not" denies before a verb of some class."""
        is_how = self.clause.words[after + 1 : after + 2] == ["by"]  # "not seen by …"
        rest = self.ahead(after + 1) if "rest" in action and not is_how else []
        if "owner" in action:
            is_null = "null" in self.object_kinds(after + 1)
            rest = self.structures(rest) if is_null else rest
            return rest if self.structures(rest) else [*rest, *self.owner(after)]
        if "show" in action:
            return [*self.structures(self.subject()), *rest]
        if "places" in action:
            rest = self.structures(rest)
            is_other = "related" in action and (rest or self.is_joined())
            is_own = "subject" in action and not is_other
            return [*self.structures(self.subject() if is_own else []), *rest]
        if self.is_corrected():
            return rest
        # "not seen on the prior scan"
        is_past = any("before" in kinds for kinds in self.clause.kinds[after + 1 : after + 5])
        return [] if is_past else [*self.subject(), *rest]

    def by_state(self, after: int, action: str = "") -> list[int]:
        """Return the subject: "the pons is not affected"; no lesion that "does not enhance"."""
        if self.is_corrected():
            return []
        if any("lesion" in kinds for kinds in self.clause.kinds[: self.place]):
            if "surviving" not in self.clause.kinds[after]:
                return []
            if there := self.structures(self.ahead(after + 1)):
                return there
        return self.subject() or self.where(after + 1)

    def is_corrected(self) -> bool:
        """Whether something else is said of a subject: "was not modulated by age but by reward"."""
        after = self.following
        if not after or after.link != "but" or len(after) == 1:
            return False
        return not CORRECTING.isdisjoint(after.kinds[1]) and not self.scope.cue(after.tokens[1])

    def believed(self, after: int, action: str) -> list[int]:
        """Return all that follows, in the next clause too."""
        rest = [*self.clause.kinds[after:], *(self.following.kinds if self.following else ())]
        if any("explaining" in kinds for kinds in rest):
            return []
        return self.clause.named(after + 1) or (self.following.named() if self.following else [])

    def by_other_verb(self, after: int, action: str) -> list[int]:
        """Return the places of the object of a verb of no class, or else of the subject."""
        clause = self.clause
        if clause.link == "but" and self.place <= 1 and not any(clause.verbs[: after + 1]):
            commas = clause.commas[after:]  # "but not unknown faces, …"
            end = after + commas.index(True) if True in commas else len(clause)
            return self.structures(clause.named(after, end))
        names = self.structures(self.direct(after + 1))
        if names or (self.has_pronoun(self.place) and not self.before(self.place)):
            return names
        is_said = "participle" in clause.kinds[after] or self.ends(after + 1)
        return self.structures(self.by_state(after)) if is_said else []

    def direct(self, place: int) -> list[int]:
        """Return the names of the object of a verb, which one preposition may lead to."""
        clause = self.clause
        place += "preposition" in self.kinds_at(place)
        for p in range(place, len(clause)):
            if clause.names[p] >= 0:
                break
            if "preposition" in clause.kinds[p] and clause.words[p] != "of":
                return []
        return self.ahead(place)


def until_verb(clause: Clause, place: int | None = None) -> list[int]:
    """Return the names before the first verb of a clause, up to some place."""
    verbs = clause.verbs[:place]
    return clause.named(0, verbs.index(True) if True in verbs else place)


# ---- what follows a cue


def ahead(
    s: Scope, clause: Clause, start: int, through_verbs: bool = False, is_phrase: bool = False
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
        if is_phrase and names and not LIMITING.isdisjoint(clause.kinds[p]):
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
    if clause.words[place] == "and" and "article" in clause.kinds[place + 1]:
        return True
    near = clause.kinds[place + 1 : place + 3]
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


ACTIONS: dict[str, Callable[[Reach, int, str], list[int]]] = {
    "state": Reach.by_state,
    "believed": Reach.believed,
    "other": Reach.by_other_verb,
}
DIRECTIONS: dict[str, Callable[[Reach], list[int]]] = {
    "ahead": Reach.by_ahead,
    "back": Reach.by_back,
    "beside": Reach.by_beside,
    "measure": Reach.by_measure,
    "object": Reach.by_object,
    "both": Reach.by_both,
    "not": Reach.by_not,
    "except": Reach.by_except,
    "clause": Reach.by_clause,
    "idle": Reach.by_nothing,
}
