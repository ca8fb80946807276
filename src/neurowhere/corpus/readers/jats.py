"""Journal articles in JATS XML, through pubget's extraction of text and coordinates.

What comes from outside is parsed here first, with entities, DTDs and network off. Only the
parsed article goes on to pubget, without processing instructions: one of them, dbhtml-include,
makes the DocBook stylesheet that pubget applies to tables read other files.
"""

import logging
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from neurowhere.corpus.documents import XYZ, Document
from neurowhere.corpus.readers.files import Skipped
from neurowhere.corpus.readers.pubget import article_document
from neurowhere.exceptions import CorpusError, DataWarning, MissingExtraError

NAME = "jats"

SUFFIXES = (".xml", ".nxml")
ROOT = re.compile(rb"<(pmc-articleset|article)[\s>]")
HEAD_BYTES = 1 << 16
CHUNK_BYTES = 1 << 20
MAX_ARTICLE_BYTES = 1 << 25  # the largest articles of PubMed Central have a few megabytes
MAX_TABLE_CELLS = 1_000_000  # cells after merged ones are repeated, as pandas does
MAX_DIGITS = 9  # digits of a span; longer ones are absurd, and slow to parse


def detects(path: Path) -> bool:
    """Return whether a file, or the first XML file below a folder, begins as a JATS article."""
    first = next(_iter_files(path), None)
    if first is None:
        return False
    with first.open("rb") as stream:
        return ROOT.search(stream.read(HEAD_BYTES)) is not None


def iter_documents(path: Path) -> Iterator[Document]:
    """Yield the articles of one file or of all XML files below a folder, in order of path.

    What cannot be read is left out and counted in a `DataWarning`; it is an error if nothing
    can. So are tables that pubget gave up on.
    """
    try:
        import pubget  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("jats", "reading JATS articles") from error
    skipped = Skipped("articles")
    complaints: list[str] = []
    n_read = 0
    for file in sorted(_iter_files(path)):
        try:
            for article in iter_articles(file):
                try:
                    document = _extract(article, file.stem, complaints)
                except CorpusError as error:
                    skipped.add(file.name, error)
                else:
                    n_read += 1
                    yield document
        except CorpusError as error:
            skipped.add(file.name, error)
    skipped.report(n_read)
    if not n_read:
        raise CorpusError(
            f"expected JATS articles, but {path} has no file ending in {' or '.join(SUFFIXES)}"
        )
    if complaints:
        warnings.warn(
            f"pubget gave up on {len(complaints)} tables (first: {complaints[0]})",
            DataWarning,
            stacklevel=2,
        )


def _iter_files(path: Path) -> Iterator[Path]:
    for candidate in [path] if path.is_file() else path.rglob("*"):
        if candidate.suffix.lower() in SUFFIXES and candidate.is_file():
            yield candidate


def iter_articles(path: Path) -> Iterator[Any]:
    """Yield the ``<article>`` elements of a file one at a time, each checked for safety.

    An element is emptied when the next one is asked for.
    """
    from lxml import etree

    parser = etree.XMLPullParser(
        events=("start", "end"),
        tag="article",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_pis=True,
        remove_comments=True,
    )
    n_articles = pending = 0
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK_BYTES):
                pending += len(chunk)
                parser.feed(chunk)
                for event, element in parser.read_events():
                    if event == "start":
                        _refuse_declared_entities(element)
                        continue
                    n_articles += 1
                    pending = 0
                    _refuse_entity_references(element)
                    yield element
                    _free(element)
                if pending > MAX_ARTICLE_BYTES:
                    raise CorpusError(f"an article is larger than {MAX_ARTICLE_BYTES >> 20} MiB")
        parser.close()
    except etree.XMLSyntaxError as error:
        reason = " ".join(str(error.msg).split())  # one line: lxml before 6 writes two
        raise CorpusError(f"not well-formed XML ({reason})") from error
    if not n_articles:
        raise CorpusError("no <article> element")


