"""The `neurowhere term` command: the map that a model associates with a term."""

from typing import Annotated

import typer

from neurowhere.cli.options import Like, ModelOption, Output, Overwrite, Resolution


def term(
    name: Annotated[
        str,
        typer.Argument(metavar="TERM", help="Term, with or without a side.", show_default=False),
    ],
    output: Output,
    model: ModelOption = None,
    resolution: Resolution = None,
    like: Like = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the map of a term as an image (map.nii.gz) and as a figure of slices (map.png).

    Example:

        neurowhere term "left amygdala" --model model -o left-amygdala
    """
    from neurowhere.model.store import load_model
    from neurowhere.report.maps import write_term

    found = load_model(model).term_map(name)
    write_term(found, output, resolution_mm=resolution, like=like, overwrite=overwrite)
    typer.echo(f"{found.title}: written to {output}")
