"""Plain text files: each is one document without coordinates."""

from collections.abc import Iterator
from pathlib import Path

from neurowhere._tools.files import open_text
from neurowhere.corpus.document import Document
from neurowhere.corpus.readers.shards import Skipped, find_shards, iter_shards
from neurowhere.exceptions import CorpusError

NAME = "text"
SUFFIXES = (".txt", ".text", ".md")


def detects(path: Path) -> bool:
    """Return whether the file, or a file of the folder, is named as plain text."""
    return bool(find_shards(path, SUFFIXES))


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield one document per file, identified by its name; files that are not text are skipped."""
    yield from iter_shards(path, SUFFIXES, _read_file)


def _read_file(path: Path, _: Skipped) -> Iterator[Document]:
    with open_text(path) as stream:
        text = stream.read()
    if "\0" in text:
        raise CorpusError(f"{path} is not text (it holds NUL characters); give a text file")
    yield Document(path.name, {"body": text.strip()})
