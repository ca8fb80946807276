from html.parser import HTMLParser

from neurowhere.report.page import page, paragraph, picture, section
from neurowhere.report.tables import to_html

HOSTILE = "<script>alert(\"x\")</script> & 'quotes'"


class Page(HTMLParser):
    """Collects the tags and what they refer to."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.sources, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)


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
    assert Page(text).sources == ["data:image/svg+xml;base64,PHN2Zy8+"]
    assert "http:" not in text
    assert "https:" not in text
