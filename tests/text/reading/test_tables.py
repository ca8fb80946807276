"""The loader of tables, and the matcher of phrases, against something simpler."""

import random

import pytest

from neurowhere.text.reading import tags
from neurowhere.text.reading.lexicon import lexicon
from neurowhere.text.reading.tables import OPTIONAL, TEXT, Trie, check_rows, one_of

SCHEMA = {"id": TEXT, "words": TEXT, "direction": one_of("ahead back"), "only": OPTIONAL}
GOOD = {"id": "no", "words": "no", "direction": "ahead", "only": ""}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction": "sideways"}, r"cues.csv, line 2: column 'direction' has 'sideways'"),
        ({"words": ""}, r"line 2: column 'words' is empty"),
        ({"id": "No!"}, r"line 2: 'No!' is no identifier"),
        ({"colour": "red"}, r"line 2: expected the columns id, words, direction, only"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(change, message):
    with pytest.raises(ValueError, match=message):
        check_rows("cues", [{**GOOD, **change}], SCHEMA)


def test_an_identifier_is_of_one_row():
    with pytest.raises(ValueError, match="line 3"):
        check_rows("cues", [GOOD, GOOD], SCHEMA)


def test_the_tables_of_the_package_are_read():
    assert {"no", "possible"} <= tags.words_of_cues()
    assert "stop" in lexicon()["but"]
    assert "lesion" in lexicon()["infarcts"]


def test_the_trie_finds_what_a_plain_search_finds():
    generator = random.Random(1)
    phrases = {" ".join(generator.choices("abc", k=generator.randint(1, 3))): i for i in range(9)}
    trie = Trie(phrases.items())
    for _ in range(200):
        words = generator.choices("abcd", k=12)
        assert trie.find(words) == plain_search(words, phrases)


def plain_search(words, phrases):
    found, i = [], 0
    while i < len(words):
        ends = [j for j in range(len(words), i, -1) if " ".join(words[i:j]) in phrases]
        if ends:
            found.append((i, ends[0], phrases[" ".join(words[i : ends[0]])]))
        i = ends[0] if ends else i + 1
    return found
