"""Prose: what a web page, a journal article, a PDF or a Word file says, without what surrounds it.

Navigation, running heads, page numbers, footers, forms, tables and lists of references are left
out, as far as markup or lines of text tell them apart: they are not what a text says, and a table
of coordinates gives the answer away. Headings are paragraphs.

Pages (HTML) are parsed by libxml2, in linear time and without a tree, whatever they hold. PDF and
Word are read through pypdf and python-docx (extras).
"""

import io
import logging
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from neurowhere.exceptions import MissingExtraError, TextError


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list; this module is imported without the room of texts, to be fast."""
    return frozenset(words.split())


CHUNK_CHARACTERS = 1 << 16
BLANKS = re.compile(r"\s+")

INLINE = word_set("a abbr b cite code em font i mark q s small span strong sub sup u")
# Elements whose content is not prose.
SILENT = word_set(
    """applet aside audio button canvas dialog embed footer form iframe math menu nav noframes
    noscript object script select style svg template textarea video"""
)
SILENT_ROLES = word_set(
    """banner complementary contentinfo dialog doc-bibliography doc-endnotes doc-toc menu menubar
    navigation search toolbar"""
)
# Classes and ids by which sites mark the same.
SILENT_NAMES = word_set(
    """bibliography breadcrumb breadcrumbs citations comments cookie-banner footer literature-cited
    menu nav navbar navigation ref-list reference-list references reflist related-articles
    sidebar site-footer site-header skip-link social-share table-wrap toc"""
)
MAIN = word_set("article main")
WHOLE = word_set("article body html main")  # elements that are kept whatever their class
CELLS = word_set("td th")
HEADINGS = word_set("h1 h2 h3 h4 h5 h6")
REFERENCES = re.compile(
    r"\W*(?:\d+\.?\s*)?(?:references?|bibliography|literature cited|works cited|reference list)\W*",
    re.IGNORECASE,
)
# Cells of a table that lays out a page hold sentences; those of data do not.
MIN_WORDS_OF_LAYOUT = 20
MIN_WORDS_OF_MAIN = 30  # words that a part of the page needs to stand for the whole


def html_to_text(page: str) -> str:
    r"""Return the prose of a web page: of its main part, if that is marked.

    >>> html_to_text("<nav>Home</nav><h1>Fear</h1><p>The <b>left</b>\n amygdala &amp; more")
    'Fear\n\nThe left amygdala & more'
    """
    from lxml import etree

    reader = _PageReader()
    parser = etree.HTMLParser(target=reader, no_network=True, huge_tree=False)
    try:
        for start in range(0, len(page), CHUNK_CHARACTERS):
            parser.feed(_allowed(page[start : start + CHUNK_CHARACTERS]))
        if page:
            parser.close()
    except etree.LxmlError as error:
        reason = " ".join(str(error).split())
        raise TextError(f"cannot read the page as HTML ({reason}); save it as text") from error
    return reader.text()


def _allowed(text: str) -> str:
    """Replace the characters that no markup may hold, which libxml2 stops at."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


class _Element(NamedTuple):
    """An element that is open."""

    tag: str
    is_silent: bool
    is_main: bool


class _Part:
    """Paragraphs that are being collected: of the page, or of a table in it."""

    def __init__(self) -> None:
        self.paragraphs: list[tuple[str, bool]] = []  # text, and whether it is in the main part
        self.n_cells = self.n_words = 0
        self._portions: list[str] = []  # pieces of the open paragraph

    def add(self, text: str) -> None:
        self._portions.append(BLANKS.sub(" ", text))

    def end_paragraph(self, is_main: bool) -> None:
        if not self._portions:
            return
        text = "".join(self._portions).strip()
        self._portions.clear()
        while "  " in text:  # doubled spaces where pieces meet
            text = text.replace("  ", " ")
        if text:
            self.paragraphs.append((text, is_main))
            self.n_words += text.count(" ") + 1

    def add_table(self, table: "_Part") -> None:
        """Add a table if it lays out the page: its cells hold sentences."""
        if table.n_words >= MIN_WORDS_OF_LAYOUT * max(table.n_cells, 1):
            self.paragraphs += table.paragraphs
            self.n_words += table.n_words


