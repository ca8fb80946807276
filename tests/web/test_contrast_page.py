"""Documents in the page: given as files or by the server, contrasted as a job, told in words."""

import csv
import io
import json

import pytest
from tests.browser import PATIENCE_MS, serious_problems
from tests.studies import make_corpus
from tests.web.conftest import Server
from tests.web.test_decode_page import drop
from tests.web.visit import Visit

pytestmark = pytest.mark.browser

TEXTS = make_corpus(60).texts
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SHOWN = "document.getElementById('caption').textContent.includes('documents that mention')"


@pytest.fixture(scope="module")
def server(model_folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "articles.jsonl"
    lines = [json.dumps({"pmid": 10_000 + i, "text": text}) for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        options = ("--max-seconds", "120", "--max-job-body", "100000")
        with Server(model_folder, "--documents", path, *options) as server:
            yield server


@pytest.fixture(scope="module")
def visit(browser, server):
    with Visit(browser, f"{server.url}/#text=the+visual+cortex", bypass_csp=True) as visit:
        visit.page.set_default_timeout(PATIENCE_MS)  # a job may wait for others
        visit.until("document.getElementById('about').textContent")
        yield visit


def make_table():
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["id", "Title", "text"])
    writer.writerows([f"r{i}", f'About, "{i}"', text] for i, text in enumerate(TEXTS))
    return stream.getvalue().encode()


def open_documents(visit):
    """Start from the mode with nothing in it."""
    visit.page.unroute_all()
    visit.page.evaluate("() => { location.hash = '#text=the+visual+cortex&visit=' + Date.now(); }")
    visit.until("document.getElementById('reading').textContent === 'the visual cortex'")
    visit.choose("mode", "documents")
    visit.until("document.getElementById('caption').textContent.startsWith('No map yet')")
    if visit.page.is_visible("#files-remove"):
        visit.page.click("#files-remove")
    visit.errors.clear()


def contrast(visit, term):
    visit.page.check("#unadjusted")
    visit.page.fill("#group", term)
    visit.page.click("#run")
    visit.until(SHOWN)
    visit.ready()


def test_a_table_that_is_dropped_is_contrasted_and_a_reload_keeps_the_result(visit):
    open_documents(visit)
    drop(visit, make_table(), "reports of Doe.csv", "files-drop")
    visit.page.wait_for_selector("#given-files:not([hidden])")
    assert visit.page.inner_text("#files-words").startswith("60 documents, ")
    contrast(visit, "amygdala")
    assert "against all 60" in visit.caption()
    assert "amygdala" in visit.regions()
    assert "×" in visit.page.inner_text("#regions tbody tr:first-child")
    assert "60 documents were read" in visit.page.inner_text("#contrast-note")
    assert "10 minutes" in visit.page.inner_text("#kept")
    assert serious_problems(visit.page) == []
    visit.until_address_has("job=")
    ratio = visit.stage()
    visit.choose("image", "density")
    visit.until("document.getElementById('caption').textContent.endsWith('mean density')")
    visit.new_stage(ratio)
    visit.open("studies")
    assert visit.page.locator("#similar li").count() > 5
    visit.open("regions")
    visit.page.reload()
    visit.until(SHOWN)
    visit.ready()
    assert visit.page.input_value("#group") == "amygdala"
    assert "amygdala" in visit.regions()
    assert not any("Doe" in url or "amygdala" in url.split("#")[0] for url in visit.requests)
    assert visit.errors == []
    visit.choose("mode", "one")
    visit.until("document.getElementById('caption').textContent.startsWith('Your text')")
    visit.choose("mode", "documents")  # nothing is lost
    visit.until(SHOWN)
    visit.page.click("#delete")
    visit.until("document.getElementById('caption').textContent.startsWith('No map yet')")


def test_a_collection_of_the_server_is_contrasted_and_what_is_deleted_is_gone(visit, tmp_path):
    open_documents(visit)
    visit.page.select_option("#collection", "articles")
    visit.page.wait_for_selector("#files-drop", state="hidden")
    visit.page.check("#unadjusted")
    visit.page.fill("#group", "amygdala")
    visit.page.press("#group", "Enter")
    visit.until(SHOWN)
    visit.ready()
    with visit.page.expect_download() as download:
        visit.reveal("button[data-form=csv]")
        visit.page.click("button[data-form=csv]")
    download.value.save_as(tmp_path / "regions.csv")
    row = next(csv.DictReader((tmp_path / "regions.csv").read_text().splitlines()))
    assert float(row["low"]) <= float(row["ratio"]) <= float(row["high"])
    visit.until_address_has("job=")
    address = visit.page.evaluate("location.href")
    visit.page.evaluate(
        "async () => { await fetch(`api/v1/jobs/${location.hash.match(/job=([^&]+)/)[1]}`,"
        " { method: 'DELETE' }); }"
    )
    visit.page.reload()
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "no longer on the server" in visit.page.inner_text("#problem")
    assert visit.page.evaluate("location.href") == address
    assert visit.page.input_value("#group") == "amygdala"


def test_work_can_be_cancelled(visit):
    open_documents(visit)
    visit.page.select_option("#collection", "articles")
    visit.page.fill("#group", "motor cortex")
    held = visit.hold("**/api/v1/jobs/*")  # looks at the job, and what cancels it
    visit.page.route("**/api/v1/jobs/contrast", lambda route: route.continue_())
    visit.page.click("#run")
    look = visit.first_held(held)
    assert visit.page.is_visible("#work-stop")
    visit.page.unroute("**/api/v1/jobs/*")
    with visit.page.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        visit.page.click("#work-stop")
    assert deleted.value.status == 204
    look.continue_()  # comes late
    visit.page.wait_for_selector("#work", state="hidden")
    assert visit.caption().startswith("No map yet")
    assert visit.page.is_hidden("#problem")


def test_what_cannot_be_done_is_told_in_words(visit):
    open_documents(visit)
    visit.page.fill("#group", "")
    visit.page.click("#run")
    assert "Write a term" in visit.page.inner_text("#problem")
    visit.page.fill("#group", "amygdala AND (")
    visit.page.click("#run")
    assert "Drop documents first" in visit.page.inner_text("#problem")
    drop(visit, b"PK\x03\x04", "archive.zip", "files-drop")
    visit.until("document.getElementById('problem').textContent.includes('archive.zip: expected')")
    drop(visit, b'id,text\na,"not closed', "broken.csv", "files-drop")
    visit.until("document.getElementById('problem').textContent.includes('quotation mark')")
    drop(visit, b"text\n" + b"amygdala " * 20_000, "long.csv", "files-drop")
    visit.until("document.getElementById('notice').textContent.includes('50,000 characters')")
    visit.page.click("#run")
    assert "at least two documents" in visit.page.inner_text("#problem")
    drop(visit, b"text\n" + b"amygdala\n" * 6_000, "large.csv", "files-drop")
    visit.until("document.getElementById('problem').textContent.includes('takes 100 kB')")
    drop(visit, make_table(), "reports.csv", "files-drop")
    visit.until("document.getElementById('files-words').textContent.startsWith('60 documents')")
    visit.page.click("#run")
    visit.until("document.getElementById('problem').textContent.includes('query')")
    assert "parentheses" in visit.page.inner_text("#problem")


def test_tables_are_read_as_the_library_reads_them(visit, tmp_path):
    from neurowhere.corpus import iter_documents

    content = 'PMID;Title;Text\r\n1;"A ""quoted""; title";"two\nlines"\r\n\r\n2;;plain\r\n'
    path = tmp_path / "table.csv"
    path.write_bytes(content.encode())
    expected = [[each.id, each.text] for each in iter_documents(path)]
    found = visit.page.evaluate(
        """async (words) => {
            const { tableRecords } = await import("/static/tablefile.js");
            const { documentOf } = await import("/static/collection.js");
            return tableRecords(words).map(documentOf).map(({ id, text }) => [id, text]);
        }""",
        content,
    )
    assert found == expected


def test_a_number_of_pubmed_offers_the_document(visit):
    visit.go("#text=the+visual+cortex")
    visit.page.fill("#text", "PMID: 10007")
    visit.page.click("#read-document")
    visit.page.wait_for_function(
        "words => document.getElementById('reading').textContent === words", arg=TEXTS[7].strip()
    )
    visit.page.fill("#text", "10.1000/nothing")
    visit.until("document.getElementById('notice').textContent.startsWith('No document')")


def test_everyone_can_use_it_on_a_phone(browser, server):
    with Visit(browser, f"{server.url}/#text=amygdala", bypass_csp=True, **PHONE) as visit:
        visit.choose("mode", "documents")
        visit.until("document.getElementById('caption').textContent.startsWith('No map yet')")
        visit.until("!document.getElementById('collections').hidden")
        assert serious_problems(visit.page) == []
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert visit.page.evaluate(overflow) <= 0
