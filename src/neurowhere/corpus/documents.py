"""Documents: one document, tables of many, and groups that no split may divide."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import bare_suffix, open_text
from neurowhere.exceptions import CorpusError

Space = Literal["MNI", "TAL", "unknown"]

# The parts of a document whose terms can be weighted apart, in reading order.
SECTIONS = ("title", "abstract", "keywords", "body")
MIN_SHARE = 0.8  # share of a document's peaks that its twin reports too
MIN_SHARED = 5  # peaks: fewer may be at the same place by chance
MAX_DOCUMENTS = 100  # documents that share a peak; a more frequent place shows nothing


def no_peaks() -> NDArray[np.float64]:
    """Return the peaks of a document that reports none: shape (0, 3)."""
    return np.empty((0, 3))


@dataclass(frozen=True, slots=True)
class Document:
    """A text and the peaks that it reports.

    Attributes
    ----------
    id : str
        Identifier, unique in its corpus: the source's own, or else the PubMed id.
    sections : mapping of str to str
        Text by section, a subset of `SECTIONS`; no text stands in two sections.
    peaks : array of shape (n_peaks, 3)
        Coordinates in mm, as printed, in `space`.
    space : "MNI", "TAL" or "unknown"
        Stereotactic space that the source states for the peaks.
    metadata : mapping
        Whatever else the source says, as text, numbers or lists of text: pmid, doi, year,
        journal... It becomes columns of the corpus' table of documents.
    """

    id: str
    sections: Mapping[str, str]
    peaks: NDArray[np.float64] = field(default_factory=no_peaks)
    space: Space = "unknown"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All sections in reading order, a blank line between them."""
        return "\n\n".join(self.sections[name] for name in SECTIONS if self.sections.get(name))


# ---- groups: documents that are one article, or that share their peaks


def group_documents(
    labels: NDArray[np.object_], xyz: NDArray[np.float64], rows: NDArray[np.intp]
) -> NDArray[np.object_]:
    """Return the group of each document: that of its label, or that of its twin.

    A document is the twin of another one that reports at least `MIN_SHARE` of its peaks, and at
    least `MIN_SHARED`: a reprint, or a second article about the same data. A group has the label of
    its first document. `rows` is the document of each peak of `xyz`.

    >>> peaks = np.arange(18.0).reshape(6, 3)
    >>> group_documents(np.array(["a", "b", "c"], dtype=object),
    ...                 np.concatenate([peaks, peaks, -peaks]), np.repeat([0, 1, 2], 6))
    array(['a', 'a', 'c'], dtype=object)
    """
    n = len(labels)
    codes = pd.factorize(labels)[0]
    first_row = np.unique(codes, return_index=True)[1]
    twins, others = find_twins(xyz, rows, n)
    ends = np.concatenate([np.arange(n), twins]), np.concatenate([first_row[codes], others])
    links = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    group = sparse.csgraph.connected_components(links, directed=False)[1]
    return labels[np.unique(group, return_index=True)[1]][group]


