"""Page: its files and the template; nothing from elsewhere."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, HTTPException, Request, Response

from neurowhere.web.images import TEMPLATES
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


def make_page(pool: Pool) -> APIRouter:
    """Return the routes of the page, which are no part of the API."""
    router = APIRouter(include_in_schema=False)
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
        if name not in static_files():  # no other name is ever looked up
            raise HTTPException(404, "no such file")
        return _file(request, name, static_files()[name])

    return router


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of each file of the page, by its name."""
    folder = files("neurowhere.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def _file(request: Request, name: str, content: bytes) -> Response:
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": REVALIDATE}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    suffix = PurePosixPath(name).suffix
    return Response(
        content, media_type=MEDIA_TYPES.get(suffix, "application/gzip"), headers=headers
    )
