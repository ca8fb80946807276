"""Read folders written by pubget (articles of PubMed Central), and serve as its plug-in.

`pubget run --neurowhere` ends by writing a neurowhere corpus. pubget finds the plug-in by the entry
point ``pubget.plugin_actions``.
"""

import argparse
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from neurowhere.corpus.documents import (
    SECTIONS,
    XYZ,
    Document,
    filled,
    no_peaks,
    parse_coordinates,
    parse_space,
)
from neurowhere.exceptions import CorpusError, DataWarning, NeurowhereError

NAME = "pubget"

# The tables that pubget's `extract_data` step writes and we read, with the columns that we need.
COLUMNS = {
    "metadata": ("pmcid", "pmid", "doi", "journal", "publication_year"),
    "text": ("pmcid", *SECTIONS),
    "coordinates": ("pmcid", *XYZ),
    "coordinate_space": ("pmcid", "coordinate_space"),
}
YEAR = re.compile(r"\d{4}")
CHUNK_ROWS = 100  # full texts: some ten megabytes


def detects(path: Path) -> bool:
    """Return whether a folder is, or holds, pubget's extracted data."""
    return bool(extracted_folders(path))


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield the articles in pubget's order; texts are streamed, the smaller tables are not."""
    folders = extracted_folders(path)
    if not folders:
        raise CorpusError(
            f"{path} holds no data extracted by pubget (a folder with "
            f"{', '.join(f'{table}.csv' for table in COLUMNS)}); give the folder of `pubget run`"
        )
    for folder in folders:
        yield from _iter_folder(folder)


def extracted_folders(path: Path) -> list[Path]:
    """Find the folders of extracted data at, in, or one level below a folder: one for each query.

    `pubget run DIR` writes ``DIR/query_<hash>/subset_<articles>_extractedData``. Where a query has
    both subsets, that of all articles is taken: it holds the one of articles with coordinates.
    """
    found: dict[Path, Path] = {}
    for pattern in ("", "*_extractedData", "*/*_extractedData"):
        # subset_allArticles sorts before subset_articlesWithCoords
        for folder in sorted(path.glob(pattern)) if pattern else [path]:
            if all((folder / f"{table}.csv").is_file() for table in COLUMNS):
                found.setdefault(folder.parent.resolve(), folder)  # an alias is a link
    return list(found.values())


def article_document(
    metadata: Mapping[str, Any],
    text: Mapping[Any, str | None],
    peaks: NDArray[np.float64],
    space: str,
    fallback_id: str = "",
) -> Document:
    """Make a document of an article, from its rows of pubget's tables of metadata and texts.

    `fallback_id` identifies an article that has neither PubMed nor PMC id, nor DOI.

    >>> article = article_document({"pmcid": 7, "publication_year": 2020}, {"title": "Pain"},
    ...                            np.zeros((1, 3)), "UNKNOWN")
    >>> article.id, article.space, dict(article.metadata)
    ('PMC7', 'unknown', {'pmcid': 'PMC7', 'year': 2020})
    """
    known = {key: str(value).strip() for key, value in metadata.items() if value}
    described: dict[str, Any] = {
        "pmid": known.get("pmid"),
        "pmcid": known.get("pmcid") and f"PMC{known['pmcid']}",
        "doi": known.get("doi"),
    }
    ids = [*described.values(), fallback_id]
    year = known.get("publication_year", "")
    described["journal"] = known.get("journal")
    described["year"] = int(year) if YEAR.fullmatch(year) else None
    described["license"] = known.get("license")
    sections = {name: (text.get(name) or "").strip() for name in SECTIONS}
    return Document(
        id=str(next(filter(None, ids), "")),
        sections=filled(sections),
        peaks=peaks,
        space=parse_space(space),
        metadata=filled(described),
    )


