"""Words: how text becomes plain words, which are forms of one word, and which make a name."""

import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.files import shipped_table

LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "ŋ": "n"}
)
MINUS_SIGN, SOFT_HYPHEN, ZERO_WIDTH_SPACE = "\u2212", "\u00ad", "\u200b"
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
ESCAPE = "\x01"  # opens the code of a letter that ASCII lacks; counts as a letter itself
END = "\x02"  # marks the end of a sentence; a word of its own

# A stop, a closing mark, an empty line, or the end of a table's cell. A point ends a sentence only
# before a space, and so does a line end before a capital or the mark of a list: reports often have
# no other.
SENTENCE_END = r"[;?!|]|(?<![\n\t])\t|\.[\"'”’)\]]*\s|\n\s*[\n*•>#-]"
_MARKED_END = re.compile(rf"{SENTENCE_END}|\n[^\w\n]*(?=[A-Z])")

# Tried at the start of a word only: at each of its letters, long words would take for ever.
_CUT_WORD = re.compile(r"(?<![A-Za-z])([A-Za-z]+)-\r?\n[ \t]*([A-Za-z]+)")
_TO_CASED = bytes(
    code if code < 128 and (chr(code).isalnum() or chr(code) in (ESCAPE, END)) else ord(" ")
    for code in range(256)
)
_TO_TOKENS = _TO_CASED.lower()
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

# Tags and entities of HTML: "<b>", "<span class=…>", "&nbsp;". Some of the tags part lines or
# cells; those of `_ROWS` and `_CELLS` do so where they open.
_LINES = "blockquote|br|div|dl|h[1-6]|hr|ol|p|section|table|ul"
_ROWS, _CELLS = "dd|dt|li|tr", "td|th"
_INLINE = "a|abbr|b|big|code|em|font|i|mark|s|small|span|strong|sub|sup|tbody|thead|u"
_MARKUP = re.compile(
    r"[<&](?:(?<=&)(?:#\d{2,6}|#x[0-9a-f]{2,5}|[a-z]{2,8});"
    rf"|(?<=<)(?:/?(?:(?P<line>{_LINES})|{_INLINE})|(?P<row>{_ROWS})|(?P<cell>{_CELLS})"
    rf"|/(?:{_ROWS}|{_CELLS}))(?:\s[^<>]{{0,300}})?/?>)",
    re.IGNORECASE,
)
FEWEST_MARKS = 2  # tags and entities, for them not to be signs: "a <b> c"

Known = Callable[[str], bool]


def plain(
    text: str, known: Known | None = None, *, keep_case: bool = False, mark_ends: bool = False
) -> str:
    r"""Return the text as lower-case ASCII tokens with spaces between them.

    Compatibility forms are decomposed (NFKD) and accents dropped; soft hyphens and other
    invisible marks vanish; dashes, quotes and all other punctuation become spaces; a letter of
    another script becomes a code made of ASCII letters. A word cut by a hyphen at the end of a
    line is mended if `known` says that the mended word is one. With `keep_case`, capitals stay,
    except in lines that are all capitals, and areas that share a "BA" get one each; with
    `mark_ends` too, the token `END` stands where a sentence ends.

    >>> plain("Ménière’s “Fronto–Parietal” co\u00adef\ufb01cient").split()
    ['meniere', 's', 'fronto', 'parietal', 'coefficient']
    >>> plain("hippo-\ncampus", known={"hippocampus"}.__contains__)
    'hippocampus'
    """
    text = text.replace(ESCAPE, " ").replace(END, " ")
    if not text.isascii():
        text = text.encode("ascii", errors=_ERROR_HANDLER).decode("ascii")
    if known is not None and _has_cut_words(text):
        text = _CUT_WORD.sub(
            lambda cut: cut[1] + cut[2] if _is_mended(cut, known) else cut[0], text
        )
    if not keep_case:
        return _translated(text, _TO_TOKENS)
    if edits := _area_edits(text):
        text, _ = _replace(text, edits)
    if mark_ends:
        text = _MARKED_END.sub(rf"\g<0> {END} ", text)
    return _translated(_without_shouting(text), _TO_CASED)


