import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurowhere.corpus.readers.jsonl import (
    WORD,
    document_from_record,
    parse_peaks,
    parse_text,
    without_repeats,
)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": "a", "pmid": 12}, "a"),
        ({"pmid": 12, "pmcid": 34}, "12"),
        ({"pmid": 12.0}, "12"),
        ({"pmid": None, "pmcid": 34}, "PMC34"),
        ({"pmcid": "PMC34"}, "PMC34"),
        ({"pmid": " ", "sid": "elife-1"}, "elife-1"),
        ({"doi": "10.1/x"}, "10.1/x"),
        ({}, "file:3"),
    ],
)
def test_identifiers_in_order_of_preference(record: dict[str, object], expected: str) -> None:
    assert document_from_record({"title": "t", **record}, "file:3").id == expected


@pytest.mark.parametrize("key", ["coords", "coordinates", "peaks"])
@pytest.mark.parametrize(
    "peaks",
    [
        [[1, 2, 3], [-4, 5.5, 6]],
        [{"x": 1, "y": 2, "z": 3}, {"z": 6, "y": "5.5", "x": -4}],
        [["1", "2", "3"], [-4.0, "5.5", 6]],
    ],
)
def test_peaks_as_list_or_string(key: str, peaks: list[object]) -> None:
    for value in (peaks, json.dumps(peaks)):
        document = document_from_record({key: value, "space": "Talairach"}, "1")
        assert document.peaks.tolist() == [[1, 2, 3], [-4, 5.5, 6]]
        assert document.space == "TAL"


def test_peaks_that_are_no_numbers_are_nan() -> None:
    peaks = parse_peaks([[1, 2, 3], [1, "n/a", 3], [1, 2], None, {"x": 1}, [1, 2, None]])
    assert np.isfinite(peaks).all(axis=1).tolist() == [True] + [False] * 5


@pytest.mark.parametrize("nothing", [None, [], "", "[]"])
def test_no_peaks(nothing: object) -> None:
    assert parse_peaks(nothing).shape == (0, 3)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([1, 2], "expected an object, not a list"),
        ({"name": "x"}, "no text .title, abstract, keywords, body, text. and no coords"),
        ({"title": 3}, "expected text, not a int"),
        ({"coords": {"x": 1}}, r"expected a list of \[x, y, z\], not a dict"),
        ({"coords": "left amygdala"}, "Expecting value"),
    ],
)
def test_records_that_are_no_documents(record: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        document_from_record(record, "1")  # type: ignore[arg-type]


def test_metadata_are_what_fits_a_table() -> None:
    record = {"title": "t", "pmid": 1, "year": 2013, "subjects": ["a"], "own": [[1]], "none": None}
    metadata = document_from_record(record, "1").metadata
    assert metadata == {"pmid": "1", "year": 2013, "subjects": ["a"]}


def test_text_can_be_a_list_and_loses_lone_surrogates() -> None:
    assert parse_text(["fear", "amygdala"]) == "fear; amygdala"
    assert parse_text(json.loads('"a\\ud800b"')) == "a?b"


def test_whole_text_alone_is_the_body() -> None:
    assert without_repeats({"title": ""}, "All of it.") == {"body": "All of it."}


def test_sections_are_cut_out_of_the_whole_text() -> None:
    whole = (
        "# Title\n\nFear, in the\nAMYGDALA\n\n# Abstract\n\nWe saw it. \n\n# Body\n\nFear is it."
    )
    sections = {"title": "Fear in the amygdala.", "abstract": "We saw it."}
    assert without_repeats(sections, whole) == {
        **sections,
        "body": "# Title\n\n\n\n\n\n# Abstract\n\n\n\n. \n\n# Body\n\nFear is it.",
    }


def test_a_section_that_is_altered_in_the_whole_text_is_left_out() -> None:
    abstract = "we measured the response of the amygdala to fearful faces in twenty people"
    whole = f"Title. {abstract.replace('twenty', '20')} And more."
    assert without_repeats({"abstract": abstract}, whole) == {"body": whole}
    other = "an abstract about something else entirely, of which the text has no trace"
    assert without_repeats({"abstract": other}, whole) == {"abstract": other, "body": whole}


def test_a_body_makes_the_whole_text_superfluous() -> None:
    sections = {"title": "t", "body": "b"}
    assert without_repeats(sections, "t b") == sections


def test_a_section_within_another_is_cut_once() -> None:
    sections = {"title": "fear", "abstract": "the fear of spiders"}
    whole = "Fear.\n\nThe fear of spiders.\n\nSome have fear."
    assert without_repeats(sections, whole)["body"].split() == [".", ".", "Some", "have", "fear."]


@given(
    st.permutations([*"abcdefghijkl"]),
    st.integers(0, 12),
    st.integers(0, 12),
    st.sampled_from([" ", "\n\n", ". ", " - "]),
)
def test_no_word_is_lost_or_counted_twice(words: list[str], i: int, j: int, gap: str) -> None:
    i, j = sorted((i, j))
    sections = {"title": " ".join(words[:i]), "abstract": "-".join(words[i:j])}
    found = without_repeats(sections, gap.join(words).upper())
    assert sorted(WORD.findall(" ".join(found.values()).lower())) == sorted(words)