def _iter_folder(folder: Path) -> Iterator[Document]:
    metadata = _read(folder, "metadata").drop_duplicates("pmcid").set_index("pmcid", drop=False)
    described = metadata.to_dict("index")
    spaces = _read(folder, "coordinate_space").set_index("pmcid")["coordinate_space"].to_dict()
    peaks = _peaks_by_article(_read(folder, "coordinates"))
    for texts in _iter_chunks(folder, "text"):
        for text in texts.to_dict("records"):
            pmcid = text["pmcid"]
            yield article_document(
                described.pop(pmcid, {"pmcid": pmcid}),
                text,
                peaks.get(pmcid, no_peaks()),
                spaces.get(pmcid, ""),
            )
    if described:
        warnings.warn(
            f"left out {len(described)} articles of {folder} that have no row in text.csv "
            f"(first: PMC{next(iter(described))})",
            DataWarning,
            stacklevel=2,
        )


def _peaks_by_article(coordinates: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Return the peaks of each article, NaN where a table has something else than a number."""
    xyz = parse_coordinates(coordinates)  # (n_peaks, 3)
    rows = coordinates.groupby("pmcid", sort=False).indices
    return {str(pmcid): xyz[index] for pmcid, index in rows.items()}


def _read(folder: Path, table: str) -> pd.DataFrame:
    chunks = list(_iter_chunks(folder, table))
    return pd.concat(chunks) if chunks else pd.DataFrame(columns=list(COLUMNS[table]))


def _iter_chunks(folder: Path, table: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of a table as strings, some at a time, or raise a one-line error."""
    path = folder / f"{table}.csv"
    try:
        with pd.read_csv(path, dtype=str, keep_default_na=False, chunksize=CHUNK_ROWS) as chunks:
            for chunk in chunks:
                missing = [name for name in COLUMNS[table] if name not in chunk]
                if missing:
                    raise CorpusError(
                        f"{path} should have the columns {', '.join(COLUMNS[table])} but lacks "
                        f"{', '.join(missing)}; extract the data again with pubget"
                    )
                yield chunk
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise CorpusError(
            f"{path} is truncated or damaged ({error}); extract the data again with pubget"
        ) from error


# ---- plug-in

STEP_NAME = "neurowhere_corpus"
DESCRIPTION = "Write the extracted data as a corpus that neurowhere reads."


def actions() -> dict[str, list[Any]]:
    """Return what the plug-in adds to pubget: a step of `pubget run`, and a command."""
    return {"pipeline_steps": [CorpusStep()], "commands": [CorpusCommand()]}


def write_corpus(extracted: Path) -> tuple[Path, int]:
    """Write the corpus beside pubget's extracted data, and return it with pubget's exit code.

    Errors of the data are logged, so that the other steps of `pubget run` go on.
    """
    from pubget import ExitCode

    from neurowhere.corpus import read_corpus

    subset = extracted.name.removesuffix("_extractedData")
    folder = extracted.with_name(f"{subset}_neurowhereCorpus")
    log = logging.getLogger(__name__)
    try:
        corpus = read_corpus(extracted, format="pubget")
        corpus.save(folder, overwrite=True)
    except NeurowhereError as error:
        log.error("%s", error)
        return folder, int(ExitCode.ERROR)
    log.info("Wrote %s to %s", corpus, folder)
    return folder, int(ExitCode.COMPLETED)


class CorpusStep:
    """An optional last step of `pubget run`."""

    name = STEP_NAME
    short_description = DESCRIPTION

    def edit_argument_parser(self, argument_parser: argparse.ArgumentParser) -> None:
        """Add the option that asks for this step."""
        argument_parser.add_argument("--neurowhere", action="store_true", help=DESCRIPTION)

    def run(
        self, args: argparse.Namespace, previous_steps_output: Mapping[str, Path]
    ) -> tuple[Path | None, int]:
        """Write the corpus, or do nothing."""
        if not args.neurowhere:
            return None, 0
        return write_corpus(previous_steps_output["extract_data"])


class CorpusCommand:
    """`pubget neurowhere_corpus`, for data that have been extracted before."""

    name = STEP_NAME
    short_description = DESCRIPTION

    def edit_argument_parser(self, argument_parser: argparse.ArgumentParser) -> None:
        """Add the folder to read."""
        argument_parser.description = DESCRIPTION
        argument_parser.add_argument(
            "extracted_data_dir",
            type=Path,
            help="Directory created by pubget whose name ends with '_extractedData'. "
            "A sibling directory will be created to contain the corpus.",
        )

    def run(self, args: argparse.Namespace) -> int:
        """Write the corpus."""
        return write_corpus(args.extracted_data_dir)[1]
