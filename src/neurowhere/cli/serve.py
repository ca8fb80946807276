"""The `serve` and `mcp` commands: the page and the HTTP API, and tools for assistants."""

import inspect
import re
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from neurowhere.cli.options import ModelOption, option, with_groups
from neurowhere.exceptions import MissingExtraError, NeurowhereError
from neurowhere.web import Settings, cores

PREFIX = "NEUROWHERE_"
ENTRY = re.compile(r"^(\w+) : .*\n((?: {4}.*\n?)+)", re.MULTILINE)  # of a docstring in numpydoc
HELP = dict(ENTRY.findall(inspect.cleandoc(Settings.__doc__ or "")))
SAFE_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")
OWN_PATHS = ("/api", "/docs", "/static")  # a prefix would hide them
EVERY_ADDRESS = ("", "0.0.0.0", "::")
LIMITS = "body map text batch seconds queue jobs job_texts job_body job_seconds"


def check_prefix(value: str) -> str:
    """Return a prefix without the last slash, or raise an error that says what is expected."""
    prefix = value.rstrip("/")
    if prefix and not SAFE_PATH.fullmatch(prefix):
        raise typer.BadParameter(f"expected a path such as /nw, got {value!r}")
    if prefix.startswith(OWN_PATHS):
        raise typer.BadParameter("/api, /docs and /static are the server's own; give another")
    return prefix


def setting(name: str, **more: Any) -> Any:
    """Return the option of a field of `Settings`, whose docstring has its help text.

    It has an environment variable too. A list is None by default.
    """
    default = getattr(Settings, name, None) or None
    if name == "root_path":
        default = ""
    words = " ".join(HELP.get(name, "").split())
    return option(words, default=default, envvar=PREFIX + name.upper(), **more)


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of `serve`: where it listens, and its settings."""

    host: str = option("Address to listen on.", default="127.0.0.1", envvar=f"{PREFIX}HOST")
    port: int = option(
        "Port to listen on; 0 selects a free one.",
        default=8000,
        envvar=f"{PREFIX}PORT",
        min=0,
        max=65535,
    )
    model: ModelOption = None
    max_body: int = setting("max_body", min=1)
    max_map: int = setting("max_map", min=1)
    max_text: int = setting("max_text", min=1)
    max_batch: int = setting("max_batch", min=1)
    max_seconds: float = setting("max_seconds", min=0.1)
    workers: int | None = setting("workers", min=1, show_default="one per core")
    max_queue: int = setting("max_queue", min=0)
    max_jobs: int = setting("max_jobs", min=0)
    max_job_texts: int = setting("max_job_texts", min=1)
    max_job_body: int = setting("max_job_body", min=1)
    max_job_seconds: float = setting("max_job_seconds", min=0.1)
    keep_seconds: float = setting("keep_seconds", min=0)
    documents: list[Path] | None = setting("documents", metavar="PATH", show_default="none")
    allow_host: list[str] | None = setting("allow_hosts", show_default="this machine's")
    root_path: str = setting(
        "root_path", metavar="PATH", callback=check_prefix, show_default="none"
    )
    origin: list[str] | None = setting("origins", show_default="none")
    embed: list[str] | None = setting("embed", show_default="none")

    @property
    def settings(self) -> Settings:
        """Settings of the server, without documents."""
        named = (f"max_{what}" for what in LIMITS.split())
        return Settings(
            **{name: getattr(self, name) for name in (*named, "keep_seconds", "root_path")},
            workers=self.workers or cores(),
            origins=tuple(self.origin or ()),
            embed=tuple(self.embed or ()),
            allow_hosts=(
                *(self.allow_host or ()),
                *(() if self.host in EVERY_ADDRESS else (as_name(self.host),)),
            ),
        )


@with_groups
def serve(options: ServeOptions) -> None:
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

    host, settings = options.host, options.settings
    set_up_log()
    paths = options.documents or ()
    with listen(host, options.port) as door, open_collections(paths) as collections:
        settings = replace(settings, documents=collections)
        with hire(options.model, settings) as pool, suppress(KeyboardInterrupt):
            server = make_server(assemble(pool, settings), settings)
            address = f"http://{as_name(host)}:{door.getsockname()[1]}{options.root_path}"
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


def mcp(model: ModelOption = None) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol).

    The tools are encode, decode, term, contrast and check_sides. Nothing leaves this machine but
    what the assistant passes on. Give an assistant this command; it is not for a terminal.

    Example:

        neurowhere mcp
    """
    try:
        from neurowhere.web.mcp import make_tools
    except ModuleNotFoundError as error:
        raise MissingExtraError("mcp", "serving tools to an assistant") from error
    from neurowhere.model.store import load_model

    make_tools(load_model(model)).run()
