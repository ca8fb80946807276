"""PDF and Word files: their prose, without running heads, tables and references."""

import io
import sys
import textwrap
import zipfile

import pytest

from neurowhere.exceptions import MissingExtraError, TextError
from neurowhere.inputs import read_text
from neurowhere.inputs.prose import (
    LIGATURES,
    docx_to_text,
    paragraphs_of,
    prose_of_pages,
    without_references,
)
from neurowhere.inputs.sources import read_file
from neurowhere.text.sections import section_cuts


def make_pdf(*pages):
    """Smallest PDF with some lines of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET" if lines else ""
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Contents {5 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    out, offsets = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode())
    start = out.tell()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    out.write(f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode())
    return out.getvalue()


def test_pdf(tmp_path):
    pytest.importorskip("pypdf")
    path = tmp_path / "report.pdf"
    path.write_bytes(make_pdf(["Lesion of the left amyg-", "dala"]))
    assert read_file(path) == "Lesion of the left amygdala"
    path.write_bytes(make_pdf([]))
    with pytest.raises(TextError, match="pictures of text, but no text"):
        read_file(path)
    path.write_bytes(b"no PDF")
    with pytest.raises(TextError, match=r"cannot read .* as PDF"):
        read_file(path)


def test_a_paper_in_pdf(tmp_path):
    pytest.importorskip("pypdf")
    head = ["Bell et al.   Fear and the brain"]
    pages = [
        [*head, f"{word} the amygdala.", "Left insula -38 18 4 5.2", f"{word} the end.", str(n)]
        for n, word in enumerate(("Here is", "We saw", "Then came", "This was"), start=1)
    ]
    rows = [f"Left thalamus -{n} -22 8 4.{n} 0.001" for n in range(12, 18)]
    pages[1][2:3] = ["Table 1", *rows]
    pages[3][-1:] = ["References", "Bell, A. The thalamus.", "4"]
    path = tmp_path / "paper.pdf"
    path.write_bytes(make_pdf(*pages))
    text = read_file(path)
    assert "thalamus" not in text
    assert "Bell" not in text
    assert text.count("the amygdala") == 4
    assert text.count("the end") == 4
    assert text.count("Left insula -38 18 4 5.2") == 3  # one line of numbers is no table
    assert [line for line in text.splitlines() if line.isdecimal()] == []


def test_pages_keep_what_only_looks_like_a_head():
    same = [["Case report", "The amygdala."], ["Case report", "The insula."]]
    assert prose_of_pages(same).count("Case report") == 2  # two pages prove nothing
    prose = ["In 2001 and 2002 we saw 12 of 14 men.", "They had 3 scans.", "All 12 came back."]
    assert prose_of_pages([prose]) == "\n".join(prose)


@pytest.mark.parametrize("heading", ["References", "REFERENCES", "7. References", "Bibliography:"])
def test_references_end_where_figures_begin(heading):
    lines = ["Text.", heading, "Bell 2001.", "Figure legends", "Figure 1. The amygdala."]
    assert without_references(lines) == ["Text.", "Figure legends", "Figure 1. The amygdala."]
    assert without_references(["References are few.", "Text."]) == ["References are few.", "Text."]


def test_word(tmp_path):
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "thalamus"
    document.add_heading("Findings", 1)
    document.add_paragraph("Lesion of the left amygdala.")
    table = document.add_table(1, 3)
    for cell, text in zip(table.rows[0].cells, ("thalamus", "-8", "-22")):
        cell.text = text
    layout = document.add_table(1, 1)
    layout.rows[0].cells[0].text = "The insula is spared. " * 10
    document.add_heading("References", 1)
    document.add_paragraph("Bell 2001, thalamus.")
    path = tmp_path / "report.docx"
    document.save(path)
    assert read_file(path).split("\n\n") == [
        "Findings",
        "Lesion of the left amygdala.",
        "The insula is spared. " * 10,
    ]


def test_what_is_no_word_file(tmp_path, monkeypatch):
    pytest.importorskip("docx")
    path = tmp_path / "report.docx"
    path.write_bytes(b"no archive")
    with pytest.raises(TextError, match=r"cannot read .* as Word file"):
        read_file(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "<x/>" * 1000)
    with pytest.raises(TextError, match=r"cannot read .* as Word file"):
        read_file(path)
    monkeypatch.setattr("neurowhere.inputs.prose.MAX_UNPACKED_BYTES", 1 << 10)
    with pytest.raises(TextError, match="unpacks to more than"):
        docx_to_text(path.read_bytes(), "report.docx")


@pytest.mark.parametrize(("name", "package"), [("a.pdf", "pypdf"), ("a.docx", "docx")])
def test_without_the_extra(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / name
    path.write_bytes(b"%")
    with pytest.raises(MissingExtraError, match=r"pip install 'neurowhere\[(pdf|docx)\]'"):
        read_file(path)


BLOCKS = [
    ("h1", "Fear and the brain"),
    ("h2", "Introduction"),
    ("p", "We ask where fear is. " * 9),
    ("h2", "Methods"),
    ("p", "We scan the thalamus. " * 9),
    ("h2", "Results"),
    ("p", "fMRI showed the left amygdala. " * 9),
    ("p", "Figure 1. The amygdala."),
    ("h2", "Discussion"),
    ("p", "The amygdala is seen. " * 9),
    ("h2", "References"),
    ("p", "1. A. Author. The insula. 2019."),
]


def layout(name):
    """Write an article as the text of a file: in paragraphs, in lines, or as markup."""
    texts = [text.strip() for _, text in BLOCKS]
    lines = [line for text in texts for line in textwrap.wrap(text, 60)]
    return {
        "blank lines": "\n\n".join(texts),
        "lines": "\n".join(lines),
        "markdown": "\n\n".join(f"{'## ' * (kind == 'h2')}{text}" for kind, text in BLOCKS),
        "html": "".join(f"<{kind}>{text}</{kind}>" for kind, text in BLOCKS),
    }[name]


@pytest.mark.parametrize("name", ["blank lines", "lines", "markdown"])
def test_an_article_reads_the_same_in_any_layout(tmp_path, name):
    page = tmp_path / "article.html"
    page.write_text(layout("html"))
    file = tmp_path / ("article.md" if name == "markdown" else "article.txt")
    file.write_text(layout(name))
    text = read_text(str(file)).content
    expected = read_text(str(page)).content
    assert text.split() == expected.split()
    assert "insula" not in text
    cuts = [(section, text[start : start + 9].strip()) for start, section in section_cuts(text)]
    assert cuts == [
        (section, expected[start : start + 9].strip()) for start, section in section_cuts(expected)
    ]


def test_lines_of_a_page_are_paragraphs_and_ligatures_letters():
    lines = layout("lines").splitlines()
    assert "Results" in paragraphs_of(lines)
    assert paragraphs_of(["a line that goes", "on here."]) == ["a line that goes on here."]
    assert "conﬁrmed eﬀect".translate(LIGATURES) == "confirmed effect"


def test_a_note_stays_as_it_is(tmp_path):
    note = "Results: left thalamic infarct.\nReferences: none\n  Plan: MRI\n"
    file = tmp_path / "note.txt"
    file.write_text(note)
    assert read_text(str(file)).content == note
