"""NeuroQuery's release: coordinates, titles, and term counts by section."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from neurowhere._tools.files import open_text
from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.documents import SECTIONS, load_matrix, load_shape
from neurowhere.corpus.readers.neurosynth import Release, find_release, find_releases, read_release
from neurowhere.exceptions import CorpusError

NAME = "neuroquery"
# neuroquery_dev_counts_title.npz, or ..._source-title_type-count_features.npz as released.
COUNTS_NAME = re.compile(
    rf".*(counts_|source-)(?P<section>{'|'.join(SECTIONS)})(_type-count_features)?\.npz"
)
VOCABULARY_NAME = re.compile(rf".*{NAME}.*_vocabulary\.txt(\.gz)?")


def detects(path: Path) -> bool:
    """Return whether the path is a file of NeuroQuery's, or a folder with its tables."""
    return bool(find_releases(_place(path), NAME))


def read(path: Path) -> Corpus:
    """Read a release, given as its folder or as one of its files.

    Its counts of title, abstract and keywords are read over the largest vocabulary that the
    release has counts for; terms that occur in no document are left out.
    """
    release = find_release(_place(path), NAME)
    corpus, kept = read_release(release, NAME)
    files = _find_counts(release)
    if not files:
        return corpus
    counts = {section: _load_counts(file, len(kept)) for section, file in files.items()}
    n_terms = next(iter(counts.values())).shape[1]
    vocabulary, terms = _read_vocabulary(release.folder, n_terms)
    used = np.unique(np.concatenate([matrix.indices for matrix in counts.values()]))
    names = [file.name for file in (*release.tables.values(), vocabulary, *files.values())]
    rows = np.flatnonzero(kept)
    return replace(
        corpus,
        sections=None,
        counts={section: _take(matrix, rows, used) for section, matrix in counts.items()},
        terms=[terms[column] for column in used],
        origin={"format": NAME, "files": names},
    )


def _place(path: Path) -> Path:
    """Return the folder of a vocabulary, whose name need not have the prefix; else the path."""
    return path.parent if VOCABULARY_NAME.fullmatch(path.name) else path


def _find_counts(release: Release) -> dict[str, Path]:
    """Find the count matrix of each section, over the largest vocabulary."""
    found = [
        (load_shape(file)[1], match["section"], file)
        for file in release.files
        if (match := COUNTS_NAME.fullmatch(file.name))
    ]
    widest = max((n_terms for n_terms, _, _ in found), default=0)
    sections = {section: file for n_terms, section, file in found if n_terms == widest}
    return {section: sections[section] for section in SECTIONS if section in sections}


def _load_counts(file: Path, n_documents: int) -> sparse.csr_matrix:
    matrix = load_matrix(file)
    if matrix.shape[0] != n_documents:
        raise CorpusError(
            f"{file}: expected one row for each of the {n_documents:,} rows of the metadata, "
            f"but it has {matrix.shape[0]:,}; take all files from one release"
        )
    return matrix


def _read_vocabulary(folder: Path, n_terms: int) -> tuple[Path, list[str]]:
    """Find the vocabulary with as many terms as the matrices have columns."""
    lengths = {}
    for file in sorted(folder.iterdir()):
        if VOCABULARY_NAME.fullmatch(file.name):
            with open_text(file) as stream:
                terms = stream.read().removesuffix("\n").split("\n")
            if len(terms) == n_terms:
                return file, terms
            lengths[file.name] = len(terms)
    found = ", ".join(f"{name} with {length:,}" for name, length in lengths.items()) or "none"
    raise CorpusError(
        f"{folder}: expected a *{NAME}*_vocabulary.txt with {n_terms:,} terms, one for each column "
        f"of the counts; found {found}"
    )


def _take(
    matrix: sparse.csr_matrix, rows: NDArray[np.intp], columns: NDArray[np.integer]
) -> sparse.csr_matrix:
    """Return some rows and columns of a matrix, as int32 without explicit zeros."""
    taken = sparse.csr_matrix(matrix[rows][:, columns], dtype=np.int32)
    taken.eliminate_zeros()
    return taken
