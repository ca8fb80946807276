"""The `neurowhere serve` command: the page and the HTTP API."""

import socket
from contextlib import suppress
from typing import Annotated

import typer

from neurowhere.cli.options import ModelOption
from neurowhere.exceptions import MissingExtraError, NeurowhereError
from neurowhere.web.settings import Settings, cores

PREFIX = "NEUROWHERE_"
GRACE_SECONDS = 5  # a stopping server waits this much longer than a request may take


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
            envvar=PREFIX + "MAX_MAP", min=1, help="Maximum size of an image to decode, in bytes."
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
        import uvicorn

        from neurowhere.web.app import assemble
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
        origins=tuple(origin or ()),
        embed=tuple(embed or ()),
    )
    with listen(host, port) as door, hire(model, settings) as crew, suppress(KeyboardInterrupt):
        options = uvicorn.Config(
            assemble(crew, settings),
            access_log=False,
            server_header=False,
            log_level="warning",
            timeout_graceful_shutdown=int(max_seconds) + GRACE_SECONDS,
        )
        typer.echo(f"neurowhere serves http://{host}:{door.getsockname()[1]} (Ctrl+C stops it)")
        uvicorn.Server(options).run(sockets=[door])


def listen(host: str, port: int) -> socket.socket:
    """Open the port, or raise an error that says why not."""
    try:
        family = socket.getaddrinfo(host, port)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise NeurowhereError(
            f"cannot listen on {host}, port {port}: {error.strerror}; give another --host or --port"
        ) from error
