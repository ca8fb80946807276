"""Titles of studies, which a file next to the model holds."""

from neurowhere import load_model
from neurowhere.model.summary import studies_of
from neurowhere.model.titles import title_of


def test_every_study_of_the_shipped_model_has_a_title():
    ids = load_model().neighbours_.ids
    titles = [title_of(study) for study in ids.tolist()]
    assert all(titles)
    assert max(map(len, titles)) < 600
    assert not any("\t" in title or "<" in title for title in titles)


def test_a_study_that_is_not_known_has_none():
    assert title_of("made up") is None


def test_similar_studies_come_with_their_titles():
    similar = studies_of(load_model().encode("amygdala").similar)
    assert any("amygdala" in study.title.lower() for study in similar)
