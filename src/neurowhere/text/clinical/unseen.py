"""Unseen: places that a text says could not be assessed, which is no finding.

"The temporal poles are obscured by artefact", "motion limits evaluation of the pons" and "artefact
over the insula" say nothing of these places. A finding that is not seen well is another thing: it
is left open ("the infarct in the pons is not well seen").
"""

import re

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.clauses import REACH_BACK
from neurowhere.text.clinical.grammar import LONGEST_PHRASE, REACH
from neurowhere.text.clinical.nondenials import Cue
from neurowhere.text.clinical.scopes import Scopes
from neurowhere.text.words import word_set

LIMITING = re.compile(
    r"(?:compromis|degrad|hamper|hinder|imped|limit|obscur|preclud|prevent|restrict)\w*"
    r"|difficult|impossible|(?:in|im)complete|inadequate|insufficient|non(?:diagnostic)?|partial"
    r"|poor|sub-?optimal|unreliable|unsatisfactory"
)
ALLOWING = word_set("allow allowed allowing enable enabled permit permitted permitting")
LOOKING = lexicon.LOOKING | word_set(
    "appreciation assessments coverage detail examination imaging inspection views"
)
BLURRED = lexicon.ARTEFACTS | word_set("dropout dropouts")
# What may blur a place: "affected by", "obscures" and the like need it.
BLURRING = BLURRED | word_set(
    """
    beam braces clip clips coil coils drop hardening hardware implant metal metallic motion movement
    noise streak susceptibility
    """
)
OVER = word_set(
    """
    across affecting along around at degrading in involving limiting near obscuring over overlying
    through throughout within
    """
)
# What places are called that names leave out: "the posterior fossa", "skull base".
PARTS = word_set(
    "aspect aspects base convexity fossa level part parts portion portions skull vertex"
)
# Gray matter whose outline is lost on CT in the first hours of a stroke.
FADING = re.compile(r"basal|caudate|ganglia|insula|lenti|pallid|putam|striat")
SEEING = LOOKING | BLURRED  # words that are looked at


class Unseen(Scopes):
    """Finds the places that were not seen."""

    def by_unseen(self, cue: Cue) -> list[int]:
        """Deny the places of which a cue says that they are not seen: "the pons is obscured"."""
        first, j = self.sentence(cue.first)[0], cue.last + 1
        is_blurred = not BLURRING.isdisjoint(self.tokens[first : j + LONGEST_PHRASE])
        is_object = self.is_phrase(j) and self.tokens[j] not in lexicon.DUE
        if self.tokens[cue.last] != "by" and is_object:  # "artefact obscures the pons"
            return self.of_places(j) if is_blurred else []
        by = self.tokens[cue.last : j + 1]
        near = range(j, min(j + LONGEST_PHRASE, self.sentence(cue.last)[1]))
        if "by" in by and not is_blurred and (by[0] == "by" or any(map(self.is_finding, near))):
            return []  # "distorted by a tumor", "obscured by blood"
        if self.is_suspected(j):
            return []
        names = self.structures(self.label(cue.first)) or self.only_places(cue.first)
        return names if is_blurred else [each for each in names if not self.is_sign(cue, each)]

    def is_sign(self, cue: Cue, number: int) -> bool:
        """Whether a place that is "obscured" is swollen by a stroke: "obscured putamen"."""
        first, last = self.reading.first[number], self.reading.last[number]
        is_deep = any(map(FADING.match, self.tokens[first : last + 1]))
        return is_deep and self.tokens[cue.last] == "obscured"

    def by_seeing(self, i: int) -> list[int]:
        """Return the places that could not be looked at: "limited evaluation of the pons"."""
        if self.is_suspected(i + 1):
            return []
        if self.tokens[i] in BLURRED:
            before = self.tokens[max(i - LONGEST_PHRASE // 2, self.sentence(i)[0]) : i]
            is_there = self.token(i + 1) in OVER and lexicon.DOUBTING.isdisjoint(before)
            return self.of_places(i + 2) if is_there else []
        names = self.of_places(i + 2) if self.token(i + 1) in ("at", "in", "of") else []
        if not names:
            return []
        end = max(self.reading.last[number] for number in names) + 1
        return names if self.is_limited(i) or self.is_said_limited(end) else []

    def is_suspected(self, j: int) -> bool:
        """Whether a finding may be in what is not seen: "… and a lesion there is not excluded"."""
        _, end = self.sentence(j - 1)
        is_open = not (lexicon.MAYBE | lexicon.EXCLUDING).isdisjoint(self.tokens[j:end])
        return is_open and any(self.is_finding(k) for k in range(j, end))

    def is_limited(self, i: int) -> bool:
        """Whether the word before an evaluation at token i limits it: "precludes an evaluation"."""
        for j in range(i - 1, max(i - LONGEST_PHRASE // 2, -1), -1):
            if self.ends_clause(j + 1):
                return False
            is_not = self.tokens[j] in ALLOWING and self.token(j - 1) in lexicon.NOT
            if is_not or LIMITING.fullmatch(self.tokens[j]):
                return self.token(j - 1) not in lexicon.NOT or is_not
        return False

    def is_said_limited(self, j: int) -> bool:
        """Whether a predicate at token j says that an evaluation is limited."""
        _, end = self.sentence(j - 1)
        while j < end and (self.is_link(j) or self.tokens[j] in PARTS) and not self.ends_clause(j):
            j += 1
        is_in = j < end and not self.ends_clause(j)
        return is_in and bool(LIMITING.fullmatch(self.tokens[j]))

    def of_places(self, j: int) -> list[int]:
        """Return the structures of the phrase at token j, if it is of places and nothing else."""
        names: list[int] = []
        first, end = j, min(self.sentence(j)[1], j + REACH) if j < len(self.tokens) else j
        while j < end and (j == first or not self.is_end(j)):
            number = self.begins.get(j)
            if number is not None and self.is_structure(number):
                names.append(number)
                j = self.reading.last[number] + 1
            elif self.is_of_place(j):
                j += 1
            else:
                break
        is_joined = self.token(j - 1) in lexicon.CONJUNCTIONS  # "of the pons and edema"
        return [] if j > first and self.is_noun(j) and not is_joined else names

    def is_of_place(self, j: int) -> bool:
        """Whether token j may stand in a phrase of places, and is no other name."""
        if self.tokens[j] in PARTS or self.is_modifier(j):
            return True  # "posterior" may be a term
        return self.belongs_to_place(j)

    def only_places(self, i: int) -> list[int]:
        """Return the structures before the verb at token i, if its subject is nothing else."""
        names: list[int] = []
        apart: list[int] = []  # those after the last "and" or comma
        j = self.before_verb(i)
        first = max(self.sentence(i)[0], j - REACH_BACK)
        while j >= first:
            number = self.finishes.get(j)
            if names and (self.is_opening(j) or self.tokens[j] in lexicon.STOPS):
                break
            if names and (self.tokens[j] in lexicon.CONJUNCTIONS or "," in self.gap(j + 1)):
                apart = [*names]
            if number is not None and self.is_structure(number):
                names.append(number)
                j = self.reading.first[number]
            elif not (self.is_of_place(j) or self.tokens[j] in LOOKING):
                return apart
            j -= 1
        return names
