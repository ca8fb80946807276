"""Non-denials: cues that look as if they denied something and do not.

Two denials cancel each other ("no patient was without aphasia", "not spared"); groups ("patients
without aphasia"), conditions ("no-go", "No. 3"), exceptions ("normal except for the pons") and
needs ("impossible without the hippocampus") are told apart. What somebody cannot do is a finding
("unable to speak"), and so is what a part of the body lacks ("no feeling in the left hand").
"""

from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.clauses import Clauses
from neurowhere.text.clinical.grammar import LONGEST_PHRASE
from neurowhere.text.clinical.lexicon import Kind
from neurowhere.text.clinical.places import LESION, NOT_BRAIN, SIDE_WORDS
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.words import fold, word_set

REACH_WITH = 6  # tokens between "with" and "without" that tell groups apart
WISHING = word_set("kindly must please to")
REACH_TWICE = 12  # tokens between two denials that cancel each other
CANCELLING: tuple[Kind, ...] = ("no", "not", "without")
CANCELLED: tuple[Kind, ...] = ("without", "verb", "adjective", "state", "absent", "not")
# What people do unless they are ill; verbs that are also said of looking for findings come apart.
ABILITIES = word_set(
    """
    articulate breathe calculate chew communicate comprehend concentrate converse cough count draw
    dress eat feel flex follow grasp grip hear hold imagine learn lift move name navigate
    pronounce raise read recall recite recognize remember repeat say sing sit smell smile sneeze
    speak spell squeeze stand swallow talk taste understand verbalize vocalize walk wink write yawn
    """
)
PERCEIVING = word_set(
    "attend control discriminate distinguish find form identify inhibit initiate locate perceive "
    "plan see shift solve suppress tell"
)
QUOTES = ("'", '"', "‘", "’", "“", "”")
UNABLE = word_set(
    "able can cannot could couldn fail failed failing fails failure inability longer unable"
)
PATIENTS = word_set(
    "boy child father girl he infant man mother patient person pt she somebody someone woman"
)
PERSONS = PATIENTS | lexicon.PEOPLE | word_set("participant subject who")
OWNING = word_set("had has have")
OBSERVERS = word_set("author authors i it one radiologist study we you")
# What a person, or a part of the body, may lack.
FACULTIES = word_set(
    "feeling hearing language memory movement power recollection sensation sense sight speech "
    "strength vision"
)


class Cue(NamedTuple):
    """Words that may deny something."""

    first: int
    last: int
    kind: Kind


