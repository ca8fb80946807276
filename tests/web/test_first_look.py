"""What a person sees first: an answer where there is one, and none where there is none."""

import re

import pytest
from tests.browser import serious_problems
from tests.web.visit import Visit

pytestmark = pytest.mark.browser

REPORT = (
    "3.2 cm enhancing mass in the right frontal lobe extending into the corpus callosum with "
    "compression of the lateral ventricle. The cerebellum is unremarkable."
)
COLOURED = """() => {
    const { width, height } = document.getElementById("map");
    const pen = document.getElementById("map").getContext("2d");
    const { data } = pen.getImageData(0, 0, width, height);
    let warm = 0, cold = 0;
    for (let i = 0; i < data.length; i += 4) {
        if (data[i] - data[i + 2] > 60) warm += 1;
        if (data[i + 2] - data[i] > 60) cold += 1;
    }
    return [warm, cold].map(n => (n > 20 ? n : 0)); // letters have soft edges
}"""
FIRST_SCREEN = ["#text", "#map", "#answer", "#legend", "#take", "#reading", "#findings", "#regions"]


def colours(visit):
    visit.stage()
    return visit.page.evaluate(COLOURED)


@pytest.fixture
def ready(shipped_visit):
    """Give a page of the shipped model as it is at first."""
    visit = shipped_visit
    visit.page.mouse.move(0, 0)
    visit.page.evaluate("document.querySelectorAll('.menu').forEach(each => each.open = false)")
    visit.go("#text=amygdala&crosshair=0")
    visit.requests.clear()
    visit.errors.clear()
    return visit


def ask(visit, text):
    """Ask for a text that may have no map."""
    visit.page.fill("#text", text)
    visit.page.wait_for_function(
        "text => document.getElementById('reading').textContent === text", arg=text
    )
    visit.page.wait_for_selector('#stage[aria-busy="false"]')


def test_a_text_without_a_map_has_neither_crosshair_nor_labels(ready):
    ready.go("#text=amygdala")
    bright = """() => {
        const map = document.getElementById("map");
        const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
        let n = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 1] - data[i] > 60) n += 1;
        return n;
    }"""
    ready.stage()
    assert ready.page.evaluate(bright) > 100
    ask(ready, "asdf")
    ready.stage()
    assert ready.page.evaluate(bright) == 0


def test_a_foreign_text_is_told_so_and_no_word_of_it_is_corrected(ready):
    ask(ready, "Linker Hirninfarkt mit Aphasie, keine Blutung im Thalamus.")
    assert ready.page.inner_text("#withheld-words") == "Not in English; translate the text."
    assert not ready.page.is_visible("#withheld-try")


def test_what_is_old_is_told_after_the_rest_and_the_map_shows_the_rest_first(ready):
    ready.write("Chronic left thalamic lacune. New right cerebellar haemorrhage.")
    assert ready.page.inner_text("#answer").startswith("Right cerebellum; old: left thalamus")
    assert ready.place()[0] > 0
    assert ready.place()[2] < 0


def test_both_sides_are_told_where_a_text_names_no_side(ready):
    ready.write("Bilateral hippocampal sclerosis, more on the left.")
    assert ready.page.inner_text("#answer").startswith("Hippocampus (both sides)")
    ready.write("fear and the anterior insula")
    assert ready.page.inner_text("#answer").startswith("Anterior insula (both sides)")


@pytest.mark.parametrize("text", ["Normal MRI of the brain", "asdf", "brain", "amigdala"])
def test_a_text_that_says_nothing_of_where_has_no_map(ready, text):
    assert sum(colours(ready)) > 0
    ask(ready, text)
    assert ready.page.is_visible("#withheld")
    reason = "The report says that nothing is wrong" if "Normal" in text else "No place: "
    assert ready.page.inner_text("#withheld-words").startswith(reason)
    assert ready.page.inner_text("#withheld strong") == "No map for this text"
    assert not any(map(ready.page.is_visible, ["#answer", "#image", "#coordinates", "#read-as"]))
    assert ready.caption() == "No map"
    assert colours(ready) == [0, 0]
    assert not ready.page.is_visible("#regions")
    assert serious_problems(ready.page) == []
    if text == "amigdala":
        ready.page.click("#withheld-try >> text=amygdala")
        ready.until("document.getElementById('reading').textContent === 'amygdala'")
        ready.ready()
        assert sum(colours(ready)) > 0
        return
    assert "Name a part of the brain" in ready.page.inner_text("#withheld-try")
    ready.page.click("#draw-anyway")
    ready.until("document.getElementById('caption').textContent.startsWith('The average of all')")
    assert colours(ready) == [0, 0]  # in grey
    assert ready.errors == []


