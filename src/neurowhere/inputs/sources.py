"""Sources: a text, a path or standard input, as given on a command line, read as texts."""

import gzip
import json
import lzma
import os
import re
import sys
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from os.path import lexists
from pathlib import Path
from typing import IO, NamedTuple, SupportsInt

from neurowhere._tools.files import (
    COMPRESSIONS,
    CONVERT,
    DAMAGE,
    INFO_NAME,
    UTF16,
    bare_suffix,
    expanded,
)
from neurowhere.corpus.readers import files, jats, jsonl, tables
from neurowhere.corpus.readers.files import Skipped
from neurowhere.exceptions import CorpusError, DataWarning, MissingExtraError, TextError
from neurowhere.inputs.apart import article_texts, document_text
from neurowhere.inputs.prose import MEBI, article_prose, html_to_text
from neurowhere.text import TermCounter
from neurowhere.text.sections import read_sections

STDIN = "-"
MAX_BYTES = 20 * MEBI  # some ten times a long book
MAX_DOCUMENT_BYTES = 200 * MEBI  # nearly all of it pictures
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
DOCUMENTS = {".pdf": "pdf", ".docx": "docx"}
TABLE_SUFFIXES = (*tables.SUFFIXES, *jsonl.SUFFIXES)
SUFFIXES = (*files.SUFFIXES, *HTML_SUFFIXES, *DOCUMENTS, *jats.SUFFIXES, *TABLE_SUFFIXES)
LONGEST_PATH = 1024  # characters; whatever is longer is a text
TABLES = {suffix: reader for reader in (tables, jsonl) for suffix in reader.SUFFIXES}
# The number or the bullet of an item, which may follow a heading, and one that ends a passage.
_NUMBER = r"(?:\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]|[-–—*•·])"
ITEM = re.compile(rf"\s*(?:[A-Z][\w /&()-]{{0,60}}:)?\s*{_NUMBER}\s*")
LAST_ITEM = re.compile(rf"\n\s*((?:{_NUMBER}\s*|\())\Z")
HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
PATH_START = re.compile(r"\.{0,2}/|\.{1,2}(?:$|\\)|[A-Za-z]:[\\/]|~")
# Files that hold texts in a way that is not read, and what to do about them.
WORD_PROCESSORS = (".doc", ".odt", ".rtf", ".pages")
UNREAD = {
    **dict.fromkeys(WORD_PROCESSORS, "save it as .docx or .txt"),
    **dict.fromkeys((".xlsx", ".xls", ".ods", ".numbers"), "save it as CSV (UTF-8)"),
    **dict.fromkeys((".zip", ".tar", ".tgz"), "unpack it"),
    ".json": "write JSON lines (.jsonl), one object per line",
}


class Text(NamedTuple):
    """A text and what it is called."""

    name: str
    content: str


class Failure(NamedTuple):
    """What could not be read, and why."""

    name: str
    reason: str


def read_text(source: str) -> Text:
    """Read the one text that an argument stands for."""
    found = list(_iter_source(source))
    if len(found) > 1:
        raise TextError(f"expected one text, but {source} holds {len(found):,}; give one of them")
    text = found[0]
    if isinstance(text, Failure):
        raise TextError(text.reason)
    if not text.content.strip():
        raise TextError(f"expected a text, but {text.name} is empty; give some words")
    return text


def iter_texts(
    sources: Sequence[str], *, column: str | None = None, output: Path | None = None
) -> Iterator[Text | Failure]:
    """Read many texts; what cannot be read is a failure in its place.

    Of several sources, none may be a text: words without quotes are a mistake. `column` holds the
    texts of tables, and `output` is not read, even within a folder that is.
    """
    if len(sources) > 1:
        _refuse_words(sources)
    for source in sources:
        for item in _tell_failure(source, _iter_source(source, column, output)):
            is_empty = isinstance(item, Text) and not item.content.strip()
            yield Failure(item.name, "no text") if is_empty else item


def holds_many(sources: Sequence[str]) -> bool:
    """Return whether arguments stand for a batch: several, a folder, or a table of texts."""
    if len(sources) != 1:
        return True
    path = as_path(sources[0])
    return path is not None and (path.is_dir() or bare_suffix(path) in TABLE_SUFFIXES)


