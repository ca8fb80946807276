"""PDF: the text of a document, through pypdf (the extra `pdf`)."""

import io
import logging
import re

from neurowhere.exceptions import MissingExtraError, TextError

HYPHENATED = re.compile(r"(\w)-\n(?=[a-z])")  # a word that goes on in the next line


def pdf_to_text(data: bytes, name: str) -> str:
    """Text of the pages of a PDF; `name` is that of errors."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError("pdf", "reading PDF files") from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every oddity
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        pages = [page.extract_text() for page in reader.pages]
    except Exception as error:  # damaged files fail in many ways
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TextError(f"cannot read {name} as PDF ({reason}); save it as text") from error
    text = HYPHENATED.sub(r"\1", "\n\n".join(pages))
    if not text.strip():
        raise TextError(f"{name} holds pictures of text, but no text; run text recognition on it")
    return text
