"""The tables of a corpus: documents, peaks and term counts, as they are read and kept."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import bare_suffix, open_text
from neurowhere.corpus.document import Document, Space
from neurowhere.exceptions import CorpusError

XYZ = ["x", "y", "z"]
PEAK_COLUMNS = ["id", *XYZ]
# Columns that every table of documents has, then those that come next where they are known.
DOCUMENT_COLUMNS = ["id", "title", "space", "source_space"]
KNOWN_COLUMNS = ["pmid", "pmcid", "doi", "year", "journal", "authors"]
LAST_YEAR = 9999
# Spellings in lower case without spaces and punctuation; "ale" is GingerALE's MNI template.
SPELLINGS: dict[str, Space] = {
    **dict.fromkeys(
        (
            "mni",
            "mni152",
            "mni1521mm",
            "mni1522mm",
            "mni152nlin6asym",
            "mni152nlin2009casym",
            "mni305",
            "icbm",
            "icbm152",
            "colin27",
            "ale2mm",
            "montrealneurologicalinstitute",
        ),
        "MNI",
    ),
    **dict.fromkeys(("tal", "talairach", "talairachtournoux", "tlrc", "t88"), "TAL"),
}


def documents_table(rows: pd.DataFrame | list[dict[str, Any]]) -> pd.DataFrame:
    """Return a tidy table of documents.

    Parameters
    ----------
    rows : DataFrame or list of dict
        What is known of each document.

    Returns
    -------
    DataFrame
        Known columns first, text without missing values, whole years.
    """
    # As objects, because whole numbers with missing values would become floats, "7.0".
    table = pd.DataFrame(rows, dtype=object).reset_index(drop=True)
    for name, default in (("id", ""), ("title", ""), ("space", "unknown")):
        table[name] = table[name].fillna(default) if name in table else default
    stated = table.get("source_space", table["space"])
    table["source_space"] = stated.fillna(table["space"])
    first = [*DOCUMENT_COLUMNS, *(name for name in KNOWN_COLUMNS if name in table)]
    names = [*first, *(name for name in table if name not in first)]
    return pd.DataFrame(
        {name: _years(table[name]) if name == "year" else _words(table[name]) for name in names}
    )


def peaks_table(peaks: pd.DataFrame) -> pd.DataFrame:
    """Return a tidy table of peaks.

    Parameters
    ----------
    peaks : DataFrame
        With columns id, x, y, z, and perhaps table.

    Returns
    -------
    DataFrame
        These columns only.
    """
    columns = {"id": _words(peaks["id"]), **{axis: peaks[axis].astype(np.float64) for axis in XYZ}}
    if "table" in peaks:
        columns["table"] = _words(peaks["table"])
    return pd.DataFrame(columns).reset_index(drop=True)


def documents_of(documents: Iterable[Document]) -> pd.DataFrame:
    """Return the table of some documents.

    Parameters
    ----------
    documents : iterable of Document

    Returns
    -------
    DataFrame
        One row per document, as from `documents_table`.
    """
    return documents_table([_document_row(document) for document in documents])


def peaks_of(documents: Sequence[Document]) -> pd.DataFrame:
    """Return the table of the peaks of some documents.

    Parameters
    ----------
    documents : sequence of Document

    Returns
    -------
    DataFrame
        One row per peak, as from `peaks_table`.
    """
    ids = np.repeat(
        np.array([document.id for document in documents], dtype=object),
        [len(document.peaks) for document in documents],
    )
    xyz = np.concatenate([np.empty((0, 3)), *(document.peaks for document in documents)])
    return peaks_table(pd.DataFrame({"id": ids, **dict(zip(XYZ, xyz.T, strict=True))}))


def parse_coordinates(table: pd.DataFrame) -> NDArray[np.float64]:
    """Parse coordinates written as text.

    Parameters
    ----------
    table : DataFrame
        With columns x, y, z.

    Returns
    -------
    (n, 3)
        NaN where a cell is not a number.
    """
    numbers = table[XYZ].apply(pd.to_numeric, errors="coerce")
    return np.asarray(numbers, dtype=np.float64)


def read_table(path: Path, expected: list[str]) -> pd.DataFrame:
    """Read a CSV or TSV file.

    Parameters
    ----------
    path : Path
        Plain or compressed.
    expected : list of str
        Columns that it must have.

    Returns
    -------
    DataFrame
        Every cell as text.
    """
    try:
        with open_text(path) as stream:
            table = pd.read_csv(
                stream.buffer,  # bytes, because a text stream would change "\r" within cells
                encoding="utf-8-sig",
                sep="\t" if bare_suffix(path) == ".tsv" else ",",
                dtype=str,
                keep_default_na=False,
            )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise CorpusError(f"{path} is not a whole table: {str(error).strip()}") from error
    check_columns(table, expected, str(path))
    return table


def check_columns(table: pd.DataFrame, expected: list[str], name: str) -> None:
    """Raise an error that names the columns a table lacks, if any.

    Parameters
    ----------
    table : DataFrame
    expected : list of str
        Columns that it must have.
    name : str
        Name of the table in the error.
    """
    missing = [column for column in expected if column not in table]
    if missing:
        raise CorpusError(
            f"{name}: expected columns {', '.join(expected)}; {', '.join(missing)} missing "
            f"among {', '.join(map(str, table.columns)) or 'none'}"
        )


def load_matrix(path: Path) -> sparse.csr_matrix:
    """Read a sparse matrix from SciPy's npz format; nothing is unpickled.

    Parameters
    ----------
    path : Path

    Returns
    -------
    csr_matrix
        Checked, so that products may trust its indices.
    """
    with _open_whole(path) as stream:
        matrix = sparse.csr_matrix(sparse.load_npz(stream))
        matrix.check_format(full_check=True)  # SciPy's products trust the indices
        matrix.sum(axis=1)  # fails where the arrays do not fit together all the same
        return matrix


def load_shape(path: Path) -> tuple[int, int]:
    """Read the numbers of rows and columns of a sparse matrix only.

    Parameters
    ----------
    path : Path

    Returns
    -------
    tuple of int
    """
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


def _document_row(document: Document) -> dict[str, Any]:
    metadata = {name: _cell(value) for name, value in document.metadata.items()}
    title = _cell(document.sections.get("title", "")) or metadata.get("title", "")
    return {**metadata, "id": document.id, "title": title, "space": document.space}


def _cell(value: object) -> object:
    """Return metadata as one table cell: lists are joined, text is put on one line."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value) if isinstance(value, Mapping) else value


def _words(column: "pd.Series[Any]") -> "pd.Series[Any]":
    return column.fillna("").astype(str)


def _years(column: "pd.Series[Any]") -> "pd.Series[Any]":
    years = pd.to_numeric(column, errors="coerce").astype(np.float64)
    is_year = years.between(1, LAST_YEAR) & (years == years.round())
    return years.where(is_year).astype("Int64")


def parse_space(label: object) -> Space:
    """Return the space that a source's label stands for.

    Parameters
    ----------
    label : object
        Of any type; only text can be a label.

    Returns
    -------
    "MNI", "TAL" or "unknown"
        Anything not among `SPELLINGS` is unknown.

    Examples
    --------
    >>> parse_space("MNI152_2mm"), parse_space("Talairach space"), parse_space("as in NeuroQuery")
    ('MNI', 'TAL', 'unknown')
    """
    spelling = re.sub(r"[^a-z0-9]+", "", str(label).lower()).removesuffix("space")
    return SPELLINGS.get(spelling, "unknown")
