"""Language: whether a text is in one that the models, which know English, cannot read."""

import re

from neurowhere.text.words import word_set

WORD = re.compile(r"[^\W\d_]+")
FEWEST_WORDS = 5
FEW = 2  # words of another language, which a name may have: Gilles de la Tourette
ENGLISH = word_set(
    """after all an and are as at be between both by during for from had has have in is it its
    may no not of on or patient patients that the these this to was we were when which with
    without"""
)
# Frequent little words of German, Dutch, French, Spanish, Italian and Portuguese that English texts
# do not have; "in", "die", "war" and "no" tell nothing.
OTHERS = word_set(
    """aan au aux avec bei com con che da das dans de degli dei del della delle dem den der des di
    dos du durch een ein eine einem einer el elle en est et fue für het il ist la las le les lo los
    mit na nach não nel nella nicht niet oder os ou pas por pour que qui se sein sich sind sobre
    sont su sur uma un una und une van von voor wird zu zum zur è"""
)


def is_foreign(text: str) -> bool:
    """Whether the letters, or the little words between the others, are not English.

    >>> is_foreign("Der Patient hat eine Läsion der linken Amygdala und des Thalamus.")
    True
    >>> is_foreign("locus coeruleus, substantia nigra, pars opercularis, la belle indifference")
    False
    >>> is_foreign("мозг и память")
    True
    """
    words = WORD.findall(text.lower())
    letters = "".join(words)
    if sum(letter.isascii() for letter in letters) * 2 < len(letters):
        return True
    n_english = sum(word in ENGLISH for word in words)
    n_others = sum(word in OTHERS for word in words)
    return len(words) >= FEWEST_WORDS and n_others > max(n_english, FEW)