class _PageReader:
    """Target of the parser: takes the prose and passes over the rest."""

    def __init__(self) -> None:
        self.parts = [_Part()]  # the page, then the tables that are open
        self._open: list[_Element] = []
        self._tags: Counter[str] = Counter()  # open elements by tag
        self._n_silent = self._n_main = 0
        self._heading: int | None = None  # paragraph with which an open one begins
        self._references = 0  # level of the heading of a list of references, if in one

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._break(tag)
        is_main = tag in MAIN or attributes.get("role") == "main"
        element = _Element(tag, self._is_silent(tag, attributes), is_main)
        self._open.append(element)
        self._tags[tag] += 1
        self._n_silent += element.is_silent
        self._n_main += is_main
        if tag == "table":
            self.parts.append(_Part())
        elif tag in CELLS:
            self.parts[-1].n_cells += 1
        elif tag in HEADINGS:
            if int(tag[1]) <= self._references:
                self._references = 0
            self._heading = len(self.parts[-1].paragraphs)

    def end(self, tag: str) -> None:
        self._break(tag)
        if tag == "table" and len(self.parts) > 1:
            self._end_table()
        elif tag in HEADINGS and self._heading is not None:
            self._end_heading(tag)
        while self._tags[tag]:  # one, unless the parser has left others open
            element = self._open.pop()
            self._tags[element.tag] -= 1
            self._n_silent -= element.is_silent
            self._n_main -= element.is_main
            if element.tag == tag:
                break

    def data(self, text: str) -> None:
        if not (self._n_silent or self._references):
            self.parts[-1].add(text)

    def comment(self, text: str) -> None:
        """Pass over a comment."""

    def pi(self, target: str, data: str | None) -> None:
        """Pass over a processing instruction."""

    def close(self) -> None:
        while len(self.parts) > 1:
            self._end_table()
        self._break("html")

    def text(self) -> str:
        """Return what was collected: the main part, if it is marked and long enough."""
        paragraphs = self.parts[0].paragraphs
        main = [paragraph for paragraph, is_main in paragraphs if is_main]
        if sum(len(paragraph.split()) for paragraph in main) >= MIN_WORDS_OF_MAIN:
            return "\n\n".join(main)
        return "\n\n".join(paragraph for paragraph, _ in paragraphs)

    def _is_silent(self, tag: str, attributes: Mapping[str, str]) -> bool:
        if tag in SILENT or (tag == "header" and not self._n_main):
            return True
        if not attributes or tag in WHOLE:
            return False
        if attributes.get("role") in SILENT_ROLES:
            return True
        names = {*attributes.get("class", "").lower().split(), attributes.get("id", "").lower()}
        return not names.isdisjoint(SILENT_NAMES)

    def _break(self, tag: str) -> None:
        if tag not in INLINE:
            self.parts[-1].end_paragraph(self._n_main > 0)

    def _end_table(self) -> None:
        self._break("table")
        table = self.parts.pop()
        self._heading = None
        self.parts[-1].add_table(table)

    def _end_heading(self, tag: str) -> None:
        start, self._heading = self._heading or 0, None
        paragraphs = self.parts[-1].paragraphs
        heading = " ".join(paragraph for paragraph, _ in paragraphs[start:])
        if REFERENCES.fullmatch(heading):
            del paragraphs[start:]
            self._references = int(tag[1])


# Identifiers of an article in the order of preference.
ARTICLE_IDS = ("pmid", "pmc", "pmcid", "doi")
# Parts of an article that are not its prose; labels, such as "1." or "Fig. 2", stand beside it.
NOT_PROSE = word_set(
    """ack alt-title alternatives app-group array author-notes bio code disp-formula fn fn-group
    glossary graphic inline-formula inline-supplementary-material label math media notes
    object-id permissions ref-list supplementary-material table table-wrap table-wrap-group
    tex-math xref"""
)
# Elements that begin and end a paragraph.
BLOCKS = word_set(
    """abstract app article-title body boxed-text caption def-item disp-quote fig kwd-group list
    list-item p sec speech statement subtitle title"""
)
ARTICLE_PARTS = (
    "front/article-meta/title-group",
    "front/article-meta/abstract",
    "front/article-meta/kwd-group",
    "body",
)


