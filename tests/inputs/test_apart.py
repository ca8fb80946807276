"""Documents made to take gigabytes or minutes: one line, and the process that read them is gone."""

import io
import signal
import sys
import time
import zipfile
import zlib

import pytest
from tests.inputs.test_prose import make_pdf
from tests.tools.crashes import in_another_process

from neurowhere.exceptions import CorpusError, TextError
from neurowhere.inputs import apart, iter_texts, prose
from neurowhere.inputs.apart import document_text
from neurowhere.inputs.sources import read_file

pytest.importorskip("docx")
pytest.importorskip("pypdf")

WORDS = "The left amygdala responded to fear. "
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@pytest.fixture(autouse=True)
def _fresh():
    """No process of an earlier test waits, with other limits."""
    apart._end_all()
    yield
    apart._end_all()


def make_docx(body):
    """A Word file with a body as markup."""
    import docx

    made, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = f"<w:document {W}><w:body>{body}</w:body></w:document>".encode()
            new.writestr(name, content if name == "word/document.xml" else old.read(name))
    return out.getvalue()


def make_content(content):
    """A PDF of one page, whose content is compressed."""
    stream = zlib.compress(content)
    before, rest = make_pdf(["x"]).split(b"<< /Length", 1)
    after = rest.split(b"endstream", 1)[1]
    head = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(stream)
    return before + head + stream + b"\nendstream" + after


def paragraphs(count, text=WORDS):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" * count


def test_a_cell_across_a_billion_columns_is_one_cell():
    cell = '<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>' + paragraphs(1, WORDS * 4)
    document = make_docx(f"<w:tbl><w:tr>{cell}</w:tc></w:tr></w:tbl>")
    began = time.monotonic()
    assert document_text("docx", document, "a.docx").strip() == (WORDS * 4).strip()
    assert time.monotonic() - began < 10


def test_millions_of_paragraphs_are_refused():
    document = make_docx("<w:p/>" * 4_000_000)
    assert len(document) < 100_000
    with pytest.raises(TextError, match=r"a.docx has more than 4,000,000 tags; save it as text"):
        document_text("docx", document, "a.docx")


def test_a_small_pdf_with_much_content_is_refused():
    document = make_content(b"0 0 m 1 1 l S\n" * 3_300_000)
    assert len(document) < 200_000
    with pytest.raises(TextError, match=r"more than 33,554,432 bytes of content; save it as text"):
        document_text("pdf", document, "a.pdf")


def test_a_small_document_with_much_text_is_refused():
    """What comes back is in the memory of the one that asks, which has no limit."""
    text = "<w:t>" + "a" * 8_000_000 + "</w:t>"
    document = make_docx(f"<w:p><w:r>{text * 3}</w:r></w:p>")
    assert len(document) < 100_000
    with pytest.raises(TextError, match=r"^the text of a.docx has more than 20,971,520 charac"):
        document_text("docx", document, "a.docx")


@pytest.mark.parametrize(
    ("bound", "parse", "data", "message"),
    [
        ("MAX_PARAGRAPHS", prose.docx_to_text, lambda: make_docx(paragraphs(9)), "paragraphs"),
        ("MAX_PAGES", prose.pdf_to_text, lambda: make_pdf(*[["a"]] * 9), "9|8 pages"),
        (
            "MAX_CELLS",
            prose.docx_to_text,
            lambda: make_docx(f"<w:tbl><w:tr>{'<w:tc><w:p/></w:tc>' * 9}</w:tr></w:tbl>"),
            "cells",
        ),
    ],
)
def test_what_a_document_holds_is_bounded(monkeypatch, bound, parse, data, message):
    monkeypatch.setattr(prose, bound, 9)
    parse(data(), "it")
    monkeypatch.setattr(prose, bound, 8)
    with pytest.raises(TextError, match=f"more than 8 .*{message}.*; save it as text"):
        parse(data(), "it")


