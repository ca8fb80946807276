"""Scope: what a cue denies, or a hedge leaves open, by its direction and the clause around it.

A row of the tables of cues says where the names stand that it speaks of: ahead of it, back in its
subject, beside it as an adjective stands, and so on. How far that goes is told here, once for all
rows (the idea of ConText, Harkema et al. 2009).
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from neurowhere.text.reading.document import LABELLING, Clause, Document, Sentence
from neurowhere.text.reading.lexicon import FINDING, NOTHING, TUMOR, Classes, classes
from neurowhere.text.reading.tags import Tag

FARTHEST = 60  # tokens from a cue to a name
NEAR = 8  # tokens between two cues of which the first cancels the second


# Words by what they do around a cue.
CLOSING = classes("conjunction preposition closing stop")  # nothing more is said of a subject
EMPTY = classes("auxiliary adverb determiner turn conjunction negator pronoun side")  # no subject
PREDICATE = classes("auxiliary adverb finite")  # what leads to what is said of a subject
UNBEGUN = PREDICATE | classes("negator")
LINKING = PREDICATE | classes("being conjunction quality relative pronoun")
BEFORE_NOUN = classes("modifier determiner adverb")
IN_KNOWN = classes("modifier side filler determiner of-lesion")
AFTER_COMMA = classes("after-comma stop pronoun affirming turning article")  # a list ends there
EFFECT = classes("effect lesion responding")
ARTICLE = classes("article definite")
LEADING_IN = classes("preposition conjunction where including adverb")  # before an article
LIMITING = classes("preposition wall")  # "by controls", "with load", "for faces"
OUTCOME = classes("effect null responding")
OBJECT = classes("null change study not-believe")
MADE = classes("lesion made")
PRESENT = classes("present past participle")
PASSED = classes("auxiliary adverb")  # between "not" and its verb
NOT_DENIED = classes("not-idle people")
BEFORE_PLACE = classes("determiner preposition side")
CORRECTING = classes("preposition finite auxiliary participle")
DENYING = frozenset(["object", "ahead", "beside", "back"])  # directions that "but not" turns round
ASIDE = frozenset(["not", "back", "beside", "both"])  # directions that tell in what respect
# What "not" denies by the class of the verb after it: the subject, what follows, or places alone.
VERBS = {
    "not-omitted": "any subject, rest",
    "not-seen": "any subject, rest",
    "not-state": "state",
    "not-held": "state",
    "not-show": "subject, rest",
    "not-have": "rest, owner",
    "not-relate": "places: related subject, rest",
    "not-need": "places: rest",
    "not-represent": "any subject, rest",
}


@dataclass
class Said:
    """What denies each name, leaves it open or presses on it, by the number of the name."""

    denied: dict[int, Tag] = field(default_factory=dict)
    hedged: dict[int, Tag] = field(default_factory=dict)
    pressed: dict[int, Tag] = field(default_factory=dict)


def read_scope(document: Document, tags: Iterable[Tag], pressing: Iterable[Tag] = ()) -> Said:
    """Find the names that a text denies or leaves open, and those that something presses on."""
    said = Said()
    for tag in pressing:
        scope = Scope(document, document.sentence_of(tag.first), [])
        said.pressed |= dict.fromkeys(Reach(scope, tag).names(), tag)
    by_sentence: dict[int, list[Tag]] = {}
    for tag in tags:
        by_sentence.setdefault(document.sentence_of(tag.first), []).append(tag)
    for number, some in by_sentence.items():
        first, end = document.sentences[number]
        is_back = any(tag.direction == "earlier" for tag in some)
        if is_back or document.names_within(first, end):
            Scope(document, number, some).read(said)
    return said


class Scope:
    """A sentence and its cues."""

    def __init__(self, document: Document, number: int, tags: list[Tag]) -> None:
        self.document, self.kinds = document, document.kinds
        self.sentence = Sentence(document, number)
        self.tags = tags
        ordered = sorted(self.tags, key=lambda tag: not tag.is_open)
        self.at = {i: tag for tag in ordered for i in range(tag.first, tag.end)}

    def read(self, said: Said) -> None:
        """Deny and hedge the names of the sentence."""
        cancelled, opened = self.turned()
        for tag in sorted(self.tags, key=lambda tag: not tag.is_open):
            if tag.is_open or tag.first not in cancelled:
                is_open = tag.is_open or tag.first in opened or self.is_modal(tag)
                self.say(tag, said.hedged, said.hedged if is_open else said.denied)

    def say(self, tag: Tag, hedged: dict[int, Tag], into: dict[int, Tag]) -> None:
        """Let a cue deny, or leave open, what it reaches."""
        # "A possible focus, favoured to be artefactual" stays open.
        kept = hedged if into is not hedged and tag.direction == "back" else ()
        for number in Reach(self, tag).names():
            first = self.document.names[number].first
            if number not in kept and not tag.first <= first < tag.end:
                into.setdefault(number, tag)

    # ---- denials of denials

    def turned(self) -> tuple[set[int], set[int]]:
        """First tokens of denials that cancel each other, and of those that are left open."""
        denials = [t for t in self.tags if not t.is_open and t.direction != "idle"]
        turned = [(tag, other) for tag in denials if (other := self.turned_round(tag, denials))]
        opened = {other.first for _, other in turned if "excluding" in self.kinds[other.end - 1]}
        return {each.first for pair in turned for each in pair} - opened, opened

    def turned_round(self, tag: Tag, others: list[Tag]) -> Tag | None:
        """Return the denial that a denial before it turns round: "not normal", "no … without"."""
        if tag.direction not in ("ahead", "not"):
            return None
        later = [t for t in others if t.first >= tag.end]
        is_next = lambda t: t.first == tag.end or "neither" not in self.kinds[t.first]  # noqa: E731
        other = next(filter(is_next, later), None)
        if other is None or other.direction in ("except", "earlier"):
            return None
        return other if self.are_near(tag, other) else None

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


class Reach:
    """A cue in its clause, and the names that it reaches."""

    def __init__(self, scope: Scope, tag: Tag) -> None:
        self.scope, self.tag, self.structures = scope, tag, scope.structures
        self.clause, self.place = scope.sentence.place(tag.first)
        self.after = self.place + tag.end - tag.first
        self.kinds_at = self.clause.kinds_at

    def names(self) -> list[int]:
        """Return the names that the cue speaks of."""
        if not self.tag.is_open and ("pending" in self.clause.kinds[0] or self.is_aside()):
            return []  # "once it has resolved"
        names = DIRECTIONS[self.tag.direction](self)
        return self.structures(names) if self.tag.row["target"] == "places" else names

    def is_aside(self) -> bool:
        """Whether a cue tells in what respect only: "which was not active in controls"."""
        near = self.clause.kinds[self.after : self.after + 3]
        is_qualified = self.tag.direction in ASIDE and not all(map(LIMITING.isdisjoint, near))
        is_relative = is_qualified and "relative" in self.link_kinds
        return is_relative and not self.structures(self.clause.named(self.after))

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
        kinds = [*self.clause.kinds, NOTHING]
        return any("pronoun" in kinds[p] and OUTCOME.isdisjoint(kinds[p + 1]) for p in range(place))

    def taken_up(self) -> list[int]:
        """Return the names of what a clause without a subject is about."""
        clause = self.clause
        if not clause.number:
            return []
        earlier = self.scope.sentence.clause(clause.number - 1)
        limit = bisect_left(earlier.tokens, clause.tokens[0])
        is_relative = "relative" in self.link_kinds
        if is_relative and any(map(FINDING.match, earlier.words)):
            return []  # "a lesion in the pons, which does not enhance"
        is_last = is_relative or clause.link == "("
        return earlier.named(0, limit)[-1:] if is_last else until_verb(earlier, limit)

    def before(self, place: int) -> list[int]:
        """Return the names that a predicate at some place is said of."""
        clause, found = self.clause, list[int]()
        is_begun = is_listed = False
        for p in range(place - 1, -1, -1):
            kinds, cue = clause.kinds[p], self.scope.cue(clause.tokens[p])
            if is_begun and self.is_wall(p, is_listed):
                break
            if clause.inside[p]:
                is_begun = True
                found += clause.named(p, p + 1)
            elif "causal" in kinds or cue == "except":
                found.clear()  # "due to", "unlike the pons"
            else:
                is_listed |= is_begun and "conjunction" in kinds
                is_begun |= UNBEGUN.isdisjoint(kinds) and not cue
        return found[::-1]

    def is_wall(self, place: int, is_listed: bool) -> bool:
        """Whether what stands before a token is no part of a subject after it."""
        if self.clause.verbs[place] or (self.clause.commas[place + 1] and not is_listed):
            return True
        is_wall = not {"wall", "stop"}.isdisjoint(self.clause.kinds[place])
        return is_wall and not self.clause.inside[place]

    def predicate_start(self, place: int) -> int:
        """First place of the verbs and adverbs before some place."""
        while place > 0 and not PREDICATE.isdisjoint(self.clause.kinds[place - 1]):
            place -= 1
        return place

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
        return [] if has_lesion else self.structures(names)

    def object_kinds(self, place: int) -> frozenset[str]:
        """Classes of the noun that follows some place, past its adjectives."""
        for p in range(place, min(place + 5, len(self.clause))):
            kinds = self.clause.kinds[p]
            is_passed = self.clause.inside[p] or not BEFORE_NOUN.isdisjoint(kinds)
            if not OBJECT.isdisjoint(kinds) or not is_passed:
                return kinds
        return NOTHING

    # ---- directions

    def by_ahead(self) -> list[int]:
        """Return what follows, or the place before that has none of it."""
        if self.is_over(self.after):
            return self.subject()
        object_kinds = self.object_kinds(self.after)
        if "study" in object_kinds or self.is_of_group():
            return []
        is_sole = "sole" in self.scope.kinds[max(self.tag.end - 1, 0)]
        names = self.ahead(self.after, through_verbs=is_sole)
        has_place = self.structures(names)
        if self.tag.is_open:
            return names if has_place else [*names, *self.subject()]
        if "null" in object_kinds:
            return [*has_place, *self.owner(self.place)]
        return names if has_place else [*names, *self.owner(self.place)]

    def is_of_group(self) -> bool:
        """Whether a group is told apart by what it has not: "patients without neglect"."""
        is_with = self.clause.words[max(self.place - 1, 0)] == "with"
        near = self.clause.kinds[max(self.place - 3, 0) : self.place][-1 - is_with :]
        return any("people" in kinds for kinds in near)

    def by_back(self) -> list[int]:
        """Return the subject, or the place after it where that has none."""
        if not (self.tag.is_open or self.is_predicate()):
            return []
        if not self.tag.is_open and self.is_usual():
            return self.beyond()
        names = self.subject()
        return names if self.structures(names) else [*names, *self.beyond()]

    def beyond(self) -> list[int]:
        """Return the places after a predicate, but for "is intact after …", "resolved by …"."""
        clause, following = self.clause, self.following
        if not self.place and self.after == len(clause) and following and following.link == ":":
            return self.structures(following.named())  # "Normal: pons"
        if self.after >= len(clause) or clause.words[self.after] == "by":
            return []
        is_stop = self.scope.is_stop(clause.tokens[self.after])
        return [] if is_stop else self.structures(self.ahead(self.after))

    def is_usual(self) -> bool:
        """Whether an effect or a lesion is said to be usual, which tells nothing of its place."""
        clause = self.clause
        for p in range(self.place - 1, -1, -1):
            is_effect = not EFFECT.isdisjoint(clause.kinds[p])
            if is_effect and not self.scope.is_structure_at(clause.tokens[p]):
                return self.tag.direction == "beside"
            if clause.commas[p] or "wall" in clause.kinds[p]:
                return False
        return False

    def is_predicate(self) -> bool:
        """Whether the cue is said of a subject: "is clear", "pons: fine"."""
        if not ("where" in self.kinds_at(self.after - 1) or self.ends(self.after)):
            return False
        kinds = self.kinds_at(self.place - 1)
        return not LINKING.isdisjoint(kinds) or {"determiner", "preposition"}.isdisjoint(kinds)

    def by_beside(self) -> list[int]:
        """Return the noun that an adjective stands before, or else what it is said of."""
        before = self.clause.kinds[max(self.place - 3, 0) : self.place]
        if any("losing" in kinds for kinds in before):
            return []  # "loss of the normal …"
        if self.ends(self.after):
            return self.by_back()
        if self.tag.is_open:
            return self.ahead(self.after) or self.subject()
        if any("people" in kinds for kinds in self.clause.kinds[self.after : self.after + 3]):
            return []
        if self.place and not self.kinds_at(self.place - 1):
            return []  # "maintained activity" is what somebody did
        return self.noun_after()

    def noun_after(self) -> list[int]:
        """Return what an adjective stands before, or what has it: "ventricles of normal size"."""
        kinds = self.clause.kinds[self.after : self.after + 3]
        names = self.ahead(self.after, is_phrase=True)
        if self.structures(names) or not any("quality" in each for each in kinds):
            return names
        is_had = self.clause.words[max(self.place - 1, 0)] in ("of", "with")
        owners = self.subject(self.place - 1) if is_had else self.owner(self.place)
        return [*names, *self.structures(owners)]

    def by_object(self) -> list[int]:
        """Return the object of a verb, or the subject of its passive."""
        return self.subject() if self.ends(self.after) else self.ahead(self.after)

    def by_both(self) -> list[int]:
        """Return the subject and what follows; after "and", what follows alone."""
        if self.is_over(self.after):
            return self.subject()
        names = self.ahead(self.after)
        if not self.tag.is_open and not self.ends(self.after):
            return [n for n in names if not self.scope.document.names[n].is_structure]
        is_joined = "conjunction" in self.kinds_at(self.predicate_start(self.place) - 1)
        return names if is_joined and names else [*self.subject(), *names]

    def by_clause(self) -> list[int]:
        """Return all of the clause that follows."""
        return self.clause.named(self.place)

    def by_earlier(self) -> list[int]:
        """Return what "this" is, unless an earlier scan lacks it: "MRI does not confirm this"."""
        document, sentence = self.scope.document, self.scope.sentence
        later = self.scope.kinds[self.tag.end : sentence.end]
        is_said = self.is_over(self.after) or (
            self.ends(self.after) and "as" not in self.clause.words
        )
        if not is_said or any("before" in kinds for kinds in later):
            return []
        names = document.names_within(sentence.first, self.tag.first)
        if self.structures(names) or not sentence.number:
            return names
        return document.names_within(*document.sentences[sentence.number - 1])

    def by_except(self) -> list[int]:
        """Return the places that are taken out, unless these are what is left of a denial."""
        if any(not t.is_open and t.direction not in ("except", "idle") for t in self.scope.tags):
            return []
        return self.structures(self.ahead(self.after, is_phrase=True))

    def by_nothing(self) -> list[int]:
        """Return no name."""
        return []

    def by_not(self) -> list[int]:
        """Return what is denied by the word after "not"."""
        clause, after = self.clause, self.after
        while self.is_passed(after):
            after += 1
        if self.is_over(after):
            return self.subject()
        kinds = clause.kinds[after]
        if self.is_kept(kinds):
            return []
        if clause.inside[after] or not BEFORE_PLACE.isdisjoint(kinds):
            return [] if self.is_contrast() else self.ahead(after)
        if "not-believe" in kinds:
            return clause.named(after + 1) or (self.following.named() if self.following else [])
        return self.by_verb(after, kinds)

    def is_passed(self, place: int) -> bool:
        """Whether a word may stand between "not" and its verb."""
        kinds = self.kinds_at(place)
        return not PASSED.isdisjoint(kinds) and "not-idle" not in kinds

    def is_kept(self, kinds: Classes) -> bool:
        """Whether nothing is denied before a word: "not only", "not patients", "not until"."""
        is_held = self.following is not None and "holding" in self.following.kinds[0]
        return is_held or not NOT_DENIED.isdisjoint(kinds)

    def is_contrast(self) -> bool:
        """Whether the sentence denies something before: "spared the pons but not the insula"."""
        earlier = (t for t in self.scope.tags if not t.is_open and t.end <= self.tag.first)
        return self.clause.link == "but" and any(t.direction in DENYING for t in earlier)

    def is_corrected(self) -> bool:
        """Whether something else is said of a subject: "is not swollen but infarcted"."""
        after = self.following
        if not after or after.link != "but" or len(after) == 1:
            return False
        return not CORRECTING.isdisjoint(after.kinds[1]) and not self.scope.cue(after.tokens[1])

    def by_verb(self, after: int, kinds: Classes) -> list[int]:
        """Return what "not" denies before a verb, by its class."""
        action = next((VERBS[name] for name in VERBS if name in kinds), "")
        if action == "state":
            return self.state(after)
        if not action:
            return self.by_other_verb(after)
        rest = self.ahead(after + 1) if "rest" in action else []
        if "owner" in action:
            return self.lacked(after, rest)
        if "places" in action:
            rest = self.structures(rest)
        return [*self.subject_of(action, bool(rest)), *rest]

    def subject_of(self, action: str, has_rest: bool) -> list[int]:
        """Return what of the subject "not" denies with its verb."""
        if "subject" not in action or ("related" in action and has_rest):
            return []
        if "any" in action:
            return [] if self.is_corrected() else self.subject()
        return self.structures(self.subject())

    def lacked(self, after: int, rest: list[int]) -> list[int]:
        """Return what a place has not, or else that place too: "the pons had no lesion"."""
        if "null" in self.object_kinds(after + 1):
            rest = self.structures(rest)
        return rest if self.structures(rest) else [*rest, *self.owner(after)]

    def state(self, after: int) -> list[int]:
        """Return the subject: "the pons is not affected"; no lesion that "does not enhance"."""
        is_lesion = any("lesion" in kinds for kinds in self.clause.kinds[: self.place])
        if self.is_corrected() or (is_lesion and "surviving" not in self.clause.kinds[after]):
            return []
        is_placed = is_lesion or "where" in self.kinds_at(after + 1)
        there = self.structures(self.ahead(after + 1)) if is_placed else []
        return there or self.subject() if is_lesion else self.subject() or there

    def by_other_verb(self, after: int) -> list[int]:
        """Return the places of the object of a verb of no class, or else of the subject."""
        is_said = "participle" in self.clause.kinds[after] or self.ends(after + 1)
        names = self.structures(self.ahead(after + 1))
        return names or (self.structures(self.state(after)) if is_said else [])

    # ---- what follows

    def ahead(self, start: int, through_verbs: bool = False, is_phrase: bool = False) -> list[int]:
        """Return the names after some place, up to where another thing is said."""
        clause, names = self.clause, list[int]()
        known = 0  # place after a lesion that is taken for granted
        stop = min(self.phrase_end(start) if is_phrase else len(clause), start + FARTHEST)
        for p in range(start, stop):
            if p > start and clause.commas[p] and not self.goes_on(p):
                break
            if p < known:
                continue
            if clause.names[p] >= 0:
                names.append(clause.names[p])
            if p == start:
                continue
            if self.is_end(p, bool(names), through_verbs):
                break
            known = self.known_end(p)
        return names

    def phrase_end(self, start: int) -> int:
        """Place after a name and what it is of."""
        names, kinds = self.clause.names, self.clause.kinds
        named = (p for p in range(start, len(names)) if names[p] >= 0 and "quality" not in kinds[p])
        first = next(named, len(names))  # "normal signal in the insula"
        ends = (p for p in range(first, len(names)) if not LIMITING.isdisjoint(kinds[p]))
        others = (p for p in range(start + 1, len(names)) if self.is_other_phrase(p))
        return min(next(ends, len(names)), next(others, len(names)))

    def is_other_phrase(self, place: int) -> bool:
        """Whether an article begins the object of a verb: "with normal vision activated the"."""
        is_led = self.clause.commas[place] or not LEADING_IN.isdisjoint(self.kinds_at(place - 1))
        is_article = not ARTICLE.isdisjoint(self.clause.kinds[place])
        return is_article and not is_led

    def is_end(self, place: int, is_found: bool, through_verbs: bool) -> bool:
        """Whether a denial that goes ahead ends at some place."""
        kinds, token = self.clause.kinds[place], self.clause.tokens[place]
        if self.clause.inside[place] or not (kinds or token in self.scope.at):
            return False
        cue = self.scope.cue(token)
        if "stop" in kinds or self.is_turned(place):
            return True
        if not is_found:
            return cue not in ("", "not")
        is_verb = self.clause.verbs[place] and not through_verbs
        return bool(cue) or is_verb or self.is_parting(place)

    def is_parting(self, place: int) -> bool:
        """Whether a word leads on to something else: "with", "due to"."""
        is_with = "wall" in self.clause.kinds[place]
        is_with &= "people" not in self.clause.kinds[place - 1]
        return is_with or "causal" in self.clause.kinds[place]

    def is_turned(self, place: int) -> bool:
        """Whether something else is said from a conjunction on: "and present in", "and a cyst"."""
        if "conjunction" not in self.clause.kinds[place]:
            return False
        if self.clause.words[place] == "and" and "article" in self.kinds_at(place + 1):
            return True
        is_present = not PRESENT.isdisjoint(self.kinds_at(place + 1))
        return is_present and "preposition" in self.kinds_at(place + 2)

    def known_end(self, place: int) -> int:
        """Place after a lesion that is known to be there: "no growth of the glioma of the pons"."""
        if not self.is_taken_up(place):
            return 0
        end = 0
        for p in range(place + 1, min(place + 12, len(self.clause))):
            is_within = self.clause.inside[p] or not IN_KNOWN.isdisjoint(self.clause.kinds[p])
            if self.clause.commas[p] or not (is_within or self.is_lesion(p)):
                break
            if end or self.is_lesion(p):
                end = p + 1
        return end

    def is_taken_up(self, place: int) -> bool:
        """Whether a word begins what is known: "the", or "of" after a growth."""
        kinds = self.clause.kinds
        is_growth = "growing" in kinds[place - 1] and "of-lesion" in kinds[place]
        return is_growth or "definite" in kinds[place]

    def is_lesion(self, place: int) -> bool:
        """Whether the word at some place says what is wrong."""
        is_known = bool(
            MADE & self.clause.kinds[place] or TUMOR.fullmatch(self.clause.words[place])
        )
        return is_known and not self.scope.is_structure_at(self.clause.tokens[place])

    def goes_on(self, place: int) -> bool:
        """Whether a list goes on after the comma before some place."""
        clause = self.clause
        place = min(place + ("conjunction" in clause.kinds[place]), len(clause) - 1)
        if not AFTER_COMMA.isdisjoint(clause.kinds[place]):
            return clause.inside[place]
        if clause.tokens[place] in self.scope.at or self.is_other_said(place):
            return False
        return self.is_listed(place)

    def is_listed(self, place: int) -> bool:
        """Whether what begins at some place is an item of a list, and no clause."""
        clause = self.clause
        for p in range(place, len(clause)):
            if "conjunction" in clause.kinds[p]:
                return True
            if p > place and (clause.commas[p] or self.scope.is_stop(clause.tokens[p])):
                break
            if clause.verbs[p] or self.scope.cue(clause.tokens[p]):
                return False
        return "side" not in clause.kinds[place]

    def is_other_said(self, place: int) -> bool:
        """Whether a comma parts something else: "normal left, infarct right", ", seen in"."""
        kinds, direction = self.clause.kinds[place], self.tag.direction
        if "lesion" in kinds:
            return direction in ASIDE and not self.tag.is_open
        is_where = not PRESENT.isdisjoint(kinds) and "preposition" in self.kinds_at(place + 1)
        is_in = direction == "object" and "preposition" in kinds
        return "extending" in kinds or is_where or is_in


def until_verb(clause: Clause, place: int | None = None) -> list[int]:
    """Return the names before the first verb of a clause, up to some place."""
    verbs = clause.verbs[:place]
    return clause.named(0, verbs.index(True) if True in verbs else place)


DIRECTIONS: dict[str, Callable[[Reach], list[int]]] = {
    "ahead": Reach.by_ahead,
    "back": Reach.by_back,
    "beside": Reach.by_beside,
    "object": Reach.by_object,
    "both": Reach.by_both,
    "not": Reach.by_not,
    "except": Reach.by_except,
    "clause": Reach.by_clause,
    "earlier": Reach.by_earlier,
    "idle": Reach.by_nothing,
}
