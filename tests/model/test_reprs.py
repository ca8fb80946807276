"""What a notebook shows: one short line, or a small table, for everything that one may look at."""

import pytest
from tests.studies import GRID, make_corpus, small_model

from neurowhere import Atlas, Encoder, TermCounter, Vocabulary
from neurowhere.evaluate import Candidate, compare
from neurowhere.model.decoding import decode


@pytest.fixture(scope="module")
def model():
    return small_model()


def test_lines_are_short_and_say_what_it_is(model):
    many = Vocabulary(["insula", "pons", "cuneus", "putamen"], {"islet": "insula"})
    assert repr(many) == "<Vocabulary: 4 terms, 1 synonyms: insula, pons, cuneus, ...>"
    lines = map(repr, [make_corpus(), model, model.partition, TermCounter(many)])
    assert all(len(line) < 200 and "object at" not in line for line in lines)


def test_a_model_is_a_table_and_its_words_are_escaped(model):
    shown = model._repr_html_()
    assert "<th>studies</th><td>40</td>" in shown
    assert "<th>loss</th><td>l2</td>" in shown
    assert "&lt;b&gt;" in Encoder(vocabulary=["<b>"])._repr_html_()


def test_places_and_decodings_are_tables(model):
    assert "<table" in model.partition._repr_html_()
    assert "<table" in Atlas((GRID.regions + 1, GRID.affine))._repr_html_()
    shown = decode(model, (-22, -4, -18))._repr_html_()
    assert "<table" in shown
    assert "amygdala" in shown


def test_a_comparison_names_its_best(tmp_path):
    comparison = compare(
        make_corpus(), tmp_path, [Candidate("grid", GRID)], losses=["l2"], folds=2, brain=GRID
    )
    assert repr(comparison).startswith("Comparison: 3 models, up to 2 folds; best l2 on grid")
    assert "<table" in comparison._repr_html_()
