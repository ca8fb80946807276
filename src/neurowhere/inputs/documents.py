"""Documents: files that hold one text, plain, Markdown, HTML, PDF or Word, bounded in size.

PDF and Word are read through pypdf and python-docx (extras). Running heads, page numbers, tables
and lists of references are left out, as far as lines of text tell them apart.
"""

import codecs
import gzip
import io
import logging
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from neurowhere._tools.files import COMPRESSIONS, bare_suffix
from neurowhere.corpus.readers import files, jats, jsonl, tables
from neurowhere.exceptions import MissingExtraError, TextError
from neurowhere.inputs.markup import MIN_WORDS_OF_LAYOUT, REFERENCES, html_to_text

HYPHENATED = re.compile(r"(\w)-\n(?=[a-z])")  # a word that goes on in the next line
MEBI = 1 << 20
MAX_UNPACKED_BYTES = 200 * MEBI  # of a Word file, which is a zip archive

N_EDGE_LINES = 2  # at the top and bottom of a page, where running heads are
MIN_PAGES = 3  # that a running head is on
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
MAX_BYTES = 20 * MEBI  # some ten times a long book
MAX_DOCUMENT_BYTES = 200 * MEBI  # nearly all of it pictures
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def pdf_to_text(data: bytes, name: str) -> str:
    """Return the prose of a PDF; errors call the file by its name."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError("pdf", "reading PDF files") from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity
    with _clear_errors(name, "PDF"):
        reader = pypdf.PdfReader(io.BytesIO(data))
        pages = [page.extract_text().splitlines() for page in reader.pages]
    if not any(line.strip() for page in pages for line in page):
        raise TextError(f"{name} holds pictures of text, but no text; run text recognition on it")
    return HYPHENATED.sub(r"\1", prose_of_pages(pages))


def docx_to_text(data: bytes, name: str) -> str:
    """Return the prose of a Word file, without headers and footers, a paragraph a line."""
    try:
        import docx
    except ImportError as error:
        raise MissingExtraError("docx", "reading Word files") from error
    with _clear_errors(name, "Word file"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(file.file_size for file in archive.infolist())
        if size > MAX_UNPACKED_BYTES:
            raise TextError(f"{name} unpacks to more than {MAX_UNPACKED_BYTES // MEBI} MiB")
        blocks = list(docx.Document(io.BytesIO(data)).iter_inner_content())
        paragraphs = [text for block in blocks for text in _texts_of_block(block)]
    return "\n\n".join(without_references([text for text in paragraphs if text.strip()]))


@contextmanager
def _clear_errors(name: str, kind: str) -> Iterator[None]:
    """Say of a damaged file what it is and what to do."""
    try:
        yield
    except TextError:
        raise
    except Exception as error:  # damaged files fail in many ways
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TextError(f"cannot read {name} as {kind} ({reason}); save it as text") from error


def _texts_of_block(block: Any) -> list[str]:
    """Return the text of a paragraph, or of a table that lays out a page."""
    if not hasattr(block, "rows"):
        return [block.text]
    cells = [cell.text for row in block.rows for cell in row.cells]
    n_words = sum(len(cell.split()) for cell in cells)
    return cells if n_words >= MIN_WORDS_OF_LAYOUT * max(len(cells), 1) else []


def prose_of_pages(pages: list[list[str]]) -> str:
    """Return the text of pages without running heads, tables and references.

    Parameters
    ----------
    pages : list of list of str
        Lines of each page.

    Returns
    -------
    str
    """
    heads = _running_heads(pages)
    bare = [_without_heads(page, heads) for page in pages]
    lines = [line for page in bare for line in [*_without_tables(page), ""]]
    return "\n".join(without_references(lines)).strip()


def without_references(lines: list[str]) -> list[str]:
    """Leave out lists of references: from their heading to that of what follows, or to the end.

    Parameters
    ----------
    lines : list of str
        Lines or paragraphs of a document.

    Returns
    -------
    list of str
    """
    kept, in_references = [], False
    for line in lines:
        if REFERENCES.fullmatch(line.strip()):
            in_references = True
        elif in_references and AFTER_REFERENCES.fullmatch(line.strip()):
            in_references = False
        if not in_references:
            kept.append(line)
    return kept


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


# ---- files of any kind

HTML_SUFFIXES = (".html", ".htm", ".xhtml")
DOCUMENTS = {".pdf": pdf_to_text, ".docx": docx_to_text}
TABLE_SUFFIXES = (*tables.SUFFIXES, *jsonl.SUFFIXES)
SUFFIXES = (*files.SUFFIXES, *HTML_SUFFIXES, *DOCUMENTS, *jats.SUFFIXES, *TABLE_SUFFIXES)


def read_file(path: Path) -> str:
    """Read the text of a file; what is wrong with it becomes a one-line error.

    Parameters
    ----------
    path : Path
        Plain or compressed.

    Returns
    -------
    str
        The prose, where the format tells it from the rest.
    """
    suffix = bare_suffix(path)
    opener = COMPRESSIONS.get(path.suffix.lower(), open)
    try:
        with opener(path, "rb") as stream:
            if suffix in DOCUMENTS:
                data = _read(stream, str(path), MAX_DOCUMENT_BYTES)
                return DOCUMENTS[suffix](data, str(path))
            text = read_stream(stream, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise TextError(f"{path} is truncated or damaged ({error}); compress it again") from error
    except OSError as error:
        raise TextError(f"cannot read {path}: {error.strerror or error}") from error
    return html_to_text(text) if suffix in HTML_SUFFIXES else text


def read_stream(stream: IO[bytes], name: str) -> str:
    """Read text, in UTF-8 or with the mark of UTF-16.

    Parameters
    ----------
    stream : binary file
    name : str
        Name of the stream in errors.

    Returns
    -------
    str
    """
    data = _read(stream, name, MAX_BYTES)
    if data.startswith(UTF16):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise TextError(
            f"{name} is not text, but binary; expected a file like {', '.join(SUFFIXES)}"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(
            f"{name} is not UTF-8 text (byte {data[error.start]:#04x} at {error.start}); "
            "convert it, for instance with iconv"
        ) from error


def _read(stream: IO[bytes], name: str, most: int) -> bytes:
    data = stream.read(most + 1)
    if len(data) > most:
        raise TextError(
            f"{name} is larger than {most // MEBI} MiB, too much for one text; "
            "give many texts as the rows of a CSV or JSON-lines file"
        )
    return data
