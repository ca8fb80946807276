import pytest

from neurowhere import load_model
from neurowhere.text.unknown import unknown_words


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("However, 12 wombats had XQ.", [], ["wombats", "XQ"]),
        ("the amygdala of a quokka", [(4, 12)], ["quokka"]),
        ("A quokka and two quokkas", [], ["quokka"]),
        ("it was then seen again in 2019", [], []),
        ("", [], []),
    ],
)
def test_content_words_outside_of_names(text, known, expected):
    found = unknown_words(text, known)
    assert [word.word for word in found] == expected
    assert all(text[start:end] == word for word, start, end in found)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("lesion of the amygdala and hipocampus", ["hipocampus"]),
        ("Gerstmann syndrome", []),  # a rule knows it
    ],
)
def test_what_a_model_does_not_know(text, unknown):
    encoding = load_model().encode(text)
    assert [word.word for word in encoding.unknown] == unknown


def test_abbreviations_that_the_text_defines_are_known_by_what_they_stand_for():
    text = "zorbulous insula (ZI); the ZI and QX"
    assert [word.word for word in unknown_words(text, [])] == ["zorbulous", "insula", "QX"]
