"""Sources: a text, a path or standard input, as given on a command line, read as texts."""

import re
import sys
from collections.abc import Iterator, Sequence
from os.path import lexists
from pathlib import Path
from typing import NamedTuple

from neurowhere._tools.files import bare_suffix, expanded
from neurowhere.corpus import iter_documents
from neurowhere.corpus.readers import jats, jsonl, tables
from neurowhere.corpus.readers.shards import find_shards
from neurowhere.exceptions import CorpusError, MissingExtraError, TextError
from neurowhere.inputs.files import SUFFIXES, TABLE_SUFFIXES, read_file, read_stream

STDIN = "-"
LONGEST_PATH = 1024  # characters; whatever is longer is a text
FORMATS = {suffix: reader.NAME for reader in (tables, jsonl, jats) for suffix in reader.SUFFIXES}
# Without a blank: a folder in it, or something after a point that could be a suffix.
PATH = re.compile(r"~?[^\s]*/[^\s]*|[^\s]+\.[A-Za-z]\w{0,4}")


class Text(NamedTuple):
    """A text and what it is called."""

    name: str
    content: str


class Failure(NamedTuple):
    """What could not be read, and why."""

    name: str
    reason: str


def read_text(source: str) -> Text:
    """Read the one text that an argument stands for: itself, a file, or "-"."""
    found = list(_iter_source(source))
    if len(found) > 1:
        raise TextError(f"expected one text, but {source} holds {len(found):,}; give one of them")
    text = found[0]
    if isinstance(text, Failure):
        raise TextError(text.reason)
    if not text.content.strip():
        raise TextError(f"expected a text, but {text.name} is empty; give some words")
    return text


def iter_texts(sources: Sequence[str]) -> Iterator[Text | Failure]:
    """Read many: files, folders and tables; what cannot be read is told and passed over.

    Of several arguments each has to be a path, or "-": words without quotes are a mistake.
    """
    if len(sources) > 1:
        _refuse_words(sources)
    for source in sources:
        for item in _tell_failure(source, _iter_source(source)):
            is_empty = isinstance(item, Text) and not item.content.strip()
            yield Failure(item.name, "no text") if is_empty else item


def holds_many(sources: Sequence[str]) -> bool:
    """Whether these arguments stand for a batch: several, a folder, or a table of texts."""
    if len(sources) != 1:
        return True
    path = as_path(sources[0])
    return path is not None and (path.is_dir() or bare_suffix(path) in TABLE_SUFFIXES)


def as_path(source: str) -> Path | None:
    """Path that an argument is, or None for a text.

    What looks like a path and does not exist is an error, rather than a text.

    >>> as_path("the left amygdala")
    >>> as_path("reprot.txt")
    Traceback (most recent call last):
    neurowhere.exceptions.TextError: reprot.txt looks like a path, but there is no such file; ...
    """
    if source == STDIN or not source.strip() or len(source) > LONGEST_PATH:
        return None
    path = expanded(source)
    if lexists(path):
        return path
    stripped = source.strip()
    if PATH.fullmatch(stripped) or ("\n" not in stripped and bare_suffix(path) in SUFFIXES):
        raise TextError(
            f"{source} looks like a path, but there is no such file; "
            "check its name, or give a text that looks like this on standard input (-)"
        )
    return None


def _iter_source(source: str) -> Iterator[Text | Failure]:
    if source == STDIN:
        yield Text("standard input", read_stream(sys.stdin.buffer, "standard input"))
        return
    path = as_path(source)
    if path is None:
        yield Text("the text", source)
    elif path.is_dir():
        yield from _iter_folder(path)
    else:
        yield from _iter_file(path)


def _iter_file(path: Path) -> Iterator[Text]:
    format = FORMATS.get(bare_suffix(path))
    if format is None:
        yield Text(path.name, read_file(path))
        return
    for document in iter_documents(path, format=format):
        yield Text(document.id, document.text)


def _iter_folder(folder: Path) -> Iterator[Text | Failure]:
    files = find_shards(folder, SUFFIXES)
    if not files:
        raise TextError(f"expected texts, but {folder} has no file ending in {', '.join(SUFFIXES)}")
    for file in files:
        yield from _tell_failure(str(file), _iter_file(file))


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
