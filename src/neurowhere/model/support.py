"""Support: how well a model can tell where a text points, judged by what is known of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from neurowhere.model.schema import Support
from neurowhere.model.source import TermUse
from neurowhere.text.language import is_foreign, words_of_letters
from neurowhere.text.places import is_lesion
from neurowhere.text.reading.mentions import Mention, Mentions, Span
from neurowhere.text.unknown import (
    is_code,
    is_everyday,
    is_lettered,
    is_numbered,
    is_of_organ,
    is_science,
)

FEW_NATS, MANY_NATS = 0.085, 0.4  # expected gains that support little, and much
LEAST_KNOWN, MANY_TERMS = 0.4, 15  # share of content words known; terms that make up for it
# The same share where nothing of the brain is named, and for a structure with many nats.
LEAST_KNOWN_ELSEWHERE, LEAST_KNOWN_PLACED = 0.5, 0.25
SENTENCE, LEAST_SAID = 7, 2.0  # words of a sentence; what known words of it must say of the brain


@dataclass(frozen=True)
class Evidence:
    """What is known of a text, by which its support is judged.

    Support is weak where the map hardly differs from the mean map, or where most content words of a
    text with few terms are unknown: such a text is about something else, or in another language.
    Generic words count for neither. Where nothing of the brain is named, a text of everyday life
    and a sentence with few known words are weak, too. So are a lesion in a place that is not known,
    and a text of another organ ("right lower lobe pneumonia"), a program, and an abbreviation
    beside unknown words or a number ("M1 motorway", "AD 1066"). A structure with a map far from the
    mean map needs fewer known words.

    Attributes
    ----------
    text : str
    nats : float
        Expected gain over the mean map.
    uses : mapping of str to TermUse
        How the text uses its terms.
    mentions : Mentions
    unknown : int
        Number of content words that the model does not know.
    """

    text: str
    nats: float
    uses: Mapping[str, TermUse]
    mentions: Mentions
    unknown: int

    @property
    def support(self) -> Support:
        """The judgement."""
        level: Literal["none", "weak", "good"] = "good"
        if not self.n_terms:
            level = "none"
        elif self.is_weak:
            level = "weak"
        found = f"{self.n_terms} known term{'s' * (self.n_terms != 1)}"
        found += f", {self.unknown} unknown word{'s' * (self.unknown != 1)}" * bool(self.unknown)
        found += ", not in English" * self.is_foreign
        return Support(
            level,
            self.n_terms,
            self.n_words,
            self.unknown,
            self.is_foreign,
            self.nats,
            f"{level} ({found}; expected gain over the mean map {self.nats:.2f} nats)",
        )

    @property
    def is_weak(self) -> bool:
        """Whether little tells where the text points; the quickest signs are looked at first."""
        return (
            self.nats < FEW_NATS
            or self.is_foreign
            or self._is_strange
            or (self._is_elsewhere and self._is_of_everyday_life)
            or self._is_short_form
            or is_of_organ(self.text, [self.text[slice(*span)] for span in self._telling])
            or is_code(self.text)
        )

    @cached_property
    def n_terms(self) -> int:
        """Number of known terms that are named, and of names that rules know."""
        named = sum(not use.implied for use in self.uses.values())
        if len(self.uses) == named:
            return named
        return named + len({(m.start, m.end) for m in self.mentions.rule_based if m.is_present})

    @cached_property
    def n_words(self) -> int:
        """Number of words."""
        return len(words_of_letters(self.text))

    @cached_property
    def is_foreign(self) -> bool:
        """Whether the text does not seem to be in English."""
        return is_foreign(self.text)

    @cached_property
    def _subjects(self) -> list[float]:
        """How much each known term tells that the text is about the brain, from 0 to 1."""
        return [use.subject for use in self.uses.values()]

    @cached_property
    def _structures(self) -> list[Mention]:
        """Structures that the text names and affirms."""
        structures = (m for m in self.mentions.found if m.is_structure and not m.is_generic)
        return [mention for mention in structures if mention.is_present]

    @cached_property
    def _is_science(self) -> bool:
        """Whether the text speaks of the brain, or gives a structure a side."""
        return is_science(self.text) or any(mention.side for mention in self._structures)

    @cached_property
    def _is_elsewhere(self) -> bool:
        """Whether nothing of the brain is named."""
        return max(self._subjects, default=0) < 1 and not self._is_science

    @property
    def _is_strange(self) -> bool:
        """Whether too little is known, or nothing but lesions and extra words."""
        said, least = sum(self._subjects), LEAST_KNOWN
        if self._structures and self.nats >= MANY_NATS:
            least = LEAST_KNOWN_PLACED
        elif self._is_elsewhere:
            least = LEAST_KNOWN_ELSEWHERE
        if not said or said < min(MANY_TERMS, least * (said + self.unknown)):
            return True
        lesions = (is_lesion(term) for term, use in self.uses.items() if use.subject)
        return self.unknown > 0 and all(lesions)

    @property
    def _is_of_everyday_life(self) -> bool:
        """Whether the text speaks to or of persons, or says too little of the brain."""
        is_sentence = self.n_words >= SENTENCE and sum(self._subjects) < LEAST_SAID
        return is_sentence or is_everyday(self.text)

    @cached_property
    def _telling(self) -> list[Span]:
        """Where the names of structures and functions stand."""
        return [
            span
            for term, use in self.uses.items()
            if use.subject >= 1 and not is_lesion(term)
            for span in use.where
        ]

    @property
    def _is_short_form(self) -> bool:
        """Whether names of few letters are all, beside more unknown words or a number."""
        others = sum(self._subjects) - max(self._subjects, default=0)
        if others >= self.unknown + 1 or not is_lettered(self.text, self._telling):
            return False
        n_strange = self.unknown + is_numbered(self.text, self._telling)
        return others < n_strange and not self._is_science


def withhold(support: Support, reason: str) -> Support:
    """Return the support of a text whose map is shown only if it is asked for.

    Parameters
    ----------
    support : Support
        That of its words.
    reason : str
        Why, in a line without a point: "outside the brain: spinal cord".

    Returns
    -------
    Support
    """
    offer = "; a map of brain studies about it is available" * (support.level == "good")
    return replace(support, level="none", withheld=reason, summary=f"{reason}{offer}")