def _refuse_declared_entities(element: Any) -> None:
    internal = element.getroottree().docinfo.internalDTD
    if internal is not None and any(True for _ in internal.iterentities()):
        raise CorpusError("declares XML entities, which are not followed")


def _refuse_entity_references(article: Any) -> None:
    from lxml import etree

    for entity in article.iter(etree.Entity):
        raise CorpusError(f"needs {entity.text}, which only a DTD could define; write it out")


def _refuse_huge_tables(article: Any) -> None:
    """Refuse cells that claim to span a billion others; pandas would write them all out."""
    n_cells = sum(
        _span(cell, "colspan", 1) * max(_span(cell, "rowspan", 1), 1 + _span(cell, "morerows", 0))
        for cell in article.iter("td", "th", "entry")
    )
    if n_cells > MAX_TABLE_CELLS:
        raise CorpusError(f"its tables have {n_cells} cells, more than {MAX_TABLE_CELLS}")


def _span(cell: Any, attribute: str, default: int) -> int:
    digits = cell.get(attribute, "").strip()[:MAX_DIGITS]
    return int(digits) if digits.isdecimal() else default


def _free(element: Any) -> None:
    """Free the memory of an article that has been read, and of all before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _extract(article: Any, name: str, complaints: list[str]) -> Document:
    """Read an article with pubget's extractors, which need it in a separate folder."""
    from lxml import etree
    from pubget import _articles, _coordinate_space, _coordinates, _metadata, _text

    extractors = (
        _metadata.MetadataExtractor(),
        _text.TextExtractor(),
        _coordinates.CoordinateExtractor(),
        _coordinate_space.CoordinateSpaceExtractor(),
    )
    _refuse_huge_tables(article)
    pmcid = _number(article)
    with tempfile.TemporaryDirectory() as temporary, _listening_to_pubget(name, complaints):
        folder = Path(temporary, f"pmcid_{pmcid}")
        folder.mkdir()
        file = folder / "article.xml"
        file.write_bytes(etree.tostring(article, encoding="UTF-8", with_tail=False))
        try:
            _articles._extract_tables(folder)
            tree = etree.parse(file)
            data = {part.name: part.extract(tree, folder, {}) for part in extractors}
        except Exception as error:  # whatever a stylesheet or pandas makes of odd articles
            raise CorpusError(f"pubget cannot read it ({error})") from error
    return article_document(
        data["metadata"],
        data["text"],
        data["coordinates"][XYZ].to_numpy(np.float64),
        data["coordinate_space"]["coordinate_space"],
        fallback_id=name,
    )


def _number(article: Any) -> int:
    """Set the PubMed Central number of an article, which pubget requires; 0 if it has none."""
    from lxml import etree

    meta = article.find("front/article-meta")
    if meta is None:
        raise CorpusError("no <front> with <article-meta>")
    ids = meta.xpath("article-id[@pub-id-type='pmc' or @pub-id-type='pmcid']")
    numbers = [re.fullmatch(r"(?:PMC)?(\d+)", (element.text or "").strip()) for element in ids]
    number = next((int(match[1]) for match in numbers if match), 0)
    for element in ids:
        meta.remove(element)
    etree.SubElement(meta, "article-id", {"pub-id-type": "pmc"}).text = str(number)
    return number


@contextmanager
def _listening_to_pubget(name: str, complaints: list[str]) -> Iterator[None]:
    """Collect what pubget logs about tables that it skips, which would fill the terminal.

    pubget 0.0.9 calls pandas in ways that pandas 3.1 deprecates; made errors, these warnings
    would pass for unreadable tables, because pubget catches every exception there.
    """

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complaints.append(f"{name}: {record.getMessage()}")

    logger, collector = logging.getLogger("pubget"), Collector()
    level = logger.level
    logger.addHandler(collector)
    logger.setLevel(logging.DEBUG)
    try:
        with warnings.catch_warnings():
            for category in (DeprecationWarning, FutureWarning):
                warnings.filterwarnings("ignore", category=category, module=r"pubget\.")
            yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(collector)
