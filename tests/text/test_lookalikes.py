"""The table of pairs as one person judged them, other pairs, and suggestions."""

import json
import time

import pytest

from neurowhere._tools.files import shipped_table
from neurowhere.exceptions import DataWarning, VocabularyError
from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.lookalikes import LONGEST, NearNames, is_synonym, true_synonyms

REVIEW = shipped_table("neurowhere.text", "lookalikes.csv")


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("lobes", "lobe"),
        ("hippocampal", "hippocampus"),
        ("fibres", "fiber"),
        ("anaesthesia", "anesthesia"),
        ("life styles", "lifestyle"),
    ],
)
def test_forms_of_one_word_are_synonyms(name, term):
    assert is_synonym(name, term)
    assert is_synonym(term, name)


@pytest.mark.parametrize(
    ("name", "term"),
    [
        ("intraparenchymal", "intraparietal"),
        ("temporary", "temporal"),
        ("medial", "medical"),
        ("neutral", "neural"),
        ("anosmia", "anomia"),
        ("dysphonia", "dysphoric"),
        ("psychopathic", "psychotic"),
        ("familial", "familiar"),
        ("shame", "sham"),
        ("irony", "iron"),
        ("talking", "taking"),
        ("masking", "making"),
        ("attenuation", "attention"),
        ("conversation", "conversion"),
        ("corticostriatal", "corticospinal"),
        ("spine", "spin"),
        ("temporopolar", "temporo-parietal"),
        ("episode", "episodic"),
        ("nuclear", "nucleus"),
    ],
)
def test_lookalikes_are_not_synonyms(name, term):
    assert not is_synonym(name, term)
    assert not is_synonym(term, name)


def test_the_table_has_all_pairs_once():
    pairs = {frozenset((row["name"], row["term"])) for row in REVIEW}
    assert len(REVIEW) == len(pairs) == 1239
    assert {row["verdict"] for row in REVIEW} == {"keep", "drop"}


def test_a_map_loses_its_lookalikes_with_a_warning(tmp_path):
    (tmp_path / "terms.txt").write_text("lobe\nlobes\nmedial\nmedical\nspin\nspine\n")
    pairs = {"lobes": "lobe", "medial": "medical", "spine": "spin"}
    (tmp_path / "map.json").write_text(json.dumps(pairs))
    with pytest.warns(DataWarning, match="2 of 3 synonyms only look alike .* 'medial' for 'medic"):
        vocabulary = Vocabulary.load(tmp_path / "terms.txt", tmp_path / "map.json")
    assert vocabulary.terms == ("lobe", "medial", "medical", "spin", "spine")
    assert true_synonyms(pairs) == dict(vocabulary.synonyms) == {"lobes": "lobe"}


def test_synonyms_of_a_table_are_the_users_own(tmp_path):
    (tmp_path / "v.csv").write_text("term,synonyms\nalcohol,alcoholism\n")
    assert Vocabulary.load(tmp_path / "v.csv").synonyms == {"alcoholism": "alcohol"}


def test_the_shipped_model_reads_no_lookalike(shipped):
    vocabulary = shipped.vocabulary_
    counter = TermCounter(vocabulary)
    terms = set(vocabulary)
    for row in REVIEW:
        if row["verdict"] == "drop":
            assert vocabulary.synonyms.get(row["name"]) != row["term"], row
        if row["reason"] == "lookalike" and row["name"] not in terms:
            assert [match.term for match in counter.find(row["name"])] != [row["term"]], row


NAMES = NearNames(["hippocampus", "hypothalamus", "thalamus", "fear", "MS", "Heschl's gyrus"])


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("hipocampus", ["hippocampus"]),
        ("Hippocampsu", ["hippocampus"]),
        ("thalmus", ["thalamus"]),
        ("feer", ["fear"]),
        ("heschls gyrus", ["Heschl's gyrus"]),
        ("ms", ["MS"]),
        ("hypocampus", ["hippocampus"]),
        ("xyzzy", []),
        ("talus", []),
        ("camp", []),
        ("", []),
    ],
)
def test_the_nearest_spelling_is_suggested(word, names):
    assert NAMES.suggest(word)[:1] == names


def test_suggestions_are_in_order_and_limited():
    near = NearNames(["frontal pole", "frontal lobe", "frontal", "parietal lobe"])
    assert near.suggest("frontal lobe", n=2) == ["frontal lobe", "frontal pole"]


def test_what_nobody_means_is_not_suggested():
    near = NearNames(["german", "restraint", "declarative", "amygdala", "cerebellum"])
    assert not [word for word in ("Gerstmann", "restaurants", "Seine") if near.suggest(word)]
    assert near.suggest("serebellum") == ["cerebellum"]  # one slip may be the first letter
    assert not near.suggest("derebelum")


def test_plain_words_are_not_suggested():
    vocabulary = Vocabulary(
        ["restraint", "retina"], {}, {"restraint": "other", "retina": "anatomy"}
    )
    assert vocabulary.suggest("restrant") == []
    assert vocabulary.suggest("retena") == ["retina"]


def test_an_error_offers_them():
    with pytest.raises(VocabularyError, match="did you mean amygdala"):
        Vocabulary(["amygdala", "fear"]).index("amigdala")


def test_a_large_vocabulary_is_searched_in_milliseconds():
    near = NearNames(f"name {number:05d} of {number % 97} regions" for number in range(20_000))
    near.suggest("warm up")
    start = time.process_time()
    for number in range(20):
        near.suggest(f"naem {number:05d} of region")
    assert (time.process_time() - start) / 20 < 0.02  # 5 ms on an idle machine


def test_what_is_too_long_for_a_word_is_compared_with_none():
    near = NearNames(["amygdala", "a" * LONGEST])
    assert near.suggest("a" * LONGEST) == ["a" * LONGEST]
    start = time.process_time()
    assert near.suggest("a" * 40_000) == []
    assert time.process_time() - start < 0.1
