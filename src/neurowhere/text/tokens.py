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
_TO_CASED = {
    code: chr(code) if chr(code).isalnum() or chr(code) == ESCAPE else " " for code in range(128)
}
_TO_TOKENS = {code: token.lower() for code, token in _TO_CASED.items()}
_WORD = re.compile("[A-Z]{2,}")
FEWEST_SHOUTED = 4  # words of a line in capitals for them to mean nothing

# Areas that share one "BA" or "area": "BA 44/45", "Brodmann's areas 44, 45 and 47". Each pattern
# begins with letters that are searched for fast; what is before them is not looked at.
_NUMBER = r"\d{1,2}[a-dm]?\b"
_COUNTED = "mm|%|patient|subject|participant|healthy|voxel|year|men|women|stud"
_MORE_NUMBERS = (
    rf"[ -]?{_NUMBER}(?P<more>(?:(?:\s?[/,&-]\s?|,?\s(?:and|or)\s)"
    rf"(?:[Bb][Aa])?{_NUMBER}(?!\.\d|\s?(?:{_COUNTED})))+)"
)
_AREAS = [re.compile(rf"{start}s?{_MORE_NUMBERS}") for start in ("BA", "rea")]
_MORE_AREA = re.compile(r"(?<![A-Za-z\d])(\d{1,2})[a-dm]?")

Known = Callable[[str], bool]


def plain(text: str, known: Known | None = None, *, keep_case: bool = False) -> str:
    r"""Return the text as lower-case ASCII tokens with spaces between them.

    Compatibility forms are decomposed (NFKD) and accents dropped; soft hyphens and other
    invisible marks vanish; dashes, quotes and all other punctuation become spaces; a letter of
    another script becomes a code made of ASCII letters. A word cut by a hyphen at the end of a
    line is mended if `known` says that the mended word is one. With `keep_case`, capitals stay,
    except in lines that are all capitals, and areas that share a "BA" get one each.

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
    if not keep_case:
        return text.translate(_TO_TOKENS)
    if edits := _area_edits(text):
        text, _ = _replace(text, edits)
    return _without_shouting(text).translate(_TO_CASED)


def plain_with_origin(text: str, known: Known) -> tuple[str, NDArray[np.intp] | None]:
    r"""Return `plain` with its case, and per character of it the index in `text` it came from.

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
    if edits := _area_edits(text):
        text, moved = _replace(text, edits)
        origin = moved if origin is None else origin[moved]
    return _without_shouting(text).translate(_TO_CASED), origin


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


def _area_edits(text: str) -> list[tuple[int, int, str]]:
    """Return the edits that write "BA 44/45" as "BA 44/ba45", in the order of the text."""
    return sorted(
        (number.start(), number.end(), f"ba{number[1]}")
        for pattern in _AREAS
        for areas in pattern.finditer(text)
        for number in _MORE_AREA.finditer(text, *areas.span("more"))
    )


def _without_shouting(text: str) -> str:
    """Put lines that are all capitals in lower case: their capitals mark no abbreviation."""
    lines = text.split("\n")
    if not any(map(str.isupper, lines)):  # stops at the first small letter
        return text
    return "\n".join(
        line.lower() if line.isupper() and len(_WORD.findall(line)) >= FEWEST_SHOUTED else line
        for line in lines
    )


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