def test_time_is_bounded(monkeypatch):
    monkeypatch.setattr(apart, "MAX_SECONDS", 0.8)
    slow = make_content(b"BT (fear) Tj ET\n" * 1_000_000)
    with pytest.raises(TextError, match=r"^a.pdf takes more than 0.8 s to read; save it as text$"):
        document_text("pdf", slow, "a.pdf")
    assert not apart._idle


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")
def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(apart, "MAX_MEMORY_BYTES", 40 << 20)
    with pytest.raises(TextError, match=r"a.pdf takes more than 40 MiB of memory to read; save"):
        document_text("pdf", make_content(b" " * (30 << 20)), "a.pdf")
    assert not apart._idle
    with pytest.raises(TextError, match=r"a.docx .*; save it as text"):  # libxml2 says nothing
        document_text("docx", make_docx(paragraphs(150_000, "")), "a.docx")
    assert document_text("docx", make_docx(paragraphs(2)), "a.docx").startswith(WORDS)


def test_one_process_reads_many_documents_until_it_ends():
    page = f"<p>{WORDS}" * 40_000
    for _ in range(2):
        assert document_text("html", page, "a.html").startswith(WORDS.strip())
        with pytest.raises(TextError, match=r"cannot read b.pdf as PDF"):
            document_text("pdf", b"no PDF", "b.pdf")
        assert document_text("pdf", make_pdf([WORDS]), "c.pdf") == WORDS.strip()
        (parser,) = apart._idle
        parser.process.kill()  # as the system may, of all that wait
        parser.process.wait()
        assert document_text("pdf", make_pdf([WORDS]), "c.pdf") == WORDS.strip()
        assert apart._idle != [parser]


def test_a_process_that_waits_ends(monkeypatch):
    monkeypatch.setattr(apart, "IDLE_SECONDS", 0.05)
    assert document_text("pdf", make_pdf([WORDS]), "c.pdf") == WORDS.strip()
    assert apart._idle[0].process.wait(timeout=20) == 0


def test_a_document_that_ends_its_parser_is_one_line(monkeypatch):
    send = apart.Parser._send

    def crash(parser, *request):
        parser.process.send_signal(signal.SIGTERM)
        parser.process.wait()
        send(parser, *request)

    monkeypatch.setattr(apart.Parser, "_send", crash)
    with pytest.raises(TextError, match=r"^a.pdf cannot be read: it ends the program that parses"):
        document_text("pdf", make_pdf([WORDS]), "a.pdf")


def test_a_copy_of_this_process_starts_its_own():
    document_text("pdf", make_pdf([WORDS]), "a.pdf")
    ours = apart._idle[0].process.pid

    def read():
        assert document_text("pdf", make_pdf([WORDS]), "a.pdf") == WORDS.strip()
        assert apart._idle[0].process.pid != ours
        apart._end_all()

    assert in_another_process(read) == 0
    assert document_text("pdf", make_pdf([WORDS]), "a.pdf") == WORDS.strip()


def test_no_module_comes_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "pypdf.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    assert document_text("pdf", make_pdf([WORDS]), "a.pdf") == WORDS.strip()


def test_small_markup_needs_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr(apart, "Parser", None)
    (tmp_path / "a.html").write_text("<p>fear")
    (tmp_path / "b.txt").write_text("fear")
    (tmp_path / "c.xml").write_text("<article><body><p>fear</p></body></article>")
    assert [text.content for text in iter_texts([str(tmp_path)])] == ["fear"] * 3


def test_articles_of_a_large_file_come_one_by_one(tmp_path):
    article = f"<article><body><p>{WORDS * 1000}</p></body></article>"
    path = tmp_path / "a.xml"
    path.write_text(f"<pmc-articleset>{article * 60}</pmc-articleset>")
    texts = iter_texts([str(path)])
    assert next(texts).content == (WORDS * 1000).strip()
    texts.close()  # in the middle: nothing of it comes with the next document
    assert not apart._idle
    assert len(list(iter_texts([str(path)]))) == 60
    path.write_text(f"<!DOCTYPE a [<!ENTITY x 'y'>]>{article.replace(WORDS, WORDS * 40)}")
    with pytest.raises(CorpusError, match="declares XML entities"):
        list(apart.article_texts(path))


def test_a_scan_is_told(tmp_path):
    (tmp_path / "a.pdf").write_bytes(make_pdf([]))
    with pytest.raises(TextError, match=r"run text recognition \(OCR\) on it"):
        read_file(tmp_path / "a.pdf")


def test_a_process_that_cannot_be_started_is_one_line(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(TextError, match=r"cannot start a process to read a.pdf \(No such file"):
        document_text("pdf", make_pdf([WORDS]), "a.pdf")
