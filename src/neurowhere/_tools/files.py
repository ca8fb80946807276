"""Open files whatever their compression, and write them whole or not at all, with info.json."""

import codecs
import csv
import gzip
import hashlib
import json
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from neurowhere._tools.replacement import drafted, flush, recover
from neurowhere.exceptions import CorpusError, NeurowhereError, OutputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "COMPRESSIONS",
    "CONVERT",
    "DAMAGE",
    "INFO_NAME",
    "UTF16",
    "added_files",
    "bare_suffix",
    "digest",
    "expanded",
    "new_file",
    "new_folder",
    "open_text",
    "read_info",
    "release",
    "replaced",
    "sha256",
    "shipped_lines",
    "shipped_table",
    "write_info",
]

COMPRESSIONS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
INFO_NAME = "info.json"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CONVERT = "save it as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8"
LOOKS = 3  # looks at a folder before it counts as in use by others
# What may come of parsing a file of JSON that someone has changed.
DAMAGE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with ~ written out; where no such user is known, it is part of a name.

    >>> expanded("~nobody-of-this-name/a").name
    'a'
    """
    with suppress(RuntimeError, ValueError):  # no such user, or no such name, with a NUL
        return Path(path).expanduser()
    return Path(path)


def bare_suffix(path: Path) -> str:
    """Return the suffix of a file name without its compression: ``.jsonl`` for ``a.jsonl.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a plain, gz or xz file as text; what is wrong with it becomes a one-line error.

    The text is in UTF-8, or in UTF-16 if the file begins with its mark.
    """
    opener = COMPRESSIONS.get(path.suffix.lower(), open)
    try:
        with opener(path, "rb") as binary:
            encoding = "utf-16" if binary.peek(2).startswith(UTF16) else "utf-8-sig"
            with TextIOWrapper(binary, encoding) as stream:
                yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise CorpusError(
            f"{path} is truncated or damaged ({error}); fetch or compress it again"
        ) from error
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start}); "
            f"{CONVERT}"
        ) from error


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` when the block ends without an error.

    A reader sees the whole folder or none, and so does who comes after a crash or a power cut, see
    `neurowhere._tools.replacement`. A folder that exists is an error unless `overwrite`, or empty.
    Of two processes, the one that ends first wins, or with `overwrite` the one that ends last.
    """
    target = _place_for(folder)
    _check_free(folder, overwrite)
    try:
        with drafted(target) as draft:
            draft.part.mkdir()
            yield draft.part
            recover(draft.part)  # removes locks that an earlier run left
            draft.publish_folder(overwrite=overwrite)
    except OSError as error:
        _check_free(folder, overwrite)  # another process may have been faster
        raise _cannot_write(folder, error) from error


@contextmanager
def added_files(folder: Path, *, instead_of: str = "") -> Iterator[Path]:
    """Yield a temporary folder whose files go to `folder` when the block ends without an error.

    Other files of the folder stay, but for those that match the pattern `instead_of`. A reader sees
    each file whole, the old one or the new one.
    """
    try:
        recover(folder)
        with drafted(folder / "files") as draft:
            draft.part.mkdir()
            yield draft.part
            for stale in folder.glob(instead_of) if instead_of else ():
                stale.unlink()
            for file in draft.part.iterdir():
                flush(file)
                file.replace(folder / file.name)
            flush(folder)
    except OSError as error:
        raise _cannot_write(folder, error) from error