def test_the_answer_stands_above_the_map(ready):
    assert ready.page.is_checked("input[name=image][value=log_ratio]")
    assert ready.page.inner_text("#answer").startswith("Amygdala (both sides)")
    assert ready.page.inner_text("#answer").endswith("· well supported")
    ready.write("left amygdala")
    assert ready.page.inner_text("#answer").startswith("Left: amygdala")
    assert colours(ready)[0] > 0
    legend = ready.page.inner_text("#legend")
    assert "≤ ×0" in legend
    assert "≥ ×" in legend
    assert "as likely as in the average study" in legend
    ready.choose("image", "density")
    ready.until("/cm³/.test(document.getElementById('legend').textContent)")
    assert colours(ready)[1] == 0


def test_a_report_is_read_as_one_unless_one_chooses(ready):
    ready.write(REPORT)
    rows = ready.page.locator("#findings .role").all_inner_texts()
    assert rows[0].startswith("in right frontal lobe")
    assert any(row.startswith("extends to right corpus callosum") for row in rows)
    assert any(row.startswith("presses on right lateral ventricle") for row in rows)
    assert rows[-1] == "normal cerebellum"
    assert "Mass, 32 mm" in ready.page.inner_text("#findings")
    assert ready.page.inner_text("#reading .as-seat") == "frontal lobe"
    assert ready.page.inner_text("#reading .as-pressed") == "lateral ventricle"
    assert ready.page.inner_text("#read-as").startswith("Read as a report")
    before = colours(ready)
    ready.page.click("#read-as >> text=Read as a study")
    ready.until("/you chose/.test(document.getElementById('read-as').textContent)")
    ready.ready()
    assert ready.page.is_hidden("#findings")
    assert colours(ready) != before
    ready.until_address_has("kind=study")
    ready.page.click("#read-as >> text=Let the text decide")
    ready.page.wait_for_selector("#findings")
    assert ready.errors == []


def test_a_report_that_contradicts_itself_is_told(ready):
    ready.write(
        "FINDINGS: 3 cm enhancing mass in the right frontal lobe with edema.\n"
        "IMPRESSION: Left frontal lobe mass, likely glioma."
    )
    assert "contradicts itself" in ready.page.inner_text("#contradictions")
    ready.write("amygdala")
    assert ready.page.is_hidden("#contradictions")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_answer_is_on_the_first_screen(browser, shipped_server, theme):
    screen = {"viewport": {"width": 1440, "height": 900}, "color_scheme": theme}
    with Visit(browser, shipped_server.url, **screen) as visit:
        for selector in FIRST_SCREEN:
            box = visit.page.locator(selector).bounding_box()
            assert box["y"] + min(box["height"], 30) <= 900, selector
        assert visit.page.evaluate("document.documentElement.scrollHeight") < 1700


def test_all_tables_fit_at_1280(browser, shipped_server):
    with Visit(browser, shipped_server.url, viewport={"width": 1280, "height": 800}) as visit:
        for tab in ("regions", "peaks", "studies"):
            visit.open(tab)
            wide = f"document.querySelector('#panel-{tab} .wide, #panel-{tab}')"
            assert visit.page.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth"), tab


