"""Corpora: documents, peaks and texts from many sources."""

from neurowhere.corpus.corpus import Corpus, concatenate
from neurowhere.corpus.documents import SECTIONS, Document
from neurowhere.corpus.read import iter_documents, read_corpus
from neurowhere.corpus.review import Problem

__all__ = [
    "SECTIONS",
    "Corpus",
    "Document",
    "Problem",
    "concatenate",
    "iter_documents",
    "read_corpus",
]
