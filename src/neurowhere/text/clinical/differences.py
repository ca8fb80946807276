"""Differences: what is gone in one group, or by what was done, is where a study found an effect.

"Fusiform responses were absent in autism" and "amygdala activity was abolished by propranolol" tell
of a difference in these places. What controls lack, others have: "hippocampal atrophy, absent in
controls". What nobody has is denied ("absent in all patients", "absent in patients and controls"),
and so is what a correction takes away ("abolished by controlling for age").
"""

import re

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.grammar import LONGEST_PHRASE
from neurowhere.text.clinical.nondenials import Cue, NonDenials
from neurowhere.text.words import word_set

RESPONSES = lexicon.RESPONSES | lexicon.RESPONDING | word_set("reactions")
CONTROLS = word_set("control controls healthy placebo sham")
# People who may be all that a study has, unless an adjective tells them apart: "older adults".
ANYBODY = word_set(
    "adults cases group groups individuals participant participants people persons sample subjects "
    "those volunteers"
)
WHOLE = lexicon.NUMBERS | word_set(
    "all any both each either every her his its many most my no none our several some these this "
    "their"
)
ABOLISHED_BY = word_set("after by following under with")
# What is done to data, whose effects are null results.
STATISTICAL = re.compile(
    r"(?:account|adjust|correct|covar|exclu|inclu|match|outlier|partial|regress|remov|threshold)\w*"
    r"|control(?:led|ling)"
)


class Differences(NonDenials):
    """Tells which cues of absence are of a difference."""

    def is_difference(self, cue: Cue) -> bool:
        """Whether what a cue says to be gone is so in one group, or by what was done."""
        i, j = cue.first, cue.last + 1
        if cue.kind == "not":  # "not seen in controls"
            j = self.after_auxiliaries(j)
            is_seen = self.token(j) in lexicon.SEEN
            return is_seen and not CONTROLS.isdisjoint(self.group(j + 1))
        is_abolished = self.tokens[cue.last] in lexicon.ABOLISHING
        if cue.kind != "absent" and not is_abolished:
            return False
        group = self.group(cue.last if self.tokens[cue.last] == "in" else j)
        if not CONTROLS.isdisjoint(group):
            return True
        is_caused = is_abolished and self.token(j) in ABOLISHED_BY and not self.is_statistical(j)
        return (is_caused or bool(group)) and self.is_of_response(i)

    def group(self, j: int) -> list[str]:
        """Return the words for one group after "in" at token j: people, or what ails them.

        There are none if these may be all that were studied, and none for a place.
        """
        if self.token(j) not in ("among", "in"):
            return []
        end = j + 1
        while end < min(j + LONGEST_PHRASE, len(self.tokens)) and not self.is_break(end):
            if self.tokens[end] in lexicon.PREPOSITIONS or self.is_verb(end):
                break
            end += 1
        words = self.tokens[j + 1 : end]
        names = self.names(range(j + 1, end))
        is_joined = self.token(end) in lexicon.CONJUNCTIONS and not self.ends_clause(end)
        if is_joined or self.structures(names) or not WHOLE.isdisjoint(words):
            return []
        is_people = not lexicon.PEOPLE.isdisjoint(words) or not CONTROLS.isdisjoint(words)
        is_anybody = all(word in ANYBODY or word in lexicon.DETERMINERS for word in words)
        return words if is_people and not is_anybody else self.ailment(words, names)

    def ailment(self, words: list[str], names: list[int]) -> list[str]:
        """Return some words if a name, which is no place, is all that they are: "autism"."""
        is_named = len(names) == 1 and self.token(self.reading.first[names[0]] - 1) in (
            "among",
            "in",
        )
        return words if is_named and words[-1] not in ANYBODY else []

    def is_of_response(self, i: int) -> bool:
        """Whether the clause before token i speaks of activity: "fusiform responses were"."""
        for k in range(i - 1, self.sentence(i)[0] - 1, -1):
            if self.tokens[k] in RESPONSES:
                return True
            if self.ends_clause(k) or self.tokens[k] in lexicon.STOPS:
                return False
        return False

    def is_statistical(self, j: int) -> bool:
        """Whether the sentence from token j on tells what is done to data."""
        return any(map(STATISTICAL.fullmatch, self.tokens[j : self.sentence(j - 1)[1]]))
