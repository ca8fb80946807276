import json

import pytest

from neurowhere.exceptions import VocabularyError
from neurowhere.text import TermCounter
from neurowhere.text.building.anatomy import (
    ABBREVIATIONS,
    ADJECTIVES,
    ATLAS_LABELS,
    NIF,
    SAME,
    SOURCES,
    TERM_CATEGORIES,
    TERM_SYNONYMS,
    TERMS,
    WIKIPEDIA,
    build_anatomy,
    build_full,
)


@pytest.fixture
def sources(tmp_path):
    """A folder with a little of every list."""
    terms = ["amygdala", "anxiety", "brain", "cortex visual", "fear", "group", "strokes", "stroke"]
    files = {
        ATLAS_LABELS: "atlas,index,label\naal,1,Frontal_Sup_2_L\naal,2,Amygdala_R\n"
        "schaefer,1,7Networks_LH_Vis_1\n",
        WIKIPEDIA: json.dumps(
            {"neural_part": ["Visual cortex (V1)", {"Brain stem": ["Left pons or Pons proper"]}]}
        ),
        NIF: "label,synonyms\nAmygdala,Amygdaloid body|AMY\nSpinal cord,medulla spinalis\n",
        TERM_CATEGORIES: "term,normalized_term,category\nBrain,brain,anatomy\n"
        "y-group,group,anatomy\nCortex visual,cortex visual,anatomy\nFear,fear,psychology\n"
        "Strokes,stroke,disease\nthe liver,liver,anatomy\n",
        TERMS: "\n".join(terms) + "\n",
        TERM_SYNONYMS: '{"strokes": "stroke"}',
    }
    assert set(files) == set(SOURCES)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def test_gathers_names_of_places(sources):
    vocabulary = build_anatomy(sources)
    assert {"amygdala", "superior frontal gyrus", "visual cortex"} <= set(vocabulary)
    assert "visual network" not in vocabulary  # no part of the brain
    assert "pons" in vocabulary  # the side is kept apart
    assert not {"brain", "group", "liver", "spinal cord"} & set(vocabulary)
    assert set(vocabulary.categories.values()) == {"anatomy"}


def test_other_orders_and_synonyms_join_the_name(sources):
    synonyms = build_anatomy(sources).synonyms
    assert synonyms["cortex visual"] == "visual cortex"
    assert synonyms["amygdaloid body"] == "amygdala"
    assert "amy" not in synonyms  # a bare code
    assert synonyms["ba44"] == synonyms["ba 44"] == "brodmann area 44"


def test_full_vocabulary_has_categories_and_synonyms(sources):
    vocabulary = build_full(sources)
    assert len(vocabulary) == 6
    assert vocabulary.synonyms == {
        "strokes": "stroke",
        "amygdalar": "amygdala",  # of the package's own names
        "amygdaloid complex": "amygdala",
    }
    assert vocabulary.categories == {
        "amygdala": "anatomy",
        "fear": "function",
        "stroke": "disorder",
    }


@pytest.mark.parametrize(
    "phrase",
    [
        "amygdala anterior",
        "inferior middle",
        "amygdala hippocampus",
        "left",
        "left lobe",
    ],
)
def test_what_is_no_name_is_no_term(sources, phrase):
    with (sources / TERMS).open("a") as stream:
        stream.write(f"{phrase}\nfrontal temporal\nanterior amygdala\n")
    vocabulary = build_full(sources)
    assert {"frontal temporal", "anterior amygdala"} < set(vocabulary)
    assert phrase not in vocabulary


def test_missing_lists_are_named(sources):
    (sources / NIF).unlink()
    (sources / WIKIPEDIA).unlink()
    with pytest.raises(VocabularyError, match=f"lacks {WIKIPEDIA}, {NIF}"):
        build_anatomy(sources)


@pytest.mark.parametrize(
    ("name", "content"),
    [(ATLAS_LABELS, "a,b\n1,2\n"), (NIF, ""), (WIKIPEDIA, "{"), (TERM_CATEGORIES, "term\nx\n")],
)
def test_malformed_lists_are_named(sources, name, content):
    (sources / name).write_text(content)
    with pytest.raises(VocabularyError, match=name):
        build_anatomy(sources)


@pytest.mark.data
def test_the_real_lists_give_about_a_thousand_places(data):
    vocabulary = build_anatomy(data / "vocabulary")
    assert 850 < len(vocabulary) < 1100
    for generic in ("brain", "group", "role", "system", "part", "region", "anterior", "gyrus"):
        assert generic not in vocabulary
    for name in (
        "anterior cingulate cortex",
        "insula",
        "insular cortex",
        "pons",
        "pulvinar",
        "hippocampal",
        "superior temporal gyri",
        "Heschl's gyrus",
        "BA 44",
        "area 46",
        "DLPFC",
        "middle cerebral artery",
        "substantia nigra",
        "frontal",
    ):
        assert name in vocabulary, name
    assert not any(name.split()[0] in ("left", "right") for name in vocabulary)
    # Every name of the tables in the code is in use.
    for name, term in (ADJECTIVES | ABBREVIATIONS | SAME).items():
        assert vocabulary.index(name) == vocabulary.index(term), name


@pytest.mark.data
def test_every_name_is_found_in_itself(data):
    vocabulary = build_anatomy(data / "vocabulary")
    counter = TermCounter(vocabulary)
    for term in vocabulary:
        assert [match.term for match in counter.find(term)] == [term]
    for synonym, term in vocabulary.synonyms.items():
        if "," not in synonym:  # no name goes across a comma
            assert [match.term for match in counter.find(synonym)] == [term]


@pytest.mark.data
def test_the_real_full_vocabulary(data):
    summary = build_full(data / "vocabulary").summary()
    assert summary["terms"] == 6412  # of 6,551
    assert summary["synonyms"] == 1031  # 996 of NeuroQuery's, less some, and ours
    assert min(summary["anatomy"], summary["function"], summary["disorder"]) > 350
