"""Related terms: those that point to the same places."""

import pytest
from tests.studies import small_model

from neurowhere.model.term_maps import related_terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [("amygdala", "emotion"), ("working memory", "task"), ("speech production", "auditory")],
)
def test_terms_are_related_by_what_they_mean(shipped, text, expected):
    found = related_terms(shipped, shipped.encode(text), 12)
    assert any(expected in term for term in found["term"])
    assert text not in found["term"].tolist()
    assert found["closeness"].is_monotonic_decreasing
    assert found["closeness"].between(0, 1).all()


def test_a_text_without_a_known_term_has_no_relatives(shipped):
    assert related_terms(shipped, shipped.encode("xyzzy")).empty


def test_a_linear_model_has_none():
    model = small_model()
    assert related_terms(model, model.encode("amygdala")).empty


def test_related_terms_can_be_asked_for_themselves(shipped):
    for name in related_terms(shipped, shipped.encode("working memory"))["term"]:
        assert not shipped.encode(name).is_mean_map, name