def articles_to_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and the prose of the articles in a file of JATS."""
    from neurowhere.corpus.readers import jats

    for article in jats.iter_articles(path):
        ids = {
            element.get("pub-id-type"): (element.text or "").strip()
            for element in article.iterfind("front/article-meta/article-id")
        }
        yield next(filter(None, map(ids.get, ARTICLE_IDS)), path.name), article_to_text(article)


def article_to_text(article: Any) -> str:
    """Return the prose of an article: title, abstract, keywords and body."""
    parts = (part for path in ARTICLE_PARTS for part in article.iterfind(path))
    prose = "".join(piece for part in parts for piece in _iter_prose(part))
    return "\n\n".join(" ".join(line.split()) for line in prose.splitlines() if line.strip())


def _iter_prose(element: Any) -> Iterator[str]:
    """Yield the pieces of text in an element, in order; entities and comments are no elements."""
    open_elements = [(element, iter(element))]
    yield from _opening(element)
    while open_elements:  # a loop, because articles may be nested too deeply for recursion
        current, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            open_elements.pop()
            yield from _closing(current, with_tail=bool(open_elements))
        elif _name(child) in NOT_PROSE:
            yield BLANKS.sub(" ", child.tail or "")
        else:
            yield from _opening(child)
            open_elements.append((child, iter(child)))


def _opening(element: Any) -> Iterator[str]:
    if _name(element) in BLOCKS:
        yield "\n"
    yield BLANKS.sub(" ", element.text or "")


def _closing(element: Any, *, with_tail: bool) -> Iterator[str]:
    if _name(element) in BLOCKS:
        yield "\n"
    elif _name(element) == "kwd":
        yield "; "
    if with_tail:
        yield BLANKS.sub(" ", element.tail or "")


def _name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else "comment"


# ---- PDF and Word

HYPHENATED = re.compile(r"(\w)-\n(?=[a-z])")  # a word that goes on in the next line
MEBI = 1 << 20
MAX_UNPACKED_BYTES = 200 * MEBI  # unpacked size of a Word file, which is a zip archive
MAX_TAGS = 4_000_000  # tags in its XML: about ten times those of a thesis
MAX_PARAGRAPHS, MAX_CELLS = 200_000, 200_000
MAX_CHARACTERS = 20 * MEBI  # characters of a document's text, the limit of text files too
# Limits of a PDF; content is text and line drawings.
MAX_PAGES, MAX_CONTENT_BYTES = 5_000, 32 * MEBI
CHUNK_BYTES = 1 << 20
SCANNED = "holds pictures of text, but no text; run text recognition (OCR) on it"

N_EDGE_LINES = 2  # lines at the top and bottom of a page that may be running heads
MIN_PAGES = 3  # pages that share a running head
MIN_SHARE_OF_PAGES = 0.3  # left and right pages may have heads of their own
NUMBERS = re.compile(r"\d+")
NUMBER = re.compile(r"[(<>=±~]*[-+−–]?(?:\d+(?:[.,]\d+)*|[.]\d+)(?:[%*)/;,]*)")
# Rows of a table of numbers: how many, and what share of the words; and how many rows.
MIN_NUMBERS, MIN_SHARE_OF_NUMBERS, MIN_ROWS = 3, 0.35, 3
# What follows the references: figures, tables and supplements come with headings of their own.
AFTER_REFERENCES = re.compile(
    r"\W*(?:appendix|appendices|figures?|figure legends|figure captions|tables?|"
    r"supplement(?:ary|al)? \w+).{0,40}",
    re.IGNORECASE,
)


# Headings of an article on lines of their own, as they are written.
ARTICLE_HEADING = re.compile(
    r"(?:#{1,6}\s*)?(?:\d{1,2}\.?\s*)?(?:abstract|summary|introduction|background|"
    r"(?:(?:patients?|subjects?|participants?|materials?) and |experimental )?"
    r"(?:methods?|procedures?)(?: and materials?)?|results?(?: and discussion)?|discussion|"
    r"(?:general )?discussion|conclusions?|limitations|references|bibliography|"
    r"acknowledge?ments?|supporting information|author contributions)\s*:?",
    re.IGNORECASE,
)
MARKDOWN = re.compile(r"^#{1,6}\s+")
MIN_HEADINGS = 2  # headings that an article has
CAPTION = re.compile(r"(?:Fig(?:ure|\.)?|Table)\s*S?\d+[.:]")
SENTENCE_END = re.compile(r"[.!?][)\]”\"’]?$")
WIDE, FULL, LONGEST_LINE = 0.9, 0.85, 200  # quantile and share of the width; characters
LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)


def pdf_to_text(data: bytes, name: str) -> str:
    """Return the prose of a PDF; errors call the file by its name."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError("pdf", "reading PDF files") from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity
    with _clear_errors(name, "PDF"):
        reader = pypdf.PdfReader(io.BytesIO(data))
        check_count(len(reader.pages), MAX_PAGES, f"{name} has", "pages")
        size = 0
        pages = []
        for page in reader.pages:
            content = page.get_contents()
            size += 0 if content is None else len(content.get_data())
            check_count(size, MAX_CONTENT_BYTES, f"the pages of {name} have", "bytes of content")
            pages.append(page.extract_text().splitlines())
    if not any(line.strip() for page in pages for line in page):
        raise TextError(f"{name} {SCANNED}")
    lines = HYPHENATED.sub(r"\1", prose_of_pages(pages)).translate(LIGATURES).splitlines()
    return "\n\n".join(paragraphs_of(lines))


