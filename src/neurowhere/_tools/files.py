"""Files: compression by suffix, checksums, folders written whole or not at all."""

import glob
import gzip
import hashlib
import json
import lzma
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO, TypeVar

from neurowhere.exceptions import CorpusError, NeurowhereError, OutputError

if sys.platform != "win32":
    import fcntl

COMPRESSIONS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
INFO_NAME = "info.json"
PARTIAL, REPLACED = ".part", ".old"  # suffixes of what is being written, and of what it replaces
# What may come of parsing a file of JSON that someone has changed.
DAMAGE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)

Made = TypeVar("Made")


def expanded(path: str | os.PathLike[str]) -> Path:
    """Path with ~ written out; where no such user is known, it is part of a name.

    >>> expanded("~nobody-of-this-name/a").name
    'a'
    """
    with suppress(RuntimeError, ValueError):  # no such user, or no such name, with a NUL
        return Path(path).expanduser()
    return Path(path)


def bare_suffix(path: Path) -> str:
    """Suffix of a file name without its compression: ``.jsonl`` for ``a.jsonl.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a plain, gz or xz file as UTF-8 text; what is wrong with it becomes a one-line error."""
    opener = COMPRESSIONS.get(path.suffix.lower(), open)
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise CorpusError(
            f"{path} is truncated or damaged ({error}); fetch or compress it again"
        ) from error
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at {error.start}); "
            "convert it, for instance with iconv"
        ) from error


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def new_folder(folder: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` when the block ends without an error.

    The temporary folder is a hidden sibling, so the final rename is atomic: a reader sees
    the whole folder or none. A folder that exists is an error unless `overwrite`, or empty. Of
    two processes, the one that ends first wins, or with `overwrite` the one that ends last.
    """
    target = Path(folder)
    _check_free(target, overwrite)
    temporary = Path(_beside(target, tempfile.mkdtemp))
    try:
        with locked(temporary):
            yield temporary
            temporary.chmod(0o755)  # mkdtemp makes it private
            _check_free(target, overwrite)  # another process may have been faster
            _put_in_place(temporary, target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def new_file(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[TextIO]:
    """Yield a text file that becomes `path` when the block ends without an error.

    It is written beside it first, under a hidden name: a reader sees the whole file or none. A
    file that exists is an error unless `overwrite`.
    """
    target = Path(path)
    if target.is_dir() or (target.exists() and not overwrite):
        raise OutputError(f"{target} exists; choose another file or overwrite it")
    descriptor, name = _beside(target, tempfile.mkstemp)
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream, locked(partial):
            yield stream
            stream.close()  # written to its end, before it can be seen
            partial.chmod(0o644)  # mkstemp makes it private
            partial.replace(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Make a folder unless it is there, and refuse it to other processes until the block ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror}") from error
    with locked(folder) as is_ours:
        if is_ours is False:
            raise OutputError(
                f"another process is writing to {folder}; wait for it, or give another folder"
            )
        yield


@contextmanager
def locked(path: Path) -> Iterator[bool | None]:
    """Lock a file or a folder; the lock ends with the block, or with the process if it is killed.

    Yields True; False where another process has the lock; None where nothing can be locked.
    """
    if sys.platform == "win32":
        yield None
        return
    is_ours: bool | None = True
    descriptor = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_ours = False
        except OSError:  # some network file systems
            is_ours = None
        yield is_ours
    finally:
        os.close(descriptor)


def _check_free(target: Path, overwrite: bool) -> None:
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise OutputError(
            f"{target} exists and is not empty; choose another folder or overwrite it"
        )
    if target.exists() and not target.is_dir():
        raise OutputError(f"{target} is a file; give a folder to write to")


def _beside(target: Path, make: Callable[..., Made]) -> Made:
    """Make a temporary file or folder with a hidden name beside a target, as `tempfile` does."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        return make(PARTIAL, f".{target.name}-", target.parent)
    except OSError as error:
        raise OutputError(f"cannot write to {target.parent}: {error.strerror}") from error


def _put_in_place(temporary: Path, target: Path) -> None:
    """Rename a folder; an older one goes aside first, because to remove it takes time."""
    if not target.exists():
        temporary.rename(target)
        return
    old = temporary.with_suffix(REPLACED)
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        if not target.exists():
            old.rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes have left beside a target: what no living one has locked."""
    for suffix in (PARTIAL, REPLACED):
        for leftover in target.parent.glob(f".{glob.escape(target.name)}-????????{suffix}"):
            with suppress(OSError), locked(leftover) as is_ours:
                if is_ours and leftover.is_dir():
                    shutil.rmtree(leftover, ignore_errors=True)
                elif is_ours:
                    leftover.unlink()


def write_info(folder: Path, content: dict[str, Any]) -> None:
    """Write info.json: what made the folder, when, from what, and a checksum of every file."""
    checksums = {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != INFO_NAME and not path.name.startswith(".")
    }
    info = {
        "made_by": "neurowhere",
        "version": version("neurowhere"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        **content,
        "sha256": checksums,
    }
    partial = folder / f".{INFO_NAME}"
    partial.write_text(json.dumps(info, indent=2, ensure_ascii=False) + "\n", "utf-8")
    partial.replace(folder / INFO_NAME)  # a reader sees the old record or the new one


def read_info(
    folder: Path, kind: str, newest: int, error: type[NeurowhereError], remedy: str
) -> dict[str, Any]:
    """Read info.json and check that the folder is of this kind, of a known version, and unchanged.

    Parameters
    ----------
    folder : Path
    kind : str
        What the folder has to hold, such as "corpus".
    newest : int
        Highest format version that this program reads.
    error : type of NeurowhereError
        Raised, with one line, where the folder is missing, foreign, newer or damaged.
    remedy : str
        What to do about a damaged folder.
    """
    file = folder / INFO_NAME
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
