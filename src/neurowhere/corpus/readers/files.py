"""Find files of documents and read them one by one; name and count damaged ones.

The simplest ones are plain texts, each of which is one document without coordinates: this module is
their reader too.
"""

import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import SupportsInt

from neurowhere._tools.files import bare_suffix, open_text
from neurowhere.corpus.documents import Document
from neurowhere.exceptions import CorpusError, DamageWarning, DataWarning

NAME = "text"
SUFFIXES = (".txt", ".text", ".md")
N_EXAMPLES = 3  # skipped items that a warning names


class Skipped:
    """Counts what a reader skips; `report` warns of it once, with the first places and reasons.

    >>> skipped = Skipped("lines")
    >>> skipped.add("a.jsonl:7", "not JSON")
    >>> skipped.summary(n_read=99)
    'skipped 1 of 100 lines (a.jsonl:7: not JSON)'
    """

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self.count = self.n_places = 0
        self.examples: list[str] = []

    def add(self, place: str, reason: object, count: SupportsInt = 1) -> None:
        """Count what was skipped at a place, such as a file and a line, and why."""
        self.count += int(count)
        self.n_places += 1
        if len(self.examples) < N_EXAMPLES:
            self.examples.append(f"{place}: {reason}")

    def summary(self, n_read: int) -> str:
        """Say in one line how many were skipped, of how many, where and why."""
        examples = "; ".join(self.examples) + (
            "; ..." if self.n_places > len(self.examples) else ""
        )
        return f"skipped {self.count:,} of {self.count + n_read:,} {self.unit} ({examples})"

    def report(self, n_read: int, category: type[DataWarning] = DataWarning) -> None:
        """Warn if anything was skipped; raise an error if nothing was left."""
        if self.count and not n_read:
            raise CorpusError(f"nothing could be read: {self.summary(n_read)}")
        if self.count:
            warnings.warn(self.summary(n_read), category, stacklevel=3)


def find_shards(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return a file, or the files of a folder sorted by name, that have one of the suffixes."""
    if path.is_file():
        return [path] if bare_suffix(path) in suffixes else []
    return sorted(
        file
        for file in path.iterdir()
        if bare_suffix(file) in suffixes and file.is_file() and not file.name.startswith(".")
    )


def iter_shards(
    path: Path,
    suffixes: tuple[str, ...],
    read: Callable[[Path, Skipped], Iterator[Document]],
    lines: Skipped | None = None,
    *,
    without: Collection[Path] = (),
) -> Iterator[Document]:
    """Yield the documents of a file, or of each shard of a folder in turn, one at a time.

    `read` takes a file and what to report skipped lines to, and yields documents. `without` are
    files of the folder that hold no documents. A shard that cannot be read is an error if it is the
    only one; among others it is skipped from the damaged place on, named and counted. So are lines.
    """
    found = [path] if path.is_file() else find_shards(path, suffixes)
    shards = [shard for shard in found if shard not in without]
    lines, files = lines or Skipped("lines"), Skipped("files")
    n_documents = n_files = 0
    for shard in shards:
        try:
            for document in read(shard, lines):
                yield document
                n_documents += 1
            n_files += 1
        except (CorpusError, OSError) as error:
            if len(shards) == 1:
                raise
            files.add(shard.name, str(error).removeprefix(str(shard)).lstrip(": "))
    lines.report(n_documents, DamageWarning)
    files.report(n_files, DamageWarning)


# ---- plain text


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
