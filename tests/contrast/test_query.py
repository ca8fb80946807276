import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurowhere.contrast import Query
from neurowhere.contrast.query import WordIndex
from neurowhere.exceptions import QueryError

TEXTS = [
    "Huntington's disease (HD) spares the HD. Huntington–Parkinson?",
    "Aphasia, APHASIC and paraphasia; primary progressive aphasias of the brain",
    "Tumours & haemorrhages: a tumor, a hemorrhage. Ménière",
    "stroke without aphasia and the nucleus of the solitary tract",
    "",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("huntington", [2, 0, 0, 0, 0]),
        ("HUNTINGTON'S DISEASE", [1, 0, 0, 0, 0]),
        ("parkinson disease", [0, 0, 0, 0, 0]),
        ("aphasia", [0, 2, 0, 1, 0]),
        ("aphasi*", [0, 3, 0, 1, 0]),
        ("primary progressive aphasia", [0, 1, 0, 0, 0]),
        ("primary progress* aphasi*", [0, 1, 0, 0, 0]),
        ("progressive primary", [0, 0, 0, 0, 0]),
        ("tumor", [0, 0, 2, 0, 0]),
        ("haemorrhage", [0, 0, 2, 0, 0]),
        ("meniere", [0, 0, 1, 0, 0]),
        ("nucleus solitary tract", [0, 0, 0, 1, 0]),
        ("the nucleus of the solitary tract", [0, 0, 0, 1, 0]),
        (r"/\bHD\b/", [2, 0, 0, 0, 0]),
        (r"/\bhd\b/", [0, 0, 0, 0, 0]),
        (r"/\bhd\b/i", [2, 0, 0, 0, 0]),
        (r"/(?i:aphas)i[ac]/", [0, 3, 0, 1, 0]),
        (r"/HD\) spares/", [1, 0, 0, 0, 0]),
        ("aphasia AND stroke", [0, 0, 0, 2, 0]),
        ("aphasia AND NOT stroke", [0, 2, 0, 0, 0]),
        ("aphasia NOT stroke", [0, 2, 0, 0, 0]),
        ("NOT stroke AND aphasia", [0, 2, 0, 0, 0]),
        ("huntington OR tumor", [2, 0, 2, 0, 0]),
        ("(huntington OR aphasia) AND (disease OR stroke)", [3, 0, 0, 2, 0]),
        (r"aphasia AND /str.ke/", [0, 0, 0, 2, 0]),
        (r"aphasia AND NOT /str.ke/", [0, 2, 0, 0, 0]),
        (r"/str.ke/ OR parkinson", [1, 0, 0, 1, 0]),
        ('"huntington" OR "primary progressive"', [2, 1, 0, 0, 0]),
        ("elsewhere", [0, 0, 0, 0, 0]),
        ("elsewhere*", [0, 0, 0, 0, 0]),
    ],
)
def test_mentions_are_counted(query, expected):
    assert Query(query).mentions(TEXTS).tolist() == expected


def test_operators_in_quotes_and_lower_case_are_words():
    texts = ["a gate and a wall", "gate"]
    assert Query("gate and wall").mentions(texts).tolist() == [1, 0]
    assert Query('"NOT" gate').mentions(["not gate", "gate"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query is empty"),
        ("   ", "the query is empty"),
        ("the of", "a term is missing, because words such as"),
        ("aphasia AND", "a term is missing"),
        ("OR aphasia", "a term is missing"),
        ("()", "a term is missing"),
        ("(aphasia", "a parenthesis is not closed"),
        ("aphasia)", "a closing parenthesis has no opening one"),
        ("NOT aphasia", "NOT needs a term beside it"),
        ("stroke OR NOT aphasia", "NOT needs a term beside it"),
        ("/[/", "is no regular expression"),
        ("/(?P<a/", "is no regular expression"),
        ("/x*/", "matches the empty text"),
        ("/HD", "is not closed by a /"),
        ("stroke /HD/", "join a regular expression"),
        ('"stroke', "a quotation mark is not closed"),
        ("tumo*r", "* goes at the end of a word"),
        ("*", "* goes at the end of a word"),
        ("(" * 5000 + "a" + ")" * 5000, "nested too deep"),
    ],
)
def test_what_cannot_be_read_is_one_line(query, message):
    with pytest.raises(QueryError, match=re.escape(message)) as caught:
        Query(query)
    assert "\n" not in str(caught.value)


def test_an_expression_is_not_put_to_texts_that_a_word_excludes():
    class Careful:
        texts = ("aphasia HD", "stroke HD")

        def __init__(self):
            self.read = []

        def __len__(self):
            return len(self.texts)

        @property
        def words(self):
            return WordIndex.of(self.texts)

        def read_texts(self, rows):
            self.read += list(rows)
            return [self.texts[row] for row in rows]

    source = Careful()
    assert Query("/HD/ AND stroke").mentions(source).tolist() == [0, 2]
    assert source.read == [1]


def test_names_are_those_of_what_is_looked_for_not_of_what_is_excluded():
    query = Query("(huntington OR chorea*) AND NOT parkinson")
    names = ["huntington disease", "choreatic", "parkinson", "amygdala"]
    assert query.names(names).tolist() == [True, True, False, False]


WORDS = st.sampled_from(["caudate", "putamen", "stroke", "pons", "aphasia", "aphasic"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=5), WORDS, WORDS)
def test_booleans_agree_with_sets(texts, one, other):
    def has(query):
        return set(np.flatnonzero(Query(query).mentions(texts)).tolist())

    assert has(f"{one} AND {other}") == has(one) & has(other)
    assert has(f"{one} OR {other}") == has(one) | has(other)
    assert has(f"{one} AND NOT {other}") == has(one) - has(other)
    assert Query(one).mentions(texts).tolist() == [text.split().count(one) for text in texts]
    assert Query(f"{one} OR {other}").mentions(texts).sum() >= len(has(one) | has(other))
    pairs = [sum(pair == (one, other) for pair in zip(t.split(), t.split()[1:])) for t in texts]
    found = Query(f"{one} {other}").mentions(texts)
    assert ((found > 0) == (np.array(pairs) > 0)).all()
