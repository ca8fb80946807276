"""The `neurowhere serve` command: the page and the HTTP API."""

import re
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from neurowhere.cli.options import ModelOption
from neurowhere.exceptions import MissingExtraError, NeurowhereError
from neurowhere.web import Settings, cores

PREFIX = "NEUROWHERE_"
SAFE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
OWN_PATHS = ("/api", "/docs", "/static")  # a prefix would hide them
EVERY_ADDRESS = ("", "0.0.0.0", "::")


def check_prefix(value: str) -> str:
    """Return a prefix without the last slash, or raise an error that says what is expected."""
    prefix = value.rstrip("/")
    if prefix and not SAFE_PATH.fullmatch(prefix):
        raise typer.BadParameter(f"expected a path such as /nw, got {value!r}")
    if prefix.startswith(OWN_PATHS):
        raise typer.BadParameter("/api, /docs and /static are the server's own; give another")
    return prefix


def setting(name: str, words: str, **options: Any) -> Any:
    """Return the option that sets a field of `Settings`; it has an environment variable too."""
    return typer.Option(envvar=PREFIX + name, help=words, **options)


Strings = list[str] | None


def serve(
    host: Annotated[str, setting("HOST", "Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, setting("PORT", "Port to listen on; 0 selects a free one.", min=0, max=65535)
    ] = 8000,
    model: ModelOption = None,
    max_body: Annotated[
        int, setting("MAX_BODY", "Maximum size of a request, in bytes.", min=1)
    ] = Settings.max_body,
    max_map: Annotated[
        int, setting("MAX_MAP", "Maximum size of an image or document, in bytes.", min=1)
    ] = Settings.max_map,
    max_text: Annotated[
        int, setting("MAX_TEXT", "Maximum length of a text, in characters.", min=1)
    ] = Settings.max_text,
    max_batch: Annotated[
        int, setting("MAX_BATCH", "Maximum number of texts or points per request.", min=1)
    ] = Settings.max_batch,
    max_seconds: Annotated[
        float, setting("MAX_SECONDS", "Time limit of a request, in seconds.", min=0.1)
    ] = Settings.max_seconds,
    workers: Annotated[
        int | None,
        setting(
            "WORKERS",
            "Number of processes; each holds the model and handles one request at a time.",
            min=1,
            show_default="one per core",
        ),
    ] = None,
    max_queue: Annotated[
        int, setting("MAX_QUEUE", "Maximum number of waiting requests.", min=0)
    ] = Settings.max_queue,
    max_jobs: Annotated[
        int,
        setting(
            "MAX_JOBS", "Maximum number of jobs that run, wait or are kept; 0 for none.", min=0
        ),
    ] = Settings.max_jobs,
    max_job_texts: Annotated[
        int, setting("MAX_JOB_TEXTS", "Maximum number of texts or documents of a job.", min=1)
    ] = Settings.max_job_texts,
    max_job_body: Annotated[
        int,
        setting("MAX_JOB_BODY", "Maximum size of a request that starts a job, in bytes.", min=1),
    ] = Settings.max_job_body,
    max_job_seconds: Annotated[
        float, setting("MAX_JOB_SECONDS", "Time limit of a job, in seconds.", min=0.1)
    ] = Settings.max_job_seconds,
    keep_seconds: Annotated[
        float,
        setting("KEEP_SECONDS", "Time for which the result of a job is kept, in seconds.", min=0),
    ] = Settings.keep_seconds,
    documents: Annotated[
        list[Path] | None,
        setting(
            "DOCUMENTS",
            "File or folder of documents to contrast and to look up; can be repeated.",
            metavar="PATH",
            show_default="none",
        ),
    ] = None,
    allow_host: Annotated[
        Strings,
        setting(
            "ALLOW_HOSTS",
            "Name by which the server may be addressed, or * for any; can be repeated.",
            show_default="this machine's",
        ),
    ] = None,
    root_path: Annotated[
        str,
        setting(
            "ROOT_PATH",
            "Prefix under which a proxy offers the server, such as /nw.",
            metavar="PATH",
            callback=check_prefix,
            show_default="none",
        ),
    ] = "",
    origin: Annotated[
        Strings,
        setting(
            "ORIGINS",
            "Other site whose pages may call the API (CORS); can be repeated.",
            show_default="none",
        ),
    ] = None,
    embed: Annotated[
        Strings,
        setting(
            "EMBED",
            "Other site whose pages may show the map in a frame; can be repeated.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """Serve the web page and the HTTP API; by default only this machine can connect.

    Example:

        neurowhere serve --port 8000
    """
    try:
        from neurowhere.web.documents import open_collections
        from neurowhere.web.pool import hire
        from neurowhere.web.server import assemble, make_server, set_up_log
    except ModuleNotFoundError as error:
        raise MissingExtraError("serve", "serving the page and the API") from error

    settings = Settings(
        max_body=max_body,
        max_map=max_map,
        max_text=max_text,
        max_batch=max_batch,
        max_seconds=max_seconds,
        workers=workers or cores(),
        max_queue=max_queue,
        max_jobs=max_jobs,
        max_job_texts=max_job_texts,
        max_job_body=max_job_body,
        max_job_seconds=max_job_seconds,
        keep_seconds=keep_seconds,
        origins=tuple(origin or ()),
        embed=tuple(embed or ()),
        allow_hosts=(*(allow_host or ()), *(() if host in EVERY_ADDRESS else (as_name(host),))),
        root_path=root_path,
    )
    set_up_log()
    with listen(host, port) as door, open_collections(documents or ()) as collections:
        settings = replace(settings, documents=collections)
        with hire(model, settings) as pool, suppress(KeyboardInterrupt):
            server = make_server(assemble(pool, settings), settings)
            address = f"http://{as_name(host)}:{door.getsockname()[1]}{root_path}"
            typer.echo(f"neurowhere serves {address} (Ctrl+C stops it)")
            server.run(sockets=[door])


def as_name(host: str) -> str:
    """Return an address as it is written in a URL.

    >>> as_name("::1"), as_name("127.0.0.1")
    ('[::1]', '127.0.0.1')
    """
    return f"[{host}]" if ":" in host else host


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or raise an error that says why not."""
    try:
        family = socket.getaddrinfo(host, port)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise NeurowhereError(
            f"cannot listen on {host}, port {port}: {error.strerror}; give another --host or --port"
        ) from error
