"""Language: whether a text is English, which is all that the models know, and its sentences."""

import re
from itertools import pairwise

from neurowhere.inputs.sources import Text
from neurowhere.text import TermCounter
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
    """Return whether the letters, or the little words between the others, are not English.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
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


def split_sentences(text: Text, counter: TermCounter) -> list[Text]:
    """Cut a text at the ends of its sentences, as negation and sides are read.

    Parameters
    ----------
    text : Text
    counter : TermCounter

    Returns
    -------
    list of Text
        Numbered from 1; a list without points is one sentence.

    Examples
    --------
    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["fear"]))
    >>> split_sentences(Text("note", "No fear. Dr. Bell saw him!"), counter)
    [Text(name='note, sentence 1', content='No fear.'),
     Text(name='note, sentence 2', content='Dr. Bell saw him!')]
    """
    reading = counter.read(text.content)
    starts = [
        start
        for token, (start, _) in enumerate(reading.spans)
        if token == 0 or reading.is_sentence_end(token)
    ]
    cuts = [*starts, len(text.content)]
    return [
        Text(f"{text.name}, sentence {number}", text.content[start:end].strip())
        for number, (start, end) in enumerate(pairwise(cuts), start=1)
    ]
