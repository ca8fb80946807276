"""Alterations: hypothesis strategies for inputs that are nearly right, and a mutator of bytes."""

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

LONGEST = 50_000  # characters of a long text: what the server takes
DEEP = 100_000  # brackets, which no recursive parser survives
ODD_TEXTS = [
    *("", " ", "\0", "\r", "\r\n", "\n\n", "\t", '"', "'", "|", ",", ";", "\\", "/", "../x", "-"),
    *("nan", "inf", "-Infinity", "1e999", "-0", "0x10", "١٢", "9" * 400, "9" * 5000, "1.5", "true"),
    *("\u2028", "\x1b[2J", "\x01", "\x1c", "ﬁ", "İ", "ß", "ŉ", "\u0301", "\u200b", "\u00ad\n"),
    *("\ufeff", "\U0010ffff", "=1+1", "<script>", "&amp;", "]]>", "{{", "%s", "id", "title", "x"),
]
# One word, or name, of each kind that is read, and what may stand before and after it.
ENDS = [
    *("weakness", "left hemianopia", "Broca's aphasia", "third nerve palsy", "locked-in syndrome"),
    *("amygdala", "hippocampus (HC)", "BA 44", "temporo-", "left MCA", "M1", "aneurysm", "stroke"),
    *(
        "left",
        "R",
        "Lt.",
        "bilateral",
        "L>R",
        "contralateral",
        "no",
        "denies",
        "spared",
        "possible",
    ),
    *(
        "cannot be excluded",
        "normal",
        "?",
        "hand",
        "leg weakness",
        "greater",
        "and",
        "of the",
        "with",
    ),
    *(
        "Findings:",
        "History",
        "mother",
        "hipocampus",
        "rigth",
        "kidney",
        "zzz",
        "2",
        "p < 0.05",
        ".",
    ),
    *("(", "-", "|", "a\tb", "<b>", "é", "ＡＣＣ", "x", "References"),
]
SPACES = ["", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\xa0"]
SPACES += ["\u2003", "\u2009", "\u2028", "\u2029", "\u200b", "\u3000", "\ufeff", ". ", ", ", " ."]
ODD_NUMBERS = [0, 1, -1, 2**31, 2**63, 2**64, 10**400, 1e308, -1e308, 5e-324, 0.5]
ODD_NUMBERS += [float("nan"), float("inf"), float("-inf")]

Bytes = st.SearchStrategy[bytes]
Draw = Callable[[st.SearchStrategy[Any]], Any]

texts = st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=30))
numbers = st.one_of(st.sampled_from(ODD_NUMBERS), st.integers(), st.floats())
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=4),
    st.dictionaries(texts, scalars, max_size=3),
    st.lists(st.lists(scalars, max_size=4), max_size=3),
)
deep = st.sampled_from(["[" * DEEP, '{"a":' * DEEP, "[" * 500 + "]" * 500]).map(str.encode)


def prose(words: Sequence[str]) -> st.SearchStrategy[str]:
    """Texts of given words, of odd ones and of punctuation; some are one piece, over and over."""
    gaps = st.sampled_from([" ", " ", " ", ", ", ". ", "; ", "\n", "-\n", "-", "/", " (", ") ", ""])
    pieces = st.lists(st.tuples(st.sampled_from([*words, *ODD_TEXTS]), gaps), max_size=25)
    text = pieces.map(lambda found: "".join(word + gap for word, gap in found))
    return st.one_of(text, text, text, st.text(), long(text))


def ended() -> st.SearchStrategy[str]:
    """Texts that begin and end in each kind of word, with each kind of white space around."""
    spaces, words = st.sampled_from(SPACES), st.sampled_from(ENDS)
    middle = st.sampled_from(["", " ", " of the left amygdala ", ". ", "\n"])
    parts = st.tuples(spaces, words, middle, st.one_of(st.just(""), words), spaces)
    return parts.map("".join)


