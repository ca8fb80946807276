"""Sparse matrices in SciPy's npz files; a damaged file becomes a one-line error."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy import sparse

from neurowhere.exceptions import CorpusError

DAMAGES = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


def load_matrix(path: Path) -> sparse.csr_matrix:
    """Load a matrix; nothing is unpickled."""
    with _open_whole(path) as stream:
        return sparse.csr_matrix(sparse.load_npz(stream))


def load_shape(path: Path) -> tuple[int, int]:
    """Load the number of rows and columns only."""
    with _open_whole(path) as stream, np.load(stream, allow_pickle=False) as arrays:
        n_rows, n_columns = arrays["shape"]
        return int(n_rows), int(n_columns)


@contextmanager
def _open_whole(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as stream:  # NumPy leaves a file that it opened and cannot read open
        try:
            yield stream
        except DAMAGES as error:
            raise CorpusError(
                f"{path} is not a whole sparse matrix of SciPy's; fetch or make it again"
            ) from error
