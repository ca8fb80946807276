import numpy as np
import pytest

from neurowhere.model.decoding import decode
from neurowhere.model.text_model import Neighbours, unit_rows
from neurowhere.model.titles import title_of

IDS = np.array([f"{number}" for number in range(500)])


def test_the_nearest_are_those_of_all_cosines():
    vectors = np.random.default_rng(0).normal(size=(500, 7)).astype(np.float32)
    text = vectors[123] + 0.1
    found = Neighbours(IDS, unit_rows(vectors)).nearest(text, n=5)
    cosines = vectors @ text / np.linalg.norm(vectors, axis=1) / np.linalg.norm(text)
    assert found["id"].tolist() == IDS[np.argsort(-cosines)[:5]].tolist()
    assert found["similarity"].tolist() == pytest.approx(np.sort(cosines)[:-6:-1], abs=1e-4)


def test_of_studies_as_close_the_first_come_first():
    vectors = np.ones((500, 4), np.float32) / 2
    found = Neighbours(IDS, vectors).nearest(np.ones(4, np.float32), n=9)
    assert found["id"].tolist() == IDS[:9].tolist()


def test_nothing_is_close_to_nothing_and_few_studies_are_all_given():
    vectors = np.eye(3, dtype=np.float32)
    neighbours = Neighbours(np.array(["1", "2", "x"]), vectors)
    assert neighbours.nearest(np.zeros(3, np.float32)).empty
    found = neighbours.nearest(np.array([3, 2, 1, 5], np.float32))  # dimensions that are not kept
    assert found["link"].tolist()[1:] == ["https://pubmed.ncbi.nlm.nih.gov/2/", ""]
    assert found["id"].tolist() == ["1", "2", "x"]


def test_every_study_of_the_shipped_model_has_a_title(shipped):
    ids = shipped.neighbours_.ids
    titles = [title_of(study) for study in ids.tolist()]
    assert all(titles)
    assert max(map(len, titles)) < 600
    assert not any("\t" in title or "<" in title for title in titles)


def test_a_study_that_is_not_known_has_none():
    assert title_of("made up") is None


def test_similar_studies_come_with_their_titles(shipped):
    similar = shipped.encode("amygdala").similar
    assert any("amygdala" in title.lower() for title in similar["title"])
    assert similar["title"].tolist() == [title_of(study) for study in similar["id"]]
    assert all(decode(shipped, (-24, -4, -18)).studies["title"])


def test_a_study_without_a_title_is_given_without():
    found = Neighbours(np.array(["1", "made up"]), np.eye(2, dtype=np.float32))
    assert found.nearest(np.ones(2, np.float32))["title"].tolist() == [None, None]