def long(text: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts that repeat a piece, to find what takes more than linear time, with an odd end."""
    counts = st.sampled_from([30, 300, LONGEST])
    parts = st.tuples(text, text.map(lambda piece: piece[:3]), counts, text)
    return parts.map(lambda each: f"{each[0]}{(each[1] * each[2])[:LONGEST]}{each[3]}"[:LONGEST])


@st.composite
def altered_json(draw: Draw, content: Any) -> bytes:
    """JSON with one to three of its values replaced, removed or renamed; or that is no JSON."""
    content = json.loads(json.dumps(content))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(content))
        if not places:
            break
        parent, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["replace", "replace", "replace", "remove", "rename"])):
            case "remove":
                del parent[key]
            case "rename" if isinstance(parent, dict):
                parent[draw(texts)] = parent.pop(key)
            case _:
                parent[key] = draw(values)
    text = json.dumps(content, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")
    return draw(st.one_of(st.just(text), st.just(text), st.just(text), deep, cut(text)))


def _places(content: Any) -> "list[tuple[Any, Any]]":
    """Every value within a value, as its container and its key."""
    keys = content if isinstance(content, dict) else range(len(content))
    found = [(content, key) for key in keys] if isinstance(content, dict | list) else []
    for parent, key in list(found):
        if isinstance(parent[key], dict | list):
            found += _places(parent[key])
    return found


@st.composite
def altered_table(draw: Draw, rows: Sequence[Sequence[Any]], delimiter: str = ",") -> bytes:
    """Table with some cells replaced, and with rows removed, doubled or cut."""
    table = [[str(cell) for cell in row] for row in rows]
    for _ in range(draw(st.integers(1, 4))):
        row = draw(st.integers(0, len(table) - 1))
        if not table[row]:
            continue
        column = draw(st.integers(0, len(table[row]) - 1))
        match draw(st.sampled_from(["replace", "replace", "replace", "double", "cut", "remove"])):
            case "replace":
                table[row][column] = str(draw(st.one_of(texts, numbers)))
            case "double":
                table.append(list(table[row]))
            case "cut":
                del table[row][column]
            case "remove" if len(table) > 1:
                del table[row]
    stream = io.StringIO()
    if draw(st.booleans()):
        csv.writer(stream, delimiter=delimiter, escapechar="\\").writerows(table)
    else:  # nothing quoted, whatever is in it
        stream.write("\n".join(delimiter.join(row) for row in table))
    data = stream.getvalue().encode("utf-8", "replace")
    return draw(st.one_of(st.just(data), st.just(data), cut(data)))


@st.composite
def altered_arrays(draw: Draw, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """NumPy's file of arrays, of which some have other types, shapes or values, or are missing."""
    changed = {name: np.array(values) for name, values in arrays.items()}
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(arrays)))
        if name not in changed:
            continue
        values = changed[name]
        match draw(st.sampled_from(["type", "shape", "values", "values", "remove", "replace"])):
            case "type" if values.dtype.kind in "biuf":
                with np.errstate(invalid="ignore"):
                    changed[name] = values.astype(draw(st.sampled_from("?bHiqefdFSU")))
            case "shape":
                changed[name] = draw(st.sampled_from([values[..., None], values.ravel()[:-1]]))
            case "values" if values.size and values.dtype.kind in "iuf":
                changed[name] = _with_odd_value(draw, values)
            case "remove":
                del changed[name]
            case _:
                odd = [np.array(7), np.empty(0), np.array(["x"]), np.zeros((2, 3)), np.array(None)]
                changed[name] = draw(st.sampled_from(odd))
    stream = io.BytesIO()
    np.savez(stream, **changed)
    data = stream.getvalue()
    return draw(st.one_of(st.just(data), st.just(data), cut(data)))


def _with_odd_value(draw: Draw, values: NDArray[Any]) -> NDArray[Any]:
    kind = values.dtype
    odd = [0, 1, 127] if kind.kind in "iu" else [0.0, -1.0, 1e30, np.nan, np.inf]
    odd += [np.iinfo(kind).max, np.iinfo(kind).min] if kind.kind in "iu" else []
    changed = values.copy()
    where = slice(None) if draw(st.booleans()) else draw(st.integers(0, values.size - 1))
    changed.flat[where] = draw(st.sampled_from(odd))
    return changed


def cut(data: bytes) -> Bytes:
    """Keep some of the first bytes."""
    return st.integers(0, len(data)).map(lambda length: data[:length])


def mutate(data: bytes, rng: random.Random, words: Sequence[bytes]) -> bytes:
    """Change some bytes: one of them, a piece cut, moved or repeated, or a word put in."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        here, there = sorted(rng.randint(0, len(changed)) for _ in range(2))
        match rng.randrange(6):
            case 0 if changed:
                changed[min(here, len(changed) - 1)] = rng.randrange(256)
            case 1:
                del changed[here:there]
            case 2:
                changed[here:here] = changed[here : min(there, here + 100)] * rng.randint(1, 20)
            case 3:
                changed[here:there] = b""
            case 4:
                changed[here:here] = rng.randbytes(rng.randint(1, 4))
            case _:
                changed[here:here] = rng.choice(words or (b"\0",))
    return bytes(changed[:LONGEST])
