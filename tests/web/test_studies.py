"""Studies on the page: their titles, where to find them, and what they share with the text."""

import re

import pytest

pytestmark = pytest.mark.browser


def test_studies_have_titles_links_and_shared_terms(shipped_visit):
    visit = shipped_visit
    visit.go("#text=fear+and+the+amygdala")
    visit.open("studies")
    rows = visit.page.locator("#similar li")
    assert rows.count() == 10
    for row in rows.all():
        link = row.locator("a")
        assert len(link.inner_text()) > 20
        assert re.fullmatch(r"https://pubmed\.ncbi\.nlm\.nih\.gov/\d+/", link.get_attribute("href"))
        assert link.get_attribute("rel") == "noopener noreferrer"
    assert "shares" in visit.page.inner_text("#similar")
    shared = re.findall(r"shares (.*)", visit.page.inner_text("#similar"))
    assert {"amygdala"} <= {term for each in shared for term in each.split(", ")}


def test_studies_that_point_to_a_place_have_titles_too(shipped_visit):
    visit = shipped_visit
    visit.go("#text=fear+and+the+amygdala&at=-22,-6,-16")
    visit.told_place()
    visit.open("place")
    visit.page.locator("#speaking li").nth(4).wait_for()
    assert visit.page.locator("#speaking li").count() == 5
    assert len(visit.page.inner_text("#speaking a >> nth=0")) > 20
    assert visit.errors == []
