"""The `neurowhere serve` command: the page and the HTTP API."""

import re
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from neurowhere.cli.options import ModelOption
from neurowhere.exceptions import MissingExtraError, NeurowhereError
from neurowhere.web.settings import Settings, cores

PREFIX = "NEUROWHERE_"
SAFE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
OWN_PATHS = ("/api", "/docs", "/static")  # which a prefix would hide
EVERY_ADDRESS = ("", "0.0.0.0", "::")


def check_prefix(value: str) -> str:
    """Return a prefix without the last slash, or raise an error that says what is expected."""
    prefix = value.rstrip("/")
    if prefix and not SAFE_PATH.fullmatch(prefix):
        raise typer.BadParameter(f"expected a path such as /nw, got {value!r}")
    if prefix.startswith(OWN_PATHS):
        raise typer.BadParameter("/api, /docs and /static are the server's own; give another")
    return prefix


def serve(
    host: Annotated[
        str, typer.Option(envvar=PREFIX + "HOST", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "PORT",
            min=0,
            max=65535,
            help="Port to listen on; 0 selects a free one.",
        ),
    ] = 8000,
    model: ModelOption = None,
    max_body: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_BODY", min=1, help="Maximum size of a request, in bytes."
        ),
    ] = Settings.max_body,
    max_map: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_MAP", min=1, help="Maximum size of an image or document, in bytes."
        ),
    ] = Settings.max_map,
    max_text: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_TEXT", min=1, help="Maximum length of a text, in characters."
        ),
    ] = Settings.max_text,
    max_batch: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_BATCH",
            min=1,
            help="Maximum number of texts or points per request.",
        ),
    ] = Settings.max_batch,
    max_seconds: Annotated[
        float,
        typer.Option(
            envvar=PREFIX + "MAX_SECONDS", min=0.1, help="Time limit of a request, in seconds."
        ),
    ] = Settings.max_seconds,
    workers: Annotated[
        int | None,
        typer.Option(
            envvar=PREFIX + "WORKERS",
            min=1,
            help="Number of processes; each holds the model and handles one request at a time.",
            show_default="one per core",
        ),
    ] = None,
    max_queue: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_QUEUE", min=0, help="Maximum number of waiting requests."
        ),
    ] = Settings.max_queue,
    max_connections: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_CONNECTIONS", min=1, help="Maximum number of open connections."
        ),
    ] = Settings.max_connections,
    max_header_seconds: Annotated[
        float,
        typer.Option(
            envvar=PREFIX + "MAX_HEADER_SECONDS",
            min=0.1,
            help="Time limit for the head of a request to arrive, in seconds.",
        ),
    ] = Settings.max_header_seconds,
    max_rate: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_RATE",
            min=0,
            help="Maximum number of queries per minute from one address; 0 for no limit.",
        ),
    ] = Settings.max_rate,
    max_jobs: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_JOBS",
            min=0,
            help="Maximum number of jobs that run, wait or are kept; 0 for none.",
        ),
    ] = Settings.max_jobs,
    max_job_texts: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_JOB_TEXTS",
            min=1,
            help="Maximum number of texts or documents of a job.",
        ),
    ] = Settings.max_job_texts,
    max_job_body: Annotated[
        int,
        typer.Option(
            envvar=PREFIX + "MAX_JOB_BODY",
            min=1,
            help="Maximum size of a request that starts a job, in bytes.",
        ),
    ] = Settings.max_job_body,
    max_job_seconds: Annotated[
        float,
        typer.Option(
            envvar=PREFIX + "MAX_JOB_SECONDS", min=0.1, help="Time limit of a job, in seconds."
        ),
    ] = Settings.max_job_seconds,
    keep_seconds: Annotated[
        float,
        typer.Option(
            envvar=PREFIX + "KEEP_SECONDS",
            min=0,
            help="Time for which the result of a job is kept, in seconds.",
        ),
    ] = Settings.keep_seconds,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            envvar=PREFIX + "DOCUMENTS",
            metavar="PATH",
            help="File or folder of documents to contrast and to look up; can be repeated.",
            show_default="none",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar=PREFIX + "ALLOW_HOSTS",
            help="Name by which the server may be addressed, or * for any; can be repeated.",
            show_default="this machine's",
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            envvar=PREFIX + "TRUSTED_PROXIES",
            help="Address of a proxy that tells the addresses of clients; can be repeated.",
            show_default="this machine",
        ),
    ] = None,
    root_path: Annotated[
        str,
        typer.Option(
            envvar=PREFIX + "ROOT_PATH",
            metavar="PATH",
            callback=check_prefix,
            help="Prefix under which a proxy offers the server, such as /nw.",
            show_default="none",
        ),
    ] = "",
    origin: Annotated[
        list[str] | None,
        typer.Option(
            envvar=PREFIX + "ORIGINS",
            help="Other site whose pages may call the API (CORS); can be repeated.",
            show_default="none",
        ),
    ] = None,
    embed: Annotated[
        list[str] | None,
        typer.Option(
            envvar=PREFIX + "EMBED",
            help="Other site whose pages may show the map in a frame; can be repeated.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """Serve the web page and the HTTP API; by default only this machine can connect.

    Example:

        neurowhere serve --port 8000
    """
    try:
        from neurowhere.web.app import assemble
        from neurowhere.web.collections import open_collections
        from neurowhere.web.server import make_server, set_up_log
        from neurowhere.web.worker import hire
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
        max_connections=max_connections,
        max_header_seconds=max_header_seconds,
        max_rate=max_rate,
        max_jobs=max_jobs,
        max_job_texts=max_job_texts,
        max_job_body=max_job_body,
        max_job_seconds=max_job_seconds,
        keep_seconds=keep_seconds,
        origins=tuple(origin or ()),
        embed=tuple(embed or ()),
        allow_hosts=(*(allow_host or ()), *(() if host in EVERY_ADDRESS else (as_name(host),))),
        trusted_proxies=tuple(trusted_proxy or Settings.trusted_proxies),
        root_path=root_path,
    )
    set_up_log()
    with listen(host, port) as door, open_collections(documents or ()) as collections:
        settings = replace(settings, documents=collections)
        with hire(model, settings) as crew, suppress(KeyboardInterrupt):
            server = make_server(assemble(crew, settings), settings)
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