def find_twins(
    xyz: NDArray[np.float64], rows: NDArray[np.intp], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find documents that share most of their peaks with another one; return both, in pairs."""
    reports = _reports(xyz, rows, n)
    n_places = np.diff(reports.indptr)
    n_documents = np.bincount(reports.indices, minlength=reports.shape[1])
    common = reports[:, (n_documents > 1) & (n_documents <= MAX_DOCUMENTS)]
    shared = (common @ common.T).tocoo()
    enough = np.maximum(MIN_SHARED, MIN_SHARE * n_places[shared.row])
    found = (shared.row != shared.col) & (shared.data >= enough)
    return shared.row[found].astype(np.intp), shared.col[found].astype(np.intp)


def _reports(xyz: NDArray[np.float64], rows: NDArray[np.intp], n: int) -> sparse.csr_array:
    """Return a matrix (n_documents, n_places) with 1 where a document reports a place."""
    place = np.zeros(len(xyz), dtype=np.int64)
    for axis in xyz.T:
        codes, values = pd.factorize(axis)
        place = pd.factorize(place * len(values) + codes)[0]
    n_places = int(place.max(initial=-1)) + 1
    pairs = np.unique(rows * n_places + place) if n_places else place
    ones = np.ones(len(pairs), dtype=np.int32)
    return sparse.csr_array((ones, np.divmod(pairs, max(n_places, 1))), shape=(n, n_places))


# ---- tables, as they are read and kept

XYZ = ["x", "y", "z"]
PEAK_COLUMNS = ["id", *XYZ]
# Columns that every table of documents has, then those that come next where they are known.
DOCUMENT_COLUMNS = ["id", "title", "space", "source_space"]
KNOWN_COLUMNS = ["pmid", "pmcid", "doi", "year", "journal", "authors"]
LAST_YEAR = 9999
# Spellings in lower case without spaces and punctuation; "ale" is GingerALE's MNI template.
MNI_SPELLINGS = """
mni mni152 mni1521mm mni1522mm mni152nlin6asym mni152nlin2009casym mni305 icbm icbm152 colin27
ale2mm montrealneurologicalinstitute
"""
SPELLINGS: dict[str, Space] = {
    **dict.fromkeys(MNI_SPELLINGS.split(), "MNI"),
    **dict.fromkeys(("tal", "talairach", "talairachtournoux", "tlrc", "t88"), "TAL"),
}


def documents_table(rows: pd.DataFrame | list[dict[str, Any]]) -> pd.DataFrame:
    """Return a tidy table of documents: known columns first, no missing texts, whole years."""
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
    """Return a tidy table of peaks: the columns id, x, y, z, and table if it is known."""
    columns = {"id": _words(peaks["id"]), **{axis: peaks[axis].astype(np.float64) for axis in XYZ}}
    if "table" in peaks:
        columns["table"] = _words(peaks["table"])
    return pd.DataFrame(columns).reset_index(drop=True)


def documents_of(documents: Iterable[Document]) -> pd.DataFrame:
    """Return the table of some documents, one row each."""
    return documents_table([_document_row(document) for document in documents])


def peaks_of(documents: Sequence[Document]) -> pd.DataFrame:
    """Return the table of the peaks of some documents, one row each."""
    ids = np.repeat(
        np.array([document.id for document in documents], dtype=object),
        [len(document.peaks) for document in documents],
    )
    xyz = np.concatenate([np.empty((0, 3)), *(document.peaks for document in documents)])
    return peaks_table(pd.DataFrame({"id": ids, **dict(zip(XYZ, xyz.T, strict=True))}))


def parse_coordinates(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return the columns x, y, z of a table of text (n, 3); NaN if a cell is not a number."""
    numbers = table[XYZ].apply(pd.to_numeric, errors="coerce")
    return np.asarray(numbers, dtype=np.float64)


def read_table(path: Path, expected: list[str]) -> pd.DataFrame:
    """Read a CSV or TSV file, plain or compressed, that has some columns; every cell as text."""
    try:
        with open_text(path) as stream:
            table = pd.read_csv(
                stream.buffer,  # bytes, because a text stream would change "\r" within cells
                encoding=stream.encoding,
                sep="\t" if bare_suffix(path) == ".tsv" else ",",
                dtype=str,
                keep_default_na=False,
            )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise CorpusError(f"{path} is not a whole table: {str(error).strip()}") from error
    check_columns(table, expected, str(path))
    return table


def check_columns(table: pd.DataFrame, expected: list[str], name: str) -> None:
    """Raise an error that names the columns a table lacks, if any."""
    missing = [column for column in expected if column not in table]
    if missing:
        raise CorpusError(
            f"{name}: expected columns {', '.join(expected)}; {', '.join(missing)} missing "
            f"among {', '.join(map(str, table.columns)) or 'none'}"
        )


def load_matrix(path: Path) -> sparse.csr_matrix:
    """Read a sparse matrix from SciPy's npz format, and check it; nothing is unpickled."""
    with _open_whole(path) as stream:
        matrix = sparse.csr_matrix(sparse.load_npz(stream))
        matrix.check_format(full_check=True)  # SciPy's products trust the indices
        matrix.sum(axis=1)  # fails where the arrays do not fit together all the same
        return matrix


def load_shape(path: Path) -> tuple[int, int]:
    """Read the numbers of rows and columns of a sparse matrix only."""
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


def filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value}


def parse_space(label: object) -> Space:
    """Return the space that a source's label stands for, unknown if it is not among `SPELLINGS`.

    >>> parse_space("MNI152_2mm"), parse_space("Talairach space"), parse_space("as in NeuroQuery")
    ('MNI', 'TAL', 'unknown')
    """
    spelling = re.sub(r"[^a-z0-9]+", "", str(label).lower()).removesuffix("space")
    return SPELLINGS.get(spelling, "unknown")
