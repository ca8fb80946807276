"""The command line: options in, calls to the package, readable output; no science here."""

import gc
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, TextIO

import typer

from neurowhere.cli.contrast import contrast
from neurowhere.cli.corpus import corpus_app, vocabulary_app
from neurowhere.cli.encode import encode
from neurowhere.cli.model import benchmark, compare, fit, model_app, score
from neurowhere.cli.reproduce import reproduce
from neurowhere.cli.serve import mcp, serve
from neurowhere.cli.terms import decode, regions, term
from neurowhere.exceptions import DamageWarning, NeurowhereError, NeurowhereWarning, one_line

# New objects between garbage collections (700 in Python): imports make many, and no garbage.
FEW_COLLECTIONS = 50_000

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# One line per group of commands; each is in a module of its own, which imports no heavy package.
app.command("encode")(encode)
# Coordinates may be negative: -24 is no option.
app.command("decode", context_settings={"ignore_unknown_options": True})(decode)
app.command("regions", context_settings={"ignore_unknown_options": True})(regions)
app.add_typer(corpus_app, name="corpus")
app.add_typer(vocabulary_app, name="vocabulary")
app.add_typer(model_app, name="model")
app.command("fit")(fit)
app.command("score")(score)
app.command("term")(term)
app.command("compare")(compare)
app.command("reproduce")(reproduce)
app.command("benchmark")(benchmark)
app.command("contrast")(contrast)
app.command("serve")(serve)
app.command("mcp")(mcp)


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"neurowhere {version('neurowhere')}")
        raise typer.Exit


@app.callback()
def neurowhere(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Where in the brain does this text point? Text in, brain map out."""


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 1."""
    gc.set_threshold(FEW_COLLECTIONS)
    _open_streams()
    # Failures are printed beside the texts that cause them; only a server has a log.
    logging.getLogger("neurowhere").addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", NeurowhereWarning)
    warnings.simplefilter("error", DamageWarning)
    warnings.showwarning = _show_warning
    try:
        app()
    except NeurowhereError as error:
        sys.exit(f"neurowhere: {error}")
    except DamageWarning as damage:
        sys.exit(
            f"neurowhere: {one_line(str(damage))}; mend that, or import what can be read: "
            "neurowhere corpus import --keep-going"
        )
    except OSError as error:  # a disk that is full, a file that may not be read
        sys.exit(f"neurowhere: {one_line(str(error))}")
    except UnicodeEncodeError as error:
        sys.exit(
            f"neurowhere: cannot write {error.object[error.start : error.end]!a} in "
            f"{error.encoding}; names of files have to be in UTF-8, and so has the terminal"
        )
    finally:
        # Otherwise Python collects garbage for a quarter of a second before it ends.
        gc.freeze()


def _open_streams() -> None:
    """Give a process that was started without standard streams empty ones."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115, until the end


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, in place of `warnings.showwarning`."""
    print(f"neurowhere: warning: {one_line(str(message))}", file=file or sys.stderr)
