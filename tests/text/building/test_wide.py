import csv
import json
from importlib.resources import files

import pytest

from neurowhere.corpus import Corpus, Document
from neurowhere.exceptions import VocabularyError
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.building.sources import (
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
from neurowhere.text.building.wide import build_wide
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
    }
    assert {term: vocabulary.category(term) for term in expected if term in vocabulary} == expected


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