def docx_to_text(data: bytes, name: str) -> str:
    """Return the prose of a Word file, without headers and footers, a paragraph a line."""
    try:
        import docx
    except ImportError as error:
        raise MissingExtraError("docx", "reading Word files") from error
    with _clear_errors(name, "Word file"):
        _check_archive(data, name)
        blocks = docx.Document(io.BytesIO(data)).iter_inner_content()
        paragraphs: list[str] = []
        for block in blocks:
            paragraphs += _texts_of_block(block, name)
            check_count(len(paragraphs), MAX_PARAGRAPHS, f"{name} has", "paragraphs")
    return "\n\n".join(without_references([text for text in paragraphs if text.strip()]))


class TooMuchError(TextError):
    """A document holds, or takes to read, more than it may."""


def check_count(count: int, most: int, what: str, unit: str) -> None:
    """Refuse a document that has more of something than it may have."""
    if count > most:
        raise TooMuchError(f"{what} more than {most:,} {unit}; save it as text, or in parts")


def _check_archive(data: bytes, name: str) -> None:
    """Refuse a Word file that is small because it repeats itself, before it is parsed."""
    n_tags = 0
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = archive.infolist()
        if sum(file.file_size for file in files) > MAX_UNPACKED_BYTES:
            raise TooMuchError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES // MEBI} MiB")
        for file in files:
            if file.filename.lower().endswith((".xml", ".rels")):
                with archive.open(file) as stream:
                    while chunk := stream.read(CHUNK_BYTES):
                        n_tags += chunk.count(b"<")
                        check_count(n_tags, MAX_TAGS, f"{name} has", "tags")


@contextmanager
def _clear_errors(name: str, kind: str) -> Iterator[None]:
    """Say of a damaged file what it is and what to do."""
    try:
        yield
    except (MemoryError, TextError):
        raise
    except Exception as error:  # damaged files fail in many ways
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TextError(f"cannot read {name} as {kind} ({reason}); save it as text") from error


def _texts_of_block(block: Any, name: str) -> list[str]:
    """Return the text of a paragraph, or of a table that lays out a page."""
    if not hasattr(block, "rows"):
        return [block.text]
    from docx.table import _Cell  # cells as they are in the file; `row.cells` repeats merged ones

    cells = [_Cell(cell, block) for row in block._tbl.tr_lst for cell in row.tc_lst]
    check_count(len(cells), MAX_CELLS, f"a table of {name} has", "cells")
    texts = [cell.text for cell in cells]
    n_words = sum(len(text.split()) for text in texts)
    return texts if n_words >= MIN_WORDS_OF_LAYOUT * max(len(texts), 1) else []


