"""The corpus: documents, their peaks, and their texts or term counts, in aligned tables."""

import html
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from neurowhere.corpus.documents import (
    DOCUMENT_COLUMNS,
    PEAK_COLUMNS,
    SECTIONS,
    XYZ,
    Document,
    check_columns,
    documents_of,
    documents_table,
    group_documents,
    peaks_of,
    peaks_table,
)
from neurowhere.corpus.review import Problem, duplicates_problem
from neurowhere.exceptions import CorpusError


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents, their texts, and the peaks that they report.

    Attributes
    ----------
    documents : DataFrame
        One row per document: id, title, space (in which its peaks are given here),
        source_space (in which the source gives them), and pmid, doi, year... where known.
        Text that is not known is "".
    peaks : DataFrame
        One row per peak: id of its document; x, y, z in mm; table where known.
    sections : dict of list of str, or None
        Text of each document by section (see `SECTIONS`), "" where it has none.
    counts : dict of sparse matrix of shape (n_documents, n_terms), or None
        How often each term occurs in each document, by section.
    terms : list of str, or None
        Names of the columns of `counts`.
    origin : dict
        Where the corpus comes from: format, source, files, warnings.
    problems : tuple of Problem
        Problems that were found, with their counts.

    Examples
    --------
    >>> corpus = Corpus.from_documents(
    ...     [
    ...         Document("1", {"title": "Fear"}, np.array([[-22.0, -4.0, -18.0]]), "MNI"),
    ...         Document("2", {"title": "Vision"}, np.array([[8.0, -92.0, 2.0], [0, -80, 6]])),
    ...     ]
    ... )
    >>> corpus
    Corpus: 2 documents, 3 peaks; texts of title
    >>> corpus.select([1]).peaks_by_document
    [array([[  8., -92.,   2.],
           [  0., -80.,   6.]])]
    """

    documents: pd.DataFrame
    peaks: pd.DataFrame
    sections: dict[str, list[str]] | None = None
    counts: dict[str, sparse.csr_matrix] | None = None
    terms: list[str] | None = None
    origin: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        check_columns(self.documents, DOCUMENT_COLUMNS, "documents")
        check_columns(self.peaks, PEAK_COLUMNS, "peaks")
        repeated = self.documents["id"].duplicated()
        if repeated.any():
            example = self.documents["id"][repeated].iloc[0]
            raise CorpusError(f"expected one document per id, but {example!r} has several")
        if (self.peak_rows < 0).any():
            example = self.peaks["id"].iloc[int(np.argmin(self.peak_rows))]
            raise CorpusError(f"expected peaks of the documents, but {example!r} is not one")
        self._check_sections()
        self._check_counts()

    def _check_sections(self) -> None:
        for name, texts in (self.sections or {}).items():
            if name not in SECTIONS or len(texts) != len(self):
                raise CorpusError(
                    f"expected {len(self):,} texts in sections among {', '.join(SECTIONS)}, "
                    f"but {name!r} has {len(texts):,}"
                )

    def _check_counts(self) -> None:
        if (self.counts is None) != (self.terms is None):
            raise CorpusError("term counts and the names of the terms go together; give both")
        expected = (len(self), len(self.terms or ()))
        for name, matrix in (self.counts or {}).items():
            if name not in SECTIONS or matrix.shape != expected:
                raise CorpusError(
                    f"expected counts of shape {expected} in sections among "
                    f"{', '.join(SECTIONS)}, but {name!r} has shape {matrix.shape}"
                )

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        *,
        keep_duplicates: bool = False,
        origin: dict[str, Any] | None = None,
    ) -> "Corpus":
        """Collect documents into a corpus; their peaks are taken as they are.

        Parameters
        ----------
        documents : iterable of Document
        keep_duplicates : bool
            Keep all documents with one id, the second as "id#2"; by default the first is kept.
        origin : dict, optional
            Where they come from.

        Returns
        -------
        Corpus
        """
        kept: dict[str, Document] = {}
        duplicates: list[str] = []
        for document in documents:
            if document.id in kept:
                duplicates.append(document.id)
                if not keep_duplicates:
                    continue
                names = (f"{document.id}#{number}" for number in count(2))
                document = replace(document, id=next(name for name in names if name not in kept))
            kept[document.id] = document
        unique = list(kept.values())
        return cls(
            documents=documents_of(unique),
            peaks=peaks_of(unique),
            sections=_columns_of_sections(unique),
            origin=origin or {},
            problems=duplicates_problem(duplicates, dropped=not keep_duplicates),
        )

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def peak_rows(self) -> NDArray[np.intp]:
        """Row in `documents` of each peak."""
        index = pd.Index(self.documents["id"])
        return np.asarray(index.get_indexer(pd.Index(self.peaks["id"])), dtype=np.intp)

    @cached_property
    def n_peaks(self) -> NDArray[np.intp]:
        """Number of peaks of each document."""
        return np.bincount(self.peak_rows, minlength=len(self))

    @cached_property
    def peaks_by_document(self) -> list[NDArray[np.float64]]:
        """Peaks of each document, arrays of shape (n_i, 3) in mm."""
        order = np.argsort(self.peak_rows, kind="stable")
        xyz = self.peaks[XYZ].to_numpy(np.float64)[order]  # (n_peaks, 3), document after document
        ends = np.cumsum(self.n_peaks)
        return [xyz[end - n : end] for n, end in zip(self.n_peaks, ends, strict=True)]

    @property
    def texts(self) -> list[str] | None:
        """Whole text of each document, or None where only counts are known."""
        if self.sections is None:
            return None
        rows = _rows_of_sections(self.sections, len(self))
        return ["\n\n".join(filter(None, texts.values())) for texts in rows]

    @cached_property
    def groups(self) -> NDArray[np.object_]:
        """Group of each document; no group may be split between training and test.

        Documents of one PubMed id, or of one id where that is unknown, and documents that share
        most of their peaks have the same group.
        """
        ids = self.documents["id"].to_numpy(object)
        pmids = self.documents.get("pmid", self.documents["id"]).to_numpy(object)
        xyz = self.peaks[XYZ].to_numpy(np.float64)
        return group_documents(np.where(pmids == "", ids, pmids), xyz, self.peak_rows)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """Documents without text and without any term."""
        empty = np.ones(len(self), dtype=bool)
        for texts in (self.sections or {}).values():
            empty &= [not text.strip() for text in texts]
        for matrix in (self.counts or {}).values():
            empty &= np.asarray(matrix.sum(axis=1)).ravel() == 0
        return empty

    def select(self, rows: ArrayLike | slice) -> "Corpus":
        """Return the corpus of some documents.

        Parameters
        ----------
        rows : slice, mask of shape (n_documents,), or indices without repeats

        Returns
        -------
        Corpus
            In the order of `rows`.
        """
        if not isinstance(rows, slice) and not np.size(rows):
            rows = slice(0)
        chosen = np.arange(len(self))[rows if isinstance(rows, slice) else np.asarray(rows)]
        new_row = np.full(len(self), -1)
        new_row[chosen] = np.arange(len(chosen))
        peak_rows = new_row[self.peak_rows]  # (n_peaks,), -1 where the document is left out
        order = np.argsort(peak_rows, kind="stable")
        kept = order[np.count_nonzero(peak_rows < 0) :]
        return replace(
            self,
            documents=self.documents.iloc[chosen].reset_index(drop=True),
            peaks=self.peaks.iloc[kept].reset_index(drop=True),
            sections=self.sections
            and {name: [texts[i] for i in chosen] for name, texts in self.sections.items()},
            counts=self.counts and {name: m[chosen] for name, m in self.counts.items()},
        )

    def iter_documents(self) -> Iterator[Document]:
        """Iterate over the documents, as `from_documents` takes them.

        Returns
        -------
        iterator of Document
        """
        if self.sections is None:
            raise CorpusError(f"expected texts, but there are none ({self!r}); use its counts")
        sections = _rows_of_sections(self.sections, len(self))
        return join_documents(self.documents, self.peaks_by_document, sections)

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the corpus as a folder of plain files, whole or not at all.

        Parameters
        ----------
        folder : path
        overwrite : bool
            Whether to replace a folder that exists.
        """
        from neurowhere.corpus.folder import write

        write(self, folder, overwrite=overwrite)

    def to_nimads(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the corpus as a NIMADS studyset, which NiMARE and NeuroStore read.

        A document becomes a study. Its peaks become one analysis for each of its tables, or one if
        these are not known, each with the texts, where NiMARE looks for them. Term counts are left
        out.

        Parameters
        ----------
        path : path
            JSON file.
        overwrite : bool
            Whether to replace a file that exists.
        """
        from neurowhere.corpus.readers.nimads import write

        write(self, path, overwrite=overwrite)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} documents, {len(self.peaks):,} peaks"]
        if self.sections is not None:
            parts.append(f"texts of {', '.join(self.sections) or 'nothing'}")
        if self.counts is not None:
            parts.append(f"counts of {len(self.terms or ()):,} terms in {', '.join(self.counts)}")
        if "format" in self.origin:
            parts.append(f"from {self.origin['format']}")
        if self.problems:
            parts.append(f"{len(self.problems)} kinds of problems")
        return "Corpus: " + "; ".join(parts)

    def _repr_html_(self) -> str:
        problems = "".join(f"<li>{html.escape(str(problem))}</li>" for problem in self.problems)
        table = self.documents.assign(n_peaks=self.n_peaks).head().to_html(notebook=True)
        return f"<p>{html.escape(repr(self))}</p><ul>{problems}</ul>{table}"


def join_documents(
    documents: pd.DataFrame, peaks: list[NDArray[np.float64]], sections: Iterable[Mapping[str, str]]
) -> Iterator[Document]:
    """Yield documents, made of rows of a table and the peaks (n_i, 3) and texts of each."""
    rows = documents.to_dict("records")
    for row, row_peaks, texts in zip(rows, peaks, sections, strict=True):
        known = {name: texts[name] for name in SECTIONS if texts.get(name)}
        metadata = {
            str(key): value
            for key, value in row.items()
            if key not in ("id", "space") and value is not pd.NA and value != ""
        }
        yield Document(row["id"], known, row_peaks, row["space"], metadata)


def _columns_of_sections(documents: list[Document]) -> dict[str, list[str]]:
    """Return texts by section, for the sections that some document has."""
    present = {name for document in documents for name, text in document.sections.items() if text}
    return {
        name: [document.sections.get(name, "") for document in documents]
        for name in SECTIONS
        if name in present
    }


def _rows_of_sections(columns: Mapping[str, list[str]], n: int) -> Iterator[dict[str, str]]:
    """Yield the sections of each of n documents, in reading order."""
    names = [name for name in SECTIONS if name in columns]
    return ({name: columns[name][row] for name in names} for row in range(n))


# ---- several corpora made one


def concatenate(corpora: Sequence[Corpus]) -> Corpus:
    """Join corpora one below the other; of documents with the same id the first is kept.

    Texts stay if all corpora have texts. Counts stay if all have counts: their terms are matched by
    name, and a term that a corpus does not list counts as absent from it.
    """
    if not corpora:
        raise CorpusError("expected at least one corpus to join, none came")
    parts, duplicates = _each_once(corpora)
    sections, (terms, counts) = _join_sections(parts), _join_counts(parts)
    if sections is None and counts is None:
        raise CorpusError(
            "expected corpora that all have texts or all have term counts, but none is common "
            "to all; count the terms of those that have texts"
        )
    return Corpus(
        documents=documents_table(pd.concat([part.documents for part in parts])),
        peaks=peaks_table(pd.concat([part.peaks for part in parts])),
        sections=sections,
        counts=counts,
        terms=terms,
        origin={"joined": [part.origin for part in parts]},
        problems=duplicates_problem(duplicates, dropped=True),
    )


def _each_once(corpora: Sequence[Corpus]) -> tuple[list[Corpus], list[str]]:
    """Drop documents that an earlier corpus has; return the corpora, and the dropped ids."""
    seen: set[str] = set()
    parts, duplicates = [], []
    for corpus in corpora:
        ids = corpus.documents["id"]
        old = ids.isin(seen).to_numpy()
        duplicates += ids[old].tolist()
        parts.append(corpus.select(~old))
        seen.update(ids)
    return parts, duplicates


def _join_sections(parts: list[Corpus]) -> dict[str, list[str]] | None:
    if any(part.sections is None for part in parts):
        return None

    def texts(part: Corpus, name: str) -> list[str]:
        return (part.sections or {}).get(name, [""] * len(part))

    names = [name for name in SECTIONS if any(name in (part.sections or {}) for part in parts)]
    return {name: [text for part in parts for text in texts(part, name)] for name in names}


def _join_counts(
    parts: list[Corpus],
) -> tuple[list[str] | None, dict[str, sparse.csr_matrix] | None]:
    """Return the terms of all corpora, and their counts; None where one has no counts."""
    if any(part.counts is None for part in parts):
        return None, None
    terms = list(dict.fromkeys(chain.from_iterable(part.terms or () for part in parts)))
    present: set[str] = set().union(*(part.counts or () for part in parts))
    names = [name for name in SECTIONS if name in present]
    column_of = dict(zip(terms, range(len(terms)), strict=True))
    return terms, {name: _stacked(parts, name, column_of) for name in names}


def _stacked(parts: list[Corpus], name: str, column_of: dict[str, int]) -> sparse.csr_matrix:
    return sparse.csr_matrix(sparse.vstack([_counts_over(part, name, column_of) for part in parts]))


def _counts_over(part: Corpus, name: str, column_of: dict[str, int]) -> sparse.csr_matrix:
    """Put the counts of one section in the columns that `column_of` gives each term."""
    shape = (len(part), len(column_of))
    if not part.counts or name not in part.counts:
        return sparse.csr_matrix(([], ([], [])), shape, dtype=np.int32)
    old = part.counts[name]
    columns = np.array([column_of[term] for term in part.terms or ()], dtype=np.int64)
    moved = sparse.csr_matrix((old.data, columns[old.indices], old.indptr), shape)
    moved.sort_indices()
    return moved
