"""HTML: the text of a page, without markup, scripts and styles."""

import re
from html.parser import HTMLParser

from neurowhere.text.words import word_set

SILENT = {"script", "style", "template", "noscript", "svg", "math"}
INLINE = word_set("a abbr b cite code em font i mark q s small span strong sub sup u")
BLANKS = re.compile(r"[^\S\n]+")
LINES = re.compile(r" ?\n\s*")


def html_to_text(page: str) -> str:
    r"""Text of a page; each block is a paragraph of its own.

    >>> html_to_text("<style>p {}</style><h1>Fear</h1><p>The <b>left</b>\n amygdala &amp; more")
    'Fear\n\nThe left amygdala & more'
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return LINES.sub("\n\n", BLANKS.sub(" ", "".join(reader.parts))).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT and self._silent:
            self._silent -= 1
        if tag not in INLINE:
            self.parts.append("\n")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Pass over ``<![...]>``, of which Python before 3.13.4 knows few and asserts the rest."""
        return self.parse_bogus_comment(i)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data.replace("\n", " "))
