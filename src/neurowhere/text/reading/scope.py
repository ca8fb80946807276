"""Scope: what a cue denies, or a hedge leaves open, by its direction and the clause around it.

A row of the tables of cues says where the names stand that it speaks of: ahead of it, back in its
subject, beside it as an adjective stands, and so on. How far that goes is told here, once for all
rows (the idea of ConText, Harkema et al. 2009).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from neurowhere.text.reading.clauses import (
    LABELLING,
    Clause,
    Sentence,
    is_verb,
)
from neurowhere.text.reading.document import Document
from neurowhere.text.reading.lexicon import ADJECTIVE, FINDING, NOTHING, TUMOR
from neurowhere.text.reading.tags import Tag

FARTHEST = 60  # tokens from a cue to a name
LONGEST_LABEL = 2  # tokens of a label that denies what it heads: "Ruled out:"
NEAR = 8  # tokens between two cues of which the first cancels the second


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
        reader = ScopeReader(document, number, some, said)
        reader.read()
    return said


class ScopeReader:
    """Reads a sentence around its cues."""

    def __init__(
        self,
        document: Document,
        number: int,
        tags: list[Tag],
        said: Said,
    ) -> None:
        self.document, self.number, self.said = document, number, said
        self.kinds, self.gaps = document.kinds, document.gaps
        self.sentence = Sentence(document, *document.sentences[number])
        self.tags = tags
        self.opened = set[int]()  # denials that are denied and leave open: "cannot be excluded"
        self.at = {
            i: tag
            for is_open in (True, False)
            for tag in tags
            if tag.is_open == is_open
            for i in range(tag.first, tag.end)
        }
        self.by_direction: dict[str, Callable[[Tag], list[int]]] = {
            "ahead": self.ahead_of,
            "back": self.back_of,
            "beside": self.beside,
            "measure": self.measure,
            "object": self.object_of,
            "both": self.both_of,
            "not": self.after_not,
            "except": self.except_for,
            "clause": self.clause_of,
        }

    # ---- which cues stand

    def read(self) -> None:
        """Deny and hedge the names of the sentence."""
        for tag in sorted(self.standing(), key=lambda tag: not tag.is_open):
            is_open = tag.is_open or tag.first in self.opened
            into = self.said.hedged if is_open else self.said.denied
            for number in self.reached(tag):
                name = self.document.names[number]
                if not (tag.first <= name.first < tag.end or self.is_left_open(tag, number)):
                    into.setdefault(number, tag)

    def is_left_open(self, tag: Tag, number: int) -> bool:
        """Whether a name was left open in a clause before: "is suspected, but not proven"."""
        hedge = self.said.hedged.get(number)
        if tag.is_open or hedge is None or hedge.first >= tag.first:
            return False
        clause, _ = self.place(tag.first)
        name = self.document.names[number]
        is_later = hedge.first < clause.tokens[0] and name.first < clause.tokens[0]
        is_same = clause.link == "but" or "relative" in self.link_kinds(clause)
        return is_later and (is_same or "pronoun" in self.kinds[clause.tokens[0]])

    def reached(self, tag: Tag) -> list[int]:
        """Return the names that a cue speaks of."""
        clause, _ = self.place(tag.first)
        if not tag.is_open and "pending" in self.kinds[clause.tokens[0]]:
            return []  # "once it has resolved"
        names = self.by_direction.get(tag.direction, self.nothing)(tag)
        if tag.row["target"] == "places":
            return self.structures(names)
        return names

    def nothing(self, tag: Tag) -> list[int]:
        """Return no names: an idle cue says nothing."""
        return []

    def standing(self) -> list[Tag]:
        """Return the cues that no other cue cancels."""
        idle = [tag for tag in self.tags if tag.direction == "idle"]
        idle += (tag for tag in self.tags if tag.is_open and tag.end > tag.first + 1)
        some = [tag for tag in self.tags if not any(_is_within(tag, each) for each in idle)]
        cancelled = self.turned_round(some) | self.called_false(some) | self.neither(some)
        kept = [
            tag
            for tag in some
            if tag.is_open or tag.first not in cancelled or tag.first in self.opened
        ]
        self.opened |= {tag.first for tag in kept if self.is_modal(tag, some)}
        return [tag for tag in kept if not self.is_partial(tag)]

    def turned_round(self, tags: list[Tag]) -> set[int]:
        """First tokens of denials that others turn round; some leave open what they deny."""
        cancelled: set[int] = set()
        for tag in tags:
            other = None
            if not tag.is_open and tag.first not in cancelled:
                other = self.cancelled_by(tag, tags)
            if other is not None:
                cancelled |= {tag.first, other.first}
                if "excluding" in self.kinds[other.end - 1]:
                    self.opened.add(other.first)
        return cancelled

    def called_false(self, tags: list[Tag]) -> set[int]:
        """First tokens of denials that the sentence calls wrong, and of what says so."""
        cancelled: set[int] = set()
        for tag in tags:
            if "false" in self.kinds[tag.end - 1] and self.ends(*self.after(tag)):
                earlier = {t.first for t in tags if not t.is_open and t.first < tag.first}
                cancelled |= earlier | ({tag.first} if earlier else set())
        return cancelled

    def neither(self, tags: list[Tag]) -> set[int]:
        """First tokens of cues that cancel each other: "neither A nor B is normal"."""
        pair = [tag for tag in tags if "neither" in self.kinds[tag.first]]
        if not pair or tags[-1].direction not in ("beside", "object", "back"):
            return set()
        clause, _ = self.place(pair[0].first)
        is_one = clause is self.place(tags[-1].first)[0] and self.ends(*self.after(tags[-1]))
        return {tag.first for tag in tags if not tag.is_open} if is_one else set()

    def cancelled_by(self, tag: Tag, others: list[Tag]) -> Tag | None:
        """Return the denial that a denial before it turns round: "not normal", "no … without"."""
        if tag.direction == "except":
            return next((t for t in others if t.first == tag.end and not t.is_open), None)
        if tag.direction not in ("ahead", "not") or "sole-end" in self.kinds[tag.first]:
            return None
        is_opinion = tag.direction == "not" and "not-believe" in self.object_kinds(*self.after(tag))
        later = (t for t in others if not t.is_open and t.first >= tag.end)
        other = next((t for t in later if "neither" not in self.kinds[t.first]), None)
        if other is None or is_opinion:
            return other
        return other if self.are_near(tag, other) else None

    def are_near(self, tag: Tag, other: Tag) -> bool:
        """Whether a denial is near enough to another one to turn it round."""
        if other.first >= tag.end + NEAR or other.direction == "except":
            return False
        between = range(tag.end, other.first + 1)
        said = NOTHING.union(*(self.kinds[i] for i in between))
        is_far = any("," in self.gaps[i] or self.is_stop(i) for i in between)
        is_placed = "relative" not in said and any(map(self.is_structure_at, between[:-1]))
        if is_far or is_placed or "conjunction" in said:
            return False
        is_all = tag.direction == "not" or "conditional" in self.kinds[tag.first]
        return is_all or "people" in said or other.direction != "beside"

    def is_modal(self, tag: Tag, others: list[Tag]) -> bool:
        """Whether a denial is itself left open: "may be normal"."""
        if tag.is_open or tag.direction not in ("back", "beside", "object", "both", "not"):
            return False
        i = tag.first - 1
        while i >= 0 and not {"being", "adverb"}.isdisjoint(self.kinds[i]) and i not in self.at:
            i -= 1
        return i in self.at and self.at[i].is_open and self.at[i].direction == "both"

    def is_partial(self, tag: Tag) -> bool:
        """Whether a word before a cue says that it is only partly so: "partly resolved"."""
        if tag.is_open or tag.direction not in ("back", "object", "ahead", "beside"):
            return False
        before = self.kinds[tag.first - 1] if tag.first else frozenset()
        return "partly" in before

    # ---- where names are

    def structures(self, names: list[int]) -> list[int]:
        """Return those of some names that are places."""
        return [number for number in names if self.document.names[number].is_structure]

    def is_stop(self, i: int) -> bool:
        """Whether a denial ends at token i."""
        return "stop" in self.kinds[i] and i not in self.document.covered

    def is_cue(self, i: int) -> bool:
        """Whether token i is of a cue that denies."""
        tag = self.at.get(i)
        return tag is not None and not tag.is_open and tag.direction != "idle"

    def after(self, tag: Tag) -> tuple[Clause, int]:
        """Clause of a cue, and the place after it."""
        clause, place = self.place(tag.first)
        return clause, place + tag.end - tag.first

    def place(self, i: int) -> tuple[Clause, int]:
        """Clause of a token, and its place there."""
        return self.sentence.places[i]

    def names_at(self, tokens: list[int]) -> list[int]:
        """Return the names that begin at some tokens, in order."""
        begins = self.document.begins
        return [begins[i] for i in tokens if i in begins]

    def ends(self, clause: Clause, place: int) -> bool:
        """Whether nothing more is said of a subject at some place of a clause."""
        if place >= len(clause.tokens):
            return True
        i = clause.tokens[place]
        is_comma = "," in self.gaps[i]
        closing = {"conjunction", "preposition", "closing", "stop"}
        return is_comma or not closing.isdisjoint(self.kinds[i])

    # ---- subjects

    def subject(self, clause: Clause, place: int) -> list[int]:
        """Return the names before some place of a clause, back to where another thing is said."""
        names = self.before(clause, place)
        if not names and self.is_coordinate(clause, place):
            names = self.before_verb(clause, place)
        if names:
            return names
        if self.number_of_nouns(clause, place) and not self.has_pronoun(clause, place):
            return []
        return self.taken_up(clause)

    def number_of_nouns(self, clause: Clause, place: int) -> int:
        """Count the words before a place of a clause that may be its subject."""
        empty = {"auxiliary", "adverb", "determiner", "turn", "conjunction", "negator", "pronoun"}
        return sum(1 for i in clause.tokens[:place] if empty.isdisjoint(self.kinds[i]))

    def has_pronoun(self, clause: Clause, place: int) -> bool:
        """Whether a pronoun stands for the subject."""
        return any("pronoun" in self.kinds[i] for i in clause.tokens[:place])

    def taken_up(self, clause: Clause) -> list[int]:
        """Return the names of what a clause without a subject is about."""
        if clause.number:
            before = self.sentence.clauses[clause.number - 1]
            if clause.link == "(":
                return self.last_names(before, clause.tokens[0])
            if "relative" in self.link_kinds(clause):
                return self.last_names(before, clause.tokens[0])
            names = self.names_at([i for i in before.tokens if i < clause.tokens[0]])
            return names if clause.link in LABELLING else self.before_verb(before)
        is_pronoun = any("pronoun" in self.kinds[i] for i in clause.tokens[:3])
        if self.number and is_pronoun:
            first, end = self.document.sentences[self.number - 1]
            return self.document.names_within(first, end)
        return []

    def asked(self, clause: Clause) -> list[int]:
        """Return the names of the sentence before, where that is a question."""
        if clause.number or not self.number:
            return []
        first, end = self.document.sentences[self.number - 1]
        is_question = "?" in self.gaps[end]
        return self.document.names_within(first, end) if is_question else []

    def each_of(self, clause: Clause, tag: Tag) -> list[int]:
        """Return the places of the sentence before, which "none" at the beginning stands for."""
        after = clause.tokens[tag.end - tag.first : tag.end - tag.first + 3]
        is_pronoun = "pronoun" in self.kinds[tag.first] and tag.first == clause.tokens[0]
        is_said = any(is_verb(self.document, i) for i in after)
        if clause.number or not (self.number and is_pronoun and is_said):
            return []
        first, end = self.document.sentences[self.number - 1]
        names = self.structures(self.document.names_within(first, end))
        is_people = any("people" in kinds for kinds in self.kinds[first:end])
        return names if len(names) > 1 and not is_people else []

    def link_kinds(self, clause: Clause) -> frozenset[str]:
        """Classes of the word that links a clause."""
        return self.kinds[clause.tokens[0]] if clause.link.isalpha() else frozenset()

    def last_names(self, clause: Clause, limit: int) -> list[int]:
        """Return the last name before a token, and those that "and" or a slash joins to it."""
        names = self.names_at([i for i in clause.tokens if i < limit])
        kept = names[-1:]
        for number in reversed(names[:-1]):
            name, after = self.document.names[number], self.document.names[kept[0]]
            between = range(name.end, after.first)
            if not all(
                not {"conjunction", "determiner"}.isdisjoint(self.kinds[i]) for i in between
            ):
                break
            kept.insert(0, number)
        return kept

    def before_verb(self, clause: Clause, place: int | None = None) -> list[int]:
        """Return the names before the first verb of a clause, up to some place."""
        tokens = clause.tokens[:place]
        verbs = (p for p, i in enumerate(tokens) if is_verb(self.document, i))
        return self.names_at(tokens[: next(verbs, len(tokens))])

    def before(self, clause: Clause, place: int) -> list[int]:
        """Return the names that a predicate at some place is said of."""
        found = list[int]()
        is_begun = is_listed = False
        while place > 0:
            place -= 1
            i = clause.tokens[place]
            after = clause.tokens[place + 1] if place + 1 < len(clause.tokens) else i
            is_comma = is_begun and "," in self.gaps[after] and after == i + 1
            if is_comma and not (is_listed or self.is_bare(clause, place)):
                break
            if i in self.document.covered:
                is_begun = True
                found.append(i)
                continue
            if self.is_aside(clause, place):
                found.clear()
                continue
            if self.is_wall(clause, place, is_begun=is_begun):
                place = self.over_relative(clause, place)
                if place < 0:
                    break
                continue
            if not is_begun and self.document.words[i].endswith("ed"):
                continue  # "should be interpreted with caution"
            is_listed |= is_begun and "conjunction" in self.kinds[i]
            empty = {"auxiliary", "adverb", "finite", "negator"}
            is_begun |= empty.isdisjoint(self.kinds[i]) and not self.is_cue(i)
        return self.names_at(sorted(found))

    def is_aside(self, clause: Clause, place: int) -> bool:
        """Whether what follows a token is no part of a subject: "unlike the pons", "due to"."""
        i = clause.tokens[place]
        if i in self.at and self.at[i].direction == "except":
            return place > 0
        before = self.kinds[clause.tokens[place - 1]] if place else frozenset()
        return place > 0 and "causal" in self.kinds[i] and "quality" not in before

    def is_wall(self, clause: Clause, place: int, *, is_begun: bool) -> bool:
        """Whether what stands before a token is no part of a subject after it."""
        i = clause.tokens[place]
        if self.is_cue(i):
            return is_begun or self.at[i].direction != "not"
        if is_verb(self.document, i):
            return is_begun
        if self.is_said(i):
            return True
        return is_begun and (self.is_stop(i) or "wall" in self.kinds[i])

    def is_said(self, i: int) -> bool:
        """Whether token i tells how a place is, after its name: "pons infarcted and …"."""
        is_after = i - 1 in self.document.covered and self.gaps[i] == " "
        following = self.document.word(i + 1)
        is_last = "," in self.gaps[i + 1] or following == "and"
        return is_after and is_last and not {"state", "modifier"}.isdisjoint(self.kinds[i])

    def over_relative(self, clause: Clause, place: int) -> int:
        """Place before a relative clause whose verb is at some place; −1 if there is none."""
        if self.is_cue(clause.tokens[place]):
            return -1
        for before in range(place - 1, max(place - 4, -1), -1):
            if "relative" in self.kinds[clause.tokens[before]]:
                return before
            if not is_verb(self.document, clause.tokens[before]):
                break
        return -1

    def is_bare(self, clause: Clause, place: int) -> bool:
        """Whether the item of a list that ends at some place is a place and nothing else."""
        for i in reversed(clause.tokens[: place + 1]):
            if i not in self.document.covered and FINDING.match(self.document.words[i]):
                return False
            if "," in self.gaps[i]:
                return True
            if i in self.document.covered:
                continue
            if {"modifier", "determiner", "conjunction", "side"}.isdisjoint(self.kinds[i]):
                return False
        return True

    # ---- what follows

    def ahead(
        self, clause: Clause, place: int, *, through_verbs: bool = False, is_phrase: bool = False
    ) -> list[int]:
        """Return the names after some place of a clause, up to where another thing is said."""
        names = list[int]()
        presupposed = 0
        is_placed = False  # a structure was named, and a preposition leads to what it does
        begins = self.document.begins
        for p in range(place, min(len(clause.tokens), place + FARTHEST)):
            i = clause.tokens[p]
            if p > place and "," in self.gaps[i] and not self.goes_on(clause, p):
                break
            if p < presupposed:
                continue
            if p > place and self.is_of_known(clause, p):
                presupposed = self.lesion_end(clause, p)
            if i in begins and not (is_placed and self.is_function(begins[i])):
                names.append(begins[i])
            is_placed |= "leading-on" in self.kinds[i] and bool(self.structures(names))
            if i in self.document.covered:
                continue
            if self.is_end(i, through_verbs=through_verbs, names=names, is_first=p == place):
                break
            if p > place and self.is_turned(clause, p, names):
                break
            if is_phrase and names and not {"preposition", "wall"}.isdisjoint(self.kinds[i]):
                break
        return names

    def is_turned(self, clause: Clause, place: int, names: list[int]) -> bool:
        """Whether something else is said from a conjunction on: "and present in", "and a cyst"."""
        i = clause.tokens[place]
        if "conjunction" in self.kinds[i] and self.is_affirmed(clause, place + 1):
            return True
        return self.document.words[i] == "and" and self.is_new(clause, place + 1, names)

    def is_function(self, number: int) -> bool:
        """Whether a name is neither of a place nor of what is wrong."""
        name = self.document.names[number]
        return not name.is_structure and "lesion" not in self.kinds[name.end - 1]

    def is_of_known(self, clause: Clause, place: int) -> bool:
        """Whether what follows is taken for granted: "the glioma", "growth of left glioma"."""
        i, before = clause.tokens[place], clause.tokens[place - 1]
        is_growth = "growing" in self.kinds[before] and "of-lesion" in self.kinds[i]
        return is_growth or "definite" in self.kinds[i]

    def lesion_end(self, clause: Clause, place: int) -> int:
        """Place after a lesion that is known to be there: "no growth of the pontine glioma"."""
        tokens = clause.tokens
        for p in range(place + 1, min(place + 7, len(tokens))):
            i = tokens[p]
            is_lesion = not {"lesion", "made"}.isdisjoint(self.kinds[i])
            is_lesion |= bool(TUMOR.fullmatch(self.document.words[i]))
            if is_lesion and not self.is_structure_at(i):
                after = p + 1
                while after < len(tokens) and "of-lesion" in self.kinds[tokens[after]]:
                    after += 1
                    while after < len(tokens) and self.is_phrase(tokens[after]):
                        after += 1
                return after
            if not (self.is_phrase(i) or i in self.document.covered):
                break
        return 0

    def is_structure_at(self, i: int) -> bool:
        """Whether token i is of the name of a structure."""
        number = self.document.covered.get(i)
        return number is not None and self.document.names[number].is_structure

    def is_phrase(self, i: int) -> bool:
        """Whether token i may be within a noun phrase."""
        if self.is_structure_at(i):
            return True
        return not {"modifier", "side", "filler", "determiner"}.isdisjoint(self.kinds[i])

    def is_end(
        self, i: int, *, through_verbs: bool, names: list[int], is_first: bool = False
    ) -> bool:
        """Whether a denial that goes ahead ends at token i."""
        if is_first:
            return self.document.words[i] == "despite"
        if self.document.words[i] == "with" and "people" not in self.kinds[i - 1]:
            near = self.document.words[i + 1 : i + 4]
            return bool(names) or any(map(FINDING.match, near))
        if self.is_stop(i) or (names and self.document.words[i] == "from"):
            return True
        if self.is_cue(i):
            return bool(names) or self.at[i].direction != "not"
        return is_verb(self.document, i) and bool(names) and not through_verbs

    def is_affirmed(self, clause: Clause, place: int) -> bool:
        """Whether something is said to be there at some place: "and present in the pons"."""
        near = [*clause.tokens[place : place + 2]]
        return (
            len(near) == 2
            and not {"present", "past", "participle"}.isdisjoint(self.kinds[near[0]])
            and "preposition" in self.kinds[near[1]]
        )

    def is_new(self, clause: Clause, place: int, names: list[int]) -> bool:
        """Whether another thing begins after "and": "no lesion and a cyst", "… and the pons"."""
        kinds = self.kinds[clause.tokens[place]] if place < len(clause.tokens) else frozenset()
        is_other = "definite" in kinds and not self.structures(names)
        return "article" in kinds or is_other

    def goes_on(self, clause: Clause, place: int) -> bool:
        """Whether a list goes on after the comma before some place."""
        tokens, kinds = clause.tokens, self.kinds
        i = tokens[place]
        if "conjunction" in kinds[i]:
            place += 1
            i = tokens[min(place, len(tokens) - 1)]
            if "article" in kinds[i]:
                return False
        ending = {"after-comma", "stop", "pronoun", "affirming", "turning", "article"}
        if not ending.isdisjoint(kinds[i]):
            return i in self.document.covered
        if i in self.at or is_verb(self.document, i):
            return False
        is_closed = False
        for p in range(place, len(tokens)):
            j = tokens[p]
            if p > place and ("," in self.gaps[j] or self.is_stop(j)):
                break
            is_closed |= "conjunction" in kinds[j]
            if self.is_cue(j) and self.document.words[j - 1] != "and" and not is_closed:
                return False
            if is_verb(self.document, j) and not is_closed:
                return False
        return is_closed or "side" not in kinds[i]

    # ---- directions

    def ahead_of(self, tag: Tag) -> list[int]:
        """Return what follows, the place before that has none of it, or what a label is of."""
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        is_sole = tag.end > tag.first and "sole" in self.kinds[tag.end - 1]
        if self.ends_clause(clause, after):
            following = self.following(clause)
            return following or self.asked(clause) or self.subject(clause, place)
        if self.is_change(clause, after) or self.is_group(clause, place):
            return []
        if "study" in self.object_kinds(clause, after):
            return []
        is_first = place == 0 and clause.number == 0
        if is_first and "conditional" in self.kinds[tag.first] and self.has_verb(clause):
            return []  # "without the pons nothing works"
        names = self.ahead(clause, after, through_verbs=is_sole)
        if not self.structures(names):
            names += self.following(clause) or self.each_of(clause, tag)
        is_null = "null" in self.object_kinds(clause, after)
        if is_null:
            names = self.structures(names)
        if tag.is_open and not self.structures(names):
            return [*names, *self.subject(clause, place)]
        if tag.is_open or (self.structures(names) and not is_null):
            return names
        places = self.owner(clause, place)
        return [*names, *places]

    def is_group(self, clause: Clause, place: int) -> bool:
        """Whether a denial tells people apart: "patients without neglect"."""
        near = clause.tokens[max(place - 3, 0) : place]
        with_ = place and self.document.words[clause.tokens[place - 1]] == "with"
        return any("people" in self.kinds[i] for i in near[-1 - bool(with_) :])

    def is_change(self, clause: Clause, place: int) -> bool:
        """Whether what follows is a change since before, so that what is there is as it was."""
        for n, i in enumerate(clause.tokens[place : place + 4]):
            kinds = self.kinds[i]
            if "change-like" in kinds:
                return False
            if "change" in kinds or ("before-change" in kinds and n < 2):
                return True
            if {"slight", "determiner"}.isdisjoint(kinds):
                return False
        return False

    def ends_clause(self, clause: Clause, place: int) -> bool:
        """Whether a clause is over at some place."""
        return place >= len(clause.tokens) or "," in self.gaps[clause.tokens[place]]

    def following(self, clause: Clause) -> list[int]:
        """Return the names of the list that a label is before: "Ruled out: …"."""
        number = clause.number + 1
        is_list = len(clause.tokens) <= LONGEST_LABEL or "following" in (
            self.document.words[i] for i in clause.tokens
        )
        if not is_list or number >= len(self.sentence.clauses):
            return []
        after = self.sentence.clauses[number]
        return self.ahead(after, 0) if after.link in (":", "-") else []

    def object_kinds(self, clause: Clause, place: int) -> frozenset[str]:
        """Classes of the noun that follows some place, past its adjectives."""
        for i in clause.tokens[place : place + 5]:
            kinds = self.kinds[i]
            if not {"null", "change", "study", "not-believe"}.isdisjoint(kinds):
                return kinds
            if i in self.document.covered:
                continue
            if {"modifier", "determiner", "adverb"}.isdisjoint(kinds):
                return kinds
        return frozenset()

    def owner(self, clause: Clause, place: int) -> list[int]:
        """Return the places that have none of what follows: "the pons shows no lesion"."""
        verb = place - 1
        while verb >= 0 and not {"adverb", "determiner"}.isdisjoint(
            self.kinds[clause.tokens[verb]]
        ):
            verb -= 1
        i = clause.tokens[verb] if verb >= 0 else None
        is_owning = i is not None and (
            "owning" in self.kinds[i] or (i in self.document.covered and not self.has_verb(clause))
        )
        if verb < 0 and clause.link in (":", "-", "("):
            names = self.taken_up(clause)
        elif is_owning and clause.link != "but":
            names = self.subject(clause, place)
        elif is_owning:
            names = self.before(clause, place)
        else:
            return []
        has_lesion = any("lesion" in self.kinds[self.document.names[n].first] for n in names)
        before = clause.tokens[:place]
        if has_lesion or any(FINDING.match(self.document.words[j]) for j in before):
            return []
        return self.structures(names)

    def has_verb(self, clause: Clause) -> bool:
        """Whether a clause has a verb."""
        return any(is_verb(self.document, i) for i in clause.tokens)

    def back_of(self, tag: Tag) -> list[int]:
        """Return the subject, or the place after it where that has none."""
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        if not (tag.is_open or self.is_predicate(clause, place, after)):
            return []
        if not (tag.is_open or place or clause.number) and any(
            "," in self.gaps[i] for i in clause.tokens[after:]
        ):
            return []  # "independent of age, the pons …"
        there = self.where(clause, place + tag.end - tag.first)
        if not there and tag.end > tag.first and self.is_where(tag.end - 1):
            there = self.structures(self.ahead(clause, after))
        if self.document.word(tag.end) == "by":
            there = self.structures(self.ahead(clause, after))
            if self.is_joined(clause, place):
                return there
        if there and self.is_joined(clause, place):
            return there
        names = self.subject(clause, place)
        is_state = tag.direction in ("beside", "measure") or tag.row["target"] == "places"
        if is_state and not tag.is_open and self.is_effect(clause, place):
            return self.structures(there)
        return names if self.structures(names) else [*names, *there]

    def is_predicate(self, clause: Clause, place: int, after: int) -> bool:
        """Whether the tokens between two places are said of a subject: "is clear", "pons: fine"."""
        if not (
            self.ends(clause, after)
            or self.is_where(
                max(clause.tokens[place], clause.tokens[min(after, len(clause.tokens)) - 1])
            )
        ):
            return place > 0 and self.is_linked(clause, after)
        is_led = self.is_where(clause.tokens[min(after, len(clause.tokens)) - 1])
        if (
            is_led
            and place
            and {"being", "finite"}.isdisjoint(self.kinds[clause.tokens[place - 1]])
        ):
            return self.is_coordinate(clause, place)
        if place == 0:
            return clause.link != "("  # of what was named before, or of the place after it
        i = clause.tokens[place - 1]
        while ("adverb" in self.kinds[i] or self.document.words[i] == "both") and (
            i > clause.tokens[0]
        ):
            i -= 1
        linking = {
            "being",
            "finite",
            "auxiliary",
            "adverb",
            "conjunction",
            "quality",
            "relative",
            "pronoun",
        }
        if not linking.isdisjoint(self.kinds[i]) or "," in self.gaps[clause.tokens[place]]:
            return True
        is_led = not {"determiner", "preposition"}.isdisjoint(self.kinds[i])
        return not is_led and not self.has_other_verb(clause, place)

    def has_other_verb(self, clause: Clause, place: int) -> bool:
        """Whether something else is said in a clause, since the last comma before some place."""
        for i in reversed(clause.tokens[:place]):
            if is_verb(self.document, i):
                return True
            if "," in self.gaps[i]:
                return False
        return False

    def is_joined(self, clause: Clause, place: int) -> bool:
        """Whether a predicate has no subject of its own: "… in the pons and normal in the"."""
        while place > 0:
            i = clause.tokens[place - 1]
            if {"auxiliary", "adverb", "finite"}.isdisjoint(self.kinds[i]):
                break
            place -= 1
        if place == 0:
            return clause.number > 0
        is_comma = "," in self.gaps[clause.tokens[place]]
        return is_comma or "conjunction" in self.kinds[clause.tokens[place - 1]]

    def is_coordinate(self, clause: Clause, place: int) -> bool:
        """Whether a conjunction joins a predicate to another one: "was seen and was not …"."""
        while place > 0:
            i = clause.tokens[place - 1]
            if "conjunction" in self.kinds[i]:
                return any(is_verb(self.document, j) for j in clause.tokens[:place])
            if {"auxiliary", "adverb", "finite"}.isdisjoint(self.kinds[i]):
                return False
            place -= 1
        return False

    def is_effect(self, clause: Clause, place: int) -> bool:
        """Whether a subject is an effect or a lesion, of which it tells nothing to be usual."""
        for i in reversed(clause.tokens[:place]):
            is_effect = not {"effect", "lesion", "responding"}.isdisjoint(self.kinds[i])
            if is_effect and not self.is_structure_at(i):
                return True
            if "," in self.gaps[i] or "wall" in self.kinds[i]:
                return False
        return False

    def where(self, clause: Clause, place: int) -> list[int]:
        """Return the places after a preposition: "… in the pons and the thalamus"."""
        if place >= len(clause.tokens) or "," in self.gaps[clause.tokens[place]]:
            return []
        near = clause.tokens[max(place - 1, 0) : place + 1]
        led = (p for p, i in zip((place - 1, place), near, strict=False) if self.is_where(i))
        start = next(led, None)
        return [] if start is None else self.structures(self.ahead(clause, start + 1))

    def beside(self, tag: Tag) -> list[int]:
        """Return the noun that an adjective stands before, or else what it is said of."""
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        before = self.kinds[clause.tokens[place - 1]] if place else frozenset()
        if "losing" in before or (place > 1 and "losing" in self.kinds[clause.tokens[place - 3]]):
            return []
        if not self.ends(clause, after) and not self.is_linked(clause, after):
            near = clause.tokens[after : after + 3]
            if any("people" in self.kinds[i] for i in near) and not tag.is_open:
                return []
            if not tag.is_open and place and self.is_noun(clause.tokens[place - 1]):
                return []  # "maintained activity" is what somebody did
            return self.noun_after(tag, clause, place, after)
        return self.back_of(tag)

    def is_noun(self, i: int) -> bool:
        """Whether a token is a noun, for all that is known of it, and no place."""
        number = self.document.covered.get(i)
        if number is not None:
            return not self.document.names[number].is_structure
        return not self.kinds[i] and not self.document.words[i].isdigit()

    def is_linked(self, clause: Clause, place: int) -> bool:
        """Whether a verb, or an adverb at the end, stands at some place."""
        i = clause.tokens[place]
        return is_verb(self.document, i) or (
            "adverb" in self.kinds[i] and i not in self.document.covered
        )

    def measure(self, tag: Tag) -> list[int]:
        """Return the place of a measure that is as usual: "of the expected size"."""
        clause, after = self.after(tag)
        place = after - (tag.end - tag.first)
        if self.ends(clause, after):
            is_said = place > 0 and "being" in self.kinds[clause.tokens[place - 1]]
            return self.back_of(tag) if is_said else []
        near = clause.tokens[after : after + 4]
        if not any("measure" in self.kinds[i] for i in near):
            return []
        return self.noun_after(tag, clause, place, after)

    def noun_after(self, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
        """Return what an adjective stands before, or what has that quality."""
        if tag.is_open:
            return self.ahead(clause, after) or self.subject(clause, place)
        names = list[int]()
        begins = self.document.begins
        is_quality = False
        for p in range(after, min(len(clause.tokens), after + FARTHEST)):
            i = clause.tokens[p]
            if p > after and "," in self.gaps[i] and not self.goes_on(clause, p):
                break
            if i in begins and self.is_head(begins[i]):
                names.append(begins[i])
            if i in self.document.covered:
                continue
            is_quality |= "quality" in self.kinds[i]
            if "conjunction" in self.kinds[i] and self.is_affirmed(clause, p + 1):
                break
            if self.is_cue(i) or self.is_stop(i) or is_verb(self.document, i):
                break
            is_over = bool(self.structures(names)) or not is_quality
            if "preposition" in self.kinds[i] and is_over:
                break
        if self.structures(names):
            return names
        owners = self.owner(clause, place) or (self.had(clause, place) if is_quality else [])
        return [*names, *owners]

    def is_head(self, number: int) -> bool:
        """Whether a name ends its phrase, but for a measure: "normal brain", not "brain aging"."""
        name = self.document.names[number]
        if not name.is_structure or name.end >= len(self.kinds) or self.gaps[name.end] != " ":
            return True
        is_adjective = bool(ADJECTIVE.fullmatch(self.document.words[name.end - 1]))
        return is_adjective or not self.is_noun(name.end)

    def had(self, clause: Clause, place: int) -> list[int]:
        """Return what has the quality after "of" or "with": "ventricles of normal size"."""
        i = clause.tokens[place - 1] if place else None
        if i is not None and self.document.words[i] in ("of", "with"):
            return self.structures(self.subject(clause, place - 1))
        return []

    def object_of(self, tag: Tag) -> list[int]:
        """Return the object of a verb, or the subject of its passive."""
        if self.is_compound(tag):
            return []  # "macular-sparing hemianopia"
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        while after < len(clause.tokens) and self.document.words[clause.tokens[after]] == "only":
            after += 1
        following = self.sentence.clauses[clause.number + 1 : clause.number + 2]
        if any(each.link in ("if", "unless") for each in following):
            return []
        if place == 0 and after >= len(clause.tokens) and (names := self.following(clause)):
            return names
        if not self.ends(clause, after) and not self.is_linked(clause, after):
            verb = self.kinds[clause.tokens[place - 1]] if place else frozenset()
            if "being" not in verb:
                return self.ahead(clause, after)
        if self.document.word(tag.end) == "by" and self.is_joined(clause, place):
            return []
        return self.subject(clause, place)

    def is_compound(self, tag: Tag) -> bool:
        """Whether what is spared stands before a cue, and what is there after it."""
        before = self.kinds[tag.first - 1] if tag.first else frozenset()
        is_joined = "-" in self.gaps[tag.first] or "spared-sign" in before
        return is_joined and tag.end < len(self.kinds) and self.gaps[tag.end] == " "

    def both_of(self, tag: Tag) -> list[int]:
        """Return the subject and what follows."""
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        if self.ends_clause(clause, after):
            return [] if self.is_bare_subject(clause, place) else self.subject(clause, place)
        if self.is_joined(clause, place) and (names := self.where(clause, after)):
            return names
        names = self.ahead(clause, after, through_verbs=True)
        if not tag.is_open and not self.ends(clause, after):
            return [n for n in names if not self.document.names[n].is_structure]
        return [*self.subject(clause, place), *names]

    def is_bare_subject(self, clause: Clause, place: int) -> bool:
        """Whether the subject is a structure and nothing of it: "the vermis is absent"."""
        names = self.before(clause, place)
        first = min((self.document.names[n].first for n in names), default=0)
        before = [i for i in clause.tokens[:place] if i >= first]
        return len(names) > 0 and all(
            self.is_of_structure(i)
            or not {"determiner", "auxiliary", "finite", "adverb", "conjunction"}.isdisjoint(
                self.kinds[i]
            )
            for i in before
        )

    def is_of_structure(self, i: int) -> bool:
        """Whether a token is of the name of a structure, and no adjective."""
        number = self.document.covered.get(i)
        if number is None or not self.document.names[number].is_structure:
            return False
        return not ADJECTIVE.fullmatch(self.document.words[self.document.names[number].end - 1])

    def is_where(self, i: int) -> bool:
        """Whether token i leads to a place."""
        return "where" in self.kinds[i]

    def clause_of(self, tag: Tag) -> list[int]:
        """Return all of the clause that follows."""
        clause, place = self.place(tag.first)
        return self.names_at(clause.tokens[place:])

    def except_for(self, tag: Tag) -> list[int]:
        """Return the places that are taken out, unless these are what is left of a denial."""
        others = [each for each in self.tags if not each.is_open]
        if any(each.direction not in ("except", "idle") for each in others):
            return []
        clause, place = self.place(tag.first)
        return self.structures(self.ahead(clause, place + tag.end - tag.first, is_phrase=True))

    def after_not(self, tag: Tag) -> list[int]:
        """Return what is denied by the word after "not"."""
        clause, place = self.place(tag.first)
        after = place + tag.end - tag.first
        tokens = clause.tokens
        while after < len(tokens) and self.is_passed(tokens[after]):
            after += 1
        if after >= len(tokens) or ("," in self.gaps[tokens[after]] and after > place + 1):
            return self.subject(clause, place)
        i = tokens[after]
        if self.is_idle(tag, clause, place, after):
            return []
        is_noun = not {"determiner", "preposition", "side"}.isdisjoint(self.kinds[i])
        if is_noun or i in self.document.covered:
            return self.not_phrase(tag, clause, after)
        action = next((VERBS[name] for name in VERBS if name in self.kinds[i]), None)
        if action is not None:
            return action(self, clause, place, after)
        return self.by_other_verb(tag, clause, place, after)

    def is_idle(self, tag: Tag, clause: Clause, place: int, after: int) -> bool:
        """Whether "not" denies nothing: "not only", "narrowed, not occluded", "not until"."""
        i = clause.tokens[after]
        following = self.sentence.clauses[clause.number + 1 : clause.number + 2]
        if any("holding" in self.kinds[each.tokens[0]] for each in following):
            return True
        is_contrast = "," in self.gaps[tag.first] and self.ends(clause, after + 1)
        if is_contrast and place and "participle" in self.kinds[clause.tokens[place - 1]]:
            return True
        is_of_others = not {"not-idle", "people"}.isdisjoint(self.kinds[i])
        return is_of_others or self.is_other_side(tag, i)

    def by_other_verb(self, tag: Tag, clause: Clause, place: int, after: int) -> list[int]:
        """Return the places of the object of a verb of no class, or else of the subject."""
        if "failing" in self.kinds[tag.first]:
            return []
        names = self.structures(self.direct(clause, after + 1))
        if names or (self.has_pronoun(clause, place) and not self.before(clause, place)):
            return names
        is_said = "participle" in self.kinds[clause.tokens[after]] or self.ends(clause, after + 1)
        return self.structures(self.subject_only(clause, place, after)) if is_said else []

    def direct(self, clause: Clause, place: int) -> list[int]:
        """Return the names of the object of a verb, which one preposition may lead to."""
        tokens = clause.tokens
        if place < len(tokens) and "preposition" in self.kinds[tokens[place]]:
            place += 1
        begins = self.document.begins
        end = next((p for p in range(place, len(tokens)) if tokens[p] in begins), len(tokens))
        is_led = any(
            "preposition" in self.kinds[i] and self.document.words[i] != "of"
            for i in tokens[place:end]
        )
        return [] if is_led else self.ahead(clause, place)

    def is_other_side(self, tag: Tag, i: int) -> bool:
        """Whether a side is set against the other one: "the left but not the right pons"."""
        i += "determiner" in self.kinds[i]
        before = range(max(tag.first - 3, 0), tag.first)
        return "side" in self.kinds[i] and any("side" in self.kinds[j] for j in before)

    def is_passed(self, i: int) -> bool:
        """Whether token i stands between "not" and its verb."""
        kinds = self.kinds[i]
        return "not-idle" not in kinds and not {"auxiliary", "adverb"}.isdisjoint(kinds)

    def not_phrase(self, tag: Tag, clause: Clause, after: int) -> list[int]:
        """Deny what follows "not", unless this sets it against what is denied: "but not the"."""
        earlier = [t for t in self.tags if not t.is_open and t.end <= tag.first]
        is_turned = any(t.direction in ("object", "ahead", "beside", "back") for t in earlier)
        if is_turned and "," not in self.gaps[tag.first] and clause.link == "but":
            return []
        near = clause.tokens[after : after + 3]
        if any("people" in self.kinds[i] for i in near):
            return []
        return self.ahead(clause, after)

    def subject_only(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return the subject: "the pons is not affected"; no lesion that "does not enhance"."""
        if clause.link == "but" and "to" in self.words_after(clause, after):
            return []  # "is sensitive to words but does not respond to tones"
        names = self.subject(clause, place)
        is_lesion = any("lesion" in self.kinds[i] for i in clause.tokens[:place])
        if is_lesion and "surviving" not in self.kinds[clause.tokens[after]]:
            return []
        if is_lesion and (there := self.structures(self.ahead(clause, after + 1))):
            return there
        return names or self.where(clause, after + 1)

    def words_after(self, clause: Clause, place: int) -> list[str]:
        """Return the word after some place of a clause."""
        return [self.document.words[i] for i in clause.tokens[place + 1 : place + 2]]

    def subject_and_rest(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return the subject and the place that follows: "was not seen in the pons"."""
        if any("before" in self.kinds[i] for i in clause.tokens[after + 1 : after + 5]):
            return []  # "not seen on the prior scan"
        return [*self.subject(clause, place), *self.ahead(clause, after + 1)]

    def rest(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return what follows, and the place that has none of it."""
        names = self.ahead(clause, after + 1)
        if "null" in self.object_kinds(clause, after + 1):
            names = self.structures(names)
        return names if self.structures(names) else [*names, *self.owner(clause, after)]

    def places_of_rest(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return the places that follow: "does not depend on the pons"."""
        return self.structures(self.ahead(clause, after + 1))

    def owner_and_rest(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return places of the subject and what follows: "the pons did not show a lesion"."""
        return [*self.structures(self.subject(clause, place)), *self.ahead(clause, after + 1)]

    def related(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return places before and after: "the pons did not correlate with the insula"."""
        names = [*self.subject(clause, place), *self.ahead(clause, after + 1)]
        return self.structures(names)

    def believed(self, clause: Clause, place: int, after: int) -> list[int]:
        """Return all that follows, in the next clause too."""
        following = self.sentence.clauses[clause.number + 1 : clause.number + 2]
        rest = [*clause.tokens[after:], *(i for each in following for i in each.tokens)]
        if any("explaining" in self.kinds[i] for i in rest):
            return []
        names = self.names_at(clause.tokens[after + 1 :])
        return names or [n for each in following for n in self.names_at(each.tokens)]


# What "not" denies by the class of the verb after it.
VERBS: dict[str, Callable[[ScopeReader, Clause, int, int], list[int]]] = {
    "not-omitted": ScopeReader.subject_and_rest,
    "not-seen": ScopeReader.subject_and_rest,
    "not-state": ScopeReader.subject_only,
    "not-show": ScopeReader.owner_and_rest,
    "not-have": ScopeReader.rest,
    "not-relate": ScopeReader.related,
    "not-need": ScopeReader.places_of_rest,
    "not-believe": ScopeReader.believed,
    "not-held": ScopeReader.subject_only,
    "not-represent": ScopeReader.subject_and_rest,
}


def _is_within(tag: Tag, other: Tag) -> bool:
    """Whether a longer hedge, or an idle phrase, takes the words of a cue."""
    if other.direction == "idle" and tag.is_open == other.is_open:
        return other.first <= tag.first < other.end
    is_shorter = other.first <= tag.first and tag.end <= other.end and tag[:2] != other[:2]
    return other.is_open and not tag.is_open and is_shorter
