"""Rows of a batch say what `Encoder.encode` says of each text."""

import numpy as np
import pandas as pd
import pytest
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder, default_atlas, summarise
from neurowhere.exceptions import FitError
from neurowhere.inputs import Failure, Text
from neurowhere.model.text_model import CHUNK_ENCODED
from neurowhere.report.tables import RowMaker, encode_items
from neurowhere.text.reading.mentions import read_mentions

TEXTS = [
    "The left amygdala, and the amygdala again.",
    "No motor cortex, but the right visual cortex.",
    "anterior cingulate cortex and motor cortex; the left hand",
    "amygdala visual cortex motor cortex anterior cingulate cortex",
]
ATLAS = make_atlas()


@pytest.fixture(scope="module", params=["l2", "likelihood", "sided"])
def model(request):
    options = {"vocabulary": TERMS, "repeats": 1, "rank": 8}
    if request.param == "sided":
        corpus = make_corpus(120, lateral=True)
        return Encoder(GRID, "l2", laterality=True, **options).fit(corpus)
    return Encoder(GRID, request.param, **options).fit(make_corpus())


def items(texts=TEXTS):
    return [Text(str(number), text) for number, text in enumerate(texts)]


def make_table(model, items, *, options=None, **columns):
    pairs = list(encode_items(model, items, **(options or {})))
    return RowMaker(ATLAS, **columns).table(pairs)


@pytest.mark.parametrize("options", [{}, {"negation": False}, {"sides": False}])
def test_rows_are_those_of_encode(model, options):
    table = make_table(model, items(), options=options)
    assert table["id"].tolist() == ["0", "1", "2", "3"]
    assert table["problem"].isna().all()
    for text, row in zip(TEXTS, table.to_dict("records")):
        encoding = model.encode(text, **options)
        best = encoding.regions(ATLAS).iloc[0]
        assert (row["region"], row["support"]) == (best["name"], encoding.support.level)
        assert row["probability"] == pytest.approx(best["probability"], rel=1e-4)
        assert row["ratio"] == pytest.approx(best["ratio"], rel=1e-4)
        assert row["nats"] == pytest.approx(encoding.support.nats, rel=1e-3, abs=1e-5)
        assert row["terms"] == len(encoding.terms)
        shown = [term.term for term in summarise(encoding, ATLAS).terms]
        assert row["heaviest"].split("; ") == shown[:5]
        peak = model.partition_.region_of([[row["x"], row["y"], row["z"]]])
        assert encoding.density[peak] == pytest.approx(encoding.density.max(), rel=1e-5)


def test_problems_have_rows_of_their_own(model):
    mixed = [
        Failure("a.png", "binary"),
        Text("b", "amygdala"),
        Text("c", "liver"),
        Text("d", "no amygdala"),
    ]
    table = make_table(model, mixed)
    assert table["id"].tolist() == ["a.png", "b", "c", "d"]
    assert table["problem"].fillna("").tolist() == ["binary", "", "", ""]
    for row, text in zip(table.to_dict("records")[2:], ("liver", "no amygdala"), strict=True):
        assert row["support"] == model.encode(text).support.withheld  # in the words of Python
    empty = table.loc[table["support"] != "good", ["region", "probability", "heaviest"]]
    assert empty.isna().all(axis=None)


@pytest.mark.parametrize("texts", [["liver"], [""]])
def test_a_chunk_of_nothing(model, texts):
    table = make_table(model, items(texts), all_regions=True)
    assert table["support"].tolist() == ["no place: the model knows no word of this text"]


def test_many_texts_keep_their_order_and_stream(model):
    many = items([TEXTS[i % 4] if i % 7 else "liver" for i in range(CHUNK_ENCODED * 2 + 3)])
    taken = []
    pairs = encode_items(model, (taken.append(item) or item for item in many))
    first = next(pairs)
    assert first[0] is many[0]
    assert len(taken) == CHUNK_ENCODED  # no more is read than is encoded at a time
    table = RowMaker(ATLAS).table([first, *pairs])
    assert table["id"].tolist() == [item.name for item in many]
    assert table["region"].isna().tolist() == [i % 7 == 0 for i in range(len(many))]
    assert list(RowMaker(ATLAS).table([]).columns) == list(table.columns)


def test_all_regions_and_texts(model):
    table = make_table(model, items(), all_regions=True, with_text=True)
    assert table["text"].tolist() == TEXTS
    for text, row in zip(TEXTS, table.to_dict("records")):
        regions = model.encode(text).regions(ATLAS)
        found = [row[name] for name in regions["region"]]
        np.testing.assert_allclose(found, regions["probability"], rtol=1e-4, atol=1e-7)


def test_a_model_of_the_mean_map_has_nothing_to_say():
    model = Encoder(GRID, text="none").fit(make_corpus())
    with pytest.raises(FitError, match="says the same of every text"):
        list(encode_items(model, items()))


def test_the_region_of_a_row_is_the_first_in_the_order_asked_for(shipped):
    """Of "emotion", the three orders have three regions first."""
    atlas = default_atlas()
    pair = next(encode_items(shipped, [Text("a", "emotion")]))
    firsts = {}
    for sort in ("excess", "probability", "ratio"):
        row = RowMaker(atlas, sort=sort).table([pair]).iloc[0]
        first = shipped.encode("emotion").regions(sort=sort).iloc[0]
        assert row["region"] == first["name"]
        assert row["ratio"] == pytest.approx(first["ratio"])
        firsts[sort] = row["region"]
    assert len(set(firsts.values())) == 3


def test_a_map_that_is_withheld_has_no_row_unless_it_is_asked_for(shipped):
    (pair,) = encode_items(shipped, items(["Right Bell's palsy"]))
    row = RowMaker(ATLAS).table([pair]).iloc[0]
    assert row["support"] == "outside the brain: nerve"
    assert row[["region", "probability", "x", "heaviest", "problem"]].isna().all()
    row = RowMaker(ATLAS, draw_anyway=True).table([pair]).iloc[0]
    assert row["support"] == "outside the brain: nerve"
    assert row["probability"] > 0


def test_a_text_that_fails_has_a_row_and_stops_no_other(model, monkeypatch, caplog):
    def fail(text, *arguments, **options):
        if "motor" in text:
            raise IndexError(text)
        return read_mentions(text, *arguments, **options)

    expected = make_table(model, items())
    monkeypatch.setattr("neurowhere.model.reading.read_mentions", fail)
    table = make_table(model, items())
    kept = ~expected["id"].isin(["1", "2", "3"])
    pd.testing.assert_frame_equal(table[kept], expected[kept])
    problems = table["problem"][1:].tolist()
    assert all("neurowhere failed on this text (IndexError at test_rows.py" in p for p in problems)
    assert table["terms"][1:].isna().all()
    assert caplog.messages == problems  # each once
    assert "motor" not in caplog.text


def test_a_row_that_fails_is_told_in_its_place(model, monkeypatch):
    tell = RowMaker._tell

    def fail(self, encoding):
        if encoding.text == TEXTS[1]:
            raise ZeroDivisionError(encoding.text)
        return tell(self, encoding)

    monkeypatch.setattr(RowMaker, "_tell", fail)
    table = make_table(model, items())
    assert table["problem"].notna().tolist() == [False, True, False, False]
    assert "ZeroDivisionError at test_rows.py" in table["problem"][1]


def test_long_texts_are_encoded_one_by_one(model):
    taken = []
    texts = items(["amygdala " * 2_000] * 3)
    pairs = encode_items(model, (taken.append(item) or item for item in texts))
    next(pairs)
    assert len(taken) == 1  # whoever stops here has the first
