"""Several corpora made one."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from neurowhere.corpus.corpus import Corpus
from neurowhere.corpus.document import SECTIONS
from neurowhere.corpus.frames import documents_table, peaks_table
from neurowhere.corpus.problems import duplicates_problem
from neurowhere.exceptions import CorpusError


def concatenate(corpora: Sequence[Corpus]) -> Corpus:
    """Join corpora one below the other.

    Parameters
    ----------
    corpora : sequence of Corpus
        All with texts, or all with counts.

    Returns
    -------
    Corpus
        Of documents with the same id the first is kept. Texts stay if all corpora have texts;
        counts stay if all have counts, their terms matched by name (a term that a corpus does
        not list counts as absent from it).
    """
    if not corpora:
        raise CorpusError("expected at least one corpus to join, none came")
    with_texts = all(corpus.sections is not None for corpus in corpora)
    with_counts = all(corpus.counts is not None for corpus in corpora)
    if not (with_texts or with_counts):
        raise CorpusError(
            "expected corpora that all have texts or all have term counts, but none is common "
            "to all; count the terms of those that have texts"
        )
    seen: set[str] = set()
    parts, duplicates = [], []
    for corpus in corpora:
        old = corpus.documents["id"].isin(seen).to_numpy()
        duplicates += corpus.documents["id"][old].tolist()
        parts.append(corpus.select(~old))
        seen.update(corpus.documents["id"])
    terms = list(dict.fromkeys(term for corpus in parts for term in corpus.terms or ()))
    return Corpus(
        documents=documents_table(pd.concat([part.documents for part in parts])),
        peaks=peaks_table(pd.concat([part.peaks for part in parts])),
        sections=_join_sections(parts) if with_texts else None,
        counts=_join_counts(parts, terms) if with_counts else None,
        terms=terms if with_counts else None,
        origin={"joined": [part.origin for part in parts]},
        problems=duplicates_problem(duplicates, dropped=True),
    )


def _join_sections(parts: list[Corpus]) -> dict[str, list[str]]:
    def texts(part: Corpus, name: str) -> list[str]:
        return (part.sections or {}).get(name, [""] * len(part))

    names = [name for name in SECTIONS if any(name in (part.sections or {}) for part in parts)]
    return {name: [text for part in parts for text in texts(part, name)] for name in names}


def _join_counts(parts: list[Corpus], terms: list[str]) -> dict[str, sparse.csr_matrix]:
    names = [name for name in SECTIONS if any(name in (part.counts or {}) for part in parts)]
    column_of = {term: column for column, term in enumerate(terms)}
    return {
        name: sparse.csr_matrix(
            sparse.vstack([_counts_over(part, name, column_of) for part in parts])
        )
        for name in names
    }


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
