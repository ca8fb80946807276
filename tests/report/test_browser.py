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

DRAWN = "#viewer.live [data-part=scale] span"  # the legend is drawn last
TWO_FRAMES = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
POSITION = "['x', 'y', 'z'].map((n) => Number(document.querySelector(`[data-part=${n}]`).value))"


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


def part(page, name):
    return page.text_content(f"[data-part={name}]")


def painted(page, name):
    """How many pixels of a slice are in colour, not grey, once it is drawn."""
    page.evaluate(TWO_FRAMES)
    return page.evaluate(f"""(() => {{
        const canvas = document.querySelector('[data-part={name}]');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let coloured = 0;
        for (let n = 0; n < pixels.length; n += 4)
            coloured += Math.abs(pixels[n] - pixels[n + 2]) > 20;
        return coloured;
    }})()""")


def test_it_opens_at_the_strongest_place_and_asks_for_nothing(page, result, address):
    place = result.peaks.loc[0, ["x", "y", "z"]].round().astype(int).tolist()
    assert page.evaluate(POSITION) == place
    assert painted(page, "axial") > 100
    assert [url for url in page.asked if not url.startswith("data:")] == [address]
    assert page.problems == []


def test_a_text_that_is_a_script_is_not_run(page):
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.evaluate("document.querySelectorAll('.text img, .text script').length") == 0
    assert "window.hacked = 1" in page.evaluate("document.querySelector('.text').textContent")


def test_a_click_moves_the_crosshair(page):
    x, y, z = page.evaluate(POSITION)
    slice_ = page.locator("[data-part=coronal]")
    box = slice_.bounding_box()
    slice_.click(position={"x": box["width"] / 4, "y": box["height"] / 2})
    moved = page.evaluate(POSITION)
    assert moved[1] == y
    assert moved[0] < -20  # left of the screen is left of the brain
    assert moved != [x, y, z]


def test_keys_move_the_crosshair(page):
    x, y, z = page.evaluate(POSITION)
    for key in ("ArrowRight", "Shift+ArrowUp", "PageUp"):
        page.press("[data-part=axial]", key)
    assert page.evaluate(POSITION) == [x + 2, y + 10, z + 2]


def test_a_region_moves_the_crosshair_and_tells_why(page, result):
    button = page.locator(".regions button", has_text="amygdala").first
    button.click()
    place = button.get_attribute("data-place").split()
    assert page.evaluate(POSITION) == list(map(int, place))
    assert part(page, "region") == "amygdala"
    assert "amygdala" in part(page, "why")


@pytest.mark.parametrize("place", [(-22, -4, -18), (8, -92, 2), (-38, -24, 56), (0, 32, 22)])
def test_numbers_at_the_crosshair_are_those_of_the_map(page, result, place):
    for name, mm in zip("xyz", place):
        field = f"document.querySelector('[data-part={name}]')"
        page.evaluate(f"{field}.value = {mm}; {field}.dispatchEvent(new Event('change'))")
    assert page.evaluate(POSITION) == list(place)
    region = GRID.region_of([place])[0]
    density = result.density[region] * 1e5  # % per cm³
    ratio = result.probabilities[region] / result.mean_map[region]
    assert float(part(page, "density").split()[0]) == pytest.approx(density, rel=0.06, abs=1e-3)
    assert float(part(page, "ratio").removeprefix("×")) == pytest.approx(ratio, rel=0.06, abs=1e-2)
    names = (*make_atlas().names, "no named region")
    assert part(page, "region") == names[make_atlas().region_of([place])[0]]


def test_layers_and_threshold_change_the_picture(page):
    counts = {}
    for layer in ("density", "ratio", "mass"):
        page.evaluate(f"document.querySelector('input[value={layer}]').click()")
        counts[layer] = painted(page, "axial")
    assert len(set(counts.values())) == 3
    assert "95 % of peaks" in part(page, "scale")
    page.evaluate("document.querySelector('input[value=density]').click()")
    slider = "document.querySelector('[data-part=strongest]')"
    page.evaluate(f"{slider}.value = 1; {slider}.dispatchEvent(new Event('input'))")
    assert painted(page, "axial") < counts["density"]
    assert part(page, "share") == "1 %"


def test_a_contrast_opens_with_the_ratio_to_its_reference(browser, contrast_address):
    page = visit(browser, contrast_address)
    assert page.input_value("input[name=layer]:checked") == "ratio"
    assert "as in the reference" in part(page, "scale")
    assert painted(page, "axial") > 100
    assert page.problems == []
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
