"""The tree of a text: its sentences and clauses, their tags and phrases, and the rows that decided.

Maintainers read it to see why a text was read so.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neurowhere.text.reading.clauses import Clause, Sentence
from neurowhere.text.reading.mentions import Mention, Mentions, read_mentions
from neurowhere.text.reading.tags import find_cues

if TYPE_CHECKING:
    from neurowhere.text.counter import TermCounter
    from neurowhere.text.reading.document import Document


def explain(text: str, counter: "TermCounter") -> Iterator[str]:
    """Yield the lines of the tree of a text.

    Parameters
    ----------
    text : str
    counter : TermCounter

    Yields
    ------
    str

    Examples
    --------
    >>> from neurowhere.text import TermCounter, Vocabulary
    >>> counter = TermCounter(Vocabulary(["insula", "pons"]))
    >>> for line in explain("Left insula, no lesion of the pons.", counter):
    ...     print(line)
    sentence 1
      clause: Left insula no lesion of the pons
        phrase  "insula"  insula, left, affirmed: sides:before
        tag     "no"  cues:no ahead
        phrase  "pons"  pons, denied: cues:no
    """
    document, mentions = counter.read(text), read_mentions(text, counter)
    tags = [
        (tag.first, f'tag     "{_written(document, tag.first, tag.end)}"  {tag.row.name} {way}')
        for tag in find_cues(document)
        for way in [tag.direction]
    ]
    starts = {start: i for i, start in enumerate(document.starts)}
    phrases = [(starts.get(m.start, -1), _phrase(text, m)) for m in _every(mentions)]
    for number in range(len(document.sentences)):
        yield f"sentence {number + 1}"
        for clause in Sentence(document, number).clauses:
            yield f"  clause{_link(clause)}: {' '.join(map(document.written, clause.tokens))}"
            here = frozenset(clause.tokens)
            for _, line in sorted(pair for pair in (*tags, *phrases) if pair[0] in here):
                yield f"    {line}"


def _every(mentions: Mentions) -> Iterator[Mention]:
    yield from mentions
    yield from mentions.places
    yield from mentions.rule_based


def _written(document: "Document", first: int, end: int) -> str:
    """Return some tokens as the text has them; a sign is no token."""
    return document.text[slice(*document.span(first, end))] if end > first else "?"


def _link(clause: Clause) -> str:
    return f" after {clause.link!r}" if clause.link else ""


def _phrase(text: str, mention: Mention) -> str:
    """Return what a text says of a phrase, and the rows that say so."""
    implied = (f"→ {' '.join(filter(None, (i.side, i.term)))}" for i in mention.implied)
    said = ", ".join(filter(None, (mention.term, mention.side, mention.status, *implied)))
    told = mention.section or ", ".join(mention.rows)
    return f'phrase  "{text[mention.start : mention.end]}"  {said}' + f": {told}" * bool(told)
