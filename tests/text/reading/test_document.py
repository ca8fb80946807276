"""Documents: sentences, tables and names, beside what the text says."""

from neurowhere.text.reading.document import Document, Name
from neurowhere.text.words import plain_with_origin, token_spans


def document(text, names=()):
    normal, origin = plain_with_origin(text, lambda word: False)
    starts, ends = token_spans(normal)
    if origin is not None:
        starts, ends = origin[starts], origin[ends - 1] + 1
    words = normal.lower().split()
    return Document(text, words, starts.tolist(), ends.tolist(), list(names))


def sentences(text):
    found = document(text)
    return [text[slice(*found.span(*sentence))] for sentence in found.sentences]


def test_sentences_end_at_points_and_not_at_abbreviations():
    assert sentences("Infarct of the R. insula. No bleed.") == [
        "Infarct of the R. insula",
        "No bleed",
    ]
    assert sentences("Size 3.5 cm. Pons normal") == ["Size 3.5 cm", "Pons normal"]


def test_cells_of_tables_are_sentences():
    assert sentences("| Pons | normal |\n| Insula | small |") == [
        "Pons",
        "normal",
        "Insula",
        "small",
    ]


def test_empty_texts_have_no_sentence():
    assert document("").sentences == []
    assert document(" .. ").sentences == []


def test_names_that_are_added_are_found_where_they_begin():
    found = document("superior division of the MCA", [Name(4, 5, 3, True)])
    more = found.renamed([*found.names, Name(0, 5, -1, True)])
    assert more.names_within(0, 5) == [1, 0]
    assert more.begins == {4: 0, 0: 1}
    assert more.sentences == found.sentences
