from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import VocabularyError
from neurowhere.text import Vocabulary
from neurowhere.text.building.sources import (
    Usage,
    abbreviations,
    document_frequencies,
    frequent_terms,
    texts_of,
)

VOCABULARY = Vocabulary(["amygdala", "fear", "insula"])
TEXTS = ["Amygdala, amygdalae", "fear of the amygdala", ""]


def corpus_of(texts):
    return Corpus.from_documents(Document(str(i), {"body": t}) for i, t in enumerate(texts))


def counts_corpus():
    title = sparse.csr_matrix(np.array([[1, 0], [0, 1], [0, 0]]))
    empty = Corpus.from_documents(Document(str(i), {"title": "Fear"}) for i in range(3))
    return replace(
        empty,
        sections=None,
        counts={"title": title, "abstract": title},
        terms=["amygdalae", "fear"],
    )


def test_documents_are_counted_once():
    corpus = corpus_of(TEXTS)
    assert document_frequencies(VOCABULARY, corpus).tolist() == [2, 1, 0]
    assert frequent_terms(VOCABULARY, corpus, 2).terms == ("amygdala",)
    with pytest.raises(VocabularyError, match="none of the 3 terms is in 9 of the 3 documents"):
        frequent_terms(VOCABULARY, corpus, 9)


def test_counts_stand_in_for_texts():
    assert document_frequencies(VOCABULARY, counts_corpus()).tolist() == [1, 1, 0]


def test_titles_stand_in_for_the_texts_of_counts():
    assert list(texts_of([counts_corpus(), corpus_of(TEXTS)])) == ["Fear"] * 3 + TEXTS


def test_abbreviations_with_one_meaning_are_found():
    usage = Usage().add(
        [
            *["the visual word form area (VWFA)"] * 4,
            *["the Visual Word-Form Area (vwfa)", "a visual word form area (VWFa)"],
            *["multiple sclerosis (MS) and 12 ms", "the middle frontal gyrus (MFG)"] * 4,
            *["the medial frontal gyrus (MFG)"],
            *["an anterior insula (AI)", "artificial intelligence (AI)"] * 3,
            *["the anterior cingulated cortex (ACC)"] * 3,
            *["the anterior cingulate cortex (ACC)"] * 5,
            *["locus coeruleus (LC)"] * 2,
        ]
    )
    vocabulary = Vocabulary(
        [
            *("anterior cingulate cortex", "anterior insula", "locus coeruleus"),
            *("middle frontal gyrus", "multiple sclerosis", "visual word form area"),
        ]
    )
    found = abbreviations(usage, vocabulary)
    assert found == {
        "VWFA": "visual word form area",  # however its case
        "MFG": "middle frontal gyrus",  # four times of five
        "ACC": "anterior cingulate cortex",
        "anterior cingulated cortex": "anterior cingulate cortex",  # misspelt, the same short form
    }  # AI has two meanings, MS two letters, LC too few documents


def test_capitals_are_kept_where_small_letters_are_another_word():
    usage = Usage().add([*["multiple sclerosis (MS), 12 ms"] * 3, *["a fusiform area (FFA)"] * 3])
    assert usage.spelling("MS") == "MS"
    assert usage.spelling("FFA") == usage.spelling("Ffa") == "ffa"
    assert usage.is_short_form("ffa")
    assert not usage.is_short_form("ms")
    assert not usage.is_short_form("area")


def test_long_forms_are_counted_in_documents():
    usage = Usage().add(["anterior insula (AI) and (AI)", "Anterior insula (aINS)"])
    assert usage.long_forms() == {"anterior insula": 2}
