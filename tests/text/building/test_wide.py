import csv
import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from scipy import sparse

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import VocabularyError
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.building.anatomy import (
    ATLAS_LABELS,
    COGNITIVE_ATLAS,
    NEURONAMES,
    NIF,
    TERM_CATEGORIES,
    TERM_SYNONYMS,
    TERMS,
    WIDE_SOURCES,
    WIKIPEDIA,
)
from neurowhere.text.building.wide import (
    Usage,
    abbreviations,
    build_wide,
    document_frequencies,
    frequent_terms,
    texts_of,
)
from neurowhere.text.vocabulary import CATEGORIES, generic_words

TABLE = files("neurowhere.text.building") / "names.csv"


@pytest.fixture
def sources(tmp_path):
    """A folder with a little of every list."""
    terms = ["amygdala", "ms", "human", "memory task", "medial", "medical", "fear", "hapax", "film"]
    content = {
        ATLAS_LABELS: "atlas,index,label\naal,1,Frontal_Sup_2_L\naal,2,Amygdala_R\n",
        WIKIPEDIA: json.dumps({"Forebrain": ["Superior colliculus"]}),
        NIF: "label,synonyms\nAmygdala,Amygdaloid body\n",
        TERM_CATEGORIES: "term,normalized_term,category\nFear,fear,psychology\n",
        TERMS: "\n".join(terms) + "\n",
        TERM_SYNONYMS: '{"medial": "medical"}',
        NEURONAMES: "id,name,synonym,kind\n1,superior colliculus,superior colliculus,\n"
        "1,superior colliculus,colliculus superior,latin\n2,zona incerta,zona incerta,\n",
        COGNITIVE_ATLAS: "id,name,alias,length,ratio\ntrm_1,verb generation task,verb generation "
        "task,20,100\ndso_2,flying phobia,flying phobia,13,100\ntrm_3,irritability,grumpy,6,30\n",
    }
    assert set(content) == set(WIDE_SOURCES)
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def corpora():
    studies = ["human fear memory task medial film amygdala and 12 ms"] * 3
    texts = [
        "n-back, FEF and V1; the frontal eye field (FEF); multiple sclerosis (MS), 9 ms",
        "the made-up network (MUN); MUN; flying phobia; zona incerta; superior colliculi",
        "verb generation tasks; agraphia; PD",
    ] * 3
    return [
        Corpus.from_documents(Document(str(i), {"body": text}) for i, text in enumerate(some))
        for some in (studies, texts)
    ]


@pytest.fixture
def vocabulary(sources, corpora):
    return build_wide(sources, corpora, minimum=3)


def test_names_of_all_lists_are_there_with_categories(vocabulary):
    expected = {
        "agraphia": "symptom",  # of the reviewed table
        "amygdala": "anatomy",
        "fear": "function",  # of NeuroQuery's lists
        "flying phobia": "disorder",  # of the Cognitive Atlas
        "frontal eye field": "anatomy",
        "human": "generic",
        "made up network": "anatomy",  # that texts define an abbreviation for
        "multiple sclerosis": "disorder",
        "n-back": "task",
        "superior colliculus": "anatomy",
        "superior frontal gyrus": "anatomy",  # of an atlas, though no text has it
        "zona incerta": "anatomy",
        "foramen of monro": "anatomy",  # a place that is always kept
    }
    assert {term: vocabulary.category(term) for term in expected if term in vocabulary} == expected


def test_places_that_are_always_kept_are_names_of_the_table():
    rows = csv.DictReader(TABLE.read_text("utf-8").splitlines())
    places = {row["term"] for row in rows if row["category"] == "anatomy"}
    assert set(TABLE.with_name("kept.txt").read_text("utf-8").split("\n")) - places == {""}


def test_what_is_not_used_is_left_out(vocabulary):
    assert not {"hapax", "medical", "ketamine", "dentate gyrus"} & set(vocabulary)
    assert "irritability" not in vocabulary


def test_synonyms_and_abbreviations_join_their_terms(vocabulary):
    counter = TermCounter(vocabulary)
    text = "FEF fef V1 MUN verb generation task 2-back MS ms relapsing; colliculus superior grumpy"
    assert [match.term for match in counter.find(text)] == [
        *["frontal eye field"] * 2,
        "primary visual cortex",
        "made up network",
        "verb generation",
        "n-back",
        "multiple sclerosis",
        "superior colliculus",
    ]


def test_lookalikes_and_ambiguous_abbreviations_are_no_names(vocabulary):
    assert "medial" in vocabulary.terms
    assert not {"ms", "MS", "pd", "PD"} & {*vocabulary.terms, *vocabulary.synonyms}


def test_a_file_gives_the_vocabulary_back(vocabulary, tmp_path):
    vocabulary.save(tmp_path / "v.csv")
    assert Vocabulary.load(tmp_path / "v.csv") == vocabulary


def test_missing_lists_are_named(sources, corpora):
    (sources / NEURONAMES).unlink()
    with pytest.raises(VocabularyError, match=f"lacks {NEURONAMES}"):
        build_wide(sources, corpora)


def test_the_reviewed_table_is_a_vocabulary():
    vocabulary = Vocabulary.load(TABLE)
    assert set(vocabulary.categories.values()) < set(CATEGORIES)
    assert len(vocabulary) > 1400
    rows = list(csv.DictReader(TABLE.read_text("utf-8").splitlines()))
    assert [row["term"] for row in rows] == sorted(row["term"] for row in rows)
    assert not generic_words() & {row["term"] for row in rows}


@pytest.mark.parametrize(
    ("name", "category"),
    [
        *[
            (name, "anatomy")
            for name in ["V1", "V5", "FEF", "VWFA", "STN", "LGN", "GPi", "VTA", "PAG", "EBA", "RSC"]
        ],
        *[(name, "function") for name in ("phonology", "meditation")],
        *[(name, "disorder") for name in ("psychopathy", "Korsakoff")],
        *[(name, "drug") for name in ("methylphenidate", "oxytocin", "ketamine", "L-DOPA", "5-HT")],
        *[
            (name, "symptom")
            for name in ("itch", "hemianopia", "hemineglect", "alexia", "agraphia")
        ],
        *[(name, "task") for name in ("Tower of London", "n-back", "go/no-go", "WCST")],
        ("caffeine", "drug"),
        ("agraphia", "symptom"),
        ("acalculia", "symptom"),
    ],
)
def test_names_that_people_use_are_in_the_table(name, category):
    vocabulary = Vocabulary.load(TABLE)
    assert vocabulary.category(vocabulary.terms[vocabulary.index(name)]) == category
    counted = TermCounter(vocabulary).find(f"the {name} of")
    assert [vocabulary.category(match.term) for match in counted] == [category]


# ---- texts

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
