"""The page in a real browser, headless: what a person does, and what must not happen."""

import gzip
import re

import nibabel
import numpy as np
import pytest
from tests.browser import serious_problems
from tests.web.visit import PATIENCE_MS, Visit

pytestmark = pytest.mark.browser

OWN = "Your text: compared with the average study"  # the caption of a text

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
ATTACK = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script> the amygdala'


@pytest.fixture
def flat_visit(flat_browser, server):
    with Visit(flat_browser, server.url) as visit:
        yield visit


def test_a_text_becomes_a_map_that_changes_with_it(visit):
    visit.write("the amygdala")
    assert "amygdala" in visit.regions()
    before = visit.stage()
    visit.write("the motor cortex")
    assert "amygdala" not in visit.regions()
    visit.new_stage(before)
    assert visit.page.inner_text("#reading mark") == "motor cortex"
    assert visit.errors == []


def test_the_map_of_what_is_outside_the_brain_is_shown_if_it_is_asked_for(shipped_visit):
    visit = shipped_visit
    visit.write("the amygdala")
    visit.page.fill("#text", "Bell's palsy")
    visit.page.wait_for_selector("#withheld:not([hidden])")
    assert visit.page.inner_text("#withheld-words").startswith("Outside the brain: nerve")
    assert visit.caption() == "No map"
    assert not visit.page.is_visible("#regions")
    assert visit.page.is_disabled("button[data-form=nifti]")
    assert serious_problems(visit.page) == []
    visit.page.click("#draw-anyway")
    visit.until("/^Your text/.test(document.getElementById('caption').textContent)")
    assert not visit.page.is_visible("#withheld")
    assert visit.page.is_visible("#regions")
    assert visit.page.is_enabled("button[data-form=nifti]")
    visit.write("Bell's palsy and the amygdala")
    assert not visit.page.is_visible("#withheld")
    assert visit.errors == []


def test_a_click_on_a_region_or_a_peak_moves_the_crosshair(visit):
    visit.write("the left amygdala")
    visit.page.fill("#x", "0")
    visit.page.click("#regions tbody button >> nth=0")
    visit.until("document.getElementById('x').value !== '0'")
    at = visit.place()
    assert visit.regions().startswith("left")
    assert at[0] < 0
    visit.open("peaks")
    visit.page.click("#peaks tbody tr:nth-child(2) button")
    visit.until(f"document.getElementById('y').value !== '{at[1]}'")
    text = visit.page.inner_text("#peaks tbody tr:nth-child(2) button").replace("−", "-")
    assert visit.place() == pytest.approx([float(mm) for mm in text.split(",")], abs=2)


def test_a_click_in_the_brain_tells_what_speaks_for_it(visit):
    visit.write("the amygdala")
    box = visit.page.locator("#map").bounding_box()
    before = visit.place()
    visit.page.mouse.click(box["x"] + box["width"] * 0.31, box["y"] + box["height"] * 0.27)
    visit.told_place()
    visit.page.wait_for_selector("#decoded li")  # the tab has opened
    assert visit.place() != before
    terms = visit.page.locator("#decoded li").all_inner_texts()
    assert set(terms) <= {"amygdala", "visual cortex", "motor cortex", "anterior cingulate cortex"}


def test_the_density_that_is_downloaded_integrates_to_one(visit, tmp_path):
    visit.write("the amygdala")
    visit.choose("image", "density")
    visit.until("/density/.test(document.getElementById('caption').textContent)")
    with visit.page.expect_download() as download:
        visit.reveal("button[data-form=nifti]")
        visit.page.click("button[data-form=nifti]")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    image = nibabel.Nifti1Image.from_bytes(gzip.decompress(path.read_bytes()))
    volume = abs(np.linalg.det(image.affine[:3, :3]))
    assert image.get_fdata().sum() * volume == pytest.approx(1, 1e-4)
    with visit.page.expect_download() as download:
        visit.reveal("button[data-form=csv]")
        visit.page.click("button[data-form=csv]")
    download.value.save_as(tmp_path / "regions.csv")
    header, first, *_ = (tmp_path / "regions.csv").read_text().splitlines()
    assert header == "region,name,probability,ratio,excess,named,x,y,z"
    assert len(first.split(",")) == 9


