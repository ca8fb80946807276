"""Regular expressions of users: Python's language, a time limit, and no more memory than needed."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurowhere.contrast import Query
from neurowhere.contrast import query as module
from neurowhere.contrast.query import Expression
from neurowhere.exceptions import QueryError

BOMBS = {  # with their matches in a text that has a b
    "(a+)(?#c)+b": 0,
    "(?x)(a+) +b": 0,
    "(((a?){8}){8}){8}b": 1,
    "a*a*a*a*a*a*a*a*b": 1,
    "(a+)+b": 0,
    "(a|aa)*b": 1,
    "(a?){20}(b?){20}c": 1,
    r"(\w+\s?)*\d$": 0,
}
TEXTS = ["a" * 300, "a" * 300 + "cb", "aa " * 100 + "c b"]
SOURCE = "HD and HDL-C in 3 T; p < 0.05, {e} of Huntington's (1872) é\n\nleft/right amygdala"


@pytest.mark.parametrize("expression", BOMBS)
def test_backtracking_ends_with_an_answer_or_with_one_line(expression, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    query = Query(f"/{expression}/")
    for text in TEXTS:
        begin = time.process_time()
        try:
            answer = query.mentions([text])[0]
        except QueryError as error:
            answer = str(error)
        assert time.process_time() - begin < 2
        if isinstance(answer, str):
            assert f"/{expression}/ was stopped after 0 seconds" in answer
            assert "\n" not in answer
        else:
            assert answer == ("b" in text) * BOMBS[expression]


def test_what_takes_too_long_says_what_to_do(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    with pytest.raises(QueryError, match=r"/\(a\|aa\)\*b/i .*303 characters .*; repeat nothing"):
        Query("stroke OR /(a|aa)*b/i").mentions(["stroke", "a" * 300 + "!cb"])


def test_a_long_text_gets_more_time(monkeypatch):
    given_seconds = []

    class Pattern:
        def finditer(self, text, timeout):
            given_seconds.append(timeout)
            return []

    for length in (0, 10_000_000):
        Expression("/x/", Pattern()).count("x" * length)
    assert given_seconds == [1.0, 11.0]


@pytest.mark.parametrize(
    "expression",
    ["a{999999999}", "((((a{90}){90}){90}){90}){90}", "(?x)((a{900}) {900}) {900}", "(ab){999999}"],
)
def test_what_would_fill_the_memory_is_refused(expression):
    with pytest.raises(QueryError, match="it repeats something too often"):
        Query(f"/{expression}/")


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        (r"\bHD\b", 1),
        (r"HDL?", 2),
        (r"\b[A-Z]{2,5}\b", 2),
        (r"\d+(?:\.\d+)?", 3),
        (r"p ?< ?0?\.0\d", 1),
        (r"(?<=of )Huntington", 1),
        (r"{e}", 1),
        (r"\{e\}", 1),
        (r"[{]e", 1),
        (r"\N{LATIN SMALL LETTER E WITH ACUTE}", 1),
        (r"(?i)hd", 2),
        (r"(?i:hd)L", 1),
        (r"left\/right", 1),
        (r"(?m)^left", 1),
        (r"(?s)é.*left", 1),
        (r"(e)f(t).ri\w+\2", 1),
    ],
)
def test_ordinary_expressions_are_those_of_python(expression, count):
    assert Query(f"/{expression}/").mentions([SOURCE]).tolist() == [count]
    assert len(re.findall(expression, SOURCE)) == count


@pytest.mark.parametrize("expression", [r"\p{L}", "(?R)a", "(?e)a", "[[:alpha:]]", "[a&&b]", r"\K"])
def test_what_python_does_not_read_is_refused(expression):
    with pytest.raises(QueryError, match="is no regular expression"):
        Query(f"/{expression}/")


ATOMS = st.sampled_from(
    ["a", "b", "1", " ", ".", r"\w", r"\b", "[ab]", "[^a]", "{", "}", "{e}", "^", "$", "(?=a)", "é"]
)
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{,2}", "*?", "+?"])
EXPRESSIONS = st.recursive(
    st.lists(st.tuples(ATOMS, REPEATS).map("".join), min_size=1, max_size=3).map("".join),
    lambda inner: st.one_of(
        st.tuples(st.just("("), inner, st.just(")"), REPEATS).map("".join),
        st.tuples(inner, st.just("|"), inner).map("".join),
        st.tuples(inner, inner).map("".join),
    ),
    max_leaves=4,
)


@settings(max_examples=300)
@given(EXPRESSIONS, st.text("ab1 {e}é", min_size=1, max_size=8))
def test_expressions_match_as_often_as_in_python(pattern, text):
    try:
        expected = sum(1 for _ in re.finditer(pattern, text))
    except re.error:
        with pytest.raises(ValueError, match=r"position|fixed-width"):
            Expression.compile(pattern, pattern)
    else:
        assert Expression.compile(pattern, pattern).count(text) == expected
