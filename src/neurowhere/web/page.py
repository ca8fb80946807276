"""Page: its files and the template; nothing from elsewhere."""

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, HTTPException, Request, Response

from neurowhere.web.images import CORTEX, TEMPLATES
from neurowhere.web.pool import Pool

__all__ = ["make_page", "static_files"]

MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
REVALIDATE = "no-cache"  # a browser keeps files, but asks whether they changed
NIFTI = ".nii.gz"
PACKED = "gzip"


def make_page(pool: Pool) -> APIRouter:
    """Return the routes of the page, which are no part of the API."""
    router = APIRouter(include_in_schema=False)
    packed_files()  # before the first request
    templates: dict[str, bytes] = {}

    @router.get("/")
    async def index(request: Request) -> Response:
        return _file(request, "index.html", static_files()["index.html"])

    @router.get("/docs")
    async def documentation(request: Request) -> Response:
        return _file(request, "docs.html", static_files()["docs.html"])

    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        if name.removesuffix(NIFTI) in TEMPLATES:
            if name not in templates:
                templates[name] = await pool.run("template_nifti", name.removesuffix(NIFTI))
            return _file(request, name, templates[name])
        if name == CORTEX:
            if name not in templates:
                templates[name] = await pool.run("cortex_bytes", None)
            return _file(request, name, templates[name])
        if name not in static_files():  # no other name is ever looked up
            raise HTTPException(404, "no such file")
        return _file(request, name, static_files()[name])

    return router


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of each file of the page, by its name."""
    folder = files("neurowhere.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


@cache
def packed_files() -> dict[str, bytes]:
    """Return the same, compressed once."""
    return {name: gzip.compress(content, mtime=0) for name, content in static_files().items()}


def _file(request: Request, name: str, content: bytes) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": REVALIDATE, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):  # a proxy that compresses adds W/
        return Response(status_code=304, headers=headers)
    if name in packed_files() and accepts_gzip(request.headers.get("accept-encoding", "")):
        content = packed_files()[name]
        headers |= {"Content-Encoding": PACKED, "ETag": f"W/{tag}"}
    suffix = PurePosixPath(name).suffix
    return Response(
        content, media_type=MEDIA_TYPES.get(suffix, "application/gzip"), headers=headers
    )


def accepts_gzip(header: str) -> bool:
    """Return whether a client takes compressed content.

    >>> accepts_gzip("br, gzip"), accepts_gzip("gzip;q=0"), accepts_gzip("")
    (True, False, False)
    """
    for part in header.lower().replace(" ", "").split(","):
        name, _, quality = part.partition(";q=")
        if name == PACKED:
            return not quality or quality.strip("0.") != ""
    return False