def test_views_switch(visit):
    visit.write("the amygdala")
    seen = [visit.stage()]
    for name, value in [("image", "mass"), ("image", "density")]:
        visit.choose(name, value)
        seen.append(visit.new_stage(*seen))
    visit.reveal("#colours")
    visit.page.select_option("#colours", "viridis")
    visit.new_stage(*seen)
    assert visit.errors == []


def test_pointing_at_a_term_shows_its_own_map(visit):
    visit.write("the amygdala and the motor cortex")
    before = visit.stage()
    visit.page.hover("#reading mark >> nth=0")
    visit.until("document.getElementById('caption').textContent.startsWith('The term “amygdala”')")
    visit.new_stage(before)
    visit.page.mouse.move(0, 0)
    visit.until(f"document.getElementById('caption').textContent === '{OWN}'")
    assert visit.stage() == before


def test_sides_and_denials_are_marked(visit):
    visit.write("The left amygdala. No activity in the visual cortex. Left hand.")
    reading = visit.page.locator("#reading")
    assert reading.locator("u.side").first.inner_text() == "left"
    assert reading.locator("s.denied").all_inner_texts() == ["visual cortex"]
    assert reading.locator(".unapplied").all_inner_texts() == ["Left"]
    assert reading.inner_text() == visit.page.input_value("#text")


def test_sentences_one_by_one(visit):
    visit.write("The amygdala responds. The motor cortex does not, and nor do I.")
    visit.page.click("#by-sentence summary")
    visit.page.wait_for_selector("#sentences li >> nth=1")
    assert visit.page.locator("#sentences button").count() == 2
    visit.page.hover("#sentences button >> nth=1")
    visit.until("/^Sentence: The motor/.test(document.getElementById('caption').textContent)")


def copied_link(visit):
    visit.page.evaluate(
        "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
    )
    visit.page.evaluate("() => { window.copied = null; }")
    visit.reveal("[data-copy=link]")
    visit.page.click("[data-copy=link]")
    return visit.page.wait_for_function("() => window.copied").json_value()


# What to type in each mode, into which box, and what the caption then begins with.
ELSEWHERE = {
    "term": ("term", "motor cortex", "The term"),
    "decode": ("points", "-24 -4 -18", "Your point"),
}


@pytest.mark.parametrize("mode", ELSEWHERE)
def test_a_link_holds_nothing_that_was_typed_in_another_mode(visit, mode):
    visit.choose("mode", "two")
    visit.page.fill("#text", "Jane Roe has an amygdala")
    visit.page.fill("#other", "John Doe has a motor cortex")
    visit.until("/apart/.test(document.getElementById('support').textContent)")
    box, words, caption = ELSEWHERE[mode]
    visit.choose("mode", mode)
    visit.page.fill(f"#{box}", words)
    visit.page.press(f"#{box}", "Control+Enter")
    visit.until(f"document.getElementById('caption').textContent.startsWith('{caption}')")
    visit.until_address_has(f"{box}=")
    for link in (copied_link(visit), visit.page.url):
        assert f"mode={mode}" in link
        assert not re.search("Roe|Doe", link)
    visit.page.reload()  # which this browser alone can do without losing the texts
    visit.until_address_has(f"{box}=")
    assert visit.page.input_value("#text") == "Jane Roe has an amygdala"
    visit.choose("mode", "two")
    visit.until("/apart/.test(document.getElementById('support').textContent)")
    link = copied_link(visit)
    assert "Roe" in link
    assert f"{box}=" not in link
    assert visit.errors == []


def test_two_texts_are_compared_and_a_link_brings_them_back(visit, browser, server):
    visit.choose("mode", "two")
    visit.page.fill("#text", "amygdala")
    visit.page.fill("#other", "motor cortex 'and' \"more\"")
    visit.until("/apart/.test(document.getElementById('support').textContent)")
    visit.until("/amygdala/i.test(document.querySelector('#regions tbody')?.textContent)")
    link = copied_link(visit)
    assert "#" in link
    with Visit(browser, link) as other:
        assert other.page.input_value("#other") == "motor cortex 'and' \"more\""
        assert other.page.is_checked("input[name=mode][value=two]")
        assert "amygdala" in other.regions()
        assert other.errors == []


