"""Corpora: documents, peaks and texts from many sources."""

from neurowhere.corpus.corpus import Corpus, concatenate
from neurowhere.corpus.document import SECTIONS, Document
from neurowhere.corpus.problems import Problem
from neurowhere.corpus.read import iter_documents, read_corpus

__all__ = [
    "SECTIONS",
    "Corpus",
    "Document",
    "Problem",
    "concatenate",
    "iter_documents",
    "read_corpus",
]
