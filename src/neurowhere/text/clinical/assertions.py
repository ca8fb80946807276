"""Assertions: what a text says of each name in it: denied, left open, or in no finding at all."""

from bisect import bisect_right
from functools import partial
from operator import attrgetter
from typing import Any

from neurowhere.text.clinical.denials import Denials, attach_denials
from neurowhere.text.clinical.hedges import attach_hedges
from neurowhere.text.clinical.reading import Reading
from neurowhere.text.clinical.sections import read_sections


class Assertions:
    """What a text says of the matches in it.

    Parameters
    ----------
    reading : Reading
    negation : bool
        Whether what the text denies is told apart.
    sections : bool
        Whether what is in a section that is no finding is told apart.
    hedge_weight : float
        Weight of what the text leaves open.
    """

    def __init__(
        self, reading: Reading, *, negation: bool, sections: bool, hedge_weight: float
    ) -> None:
        self.reading = reading
        self.hedge_weight = hedge_weight
        denials = attach_denials(reading) if negation else Denials({}, {})
        self.denied = denials.denied
        self.hedged = attach_hedges(reading) | denials.left_open
        self.sections = read_sections(reading.text) if sections else []
        self.starts = reading.starts[reading.first].tolist()
        self.ends = reading.ends[reading.last].tolist()
        # The same for another reading of the text.
        self.of = partial(
            Assertions, negation=negation, sections=sections, hedge_weight=hedge_weight
        )

    def words(self, number: int) -> str:
        """Words of a match as the text has them."""
        return self.reading.text[self.starts[number] : self.ends[number]]

    def fields(self, number: int) -> dict[str, Any]:
        """Return what is said of a match, as the fields of a mention."""
        start, end = self.starts[number], self.ends[number]
        denial, hedge = self.denied.get(number), self.hedged.get(number)
        section = self.section(start) if self.sections else None
        if not (denial or hedge or section):  # nearly all are
            return {"start": start, "end": end}
        weight = self.hedge_weight if hedge else 1.0
        return {
            "start": start,
            "end": end,
            "negation_span": self.reading.span(denial) if denial else None,
            "hedge_span": self.reading.span(hedge) if hedge else None,
            "section": section,
            "weight": 0.0 if denial or section else weight,
        }

    def section(self, start: int) -> str | None:
        """Name of the section that is no finding and that a place of the text is in."""
        number = bisect_right(self.sections, start, key=attrgetter("start")) - 1
        if number < 0 or start >= self.sections[number].end:
            return None
        return self.sections[number].name
