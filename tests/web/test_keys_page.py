"""A whole session with keys alone: ask, read, look around, export, compare, go back."""

import pytest
from tests.web.visit import Visit

pytestmark = pytest.mark.browser

FOCUS = """() => {
    const { activeElement: at } = document;
    return at.id || at.dataset.form || at.dataset.copy || at.value || at.textContent.trim();
}"""
MOST_STEPS = 60


def tab_to(visit, wanted, key="Tab"):
    """Press Tab until the focus is where it is wanted; what has the focus is seen."""
    for _ in range(MOST_STEPS):
        visit.page.keyboard.press(key)
        if visit.page.evaluate(FOCUS) == wanted:
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            hidden = "document.activeElement.matches('input[type=radio], .hidden')"
            assert visit.page.evaluate(hidden) or visit.page.evaluate(outline) != "none", wanted
            return
    raise AssertionError(f"no way to {wanted} by Tab")


def test_a_whole_session_needs_no_mouse(browser, shipped_server, tmp_path):
    screen = {"viewport": {"width": 1280, "height": 800}}
    with Visit(browser, f"{shipped_server.url}/#text=fear", **screen) as visit:
        keys = visit.page.keyboard
        visit.page.evaluate("document.body.focus()")
        keys.press("Tab")  # the first stop skips to the text
        assert visit.page.evaluate(FOCUS) == "Skip to the text"
        keys.press("Enter")
        assert visit.page.evaluate(FOCUS) == "text"
        keys.press("Control+A")
        keys.type("infarct of the left insula")
        keys.press("Control+Enter")
        visit.until(
            "document.getElementById('reading').textContent === 'infarct of the left insula'"
        )
        visit.ready()
        assert visit.page.inner_text("#answer").startswith("Left insula")

        tab_to(visit, "log_ratio")
        keys.press("ArrowRight")
        visit.until("/density/.test(document.getElementById('caption').textContent)")
        tab_to(visit, "slices")
        keys.press("ArrowRight")  # glass
        assert visit.page.input_value("input[name=view]:checked") == "glass"
        keys.press("ArrowLeft")

        keys.press("Tab")  # the menu of exports
        assert visit.page.evaluate(FOCUS).startswith("Export")
        keys.press("Enter")
        tab_to(visit, "csv")
        with visit.page.expect_download() as download:
            keys.press("Enter")
        assert download.value.suggested_filename == "infarct-of-the-left-insula-regions.csv"
        keys.press("Escape")
        assert visit.page.evaluate("document.querySelectorAll('.menu[open]').length") == 0

        tab_to(visit, "map")
        before = visit.place()
        keys.press("PageUp")
        keys.press("Shift+ArrowRight")
        assert visit.place() == [before[0] + 10, before[1], before[2] + 2]

        tab_to(visit, "insula")  # a word of the text
        keys.press("Enter")
        visit.until("/“insula”/.test(document.getElementById('caption').textContent)")
        keys.press("Escape")
        visit.until("!/“insula”/.test(document.getElementById('caption').textContent)")

        tab_to(visit, "tab-regions")
        keys.press("ArrowRight")
        assert visit.page.is_visible("#panel-peaks")
        keys.press("ArrowRight")
        visit.page.wait_for_selector("#decoded li")
        assert visit.page.is_visible("#panel-place")

        visit.page.keyboard.press("Home")
        visit.page.evaluate("document.querySelector('.skip').focus()")
        keys.press("Enter")
        tab_to(visit, "one", "Shift+Tab")
        keys.press("ArrowRight")  # compare
        tab_to(visit, "other")
        keys.type("right amygdala")
        visit.until("document.getElementById('caption').textContent.startsWith('First and second')")
        assert "More in the first: left insula" in visit.page.inner_text("#answer")
        visit.page.go_back()  # Alt and the left arrow are keys of a window, which there is not
        visit.until("document.getElementById('answer').textContent.startsWith('Left insula')")
        assert visit.errors == []
