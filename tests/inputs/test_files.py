"""Files as text: encodings, limits, HTML and PDF."""

import gzip
import io

import pytest

from neurowhere.exceptions import MissingExtraError, TextError
from neurowhere.inputs.files import MAX_BYTES, read_file
from neurowhere.inputs.html import html_to_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark(tmp_path, encoding):
    path = tmp_path / "note.txt"
    path.write_text("Läsion – left", encoding=encoding)
    assert read_file(path) == "Läsion – left"


def test_compressed(tmp_path):
    path = tmp_path / "note.txt.gz"
    path.write_bytes(gzip.compress(b"fear"))
    assert read_file(path) == "fear"
    path.write_bytes(gzip.compress(b"fear" * 1000)[:20])
    with pytest.raises(TextError, match="truncated or damaged"):
        read_file(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\x02\0\0", "is not text, but binary"),
        (b"caf\xe9", r"is not UTF-8 text \(byte 0xe9 at 3\)"),
    ],
)
def test_what_is_not_text(tmp_path, content, message):
    path = tmp_path / "note"
    path.write_bytes(content)
    with pytest.raises(TextError, match=message):
        read_file(path)


def test_two_hundred_megabytes(tmp_path):
    path = tmp_path / "long.txt"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    with pytest.raises(TextError, match=r"larger than 20 MiB.*CSV or JSON-lines"):
        read_file(path)


def test_what_grows_when_unpacked(tmp_path):
    path = tmp_path / "long.txt.gz"
    path.write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), 1))
    with pytest.raises(TextError, match="larger than 20 MiB"):
        read_file(path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(TextError, match="Is a directory"):
        read_file(tmp_path)


def test_html():
    page = """<!doctype html><html><head><title>Fear</title><style>p {color: red}</style>
    <script>if (a < b) { "thalamus" }</script></head><body><h1>A&nbsp;case</h1>
    <p>Left <em>amyg</em>dala &lt;3<br>and insula<!-- hippocampus --></p><table><tr><td>a<td>b
    """
    assert html_to_text(page).split("\n\n") == [
        "Fear", "A case", "Left amygdala <3", "and insula", "a", "b",
    ]  # fmt: skip


@pytest.mark.parametrize("page", ["", "<", "<p", "<script>", "</style></p>", "&#xffffffff;<![x"])
def test_broken_html_is_no_crash(page):
    assert isinstance(html_to_text(page), str)


def make_pdf(text):
    """Smallest PDF with one line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, content in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(f"{number} 0 obj\n{content}\nendobj\n".encode())
    start = out.tell()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    out.write(f"xref\n0 6\n0000000000 65535 f \n{table}".encode())
    out.write(f"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode())
    return out.getvalue()


def test_pdf(tmp_path):
    pytest.importorskip("pypdf")
    path = tmp_path / "report.pdf"
    path.write_bytes(make_pdf("Lesion of the left amygdala"))
    assert read_file(path).strip() == "Lesion of the left amygdala"
    path.write_bytes(make_pdf(""))
    with pytest.raises(TextError, match="pictures of text, but no text"):
        read_file(path)
    path.write_bytes(b"no PDF")
    with pytest.raises(TextError, match=r"cannot read .* as PDF"):
        read_file(path)


def test_pdf_without_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    path = tmp_path / "report.pdf"
    path.write_bytes(b"%PDF")
    with pytest.raises(MissingExtraError, match=r"pip install 'neurowhere\[pdf\]'"):
        read_file(path)
