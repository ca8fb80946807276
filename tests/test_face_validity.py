"""The shipped model puts texts where every textbook does, and is known to miss a few."""

import numpy as np
import pytest
from tests.face_validity import KNOWN, MISSED, judge

from neurowhere import load_model
from neurowhere.model.decoding import decode, rank_terms
from neurowhere.space import default_atlas

TOP, DOUBLED = 3, 2.0


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.mark.parametrize("text", KNOWN)
def test_known_region_is_at_the_top_or_doubled(model, text):
    rank, ratio = judge(model.encode(text), default_atlas(), KNOWN[text])
    if text in MISSED and not (rank <= TOP or ratio >= DOUBLED):
        pytest.xfail(f"known to be missed: rank {rank}, {ratio:.2f} times the mean map")
    assert rank <= TOP or ratio >= DOUBLED, (rank, ratio)


def test_most_are_right():
    assert len(KNOWN) - len(MISSED) >= 40
    assert set(KNOWN) >= MISSED


@pytest.mark.parametrize(
    ("point", "term"),
    [
        ((-24, -4, -18), "amygdala"),
        ((-26, -20, -16), "hippocampus"),
        ((42, -54, -18), "fusiform"),
        ((-54, -22, 8), "auditory"),
        ((-38, -24, 56), "motor"),
        ((10, 10, -8), "striatum"),
        ((4, -88, 2), "visual"),
        ((38, 4, 2), "insula"),
    ],
)
def test_places_decode_to_their_names(model, point, term):
    assert any(term in name for name in decode(model, point).terms["term"].head(5))


def test_the_maps_of_terms_decode_to_them(model):
    """Most of them, and not to a sharper term of the same place."""
    terms = np.random.default_rng(0).permutation(model.extractor_.terms)[:40]
    found = [rank_terms(model, q, 1)["term"].item() for q in model.predict(terms.tolist())]
    assert np.mean(terms == found) > 0.7


def test_the_search_for_terms_misses_none(model, monkeypatch):
    points = [(-24, -4, -18), (0, -52, 30), (-50, 20, 16)]
    found = [decode(model, point, n_terms=10).terms for point in points]
    monkeypatch.setattr("neurowhere.model.decoding.N_CANDIDATES", len(model.extractor_.terms))
    for point, table in zip(points, found):
        assert decode(model, point, n_terms=10).terms["term"].tolist() == table["term"].tolist()
