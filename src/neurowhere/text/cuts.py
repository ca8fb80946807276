"""Cuts: where very long texts are cut into pieces, so that one piece at a time is in memory."""

from collections.abc import Iterator

PIECE = 250_000  # characters; nearly all texts are shorter, and one piece
ENDS = ("\n\n", "\n", ". ", " ")  # where a text may be cut, the best first


def cuts(text: str, piece: int = PIECE) -> Iterator[tuple[int, int]]:
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
