"""How many documents of a corpus mention each term, and the terms that enough of them do."""

from itertools import compress

import numpy as np
from numpy.typing import NDArray

from neurowhere.corpus import Corpus
from neurowhere.exceptions import VocabularyError
from neurowhere.text.counter import TermCounter
from neurowhere.text.vocabulary import Vocabulary


def document_frequencies(vocabulary: Vocabulary, corpus: Corpus) -> NDArray[np.intp]:
    """Count the documents that mention each term, in their texts or, without them, their counts."""
    frequencies = np.zeros(len(vocabulary), dtype=np.intp)
    if corpus.texts is not None:
        for block in TermCounter(vocabulary).iter_count(corpus.texts):
            frequencies += block.getnnz(axis=0)
    elif corpus.counts:
        matrix = vocabulary.align(corpus.terms or []).matrix
        total = sum(counts @ matrix for counts in corpus.counts.values())
        frequencies += total.getnnz(axis=0)
    return frequencies


def frequent_terms(vocabulary: Vocabulary, corpus: Corpus, minimum: int = 1) -> Vocabulary:
    """Vocabulary of the terms that at least `minimum` documents of a corpus mention.

    >>> from neurowhere.corpus import Document
    >>> corpus = Corpus.from_documents([Document("1", {"title": "Amygdala and fear"})])
    >>> frequent_terms(Vocabulary(["amygdala", "insula"]), corpus).terms
    ('amygdala',)
    """
    is_frequent = document_frequencies(vocabulary, corpus) >= minimum
    if not is_frequent.any():
        raise VocabularyError(
            f"none of the {len(vocabulary):,} terms is in {minimum:,} of the {len(corpus):,} "
            "documents; lower the minimum or give another corpus"
        )
    return vocabulary.subset(compress(vocabulary.terms, is_frequent))
