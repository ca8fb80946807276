"""Nothing that a person wrote is lost, and nothing on the page misleads."""

import pytest
from tests.web.visit import Visit

pytestmark = pytest.mark.browser

OWN = "Your text: compared with the average study"  # the caption of a text

WARD = {"viewport": {"width": 1280, "height": 720}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def box(visit, selector):
    return visit.page.locator(selector).bounding_box()


# ---- texts and modes


def test_modes_keep_what_was_written(visit):
    visit.write("the amygdala")
    visit.choose("mode", "two")
    assert visit.page.input_value("#text") == "the amygdala"
    assert visit.page.input_value("#other") == ""
    assert "amygdala" in visit.regions()  # until there is a second text, the first has its map
    visit.page.fill("#other", "motor cortex")
    visit.until("/apart/.test(document.getElementById('support').textContent)")
    visit.choose("mode", "one")
    visit.until("/supported/.test(document.getElementById('support').textContent)")
    visit.choose("mode", "two")
    visit.until("/apart/.test(document.getElementById('support').textContent)")
    texts = [visit.page.input_value(f"#{name}") for name in ("text", "other")]
    assert texts == ["the amygdala", "motor cortex"]


def test_an_example_of_a_comparison_leaves_the_first_text(visit):
    visit.write("the amygdala")
    visit.choose("mode", "two")
    visit.page.click("#examples button >> nth=0")
    assert visit.page.input_value("#text") == "the amygdala"
    assert visit.page.input_value("#other") != ""


def test_an_empty_text_clears_the_answer(visit):
    visit.write("the amygdala")
    full = visit.stage()
    visit.page.fill("#text", "   ")
    visit.until("document.querySelectorAll('#regions tbody tr').length === 0")
    assert visit.page.inner_text("#reading").strip() == ""
    assert "No map" in visit.caption()
    assert visit.page.is_disabled("button[data-form=nifti]")
    visit.new_stage(full)
    visit.write("the amygdala")
    assert visit.page.is_enabled("button[data-form=nifti]")


def test_a_paste_over_the_limit_says_that_it_was_cut(browser, far_server):
    long = "the amygdala 🧠 " * 15
    with Visit(browser, f"{far_server.url}/#text=amygdala") as visit:
        visit.until("document.getElementById('about').textContent")
        visit.page.fill("#text", long)
        assert "first 200 of 225 characters" in visit.page.inner_text("#notice")
        assert visit.page.input_value("#text") == long[:200]
        visit.until("document.getElementById('reading').textContent.length === 213")
        visit.page.fill("#text", "amygdala")
        visit.page.wait_for_selector("#notice", state="hidden")
        assert visit.errors == []


# ---- late answers


def test_an_answer_that_comes_late_is_dropped(visit):
    visit.write("the amygdala and the motor cortex")
    before = visit.stage()
    held = visit.hold("**/api/v1/term.nii.gz")
    visit.page.hover("#reading mark >> nth=0")
    late = visit.first_held(held)
    visit.page.mouse.move(0, 0)
    with visit.page.expect_response("**/api/v1/term.nii.gz") as answer:
        late.continue_()
    answer.value.finished()
    assert visit.caption() == OWN
    assert visit.stage() == before


def test_an_answer_to_another_text_is_dropped_while_one_types(visit):
    held = visit.hold("**/api/v1/encode.form")
    visit.page.fill("#text", "the amygdala")
    visit.page.click("#run")
    first = visit.first_held(held)
    visit.page.fill("#text", "the motor cortex")
    first.continue_()
    visit.first_held(held)  # of the second text, which is left waiting
    assert visit.page.inner_text("#reading") == "the visual cortex"
    visit.page.unroute_all()
    visit.write("the motor cortex")


def test_the_regions_wait_for_their_map(visit):
    visit.write("the amygdala")
    visit.choose("mode", "two")
    visit.page.fill("#other", "the visual cortex")
    visit.until("document.getElementById('caption').textContent.startsWith('First and second')")
    held = visit.hold("**/api/v1/encode.form")
    with visit.page.expect_response("**/api/v1/difference"):
        visit.page.fill("#text", "the motor cortex, whose map is new")
    late = visit.first_held(held)
    assert "amygdala" in visit.regions()
    late.continue_()
    visit.until("!/amygdala/i.test(document.querySelector('#regions tbody').textContent)")


def test_a_term_that_is_clicked_stays_until_it_is_dismissed(visit):
    visit.write("the amygdala and the motor cortex")
    visit.page.click("#reading mark >> nth=1")
    visit.page.mouse.move(0, 0)
    visit.page.wait_for_selector("#back")
    assert "motor cortex" in visit.caption()
    visit.page.click("#back")
    visit.until(f"document.getElementById('caption').textContent === '{OWN}'")
    assert visit.page.is_hidden("#back")


# ---- addresses


def test_a_reload_keeps_all_and_back_goes_back(browser, server):
    with Visit(browser, server.url) as visit:
        visit.write("the amygdala")
        visit.choose("image", "density")
        visit.until("location.hash.includes('density')")
        visit.page.fill("#x", "-30")
        visit.page.press("#x", "Enter")
        visit.until("location.hash.includes('at=-30')")
        place = visit.place()
        visit.page.reload()
        visit.ready()
        assert visit.page.input_value("#text") == "the amygdala"
        assert visit.page.is_checked("input[value=density]")
        assert visit.place() == place
        visit.page.fill("#text", "the motor cortex")
        visit.page.click("#run")
        visit.until("document.getElementById('reading').textContent === 'the motor cortex'")
        visit.page.go_back()
        visit.until("document.getElementById('reading').textContent === 'the amygdala'")
        visit.page.go_forward()
        visit.until("document.getElementById('reading').textContent === 'the motor cortex'")
        visit.page.evaluate("() => { location.hash = '#text=visual+cortex'; }")
        visit.until("document.getElementById('reading').textContent === 'visual cortex'")
        assert visit.errors == []
        assert not any("amygdala" in url.split("#")[0] for url in visit.requests)


@pytest.fixture
def hasty_visit(visit):
    """Give a page whose long pauses are a tenth as long."""
    visit.page.evaluate(
        """() => {
            const usual = window.setTimeout;
            window.setTimeout = (action, ms) => usual(action, ms < 1000 ? ms : ms / 10);
            window.restore = () => { window.setTimeout = usual; };
        }"""
    )
    yield visit
    visit.page.evaluate("window.restore()")


def test_the_last_queries_are_a_list_that_can_be_cleared_and_switched_off(hasty_visit):
    visit = hasty_visit
    visit.write("the amygdala")
    visit.until("document.getElementById('recent-list').textContent === 'the amygdala'")
    visit.write("the motor cortex")
    visit.until("document.querySelectorAll('#recent-list a').length === 2")
    visit.page.click("#recent summary")
    visit.page.click("#recent-list a >> nth=1")
    visit.until("document.getElementById('reading').textContent === 'the amygdala'")
    visit.page.click("#forget")
    visit.page.wait_for_timeout(600)  # twice what a query rests before it is remembered
    assert visit.page.locator("#recent-list a").count() == 0
    visit.page.uncheck("#remember")
    visit.until("!location.href.includes('#')")
    visit.write("the visual cortex")
    visit.page.wait_for_timeout(600)  # twice what a query rests before it is remembered
    assert "#" not in visit.page.evaluate("location.href")
    assert "visual" not in visit.page.evaluate("JSON.stringify(localStorage)")
    visit.page.check("#remember")
    visit.page.click("#recent summary")


# ---- screens


def test_on_a_ward_screen_all_controls_are_above_the_fold_and_the_stage_stays(browser, server):
    with Visit(browser, f"{server.url}/#text=the+amygdala", **WARD) as visit:
        for selector in ("#looks", "#x", "#legend", "#run"):
            place = box(visit, selector)
            assert place["y"] + place["height"] <= 720, selector
        before = box(visit, "#map")
        visit.write("the motor cortex and " + "the amygdala " * 40)
        visit.choose("image", "log_ratio")
        visit.told_place()
        assert box(visit, "#map") == before
        visit.page.evaluate("window.scrollTo(0, 500)")
        stage = box(visit, "#map")
        assert stage["y"] >= 0
        assert stage["y"] + stage["height"] <= 720


def test_on_a_phone_the_page_scrolls_over_the_map_and_a_term_brings_it_back(browser, server):
    with Visit(browser, f"{server.url}/#text=the+amygdala", **PHONE) as visit:
        touch = "getComputedStyle(document.getElementById('map')).touchAction"
        assert visit.page.evaluate(touch) == "pan-y"
        legend, stage = box(visit, "#legend"), box(visit, "#map")
        assert legend["y"] >= stage["y"] + stage["height"] - 1  # beside the slices, not over them
        visit.page.locator("#terms .bar-row").first.tap()
        visit.until("document.getElementById('caption').textContent.startsWith('The term')")
        visit.page.wait_for_function(
            """() => {
                const { top, bottom } = document.getElementById("map").getBoundingClientRect();
                return top >= 0 && bottom <= window.innerHeight;
            }"""
        )
        before = visit.place()
        visit.page.locator("#map").tap(position={"x": 100, "y": 90})  # once it rests
        visit.until(f"document.getElementById('z').value !== '{before[2]}'")
        assert visit.errors == []


# ---- keyboard


def test_arrow_keys_move_the_crosshair_as_the_label_says(visit):
    visit.page.fill("#x", "0")
    visit.page.press("#x", "Enter")
    visit.page.focus("#map")
    assert "arrow keys" in visit.page.get_attribute("#map", "aria-label")
    x, y, z = visit.place()
    for key, place in [
        ("ArrowRight", [x + 2, y, z]),
        ("ArrowUp", [x + 2, y + 2, z]),
        ("PageDown", [x + 2, y + 2, z - 2]),
        ("Shift+ArrowLeft", [x - 8, y + 2, z - 2]),
    ]:
        visit.page.keyboard.press(key)
        assert visit.place() == place


def test_terms_are_one_stop_of_the_tab_key(visit):
    visit.write("the amygdala, the visual cortex and the motor cortex")
    visit.page.focus("#reading mark >> nth=0")
    visit.page.keyboard.press("ArrowRight")
    focused = "document.activeElement.textContent"
    assert visit.page.evaluate(focused) == "visual cortex"
    visit.page.keyboard.press("Tab")
    assert not visit.page.evaluate("document.activeElement.closest('#reading')")
    visit.page.keyboard.press("Shift+Tab")
    assert visit.page.evaluate(focused) == "visual cortex"


def test_skip_links_lead_to_the_text_and_to_the_map(visit):
    address = visit.page.evaluate("location.href")
    visit.page.focus("#skip-map")
    visit.page.keyboard.press("Enter")
    visit.until("document.activeElement.id === 'map'")
    assert visit.page.evaluate("location.href") == address


def test_looks_can_be_reset(visit):
    before = visit.stage()
    visit.reveal("#hidden")
    visit.page.fill("#hidden", "40")
    visit.reveal("#crosshair")
    visit.page.uncheck("#crosshair")
    visit.new_stage(before)
    visit.reveal("#reset")
    visit.page.click("#reset")
    visit.until("document.getElementById('hidden').value === '90'")
    assert visit.stage() == before


# ---- words


def test_coordinates_that_are_none_get_words(visit):
    visit.told_place()
    before = visit.place()
    for words in ("somewhere", "", "900"):
        visit.page.fill("#y", words)
        visit.page.press("#y", "Enter")
        assert "Expected three numbers in mm" in visit.page.inner_text("#here")
    visit.page.fill("#y", str(before[1]))
    visit.open("place")
    visit.page.fill("#z", "86")
    visit.page.press("#z", "Enter")
    visit.told_place()
    assert "brain" in visit.page.text_content("#place-words")


def test_words_are_copied_where_there_is_no_clipboard(visit):
    visit.page.evaluate(
        """() => {
            Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
            document.addEventListener("copy", () => {
                window.copied = document.activeElement.value;
            }, { once: true });
        }"""
    )
    visit.reveal("[data-copy=python]")
    visit.page.click("[data-copy=python]")
    visit.until("window.copied.includes('load_model')")
    visit.page.evaluate("() => { delete navigator.clipboard; }")


def test_support_unknown_words_and_language_are_told_as_the_library_gives_them(visit, client):
    text = "The amigdala lights up, and the motor cortex."
    visit.write(text)
    told = client.post("/api/v1/encode", json={"text": text}).json()
    n_terms = told["support"]["terms"]
    assert visit.page.inner_text("#support-words").startswith(f"{n_terms} known term")
    assert visit.page.get_attribute("#support", "data-level") == told["support"]["level"]
    assert visit.page.get_attribute("#support", "title") == told["support"]["summary"]
    names = [row["name"] for row in told["regions"]]
    shown = visit.page.locator("#regions tbody th[scope=row]").all_inner_texts()
    assert [name.lower() for name in shown[: len(names)]] == names
    visit.page.get_by_role("button", name="amygdala", exact=True).first.click()
    visit.until("document.getElementById('text').value.startsWith('The amygdala lights')")
    foreign = "Der Patient hat eine Läsion der linken Amygdala und des Thalamus."
    visit.write(foreign)
    assert visit.page.is_visible("#language")
    visit.write("the amygdala")
    assert visit.page.is_hidden("#language")


def test_regions_are_in_the_order_that_is_asked_for(visit, client):
    visit.write("the amygdala")
    visit.page.get_by_role("button", name="Ratio", exact=True).click()
    query = {"text": "the amygdala", "sort": "ratio", "regions": 18}
    names = [row["name"] for row in client.post("/api/v1/encode", json=query).json()["regions"]]
    visit.page.wait_for_function(
        """name => document.querySelector("#regions tbody th[scope=row]")
            .innerText.toLowerCase() === name""",
        arg=names[0].lower(),
    )
    assert visit.page.get_attribute("#regions th[aria-sort]", "aria-sort") == "descending"
    assert visit.page.inner_text("#regions th[aria-sort]") == "Ratio"
    visit.page.get_by_role("button", name="Excess", exact=True).click()


@pytest.mark.parametrize(
    ("text", "why"),
    [("best restaurants", "knows no word"), ("No amygdala.", "denies every place")],
)
def test_a_text_that_says_nothing_has_the_average_map_if_it_is_asked_for(visit, text, why):
    visit.write(text)
    assert visit.caption() == "No map"
    assert why in visit.page.inner_text("#withheld-words")
    assert why in visit.page.inner_text("#support-words")
    visit.page.click("#draw-anyway")
    visit.until("document.getElementById('caption').textContent.startsWith('The average of all')")
    shares = visit.page.locator("#regions .meter").all_inner_texts()
    numbers = [float(share.split()[0]) for share in shares]
    assert numbers == sorted(numbers, reverse=True)
    visit.write("the amygdala")
    assert visit.caption().startswith("Your text:")


def test_without_a_text_the_page_says_what_to_do(visit):
    visit.page.fill("#text", "")
    visit.until(
        "document.getElementById('regions-note').textContent === 'No map yet: write a text.'"
    )
    assert visit.page.locator("#regions tbody tr").count() == 0


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_a_word_without_end_does_not_widen_the_page(browser, server, width):
    with Visit(browser, server.url, viewport={"width": width, "height": 720}) as visit:
        visit.write("amygdala " + "a" * 3000)
        assert visit.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
