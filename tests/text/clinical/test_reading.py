import pytest

from neurowhere.text import TermCounter, Vocabulary
from neurowhere.text.clinical.reading import LONGEST_SENTENCE, Tokens

COUNTER = TermCounter(Vocabulary(["thalamus", "insula", "anterior insula"]))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("one two", []),
        ("one. two", [1]),
        ("p < 0.05 two", []),
        ("one; two? three", [1, 2]),
        ("one\n\ntwo", [1]),
        ("one\nTwo", [1]),
        ("one\ntwo", []),
        ("one\n- two", [1]),
        ("Lt. insula", []),
        ("one vs. two", []),
        ("one (two). three", [2]),
        ("one, two: three", []),
    ],
)
def test_sentences_end(text, ends):
    reading = COUNTER.read(text)
    n_tokens = len(reading.tokens)
    assert [i for i in range(1, n_tokens) if reading.is_sentence_end(i)] == ends
    assert reading.is_sentence_end(n_tokens)


def test_indices_of_added_matches_are_those_of_all():
    reading = COUNTER.read("the anterior insula, thalamus and left PICA")
    more = reading.with_matches([Tokens(1, 1), Tokens(1, 3), Tokens(5, 6)])
    again = reading.with_names(more.terms, more.first, more.last, more.is_structure)
    assert more.begins == again.begins
    assert more.finishes == again.finishes
    for each in (more, again):
        assert [each.beginning([i]) for i in range(7)] == [[], [0, 2, 3], [], [1], [], [4], []]
        assert each.beginning(range(7)) == [0, 2, 3, 1, 4]
    assert reading.beginning(range(7)) == [0, 1]


def test_tokens_of_a_sentence():
    reading = COUNTER.read("; one two. three; four")
    numbers = [reading.sentence_number(i) for i in range(len(reading.tokens))]
    for i, number in enumerate(numbers):
        assert [j for j, other in enumerate(numbers) if other == number] == list(
            reading.sentence_tokens(number)
        ), i


def test_matches_are_known_by_their_tokens():
    reading = COUNTER.read("the anterior insula, thalamus")
    assert reading.begins == {1: 0, 3: 1}
    assert reading.finishes == {2: 0, 3: 1}
    assert reading.inner == {1, 2}
    assert reading.gap(3) == ", "
    assert reading.gap(4) == reading.token(4) == reading.token(-1) == ""


def test_places_come_before_terms_that_begin_with_them():
    reading = COUNTER.read("left thalamus")
    wider = reading.with_matches([Tokens(1, 1)])
    assert wider.begins[1] == 1
    assert wider.beginning([1]) == [0, 1]
    assert reading.with_matches([]) is reading


def test_beyond_the_end_there_is_nothing():
    reading = COUNTER.read("insula ")
    assert [reading.gap(i) for i in (0, 1, 2, 9)] == ["", " ", "", ""]
    assert reading.is_sentence_end(1)  # whatever white space is there


def test_a_sentence_without_an_end_is_cut():
    reading = COUNTER.read("insula " * (3 * LONGEST_SENTENCE - 1))
    assert reading.sentence_ends == [LONGEST_SENTENCE, 2 * LONGEST_SENTENCE]
    assert reading.is_sentence_end(LONGEST_SENTENCE)
    assert COUNTER.read("insula " * LONGEST_SENTENCE).sentence_ends == []
