"""Files of arrays: written whole or not at all, and checked when they are read."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere.exceptions import CorpusError, OutputError

Arrays = dict[str, NDArray[Any]]


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to one file, in place of an older one."""
    with replacement(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that becomes `path` in the end; a reader sees the old one or the new.

    Several processes may write the same one at a time, since each would write the same.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                yield stream
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def read_arrays(path: Path, *names: str) -> Arrays:
    """Read the arrays of a file, or some of them; the file's own checksums are compared."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names or arrays.files}
    except FileNotFoundError as error:
        raise CorpusError(
            f"{path} is missing; workers of a cluster have to see this folder too"
        ) from error
    except (OSError, BadZipFile, EOFError, KeyError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CorpusError(f"{path} is damaged ({reason})") from error


def to_bytes(content: object) -> NDArray[np.uint8]:
    """Plain data as JSON, in an array."""
    return np.frombuffer(json.dumps(content).encode("ascii"), np.uint8)


def from_bytes(array: NDArray[np.uint8]) -> Any:
    """Plain data that `to_bytes` put into an array."""
    return json.loads(array.tobytes())


def sparse_to_arrays(matrix: sparse.csr_matrix | sparse.csc_matrix) -> Arrays:
    """Arrays of a compressed matrix."""
    return {
        "data": matrix.data,
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int64),
        "shape": np.array(matrix.shape),
    }


def sparse_from_arrays(arrays: Arrays) -> tuple[Any, tuple[int, int]]:
    """Give what makes the matrix again: ``csr_matrix(*sparse_from_arrays(arrays))``."""
    rows, columns = arrays["shape"].tolist()
    indices = arrays["indices"].astype(np.int32)
    return (arrays["data"], indices, arrays["indptr"]), (rows, columns)