def plain_with_origin(text: str, known: Known) -> tuple[str, NDArray[np.intp] | None]:
    r"""Return `plain` with its case, and per character of it the index in `text` it came from.

    The second value is None where every character stayed in its place.

    >>> tokens, origin = plain_with_origin("ca\u00adu\ufb01", known=bool)
    >>> tokens, origin.tolist()
    ('caufi', [0, 1, 3, 4, 4])
    """
    text, origin = _in_ascii(text.replace(ESCAPE, " ").replace(END, " "))
    if _has_cut_words(text):
        cuts = [match for match in _CUT_WORD.finditer(text) if _is_mended(match, known)]
        text, moved = _replace(text, [(cut.end(1), cut.start(2), "") for cut in cuts])
        origin = moved if origin is None else origin[moved]
    if edits := _area_edits(text):
        text, moved = _replace(text, edits)
        origin = moved if origin is None else origin[moved]
    return _translated(_without_shouting(text), _TO_CASED), origin


def _in_ascii(text: str) -> tuple[str, NDArray[np.intp] | None]:
    """Return a text in ASCII, and where its characters came from unless they stayed."""
    spans = [] if text.isascii() else [found.span() for found in _FOREIGN.finditer(text)]
    runs = [(start, end, _ascii(text, start, end)) for start, end in spans]
    if all(end - start == len(new) for start, end, new in runs):
        return (_replaced(text, runs) if runs else text), None
    return _replace(text, runs)


_ASCII = frozenset(map(chr, range(128)))


def runs_of(text: str, table: bytes, pattern: re.Pattern[str]) -> list[str]:
    """Return the runs of characters that a table keeps, of others those that a pattern finds.

    A pattern with classes of Unicode takes five times as long; only a text with letters that ASCII
    lacks needs one.
    """
    if not text.isascii() and any(map(str.isalnum, {*text} - _ASCII)):
        return pattern.findall(text)
    return text.encode("ascii", "replace").translate(table).decode("ascii").split()


def _translated(text: str, table: bytes) -> str:
    """Translate a text of ASCII letters; ten times as fast as `str.translate`."""
    return text.encode("ascii").translate(table).decode("ascii")


def without_markup(text: str) -> str:
    r"""Blank out the tags and entities of a text that was copied from a page; all else stays put.

    >>> without_markup("<b>left</b> <i>insula</i>&nbsp;&amp; pons<br>Thalamus")
    '   left        insula          &     pons\n   Thalamus'
    >>> without_markup("t <b> 3 in the insula")
    't <b> 3 in the insula'
    """
    if not ("<" in text or "&" in text):
        return text
    marks = list(islice(_MARKUP.finditer(text), FEWEST_MARKS))
    return _MARKUP.sub(_blank, text) if len(marks) == FEWEST_MARKS else text


def _blank(mark: re.Match[str]) -> str:
    """Return what a tag or an entity stands for, in as many characters."""
    if mark[0].startswith("<"):
        is_line = mark["line"] or mark["row"]
        return ("\n" if is_line else "|" if mark["cell"] else " ").ljust(len(mark[0]))
    sign = html.unescape(mark[0])[0]
    if sign == "&" and mark[0].lower() != "&amp;":
        return mark[0]  # no entity: "R&d;"
    fill = SOFT_HYPHEN if sign.isalpha() or sign in "'’" else " "  # within a word
    return (" " if sign.isspace() else sign).ljust(len(mark[0]), fill)


