"""Sentences: a text cut at their ends, as negation and sides are read."""

from itertools import pairwise

from neurowhere.inputs.sources import Text
from neurowhere.text import TermCounter


def split_sentences(text: Text, counter: TermCounter) -> list[Text]:
    """Sentences of a text, numbered from 1; a list without points is one.

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
