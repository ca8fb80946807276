"""Tokens: how text becomes plain lower-case words, and where in the text each came from."""

import codecs
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "ŋ": "n"}
)
MINUS_SIGN, SOFT_HYPHEN, ZERO_WIDTH_SPACE = "\u2212", "\u00ad", "\u200b"
LAST_ASCII = 127
ESCAPE = "\x01"  # opens the code of a letter that ASCII lacks; counts as a letter itself

# Tried at the start of a word only: at each of its letters, long words would take for ever.
_CUT_WORD = re.compile(r"(?<![A-Za-z])([A-Za-z]+)-\r?\n[ \t]*([A-Za-z]+)")
_TO_TOKENS = {
    code: chr(code).lower() if chr(code).isalnum() or chr(code) == ESCAPE else " "
    for code in range(128)
}

Known = Callable[[str], bool]


def plain(text: str, known: Known | None = None) -> str:
    r"""Return the text as lower-case ASCII tokens with spaces between them.

    Compatibility forms are decomposed (NFKD) and accents dropped; soft hyphens and other
    invisible marks vanish; dashes, quotes and all other punctuation become spaces; a letter of
    another script becomes a code made of ASCII letters. A word cut by a hyphen at the end of a
    line is mended if `known` says that the mended word is one.

    >>> plain("Ménière’s “Fronto–Parietal” co\u00adef\ufb01cient").split()
    ['meniere', 's', 'fronto', 'parietal', 'coefficient']
    >>> plain("hippo-\ncampus", known={"hippocampus"}.__contains__)
    'hippocampus'
    """
    text = text.replace(ESCAPE, " ")
    if not text.isascii():
        text = text.encode("ascii", errors=_ERROR_HANDLER).decode("ascii")
    if known is not None and _has_cut_words(text):
        text = _CUT_WORD.sub(
            lambda cut: cut[1] + cut[2] if _is_mended(cut, known) else cut[0], text
        )
    return text.translate(_TO_TOKENS)


def plain_with_origin(text: str, known: Known) -> tuple[str, NDArray[np.intp] | None]:
    r"""Return `plain(text, known)` and, per character of it, the index in `text` it came from.

    The second value is None where every character stayed in its place.

    >>> tokens, origin = plain_with_origin("ca\u00adu\ufb01", known=bool)
    >>> tokens, origin.tolist()
    ('caufi', [0, 1, 3, 4, 4])
    """
    origin = None
    text = text.replace(ESCAPE, " ")
    if not text.isascii():
        runs = [(start, end, _ascii(text, start, end)) for start, end in _foreign_runs(text)]
        text, origin = _replace(text, runs)
    if _has_cut_words(text):
        cuts = [match for match in _CUT_WORD.finditer(text) if _is_mended(match, known)]
        text, moved = _replace(text, [(cut.end(1), cut.start(2), "") for cut in cuts])
        origin = moved if origin is None else origin[moved]
    return text.translate(_TO_TOKENS), origin


def token_spans(tokens: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Start and end of each token of a plain text.

    >>> [span.tolist() for span in token_spans(" the  amygdala")]
    [[1, 6], [4, 14]]
    """
    letters = np.frombuffer(f" {tokens} ".encode("ascii"), dtype=np.uint8) != ord(" ")
    edges = np.flatnonzero(letters[1:] != letters[:-1])
    return edges[::2], edges[1::2]


def _foreign_runs(text: str) -> list[tuple[int, int]]:
    """Start and end of each run of characters beyond ASCII."""
    codes = np.frombuffer(f" {text} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    foreign = codes > LAST_ASCII
    edges = np.flatnonzero(foreign[1:] != foreign[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _ascii_error(error: UnicodeError) -> tuple[str, int]:
    """Replace what the ASCII encoder cannot encode; far faster than a regular expression."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _ascii(error.object, error.start, error.end), error.end


_ERROR_HANDLER = "neurowhere.ascii"
codecs.register_error(_ERROR_HANDLER, _ascii_error)


def _ascii(text: str, start: int, end: int) -> str:
    """ASCII for a run of other characters; a soft hyphen shows only at the end of a line."""
    at_line_end = text[end - 1] == SOFT_HYPHEN and text[end : end + 1] in ("\n", "\r")
    return _ascii_run(text[start:end]) + ("-" if at_line_end else "")


@lru_cache(maxsize=1 << 14)
def _ascii_run(run: str) -> str:
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", run).casefold())
    return "".join(map(_ascii_letter, letters.translate(LETTERS_WITHOUT_DECOMPOSITION)))


def _ascii_letter(letter: str) -> str:
    if letter.isascii():
        return letter
    category = unicodedata.category(letter)
    if category == "Mn" or (category == "Cf" and letter != ZERO_WIDTH_SPACE):
        return ""
    if category == "Pd" or letter == MINUS_SIGN:
        return "-"
    return f"{ESCAPE}{ord(letter):x}" if category[0] in "LN" else " "


def _has_cut_words(text: str) -> bool:
    return "-\n" in text or "-\r\n" in text


def _is_mended(cut: re.Match[str], known: Known) -> bool:
    return known((cut[1] + cut[2]).lower())


def _replace(text: str, edits: list[tuple[int, int, str]]) -> tuple[str, NDArray[np.intp]]:
    """Replace spans of a text; also return where each character of the new one came from."""
    pieces, starts, ends, last = [], [], [], 0
    for start, end, new in edits:
        pieces += [text[last:start], new]
        starts += [last, start]
        ends += [start, end]
        last = end
    pieces.append(text[last:])
    starts.append(last)
    ends.append(len(text))
    lengths = np.array([len(piece) for piece in pieces])
    shifts = np.array(starts) - (np.cumsum(lengths) - lengths)
    origin = np.arange(lengths.sum()) + np.repeat(shifts, lengths)
    return "".join(pieces), np.minimum(origin, np.repeat(np.array(ends) - 1, lengths))
