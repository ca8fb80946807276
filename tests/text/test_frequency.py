from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import VocabularyError
from neurowhere.text import Vocabulary
from neurowhere.text.frequency import document_frequencies, frequent_terms

VOCABULARY = Vocabulary(["amygdala", "fear", "insula"])
TEXTS = ["Amygdala, amygdalae", "fear of the amygdala", ""]


def test_documents_are_counted_once():
    corpus = Corpus.from_documents(Document(str(i), {"body": t}) for i, t in enumerate(TEXTS))
    assert document_frequencies(VOCABULARY, corpus).tolist() == [2, 1, 0]
    assert frequent_terms(VOCABULARY, corpus, 2).terms == ("amygdala",)
    with pytest.raises(VocabularyError, match="none of the 3 terms is in 9 of the 3 documents"):
        frequent_terms(VOCABULARY, corpus, 9)


def test_counts_stand_in_for_texts():
    title = sparse.csr_matrix(np.array([[1, 0], [0, 1], [0, 0]]))
    empty = Corpus.from_documents(Document(str(i), {}) for i in range(3))
    corpus = replace(
        empty,
        sections=None,
        counts={"title": title, "abstract": title},
        terms=["amygdalae", "fear"],
    )
    assert document_frequencies(VOCABULARY, corpus).tolist() == [1, 1, 0]
