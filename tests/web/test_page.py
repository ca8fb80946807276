"""The page in a real browser, headless: what a person does, and what must not happen."""

import gzip
import re
import time

import nibabel
import numpy as np
import pytest
from tests.browser import PATIENCE_MS, serious_problems

pytestmark = pytest.mark.browser

READY = '#stage[aria-busy="false"]'
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
ATTACK = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script> the amygdala'


class Visit:
    """A page that is open, and all that went on in it."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._hear)
        self.page.goto(url)
        self.ready()

    def _hear(self, message):
        if message.type == "error":
            self.errors.append(message.text)

    def ready(self):
        self.page.wait_for_selector(READY)
        self.page.wait_for_selector("#regions tbody tr")

    def until(self, condition):
        """Wait until an expression holds; as a function, which the page's policy allows."""
        self.page.wait_for_function(f"() => {condition}")

    def write(self, text):
        """Type a text, and wait until it was read and its map is there."""
        self.page.fill("#text", text)
        self.page.wait_for_function(
            "text => document.getElementById('reading').textContent === text", arg=text
        )
        self.ready()

    def place(self):
        return [int(self.page.input_value(f"#{axis}")) for axis in "xyz"]

    def regions(self):
        return self.page.inner_text("#regions tbody").lower()

    def stage(self):
        return self.page.locator("#stage").screenshot()

    def new_stage(self, *seen):
        """Wait until the stage looks like none of some pictures."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while (picture := self.stage()) in seen:
            assert time.monotonic() < deadline
            self.page.wait_for_timeout(100)
        return picture

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.context.close()


@pytest.fixture(scope="module")
def shared_visit(browser, server):
    with Visit(browser, server.url) as visit:
        yield visit


@pytest.fixture
def visit(shared_visit):
    """Give a page that tests share, for it takes seconds to open one; as it was at first."""
    visit = shared_visit
    visit.page.unroute_all()
    visit.page.mouse.move(0, 0)
    for name, value in [("mode", "one"), ("image", "density"), ("view", "slices")]:
        visit.page.check(f"input[name={name}][value={value}]", force=True)
    visit.write("the visual cortex")
    visit.requests.clear()
    visit.errors.clear()
    return visit


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


def test_a_click_on_a_region_or_a_peak_moves_the_crosshair(visit):
    visit.write("the left amygdala")
    visit.page.fill("#x", "0")
    visit.page.click("#regions tbody tr:first-child button")
    visit.until("document.getElementById('x').value !== '0'")
    at = visit.place()
    assert visit.regions().startswith("left")
    assert at[0] < 0
    visit.page.click("#peaks tbody tr:nth-child(2) button")
    visit.until(f"document.getElementById('y').value !== '{at[1]}'")
    text = visit.page.inner_text("#peaks tbody tr:nth-child(2) button").replace("−", "-")
    assert visit.place() == pytest.approx([float(mm) for mm in text.split(",")], abs=2)


def test_a_click_in_the_brain_tells_what_speaks_for_it(visit):
    visit.write("the amygdala")
    box = visit.page.locator("#gl").bounding_box()
    before = visit.place()
    visit.page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.3)
    visit.page.wait_for_selector("#decoded li")
    assert visit.place() != before
    terms = visit.page.locator("#decoded li").all_inner_texts()
    assert set(terms) <= {"amygdala", "visual cortex", "motor cortex", "anterior cingulate cortex"}


def test_the_density_that_is_downloaded_integrates_to_one(visit, tmp_path):
    visit.write("the amygdala")
    with visit.page.expect_download() as download:
        visit.page.click("button[data-form=nifti]")
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    image = nibabel.Nifti1Image.from_bytes(gzip.decompress(path.read_bytes()))
    volume = abs(np.linalg.det(image.affine[:3, :3]))
    assert image.get_fdata().sum() * volume == pytest.approx(1, 1e-4)
    with visit.page.expect_download() as download:
        visit.page.click("button[data-form=csv]")
    download.value.save_as(tmp_path / "regions.csv")
    header, first, *_ = (tmp_path / "regions.csv").read_text().splitlines()
    assert header == "region,name,probability,ratio,excess,x,y,z"
    assert len(first.split(",")) == 8


def test_views_switch(visit):
    visit.write("the amygdala")
    seen = [visit.stage()]
    for name, value in [("image", "mass"), ("image", "log_ratio"), ("view", "render")]:
        visit.page.check(f"input[name={name}][value={value}]", force=True)
        seen.append(visit.new_stage(*seen))
    visit.page.select_option("#colours", "viridis")
    visit.new_stage(*seen)
    assert visit.errors == []


def test_pointing_at_a_term_shows_its_own_map(visit):
    visit.write("the amygdala and the motor cortex")
    before = visit.stage()
    visit.page.hover("#reading mark >> nth=0")
    visit.page.wait_for_selector("#caption:not([hidden])")
    assert "amygdala" in visit.page.inner_text("#caption")
    visit.new_stage(before)
    visit.page.mouse.move(0, 0)
    visit.page.wait_for_selector("#caption", state="hidden")


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
    visit.page.wait_for_selector("#caption:not([hidden])")
    assert visit.page.inner_text("#caption").startswith("The motor cortex")


def test_two_texts_are_compared_and_a_link_brings_them_back(visit, browser, server):
    visit.page.check("input[name=mode][value=two]", force=True)
    visit.page.fill("#text", "amygdala")
    visit.page.fill("#other", "motor cortex 'and' \"more\"")
    visit.until("document.body.classList.contains('pair')")
    visit.until("/amygdala/i.test(document.querySelector('#regions tbody')?.textContent)")
    link = visit.page.evaluate(
        """async () => {
            let copied;
            navigator.clipboard.writeText = async (text) => { copied = text; };
            document.querySelector("[data-copy=link]").click();
            return copied;
        }"""
    )
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
        assert visit.page.locator("main img").count() == (kind == "flat_browser")
        assert visit.errors == []


def test_nothing_is_asked_of_any_other_server_and_no_text_is_in_an_address(visit, server):
    visit.write("unmistakable words of the amygdala")
    visit.page.hover("#reading mark")
    visit.page.wait_for_selector("#caption:not([hidden])")
    away = [url for url in visit.requests if not url.startswith((server.url, "blob:", "data:"))]
    assert away == []
    assert not any(re.search("unmistakable|amygdala", url) for url in visit.requests)


def test_without_webgl_the_server_draws_slices(flat_visit):
    visit = flat_visit
    visit.write("the amygdala")
    size = "(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])(window.slices)"
    visit.until(f"{size}[0] > 0")
    assert visit.page.evaluate(size) == [338, 346]
    assert visit.page.locator("canvas").count() == 0
    before = visit.stage()
    visit.write("the motor cortex")
    visit.new_stage(before)
    box = visit.page.locator("#slices").bounding_box()
    visit.page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.7)
    visit.page.wait_for_selector("#decoded li")
    x, y, _ = visit.place()
    assert (x, y) == pytest.approx((0.25 * 338 - 76, -110 + 346 - 0.7 * 346), abs=2)
    assert visit.errors == []


def test_a_graphics_card_that_is_lost_is_done_without(browser, server):
    with Visit(browser, server.url) as visit:
        lose = (
            "document.getElementById('gl').getContext('webgl2').getExtension('WEBGL_lose_context')"
        )
        visit.page.evaluate(f"{lose}.loseContext()")
        visit.page.wait_for_selector("#slices")
        visit.until("window.slices.naturalWidth > 0")
        assert visit.page.locator("canvas").count() == 0


def test_an_error_is_told_and_forgotten(visit):
    visit.page.route("**/api/v1/encode", lambda route: route.abort())
    visit.page.fill("#text", "amygdala")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "does not answer" in visit.page.inner_text("#problem")
    assert visit.page.locator("body.stale").count() == 1  # the map is still that of the last text
    visit.page.unroute("**/api/v1/encode")
    visit.page.click("#run")
    visit.page.wait_for_selector("#problem", state="hidden")
    visit.page.wait_for_selector("body:not(.stale)")
    visit.page.fill("#text", "")
    visit.page.wait_for_selector("body.stale")


def test_the_keyboard_is_enough(visit):
    visit.page.focus("#text")
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.type("the visual cortex")
    visit.page.keyboard.press("Control+Enter")
    visit.until("document.querySelector('#reading mark')?.textContent === 'visual cortex'")
    visit.page.focus("#regions tbody tr:nth-child(2) button")
    visit.page.keyboard.press("Enter")
    visit.until("Number(document.getElementById('y').value) < -60")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_everyone_can_use_it(browser, server, theme, size):
    width, height = SIZES[size]
    screen = {"viewport": {"width": width, "height": height}, "color_scheme": theme}
    with Visit(browser, server.url, bypass_csp=True, **screen) as visit:
        visit.page.wait_for_selector('#place[aria-busy="false"] #decoded li')
        assert visit.page.evaluate("document.documentElement.dataset.theme") == theme
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
