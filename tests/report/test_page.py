from tests.report.pages import Page

from neurowhere.report.page import page, paragraph, picture, section
from neurowhere.report.tables import to_html

HOSTILE = "<script>alert(\"x\")</script> & 'quotes'"


def test_text_is_escaped_everywhere(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG")
    table = to_html([HOSTILE], [[HOSTILE]])
    parts = [section(HOSTILE, paragraph(HOSTILE)), picture(path, HOSTILE), table]
    found = Page(page(HOSTILE, HOSTILE, *parts))
    assert "script" not in found.tags
    assert found.words.count(HOSTILE) == 8  # title, heading, lead, section, text, caption, cells


def test_pictures_are_inside_and_nothing_is_fetched(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("<svg/>")
    text = page("t", "l", picture(path, "c"))
    assert Page(text).addresses == [("img", "src", "data:image/svg+xml;base64,PHN2Zy8+")]
    assert "http:" not in text
    assert "https:" not in text
