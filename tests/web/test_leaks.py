"""What leaks, is lost or is wasted: history, titles, files, paper, readers of screens, bytes."""

import io
import json
import re

import pytest
from PIL import Image
from tests.web.visit import Visit

pytestmark = pytest.mark.browser

FIRST_REQUESTS, FIRST_BYTES = 15, 1_200_000
NEXT_REQUESTS = 5
SKIPPED = (
    "TECHNIQUE: MRI of the thalamus.\n"
    "FINDINGS: Infarct in the left insula. No lesion of the hippocampus."
)


def test_back_loses_no_query(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        visit.write("reading")
        visit.until_address_has("reading")
        visit.choose("mode", "term")
        visit.page.fill("#term", "pain")
        visit.page.press("#term", "Enter")
        visit.until_address_has("term=pain")
        assert visit.page.title() == "pain – neurowhere"
        visit.page.go_back()
        visit.until("document.getElementById('reading').textContent === 'reading'")
        assert visit.page.title() == "reading – neurowhere"
        visit.page.go_back()
        visit.until("document.getElementById('reading').textContent === 'fear'")
        assert visit.page.title() == "fear – neurowhere"


def test_the_tab_of_one_query_is_not_that_of_the_next(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        visit.open("studies")
        visit.page.click("#examples button >> nth=0")
        visit.until("/insula/.test(document.getElementById('reading').textContent)")
        visit.page.wait_for_selector("#tab-regions[aria-selected=true]")


def test_without_remembering_no_title_names_the_query(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        visit.page.click("#recent summary")
        visit.page.uncheck("#remember")
        visit.write("pain")
        assert visit.page.title() == "neurowhere"


def test_a_text_of_an_old_program_is_decoded_and_files_are_named_after_the_query(
    browser, shipped_server, tmp_path
):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        content = "Läsion: naïve infarct of the left insula".encode("latin-1")
        visit.page.set_input_files(
            "#text-files", {"name": "old.txt", "mimeType": "text/plain", "buffer": content}
        )
        visit.until("/^Läsion: naïve/.test(document.getElementById('reading').textContent)")
        visit.ready()
        with visit.page.expect_download() as download:
            visit.reveal("button[data-form=nifti]")
            visit.page.click("button[data-form=nifti]")
        name = download.value.suggested_filename
        assert name == "lasion-naive-infarct-of-the-left-insula.nii.gz"
        path = tmp_path / "map.nii.gz"
        download.value.save_as(path)
        import nibabel

        said = bytes(nibabel.load(path).header["descrip"]).decode().rstrip("\0")
        assert said.startswith("neurowhere")
        assert "log ratio" in said


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_a_figure_for_a_paper_has_the_width_that_is_wanted(browser, shipped_server, form, tmp_path):
    with Visit(browser, f"{shipped_server.url}/#text=left+insula") as visit:
        visit.reveal("#figure-width")
        visit.page.select_option("#figure-width", "85")
        with visit.page.expect_download() as download:
            visit.page.click(f"button[data-form=paper-{form}]")
        assert download.value.suggested_filename == f"left-insula.{form}"
        path = tmp_path / f"figure.{form}"
        download.value.save_as(path)
        content = path.read_bytes()
        if form == "png":
            picture = Image.open(io.BytesIO(content))
            assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)
            assert picture.width / 300 * 25.4 == pytest.approx(85, abs=0.2)
            assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        elif form == "svg":
            assert b"<image" not in content  # shapes and letters alone
            assert "× the average" in content.decode()
        else:
            assert content.startswith(b"%PDF")


def test_methods_are_copied_with_their_references(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=left+insula") as visit:
        visit.page.evaluate(
            "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
        )
        visit.reveal("[data-copy=methods]")
        visit.page.click("[data-copy=methods]")
        copied = visit.page.wait_for_function("() => window.copied").json_value()
        assert "read as a study" in copied
        assert "insula" not in copied
        assert copied.count("@") == 4


def test_two_texts_have_a_figure_for_a_paper_and_its_caption(browser, shipped_server, tmp_path):
    address = f"{shipped_server.url}/#mode=two&text=left+insula&other=right+amygdala"
    with Visit(browser, address) as visit:
        visit.page.evaluate(
            "() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }"
        )
        visit.reveal("[data-copy=caption]")
        visit.page.click("[data-copy=caption]")
        copied = visit.page.wait_for_function("() => window.copied").json_value()
        assert "a, first text; b, second text, on one scale." in copied
        assert "insula" not in copied
        with visit.page.expect_download() as download:
            visit.page.click("[data-form=paper-svg]")
        download.value.save_as(tmp_path / "figure.svg")
        words = (tmp_path / "figure.svg").read_text()
        assert re.search(r">a</text>", words)
        assert re.search(r">b</text>", words)
        assert copied.partition(" Text was")[0] in words


def test_paper_keeps_the_map_its_colours_and_all_tables(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=left+insula") as visit:
        box = visit.page.locator("#map").bounding_box()
        visit.page.emulate_media(media="print")
        printed = visit.page.locator("#map").bounding_box()
        assert printed["width"] / printed["height"] == pytest.approx(
            box["width"] / box["height"], rel=0.02
        )
        for selector in ("#legend", "#reading mark", "#regions", "#peaks", "#answer"):
            assert visit.page.is_visible(selector), selector
        for selector in ("#text", "#tabs", "#take"):
            assert not visit.page.is_visible(selector), selector
        style = "getComputedStyle(document.querySelector('#legend .ramp')).printColorAdjust"
        assert visit.page.evaluate(style) == "exact"
        title = "getComputedStyle(document.getElementById('panel-peaks'), '::before').content"
        assert visit.page.evaluate(title) == '"Peaks"'
        visit.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        bar = "getComputedStyle(document.querySelector('#regions .meter'), '::before')"
        assert visit.page.evaluate(f"{bar}.backgroundColor") == "rgb(217, 239, 237)"  # light
        assert visit.page.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_the_notice_is_at_the_top(browser, shipped_server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shipped_server.url)
    notice = page.locator("noscript p")
    assert notice.bounding_box()["y"] < 60
    context.close()


def test_readers_of_screens_hear_what_is_negated_and_what_terms_do(browser, shipped_server):
    with Visit(browser, shipped_server.url) as visit:
        visit.write(SKIPPED)
        heard = visit.page.locator("#reading").aria_snapshot()
        assert "negated: hippocampus" in heard
        assert "not read: thalamus" in heard
        assert visit.page.locator("#reading s").all_inner_texts() == ["lesion", "hippocampus"]
        name = visit.page.get_attribute("#terms button >> nth=0", "aria-label")
        assert "raises the map, 100 % of the strongest" in name
        assert visit.page.inner_text("#reading") == SKIPPED


def test_words_and_their_bars_have_the_same_colour(browser, shipped_server):
    with Visit(browser, shipped_server.url) as visit:
        visit.write("Acute pain and fear in the left insula after stroke")
        bars = {
            each.inner_text().split("\n")[0]: "raises" in each.get_attribute("class")
            for each in visit.page.locator("#terms button").all()
        }
        told = 0
        for word in visit.page.locator("#reading mark").all():
            if word.inner_text() in bars:
                told += 1
                assert ("raises" in word.get_attribute("class")) == bars[word.inner_text()]
        assert told > 1


def test_forced_colours_show_the_mode_and_the_scale(browser, shipped_server):
    options = {"forced_colors": "active"}
    with Visit(browser, f"{shipped_server.url}/#text=insula", **options) as visit:
        chosen = (
            "getComputedStyle(document.querySelector('#mode input:checked + span')).outlineStyle"
        )
        assert visit.page.evaluate(chosen) == "solid"
        ramp = "getComputedStyle(document.querySelector('#legend .ramp')).backgroundImage"
        assert "gradient" in visit.page.evaluate(ramp)


class Meter:
    """Counts the requests of a page that reach the server, and their bytes."""

    def __init__(self, context, page):
        self.urls, self.cached, self.bytes = {}, set(), 0
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._sent)
        session.on("Network.requestServedFromCache", lambda e: self.cached.add(e["requestId"]))
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)

    def _sent(self, event):
        if event["request"]["url"].startswith("http"):
            self.urls[event["requestId"]] = event["request"]["url"]

    def _received(self, event):
        if event["response"].get("fromDiskCache"):
            self.cached.add(event["requestId"])

    def _finished(self, event):
        self.bytes += event["encodedDataLength"]

    @property
    def asked(self):
        return [url for name, url in self.urls.items() if name not in self.cached]


def test_few_requests_and_bytes_and_a_text_is_read_once(browser, shipped_server):
    context = browser.new_context()
    meters = []
    for _ in range(2):
        page = context.new_page()
        meters.append(Meter(context, page))
        page.goto(f"{shipped_server.url}/#text=left+insula")
        page.wait_for_selector('#stage[aria-busy="false"][data-template="mni152"]')
        page.wait_for_timeout(1000)  # for what comes late
        page.close()
    first, second = meters
    assert len(first.asked) <= FIRST_REQUESTS
    assert first.bytes <= FIRST_BYTES
    assert len(second.asked) <= NEXT_REQUESTS
    for meter in meters:
        assert sum("/encode" in url for url in meter.asked) == 1
        assert not any("/decode" in url or "/related" in url for url in meter.asked)
    context.close()


def test_a_long_text_is_sent_packed(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        sizes = {}
        session = visit.context.new_cdp_session(visit.page)
        session.send("Network.enable")
        names = {}
        session.on(
            "Network.requestWillBeSent",
            lambda e: names.__setitem__(e["requestId"], e["request"]["url"]),
        )
        session.on(
            "Network.loadingFinished",
            lambda e: sizes.__setitem__(names.get(e["requestId"]), e["encodedDataLength"]),
        )
        text = ("Infarct of the left insula, no lesion in the thalamus. " * 1000)[:49_000]
        visit.write(text)
        visit.page.wait_for_timeout(300)
        (size,) = [size for name, size in sizes.items() if name and name.endswith("encode.form")]
        assert size < 200_000


def test_the_page_is_told_of_a_long_text_what_it_shows(browser, shipped_server):
    report = (
        "Findings: acute infarct in the left insula and left inferior frontal gyrus, with edema. "
        "No hemorrhage. The right thalamus is spared. Left MCA stroke. Amygdala is normal. "
    )
    query = {"text": ("MRI brain. " + report * 400)[:50_000], "regions": 18, "explain": True}
    context = browser.new_context()
    answer = context.request.post(f"{shipped_server.url}/api/v1/encode.form", data=query)
    told = answer.body().split(b"\r\n\r\n")[1].partition(b"\r\n--")[0]
    context.close()
    assert json.loads(told)["related"]
    assert len(told) <= 150_000


def test_a_place_and_related_terms_need_no_second_reading(browser, shipped_server):
    text = "Acute infarct of the left insula, left putamen spared. Left MCA stroke."
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        visit.write(text)
        visit.requests.clear()
        visit.open("place")
        visit.page.wait_for_selector("#decoded li")
        assert "insula" in visit.page.inner_text("#why li >> nth=0")
        visit.page.click("#related summary")
        visit.page.wait_for_selector("#related-terms button")
        for image in ("density", "mass", "log_ratio"):
            visit.choose("image", image)
            visit.stage()
        for z in ("30", "10"):
            visit.page.fill("#z", z)
            visit.page.press("#z", "Enter")
            visit.told_place()
        asked = [url for url in visit.requests if "/api/" in url]
        assert asked
        assert all(url.endswith("/decode") for url in asked)
        assert visit.errors == []


def test_sorting_and_sentences_read_no_text_again(browser, shipped_server):
    with Visit(browser, f"{shipped_server.url}/#text=fear") as visit:
        visit.write("Fear raises the amygdala. Reading raises the left fusiform gyrus.")
        visit.requests.clear()
        excess = visit.regions()
        for name in ("Ratio", "Share", "Excess"):
            visit.page.click(f"#regions .sorts >> text={name}")
            visit.until(f"document.querySelector('#regions [aria-sort]').textContent === '{name}'")
        assert visit.regions() == excess
        assert not [url for url in visit.requests if "/api/" in url]
        with visit.page.expect_response("**/encode.form") as told:
            visit.page.click("#by-sentence summary")
        answer = told.value.body().split(b"\r\n\r\n")[1].partition(b"\r\n--")[0]
        assert list(json.loads(answer)) == ["sentences"]
        visit.page.wait_for_selector("#sentences li >> nth=1")
        assert visit.errors == []
