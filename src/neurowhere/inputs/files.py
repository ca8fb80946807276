"""Files that hold one text: plain, Markdown, HTML, PDF or Word; bounded in size, and text."""

import codecs
import gzip
import lzma
import zlib
from pathlib import Path
from typing import IO

from neurowhere._tools.files import COMPRESSIONS, bare_suffix
from neurowhere.corpus.readers import jats, jsonl, plain, tables
from neurowhere.exceptions import TextError
from neurowhere.inputs.documents import MEBI, docx_to_text, pdf_to_text
from neurowhere.inputs.markup import html_to_text

HTML_SUFFIXES = (".html", ".htm", ".xhtml")
DOCUMENTS = {".pdf": pdf_to_text, ".docx": docx_to_text}
TABLE_SUFFIXES = (*tables.SUFFIXES, *jsonl.SUFFIXES)
SUFFIXES = (*plain.SUFFIXES, *HTML_SUFFIXES, *DOCUMENTS, *jats.SUFFIXES, *TABLE_SUFFIXES)
MAX_BYTES = 20 * MEBI  # some ten times a long book
MAX_DOCUMENT_BYTES = 200 * MEBI  # nearly all of it pictures
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


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
