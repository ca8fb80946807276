"""Checks of a model's folder: plain files of a sane size before reading, sound numbers after."""

import math
import stat
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import ModelError

__all__ = ["MAX_ARRAY_BYTES", "MAX_TEXT_BYTES", "check_files", "check_finite", "read_arrays"]

# Bounds on what is read. A linear model of 6,000 terms on a 4-mm grid has arrays of 0.7 GB.
MAX_ARRAY_BYTES = 8 * 2**30  # of the arrays of one file, as they are in memory
MAX_TEXT_BYTES = 256 * 2**20  # of a file of JSON or CSV
ARRAY_SUFFIXES = (".npy", ".npz")
READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def check_files(folder: Path, names: Iterable[str], remedy: str) -> None:
    """Refuse a folder in which a file that would be read is no plain file, or too large.

    A pipe would keep a reader waiting for ever, and so would some devices.

    Parameters
    ----------
    folder : Path
    names : iterable of str
        Files that a model may have; those that are missing are left to others.
    remedy : str
        What to do about it.
    """
    for name in names:
        file = folder / name
        try:
            found = file.stat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            raise ModelError(f"expected a plain file, but {file} is none; {remedy}")
        bound = MAX_ARRAY_BYTES if file.suffix in ARRAY_SUFFIXES else MAX_TEXT_BYTES
        if found.st_size > bound:
            raise ModelError(f"{file} has {found.st_size:,} bytes, more than {bound:,}; {remedy}")


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz or npy file, all finite; their size is checked before.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to array
        That of an npy file has the name "".
    """
    if path.suffix == ".npy":
        with path.open("rb") as stream:
            _check_size(path.name, [_size(stream)])
        arrays = {"": np.load(path, allow_pickle=False)}
    else:
        with zipfile.ZipFile(path) as archive:
            sizes = []
            for member in archive.namelist():
                with archive.open(member) as stream:
                    sizes.append(_size(stream))
        _check_size(path.name, sizes)
        with np.load(path, allow_pickle=False) as loaded:
            arrays = dict(loaded)
    check_finite(arrays)
    return arrays


def _size(stream: Any) -> int:
    """Return the bytes of an array by its header; what has no such header is refused."""
    version = np.lib.format.read_magic(stream)
    shape, _, dtype = READERS[version](stream)
    return math.prod(shape) * max(dtype.itemsize, 1)


def _check_size(name: str, sizes: list[int]) -> None:
    if min(sizes, default=0) < 0 or sum(sizes) > MAX_ARRAY_BYTES:
        raise ValueError(
            f"the arrays of {name} would take {sum(sizes):,} bytes, more than {MAX_ARRAY_BYTES:,}"
        )


def check_finite(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise an error for numbers that are missing or infinite.

    Parameters
    ----------
    arrays : mapping of str to array
    """
    for name, values in arrays.items():
        if values.dtype.kind in "fc" and not np.isfinite(values).all():
            raise ValueError(f"numbers in {name or 'an array'} that are not finite")
