"""Write, then replace: a file or a folder appears whole or not at all, whatever ends the process.

A writer of NAME works on hidden siblings that share a random token::

    .NAME-1a2b3c4d.lock    held by the writer as long as it lives
    .NAME-1a2b3c4d.part    what is being written
    .NAME-1a2b3c4d.old     the folder that is being replaced, between two renames

One rename replaces a file. No rename replaces a folder that holds something, so that one goes aside
first; by then the new one is whole, and on the disk itself. What a dead writer left is told apart
by this: with ``.old``, its ``.part`` is whole and takes the place of a folder that is missing;
without, it is half of something and is removed. Nothing is removed unless NAME is there.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from neurowhere.exceptions import OutputError

__all__ = [
    "Draft",
    "drafted",
    "flush",
    "is_temporary",
    "locked",
    "publish",
    "recover",
    "sole_writer",
]

LOCK, PARTIAL, REPLACED = ".lock", ".part", ".old"
TOKEN_BYTES = 4
HIDDEN = re.compile(r"\.(?P<name>.+)-(?P<token>[0-9a-f]{8})\.(?:lock|part|old)", re.DOTALL)
# What file systems answer that cannot be told to write to the disk at once.
NO_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
LOCK_NAME = ".lock"
# What file systems that have no locks answer, such as some in a network.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


@dataclass(frozen=True)
class Draft:
    """A file or a folder on its way to its place.

    Attributes
    ----------
    target : Path
        Its place, with no link on the way.
    token : str
        Tells it from other drafts for the same place.
    """

    target: Path
    token: str

    @property
    def part(self) -> Path:
        """Where it is written."""
        return self._beside(PARTIAL)

    @property
    def old(self) -> Path:
        """Where the folder waits that it replaces."""
        return self._beside(REPLACED)

    @property
    def lock(self) -> Path:
        """Lock that says that its writer lives."""
        return self._beside(LOCK)

    def _beside(self, suffix: str) -> Path:
        return self.target.with_name(f".{self.target.name}-{self.token}{suffix}")

    def publish_file(self) -> None:
        """Put the file in its place; what is there is replaced, and lends it its permissions."""
        _keep_mode(self.target, self.part)
        flush(self.part)
        self.part.replace(self.target)
        flush(self.target.parent)

    def publish_folder(self, *, overwrite: bool) -> None:
        """Put the folder in its place; one that holds something is replaced if so asked.

        Of several writers that overwrite, the last one wins.
        """
        _keep_mode(self.target, self.part)
        _flush_tree(self.part)
        while not self._take_place(overwrite):
            _discard(self)  # another writer took the place first
            with suppress(FileNotFoundError):  # another writer has moved it
                self.target.rename(self.old)
        flush(self.target.parent)
        _discard(self)

    def _take_place(self, overwrite: bool) -> bool:
        """Rename the folder to its place; False where another one has to make room first."""
        try:
            _rename_folder(self.part, self.target)
        except OSError as error:
            # The folder may be gone by now.
            was_there = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
            if overwrite and (was_there or self.target.is_dir()):
                return False
            if self.old.is_dir() and not self.target.exists():
                self.old.rename(self.target)
            raise
        return True

    def settle(self) -> None:
        """Leave the target and nothing else: restore it if it is missing, then remove the rest."""
        if self.old.is_dir():
            if not _holds_something(self.target):
                _rename_folder(self.part if self.part.is_dir() else self.old, self.target)
                flush(self.target.parent)
            _discard(self)
        if self.part.is_dir():
            shutil.rmtree(self.part, ignore_errors=True)
        else:
            self.part.unlink(missing_ok=True)


@contextmanager
def drafted(target: Path) -> Iterator[Draft]:
    """Yield a draft, whose lock is held until the block ends; what is not published is removed."""
    with ExitStack() as stack:
        while True:
            draft = new_draft(target)
            if stack.enter_context(locked(draft.lock)) is not False:
                break
        stack.callback(draft.settle)
        yield draft


def new_draft(target: Path) -> Draft:
    """Make up a token."""
    return Draft(target, secrets.token_hex(TOKEN_BYTES))


def is_temporary(name: str) -> bool:
    """Return whether a file or folder of this name is there only while a process writes."""
    return name == LOCK_NAME or HIDDEN.fullmatch(name) is not None


def recover(folder: Path, name: str | None = None) -> None:
    """Settle what dead writers left in a folder, for one name or for all.

    What no living process has locked is dead.
    """
    with suppress(OSError):  # no such folder, or one that is not ours to read
        found = [HIDDEN.fullmatch(path.name) for path in folder.iterdir()]
        drafts = {Draft(folder / match["name"], match["token"]) for match in found if match}
        for draft in drafts:
            if name is None or draft.target.name == name:
                with suppress(OSError), locked(draft.lock) as is_ours:
                    if is_ours:
                        draft.settle()


def publish(folder: Path, target: Path) -> None:
    """Give a whole folder its name, unless a folder that holds something has it."""
    _flush_tree(folder)
    _rename_folder(folder, target)
    flush(target.parent)


def flush(path: Path) -> None:
    """Write a file or the entries of a folder to the disk itself, for the case of a power cut."""
    if os.name == "nt" and path.is_dir():
        return  # Windows does so by itself
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _rename_folder(folder: Path, target: Path) -> None:
    with suppress(OSError):
        target.rmdir()  # if it is empty, because not every system renames to it
    folder.rename(target)


def _flush_tree(folder: Path) -> None:
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            flush(Path(place, name))
        flush(Path(place))


def _discard(draft: Draft) -> None:
    """Remove what a draft replaced. Under another token, so that no half of it is ever restored."""
    if draft.old.is_dir():
        rubbish = new_draft(draft.target).part
        draft.old.rename(rubbish)
        shutil.rmtree(rubbish, ignore_errors=True)


def _holds_something(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()


def _keep_mode(target: Path, part: Path) -> None:
    """Let what was private stay private."""
    with suppress(FileNotFoundError):
        part.chmod(stat.S_IMODE(target.stat().st_mode))


# ---- locks


@contextmanager
def locked(path: Path) -> Iterator[bool | None]:
    """Hold a lock file, which is gone when the block ends.

    A process that is killed leaves the file, and the operating system frees it for the next one.

    Yields
    ------
    bool or None
        True; False where another process holds it; None where the file system has no locks.
    """
    from filelock import FileLock, Timeout  # late, because it takes a while

    lock, held = FileLock(path), None
    try:
        lock.acquire(blocking=False)
        held = True
    except Timeout:
        # A folder in which nothing can be made looks like a lock that is held: let it say why.
        with TemporaryFile(dir=path.parent):
            held = False
    except NotImplementedError:
        pass
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield held
    finally:
        if held:
            _unlink(path)  # first: who has opened it but not locked it must not have it
            lock.release()


def _unlink(path: Path) -> None:
    """Remove a lock; a disk that fails once is asked again. Windows removes it when it is free."""
    for _ in range(2):
        with suppress(OSError):
            path.unlink(missing_ok=True)
            return


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Make a folder unless it is there, and refuse it to other processes until the block ends."""
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            is_ours = stack.enter_context(locked(folder / LOCK_NAME))
        except OSError as error:
            raise OutputError(f"cannot write to {folder}: {error.strerror}") from error
        if is_ours is False:
            raise OutputError(
                f"another process is writing to {folder}; wait for it, or give another folder"
            )
        yield
