"""How to read, about and cite; and the map within another page."""

import pytest
from tests.browser import serious_problems
from tests.web.conftest import open_client
from tests.web.visit import PATIENCE_MS, Visit

from neurowhere.web import Settings
from neurowhere.web.server import create_app

SITE = "https://example.org"


@pytest.mark.browser
def test_dialogs_explain_and_cite_and_keep_the_query(browser, server):
    with Visit(browser, f"{server.url}/#text=the+amygdala", bypass_csp=True) as visit:
        visit.until("document.getElementById('about').textContent")
        visit.page.click("[data-dialog=how]")
        assert "It is not an image of a patient" in visit.page.inner_text("#how")
        assert serious_problems(visit.page) == []
        visit.page.keyboard.press("Escape")
        visit.page.wait_for_selector("#how", state="hidden")
        visit.page.click("[data-dialog=what]")
        assert "60" in visit.page.inner_text("#model")  # studies
        visit.until("document.getElementById('citation').textContent")
        cited = visit.page.inner_text("#citation")
        assert cited.count("@") == 3
        assert cited.count("{") == cited.count("}")
        assert "Dock{\\`e}s, J{\\'e}r{\\^o}me" in cited
        assert serious_problems(visit.page) == []
        visit.page.click("#what .close")
        assert visit.page.input_value("#text") == "the amygdala"
        assert visit.errors == []


def test_no_site_may_frame_the_page_unless_it_is_named(model):
    with open_client(create_app(model)) as client:
        headers = client.get("/").headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert client.get("/api/v1/model").json()["embed"] is False
    with open_client(create_app(model, Settings(embed=(SITE,)))) as client:
        headers = client.get("/").headers
        assert f"frame-ancestors {SITE}" in headers["content-security-policy"]
        assert "x-frame-options" not in headers
        assert client.get("/api/v1/model").json()["embed"] is True


@pytest.mark.browser
def test_a_map_is_shown_within_another_page(browser, server, far_server):
    page = browser.new_page(bypass_csp=True)  # that of the page around the frame
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{server.url}/docs")
    page.evaluate(
        """(address) => {
            const frame = document.createElement("iframe");
            Object.assign(frame, { src: address, width: 640, height: 560 });
            document.body.replaceChildren(frame);
        }""",
        f"{far_server.url}/#text=the+amygdala&embed=1",
    )
    frame = page.frame_locator("iframe")
    frame.locator("#map[data-drawn]").wait_for()
    frame.locator('#stage[aria-busy="false"]').wait_for()
    assert frame.locator("#text").is_hidden()
    assert frame.locator("#caption").inner_text() == "Your text: compared with the average study"
    assert frame.locator("#map").bounding_box()["height"] > 300
    page.close()
