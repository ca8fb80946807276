"""Sparse matrices in SciPy's npz files; a damaged file becomes a one-line error."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from scipy import sparse

from neurowhere.exceptions import CorpusError


def load_matrix(path: Path) -> sparse.csr_matrix:
    """Load a matrix; nothing is unpickled."""
    with _open_whole(path) as stream:
        matrix = sparse.csr_matrix(sparse.load_npz(stream))
        matrix.check_format(full_check=True)  # SciPy's products trust the indices
        matrix.sum(axis=1)  # fails where the arrays do not fit together all the same
        return matrix


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
        except OSError:
            raise
        except Exception as error:  # damaged files fail in many ways
            raise CorpusError(
                f"{path} is not a whole sparse matrix of SciPy's; fetch or make it again"
            ) from error