def as_path(source: str) -> Path | None:
    r"""Tell a path from a text.

    An argument is a path if it begins with ``/``, ``./``, ``../``, ``~`` or ``C:\``, or ends in a
    suffix that is read. Anything else is a text, also if a file is called like it.

    >>> as_path("the left amygdala"), as_path("go/no-go")
    (None, None)
    >>> as_path("reprot.txt")
    Traceback (most recent call last):
    neurowhere.exceptions.TextError: reprot.txt looks like a path, but there is no such file; ...
    """
    if len(source) > LONGEST_PATH:
        return None
    path, is_one_line = expanded(source), "\n" not in source
    suffix = bare_suffix(path) if is_one_line else ""
    is_path = bool(PATH_START.match(source)) or suffix in SUFFIXES
    if (is_path or suffix in UNREAD) and lexists(path):
        return path
    if not (is_path and is_one_line):
        return None
    raise TextError(
        f"{source} looks like a path, but there is no such file; "
        "check its name, or give a text that looks like this on standard input (-)"
    )


def _iter_source(
    source: str, column: str | None = None, output: Path | None = None
) -> Iterator[Text | Failure]:
    if source == STDIN:
        yield Text("standard input", read_stream(sys.stdin.buffer, "standard input"))
        return
    path = as_path(source)
    if path is None:
        _warn_of_file(source)
        yield Text("the text", html_to_text(source) if HTML.match(source) else source)
    elif path.is_dir():
        yield from _iter_folder(path, column, output)
    else:
        yield from _iter_file(path, column)


def _warn_of_file(text: str) -> None:
    if text.strip() and len(text) <= LONGEST_PATH and lexists(expanded(text)):
        warnings.warn(
            f"{text} is read as a text, although there is a file of this name; "
            f"for the file write ./{text}",
            DataWarning,
            stacklevel=2,
        )


def _iter_file(path: Path, column: str | None = None, name: str = "") -> Iterator[Text | Failure]:
    suffix = bare_suffix(path)
    try:
        if suffix in TABLES:
            yield from _iter_rows(path, column)
        elif suffix in jats.SUFFIXES:
            yield from (Text(*article) for article in article_texts(path))
        else:
            yield Text(name or path.name, read_file(path))
    except OSError as error:
        raise TextError(f"cannot read {path}: {error.strerror or error}") from error


class _Lost(Skipped):
    """Rows that cannot be read, each of which is told in its place among the others."""

    def __init__(self) -> None:
        super().__init__("rows")
        self.failures: list[Failure] = []

    def add(self, place: str, reason: object, count: SupportsInt = 1) -> None:
        super().add(place, reason, count)
        self.failures.append(Failure(place, str(reason)))

    def report(self, n_read: int, category: type[DataWarning] = DataWarning) -> None:
        """Say nothing: who asks for the texts is told with them."""


def _iter_rows(path: Path, column: str | None) -> Iterator[Text | Failure]:
    lost = _Lost()
    n_rows = 0
    for document in TABLES[bare_suffix(path)].iter_documents(path, column=column, skipped=lost):
        yield from lost.failures
        lost.failures.clear()
        n_rows += 1
        yield Text(document.id, document.text)
    yield from lost.failures
    if not n_rows and not lost.count:
        raise TextError(f"expected texts, but {path} holds none")


def _iter_folder(folder: Path, column: str | None, output: Path | None) -> Iterator[Text | Failure]:
    """Read the files of a folder and of those in it, in the order of their paths."""
    suffixes = (*SUFFIXES, *WORD_PROCESSORS)  # Word files get a message of their own
    found = sorted(file for file in _files_below(folder, output) if bare_suffix(file) in suffixes)
    if not found:
        raise TextError(f"expected texts, but {folder} has no file ending in {', '.join(SUFFIXES)}")
    for file in found:
        name = file.relative_to(folder).as_posix()
        yield from _tell_failure(str(file), _iter_file(file, column, name))


def _files_below(folder: Path, output: Path | None) -> Iterator[Path]:
    """Yield files, but for hidden ones and for what neurowhere writes itself."""
    ours = None if output is None else os.path.realpath(output)

    def shown(parent: str, names: list[str]) -> list[Path]:
        found = [Path(parent, name) for name in names if not name.startswith(".")]
        return [path for path in found if os.path.realpath(path) != ours]

    for parent, folders, names in os.walk(folder):  # os.walk follows no link to a folder
        if INFO_NAME in names and _is_ours(Path(parent, INFO_NAME)):
            folders.clear()
            continue
        folders[:] = [path.name for path in shown(parent, folders)]
        yield from filter(Path.is_file, shown(parent, names))