def test_regions_are_in_two_groups_each_sorted(ready):
    ready.write("left amygdala and insula")
    groups = ready.page.locator("#regions tr.group").all_inner_texts()
    assert groups == ["Named in the text", "Also covered"]
    for name, column in (("Excess", 2), ("Ratio", 3), ("Share", 1)):
        ready.page.get_by_role("button", name=name, exact=True).click()
        ready.page.wait_for_function(
            "name => document.querySelector('#regions th[aria-sort]').textContent === name",
            arg=name,
        )
        numbers = ready.page.evaluate(
            """column => [...document.querySelectorAll("#regions tbody tr")].map(row =>
                row.className ? null
                    : parseFloat(row.children[column].textContent.replace(/[×+%]/g, "")))""",
            column,
        )
        split = numbers.index(None, 1)
        for group in (numbers[1:split], numbers[split + 1 :]):
            assert group == sorted(group, reverse=True), name


def test_on_a_phone_the_map_begins_on_the_first_screen(browser, shipped_server):
    screen = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with Visit(browser, shipped_server.url, **screen) as visit:
        assert visit.page.locator("#map").bounding_box()["y"] < 650
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390


# ---- what the map says under the pointer, and what turns


def middle(visit, across, down):
    box = visit.page.locator("#map").bounding_box()
    return box["x"] + box["width"] * across, box["y"] + box["height"] * down


def test_the_map_says_region_value_and_ratio_under_the_pointer(ready):
    ready.page.mouse.move(*middle(ready, 0.22, 0.4))
    ready.page.wait_for_selector("#tip:not([hidden])")
    assert re.search(
        r"×[\d.]+ the average · [\d.e-]+ % of peaks per cm³", ready.page.inner_text("#tip")
    )
    ready.page.mouse.move(0, 0)
    ready.page.wait_for_selector("#tip", state="hidden")


def test_the_crosshair_says_the_ratio_that_the_table_of_peaks_has(ready):
    ready.write("left MCA infarct")
    ready.open("peaks")
    ready.page.click("#peaks tbody button >> nth=0")
    ratio = ready.page.inner_text("#peaks tbody tr:first-child td:last-child")
    ready.open("place")
    ready.page.wait_for_selector("#decoded li")
    assert f" · {ratio} the average" in ready.page.inner_text("#place-words")


def test_a_region_that_is_pointed_at_is_outlined(ready):
    ready.page.hover("#regions tbody button >> nth=0")
    ready.page.wait_for_selector("#stage[data-outlined]")
    ready.page.mouse.move(0, 0)
    ready.page.wait_for_selector("#stage:not([data-outlined])")


def test_what_turns_switches_no_tab_and_keeps_no_wrong_label(browser, shipped_server):
    address = f"{shipped_server.url}/#text=left+insula"
    with Visit(browser, address, viewport={"width": 1440, "height": 900}) as visit:
        before = visit.stage()
        x, y = middle(visit, 0.65, 0.75)
        visit.page.mouse.move(x, y)
        visit.page.mouse.down()
        visit.page.mouse.move(x + 80, y + 10, steps=4)
        visit.page.mouse.up()
        turned = visit.new_stage(before)
        assert visit.page.get_attribute("#tab-regions", "aria-selected") == "true"
        visit.choose("view", "surface")
        visit.page.wait_for_timeout(500)
        seen = visit.new_stage(turned)
        visit.page.focus("#map")
        place = visit.place()
        visit.page.keyboard.press("ArrowLeft")
        visit.new_stage(seen)
        assert visit.place() == place
        assert visit.page.get_attribute("#tab-regions", "aria-selected") == "true"
        assert visit.errors == []


def test_the_cortex_turns_by_touch(browser, shipped_server):
    screen = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    with Visit(browser, f"{shipped_server.url}/#text=left+insula&view=surface", **screen) as visit:
        visit.page.evaluate("document.querySelector('.viewer').scrollIntoView()")
        visit.page.wait_for_timeout(800)  # for the cortex
        before = visit.stage()
        box = visit.page.locator("#map").bounding_box()
        x, y = box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.4
        session = visit.context.new_cdp_session(visit.page)
        touch = "Input.dispatchTouchEvent"
        session.send(touch, {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for step in range(1, 6):
            session.send(
                touch, {"type": "touchMove", "touchPoints": [{"x": x + 15 * step, "y": y}]}
            )
        session.send(touch, {"type": "touchEnd", "touchPoints": []})
        visit.new_stage(before)
        assert visit.page.get_attribute("#tab-regions", "aria-selected") == "true"
        assert visit.errors == []