@pytest.mark.parametrize("kind", ["browser", "flat_browser"])
def test_a_text_that_attacks_is_only_a_text(kind, request, server):
    browser = request.getfixturevalue(kind)
    with Visit(browser, server.url) as visit:
        visit.write(ATTACK)
        visit.page.hover("#reading mark")
        visit.page.click("#by-sentence summary")
        visit.page.wait_for_selector("#sentences li")
        assert visit.page.evaluate("window.hacked") is None
        assert visit.page.inner_text("#reading") == ATTACK
        assert visit.page.locator("main img").count() == 0
        assert visit.errors == []


def test_nothing_is_asked_of_any_other_server_and_no_text_is_in_an_address(visit, server):
    visit.write("unmistakable words of the amygdala")
    visit.page.hover("#reading mark")
    visit.until("document.getElementById('caption').textContent.startsWith('The term')")
    away = [url for url in visit.requests if not url.startswith((server.url, "blob:", "data:"))]
    assert away == []
    assert not any(re.search("unmistakable|amygdala", url) for url in visit.requests)


def test_the_map_is_the_same_without_a_graphics_card(flat_visit, visit):
    for each in (flat_visit, visit):
        each.write("the amygdala")
        each.choose("image", "mass")
        each.until("document.querySelectorAll('#legend .level').length === 3")
    assert flat_visit.stage() == visit.stage()
    disabled = flat_visit.page.locator("input:disabled")  # these regions have no threshold
    assert disabled.evaluate_all("inputs => inputs.map(({ id }) => id)") == ["hidden"]
    box = flat_visit.page.locator("#map").bounding_box()
    flat_visit.page.mouse.click(box["x"] + box["width"] * 0.31, box["y"] + box["height"] * 0.27)
    flat_visit.page.wait_for_selector("#decoded li")
    assert flat_visit.errors == []


def test_an_error_is_told_and_can_be_tried_again(visit):
    visit.page.route("**/api/v1/encode.form", lambda route: route.abort())
    visit.page.fill("#text", "amygdala")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "does not answer" in visit.page.inner_text("#problem")
    assert visit.page.locator("body.stale").count() == 1  # the map is still that of the last text
    visit.page.unroute("**/api/v1/encode.form")
    visit.page.click("#again")
    visit.page.wait_for_selector("#problem", state="hidden")
    visit.page.wait_for_selector("body:not(.stale)")
    assert visit.page.inner_text("#reading") == "amygdala"


def test_the_keyboard_is_enough(visit):
    visit.page.focus("#text")
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.type("the visual cortex")
    visit.page.keyboard.press("Control+Enter")
    visit.until("document.querySelector('#reading mark')?.textContent === 'visual cortex'")
    visit.page.focus("#regions tbody button >> nth=1")
    visit.page.keyboard.press("Enter")
    visit.until("Number(document.getElementById('y').value) < -60")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_everyone_can_use_it(browser, server, theme, size):
    width, height = SIZES[size]
    screen = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
    address = f"{server.url}/#text=the+visual+cortex"
    with Visit(browser, address, bypass_csp=True, **screen) as visit:
        assert visit.page.evaluate("document.documentElement.dataset.theme") == theme
        for tab in ("regions", "peaks", "place", "studies"):
            visit.open(tab)
            assert serious_problems(visit.page) == []
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert visit.page.evaluate(overflow) <= 0


def test_the_documentation_works_offline(browser, server):
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{server.url}/docs")
    page.wait_for_selector('#routes[aria-busy="false"]')
    assert serious_problems(page) == []
    page.click("#api-v1-encode .try button")
    page.wait_for_selector("#api-v1-encode pre")
    assert '"support"' in page.inner_text("#api-v1-encode pre")
    context.close()


@pytest.mark.parametrize(
    "query",
    [
        "mode=two&text=amygdala&other=motor+cortex",
        "mode=term&term=amygdala&image=log_ratio",
        "mode=decode&points=-22+-4+-18",
        "text=amygdala&view=surface&image=mass",
    ],
)
def test_everyone_can_use_every_mode(browser, server, query):
    with Visit(browser, f"{server.url}/#{query}", bypass_csp=True, color_scheme="dark") as visit:
        visit.told_place()
        assert serious_problems(visit.page) == []
        assert visit.errors == []
