"""Locks between processes, which end with the process that holds them."""

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from neurowhere.exceptions import OutputError

__all__ = ["locked", "sole_writer"]

LOCK_NAME = ".lock"
# What file systems that have no locks answer, such as some in a network.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


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
            with suppress(OSError):  # on Windows it is removed by being released
                path.unlink()  # first: who has opened it but not locked it must not have it
            lock.release()


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
