"""Denials: which names a text denies ("no lesion in the thalamus", "the hippocampus was spared").

A cue denies what follows it, the subject before it, or both; the words around tell how far. The
idea is that of NegEx and ConText (Chapman et al. 2001; Harkema et al. 2009); the rules are our own,
for reports and for abstracts. What is normal, spared, gone or left out counts as denied, and so do
the places of a null result ("no difference in the insula"). Two denials cancel each other ("no
patient was without aphasia"). Groups ("patients without aphasia"), open questions ("not known
whether"), conditions ("no-go") and what has merely not changed are not denied.
"""

import re
from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

from neurowhere.text.clinical.clauses import LONGEST_PHRASE, REACH, Clauses
from neurowhere.text.clinical.cues import (
    ANALYSES,
    ARTICLES,
    AUXILIARIES,
    BEFORE_CHANGE,
    CANNOT,
    CHANGE,
    CONJUNCTIONS,
    CUES,
    DATA,
    DETERMINERS,
    EXCLUDING,
    FALSE,
    FINITE,
    HAVING,
    HOLDING,
    IDLE,
    NEEDING,
    NEVER,
    NOT,
    NULL,
    NUMBERS,
    OCCURRING,
    OMITTED,
    OPINIONS,
    ORDINALS,
    PARTLY,
    PEOPLE,
    PREPOSITIONS,
    QUALITIES,
    RATHER,
    RELATING,
    RELATING_TO,
    SEEN,
    SHOWING,
    STATES,
    STOPS,
    STUDY,
    SURVIVING,
    TRACES,
    Kind,
)
from neurowhere.text.clinical.places import LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold

REACH_WITH = 6  # tokens between "with" and "without" that tell groups apart
MINUS = re.compile(r"(?<=\w)\s*(?:\([-−–](?:ve)?\)|\s[-−–]ve\b)")
REACH_TWICE = 12  # tokens between two denials that cancel each other
CANCELLED: tuple[Kind, ...] = ("without", "verb", "adjective", "state", "absent", "not")


class Cue(NamedTuple):
    """Words that may deny something."""

    first: int
    last: int
    kind: Kind


class Denials(NamedTuple):
    """What a text denies, and what it leaves open by denying that it can be excluded.

    Attributes
    ----------
    denied, left_open : dict
        For each match that is: the tokens that say so.
    """

    denied: dict[int, Tokens]
    left_open: dict[int, Tokens]


def attach_denials(reading: Reading) -> Denials:
    """Find the matches that a text denies, each with the tokens that deny it."""
    found = (Cue(*each) for each in CUES.find(reading.tokens))
    cues = [cue for cue in found if cue.kind != "idle" and cue.first not in reading.inner]
    result = Denials({}, {})
    reader = _DenialReader(reading, cues)
    for cue in reader.standing():
        is_open = reader.is_left_open(cue)
        into = result.left_open if is_open else result.denied
        for number in reader.denied(cue, is_open=is_open):
            if not cue.first <= reading.first[number] <= cue.last:
                into.setdefault(number, Tokens(cue.first, cue.last))
    for number, words in [*reader.unreal(), *reader.dropped(), *reader.marked()]:
        result.denied.setdefault(number, words)
    return result


