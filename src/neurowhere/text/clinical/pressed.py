"""Pressed: places that a lesion presses on, which is not where it is.

"A frontal meningioma with mass effect on the lateral ventricle" is in the frontal lobe. Beside
another place that a text affirms, what is compressed, displaced or effaced weighs little; alone it
counts as usual. Gyri and sulci are effaced where the brain is swollen, and count fully.
"""

from typing import TYPE_CHECKING

from neurowhere.text.clinical.lexicon import alternatives
from neurowhere.text.clinical.places import is_general
from neurowhere.text.clinical.reading import Phrases, Reading
from neurowhere.text.clinical.unseen import Unseen

if TYPE_CHECKING:
    from neurowhere.text.clinical.mentions import Mention

PRESSED_WEIGHT = 0.1
_VERBS = "{compress|displac|distort|effac|indent|deviat|splay}"
# Phrases before what is pressed on, and those that may be said of it.
PRESSING = Phrases(
    {
        kind: "; ".join(phrase for row in rows for phrase in alternatives(row))
        for kind, rows in {
            "before": [
                "mass effect {on|onto|upon|over|to|against}",
                "{compression|displacement|distortion|effacement|indentation} of",
                "{bowing|buckling|deviation|shift|splaying} of",
                "{pressure|pressing|presses|impinging|impinges|impingement|pushing|pushes} "
                "{on|upon|against}",
                _VERBS + "{es|s|ing}",
                "{pushing|pushes}",
            ],
            "either": [_VERBS + "ed", "pushed"],
        }.items()
    }
)
SURFACE = ("sulc", "gyr")


class _Pressing(Unseen):
    """Finds the places that something presses on."""

    def pressed(self) -> set[int]:
        """Return the structures that are pressed on, by their numbers."""
        found: set[int] = set()
        for first, last, kind in PRESSING.find(self.reading):
            if self.is_phrase(last + 1):
                found.update(self.of_places(last + 1))
            elif kind == "either" and self.is_predicate(first, last):
                found.update(self.only_places(first))
        return {number for number in found if not self.is_surface(number)}

    def is_surface(self, number: int) -> bool:
        """Whether a structure is a sulcus or a gyrus."""
        tokens = self.tokens[self.reading.first[number] : self.reading.last[number] + 1]
        return any(token.startswith(SURFACE) for token in tokens)


def weigh_pressed(reading: Reading, mentions: "list[Mention]") -> "list[Mention]":
    """Weigh places that are pressed on less, if a text affirms another place."""
    pressed = _Pressing(reading, []).pressed()
    if not pressed or not any(
        each.is_structure and each.is_present and each.weight and not is_general(each.term)
        for number, each in enumerate(mentions)
        if number not in pressed
    ):
        return mentions
    return [
        each._replace(weight=PRESSED_WEIGHT * each.weight) if number in pressed else each
        for number, each in enumerate(mentions)
    ]
