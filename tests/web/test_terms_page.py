"""Terms: found by their letters, each with a page; related ones; regions and atlases."""

import time

import pytest

pytestmark = pytest.mark.browser


def test_a_term_is_found_by_its_letters_and_the_keyboard(shipped_visit):
    visit = shipped_visit
    visit.go("#mode=term&term=pain")
    visit.page.focus("#term")
    visit.page.fill("#term", "amyg")
    visit.page.wait_for_selector("#term-list li")
    names = visit.page.locator("#term-list li").all_inner_texts()
    assert names[0] == "amygdala"
    assert all("amyg" in name for name in names)
    visit.page.keyboard.press("ArrowDown")
    assert visit.page.get_attribute("#term", "aria-activedescendant") == "option-0"
    visit.page.keyboard.press("Enter")
    visit.until("document.getElementById('caption').textContent.startsWith('The term “amygdala”')")
    assert visit.page.is_hidden("#term-list")
    visit.until_address_has("term=amygdala")
    assert visit.errors == []


def test_the_page_of_a_term_has_its_map_related_terms_and_studies(shipped_visit):
    visit = shipped_visit
    visit.go("#mode=term&term=working+memory")
    visit.page.wait_for_selector("#related-terms button")
    related = visit.page.locator("#related-terms button").all_inner_texts()
    assert any("memory" in name for name in related)
    assert "working memory" not in related
    assert visit.page.locator("#similar li").count() == 10
    visit.page.click("#related-terms button >> nth=0")
    visit.page.wait_for_function(
        "name => document.getElementById('caption').textContent.includes(name)", arg=related[0]
    )
    assert visit.page.input_value("#term") == related[0]
    visit.page.go_back()
    visit.until("document.getElementById('term').value === 'working memory'")


def test_a_term_of_a_text_has_a_page(shipped_visit):
    visit = shipped_visit
    visit.go("#text=fear+and+pain")
    visit.page.click("#reading mark >> nth=1")
    visit.page.click("#open-term")
    visit.until("document.getElementById('caption').textContent.startsWith('The term “pain”:')")
    visit.until("document.getElementById('reading').textContent === 'pain'")
    assert visit.page.is_checked("input[value=term]")


def test_a_word_that_is_no_term_is_told(shipped_visit):
    visit = shipped_visit
    visit.go("#mode=term&term=hipocampus")
    assert "Nothing to map" in visit.page.inner_text("#support")
    visit.page.get_by_role("button", name="hippocampus", exact=True).first.click()
    visit.until("document.getElementById('reading').textContent === 'hippocampus'")


def test_a_region_that_is_clicked_is_outlined(shipped_visit):
    visit = shipped_visit
    visit.go("#text=amygdala")
    visit.open("regions")
    visit.page.click("#regions tbody button >> nth=1")
    visit.page.wait_for_selector("#stage[data-outlined]")
    visit.told_place()
    name = visit.page.inner_text("#regions tbody button >> nth=1")
    assert visit.page.inner_text("#here") == name
    outlined = visit.stage()
    visit.page.mouse.move(0, 0)
    visit.go(f"#text=amygdala&at={','.join(map(str, visit.place()))}")
    assert visit.stage() != outlined
    assert visit.errors == []


def test_another_atlas_names_other_regions(shipped_visit):
    visit = shipped_visit
    visit.go("#text=primary+visual+cortex")
    assert "calcarine" in visit.regions()
    visit.page.select_option("#atlas", "hcpex")
    visit.until("/visual/i.test(document.querySelector('#regions tbody').textContent)")
    assert "calcarine" not in visit.regions()
    visit.until_address_has("atlas=hcpex")


def test_a_place_that_is_noted_late_does_not_hide_the_query_before(shipped_visit):
    """The crosshair is noted after a while; a term that is opened meanwhile is a step."""
    visit = shipped_visit
    visit.go("#mode=term&term=working+memory")
    visit.page.wait_for_selector("#related-terms button")
    visit.page.route("**/api/v1/**", answer_late)
    visit.page.evaluate("""() => {
        document.getElementById("opacity").dispatchEvent(new Event("input"));
        [...document.querySelectorAll("#related-terms button")]
            .find(button => !button.textContent.includes("working memory"))
            .click();
    }""")
    visit.until("!document.getElementById('caption').textContent.includes('working memory')")
    visit.page.unroute("**/api/v1/**")
    visit.page.go_back()
    visit.until("document.getElementById('term').value === 'working memory'")


def answer_late(route):
    """Answer after what was to be noted would have been."""
    time.sleep(1)
    route.continue_()
