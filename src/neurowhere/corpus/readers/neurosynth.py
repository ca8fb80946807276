"""Neurosynth's release: tables of coordinates and metadata with one prefix; NeuroQuery's too."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neurowhere._tools.files import bare_suffix
from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.documents import (
    PEAK_COLUMNS,
    XYZ,
    documents_table,
    parse_coordinates,
    parse_space,
    peaks_table,
    read_table,
)
from neurowhere.corpus.readers.files import Skipped
from neurowhere.corpus.review import duplicates_problem
from neurowhere.exceptions import CorpusError

NAME = "neurosynth"
TABLE_NAME = re.compile(r"(?P<prefix>.+)_(?P<table>coordinates|metadata)\.tsv(\.gz)?", re.I)
SUFFIXES = (".tsv", ".npz", ".txt")


def detects(path: Path) -> bool:
    """Return whether the path is a table of Neurosynth's, or a folder with one."""
    return bool(find_releases(path, NAME))


def read(path: Path) -> Corpus:
    """Read a release, given as its folder or as one of its files; peaks stay as printed."""
    corpus, _ = read_release(find_release(path, NAME), NAME)
    return corpus


@dataclass(frozen=True)
class Release:
    """Where the files of one release are."""

    folder: Path
    prefix: str
    tables: dict[str, Path]

    @property
    def files(self) -> list[Path]:
        """All files of the folder that carry the release's prefix."""
        return sorted(file for file in self.folder.iterdir() if self.holds(file))

    def holds(self, file: Path) -> bool:
        """Return whether a file is part of the release, by its name."""
        return file.name.startswith(f"{self.prefix}_") and bare_suffix(file) in SUFFIXES


def find_releases(path: Path, name: str) -> list[Release]:
    """Return the releases in a folder, or the one of a file, whose prefix holds a name."""
    folder = path if path.is_dir() else path.parent
    tables: dict[str, dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        match = TABLE_NAME.fullmatch(file.name)
        if match and name in match["prefix"].lower():
            tables.setdefault(match["prefix"], {})[match["table"].lower()] = file
    releases = [Release(folder, prefix, found) for prefix, found in tables.items()]
    return [release for release in releases if path.is_dir() or release.holds(path)]


def find_release(path: Path, name: str) -> Release:
    """Return the one release at a path, or raise an error that says what is missing."""
    releases = find_releases(path, name)
    if len(releases) != 1:
        found = ", ".join(release.prefix for release in releases) or "none"
        raise CorpusError(
            f"{path}: expected the files of one release, *{name}*_coordinates.tsv.gz and "
            f"*{name}*_metadata.tsv.gz; found {found}; name one of its files"
        )
    missing = {"coordinates", "metadata"}.difference(releases[0].tables)
    if missing:
        raise CorpusError(
            f"{path}: {releases[0].prefix}_{missing.pop()}.tsv.gz is missing; put it beside "
            f"{next(iter(releases[0].tables.values())).name}"
        )
    return releases[0]


def read_release(release: Release, format: str) -> tuple[Corpus, "pd.Series[bool]"]:
    """Read documents with their titles and peaks, and which rows of the metadata they are.

    Rows that repeat an id are left out.
    """
    metadata = read_table(release.tables["metadata"], ["id", "title"])
    kept = ~metadata["id"].duplicated()
    documents = _documents(metadata[kept])
    corpus = Corpus(
        documents=documents,
        peaks=_read_peaks(release.tables["coordinates"], documents["id"]),
        sections={"title": documents["title"].tolist()},
        origin={"format": format, "files": [file.name for file in release.tables.values()]},
        problems=duplicates_problem(metadata["id"][~kept].tolist(), dropped=True),
    )
    return corpus, kept


def _documents(metadata: pd.DataFrame) -> pd.DataFrame:
    labels = metadata.get("space", pd.Series("", index=metadata.index))
    space, title = labels.map(parse_space), metadata["title"].str.strip()
    return documents_table(metadata.assign(pmid=metadata["id"], space=space, title=title))


def _read_peaks(path: Path, ids: "pd.Series[str]") -> pd.DataFrame:
    """Read the peaks of the given studies; skip those of others, and those that are no numbers."""
    table = read_table(path, PEAK_COLUMNS)
    xyz = parse_coordinates(table)  # (n_peaks, 3)
    finite = np.all(np.isfinite(xyz), axis=1)
    known = table["id"].isin(ids).to_numpy()
    skipped = Skipped("peaks")
    for good, reason in ((finite, "not three finite numbers"), (known, "not in the metadata")):
        if not good.all():
            first = table["id"][~good].iloc[0]
            skipped.add(f"study {first} in {path.name}", reason, np.count_nonzero(~good))
    skipped.report(int(np.count_nonzero(finite & known)))
    table[XYZ] = xyz
    return peaks_table(table.rename(columns={"table_id": "table"})[finite & known])