class _DenialReader(Clauses):
    """Reads a text around the cues of denial."""

    def __init__(self, reading: Reading, cues: list[Cue]) -> None:
        super().__init__(reading, {cue.first for cue in cues})
        self.cues = cues

    # ---- what a cue denies

    def denied(self, cue: Cue, *, is_open: bool = False) -> list[int]:
        """Return the matches that a cue denies, or leaves open."""
        if self.is_condition(cue) or self.is_other_side(cue):
            return []
        if not is_open and (self.is_denied(cue) or self.is_wished(cue)):
            return []
        if self.is_heading(cue):
            return self.ahead(cue.last + 1, is_start=True)  # "ruled out: stroke"
        after = cue.last + 1
        after += self.token(after) == "only"  # "sparing only the pons"
        match cue.kind:
            case "no" | "without":
                return self.by_no(cue)
            case "not":
                return self.by_not(cue)
            case "verb" if self.is_phrase(after):
                return self.ahead(after) or self.meant(after)
            case "verb":
                return self.of_subject(cue) if self.is_predicate(cue) else []
            case "removed":
                return self.by_removal(cue)
            case "adjective":
                return self.by_adjective(cue)
            case "state":
                return self.by_state(cue)
            case "absent":
                names = [] if self.ends_clause(after) else self.ahead(after)
                return [*self.subject(self.before_seen(cue.first)), *names]
            case "except" if self.is_exception(cue):
                return []
            case _:  # "except"
                return self.structures(self.by_exception(cue))

    def by_exception(self, cue: Cue) -> list[int]:
        """Return what is taken out: "the pons rather than the insula"."""
        is_outside = self.tokens[cue.first] == "outside"
        is_aside = "," in self.gap(cue.first)  # "lateral, rather than medial, frontal cortex"
        names = self.ahead(cue.last + 1, within_commas=is_aside or is_outside)
        return self.in_phrase(cue, names) if self.tokens[cue.first] in RATHER else names

    def in_phrase(self, cue: Cue, names: list[int]) -> list[int]:
        """Keep the names of the first phrase: not "increases rather than decreases in the pons"."""
        tokens = range(cue.last + 2, min(cue.last + LONGEST_PHRASE, len(self.tokens)))
        end = next((j for j in tokens if self.tokens[j] in ("in", "within")), None)
        return names if end is None else [n for n in names if self.reading.first[n] < end]

    def by_no(self, cue: Cue) -> list[int]:
        """Deny what follows, or the place before that has none of it: "the pons has no lesion"."""
        i, j = cue.first, cue.last + 1
        if self.is_group(cue) or self.is_partial(cue) or self.is_needed(cue):
            return []
        if self.tokens[cue.last] in ("no", "none", "nil") and self.ends_clause(j):
            return (
                self.label(i) or self.asked(i) or self.place_before(i)
            )  # "pons none, insula none"
        names = self.ahead(j, through_verbs=cue.kind == "no")
        names = [number for number in names if not self.is_there(number, j)]
        if self.token(j).endswith("ing") and self.token(j + 1) in ("it", "them"):
            return self.structures(self.names(range(max(i - REACH, 0), i)))[-1:]
        compared = self.compared(j)
        if compared:
            return self.by_null(i, j, names) if compared == "null" else self.place_before(i)
        if self.tokens[i] in RATHER:
            return self.in_phrase(cue, names)
        if self.structures(names) or self.tokens[i] == "nor":
            return names
        return [*names, *self.place_before(i)]

    def by_not(self, cue: Cue) -> list[int]:
        """Deny by the word after "not"."""
        i, j = cue.first, cue.last + 1
        aside = self.aside_end(j)  # "and not, as first thought, in the pons"
        j = aside or j
        j += 2 * (self.tokens[j : j + 2] == ["at", "all"])
        while (self.token(j) in AUXILIARIES or self.is_adverb(j)) and self.token(j) not in IDLE:
            j += 1
        word = self.token(j)
        if aside is None and self.ends_clause(j):
            return self.place_before(i)  # "the insula responded, the pons did not"
        if word in IDLE or self.holds(j):
            return []
        if word in OPINIONS:
            j += self.token(j + 1) == "that"
            return self.ahead(j + 1, through_verbs=True)
        if word in OMITTED:
            return self.subject(i, with_people=True)
        if word in SEEN:
            is_relative = self.token(self.before_verb(i)) == "which"  # "which was not seen in men"
            return [*([] if is_relative else self.of_subject(cue)), *self.ahead(j + 1)]
        if word in RELATING and not (word == "activate" and self.is_phrase(j + 1)):
            return self.by_null(i, j + 1, self.ahead(j + 1))
        compared = self.compared(j)
        if compared and compared != "study":
            return self.by_null(i, j, self.ahead(j)) if compared == "null" else []
        if word in NEEDING:
            return self.structures(self.ahead(j + 1))
        if word == "reach" and (names := self.structures(self.ahead(j + 1))):
            return names
        if word in STATES:
            is_lesion = self.is_lesion_before(i) and word not in SURVIVING
            return [] if is_lesion else self.subject(i)
        if word in SHOWING:
            return [*self.place_before(i), *self.ahead(j + 1)]
        names = self.ahead(j, within_commas=True)
        is_direct = word in HAVING or word in PREPOSITIONS or self.is_phrase(j)
        names = names if is_direct else self.structures(names)
        return names or self.by_quality(cue, j) or self.by_act(cue)

    def by_null(self, i: int, j: int, names: list[int]) -> list[int]:
        """Deny the places of a null result: those named after it at token j, or before token i."""
        names = self.structures(names) or self.structures(self.after_people(j))
        if not (self.is_link(i - 1) or self.tokens[i] in NOT):
            return names
        first, _ = self.sentence(i)
        is_concrete = self.tokens[first] in DETERMINERS and any(
            fold(token) in LESION for token in self.tokens[first:i]
        )  # "the lesion in the pons is not associated with edema"
        return names if is_concrete else [*names, *self.structures(self.subject(i))]

    def after_people(self, i: int) -> list[int]:
        """Return what is said of people: "no difference between patients and controls in the pons"."""
        for j in range(i, min(i + REACH, len(self.tokens))):
            if self.is_end(j):
                return []
            if self.tokens[j] in ("in", "within") and self.tokens[j - 1] in PEOPLE:
                return self.ahead(j + 1)
        return []

    def by_quality(self, cue: Cue, j: int) -> list[int]:
        """Deny the place that is not so: "the corpus callosum is not crossed"."""
        is_said = self.follows_verb(cue.first) and self.token(cue.first - 1) not in CONJUNCTIONS
        is_closed = self.closes(j + 1) or self.tokens[j] in PREPOSITIONS
        if not (is_said and is_closed) or self.is_lesion_before(cue.first):
            return []
        return self.place_before(cue.first)

    def by_act(self, cue: Cue) -> list[int]:
        """Deny the place that did not do something: "the insula did not light up"."""
        is_act = self.token(cue.first - 1) in ("did", "does", "do")
        return self.place_before(cue.first) if is_act else []

    def is_lesion_before(self, i: int) -> bool:
        """Whether the verb before token i is said of a lesion: "the lesion does not enhance"."""
        end, _ = self.before_aside(self.before_verb(i))
        return fold(self.token(end)) in LESION

    def by_adjective(self, cue: Cue) -> list[int]:
        """Deny what is normal: the structure that follows, the subject, or what has the quality."""
        j = cue.last + 1
        if self.is_predicate(cue):
            return self.of_subject(cue) or self.where(j)
        if self.token(j) == "by":  # "unaffected by damage to the putamen"
            return self.structures(self.ahead(j + 1))
        if not self.is_phrase(j):
            return []
        if self.token(cue.first - 1) == "with" and self.tokens[cue.first] != "normal":
            if names := self.ahead(j):
                return names  # "aphasia with preserved comprehension"
        return self.heads(j) or (self.owner(cue.first) if self.tokens[j] in QUALITIES else [])

    def by_state(self, cue: Cue) -> list[int]:
        """Deny the subject of a predicate that says that all is well, gone or wrong."""
        i, j = cue.first, cue.last + 1
        before = self.tokens[max(i - 3, 0) : i]
        if not PARTLY.isdisjoint(before) or before[-2:] == ["all", "but"]:
            return []
        if self.tokens[i] == "recovered" and self.token(j) == "from":
            return []
        while self.is_adverb(j):
            j += 1
        is_said = self.closes(j) or self.token(j) in ("when", "after", "from", "for") or cue.last > i
        if self.tokens[cue.last] in RELATING_TO:
            is_said = self.follows_verb(i)
        if self.token(j) in ("and", "but") and not self.follows_subject(i):
            return []  # "healthy and clinical samples"
        return (self.of_subject(cue) or self.where(j)) if is_said else []

    def where(self, j: int) -> list[int]:
        """Return the places where a predicate holds that ends before token j: "negative in the pons"."""
        is_place = self.token(j) in ("in", "within", "throughout", "across")
        return self.structures(self.ahead(j + 1)) if is_place else []

    def by_removal(self, cue: Cue) -> list[int]:
        """Deny the places whose data are left out of an analysis."""
        first, end = self.sentence(cue.first)
        is_data = not DATA.isdisjoint(self.tokens[first : cue.first])
        if is_data or not ANALYSES.isdisjoint(self.tokens[cue.last + 1 : end]):
            return self.subject(cue.first, with_people=True)
        return []

    def of_subject(self, cue: Cue) -> list[int]:
        """Return the names of the subject of a cue, or those that its pronoun stands for."""
        with_people = cue.kind == "verb"
        i = cue.first
        if names := self.label(i):
            return names
        if self.token(self.before_verb(i)) in CONJUNCTIONS:
            verb = self.first_verb(i)
            is_shared = cue.kind == "state" or not self.names(range(verb, i))
            i = verb if is_shared else i
        names = self.subject(i, with_people=with_people) or self.antecedents(i)
        verb = self.first_verb(i)
        if not names and cue.kind == "state" and not self.names(range(verb, i)):
            names = self.subject(verb)  # "was significant only before correction"
        return names

    def asked(self, i: int) -> list[int]:
        """Return the names of the question that token i answers."""
        return self.names(range(self.sentence(i - 1)[0], i)) if "?" in self.gap(i) and i else []

    def before_seen(self, i: int) -> int:
        """Token after the subject of what was seen before token i: "was seen in none"."""
        while self.token(i - 1) in SEEN or self.token(i - 1) in OCCURRING:
            i -= 1
        return i

    def first_verb(self, i: int) -> int:
        """First verb of the sentence of token i: "was exposed and left untouched"."""
        first, _ = self.sentence(i)
        return next((j for j in range(first, i) if self.tokens[j] in FINITE), i)

    def unreal(self) -> list[tuple[int, Tokens]]:
        """Find what would have been: "had the thalamus been damaged, …"."""
        return [
            (number, Tokens(i, i))
            for i, token in enumerate(self.tokens)
            if token in ("had", "were", "if") and self.is_unreal(i)
            for number in self.ahead(i + 1 + (self.token(i + 1) == "there"), through_verbs=True)
        ]

    def is_unreal(self, i: int) -> bool:
        """Whether the clause that begins at token i is contrary to fact."""
        if i > 0 and not (self.is_sentence_end(i) or self.tokens[i] == "if"):
            return False
        near = self.tokens[i + 1 : i + LONGEST_PHRASE]
        _, end = self.sentence(i)
        match self.tokens[i]:
            case "had":
                return "been" in near
            case "were":
                return "would" in self.tokens[i:end]
            case _:
                return "had" in near and "would" in self.tokens[i:end]

    def marked(self) -> list[tuple[int, Tokens]]:
        """Find what a minus sign denies: "insula (-)", "neglect -ve"."""
        ends = [end for _, end in self.reading.spans]
        last = (bisect_left(ends, mark.start()) for mark in MINUS.finditer(self.reading.text))
        return [(self.finishes[i], Tokens(i, i)) for i in last if i in self.finishes]

    def dropped(self) -> list[tuple[int, Tokens]]:
        """Find what is left of a list: "of the pons, insula and cuneus, only the latter survived"."""
        found = []
        for i in (i for i, token in enumerate(self.tokens) if token == "only"):
            near = self.tokens[i + 1 : i + LONGEST_PHRASE]
            rank = next((ORDINALS[token] for token in near[:2] if token in ORDINALS), None)
            if rank is None or SURVIVING.isdisjoint(near):
                continue
            first, _ = self.sentence(i)
            names = self.structures(self.names(range(max(first, i - REACH), i)))
            names = [number for number in names if self.reading.terms[number] != NO_TERM]
            kept = names[rank : rank + 1 or None]
            found += [(number, Tokens(i, i)) for number in names if number not in kept]
        return found

    # ---- what is no denial

    def standing(self) -> list[Cue]:
        """Return the cues that no other cue cancels: "no patient was without aphasia"."""
        cancelled: set[Cue] = set()
        for cue, other in pairwise(self.cues):
            if self.cancels(cue, other):
                cancelled |= {cue, other}
                if self.tokens[cue.first] == "nor":  # with its "neither"
                    cancelled |= set(self.cues[max(self.cues.index(cue) - 1, 0) :][:1])
        return [cue for cue in self.cues if cue not in cancelled]

    def cancels(self, cue: Cue, other: Cue) -> bool:
        """Whether a cue denies the denial of the next one."""
        is_false = self.tokens[other.last] in FALSE
        if not is_false and (cue.kind not in ("no", "not") or other.kind not in CANCELLED):
            return False
        if self.is_left_open(other):
            return False
        between = range(cue.last + 1, other.first)
        if not between or len(between) > REACH_TWICE:
            return False
        if any(self.is_break(j) for j in [*between, other.first]):
            return False
        return is_false or cue.kind == "not" or any(self.tokens[j] in FINITE for j in between)

    def is_break(self, j: int) -> bool:
        token = self.tokens[j]
        return self.ends_clause(j) or token in CONJUNCTIONS or token in STOPS

    def is_left_open(self, cue: Cue) -> bool:
        """Whether a cue says that something cannot be excluded."""
        return self.tokens[cue.last] in EXCLUDING and self.is_denied(cue)

    def is_wished(self, cue: Cue) -> bool:
        """Whether something is yet to be excluded: "MRI to rule out stroke"."""
        i = cue.first
        is_infinitive = self.token(i - 1) == "to" or i == 0 or self.is_sentence_end(i)
        return is_infinitive and self.tokens[i] in ("exclude", "rule")

    def is_heading(self, cue: Cue) -> bool:
        """Whether a cue is the heading of a list: "Ruled out: stroke"."""
        begins = cue.first == 0 or self.is_sentence_end(cue.first)
        return begins and self.gap(cue.last + 1).startswith(":")

    def is_needed(self, cue: Cue) -> bool:
        """Whether nothing goes without it: "impossible without the hippocampus"."""
        first, end = self.sentence(cue.first)
        return self.tokens[cue.first] == "without" and not CANNOT.isdisjoint(self.tokens[first:end])

    def is_there(self, number: int, i: int) -> bool:
        """Whether a name is of a lesion that is there: "no bleeding into the thalamic tumor"."""
        j, end = self.reading.first[number] - 1, self.reading.last[number]
        is_lesion = fold(self.token(end + 1)) in LESION and not self.is_sentence_end(end + 1)
        if not is_lesion and fold(self.tokens[end]) not in LESION:
            return False
        while j > i and self.tokens[j] not in DETERMINERS and self.tokens[j] not in PREPOSITIONS:
            j -= 1
        is_definite = self.tokens[j] in DETERMINERS and self.tokens[j] not in ("any", "a", "an")
        return is_definite and j > i + 1 and self.tokens[j - 2] not in TRACES

    def is_partial(self, cue: Cue) -> bool:
        """Whether only a part is gone: "partial resolution of the edema"."""
        is_gone = self.tokens[cue.first] in ("resolution", "clearance", "normalization")
        return is_gone and not PARTLY.isdisjoint(self.tokens[max(cue.first - 3, 0) : cue.first])

    def is_condition(self, cue: Cue) -> bool:
        """Whether a cue names a condition or a number: "no-go", "reward or no reward", "No. 3"."""
        i, j = cue.first, cue.last + 1
        if self.gap(j) == "-" and self.token(j) not in QUALITIES:
            return True
        if self.tokens[i] != "no":
            return False
        is_number = self.gap(j).startswith(".") and self.token(j).isdigit()
        is_repeated = i > 1 and self.token(j) == self.tokens[i - 2]
        return is_number or is_repeated or "than" in self.tokens[max(i - 2, 0) : i]

    def is_denied(self, cue: Cue) -> bool:
        """Whether a cue is itself denied: "the pons was not spared", "cannot be excluded"."""
        i = cue.first - 1
        while self.token(i) not in NOT and (self.token(i) in AUXILIARIES or self.is_adverb(i)):
            i -= 1
        return self.token(i) in NOT or (
            i > 0 and NEVER.at(self.tokens[i - 1 : i + 1], 0) is not None
        )

    def is_other_side(self, cue: Cue) -> bool:
        """Whether only a side is denied: "the left but not the right amygdala"."""
        if self.tokens[cue.first] in ("neither", "nor"):
            return False
        j = cue.last + 1
        j += self.token(j) in DETERMINERS
        before = self.tokens[max(cue.first - 2, 0) : cue.first]
        return self.token(j) in SIDE_WORDS and not SIDE_WORDS.keys().isdisjoint(before)

    def is_group(self, cue: Cue) -> bool:
        """Whether people are told apart: "patients without aphasia", "with and without"."""
        before = self.tokens[max(cue.first - REACH_WITH, 0) : cue.first]
        if self.tokens[cue.last] not in ("without", "no") or not before:
            return False
        if before[-1] in CONJUNCTIONS and "with" in before:
            return True
        who = before[-2:][0] if before[-1] == "with" else before[-1]
        return who in PEOPLE or who in NUMBERS

    def is_exception(self, cue: Cue) -> bool:
        """Whether another cue denies what this one takes out: "no lesion except in the pons"."""
        if self.tokens[cue.first] in RATHER:
            return False
        after = self.token(cue.last + 1)
        if after == "that" or after in ARTICLES or self.tokens[cue.last] in ARTICLES:
            return True  # "except for a lesion in the pons"
        first, end = self.sentence(cue.first)
        near = self.cues[bisect_left(self.cues, (first,)) : bisect_left(self.cues, (end,))]
        return any(other.kind != "except" for other in near)

    def holds(self, j: int) -> bool:
        """Whether what is denied holds all the same: "not active until", "not the pons alone"."""
        for k in range(j + 1, min(j + LONGEST_PHRASE, len(self.tokens))):
            if self.tokens[k] in HOLDING:
                return True
            if self.is_break(k):
                return False
        return False

    def compared(self, i: int) -> str | None:
        """Say whether the phrase at token i is of a "null" result, a "change" or a "study"."""
        for j in range(i, min(i + LONGEST_PHRASE, len(self.tokens))):
            token, before = self.tokens[j], self.tokens[j - 1]
            if j > i and ("," in self.gap(j) or self.is_sentence_end(j)):
                return None
            if token in ("and", "or", "such") or token in STOPS:
                return None
            if STUDY.fullmatch(token):
                return "study"
            if CHANGE.fullmatch(token) or (token == "change" and before in BEFORE_CHANGE):
                return "change"
            if NULL.fullmatch(token) and before != "mass":
                near = self.tokens[j + 1 : j + LONGEST_PHRASE]
                is_known = any(fold(word) in LESION for word in near) or "size" in near
                return "change" if is_known else "null"
        return None
