"""Documents that are dropped on the text box."""

import io

import pytest
from tests.inputs.test_apart import make_content
from tests.inputs.test_prose import make_pdf
from tests.web.test_decode_page import drop

WORDS = "The left amygdala responded to fear"


def make_docx():
    docx = pytest.importorskip("docx", reason="needs the extra docx")
    document = docx.Document()
    document.add_paragraph(WORDS)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def make_page():
    return f"<html><script>1</script><body><p>{WORDS}</p></body></html>".encode()


DOCUMENTS = {"pdf": lambda: make_pdf([WORDS]), "docx": make_docx, "html": make_page}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_documents_become_text(client, kind):
    answer = client.post(f"/api/v1/text?kind={kind}", content=DOCUMENTS[kind]())
    assert answer.status_code == 200
    assert WORDS in answer.json()["text"]
    assert answer.json()["characters"] == len(answer.json()["text"])


@pytest.mark.parametrize(
    ("content", "detail", "hint"),
    [
        (lambda: make_pdf([]), "holds pictures of text, but no text.", "text recognition (OCR)"),
        (
            lambda: make_content(b"0 0 m 1 1 l S\n" * 2_500_000),
            "takes too much time or memory to read.",
            "Save it as text, or in parts.",
        ),
    ],
    ids=["scan", "too much"],
)
def test_what_to_do_about_a_document_is_told(client, content, detail, hint):
    answer = client.post("/api/v1/text?kind=pdf", content=content())
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(detail)
    assert hint in answer.json()["hint"]


@pytest.mark.parametrize("kind", ["pdf", "docx", "txt"])
def test_what_is_no_document_is_refused_in_words(client, kind):
    answer = client.post(f"/api/v1/text?kind={kind}", content=b"\0\1\2 secret words")
    assert answer.status_code == 422
    assert answer.json()["detail"] == "The document cannot be read."
    assert "secret" not in answer.text


@pytest.mark.browser
def test_a_document_that_is_dropped_is_read(visit):
    drop(visit, make_page(), "Doe-John.html", "text")
    visit.page.wait_for_function(
        "words => document.getElementById('reading').textContent === words", arg=WORDS
    )
    assert "Doe-John.html" in visit.page.inner_text("#notice")
    assert not any("Doe" in url.split("#")[0] for url in visit.requests)
    drop(visit, b"the motor cortex", "notes.txt", "text")
    visit.until("document.getElementById('reading').textContent === 'the motor cortex'")
    drop(visit, b"\0\1", "archive.zip", "text")
    visit.page.wait_for_selector("#problem:not([hidden])")
    assert "Expected a text, PDF, Word" in visit.page.inner_text("#problem")
    assert visit.page.input_value("#text") == "the motor cortex"
    assert visit.page.is_hidden("#notice")  # of the file before
    drop(visit, b" ", "empty.txt", "text")
    visit.until("document.getElementById('problem').textContent.includes('holds no text')")
    assert visit.page.input_value("#text") == "the motor cortex"
    assert visit.errors == []
