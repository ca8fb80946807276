"""Very long texts: read in pieces, so that the words of one piece at a time are in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields

from neurowhere._tools.parallel import track
from neurowhere.text.clinical.mentions import Mention, Mentions, Span
from neurowhere.text.words import PIECE, cuts

__all__ = ["joined", "read_in_pieces"]


def read_in_pieces(
    text: str, read: Callable[[str], Mentions], *, piece: int = PIECE
) -> Iterator[tuple[int, Mentions]]:
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

    Yields
    ------
    (int, Mentions)
        Where a piece starts, and its mentions. Their places are those in the whole text.
    """
    if len(text) <= piece:
        yield 0, read(text)
        return
    for start, end in track(list(cuts(text, piece)), "reading"):
        yield start, _moved(read(text[start:end]), start)


def joined(parts: Sequence[Mentions]) -> Mentions:
    """Return the mentions of pieces as those of one text."""
    if len(parts) == 1:
        return parts[0]
    names = [field.name for field in fields(Mentions)]
    return Mentions(*(tuple(m for part in parts for m in getattr(part, name)) for name in names))


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