@contextmanager
def new_file(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[TextIO]:
    """Yield a text file that becomes `path` when the block ends without an error.

    It is written beside it first, under a hidden name: a reader sees the whole file or none. A
    file that exists is an error unless `overwrite`.
    """
    target = _place_for(path)
    if target.is_dir() or (target.exists() and not overwrite):
        raise OutputError(
            f"{os.fspath(path)} exists; choose another file or overwrite it (--overwrite)"
        )
    with replaced(target) as stream:
        text = TextIOWrapper(stream, "utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # what is buffered is written


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Yield a file of bytes that takes the place of `path` when the block ends without an error.

    A reader sees the old one or the new one. Several processes may replace it at the same time;
    what they leave when they are killed is not looked for here, see `recover`.
    """
    try:
        with drafted(path) as draft:
            with draft.part.open("xb") as stream:
                yield stream
            draft.publish_file()
    except OSError as error:
        raise _cannot_write(path, error) from error


def _place_for(path: str | os.PathLike[str]) -> Path:
    """Find where a link leads, make the folder above, and restore what a dead process took away."""
    try:
        place = Path(os.path.realpath(path))
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {Path(path).parent}: {error.strerror}") from error
    recover(place.parent, place.name)
    return place


def _check_free(folder: str | os.PathLike[str], overwrite: bool) -> None:
    target = Path(folder)
    if _names_in(target) and not overwrite:
        raise OutputError(
            f"{target} exists and is not empty; choose another folder or overwrite it (--overwrite)"
        )
    if os.path.ismount(folder):
        raise OutputError(f"{target} is where a disk is mounted; give the name of a folder in it")
    with suppress(FileNotFoundError):  # the current folder was removed
        if Path.cwd().is_relative_to(os.path.realpath(folder)):
            raise OutputError(f"{target} holds the current folder; give the name of a new one")
    # Another process may replace the folder at this very moment: what stays so is true.
    seen = [_names_in(target) for _ in range(LOOKS)]
    if all(names and INFO_NAME not in names for names in seen):
        raise OutputError(
            f"{target} has no {INFO_NAME}: neurowhere did not write it, and does not overwrite it; "
            "choose another folder"
        )


def _names_in(folder: Path) -> list[str]:
    """Return the names in a folder, none where there is no folder."""
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except NotADirectoryError as error:
        raise OutputError(f"{folder} is a file; give a folder to write to") from error
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise _cannot_write(folder, error) from error


def _cannot_write(path: str | os.PathLike[str], error: OSError) -> OutputError:
    return OutputError(f"cannot write {os.fspath(path)}: {error.strerror or error}")


@cache
def release() -> str:
    """Return the version of neurowhere, which takes milliseconds to find."""
    return version("neurowhere")


def write_info(folder: Path, content: dict[str, Any]) -> None:
    """Write info.json: what made the folder, when, from what, and a checksum of every file."""
    checksums = {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != INFO_NAME and not path.name.startswith(".")
    }
    info = {
        "made_by": "neurowhere",
        "version": release(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        **content,
        "sha256": checksums,
    }
    text = json.dumps(info, indent=2, ensure_ascii=False) + "\n"
    with replaced(folder / INFO_NAME) as stream:
        stream.write(text.encode("utf-8"))


def read_info(
    folder: Path, kind: str, newest: int, error: type[NeurowhereError], remedy: str
) -> dict[str, Any]:
    """Read info.json and check that the folder is of this kind, of a known version, and unchanged.

    `newest` is the highest format version that this program reads. An `error` that names the
    `remedy` is raised if the folder is missing, foreign, newer or damaged.
    """
    file = folder / INFO_NAME
    if not folder.exists():
        recover(folder.parent, folder.name)  # a writer may have died between two renames
    try:
        info = json.loads(file.read_text("utf-8"))
        found, version, checksums = info["kind"], int(info["format_version"]), dict(info["sha256"])
    except OSError as cause:
        raise error(
            f"expected the folder of a {kind}, but cannot read {file}: {cause.strerror}"
        ) from cause
    except DAMAGE as cause:
        raise error(f"{file} is damaged or not of neurowhere; {remedy}") from cause
    if found != kind:
        raise error(f"{folder} holds a {found}, not a {kind}; give the folder of a {kind}")
    if version < 1 or not checksums:
        raise error(f"{file} has no checksums or no sane version; {remedy}")
    if version > newest:
        raise error(
            f"{folder} has format version {version}, this program reads up to {newest}; "
            "upgrade neurowhere"
        )
    for name, checksum in checksums.items():
        if not (folder / name).is_file():
            raise error(f"{folder / name} is missing; {remedy}")
        if sha256(folder / name) != checksum:
            raise error(f"{folder / name} was changed since it was written; {remedy}")
    return dict(info)


# ---- digests


def sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest(*values: "str | bytes | NDArray[Any]") -> str:
    """Return the hexadecimal SHA-256 of texts, bytes and the bytes of arrays, one after another.

    >>> import numpy as np
    >>> digest("a", b"b", np.array([99, 100], np.uint8)) == digest("abcd")
    True
    """
    whole = hashlib.sha256()
    for value in values:
        if isinstance(value, str):
            whole.update(value.encode())
        elif isinstance(value, bytes):
            whole.update(value)
        else:
            whole.update(value.data if value.flags.c_contiguous else value.tobytes())
    return whole.hexdigest()


def shipped_lines(package: str, name: str) -> list[str]:
    """Read the lines of a file that a package of this one carries."""
    return (files(package) / name).read_text(encoding="utf-8").splitlines()


def shipped_table(package: str, name: str) -> list[dict[str, str]]:
    """Read the rows of a CSV file that a package of this one carries."""
    return list(csv.DictReader(shipped_lines(package, name)))
