"""Superseded: places that others found, or that were expected, where a study found others.

"Although previous studies reported the amygdala, we found the insula" and "we expected the amygdala
but found the insula" are of the insula. A place is only denied if the text sets it against a
finding of its own, in the same sentence or the next, and the finding is not in that place too.
"""

from neurowhere.text.clinical import lexicon
from neurowhere.text.clinical.places import LESION
from neurowhere.text.clinical.unseen import Unseen
from neurowhere.text.matching import NO_TERM
from neurowhere.text.words import fold, word_set

EARLIER = word_set("earlier past previous prior")
STUDIES = word_set("findings investigations literature reports research studies work")
REPORTING = word_set(
    """
    demonstrated findings found identified implicated indicated linked observed pointed reported
    reports revealed showed shown suggested
    """
)
EXPECTED = word_set("anticipated expected hypothesised hypothesized predicted")
EXPECTING = word_set("authors had was we were")  # before these; not "larger than expected"
OPPOSING = word_set("although despite though unlike whereas while whilst")
OWN = word_set("here our we") | word_set("present current this")  # "the present study found"
FOUND = word_set(
    """
    active activated confined found identified limited observed respond responded restricted
    revealed show showed showing
    """
)
# With these, both may hold: "we found the insula as well", "stronger effects in the insula".
BOTH = (lexicon.MORE | lexicon.NOT | EXPECTED) | word_set(
    "as besides both greater higher larger less more no stronger together too weaker"
)
SUPERSEDING = EARLIER | EXPECTED  # words that are looked at


class Superseded(Unseen):
    """Finds the places that a text sets its own findings against."""

    def superseded(self, i: int) -> list[int]:
        """Return the places of the clause of token i, if a finding elsewhere is set against it."""
        first, _ = self.sentence(i)
        is_expected = self.tokens[i] in EXPECTED
        if not (self.is_expected(i) if is_expected else self.is_earlier(i)):
            return []
        finding = self.opposed(i, is_expected=is_expected)
        if finding is None:
            return []
        clause = range(first, finding.start)
        is_told = is_expected or self.is_reported_before(i, finding.start)
        own = {self.identity(number) for number in self.structures(self.names(finding))}
        words = self.tokens[finding.start : finding.stop]
        if not own or not is_told or FOUND.isdisjoint(words) or not BOTH.isdisjoint(words):
            return []
        names = self.structures(self.names(clause))
        return [number for number in names if self.identity(number) not in own]

    def is_earlier(self, i: int) -> bool:
        """Whether token i is of other studies: "previous imaging work"."""
        return not STUDIES.isdisjoint(self.tokens[i + 1 : i + 3])

    def is_reported_before(self, i: int, end: int) -> bool:
        """Whether the tokens from i tell what others found, and nothing of a lesion of a patient.

        "Prior studies showed an insular infarct" is of earlier scans.
        """
        words = self.tokens[i:end]
        return not REPORTING.isdisjoint(words) and not any(fold(word) in LESION for word in words)

    def is_expected(self, i: int) -> bool:
        """Whether token i tells what a study expected: "we had expected"."""
        before = self.tokens[max(i - 3, 0) : i]
        return not EXPECTING.isdisjoint(before) and before[-1] not in ("as", "than")

    def opposed(self, i: int, *, is_expected: bool) -> range | None:
        """Return the clause that is set against the one of token i, if there is any."""
        first, end = self.sentence(i)
        for j in range(i + 1, end):
            is_turn = self.tokens[j] in ("but", "yet") and (is_expected or self.is_own(j + 1))
            is_opposed = self.tokens[first] in OPPOSING and "," in self.gap(j)
            is_only = is_expected and self.tokens[j] == "only"
            if is_turn or (is_opposed and (is_only or self.is_own(j))):
                return range(j, end)
        if end >= len(self.tokens):
            return None
        after = range(end, self.sentence(end)[1])
        is_instead = "instead" in (self.tokens[after.start], self.tokens[after.stop - 1])
        is_next = is_instead if is_expected else ";" in self.gap(end) and self.is_own(end)
        return after if is_next else None

    def is_own(self, j: int) -> bool:
        """Whether a clause at token j tells what the study itself found: "we", "the present"."""
        return not OWN.isdisjoint(self.tokens[j : j + 2])

    def identity(self, number: int) -> int | str:
        """Term of a match, or its words if it is none."""
        term = self.reading.terms[number]
        first, last = self.reading.first[number], self.reading.last[number]
        return term if term != NO_TERM else " ".join(self.tokens[first : last + 1])
