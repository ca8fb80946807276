"""Negation: which names a text denies ("no lesion in the thalamus", "the hippocampus was spared").

A cue denies what follows it, the subject before it, or both; the words around tell how far. What
follows ends at "but", "which" or a new clause, and goes on along a list. The idea is that of NegEx
and ConText (Chapman et al. 2001; Harkema et al. 2009); the rules are our own, for reports and for
abstracts, where much that looks like a denial is none: comparisons ("no difference between"),
groups ("patients without aphasia"), open questions ("not known whether"), conditions ("no-go").
"""

import re
from typing import NamedTuple

from neurowhere.text.clinical.cues import (
    AFTER_PREDICATE,
    ARTICLES,
    AUXILIARIES,
    BEFORE_CHANGE,
    BEING,
    COMPANIONS,
    COMPARING,
    CONJUNCTIONS,
    CUES,
    DETERMINERS,
    EVIDENCE,
    FINITE,
    HAVING,
    IDLE,
    INTRODUCING,
    LINKS,
    NOT,
    NUMBERS,
    PEOPLE,
    PREPOSITIONS,
    QUALITIES,
    RESPONSES,
    SEEN,
    SHOWING,
    SINGULAR,
    STATES,
    STOPS,
    STOPS_AFTER_COMMA,
    TESTS,
    UNDERGOING,
    Kind,
)
from neurowhere.text.clinical.places import ADJECTIVE, LESION, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading, Tokens
from neurowhere.text.words import fold

REACH = 30  # tokens that a cue denies at most
REACH_BACK = 20  # tokens of a subject
REACH_WITH = 6  # tokens between "with" and "without" that tell groups apart
LONGEST_PHRASE = 10  # tokens between a conjunction and the verb that makes a clause of it
LONGEST_SENTENCE = 100  # tokens that are looked at before and after a cue
DASH = re.compile(r"\s[-–—]+\s")


class Cue(NamedTuple):
    """Words that may deny something."""

    first: int
    last: int
    kind: Kind


def attach_negations(reading: Reading) -> dict[int, Tokens]:
    """Find the matches that a text denies, each with the tokens that deny it."""
    found = (Cue(*each) for each in CUES.find(reading.tokens))
    cues = [cue for cue in found if cue.kind != "idle" and cue.first not in reading.inner]
    reader = _NegationReader(reading, cues)
    denied: dict[int, Tokens] = {}
    for cue in cues:
        for number in reader.denied(cue):
            if not cue.first <= reading.first[number] <= cue.last:
                denied.setdefault(number, Tokens(cue.first, cue.last))
    return denied