def prose_of_pages(pages: list[list[str]]) -> str:
    """Return the text of pages without running heads, tables and references."""
    heads = _running_heads(pages)
    bare = [_without_heads(page, heads) for page in pages]
    lines = [line for page in bare for line in [*_without_tables(page), ""]]
    return "\n".join(without_references(lines)).strip()


def without_references(lines: list[str]) -> list[str]:
    """Leave out lists of references: from their heading to that of what follows, or to the end."""
    kept, in_references = [], False
    for line in lines:
        if REFERENCES.fullmatch(line.strip()):
            in_references = True
        elif in_references and AFTER_REFERENCES.fullmatch(line.strip()):
            in_references = False
        if not in_references:
            kept.append(line)
    return kept


def article_prose(text: str) -> str:
    r"""Return the prose of a plain text: of an article, without its references.

    A text without headings of an article, such as a note, stays as it is.

    >>> article_prose("Fear\nMethods\nWe scan.\nResults\nWe see.\nReferences\n1. A. Insula.")
    'Fear\n\nMethods\n\nWe scan.\n\nResults\n\nWe see.'
    """
    lines = text.splitlines()
    if len({line.strip().lower() for line in lines if _is_heading(line)}) < MIN_HEADINGS:
        return text
    kept = without_references([MARKDOWN.sub("", line) for line in lines])
    return "\n\n".join(paragraphs_of(kept))


def paragraphs_of(lines: list[str]) -> list[str]:
    """Return the paragraphs of lines that are cut at the width of a page; headings are their own.

    A paragraph ends with a sentence whose last line is shorter than the others.
    """
    lengths = sorted(len(line) for line in lines if line.strip())
    width = lengths[int(WIDE * (len(lengths) - 1))] if lengths else 0
    paragraphs: list[list[str]] = [[]]
    for line in [*map(str.strip, lines), ""]:
        if paragraphs[-1] and _is_end(paragraphs[-1][-1], line, width):
            paragraphs.append([])
        if line:
            paragraphs[-1].append(line)
    return [" ".join(paragraph) for paragraph in paragraphs if paragraph]


def _is_end(last: str, line: str, width: int) -> bool:
    """Whether a paragraph ends between its last line and the next one."""
    if width > LONGEST_LINE or _is_heading(last):  # of long lines each is a paragraph
        return True
    if _is_heading(line) or CAPTION.match(line):
        return True
    return bool(SENTENCE_END.search(last)) and (not line or len(last) < FULL * width)


def _is_heading(line: str) -> bool:
    return ARTICLE_HEADING.fullmatch(line.strip()) is not None


def _running_heads(pages: list[list[str]]) -> set[str]:
    """Find lines that the edges of many pages have, but for the numbers in them."""
    found = Counter(form for page in pages for form in {_form(line) for line in _edges(page)})
    enough = max(MIN_PAGES, MIN_SHARE_OF_PAGES * len(pages))
    return {form for form, count in found.items() if count >= enough}


def _without_heads(page: list[str], heads: set[str]) -> list[str]:
    """Leave out running heads and page numbers at the edges of a page."""
    edges = set(_edges(page))
    return [
        line
        for line in page
        if line not in edges or not (_form(line) in heads or line.strip().isdecimal())
    ]


def _edges(page: list[str]) -> list[str]:
    lines = [line for line in page if line.strip()]
    return [*lines[:N_EDGE_LINES], *lines[-N_EDGE_LINES:]]


def _form(line: str) -> str:
    return " ".join(NUMBERS.sub("0", line).lower().split())


def _without_tables(lines: Iterable[str]) -> list[str]:
    """Leave out runs of lines that are mostly numbers."""
    kept: list[str] = []
    rows: list[str] = []
    for line in [*lines, ""]:
        if _is_row(line):
            rows.append(line)
            continue
        if len(rows) < MIN_ROWS:
            kept += rows
        rows = []
        kept.append(line)
    return kept[:-1]


def _is_row(line: str) -> bool:
    words = line.split()
    n_numbers = sum(NUMBER.fullmatch(word) is not None for word in words)
    return n_numbers >= MIN_NUMBERS and n_numbers >= MIN_SHARE_OF_NUMBERS * len(words)