def token_spans(tokens: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Start and end of each token of a plain text.

    >>> [span.tolist() for span in token_spans(" the  amygdala")]
    [[1, 6], [4, 14]]
    """
    letters = np.frombuffer(f" {tokens} ".encode("ascii"), dtype=np.uint8) != ord(" ")
    edges = np.flatnonzero(letters[1:] != letters[:-1])
    return edges[::2], edges[1::2]


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


def _replaced(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace spans of a text."""
    pieces, last = list[str](), 0
    for start, end, new in edits:
        pieces += [text[last:start], new]
        last = end
    return "".join([*pieces, text[last:]])


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


# ---- words of names


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list that is written as one string."""
    return frozenset(words.split())


# Words that may stand inside a name without breaking it: "nucleus of the solitary tract" is the
# name "nucleus solitary tract". All others do: "fusiform and faces" is not "fusiform face".
SKIPPED = word_set("a an for in of on the")
# Single characters are words only where they number a region: "lobule V", "area 4".
NUMBERS = frozenset("0123456789ivx")

# Prefixes written joined, hyphenated or apart: prefrontal, pre-frontal, pre frontal.
PREFIXES = word_set(
    """
    ante antero baso bi bulbo caudo cerebello cerebro cervico cingulo cortico cranio dento dorso
    endo extra fronto hemi hippocampo hyper hypo infero infra inter intra juxta latero limbo medio
    meso meta mid mono multi myelo neo neuro nigro non occipito olivo orbito pallido para parieto
    peri ponto post postero pre pro retro reticulo rostro rubro semi sensori septo spino somato
    striato sub subiculo super supero supra temporo thalamo trans ultra vaso ventro vestibulo visuo
    """
)
_PREFIXES = tuple(PREFIXES)
SHORTEST_REST = 4  # letters that must follow a prefix for it to be cut off
LONGEST_ABBREVIATION = 6  # characters of a word whose capitals have a meaning
LONGEST_SHORT_FORM = 10  # characters of an abbreviation that a text defines
_SMALL_LETTERS = re.compile("[a-z ]+")
# "n" in "n-back", "L" in "L-DOPA"; the "s" of a possessive is none.
_TIED_LETTER = re.compile(r"(?<![\w'’])([A-RT-Za-rt-z])[-\u2010\u2011](?=\w)")


def is_skipped(token: str) -> bool:
    """Whether a token may stand inside a name without breaking it, as "of" and "'s" do."""
    return token in SKIPPED or (len(token) == 1 and token not in NUMBERS)


@lru_cache(maxsize=1 << 16)
def words_of(name: str) -> tuple[str, ...]:
    """Words of a name, without those that are skipped.

    A single letter is a word where a hyphen ties it to the next one.

    >>> words_of("Heschl's gyrus"), words_of("Nucleus of the solitary tract"), words_of("n-back")
    (('heschl', 'gyrus'), ('nucleus', 'solitary', 'tract'), ('n', 'back'))
    """
    words = cased_words_of(name)
    return words if name.islower() else tuple(word.lower() for word in words)


@lru_cache(maxsize=1 << 16)
def cased_words_of(name: str) -> tuple[str, ...]:
    """Words of a name as `words_of` gives them, but abbreviations as they are written.

    >>> cased_words_of("MS lesion"), cased_words_of("Broca's Area V1")
    (('MS', 'lesion'), ('broca', 'area', 'v1'))
    """
    if _SMALL_LETTERS.fullmatch(name):  # nearly all are
        return tuple(token for token in name.split() if not is_skipped(token))
    tied = _TIED_LETTER.findall(name)
    tokens = plain(name, keep_case=True).split()
    return tuple(
        token if is_abbreviation(token) else token.lower()
        for token in tokens
        if not is_skipped(token.lower()) or token in tied
    )


def is_abbreviation(word: str) -> bool:
    """Whether the case of a word matters: at least two capitals in six characters or fewer.

    >>> [is_abbreviation(word) for word in ("MS", "GPi", "V1", "Down", "CORTEX", "AMYGDALA")]
    [True, True, False, False, True, False]
    """
    return len(word) <= LONGEST_ABBREVIATION and sum(map(str.isupper, word)) > 1


def is_short_form(word: str) -> bool:
    """Whether a word may be an abbreviation: up to 10 characters, and not only its first a capital.

    >>> [is_short_form(word) for word in ("AI", "mPFC", "V5", "Left", "left", "2")]
    [True, True, True, False, False, False]
    """
    if not 2 <= len(word) <= LONGEST_SHORT_FORM or not any(map(str.isupper, word)):
        return False
    return word[1:] != word[1:].lower() or any(map(str.isdigit, word))


def other_splits(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the spellings of a name that differ by a joined or split prefix.

    >>> other_splits(("prefrontal", "cortex")), other_splits(("fronto", "parietal", "network"))
    ([('pre', 'frontal', 'cortex')], [('frontoparietal', 'network')])
    """
    spellings = []
    for i, word in enumerate(words):
        if word in PREFIXES and i + 1 < len(words):
            spellings.append((*words[:i], word + words[i + 1], *words[i + 2 :]))
        if word.startswith(_PREFIXES):  # few do
            spellings += [
                (*words[:i], word[:cut], word[cut:], *words[i + 1 :])
                for cut in range(2, len(word) - SHORTEST_REST + 1)
                if word[:cut] in PREFIXES
            ]
    return spellings


# ---- forms of a word


def _forms(kind: str) -> dict[str, str]:
    return {row["form"]: row["other"] for row in _FORMS if row["kind"] == kind}


# Irregular plurals and words that end as plurals do; endings of plurals, of which the first that
# fits is used.
_FORMS = shipped_table("neurowhere.text", "forms.csv")
_IRREGULAR, _PLURALS = _forms("word"), _forms("ending")
# British to American, first the parts of words that change wherever they stand. Folding is for
# comparison only, so a rule may be wider than English as long as it confuses no two words.
_SPELLINGS = [
    (re.compile(pattern), american)
    for pattern, american in [
        (r"(?<=[a-z])(?:ae|oe)(?=[a-z]{2}|a$)|^(?:ae|oe)(?=[a-z]{4})", "e"),
        (r"(?<=[a-z][bdilmnptv])our(?=$|s$|ed$|al|ally$|ing|ist|less|hood)", "or"),
        (r"(?<=[a-z]{3})is(?=ation|ing$|ed$|e$|es$|er$|ers$)", "iz"),
        (r"(?<=[a-z]{3})ys(?=ing$|ed$|e$|er$)", "yz"),
        (r"(?<=[a-z]{2}[bntv])re(?=$|s$)", "er"),
        (r"(?<=[bcdnsuv]el|[gnv]al)l(?=ing|ed$|er)", ""),
        (r"^grey", "gray"),
        (r"^scept", "skept"),
        (r"sulph", "sulf"),
        (r"artefact", "artifact"),
        (r"ageing$", "aging"),
        (r"gramme(?=s?$)", "gram"),
        (r"(?<=[a-z]{2})logue(?=s?$)", "log"),
        (r"(?<=[cfl])ence(?=s?$)", "ense"),
        (r"gement", "gment"),
        (r"(?<=ma)mm(?=illar)", "m"),
        (r"neurone", "neuron"),
    ]
]
_BRITISH = re.compile("|".join(pattern.pattern for pattern, _ in _SPELLINGS))
_PLURAL_ENDINGS = tuple(_PLURALS)
SHORTEST_PLURAL = 4  # letters: "ms" and "ads" are not plurals


@lru_cache(maxsize=1 << 16)
def fold(word: str) -> str:
    """Key shared by the forms of a word: singular and plural, British and American.

    >>> [fold(word) for word in ("gyri", "cortices", "tumours", "haemorrhages", "grey", "pons")]
    ['gyrus', 'cortex', 'tumor', 'hemorrhage', 'gray', 'pons']
    """
    if len(word) < SHORTEST_PLURAL or not word.isalpha():
        return word
    return _american(_singular(word))


def _american(word: str) -> str:
    if not _BRITISH.search(word):
        return word
    for pattern, american in _SPELLINGS:
        word = pattern.sub(american, word)
    return word


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.endswith(_PLURAL_ENDINGS):  # most are singular
        return word
    plural = next(filter(word.endswith, _PLURAL_ENDINGS))
    return word[: -len(plural)] + _PLURALS[plural]


# ---- pieces of very long texts, one of which is in memory at a time

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