class _NegationReader:
    """Reads a text around the cues of negation."""

    def __init__(self, reading: Reading, cues: list[Cue]) -> None:
        self.reading = reading
        self.tokens, self.token, self.gap = reading.tokens, reading.token, reading.gap
        self.begins, self.finishes = reading.begins, reading.finishes
        self.is_sentence_end = reading.is_sentence_end
        self.cues = cues
        self.cue_tokens = {cue.first for cue in cues}

    # ---- what a cue denies

    def denied(self, cue: Cue) -> list[int]:
        """Return the matches that a cue denies."""
        if self.is_condition(cue) or self.is_denied(cue) or self.is_other_side(cue):
            return []
        after = cue.last + 1
        after += self.token(after) == "only"  # "sparing only the pons"
        match cue.kind:
            case "no" | "without":
                return self.by_no(cue)
            case "not":
                return self.by_not(cue)
            case "verb" if self.is_phrase(after):
                return self.ahead(after)
            case "verb":
                return self.subject(cue.first) if self.is_predicate(cue) else []
            case "adjective":
                return self.by_adjective(cue)
            case "absent":
                names = [] if self.ends_clause(after) else self.ahead(after)
                return [*self.subject(cue.first), *names]
            case "except" if self.is_exception(cue):
                return []
            case _:  # "except" and "rather"
                return self.structures(self.ahead(cue.last + 1))

    def by_no(self, cue: Cue) -> list[int]:
        """Deny what follows, or the place before that has none of it: "the pons has no lesion"."""
        if self.is_group(cue) or self.compares(cue.last + 1):
            return []
        names = self.ahead(cue.last + 1, through_verbs=cue.kind == "no")
        if self.structures(names) or self.tokens[cue.first] == "nor":
            return names
        return [*names, *self.place_before(cue.first)]

    def by_not(self, cue: Cue) -> list[int]:
        """Deny by the word after "not"."""
        i, j = cue.first, cue.last + 1
        while (self.token(j) in AUXILIARIES or self.is_adverb(j)) and self.token(j) not in IDLE:
            j += 1
        word = self.token(j)
        if self.ends_clause(j):
            return self.place_before(i)  # "the insula responded, the pons did not"
        if word in IDLE or self.compares(j):
            return []
        if word in SEEN:
            return [*self.subject(i), *self.ahead(j + 1)]
        if word in STATES or (word == "activate" and not self.is_phrase(j + 1)):
            return self.subject(i)
        if word in SHOWING:
            return [*self.place_before(i), *self.ahead(j + 1)]
        names = self.ahead(j, within_commas=True)
        is_direct = word in HAVING or word in PREPOSITIONS or self.is_phrase(j)
        return names if is_direct else self.structures(names)

    def by_adjective(self, cue: Cue) -> list[int]:
        """Deny what is normal: the structure that follows, or the subject."""
        if self.is_predicate(cue):
            return self.subject(cue.first)
        if not self.is_phrase(cue.last + 1):
            return []
        if self.token(cue.first - 1) == "with" and self.tokens[cue.first] != "normal":
            return self.ahead(cue.last + 1)  # "aphasia with preserved comprehension"
        return self.heads(cue.last + 1)

    # ---- what is no denial

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
        while self.token(i) in AUXILIARIES or self.is_adverb(i):
            i -= 1
        return self.token(i) in NOT

    def is_other_side(self, cue: Cue) -> bool:
        """Whether only a side is denied: "the left but not the right amygdala"."""
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
        first, end = self.sentence(cue.first)
        return any(
            first <= other.first < end and other.kind not in ("except", "rather")
            for other in self.cues
        )

    def compares(self, i: int) -> bool:
        """Whether the phrase at token i compares, and so denies no place."""
        for j in range(i, min(i + LONGEST_PHRASE, len(self.tokens))):
            token, before = self.tokens[j], self.tokens[j - 1]
            if j > i and ("," in self.gap(j) or self.is_sentence_end(j)):
                return False
            if token in ("and", "or", "such") or token in STOPS:
                return False
            if token == "change" and before in BEFORE_CHANGE:
                return True
            if COMPARING.fullmatch(token) and before != "mass":
                return True
        return False

    # ---- what follows a cue

    def ahead(
        self, i: int, *, through_verbs: bool = False, within_commas: bool = False
    ) -> list[int]:
        """Return the matches from token i to the end of what is denied."""
        end = i
        limit = min(len(self.tokens), i + REACH)
        has_place = False
        depth = 0  # of brackets
        while end < limit:
            depth += self.gap(end).count("(") - self.gap(end).count(")")
            if depth < 0 or self.is_end(end) or (end > i and self.is_other(end, within_commas)):
                break
            if end > i and not through_verbs and self.is_verb(end):
                break
            if self.tokens[end] in PREPOSITIONS and self.leads_away(end, has_place):
                break
            number = self.begins.get(end)
            has_place = has_place or self.is_structure(number)
            end = end + 1 if number is None else self.reading.last[number] + 1
        return [number for j in range(i, end) for number in self.reading.beginning.get(j, ())]

    def is_end(self, j: int) -> bool:
        """Whether a denial ends at token j, wherever it began."""
        token, gap = self.tokens[j], self.gap(j)
        if token in STOPS or j in self.cue_tokens:
            return True
        return self.is_sentence_end(j) or ":" in gap or bool(DASH.search(gap))

    def is_other(self, j: int, within_commas: bool) -> bool:
        """Whether something else begins at token j after the first word that is denied."""
        token, before, after = self.tokens[j], self.tokens[j - 1], self.token(j + 1)
        has_comma = "," in self.gap(j)
        if has_comma and (within_commas or token in STOPS_AFTER_COMMA):
            return True
        if has_comma and self.is_introduced(j):
            return True
        if token in CONJUNCTIONS or has_comma:
            return (token == "and" and after in ARTICLES) or self.is_clause(j)
        match token:
            case "with":
                return before not in COMPANIONS and before not in PEOPLE
            case "that":
                return before not in EVIDENCE
            case "as":
                return before not in ("such", "well") and after != "well"
            case "to":
                return before in RESPONSES
            case _:
                return False

    def is_introduced(self, j: int) -> bool:
        """Whether the comma at token j ends an introduction: "in the absence of neglect, ..."."""
        first, end = self.sentence(j)
        if self.tokens[first] not in INTRODUCING:
            return False
        for k in range(j, end):
            if self.tokens[k] in CONJUNCTIONS:
                return False
            if k > j and "," in self.gap(k):
                return True
        return True

    def is_clause(self, j: int) -> bool:
        """Whether a conjunction or comma at token j begins a clause: it has a verb of its own."""
        item = self.token(j + (self.tokens[j] in CONJUNCTIONS))
        if item.isdigit() or item in UNDERGOING:
            return True
        for k in range(j, min(j + LONGEST_PHRASE, len(self.tokens))):
            if k > j and ("," in self.gap(k) or self.is_sentence_end(k)):
                return False
            if self.tokens[k] in PEOPLE:
                return True
            if self.is_verb(k):
                return SEEN.isdisjoint(self.tokens[k + 1 : k + 4])  # "no X or Y was seen" goes on
        return False

    def leads_away(self, j: int, has_place: bool) -> bool:
        """Whether what follows a preposition is not denied: people, or more than the place."""
        if self.tokens[j] != "of" and not PEOPLE.isdisjoint(self.tokens[j + 1 : j + 4]):
            return True
        j += 1
        while self.is_modifier(j) and j not in self.begins:
            j += 1
        return has_place and not self.is_structure(self.begins.get(j))

    def heads(self, i: int) -> list[int]:
        """Structures that the phrase at token i is of: "normal size of the hippocampus".

        In "normal hippocampal function" the hippocampus is not what is normal.
        """
        names: list[int] = []
        j = i
        while j < min(len(self.tokens), i + REACH) and not self.is_sentence_end(j):
            number = self.begins.get(j)
            if number is not None:
                if not self.is_structure(number):
                    break
                names.append(number)
                j = self.reading.last[number] + 1
            elif self.belongs_to_place(j) and ("," not in self.gap(j) or names):
                j += 1
            else:
                break
        is_modifier = j < len(self.tokens) and self.gap(j).isspace() and not self.is_function(j)
        return names[:-1] if is_modifier else names

    # ---- what stands before a cue

    def subject(self, i: int) -> list[int]:
        """Return the matches of the subject whose verb, if it has one, ends before token i.

        With another verb before them, only the nearest names are the subject: "it involves the
        insula and the pons is spared".
        """
        end = self.before_verb(i)
        verbs = FINITE.intersection(self.tokens[end + 1 : i])
        i = end
        names: list[list[int]] = [[]]  # the list, its last name first
        is_list = False  # an "and" closes it, so that commas are part of it
        after_comma = 0  # names after the last comma
        first = max(self.sentence(i)[0], i - REACH_BACK)
        while i >= first:
            token, gap = self.tokens[i], self.gap(i + 1)
            if i < end and ("," in gap or ":" in gap):
                if not is_list or i not in self.finishes:
                    break
                after_comma = after_comma or len(names)
                if self.tokens[i + 1] not in CONJUNCTIONS:
                    names.append([])
            number = self.finishes.get(i)
            if number is not None:
                names[-1].append(number)
                i = self.reading.first[number]
            elif token in CONJUNCTIONS:
                if not verbs.isdisjoint(SINGULAR) and token == "and" and self.is_determined(i + 1):
                    break
                is_list = True
                names.append([])
            elif token in ("with", "without"):  # "patients with neglect were normal"
                if not verbs:
                    break
                names = [[]]
            elif token in STOPS or token == "that":
                break
            elif self.is_verb(i):
                names = names[: after_comma or 1]
                break
            i -= 1
        return [number for group in names for number in group]

    def before_verb(self, i: int) -> int:
        """Last token before the verb that ends before token i: "is (small and) normal"."""
        if self.token(i - 1) == "and" and self.token(i - 3) in BEING:
            i -= 2
        while (
            i > 0 and self.gap(i).isspace() and self.is_link(i - 1) and self.tokens[i - 1] != "with"
        ):
            i -= 1
        return i - 1

    def place_before(self, i: int) -> list[int]:
        """Return the structures before token i, if nothing else stands there in the clause."""
        i -= 1
        while i >= 0 and self.gap(i + 1).isspace() and self.is_link(i):
            i -= 1
        first, _ = self.sentence(i + 1)
        names = []
        while i >= first:
            number = self.finishes.get(i)
            if number is not None and self.is_structure(number):
                names.append(number)
                i = self.reading.first[number]
            elif self.tokens[i] in STOPS or self.tokens[i] == "with":
                break
            elif not self.belongs_to_place(i):
                return names if "," in self.gap(i + 1) else []
            i -= 1
        return names

    # ---- words and phrases

    def is_phrase(self, j: int) -> bool:
        """Whether a noun phrase begins at token j, with nothing before it."""
        if j >= len(self.tokens) or not self.gap(j).isspace() or self.tokens[j] == "bilaterally":
            return False
        return j in self.begins or self.is_modifier(j) or self.tokens[j] in QUALITIES

    def is_predicate(self, cue: Cue) -> bool:
        """Whether a cue says something of the subject before it: "the pons is normal"."""
        i, j = cue.first - 1, cue.last + 1
        if self.is_phrase(j) or (self.token(j) in ("by", "to") and self.token(j + 1) not in TESTS):
            return False
        while self.is_adverb(i) or self.token(i) in ("both", "otherwise", "quite", "still"):
            i -= 1
        return self.token(i) in BEING or self.ends_clause(j) or self.token(j) in AFTER_PREDICATE

    def belongs_to_place(self, j: int) -> bool:
        """Whether a token may stand in a phrase that names places and nothing else."""
        token = self.tokens[j]
        return (
            self.is_modifier(j)
            or token in QUALITIES
            or token in CONJUNCTIONS
            or token in PREPOSITIONS
            or token == "bilaterally"
        )

    def is_modifier(self, j: int) -> bool:
        token = self.token(j)
        if token == "bilaterally":
            return False
        return self.is_determined(j) or bool(ADJECTIVE.fullmatch(token))

    def is_determined(self, j: int) -> bool:
        return self.token(j) in DETERMINERS or self.token(j) in SIDE_WORDS

    def is_function(self, j: int) -> bool:
        """Whether a token is a verb, a preposition or the like rather than a noun."""
        token = self.tokens[j]
        is_small = token in PREPOSITIONS or token in AFTER_PREDICATE or token in AUXILIARIES
        return is_small or token in STOPS or self.is_adverb(j) or self.is_verb(j)

    def is_link(self, j: int) -> bool:
        return self.tokens[j] in LINKS or self.is_adverb(j)

    def is_verb(self, j: int) -> bool:
        """Whether a token is a finite verb, or looks like a past that has a subject or object."""
        token = self.tokens[j]
        if token in FINITE or not token.endswith("ed"):
            return token in FINITE
        return self.token(j + 1) in DETERMINERS or self.is_structure(self.finishes.get(j - 1))

    def is_adverb(self, j: int) -> bool:
        return self.token(j).endswith("ly") and self.token(j) != "bilaterally"

    def structures(self, names: list[int]) -> list[int]:
        return [number for number in names if self.is_structure(number)]

    def is_structure(self, number: int | None) -> bool:
        """Whether a match names a place, and nothing that is wrong with it."""
        if number is None or not self.reading.is_structure[number]:
            return False
        return fold(self.tokens[self.reading.last[number]]) not in LESION

    def ends_clause(self, j: int) -> bool:
        """Whether nothing of the clause is left at token j."""
        return self.is_sentence_end(j) or not self.gap(j).isspace()

    def sentence(self, i: int) -> tuple[int, int]:
        """First token of the sentence of token i, and the first after it."""
        first, end = i, i + 1
        while first > max(0, i - LONGEST_SENTENCE) and not self.is_sentence_end(first):
            first -= 1
        while end < min(len(self.tokens), i + LONGEST_SENTENCE) and not self.is_sentence_end(end):
            end += 1
        return first, end