class NonDenials(Clauses):
    """Tells which of the cues in a text deny nothing.

    Parameters
    ----------
    reading : Reading
    found : list of Cue
        In the order of the text.
    """

    def __init__(self, reading: Reading, found: list[Cue]) -> None:
        super().__init__(reading)
        self.ends: set[int] = {
            cue.first
            for cue in found
            if cue.kind not in ("unseen", "usual") or self.tokens[cue.first] in lexicon.NOT
        }
        self.cues = found

    # ---- two denials

    def standing(self) -> list[Cue]:
        """Return the cues that no other cue cancels: "no patient was without aphasia"."""
        cancelled: set[Cue] = set()
        previous = None
        for cue, other in pairwise(self.cues):
            if self.cancels(cue, other):
                # "no patient was unable to speak" denies the deficit
                cancelled |= {other} if self.is_inability(other) else {cue, other}
                self.ends.discard(other.first)
                if previous and self.tokens[cue.first] == "nor":
                    cancelled.add(previous)  # its "neither"
            previous = cue
        return [cue for cue in self.cues if cue not in cancelled]

    def cancels(self, cue: Cue, other: Cue) -> bool:
        """Whether a cue denies the denial of the next one."""
        between = range(cue.last + 1, other.first)
        is_false = self.tokens[other.last] in lexicon.FALSE  # "the claim of a normal pons is wrong"
        if not is_false and (cue.kind not in CANCELLING or other.kind not in CANCELLED):
            return False
        if cue.kind == "without" and other.kind == "adjective":
            return all(self.tokens[j] in lexicon.DETERMINERS for j in between)
        if not between or len(between) > REACH_TWICE or self.is_left_open(other):
            return False
        if any(self.is_break(j) for j in (*between, other.first)):
            return False
        has_verb = any(self.tokens[j] in lexicon.FINITE for j in between)
        return is_false or cue.kind == "not" or (cue.kind == "no" and has_verb)

    def is_break(self, j: int) -> bool:
        """Whether another clause or item begins at token j."""
        token = self.tokens[j]
        return self.ends_clause(j) or token in lexicon.CONJUNCTIONS or token in lexicon.STOPS

    def is_denied(self, cue: Cue) -> bool:
        """Whether a cue is itself denied: "the pons was not spared", "cannot be excluded"."""
        for i in range(cue.first - 1, max(cue.first - LONGEST_PHRASE, -1), -1):
            if self.tokens[i] in lexicon.NOT:
                return True
            if not (self.tokens[i] in lexicon.AUXILIARIES or self.is_adverb(i)):
                break
        else:
            return False
        return i > 0 and lexicon.NEVER.at(self.tokens[i - 1 : i + 1], 0) is not None

    def is_left_open(self, cue: Cue) -> bool:
        """Whether a cue says that something cannot be excluded."""
        return self.tokens[cue.last] in lexicon.EXCLUDING and self.is_denied(cue)

    def is_wished(self, cue: Cue) -> bool:
        """Whether something is yet to be excluded: "MRI to rule out stroke"."""
        i = cue.first
        is_first = i == 0 or self.is_sentence_end(i) or ":" in self.gap(i)
        is_infinitive = self.token(i - 1) in WISHING or is_first
        if self.token(i - 1) == "be" and self.token(i - 2) in WISHING:  # "needs to be ruled out"
            return self.tokens[cue.last] in lexicon.EXCLUDING
        return is_infinitive and self.tokens[i] in ("exclude", "rule")

    # ---- what somebody cannot do

    def is_inability(self, cue: Cue) -> bool:
        """Whether a cue tells of a deficit: "cannot move his arm", "no feeling in the hand"."""
        if cue.kind == "no" and self.is_lost(cue):
            return True
        is_said = cue.kind == "not" or self.tokens[cue.last] == "longer"
        j = self.after_auxiliaries(cue.last + 1)
        verb = fold(self.token(j))
        if not is_said or not (verb in ABILITIES or verb in PERCEIVING):
            return False
        around = {*self.tokens[cue.first : j], self.token(cue.first - 1)}
        who = self.doer(cue.first)
        is_bare = cue.first == 0 or self.is_sentence_end(cue.first)  # "Doesn't recognise faces"
        is_able = verb in ABILITIES and (is_bare or bool(around & UNABLE))
        is_person = who in PERSONS or (not who and is_able)
        return is_person and not self.is_search(j)

    def after_auxiliaries(self, j: int) -> int:
        """First token from j on that is neither an auxiliary nor an adverb, nor "able to"."""
        while self.token(j) in lexicon.AUXILIARIES or self.is_adverb(j) or self.token(j) == "able":
            j += 1
        return j

    def doer(self, i: int) -> str:
        """Who the verb before token i is said of: a person, an observer, or "" if neither."""
        for j in range(i - 1, max(self.sentence(i)[0] - 1, i - LONGEST_PHRASE), -1):
            if self.tokens[j] in PERSONS or self.tokens[j] in OBSERVERS:
                return self.tokens[j]
        return ""

    def is_search(self, j: int) -> bool:
        """Whether the verb at token j has findings for its object: "does not see a lesion"."""
        end = j + 1
        while end < min(j + LONGEST_PHRASE, len(self.tokens)):
            if self.ends_clause(end) or self.is_end(end) or self.is_verb(end):
                break
            end += 1
        is_finding = any(fold(token) in LESION for token in self.tokens[j + 1 : end])
        has_place = bool(self.structures(self.names(range(j + 1, end))))
        return is_finding or has_place or self.token(j + 1) == "that"

    def is_lost(self, cue: Cue) -> bool:
        """Whether somebody lacks a faculty: "no movement of the arm", "he has no memory of it"."""
        i, j = cue.first, cue.last + 1
        if self.token(j) not in FACULTIES:
            return False
        near = self.tokens[j + 1 : min(j + 1 + REACH_WITH, self.sentence(j)[1])]
        if near[:1] in (["in"], ["of"], ["on"]) and any(fold(word) in NOT_BRAIN for word in near):
            return True
        is_whole = self.ends_clause(j + 1) or near[0] in ("of", "for")
        return is_whole and self.token(i - 1) in OWNING and self.doer(i) in PATIENTS

    # ---- conditions, groups and exceptions

    def is_part(self, cue: Cue) -> bool:
        """Whether a cue is within a name or a quotation: "drug-free", "'intact' stimuli"."""
        before, after = self.gap(cue.first), self.gap(cue.last + 1)
        if cue.kind in ("adjective", "state", "usual") and before == "-":
            return True
        return before.endswith(QUOTES) and after.startswith(QUOTES)

    def is_condition(self, cue: Cue) -> bool:
        """Whether a cue names a condition or a number: "no-go", "reward or no reward", "No. 3"."""
        i, j = cue.first, cue.last + 1
        if self.gap(j) == "-" and self.token(j) not in lexicon.QUALITIES:
            return True
        if self.tokens[i] != "no":
            return False
        is_number = self.gap(j).startswith(".") and self.token(j).isdigit()
        is_repeated = i > 1 and self.token(j) == self.tokens[i - 2] and self.gap(i).isspace()
        return is_number or is_repeated or "than" in self.tokens[max(i - 2, 0) : i]

    def is_other_side(self, cue: Cue) -> bool:
        """Whether only a side is denied: "the left but not the right amygdala"."""
        is_said = cue.kind == "adjective" and cue.first - 1 in self.finishes
        if is_said or self.tokens[cue.first] in ("neither", "no", "nor"):
            return False  # "left thalamus normal right thalamus infarcted"
        if self.is_sentence_end(cue.first):
            return False  # "right hemiparesis. Not left hemianopia."
        j = cue.last + 1
        if not self.gap(j).isspace() or self.is_sentence_end(j):  # "R pons normal, L pons …"
            return False
        j += self.token(j) in lexicon.DETERMINERS
        is_whole = self.is_structure(self.finishes.get(cue.first - 1))
        if is_whole and self.is_structure(self.begins.get(j + 1)):
            return False  # "right parietal, not left parietal"
        before = self.tokens[max(cue.first - 2, 0) : cue.first]
        return self.token(j) in SIDE_WORDS and not SIDE_WORDS.keys().isdisjoint(before)

    def is_group(self, cue: Cue) -> bool:
        """Whether people are told apart: "patients without aphasia", "with and without"."""
        before = self.tokens[max(cue.first - REACH_WITH, 0) : cue.first]
        if self.tokens[cue.last] not in ("without", "no") or not before:
            return False
        if before[-1] in lexicon.CONJUNCTIONS and "with" in before:
            return True
        who = before[-2:][0] if before[-1] == "with" else before[-1]
        return who in lexicon.PEOPLE or who in lexicon.NUMBERS

    def is_reported(self, cue: Cue) -> bool:
        """Whether a patient is not aware of what others see: "denied that his arm was weak".

        What patients say of themselves is believed: "denies that he has headaches".
        """
        j = cue.last + 2
        if not (self.tokens[cue.first].startswith("den") and self.token(j - 1) == "that"):
            return False
        is_other = self.is_determined(j) or j in self.begins
        return is_other and self.doer(cue.first) in PATIENTS

    def is_needed(self, cue: Cue) -> bool:
        """Whether nothing goes without it: "impossible without the hippocampus"."""
        if self.tokens[cue.first] != "without":
            return False
        first, end = self.sentence(cue.first)
        return not lexicon.CANNOT.isdisjoint(self.tokens[first:end])

    def is_doubted(self, cue: Cue) -> bool:
        """Whether a predicate is left open: "may be artefactual", "has probably resolved"."""
        for i in range(cue.first - 1, max(cue.first - LONGEST_PHRASE, -1), -1):
            if self.tokens[i] in lexicon.MAYBE:
                return self.reading.written(i).islower()  # not "in May"
            if not self.is_link(i) or self.ends_clause(i + 1):
                return False
        return False

    def is_partial(self, cue: Cue) -> bool:
        """Whether only a part is gone: "partial resolution of", "has all but disappeared"."""
        before = self.tokens[max(cue.first - 3, 0) : cue.first]
        return not lexicon.PARTLY.isdisjoint(before) or before[-2:] == ["all", "but"]

    def is_history(self, cue: Cue) -> bool:
        """Whether something became normal, and is told as such: "normalised after treatment"."""
        if self.tokens[cue.first] not in lexicon.NORMALISED:
            return False
        after = {*self.tokens[cue.last + 1 : self.sentence(cue.last)[1]]}
        if after & lexicon.AGAINST and after & lexicon.STAYING:
            return False  # "… while the pons stayed active"
        return lexicon.PRESENT.isdisjoint(self.tokens[self.before_verb(cue.first) + 1 : cue.first])

    def is_exception(self, cue: Cue) -> bool:
        """Whether another cue denies what this one takes out: "no lesion except in the pons"."""
        if self.tokens[cue.first] in lexicon.RATHER:
            return False
        after = self.token(cue.last + 1)
        if (
            after == "that"
            or after in lexicon.ARTICLES
            or self.tokens[cue.last] in lexicon.ARTICLES
        ):
            return True  # "except for a lesion in the pons"
        first, end = self.sentence(cue.first)
        near = self.cues[bisect_left(self.cues, (first,)) : bisect_left(self.cues, (end,))]
        return any(other.kind != "except" for other in near)

    # ---- what is there all the same

    def holds(self, j: int) -> bool:
        """Whether what is denied holds all the same: "not active until", "not the pons alone"."""
        for k in range(j + 1, min(j + LONGEST_PHRASE, len(self.tokens))):
            if self.tokens[k] in lexicon.HOLDING:
                return True
            if self.is_break(k):
                return False
        return False

    def without_known(self, names: list[int], i: int) -> list[int]:
        """Leave out lesions that are there, with their places, of the names after a cue at i − 1.

        "No spread of the tumor of the pons into the midbrain" denies the midbrain alone.
        """
        kept, end = [], None
        for number in names:
            if self.is_there(number, i):
                end = self.reading.last[number]
            is_of = end and lexicon.INTO.isdisjoint(self.tokens[end : self.reading.first[number]])
            if not is_of:
                kept.append(number)
        return kept

    def is_there(self, number: int, i: int) -> bool:
        """Whether a name is of a lesion that is there: "no bleeding into the thalamic tumor"."""
        j, end = self.reading.first[number] - 1, self.reading.last[number]
        is_lesion = fold(self.token(end + 1)) in LESION and not self.is_sentence_end(end + 1)
        if not is_lesion and fold(self.tokens[end]) not in LESION:
            return False
        while j > i and not (self.is_article(j) or self.tokens[j] in lexicon.PREPOSITIONS):
            j -= 1
        is_definite = self.is_article(j) and self.tokens[j] not in lexicon.INDEFINITE
        return is_definite and j > i + 1 and self.tokens[j - 2] not in lexicon.TRACES

    def is_next(self, i: int, j: int) -> bool:
        """Whether what is denied at token j stands beside the place before token i.

        "Lead tip in the pons, no bleed" lists two findings; "pons, no bleed" is one. So does "a
        focus in the right insula and none in the left".
        """
        first, end = self.sentence(i)
        if "," in self.gap(i) or self.is_led_on(i):
            is_where = self.tokens[first] in lexicon.INTRODUCING  # "in the pons, no bleed is seen"
            return not (is_where or self.is_bare_list(first, i - 1))
        is_joined = self.token(i - 1) in ("and", "but")
        return is_joined and not SIDE_WORDS.keys().isdisjoint(self.tokens[j:end])

    def is_before(self, j: int) -> bool:
        """Whether the word at token j tells of an earlier look: "not seen on the prior study"."""
        near = self.tokens[j + 1 : j + 5]
        is_look = self.tokens[j] in lexicon.SEEN and near[:1] in (["on"], ["in"], ["at"])
        return is_look and not lexicon.BEFORE.isdisjoint(near)

    def is_lesion_before(self, i: int) -> bool:
        """Whether the verb before token i is said of a lesion: "the lesion does not enhance"."""
        end, _ = self.before_aside(self.before_verb(i))
        return fold(self.token(end)) in LESION

    def compared(self, i: int) -> str | None:
        """Say whether the phrase at token i is of a "null" result, a "change" or a "study"."""
        for j in range(i, min(i + LONGEST_PHRASE, len(self.tokens))):
            token, before = self.tokens[j], self.tokens[j - 1]
            if j > i and ("," in self.gap(j) or self.is_sentence_end(j)):
                return None
            if token in ("and", "or", "such") or token in lexicon.STOPS:
                return None
            if lexicon.STUDY.fullmatch(token):
                return "study"
            if lexicon.CHANGE.fullmatch(token):
                return "change"
            if token in ("change", "changes"):
                if self.token(j + 1) == "to":
                    return None  # "no changes to suggest sclerosis"
                is_later = before in lexicon.BEFORE_CHANGE or self.is_later(j)
                return "change" if is_later or self.is_known(j) else "null"
            if lexicon.NULL.fullmatch(token) and before != "mass":
                return "change" if self.is_known(j) else "null"
        return None

    def is_later(self, j: int) -> bool:
        """Whether the sentence of token j tells of another look: "since", "compared with"."""
        first, end = self.sentence(j)
        return not lexicon.LATER.isdisjoint(self.tokens[first:end])

    def is_known(self, j: int) -> bool:
        """Whether what does not differ at token j is a lesion: "no increase in size"."""
        near = self.tokens[j + 1 : min(j + LONGEST_PHRASE, self.sentence(j)[1])]
        return "size" in near or any(fold(token) in LESION for token in near)
