"""Labels: the names of an atlas's regions, from files, tables, mappings or lists."""

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere._tools.files import bare_suffix
from neurowhere.exceptions import DataWarning, PartitionError

Labels = str | os.PathLike[str] | Sequence[str] | Mapping[int, str] | pd.DataFrame

BACKGROUND = 0


def read_labels(
    labels: Labels | None, known: NDArray[np.int64], *, maps: bool = False
) -> dict[int, str]:
    """Name each label; `known` are those of the image, or the numbers of its `maps` from 1."""
    if labels is None:
        return {int(value): f"label {value}" for value in known}
    if isinstance(labels, (str, os.PathLike)):
        labels = read_label_table(Path(labels))
    elif isinstance(labels, Mapping):
        labels = pd.DataFrame({"index": list(labels), "name": list(labels.values())})
    if not isinstance(labels, pd.DataFrame):
        return sequence_names(labels, known)
    names = table_names(labels)
    if maps and names.keys() == set(range(len(known))) and not is_background(names[0]):
        return {number + 1: name for number, name in names.items()}  # counted from 0
    return {value: name for value, name in names.items() if value != BACKGROUND}


def sequence_names(labels: Sequence[str], known: NDArray[np.int64]) -> dict[int, str]:
    """Name the labels in order, or 1, 2, ... where there are more or fewer names than labels."""
    names = [str(name) for name in labels]
    if names and is_background(names[0]):
        names = names[1:]
    values = known.tolist() if len(names) == len(known) else range(1, len(names) + 1)
    return dict(zip(values, names, strict=True))


def is_background(name: str) -> bool:
    """Whether a name is that of what is outside."""
    return name.lower() == "background"


def read_label_table(path: Path) -> pd.DataFrame:
    """Read a CSV or TSV file of labels; every cell stays text ("NA" may be a name)."""
    separator = "\t" if bare_suffix(path) == ".tsv" else ","
    try:
        return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise PartitionError(f"cannot read labels from {path}: {reason}") from error


def table_names(table: pd.DataFrame) -> dict[int, str]:
    """Names by label from a table with columns `index` and `name`; the first one counts."""
    columns = {str(column).strip().lower(): column for column in table.columns}
    if not {"index", "name"} <= set(columns):
        raise PartitionError(
            f"expected columns index and name in the labels; got {', '.join(columns) or 'none'}"
        )
    index = table[columns["index"]]
    numbers = pd.to_numeric(index, errors="coerce").to_numpy(np.float64)
    values = as_integers(numbers)
    if not np.array_equal(values, numbers):
        odd = index[values != numbers].iloc[0]
        raise PartitionError(f"expected whole numbers as the index of labels; got {odd!r}")
    names: dict[int, str] = {}
    for value, name in zip(values.tolist(), table[columns["name"]], strict=True):
        names.setdefault(value, str(name).strip())
    if len(names) < len(values):
        warnings.warn(
            f"{len(values) - len(names)} labels repeat the index of another; the first is used",
            DataWarning,
            stacklevel=2,
        )
    return names


def as_integers(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers as integers, which equal those that are whole and not too large, and no others."""
    with np.errstate(invalid="ignore"):  # of those that are infinite or too large
        return numbers.astype(np.int64)
