"""Documents that a request brings, read as one text; none is ever written to disk."""

from http import HTTPStatus
from io import BytesIO
from typing import Any

from neurowhere.exceptions import MissingExtraError, TextError
from neurowhere.inputs.documents import docx_to_text, pdf_to_text, read_stream
from neurowhere.inputs.markup import html_to_text
from neurowhere.web.errors import ApiError
from neurowhere.web.schemas import DocumentQuery

__all__ = ["read_document"]

NAME = "the file"  # in errors, which repeat nothing of the user's


def read_document(query: DocumentQuery, most: int) -> dict[str, Any]:
    """Return the prose of a document, cut where it exceeds the limit of a text.

    Parameters
    ----------
    query : DocumentQuery
    most : int
        Characters of a text.

    Returns
    -------
    dict
        As `DocumentAnswer` describes it.
    """
    try:
        text = _read(query.content, query.kind).strip()
    except MissingExtraError as error:
        raise _refuse(f"This server cannot read {query.kind} files.", "Paste the text.") from error
    except TextError as error:
        hint = "Check that it is whole and of this format, or paste its text."
        raise _refuse("The document cannot be read.", hint) from error
    return {"text": text[:most], "characters": len(text)}


def _refuse(message: str, hint: str) -> ApiError:
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_document", message, hint)


def _read(content: bytes, kind: str) -> str:
    if kind == "pdf":
        return pdf_to_text(content, NAME)
    if kind == "docx":
        return docx_to_text(content, NAME)
    words = read_stream(BytesIO(content), NAME)
    return html_to_text(words) if kind == "html" else words
