"""Very long texts: read in pieces, so that the words of one piece at a time are in memory."""

from collections.abc import Callable, Iterator
from dataclasses import fields

from neurowhere.text.clinical.mentions import Mention, Mentions, Span

__all__ = ["PIECE", "read_in_pieces"]

PIECE = 250_000  # characters; nearly all texts are shorter, and read at once
ENDS = ("\n\n", "\n", ". ", " ")  # where a text may be cut, the best first


def read_in_pieces(text: str, read: Callable[[str], Mentions], *, piece: int = PIECE) -> Mentions:
    """Read a text, in pieces where it is long.

    A piece ends with a paragraph, a line, a sentence or a word. What a sentence says of its terms
    is therefore the same; a section of a report that goes on in the next piece is not.

    Parameters
    ----------
    text : str
    read : callable
        Finds the mentions of a text.
    piece : int
        Characters of the longest piece.

    Returns
    -------
    Mentions
        Their places are those in the whole text.
    """
    if len(text) <= piece:
        return read(text)
    parts = [_moved(read(text[start:end]), start) for start, end in cuts(text, piece)]
    names = [field.name for field in fields(Mentions)]
    return Mentions(*(tuple(m for part in parts for m in getattr(part, name)) for name in names))


def cuts(text: str, piece: int) -> Iterator[Span]:
    """Yield where the pieces of a text start and end.

    >>> list(cuts("One two. Three four five six.", 12))
    [(0, 9), (9, 20), (20, 29)]
    """
    start = 0
    while len(text) - start > piece:
        found = ((text.rfind(end, start, start + piece), end) for end in ENDS)
        places = (at + len(end) for at, end in found if at > start)
        end = next(places, start + piece)
        yield start, end
        start = end
    yield start, len(text)


def _moved(mentions: Mentions, offset: int) -> Mentions:
    """Move the mentions of a piece to where they are in the whole text."""
    if not offset:
        return mentions
    found, places, rule_based = (
        tuple(_moved_mention(mention, offset) for mention in some)
        for some in (mentions.found, mentions.places, mentions.rule_based)
    )
    unapplied = tuple(
        mark._replace(start=mark.start + offset, end=mark.end + offset)
        for mark in mentions.unapplied
    )
    return Mentions(found, places, unapplied, rule_based)


def _moved_mention(mention: Mention, offset: int) -> Mention:
    def moved(span: Span | None) -> Span | None:
        return None if span is None else (span[0] + offset, span[1] + offset)

    return mention._replace(
        start=mention.start + offset,
        end=mention.end + offset,
        side_span=moved(mention.side_span),
        negation_span=moved(mention.negation_span),
        hedge_span=moved(mention.hedge_span),
    )
