"""The two tables of a corpus, documents and peaks, in their tidy form."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import bare_suffix, open_text
from neurowhere.exceptions import CorpusError

XYZ = ["x", "y", "z"]
PEAK_COLUMNS = ["id", *XYZ]
# Columns that every table of documents has, then those that come next where they are known.
DOCUMENT_COLUMNS = ["id", "title", "space", "source_space"]
KNOWN_COLUMNS = ["pmid", "pmcid", "doi", "year", "journal", "authors"]
LAST_YEAR = 9999


def documents_table(rows: pd.DataFrame | list[dict[str, Any]]) -> pd.DataFrame:
    """Tidy table of documents: known columns first, text without missing values, whole years."""
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
    """Tidy table of peaks: id, x, y, z, and table where it is known."""
    columns = {"id": _words(peaks["id"]), **{axis: peaks[axis].astype(np.float64) for axis in XYZ}}
    if "table" in peaks:
        columns["table"] = _words(peaks["table"])
    return pd.DataFrame(columns).reset_index(drop=True)


def parse_coordinates(table: pd.DataFrame) -> NDArray[np.float64]:
    """Coordinates x, y, z written as text: (n, 3); NaN where a cell is not a number."""
    numbers = table[XYZ].apply(pd.to_numeric, errors="coerce")
    return np.asarray(numbers, dtype=np.float64)


def read_table(path: Path, expected: list[str]) -> pd.DataFrame:
    """Read a CSV or TSV, every cell as text, and check that it has the expected columns."""
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
    """Raise an error that names the columns a table lacks."""
    missing = [column for column in expected if column not in table]
    if missing:
        raise CorpusError(
            f"{name}: expected columns {', '.join(expected)}; {', '.join(missing)} missing "
            f"among {', '.join(map(str, table.columns)) or 'none'}"
        )


def _words(column: "pd.Series[Any]") -> "pd.Series[Any]":
    return column.fillna("").astype(str)


def _years(column: "pd.Series[Any]") -> "pd.Series[Any]":
    years = pd.to_numeric(column, errors="coerce").astype(np.float64)
    is_year = years.between(1, LAST_YEAR) & (years == years.round())
    return years.where(is_year).astype("Int64")
