"""The `neurowhere term` command: the map of a term, or of many."""

from pathlib import Path
from typing import Annotated

import typer

from neurowhere._tools.files import expanded
from neurowhere.cli.options import (
    AtlasOption,
    Like,
    ModelOption,
    Output,
    Overwrite,
    Resolution,
    read_atlas,
)


def term(
    output: Output,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[TERM]", help="Term, with or without a side.", show_default=False),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Write the maps of all terms of the model.")
    ] = False,
    terms: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the maps of the terms in this file, one per line.",
            show_default=False,
        ),
    ] = None,
    as_table: Annotated[
        bool,
        typer.Option(
            "--csv", help="Write the mean of each map in each region of an atlas, and no images."
        ),
    ] = False,
    atlas: AtlasOption = None,
    model: ModelOption = None,
    resolution: Resolution = None,
    like: Like = None,
    overwrite: Overwrite = False,
) -> None:
    """Write the map of a term as an image (map.nii.gz) and as a figure of slices (map.png).

    With --all or --terms, write the maps of many terms: one 4-D image (maps.nii.gz, maps.json), or
    with --csv or --atlas a table of terms by regions (regions.csv, regions.json).

    Example:

        neurowhere term "left amygdala" --model model -o left-amygdala

        neurowhere term --all --csv -o terms-by-aal3

        neurowhere term --terms words.txt --atlas parcels.nii.gz:parcels.csv -o terms-by-parcel
    """
    _check_usage(name, every, terms, as_table or atlas is not None)
    from neurowhere.model.store import load_model

    encoder = load_model(model)
    if name is not None:
        from neurowhere.report.maps import write_term

        found = encoder.term_map(name)
        write_term(found, output, resolution_mm=resolution, like=like, overwrite=overwrite)
        typer.echo(f"{found.title}: written to {output}")
        return
    from neurowhere.report.term_maps import write_term_maps

    n_terms = write_term_maps(
        encoder,
        output,
        None if terms is None else _read_terms(terms),
        as_table=as_table,
        atlas=None if atlas is None else read_atlas(atlas),
        resolution_mm=resolution,
        like=like,
        overwrite=overwrite,
    )
    typer.echo(f"maps of {n_terms:,} terms: written to {output}")


def _check_usage(name: str | None, every: bool, terms: Path | None, as_table: bool) -> None:
    """Refuse all but one way to say which terms, and a table of one term."""
    if (name is not None) + every + (terms is not None) != 1:
        raise typer.BadParameter("expected one of TERM, --all and --terms FILE")
    if name is not None and as_table:
        raise typer.BadParameter("--csv and --atlas are for many terms; add --all or --terms FILE")


def _read_terms(path: Path) -> list[str]:
    from neurowhere._tools.files import open_text

    with open_text(expanded(path)) as stream:
        return [line.strip() for line in stream if line.strip()]
