"""The `neurowhere model` commands: what a model is, and whether it is whole."""

import json
from typing import TYPE_CHECKING

import typer

from neurowhere.cli.options import Json, OptionalModelPath, print_pairs

if TYPE_CHECKING:
    from neurowhere.model.encoder import Encoder

model_app = typer.Typer(no_args_is_help=True, help="Summarise and verify models.")


@model_app.command("info")
def info(path: OptionalModelPath = None, as_json: Json = False) -> None:
    """Summarise a model: what it predicts, from which terms, and its training data.

    Example:

        neurowhere model info

        neurowhere model info model --json
    """
    from neurowhere.model.store import load_model

    print_summary(load_model(path), as_json)


@model_app.command("verify")
def verify(path: OptionalModelPath = None, as_json: Json = False) -> None:
    """Check every file of a model, and that its predictions are densities.

    Example:

        neurowhere model verify model
    """
    from neurowhere.model.store import verify_model

    n_files = verify_model(path)
    typer.echo(
        json.dumps({"files": n_files})
        if as_json
        else f"{path or 'the shipped model'} is whole: {n_files} files"
    )


def print_summary(model: "Encoder", as_json: bool) -> None:
    """Print the summary of a model, as lines or as JSON."""
    summary = model.summary()
    if as_json:
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        print_pairs(summary)