def _is_ours(info: Path) -> bool:
    with suppress(OSError, *DAMAGE):
        return bool(json.loads(info.read_bytes())["made_by"] == "neurowhere")
    return False


def _tell_failure(name: str, texts: Iterator[Text | Failure]) -> Iterator[Text | Failure]:
    """Yield the texts of a source, and the error that ends them, if one does."""
    try:
        yield from texts
    except (CorpusError, MissingExtraError, TextError) as error:
        yield Failure(name, str(error).removeprefix(f"{name}: "))


def _refuse_words(sources: Sequence[str]) -> None:
    for source in sources:
        if source != STDIN and as_path(source) is None:
            raise TextError(
                f"expected files where several arguments are given, but {source!r} is none; "
                "put a text in quotes"
            )


# ---- files of any kind


def read_file(path: Path) -> str:
    """Read the text of a file; what is wrong with it becomes a one-line error."""
    suffix = bare_suffix(path)
    if suffix in UNREAD:
        raise TextError(f"{path} is not read as it is; {UNREAD[suffix]}")
    opener = COMPRESSIONS.get(path.suffix.lower(), open)
    try:
        with opener(path, "rb") as stream:
            if suffix in DOCUMENTS:
                data = _read(stream, str(path), MAX_DOCUMENT_BYTES)
                return document_text(DOCUMENTS[suffix], data, str(path))
            text = read_stream(stream, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise TextError(f"{path} is truncated or damaged ({error}); compress it again") from error
    except OSError as error:
        raise TextError(f"cannot read {path}: {error.strerror or error}") from error
    if suffix in HTML_SUFFIXES:
        return document_text("html", text, str(path))
    return article_prose(text)


def read_stream(stream: IO[bytes], name: str) -> str:
    """Read text, in UTF-8 or with the mark of UTF-16."""
    data = _read(stream, name, MAX_BYTES)
    if data.startswith(UTF16):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise TextError(
            f"{name} is not text, but binary; expected a file like {', '.join(SUFFIXES)}"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(
            f"{name} is not UTF-8 text (byte {data[error.start]:#04x} at {error.start}); {CONVERT}"
        ) from error


def _read(stream: IO[bytes], name: str, most: int) -> bytes:
    data = stream.read(most + 1)
    if len(data) > most:
        raise TextError(
            f"{name} is larger than {most // MEBI} MiB, too much for one text; "
            "give many texts as the rows of a CSV or JSON-lines file"
        )
    return data


# ---- sentences


def split_sentences(text: Text, counter: TermCounter, *, findings: bool = False) -> list[Text]:
    """Cut a text at the ends of its sentences, as negation and sides are read.

    With `findings`, sentences of sections that hold none are left out: read alone, they would lose
    their heading. The number of an item, and a heading before it, belong to the item.

    >>> from neurowhere.text import Vocabulary
    >>> counter = TermCounter(Vocabulary(["fear"]))
    >>> split_sentences(Text("note", "No fear. Dr. Bell saw him!"), counter)
    [Text(name='note, sentence 1', content='No fear.'),
     Text(name='note, sentence 2', content='Dr. Bell saw him!')]
    >>> [content for _, content in split_sentences(Text("", "1. Fear. 2. No fear."), counter)]
    ['1. Fear.', '2. No fear.']
    """
    sections = read_sections(text.content) if findings else []
    return [
        Text(f"{text.name}, sentence {number}", content)
        for number, (start, end) in enumerate(pairwise(_cuts(text.content, counter)), start=1)
        for content in [text.content[start:end].strip()]
        if not any(each.start < start + len(content) <= each.end for each in sections)
    ]


def _cuts(text: str, counter: TermCounter) -> list[int]:
    """Return where sentences begin, and the end of the text; no item is cut from its number."""
    document = counter.read(text)
    cuts: list[int] = []
    for token, start in enumerate(document.starts):
        if token == 0:
            cuts.append(start)
        elif token in document.starts_of_sentences and not ITEM.fullmatch(text, cuts[-1], start):
            number = LAST_ITEM.search(text, cuts[-1], start)
            cuts.append(number.start(1) if number else start)
    return [*cuts, len(text)]
