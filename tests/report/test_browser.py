"""The page in a real browser, opened from disk."""

import pytest
from tests.browser import PATIENCE_MS, serious_problems
from tests.contrast.conftest import make_records, write_records
from tests.model.test_encoder import make_atlas
from tests.studies import GRID

from neurowhere.contrast import contrast_documents
from neurowhere.model.summary import summarise
from neurowhere.report.encoding import encoding_page

pytestmark = pytest.mark.browser

DRAWN = "#viewer.live #map[data-drawn]:not([data-pending])"
POSITION = "['x', 'y', 'z'].map((n) => Number(document.getElementById(n).value))"
COLOURED = """() => {
    const canvas = document.getElementById("map");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let n = 0; n < data.length; n += 4) coloured += Math.abs(data[n] - data[n + 2]) > 60;
    return coloured;
}"""


@pytest.fixture(scope="module")
def address(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    atlas = make_atlas()
    summary = summarise(result, atlas, n_regions=None, n_explained=4)
    path.write_text(encoding_page(result, summary, atlas), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def contrast_address(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("contrast")
    source = write_records(folder / "documents.jsonl", make_records(60))
    result = contrast_documents(
        source, "amygdala", model=model, keep=False, n_jobs=1, unadjusted=True
    )
    result.save(folder / "out")
    return (folder / "out" / "report.html").as_uri()


def visit(browser, address, **options):
    """Open the page, and keep what it asks for and what goes wrong."""
    page = browser.new_context(bypass_csp=True, **options).new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.asked, page.problems = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda message: page.problems.append(message.text))
    page.goto(address)
    page.wait_for_selector(DRAWN)
    return page


@pytest.fixture
def page(browser, address):
    page = visit(browser, address)
    yield page
    page.context.close()


def painted(page):
    """How many pixels of the map are in colour, not grey, once it is drawn."""
    page.wait_for_selector(DRAWN)
    return page.evaluate(COLOURED)


def go_to(page, place):
    for name, mm in zip("xyz", place):
        page.fill(f"#{name}", str(mm))
    page.press("#z", "Enter")


def values(page):
    """Ratio to the average and density at the crosshair, as they are told."""
    _, ratio, density, *_ = page.text_content("#here").split(" · ")
    return float(ratio.split()[0].removeprefix("×")), float(density.split()[0])


def test_it_opens_at_the_strongest_place_and_asks_for_nothing(page, result, address):
    place = result.peaks.loc[0, ["x", "y", "z"]].round().astype(int).tolist()
    assert page.evaluate(POSITION) == place
    assert painted(page) > 100
    assert [url for url in page.asked if not url.startswith("data:")] == [address]
    assert page.problems == []


def test_a_text_that_is_a_script_is_not_run(page):
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("document.querySelectorAll('.text img, .text script').length") == 0
    assert "window.hacked = 1" in page.evaluate("document.querySelector('.text').textContent")


def test_a_click_moves_the_crosshair(page):
    x, y, z = page.evaluate(POSITION)
    box = page.locator("#map").bounding_box()
    page.locator("#map").click(position={"x": box["width"] * 0.3, "y": box["height"] * 0.3})
    moved = page.evaluate(POSITION)
    assert moved[0] == x  # in the sagittal section
    assert moved != [x, y, z]


def test_keys_move_the_crosshair(page):
    x, y, z = page.evaluate(POSITION)
    for key in ("ArrowRight", "Shift+ArrowUp", "PageUp"):
        page.press("#map", key)
    assert page.evaluate(POSITION) == [x + 2, y + 10, z + 2]


def test_a_region_moves_the_crosshair_and_tells_why(page):
    button = page.locator(".regions button", has_text="amygdala").first
    button.click()
    place = button.get_attribute("data-place").split()
    assert page.evaluate(POSITION) == list(map(int, place))
    assert page.text_content("#here").startswith("Amygdala · ×")
    assert "amygdala" in page.text_content("#why")


@pytest.mark.parametrize("place", [(-22, -4, -18), (8, -92, 2), (-38, -24, 56), (0, 32, 22)])
def test_numbers_at_the_crosshair_are_those_of_the_map(page, result, place):
    (centre,) = GRID.centers_mm[GRID.region_of([place])]  # between centres, values are mixed
    go_to(page, centre.astype(int).tolist())
    region = GRID.region_of([centre])[0]
    ratio, density = values(page)
    assert density == pytest.approx(result.density[region] * 1e5, rel=0.06, abs=1e-3)
    expected = result.probabilities[region] / result.mean_map[region]  # as tables have it
    assert ratio == pytest.approx(expected, rel=0.06, abs=0.05)
    names = ("Amygdala", *make_atlas().names[1:], "No named region")
    told = page.text_content("#here").split(" · ")[0]
    assert told == names[make_atlas().region_of([centre])[0]].capitalize()


def test_images_views_and_threshold_change_the_picture(page):
    counts = {}
    for image in ("density", "log_ratio", "mass"):
        page.check(f"input[value={image}]", force=True)
        counts[image] = painted(page)
    assert len(set(counts.values())) == 3
    assert "95 %" in page.text_content("#legend")
    page.check("input[value=density]", force=True)
    assert "% of peaks per cm³" in page.text_content("#legend")
    page.fill("#hidden", "99")
    assert painted(page) < counts["density"]
    page.check("input[value=glass]", force=True)
    assert painted(page) != counts["density"]


def test_a_contrast_opens_with_the_ratio_to_its_reference(browser, contrast_address):
    page = visit(browser, contrast_address)
    assert page.input_value("input[name=image]:checked") == "log_ratio"
    assert "times the reference documents" in page.text_content("#legend")
    assert "the reference" in page.text_content("#here")
    assert painted(page) > 100
    assert page.problems == []
    page.context.close()


PRINTED = """() => {
    const style = (name) => getComputedStyle(document.querySelector(name));
    const map = document.getElementById("map");
    return {
        ink: style("h1").color, mark: style("mark").backgroundColor,
        exact: style("#legend .ramp").printColorAdjust, controls: style(".controls").display,
        shape: map.clientWidth / map.clientHeight / (map.width / map.height),
    };
}"""


def test_on_paper_it_is_light_with_its_colours_and_in_proportion(browser, address):
    page = visit(browser, address, viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page.emulate_media(media="print")
    found = page.evaluate(PRINTED)
    assert found.pop("shape") == pytest.approx(1, abs=0.01)
    assert found.pop("mark").startswith("rgba(224, 89, 12, ")
    assert found == {"ink": "rgb(0, 0, 0)", "exact": "exact", "controls": "none"}
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.context.close()


@pytest.mark.parametrize("kind", ["address", "contrast_address"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everyone_can_read_it(browser, request, kind, width, theme):
    address = request.getfixturevalue(kind)
    page = visit(browser, address, viewport={"width": width, "height": 800}, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is (theme == "dark")
    assert serious_problems(page) == []
    page.context.close()


def test_a_viewer_in_a_cell_of_a_notebook_follows_a_click(browser, result, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><body>{result.view(make_atlas())._repr_html_()}", "utf-8")
    page = browser.new_context().new_page()  # under the policy of the page
    page.set_default_timeout(PATIENCE_MS)
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(path.as_uri())
    (frame,) = page.main_frame.child_frames
    frame.wait_for_selector(DRAWN)
    before = frame.evaluate(POSITION), frame.text_content("#here")
    box = frame.locator("#map").bounding_box()
    frame.click("#map", position={"x": box["width"] * 0.3, "y": box["height"] * 0.3})
    assert (frame.evaluate(POSITION), frame.text_content("#here")) != before
    assert painted(frame) > 100
    assert problems == []
    page.context.close()
