"""Uploads: places, images and documents that a request brings; none is ever written to disk."""

import warnings
import zlib
from http import HTTPStatus
from io import BytesIO
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere.exceptions import DataWarning, MissingExtraError, TextError
from neurowhere.inputs.prose import docx_to_text, html_to_text, pdf_to_text
from neurowhere.inputs.sources import read_stream
from neurowhere.model.decoding import Decoding, decode
from neurowhere.model.encoder import Encoder
from neurowhere.model.summary import as_point, studies_of
from neurowhere.space import Atlas
from neurowhere.space.geometry import Gazetteer, gazetteer_of
from neurowhere.space.images import OUTSIDE
from neurowhere.web.errors import ApiError
from neurowhere.web.schemas import DecodeQuery, DocumentQuery, MapQuery

__all__ = ["decode_map", "decode_points", "read_document", "read_image"]

GZIP = b"\x1f\x8b"
GZIP_WINDOW = 16 + zlib.MAX_WBITS
MOST_VOXELS = 10_000_000  # the brain at 1 mm has 9 million, with a margin
MOST_BYTES = 8 * MOST_VOXELS + 100_000  # unpacked
N_REGIONS = 10
NAME = "the file"  # in errors, which repeat nothing of the user's

Floats = NDArray[np.floating]

_warning = Lock()  # Python's record of warnings belongs to the whole process


# ---- places and images


def decode_points(model: Encoder, atlas: Atlas, query: DecodeQuery) -> dict[str, Any]:
    """Find the terms and studies for places; those outside of the brain are counted.

    Parameters
    ----------
    model : Encoder
    atlas : Atlas
        Names the regions.
    query : DecodeQuery

    Returns
    -------
    dict
        As `DecodeAnswer` describes it.
    """
    points = np.array(query.points)
    inside = model.brain_.region_of(points) != OUTSIDE
    found = decode(model, points[inside] if inside.any() else points, n_terms=query.n)
    answer = _tell(model, atlas, found, query.n, query.regions)
    return answer | {"outside": int((~inside).sum()), "threshold": None, "notes": []}


def decode_map(model: Encoder, atlas: Atlas, query: MapQuery) -> dict[str, Any]:
    """Find the terms and studies for an image.

    Parameters
    ----------
    model : Encoder
    atlas : Atlas
        Names the regions.
    query : MapQuery

    Returns
    -------
    dict
        As `DecodeAnswer` describes it.
    """
    image = read_image(query.image)
    with _warning, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        found = decode(model, image, threshold=query.threshold, n_terms=query.n)
    notes = [str(each.message) for each in told if issubclass(each.category, DataWarning)]
    answer = _tell(model, atlas, found, query.n, N_REGIONS)
    return answer | {"outside": 0, "threshold": found.threshold, "notes": notes}


def _tell(
    model: Encoder, atlas: Atlas, found: Decoding, n_rows: int, n_regions: int
) -> dict[str, Any]:
    return {
        "terms": found.terms[["term", "score", "ratio"]].to_dict("records"),
        "studies": studies_of(found.studies)[:n_rows],
        "regions": _regions(model, gazetteer_of(atlas, model.partition_), found.weights, n_regions),
    }


def _regions(
    model: Encoder, gazetteer: Gazetteer, weights: Floats, n_regions: int
) -> list[dict[str, Any]]:
    """Return the regions of an atlas with the largest shares of a distribution."""
    if not n_regions:
        return []
    volumes = model.partition_.volumes_mm3
    shares = gazetteer.shares(weights / volumes)
    usual = gazetteer.shares(model.mean_map_ / volumes)
    rows = [row for row in np.argsort(-shares, kind="stable")[:n_regions].tolist() if shares[row]]
    places = gazetteer.densest_mm(weights / volumes, rows)
    return [
        {
            "region": gazetteer.atlas.names[row],
            "name": gazetteer.names[row],
            "probability": float(shares[row]),
            "ratio": float(shares[row] / usual[row]) if usual[row] else None,
            "at": as_point(place),
        }
        for row, place in zip(rows, places, strict=True)
    ]


def read_image(content: bytes) -> Any:
    """Read a NIfTI image from bytes, packed or not.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    nibabel.Nifti1Image
    """
    import nibabel

    data = _unpack(content) if content.startswith(GZIP) else content
    try:
        image = nibabel.Nifti1Image.from_bytes(data)
    except Exception as error:  # nibabel has many
        raise _no_image("expected a NIfTI image (.nii or .nii.gz)") from error
    if prod(image.shape) > MOST_VOXELS:
        raise _no_image(f"expected an image of at most {MOST_VOXELS:,} voxels")
    try:
        np.asanyarray(image.dataobj)
    except (OSError, ValueError) as error:
        raise _no_image("expected a whole image, but it is shorter than its header says") from error
    return image


def _unpack(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(GZIP_WINDOW)
    try:
        data = unpacker.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise _no_image("expected a whole file, but it cannot be unpacked") from error
    if unpacker.unconsumed_tail:
        raise _no_image(f"expected an image of at most {MOST_BYTES:,} bytes, unpacked")
    return data


def _no_image(message: str) -> ApiError:
    hint = "send one 3-D map in MNI space, at 1 mm or coarser"
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_image", message, hint)


# ---- documents


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
        text = _read_prose(query.content, query.kind).strip()
    except MissingExtraError as error:
        raise _no_document(
            f"This server cannot read {query.kind} files.", "Paste the text."
        ) from error
    except TextError as error:
        hint = "Check that it is whole and of this format, or paste its text."
        raise _no_document("The document cannot be read.", hint) from error
    return {"text": text[:most], "characters": len(text)}


def _no_document(message: str, hint: str) -> ApiError:
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_document", message, hint)


def _read_prose(content: bytes, kind: str) -> str:
    if kind == "pdf":
        return pdf_to_text(content, NAME)
    if kind == "docx":
        return docx_to_text(content, NAME)
    words = read_stream(BytesIO(content), NAME)
    return html_to_text(words) if kind == "html" else words
