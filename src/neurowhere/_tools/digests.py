"""Digests: checksums of files, and fingerprints of what a result depends on."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["digest", "sha256"]


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
